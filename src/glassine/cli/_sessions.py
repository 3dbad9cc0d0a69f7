"""`glassine sessions`: the conversations in a store, newest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

import glassine

from ._finding import short_ids
from ._output import iso, note, print_json_lines, screen
from ._settings import settings, shared_options
from ._text import line, size

if TYPE_CHECKING:
    from rich.text import Text

DEFAULT_LIMIT = 20
ID_WIDTH, INNER_WIDTH = 40, 12
"""Cells for the shortest usable beginning of an id, and for that of a subagent, which is shown to be recognised."""
SOURCE_WIDTH = 14
ROOMY, NARROW = 110, 90
"""From so many columns on there is room for the source; below so many only for the date."""
RIGHT = {"messages", "branches", "size"}
STYLES = {"id": "yellow", "when": "dim", "source": "dim"}


@click.command()
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    metavar="N",
    help=f"Only the N newest conversations; 0 for all.  [default: {DEFAULT_LIMIT}; with --json all]",
)
@shared_options
def sessions(limit: int | None) -> None:
    """List the conversations, newest first.

    A conversation is as new as the message where it stands. Those of subagents come behind the one that started
    them. The beginning of an id is enough for `glassine show`.

    --json prints one object a line.
    """
    chosen = settings()
    with chosen.existing() as store:
        groups = grouped(store.sessions())
        if limit is None:
            limit = 0 if chosen.json else DEFAULT_LIMIT
        shown = groups[: limit or None]
        if chosen.json:
            print_json_lines(session_json(info) for group in shown for info in group)
            return
        if not groups:
            note("no conversations yet in this namespace; `glassine import` reads those of your coding agent")
            return
        out = screen()
        for row in _table(store, shown, out.width):
            out.print(row)
        left = len(groups) - len(shown)
        if left:
            out.print(f"… and {left:,} older; --limit 0 lists all", style="dim")


def grouped(infos: Sequence[glassine.SessionInfo]) -> list[list[glassine.SessionInfo]]:
    """Conversations, newest first, each followed by those that were started from it (in the order of their times)."""
    by_id = {info.id: info for info in infos}
    groups: dict[str, list[glassine.SessionInfo]] = {}
    for info in sorted(infos, key=when):
        groups.setdefault(_head(info, by_id).id, []).append(info)
    for id, group in groups.items():
        group.sort(key=lambda info: info.id != id)
    return sorted(groups.values(), key=lambda group: when(group[0]), reverse=True)


def when(info: glassine.SessionInfo) -> datetime:
    """The time of the message where the conversation stands."""
    return info.leaf_at or info.updated_at


def session_json(info: glassine.SessionInfo) -> dict[str, Any]:
    """A session as `--json` prints it."""
    lineage = info.lineage
    return {
        "id": info.id,
        "title": info.title,
        "source": info.source,
        "model": info.model,
        "messages": info.messages,
        "pathLength": info.path_length,
        "size": info.size,
        "leafId": info.leaf_id,
        "leafAt": iso(info.leaf_at),
        "createdAt": iso(info.created_at),
        "updatedAt": iso(info.updated_at),
        "lineage": lineage and {"kind": lineage.kind, "sessionId": lineage.session_id, "messageId": lineage.message_id},
        "metadata": info.metadata,
    }


def branch_count(store: glassine.Store, info: glassine.SessionInfo) -> int:
    """How many ends the tree of a session has."""
    if info.messages == info.path_length:
        return min(info.messages, 1)
    nodes = store.session(info.id).outline()
    return len({node.id for node in nodes} - {node.parent_id for node in nodes})


def _head(info: glassine.SessionInfo, by_id: dict[str, glassine.SessionInfo]) -> glassine.SessionInfo:
    seen = {info.id}
    while info.lineage is not None and info.lineage.kind == "sidechain" and info.lineage.session_id in by_id:
        info = by_id[info.lineage.session_id]
        if info.id in seen:  # lineage is whatever somebody wrote
            break
        seen.add(info.id)
    return info


def _table(store: glassine.Store, groups: Sequence[Sequence[glassine.SessionInfo]], width: int) -> Iterator[Text]:
    from rich.cells import cell_len
    from rich.text import Text

    from ._messages import fit

    shorts = short_ids([group[0].id for group in groups])
    rows = []
    for group in groups:
        for info in group:
            first = info is group[0]
            branches = branch_count(store, info)
            rows.append(
                {
                    "id": fit(line(shorts[info.id]), ID_WIDTH)
                    if first
                    else fit(line(info.id.rpartition("/")[2]), INNER_WIDTH),
                    "title": ("" if first else "↳ ") + (line(info.title or "") or "(no title)"),
                    "messages": f"{info.messages:,}",
                    "branches": str(branches) if branches > 1 else "",
                    "size": size(info.size),
                    "when": f"{when(info).astimezone():{'%Y-%m-%d' if width < NARROW else '%Y-%m-%d %H:%M'}}",
                    "source": fit(line(info.source or ""), SOURCE_WIDTH),
                }
            )
    columns = [name for name in rows[0] if name == "title" or any(row[name] for row in rows)]
    if width < ROOMY:
        columns = [name for name in columns if name != "source"]
    widths = {name: max(len(name), *(cell_len(row[name]) for row in rows)) for name in columns}
    room = width - sum(widths[name] + 2 for name in columns if name != "title")
    widths["title"] = min(widths["title"], max(room, len("title")))
    for number, row in enumerate([{name: name for name in columns}, *rows]):
        text = Text()
        for name in columns:
            cell = fit(row[name], widths[name])
            gap = " " * (widths[name] - cell_len(cell))
            style = "bold" if number == 0 else STYLES.get(name, "")
            text.append(f"{gap}{cell}" if name in RIGHT else f"{cell}{gap}", style=style)
            text.append("  ")
        text.rstrip()
        yield text
