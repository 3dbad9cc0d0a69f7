"""`glassine prompt`: the frozen system prompt of a session."""

from __future__ import annotations

from typing import Any

import click

import glassine

from ._errors import CommandError, MisuseError
from ._finding import find_session
from ._input import print_raw
from ._output import iso, note, print_json, print_json_lines, screen
from ._settings import settings, shared_options
from ._table import moment, table
from ._text import line, size, visible

DIGEST_CHARS = 12
SPEC = glassine.SessionSpec().with_cached_prompt()


@click.command()
@click.argument("session")
@click.option("--history", is_flag=True, help="List when and why it was frozen, the oldest first.")
@click.option("--drop", is_flag=True, help="Forget it; the next request freezes it anew.")
@click.option("--yes", is_flag=True, help="Drop it without asking.")
@click.option("--raw", is_flag=True, help="Print the prompt alone, byte for byte, for a file or a pipe.")
@shared_options
def prompt(session: str, history: bool, drop: bool, yes: bool, raw: bool) -> None:
    """Show the system prompt of a session as it is frozen, and the tools that are frozen with it.

    Only prompts that are stored (`with_cached_prompt()`) can be shown. SESSION may be the beginning of an id.

    Dropping it makes the next request render it from the blocks of then; the provider's cache of the conversation
    is lost with it, and all is read anew once. A program that runs drops it too, with its next request.

    --json prints one object; with --history one object a line. Exit code 1: no prompt is frozen.
    """
    if history + drop + raw > 1:
        raise MisuseError("--history, --drop and --raw exclude each other")
    if yes and not drop:
        raise MisuseError("--yes goes with --drop")
    if raw and settings().json:
        raise MisuseError("--raw and --json exclude each other")
    with settings().existing() as store:
        info = find_session(store, session)
        bound = store.session(info.id, SPEC)
        if history:
            _history(bound)
            return
        frozen = bound.prompt()
        if frozen is None:
            raise CommandError(f"session {info.id!r} has no frozen prompt", "It gets one with its next request.")
        if drop:
            _drop(bound, frozen, yes)
        elif raw:
            print_raw(frozen.text)
        else:
            _show(frozen)


def _drop(session: glassine.Session, frozen: glassine.Prompt, yes: bool) -> None:
    if not yes:
        asked = f"Drop prompt {frozen.number} of {line(session.id)}? Its provider's cache is lost with it."
        click.confirm(asked, abort=True, err=True)
    dropped = session.drop_prompt()
    if settings().json:
        print_json({"sessionId": session.id, "number": frozen.number, "dropped": dropped})
    elif dropped:
        screen().print(f"prompt {frozen.number} is dropped; the next request freezes another")
    else:
        note("another dropped it already")


def _show(frozen: glassine.Prompt) -> None:
    if settings().json:
        print_json(_prompt_json(frozen))
        return
    from ._messages import wrapped

    out = screen()
    data = len(frozen.text.encode("utf-8", "surrogatepass"))
    rows = {
        "number": f"{frozen.number:,}",
        "reason": line(frozen.reason),
        "frozen at": f"{frozen.frozen_at.astimezone():%Y-%m-%d %H:%M:%S}",
        "digest": frozen.digest,
        "size": size(data),
        "tools": ", ".join(line(tool.name) for tool in frozen.tools) or "none",
    }
    for name, value in rows.items():
        first, *more = wrapped(value, out.width - 11)
        for head, text in ((name, first), *(("", each) for each in more)):
            out.print(f"{head:<11}{text}")
    out.print("")
    out.print(visible(frozen.text))


def _history(session: glassine.Session) -> None:
    freezings = session.prompt_history()
    if settings().json:
        print_json_lines(
            {
                "number": freezing.number,
                "reason": freezing.reason,
                "frozenAt": iso(freezing.frozen_at),
                "digest": freezing.digest,
            }
            for freezing in freezings
        )
        return
    if not freezings:
        note("no prompt was ever frozen and stored here")
        return
    out = screen()
    rows = [
        {
            "number": f"{freezing.number:,}",
            "when": moment(freezing.frozen_at, out.width),
            "digest": freezing.digest[:DIGEST_CHARS],
            "reason": line(freezing.reason),
        }
        for freezing in freezings
    ]
    for row in table(rows, out.width, flexible="reason", right=("number",)):
        out.print(row)


def _prompt_json(frozen: glassine.Prompt) -> dict[str, Any]:
    return {
        "number": frozen.number,
        "reason": frozen.reason,
        "frozenAt": iso(frozen.frozen_at),
        "digest": frozen.digest,
        "text": frozen.text,
        "sections": [{"label": label, "digest": digest} for label, digest in frozen.sections],
        "tools": [
            {"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema}
            for tool in frozen.tools
        ],
    }
