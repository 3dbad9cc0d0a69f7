"""`glassine migrate`."""

from __future__ import annotations

import click

from ..errors import SchemaVersionError
from ._output import print_json, screen
from ._settings import settings, shared_options


@click.command()
@shared_options
def migrate() -> None:
    """Make the tables, or bring them up to this version of glassine.

    Opening a database does this by itself. Where the role that a program runs as may not create tables, let another
    one run this command, and grant the first one the use of them.

    --json prints one object.
    """
    chosen = settings()
    try:
        with chosen.opened(migrate=False) as store:
            before = after = store.info().schema_version
    except SchemaVersionError as error:
        before = error.actual
        with chosen.writable() as store:
            after = store.info().schema_version
    if chosen.json:
        print_json({"database": chosen.shown, "from": before, "to": after})
    elif before == after:
        screen().print(f"schema version {after}: nothing to do")
    else:
        screen().print(f"schema version {before} → {after}")
