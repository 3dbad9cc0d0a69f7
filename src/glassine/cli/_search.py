"""`glassine search`: what was said, and where."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import click

import glassine

from ..messages import ROLES
from ._errors import PROBLEMS, MisuseError
from ._finding import find_session, short_ids
from ._moments import before_then, from_then
from ._output import iso, note, print_json_lines, screen
from ._progress import Progress
from ._settings import settings, shared_options
from ._text import count, line, visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

KINDS: Final = ("text", "tool_input", "tool_output", "reasoning")
DEFAULT_LIMIT: Final = 20
INDENT: Final = 2
MARKED: Final = "bold reverse"
_SPACE: Final = re.compile(r"\s+")


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option("--session", metavar="ID", help="Only in this conversation.")
@click.option("--path", is_flag=True, help="With --session: only on its active path, not on other branches.")
@click.option("--role", "roles", multiple=True, type=click.Choice(ROLES), help="Only messages of this role.")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(KINDS), help="Only in texts of this kind.")
@click.option("--since", callback=from_then, metavar="WHEN", help="Only from then on.")
@click.option("--until", callback=before_then, metavar="WHEN", help="Only before then; of a day, up to its end.")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=DEFAULT_LIMIT,
    show_default=True,
    metavar="N",
    help="The N best messages; 0 for all.",
)
@shared_options
def search(
    query: tuple[str, ...],
    session: str | None,
    path: bool,
    roles: tuple[Any, ...],
    kinds: tuple[Any, ...],
    since: datetime | None,
    until: datetime | None,
    limit: int,
) -> None:
    """Find what was said, in any language.

    All words must occur; "words in quotation marks" as a phrase (quote the quotes for your shell). What contains only
    some of them comes last. Any text is a valid query. The best conversations come first; what was found is marked.

    ID may be the beginning of an id. WHEN is 2026-01-31, 2026-01-31T09:30, or how long ago: 12h, 7d, 2w. --role and
    --kind may be given several times.

    Exit code 0: something was found; 1: nothing was; 2: the query has no letter or digit to look for.
    --json prints one hit a line, the best first.
    """
    if path and session is None:
        raise click.UsageError(
            "--path goes with --session; without it, all branches of all conversations are searched."
        )
    chosen = settings()
    with chosen.existing() as store:
        where = None if session is None else store.session(find_session(store, session).id)
        with Progress("indexing") as progress:
            store.catch_up(progress=progress.update)
        asked: dict[str, Any] = {"roles": roles or None, "kinds": kinds or None, "since": since, "until": until}
        text, most = " ".join(query), limit or sys.maxsize
        if where is None:
            hits = store.search(text, most, **asked)
        else:
            hits = where.search(text, most, scope="path" if path else "session", **asked)
        if not hits.searchable:
            raise MisuseError(
                f"nothing in {text!r} can be looked for", "A query needs a letter or a digit, of any script."
            )
        if not hits:
            note("nothing found")
            click.get_current_context().exit(PROBLEMS)
        if chosen.json:
            print_json_lines(hit_json(hit) for hit in hits)
            return
        out = screen()
        for row in _listing(store, hits, out):
            out.print(row)
        if len(hits) == limit:
            out.print(f"\n… the best {limit:,}; --limit 0 lists all", style="dim")


def hit_json(hit: glassine.Hit) -> dict[str, Any]:
    """A hit as `--json` prints it."""
    return {
        "sessionId": hit.session_id,
        "messageId": hit.message_id,
        "role": hit.role,
        "kind": hit.kind,
        "part": hit.part,
        "createdAt": iso(hit.created_at),
        "score": hit.score,
        "strict": hit.strict,
        "active": hit.active,
        "summarised": hit.summarised,
        "copies": list(hit.copies),
        "snippet": hit.snippet,
        "excerpt": {
            "text": hit.excerpt.text,
            "start": hit.excerpt.start,
            "marks": [list(place) for place in hit.excerpt.marks],
            "cutBefore": hit.excerpt.cut_before,
            "cutAfter": hit.excerpt.cut_after,
        },
    }


def _listing(store: glassine.Store, hits: Iterable[glassine.Hit], out: Console) -> Iterator[Text]:
    """The hits by conversation: that of the best hit first, and in each the best hit first."""
    from rich.text import Text

    groups: dict[str, list[glassine.Hit]] = {}
    for hit in hits:
        groups.setdefault(hit.session_id, []).append(hit)
    infos = {info.id: info for info in store.sessions()}
    # A subagent is named by the last part of its id, as in the list of sessions.
    shown = {id: id.rpartition("/")[2] for id in infos}
    shown |= short_ids([id for id in infos if id.rpartition("/")[0] not in infos])
    for number, (id, group) in enumerate(groups.items()):
        if id not in infos:  # deleted since the search
            continue
        if number:
            yield Text()
        yield from _heading(infos[id], shown[id], out.width)
        ids = short_ids([node.id for node in store.session(id).outline()])
        for hit in group:
            yield _facts(hit, ids.get(hit.message_id, hit.message_id))
            yield from _excerpt(hit, out)


def _heading(info: glassine.SessionInfo, shown: str, width: int) -> Iterator[Text]:
    from rich.text import Text

    from ._messages import fit

    yield Text(fit(line(info.title or "(no title)"), width), style="bold")
    text = Text(fit(line(shown), width), style="yellow")
    if info.source:
        text.append(f"  {line(info.source)}", style="dim")
    yield text


def _facts(hit: glassine.Hit, shown: str) -> Text:
    from rich.text import Text

    from ._messages import ROLE_STYLES, clock

    kind = hit.kind.replace("_", " ")
    said = hit.role if hit.kind == "text" else kind if kind.startswith(hit.role) else f"{hit.role}, {kind}"
    text = Text(" " * INDENT).append(said, style=ROLE_STYLES[hit.role])
    text.append(f"  {clock(hit.created_at, None)}", style="dim").append(f"  {line(shown)}", style="yellow")
    marks = [
        *([] if hit.active else ["other branch"]),
        *(["under a summary"] if hit.summarised else []),
        *([] if hit.strict else ["some of the words only"]),
        *([f"also in {count(len(hit.copies), 'fork')}"] if hit.copies else []),
    ]
    if marks:
        text.append(f"  {' · '.join(marks)}", style="dim italic")
    return text


def _excerpt(hit: glassine.Hit, out: Console) -> Iterator[Text]:
    """The snippet in lines. Where nothing can be styled, «» stand around what was found."""
    from rich.text import Text

    from ._messages import wrapped

    before, after, style = ("«", "»", "") if out.color_system is None else ("", "", MARKED)
    excerpt = hit.excerpt
    if not excerpt.text:
        yield Text(f"{' ' * 2 * INDENT}(cannot be read; `glassine verify` says more)", style="red")
        return
    whole, end = Text("…" if excerpt.cut_before else ""), 0
    for first, last in excerpt.marks:
        whole.append(_flat(excerpt.text[end:first])).append(before)
        whole.append(_flat(excerpt.text[first:last]), style).append(after)
        end = last
    whole.append(_flat(excerpt.text[end:])).append("…" if excerpt.cut_after else "")
    place = 0
    for row in wrapped(whole.plain.lstrip(), out.width - 2 * INDENT):
        # Folding takes away spaces only, so every row stands in the whole as it is.
        place = whole.plain.index(row, place)
        yield Text(" " * 2 * INDENT).append_text(whole[place : place + len(row)])
        place += len(row)


def _flat(piece: str) -> str:
    """Unlike `line`, it keeps the spaces at its ends: a piece has neighbours."""
    return _SPACE.sub(" ", visible(piece))
