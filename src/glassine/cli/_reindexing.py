"""`glassine reindex`."""

from __future__ import annotations

import click

from ._output import print_json, screen
from ._progress import Progress
from ._settings import settings, shared_options
from ._text import count


@click.command()
@shared_options
def reindex() -> None:
    """Make the search index and all token counts anew from the messages.

    Rarely needed: searching does it by itself when the index was found damaged, or was made by another version. It
    goes in short steps, so that others can write meanwhile, and covers all namespaces.

    --json prints one object.
    """
    chosen = settings()
    messages = 0

    with chosen.existing() as store, Progress("indexing") as progress:

        def update(done: int, total: int) -> None:
            nonlocal messages
            messages = total
            progress.update(done, total)

        store.reindex(progress=update)
    if chosen.json:
        print_json({"database": chosen.shown, "messages": messages})
    else:
        screen().print(f"{count(messages, 'message')} indexed")
