"""One message as a person reads it: who, when, what; tool calls and results in a line or three, with their sizes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from rich.cells import cell_len, chop_cells, set_cell_size
from rich.text import Text

import glassine

from ._marks import SIGN, Marks, facts, what
from ._text import count, line, size, visible

RESULT_LINES = 3
SUMMARY_LINES = 12
ASIDE_LINES = 3
INDENT = 2
NO_START = frozenset(
    "、。，．・：；？！々ー…‥）］｝〕〉》」』】〙〗’”゛゜ヽヾゝゞぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ,.!?:;)]}"
)
NO_END = frozenset("（［｛〔〈《「『【〘〖‘“([{")

ROLE_STYLES = {"user": "bold cyan", "assistant": "bold green", "tool": "dim", "system": "bold magenta"}
SUMMARY_STYLE = "bold yellow"
MARK_STYLE = "yellow"


class Piece(NamedTuple):
    """A part of a message: its text, in what style, and how many lines of it are shown (None: all). What is shown on
    one line has no line breaks and no controls left in it."""

    text: str
    style: str = ""
    lines: int | None = None
    indent: int = 0


def fit(text: str, width: int) -> str:
    """`text` in at most `width` cells; an ellipsis at the end says that there is more."""
    head = text[: 4 * width]  # what lies further behind cannot be seen, however long it is
    if len(head) == len(text) and cell_len(text) <= width:
        return text
    return set_cell_size(head, width - 1).rstrip() + "…"


def wrapped(text: str, width: int) -> Iterator[str]:
    """The lines of `text`, those too wide folded between words, or anywhere in scripts without spaces.

    Japanese and Chinese lines neither begin with closing punctuation nor end with an opening bracket.
    """
    for row in text.split("\n"):
        row = row.rstrip()
        while len(row) * 2 > width and cell_len(row) > width:
            end = _fold(row, width)
            yield row[:end].rstrip()
            row = row[end:].lstrip(" ")
        yield row


def _fold(row: str, width: int) -> int:
    """Where to fold a row that is too wide."""
    widest = max(len(chop_cells(row[: width + 1], width)[0]), 1)
    space = row.rfind(" ", 0, widest + 1)
    # A word longer than half a line, and text without spaces, is folded where the line ends.
    if space > widest // 2:
        return space
    end = widest
    while end > widest // 2 and (row[end] in NO_START or row[end - 1] in NO_END):
        end -= 1
    return end if end > widest // 2 else widest


def render(
    message: glassine.Message, width: int, before: datetime | None, marks: Marks | None = None
) -> Iterator[Text]:
    """The lines of one message; `before` is the time of the one shown before it, whose date is not repeated. `marks`
    are the overlays to be named where they lie."""
    summary = None if marks is None else marks.summary(message)
    if message.role != "tool":
        yield Text()
        if marks is not None and summary is not None:
            yield Text(fit(f"{SIGN} {marks.short(summary)}", width), style=MARK_STYLE)
        head = heading(message, before, summary)
        head.truncate(width, overflow="ellipsis")
        yield head
    for piece in pieces(message, marks):
        yield from _lines(piece, width)


def heading(message: glassine.Message, before: datetime | None, summary: glassine.Overlay | None = None) -> Text:
    label, style = title(message)
    if summary is not None:
        # `stale` stands in the title already.
        label = ", ".join([label, *(fact for fact in facts(summary) if fact != "stale")])
    text = Text(label, style=style)
    if message.created_at is not None:
        text.append(f"  {clock(message.created_at, before)}", style="dim")
    return text


def is_summary(message: glassine.Message) -> bool:
    """Whether it stands for messages under a summary (nobody else may use such an id)."""
    return message.id.startswith("compaction_")


def title(message: glassine.Message) -> tuple[str, str]:
    """Who speaks, and in what style: the role, or what stands in its place."""
    metadata: dict[str, Any] = message.metadata or {}
    if is_summary(message):
        ours = metadata["glassine"]
        return f"summary of {count(ours['messages'], 'message')}{', stale' if ours['stale'] else ''}", SUMMARY_STYLE
    origin = metadata.get("origin")
    if isinstance(origin, str):
        return f"{message.role} ({line(origin)})", "dim"
    return message.role, ROLE_STYLES[message.role]


def clock(moment: datetime, before: datetime | None) -> str:
    """Local time; with the date where it is another day than `before`."""
    local = moment.astimezone()
    same_day = before is not None and before.astimezone().date() == local.date()
    return f"{local:%H:%M:%S}" if same_day else f"{local:%Y-%m-%d %H:%M:%S}"


def pieces(message: glassine.Message, marks: Marks | None = None) -> Iterator[Piece]:
    """What a message says, part by part, with what lies over it."""
    calls = {call.part: call for call in glassine.calls(message)}
    results = {result.part: result for result in glassine.results(message)}
    aside = "origin" in (message.metadata or {})
    limit = SUMMARY_LINES if is_summary(message) else ASIDE_LINES if aside else None
    parts: Sequence[Any] = message.parts
    for index, part in enumerate(parts):
        if index in calls:
            yield _call(calls[index])
            if marks is not None and (stub := marks.stub(message, calls[index])) is not None:
                yield _mark(marks, stub, "a request was sent without its result")
        if index in results:
            yield from _result(results[index])
            if marks is not None and (marker := marks.over_result(message, results[index])) is not None:
                yield _mark(marks, marker, _stored(marks, marker))
        if index not in calls and index not in results:
            yield _part(part, "dim" if aside else "", limit)
    if marks is not None:
        for reminder in marks.reminders(message):
            yield _mark(marks, reminder, line(reminder.text[:1000]))


def _mark(marks: Marks, overlay: glassine.Overlay, about: str) -> Piece:
    said = "  ".join(text for text in (what(overlay), marks.short(overlay), about) if text)
    return Piece(f"{SIGN} {said}", MARK_STYLE, 1)


def _stored(marks: Marks, marker: glassine.Overlay) -> str:
    result = marks.stored(marker)
    return "" if result is None else f"{size(_bytes(output_text(result.output)))} stored"


def _part(part: dict[str, Any], style: str, limit: int | None) -> Piece:
    text = part.get("text")
    match part.get("type"):
        case "text" if isinstance(text, str):
            return Piece(text, style, limit)
        case "reasoning" if isinstance(text, str):
            said = (
                f"thinking, {size(_bytes(text))}: {text.strip()}"
                if text.strip()
                else "thinking, not shown by the model"
            )
            return Piece(said, "dim italic", ASIDE_LINES)
        case "file":
            return Piece(f"[{_file(part)}]", "magenta", 1)
        case kind:
            return Piece(f"[{line(str(kind))}, {size(_bytes(_json(part)))}]", "dim", 1)


def _call(call: glassine.ToolCall) -> Piece:
    given = call.raw
    if isinstance(given, dict):
        said = ", ".join(f"{key}: {value if isinstance(value, str) else _json(value)}" for key, value in given.items())
    else:
        said = given if isinstance(given, str) else _json(given)
    length = _bytes(said)
    # The size matters where much of it is not shown.
    about = f"{size(length)}  " if length >= 1000 else ""
    return Piece(f"→ {line(call.name)}  {about}{line(said[:1000])}", "blue", 1)


def _result(result: glassine.ToolResult) -> Iterator[Piece]:
    output = output_text(result.output)
    length, text = _bytes(output), output.strip("\n")
    style = "red" if result.is_error else "dim"
    head = f"← {line(result.name or '') or 'result'}{' failed' if result.is_error else ''}"
    if not text.strip():
        yield Piece(f"{head}  nothing", style, 1)
    elif "\n" not in text:
        yield Piece(f"{head}  {size(length)}  {line(text[:1000])}", style, 1)
    else:
        yield Piece(f"{head}  {size(length)}", style, 1)
        yield Piece(text, style, RESULT_LINES, indent=2)


def output_text(output: Any) -> str:
    """What a tool gave back, as text: blocks one after the other, media by name, other values as JSON."""
    if isinstance(output, str):
        return output
    if isinstance(output, list) and all(isinstance(block, dict) for block in output):
        return "\n".join(_block(block) for block in output)
    return "" if output is None else _json(output)


def _block(block: dict[str, Any]) -> str:
    source = block.get("source")
    match block.get("type"):
        case "text" if isinstance(text := block.get("text"), str):
            return text
        case "image" | "document" as kind if isinstance(source, dict):
            data = source.get("data")
            inside = f", {size(len(data) * 3 // 4)}" if isinstance(data, str) else ""
            return f"[{source.get('media_type', kind)}{inside}]"
    return _json(block)


def _file(part: dict[str, Any]) -> str:
    name, url = part.get("filename"), part.get("url")
    facts = [str(part.get("mediaType", "file")), *([name] if isinstance(name, str) else [])]
    if isinstance(url, str):
        head, comma, data = url.partition(";base64,")
        facts.append(size(len(data) * 3 // 4) if comma and head.startswith("data:") else url)
    return line(", ".join(facts))


def _lines(piece: Piece, width: int) -> Iterator[Text]:
    room = width - INDENT
    if piece.lines == 1:
        yield _indented(fit(piece.text, room), piece.style)
        return
    if piece.lines is None:
        for row in wrapped(visible(piece.text).strip("\n"), room):
            yield _indented(row, piece.style)
        return
    # Of a text that is cut anyway, only what can be shown is looked at.
    rows = [row for row in piece.text.split("\n") if row.strip()]
    head = visible("\n".join(row[: room * 4] for row in rows[: piece.lines])).split("\n")[: piece.lines]
    by = INDENT + piece.indent
    for row in head:
        yield _indented(fit(row.rstrip(), width - by), piece.style, by)
    if len(rows) > piece.lines:
        yield _indented(f"… {count(len(rows) - piece.lines, 'more line')}", piece.style, by)


def _indented(row: str, style: str, by: int = INDENT) -> Text:
    return Text(" " * by + row, style=style) if row else Text()


def gist(message: glassine.Message) -> str:
    """A message in one line, for a tree: how it begins, or what it calls, or what came back."""
    said = line(message.text[:2000])
    if said:
        return said
    if calls := glassine.calls(message):
        return "→ " + line(", ".join(call.name for call in calls))
    if results := glassine.results(message):
        return "← " + line(", ".join(result.name or "result" for result in results))
    return line(", ".join(piece.text[:200] for piece in pieces(message)))


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
