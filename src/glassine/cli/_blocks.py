"""`glassine blocks`: the stored blocks of context memory, shown and edited."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import click

import glassine

from ..tokens import estimate_tokens
from ._errors import CommandError, MissingError, MisuseError
from ._finding import find_session
from ._input import given, print_raw
from ._output import iso, note, print_json, print_json_lines, screen
from ._settings import settings, shared_options
from ._table import moment, table
from ._text import count, line, size, visible

Scope = Literal["session", "namespace"]
NOBODY = "–"
"""In the place of a message, for a line that no tool call wrote."""


class Change(NamedTuple):
    """What is to be written: a text in the place of all, a text at the end, or what an editor makes of it."""

    text: str | None
    append: bool = False


@click.command()
@click.argument("session")
@click.argument("label", required=False)
@click.option("--lines", is_flag=True, help="Show for each line the message whose tool call wrote it.")
@click.option("--raw", is_flag=True, help="Print the text byte for byte, for a file or a pipe.")
@click.option("--set", "new", metavar="TEXT|-", help="Write TEXT (-: what is piped in) in the place of all.")
@click.option("--append", "more", metavar="TEXT|-", help="Add TEXT (-: what is piped in) on a new line.")
@click.option("--edit", is_flag=True, help="Write it in your editor ($VISUAL, $EDITOR).")
@click.option(
    "--scope",
    type=click.Choice(["session", "namespace"]),
    help="Whose block, where both have one of this label; whose a new one is.  [default for a new one: session]",
)
@click.option("--max-tokens", type=click.IntRange(min=1), metavar="N", help="Write no more than this in all.")
@shared_options
def blocks(
    session: str,
    label: str | None,
    lines: bool,
    raw: bool,
    new: str | None,
    more: str | None,
    edit: bool,
    scope: Scope | None,
    max_tokens: int | None,
) -> None:
    """List the blocks that are stored for a session, or show, write or edit the one of LABEL.

    These are the blocks of the session and of its namespace; what comes from elsewhere (a text in the program, a
    file, skills) is not among them. Tokens are estimated for a model of which nothing is known. SESSION may be the
    beginning of an id.

    A frozen prompt shows what was written when it is refreshed, or dropped (`glassine prompt --drop`). The budget
    of a block stands in the program, not in the database: give it as --max-tokens to have it kept to here.

    --json prints one object a line for the list, and one object for a block.
    """
    change = _change(new, more, edit)
    _check(label, change, lines, raw, scope, max_tokens)
    chosen = settings()
    with chosen.existing() as store:
        info = find_session(store, session)
        stored = store.session(info.id).stored_blocks()
        if label is None:
            _list(stored, scope)
            return
        found = _find(info.id, stored, label, scope, change is not None)
        where: Scope = scope or (found.scope if found else "session")
        spec = glassine.SessionSpec().with_context(label, scope=where, max_tokens=max_tokens)
        bound = store.session(info.id, spec)
        if change is not None:
            _write(bound, label, "" if found is None else found.content, change)
            if found is None:
                note(f"{label!r} is a new block of the {where}")
            found = next(block for block in bound.stored_blocks() if (block.label, block.scope) == (label, where))
            if chosen.json:
                print_json(_block_json(found))
            else:
                screen().print(f"{line(label)}: {_amount(found.content)}")
        elif found is not None:
            _show(found, bound.block_lines(label) if lines else None, raw)


def _change(new: str | None, more: str | None, edit: bool) -> Change | None:
    if (new is not None) + (more is not None) + edit > 1:
        raise MisuseError("--set, --append and --edit exclude each other")
    if new is not None:
        return Change(given(new))
    if more is not None:
        return Change(given(more), append=True)
    return Change(None) if edit else None


def _check(
    label: str | None, change: Change | None, lines: bool, raw: bool, scope: str | None, max_tokens: int | None
) -> None:
    if label is None and (change is not None or lines or raw):
        raise MisuseError("name the block: glassine blocks SESSION LABEL")
    if max_tokens is not None and change is None:
        raise MisuseError("--max-tokens goes with --set, --append or --edit")
    if ((lines or raw) and change is not None) or (lines and raw):
        raise MisuseError("--lines and --raw show a block; they go neither together nor with writing")
    if raw and settings().json:
        raise MisuseError("--raw and --json exclude each other")


def _find(
    session: str, stored: Sequence[glassine.StoredBlock], label: str, scope: str | None, writing: bool
) -> glassine.StoredBlock | None:
    """The stored block that is meant; None for one that is to be made."""
    there = [block for block in stored if scope in (None, block.scope)]
    found = [block for block in there if block.label == label]
    if len(found) > 1:
        raise MisuseError(f"the session and its namespace both have a block {label!r}; give --scope")
    if found:
        return found[0]
    if not writing:
        known = ", ".join(dict.fromkeys(line(block.label) for block in there))
        raise MissingError(
            f"no block {label!r} is stored for session {session!r}", f"There are: {known}" if known else ""
        )
    # Headers are written in capitals, so no spec can have both.
    other = next((block.label for block in stored if block.label.upper() == label.upper()), label)
    if other != label:
        raise MisuseError(f"there is a block {other!r}, which differs in its case only")
    return None


def _write(session: glassine.Session, label: str, before: str, change: Change) -> None:
    if change.text is not None:
        write = session.append_block if change.append else session.replace_block
        write(label, change.text)
        return
    try:
        edited = click.edit(before, extension=".md")
    except UnicodeError as error:  # lone surrogates in the block, or what the editor wrote
        raise CommandError(f"{label!r} cannot be edited as UTF-8: {error}") from error
    # A file ends with a line break; a block has one only if it had one.
    text = edited if edited is None or before.endswith("\n") else edited.removesuffix("\n")
    if text is None or text == before:
        raise CommandError(f"{label!r} was left as it is: nothing was changed in the editor")
    if session.block(label).content != before:
        print_raw(text)
        raise CommandError(
            f"{label!r} was written by another meanwhile; nothing was written",
            "What you wrote is on stdout.",
        )
    session.replace_block(label, text)


def _list(stored: Sequence[glassine.StoredBlock], scope: str | None) -> None:
    shown = [block for block in stored if scope in (None, block.scope)]
    if settings().json:
        print_json_lines(_block_json(block) for block in shown)
        return
    if not shown:
        note("no blocks are stored here")
        return
    out = screen()
    rows = [
        {
            "label": line(block.label),
            "scope": block.scope,
            "tokens": f"{estimate_tokens(block.content):,}",
            "size": size(_bytes(block.content)),
            "written": moment(block.updated_at, out.width),
        }
        for block in shown
    ]
    for row in table(rows, out.width, flexible="label", right=("tokens", "size")):
        out.print(row)


def _show(block: glassine.StoredBlock, lines: Sequence[glassine.Line] | None, raw: bool) -> None:
    if settings().json:
        print_json(_block_json(block) | ({} if lines is None else {"lines": [_line_json(each) for each in lines]}))
    elif raw:
        print_raw(block.content)
    elif lines is None:
        screen().print(visible(block.content))
    else:
        _show_lines(lines)


def _show_lines(lines: Sequence[glassine.Line]) -> None:
    from rich.cells import cell_len, set_cell_size
    from rich.text import Text

    from ._messages import fit

    out = screen()
    writers = [line(each.message_id or NOBODY) for each in lines]
    wide = min(max(map(cell_len, writers), default=0), out.width // 2)
    for writer, each in zip(writers, lines, strict=True):
        text = visible(each.text).replace("\n", " ")
        out.print(Text().append(f"{set_cell_size(fit(writer, wide), wide)}  ", style="yellow").append(text))


def _block_json(block: glassine.StoredBlock) -> dict[str, Any]:
    return {
        "label": block.label,
        "scope": block.scope,
        "tokens": estimate_tokens(block.content),
        "bytes": _bytes(block.content),
        "updatedAt": iso(block.updated_at),
        "content": block.content,
    }


def _line_json(each: glassine.Line) -> dict[str, Any]:
    return {"text": each.text, "messageId": each.message_id, "sessionId": each.session_id}


def _amount(text: str) -> str:
    return f"{count(estimate_tokens(text), 'token')}, {size(_bytes(text))}"


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
