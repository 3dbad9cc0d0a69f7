"""`glassine show`: one conversation, as a text or as a tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

import glassine

from ..errors import CorruptMessageError
from ._errors import PROBLEMS
from ._finding import find_message, find_session, short_ids
from ._marks import SIGN, Marks, facts
from ._output import iso, note, print_json, print_json_lines, screen
from ._sessions import branch_count, when
from ._settings import settings, shared_options
from ._text import count, line, size

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text


@click.command()
@click.argument("session")
@click.option("--tree", is_flag=True, help="Draw all branches.")
@click.option("--raw", is_flag=True, help="What is stored, without what is laid over it.")
@click.option("--leaf", metavar="ID", help="The path to this message instead of the active one.")
@click.option("--last", type=click.IntRange(min=1), metavar="N", help="Only the N newest messages.")
@shared_options
def show(session: str, tree: bool, raw: bool, leaf: str | None, last: int | None) -> None:
    """Print a conversation: the path to its active leaf.

    SESSION and ID may be the beginning of an id, as long as it is the only one. Tool results and thinking are
    shortened; --json has them whole.

    \b
    In a tree:  ● on the path   ○ beside it   ◌ under a summary

    What lies over the messages is marked with ≡ and its id, in a tree below the message where it ends: a summary; a
    result that was `unloaded` or `shrunk`; one that was missing, so that a request was sent a stub (`stubbed`); a
    reminder. `glassine overlays` lists them, `glassine undo` takes them off.

    --json prints one message a line; with --tree one line a message of all branches, without content.
    """
    if tree and last is not None:
        raise click.UsageError("--last does not go with --tree, which shows the whole conversation.")
    chosen = settings()
    with chosen.existing() as store:
        info = find_session(store, session)
        conversation = store.session(info.id)
        leaf_id = None if leaf is None else find_message(conversation, leaf)
        if tree:
            _tree(store, info, leaf_id, raw, chosen.json)
            return
        found = _messages(conversation, leaf_id, raw, last)
        if chosen.json:
            bad = _print_messages(found)
        else:
            earlier = _visible(conversation, leaf_id, raw) - last if last is not None else 0
            bad = _print_conversation(store, info, found, earlier, leaf_id, raw)
    if bad:
        click.get_current_context().exit(PROBLEMS)


def _messages(session: glassine.Session, leaf: str | None, raw: bool, last: int | None) -> Iterable[glassine.Message]:
    if last is None:
        return session.iter_history(leaf, raw=raw)
    newest = list(islice(session.iter_history(leaf, raw=raw, newest_first=True), last))
    return reversed(newest)


def _visible(session: glassine.Session, leaf: str | None, raw: bool) -> int:
    return session.path_length(leaf) if raw else session.recent(0, leaf=leaf).total_messages


def _print_messages(messages: Iterable[glassine.Message]) -> bool:
    bad = False
    for message in messages:
        try:
            print_json(message.to_dict(), indent=None)
        except CorruptMessageError as error:
            note(f"{error}; `glassine repair` puts it aside")
            bad = True
    return bad


def _print_conversation(
    store: glassine.Store,
    info: glassine.SessionInfo,
    messages: Iterable[glassine.Message],
    earlier: int,
    leaf_id: str | None,
    raw: bool,
) -> bool:
    from rich.text import Text

    from ._messages import is_summary, render

    session = store.session(info.id)
    marks = None if raw else Marks(session, session.overlays())
    out = screen()
    _print_header(out, store, info)
    if leaf_id is not None:
        out.print(f"path to message {line(leaf_id)}", style="dim")
    if earlier > 0:
        out.print(f"\n… {count(earlier, 'earlier message')}", style="dim")
    before, bad, empty = None, False, True
    for message in messages:
        empty = False
        try:
            for row in render(message, out.width, before, marks):
                out.print(row)
            if not is_summary(message):
                before = message.created_at or before
        except CorruptMessageError as error:
            out.print(Text(f"\n{line(str(error))}", style="red"))
            bad = True
    if empty:
        out.print("\nno messages", style="dim")
    return bad


def _print_header(out: Console, store: glassine.Store, info: glassine.SessionInfo) -> None:
    from ._messages import fit

    branches = branch_count(store, info)
    facts = [info.source or "", info.model or "", count(info.messages, "message")]
    facts += [f"{branches} branches"] if branches > 1 else []
    facts += [size(info.size), f"{when(info).astimezone():%Y-%m-%d %H:%M}"]
    out.print(fit(line(info.title or "(no title)"), out.width), style="bold")
    out.print(fit(line(info.id), out.width), style="yellow")
    out.print(fit(line(" · ".join(fact for fact in facts if fact)), out.width), style="dim")
    metadata = info.metadata or {}
    place = [str(metadata[key]) for key in ("cwd", "gitBranch") if metadata.get(key)]
    if place:
        out.print(fit(line(" · ".join(place)), out.width), style="dim")
    if info.lineage is not None:
        out.print(fit(line(f"{info.lineage.kind} of {info.lineage.session_id}"), out.width), style="dim")


def _path(outline: Iterable[glassine.Outline], leaf_id: str | None) -> set[str]:
    parents = {node.id: node.parent_id for node in outline}
    found = set()
    while leaf_id is not None:
        found.add(leaf_id)
        leaf_id = parents[leaf_id]
    return found


def _tree(store: glassine.Store, info: glassine.SessionInfo, leaf_id: str | None, raw: bool, as_json: bool) -> None:
    session = store.session(info.id)
    outline = session.outline()
    leaf_id = leaf_id or info.leaf_id
    path = _path(outline, leaf_id)
    everything = [] if raw else session.overlays()
    laid = [overlay for overlay in everything if overlay.kind == "summary"]
    marks = Marks(session, everything)
    covered = _covered(outline, laid)
    if as_json:
        print_json_lines(_tree_json(outline, path, covered, marks, leaf_id))
        return
    out = screen()
    _print_header(out, store, info)
    out.print()
    for row in _drawing(session, outline, path, laid, covered, marks, leaf_id, out.width):
        out.print(row)


def _tree_json(
    outline: Iterable[glassine.Outline], path: set[str], covered: dict[str, str], marks: Marks, leaf_id: str | None
) -> Iterator[dict[str, Any]]:
    for node in outline:
        yield {
            "id": node.id,
            "parentId": node.parent_id,
            "role": node.role,
            "size": node.size,
            "createdAt": iso(node.created_at),
            "onPath": node.id in path,
            "isLeaf": node.id == leaf_id,
            "summary": covered.get(node.id),
            "overlays": [overlay.id for overlay in marks.on(node.id)],
        }


def _covered(outline: Iterable[glassine.Outline], laid: Iterable[glassine.Overlay]) -> dict[str, str]:
    """For each message under a summary, the id of the message that stands for it (of the outermost summary)."""
    parents = {node.id: node.parent_id for node in outline}
    found: dict[str, str] = {}
    for overlay in laid:  # a later one contains the earlier, or misses it
        id: str | None = overlay.last_id
        while id is not None:
            found[id] = overlay.message_id
            id = None if id == overlay.first_id else parents[id]
    return found


def _drawing(
    session: glassine.Session,
    outline: list[glassine.Outline],
    path: set[str],
    laid: list[glassine.Overlay],
    covered: dict[str, str],
    marks: Marks,
    leaf_id: str | None,
    width: int,
) -> Iterator[Text]:
    from rich.cells import cell_len
    from rich.text import Text

    from ._messages import MARK_STYLE, ROLE_STYLES, SUMMARY_STYLE, fit, gist
    from ._tree import draw

    ends = {overlay.last_id: overlay for overlay in laid}
    ids = short_ids([node.id for node in outline])
    for row in draw(outline, path, {*ends, *marks.messages, *([leaf_id] if leaf_id else [])}):
        lanes = row.lanes if len(row.lanes) <= width // 3 else f"…{row.lanes[1 - width // 3 :]}"
        text = Text().append(lanes, style="dim")
        if row.node is None:
            if row.skipped:
                text.append("┆ " + ", ".join(f"{number:,} {role}" for role, number in row.skipped))
            yield text
            continue
        node = row.node
        on_path = node.id in path
        mark = "◌" if node.id in covered else "●" if on_path else "○"
        text.append(mark, style="bold" if on_path else "dim")
        text.append(f" {line(ids[node.id])} ", style="yellow")
        text.append(f"{node.role}  ", style=ROLE_STYLES[node.role])
        tail = "  ◀ leaf" if node.id == leaf_id else ""
        stamp = f"  {(node.created_at or node.stored_at).astimezone():%m-%d %H:%M}"
        if cell_len(text.plain) + cell_len(tail) + cell_len(stamp) < width:
            tail += stamp
        room = width - cell_len(text.plain) - cell_len(tail)
        said = fit(_gist(session, node.id, gist), max(room, 1))
        text.append(said, style="" if on_path and node.id not in covered else "dim")
        text.append(" " * (width - cell_len(text.plain) - cell_len(tail)))
        text.append(tail, style="bold" if node.id == leaf_id else "dim")
        yield text
        beside = Text().append(lanes.replace("├─", "│ "), style="dim")
        if marks.on(node.id):
            told = f"{SIGN} {marks.told(node.id)}"
            yield beside.copy().append(fit(told, max(width - cell_len(lanes), 1)), style=MARK_STYLE)
        if (overlay := ends.get(node.id)) is not None:
            more = f" ({', '.join(facts(overlay))})" if facts(overlay) else ""
            id = f"  {marks.short(overlay)}"
            room = max(width - cell_len(lanes) - cell_len(id), 1)
            head = fit(f"{SIGN} summary of {count(overlay.covered_messages, 'message')}{more}", room)
            below = beside.copy().append(head, style=SUMMARY_STYLE)
            if (left := room - cell_len(head) - 2) > 0:
                below.append(f"  {fit(line(overlay.text[:2000]), left)}")
            yield below.append(id, style=MARK_STYLE)


def _gist(session: glassine.Session, id: str, gist: Any) -> str:
    try:
        message = session.message(id)
        return "" if message is None else str(gist(message))
    except CorruptMessageError:
        return "(cannot be read)"
