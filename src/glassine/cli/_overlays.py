"""`glassine overlays` and `glassine undo`: what is laid over a conversation, and how it is taken off again."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import click

import glassine

from ..tokens import FAMILIES, estimate_tokens
from ._errors import MissingError
from ._finding import SHOWN, ambiguous, find_session, matching, short_ids
from ._marks import STUBBED, Marks, facts, family, lines_of, tokens, what
from ._output import iso, note, print_json, print_json_lines, screen
from ._settings import settings, shared_options
from ._table import moment, table
from ._text import count, line, size, visible

PREFIX = "compaction_"
"""Before the id of a summary, in the id of the message that shows it."""
NAME_WIDTH = 10
ROOMY = 60
"""From so many columns on there is room for tokens and times."""


@click.command()
@click.argument("session")
@click.argument("overlay", required=False)
@shared_options
def overlays(session: str, overlay: str | None) -> None:
    """List what is laid over a conversation, or show one OVERLAY whole.

    A summary stands for a range of messages. A marker stands for the result of a tool: `unloaded` and `shrunk` are
    shown in its place, `stubbed` was sent where none had come. A reminder is shown after a message. What lies beneath
    stays stored: `glassine show --raw` prints it, `glassine undo` takes an overlay off.

    Tokens are those of the messages that a summary stands for, estimated for the model of the conversation. SESSION
    and OVERLAY may be the beginning of an id; a summary also goes by the id of its message, compaction_….

    --json prints one object a line for the list, and one object for an OVERLAY.
    """
    chosen = settings()
    with chosen.existing() as store:
        info = find_session(store, session)
        conversation = store.session(info.id)
        laid = conversation.overlays()
        if overlay is not None:
            _show(conversation, info, find_overlay(info.id, laid, overlay))
        elif chosen.json:
            print_json_lines(overlay_json(each) for each in laid)
        elif not laid:
            note(f"nothing is laid over session {info.id!r}")
        else:
            _list(info, laid)


@click.command()
@click.argument("session")
@click.argument("overlay")
@shared_options
def undo(session: str, overlay: str) -> None:
    """Take a summary, a marker or a reminder off a conversation; what lay beneath shows again.

    No message changes. The text of the overlay is gone with it: --json prints it once more. `glassine overlays` lists
    what can be taken off. SESSION and OVERLAY may be the beginning of an id; a summary also goes by the id of its
    message, compaction_….

    --json prints one object.
    """
    with settings().existing() as store:
        info = find_session(store, session)
        conversation = store.session(info.id)
        laid = conversation.overlays()
        found = find_overlay(info.id, laid, overlay)
        again = _again(Marks(conversation, laid), laid, found, family(info))
        conversation.undo(found)
    if settings().json:
        print_json({"sessionId": info.id, **overlay_json(found), "again": again.as_json()})
        return
    from ._messages import wrapped

    out = screen()
    for row in wrapped(f"{line(found.id)} ({what(found)}) is taken off; {again.told}", out.width):
        out.print(row)


def find_overlay(session_id: str, laid: Sequence[glassine.Overlay], prefix: str) -> glassine.Overlay:
    """The overlay whose id is, or uniquely begins with, `prefix`. MissingError lists those that are there."""
    by_id = {overlay.id: overlay for overlay in laid}
    found = matching(prefix, list(by_id)) or matching(prefix.removeprefix(PREFIX), list(by_id))
    if len(found) == 1:
        return by_id[found[0]]
    ids = short_ids(list(by_id))
    if found:
        raise ambiguous(prefix, "overlays", list(lines_of([by_id[id] for id in found], ids)))
    # The newest are the likeliest to be meant.
    rows = [f"  {row}" for row in lines_of(list(reversed(laid))[:SHOWN], ids)]
    if len(laid) > SHOWN:
        rows.append(f"  … and {len(laid) - SHOWN} more; `glassine overlays {line(shlex.quote(session_id))}` lists all")
    hint = "\n".join(["There are:", *rows]) if rows else "Nothing is laid over it."
    raise MissingError(f"no overlay of session {session_id!r} begins with {prefix!r}", hint)


def overlay_json(overlay: glassine.Overlay) -> dict[str, Any]:
    """An overlay as `--json` prints it."""
    reason = overlay.data.get("reason")
    return {
        "id": overlay.id,
        "kind": overlay.kind,
        "reason": reason if isinstance(reason, str) else None,
        "first": overlay.first_id,
        "last": overlay.last_id,
        "messages": overlay.covered_messages,
        "tokens": dict(zip(FAMILIES, overlay.covered_tokens, strict=True)),
        "createdAt": iso(overlay.created_at),
        "stale": overlay.stale,
        "byFallback": overlay.data.get("fallback") is True,
        "supersedes": list(overlay.supersedes),
        "text": _text(overlay),
    }


def _text(overlay: glassine.Overlay) -> str:
    from ._messages import output_text

    # A marker that keeps the shape of a result has no text.
    return overlay.text or output_text(overlay.data.get("output"))


def _list(info: glassine.SessionInfo, laid: Sequence[glassine.Overlay]) -> None:
    out = screen()
    ids = short_ids([overlay.id for overlay in laid])
    counted = family(info)
    rows = []
    for overlay in laid:
        is_summary = overlay.kind == "summary"
        remark = f"({', '.join(facts(overlay))}) " if facts(overlay) else ""
        row = {
            "id": line(ids[overlay.id]),
            "what": what(overlay),
            "messages": f"{overlay.covered_messages:,}" if is_summary else "",
        }
        if out.width >= ROOMY:
            row["tokens"] = f"{tokens(overlay, counted):,}" if is_summary else ""
            row["laid"] = moment(overlay.created_at, out.width)
        rows.append({**row, "text": remark + line(_text(overlay)[:2000])})
    for text in table(rows, out.width, flexible="text", right=("messages", "tokens")):
        out.print(text)


def _show(session: glassine.Session, info: glassine.SessionInfo, overlay: glassine.Overlay) -> None:
    if settings().json:
        print_json(overlay_json(overlay))
        return
    text = _text(overlay)
    counted = family(info)
    rows = {"id": overlay.id, "what": ", ".join([what(overlay), *facts(overlay)])}
    if overlay.kind == "summary":
        covers = count(overlay.covered_messages, "message")
        rows |= {"for": f"{covers} of {tokens(overlay, counted):,} tokens", "from": overlay.first_id}
        rows |= {"to": overlay.last_id}
        if overlay.supersedes:
            rows |= {"over": ", ".join(overlay.supersedes)}
    else:
        rows |= {"on": overlay.first_id}
    rows |= {
        "laid": f"{overlay.created_at.astimezone():%Y-%m-%d %H:%M:%S}",
        "size": f"{count(estimate_tokens(text, counted), 'token')}, {size(len(text.encode('utf-8', 'surrogatepass')))}",
    }
    out = screen()
    print_rows(out, rows)
    out.print("")
    out.print(visible(text))


def print_rows(out: Any, rows: Mapping[str, str]) -> None:
    """Names and what they stand for, one below the other; what is too long is folded."""
    from ._messages import wrapped

    for name, value in rows.items():
        first, *more = wrapped(line(value), out.width - NAME_WIDTH - 1)
        for head, text in ((name, first), *(("", each) for each in more)):
            out.print(f"{head:<{NAME_WIDTH}} {text}")


class _Again(NamedTuple):
    """What shows again without an overlay: messages and their tokens, and the summaries that lay `beneath`. `under` is
    the summary that lies over all of it."""

    told: str
    messages: int = 0
    tokens: int = 0
    beneath: tuple[str, ...] = ()
    under: str | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "messages": self.messages,
            "estimatedTokens": self.tokens,
            "summaries": list(self.beneath),
            "under": self.under,
        }


def _again(marks: Marks, laid: Sequence[glassine.Overlay], overlay: glassine.Overlay, counted: str) -> _Again:
    if overlay.kind == "reminder":
        return _Again("it is not shown after its message any more")
    if overlay.kind == "marker":
        return _under_marker(marks, overlay, counted)
    outer = [other for other in laid if overlay.id in other.supersedes]
    if outer:
        # The last one that was laid lies over all others.
        return _Again(f"summary {line(outer[-1].id)} still lies over it, so nothing else shows", under=outer[-1].id)
    inner = [other for other in laid if other.id in overlay.supersedes]
    hidden = {id for other in inner for id in other.supersedes}
    beneath = [other for other in inner if other.id not in hidden]
    messages = overlay.covered_messages - sum(other.covered_messages for other in beneath)
    freed = tokens(overlay, counted) - sum(tokens(other, counted) for other in beneath)
    verb = "shows" if messages == 1 else "show"
    told = f"{count(messages, 'message')} of {count(freed, 'token')} {verb} again"
    if beneath:
        verb = "lies" if len(beneath) == 1 else "lie"
        told += f", and {count(len(beneath), 'summary', 'summaries')} that {verb} beneath"
    return _Again(told, messages, freed, tuple([other.id for other in beneath]))


def _under_marker(marks: Marks, overlay: glassine.Overlay, counted: str) -> _Again:
    from ._messages import output_text

    if what(overlay) == STUBBED:
        return _Again("the next request looks again for the result that was missing")
    result = marks.stored(overlay)
    if result is None:
        return _Again("what lay beneath it cannot be read")
    freed = estimate_tokens(output_text(result.output), counted)
    whole = f"the result of {line(result.name or 'the tool')} shows again as it is stored, {count(freed, 'token')}"
    if what(overlay) == "unloaded":
        whole += "; a program that follows its skills takes it out again"
    return _Again(whole, 1, freed)
