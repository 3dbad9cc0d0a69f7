"""Sentences of a text in any language, as lines that can be sent and stored anywhere; no character is ever parted."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..formats._common import sendable
from ..truncation._whole import after, before

LONGEST = 240
"""Characters of a quotation."""
PLAIN_READ = 100_000
"""Characters that are read of a text that is no message: an earlier summary, or a plain one."""
NAME_READ = 2_000
"""The same of a name."""

_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_BULLET = re.compile(r"\A(?:[-*+•・>]\s+)+")
_CLOSING = r"[)\]\"'’”」』）】〉》]*"
_WIDE = "。｡！？．"
# Matches wherever a mark stands, so that a line of nothing but points takes no longer than another; `_ends` decides.
_END = re.compile(rf"[{_WIDE}.!?…।؟]++{_CLOSING}")
_GOES_ON = frozenset("とっのでがはをにも、，,")
"""What follows a closing bracket where the sentence around the quotation goes on."""
_WITH_POINT = "Mr Mrs Ms Dr Prof St vs Fig fig Eq eq Vol vol approx cf Inc Ltd Co Corp Jr Sr Dept bzw usw"
_SHORT_FORMS = frozenset(_WITH_POINT.split())
_SOFT = re.compile(r"[、，；：]|[,;:]?\s")
_SPACED_LETTERS = re.compile(r"(?:[A-Za-z]\.)*[A-Za-z]")
_FENCES = ("```", "~~~")


def one_line(text: str) -> str:
    """A text as one line that can be sent and stored anywhere; behind its label it is no heading, whatever it says."""
    return " ".join(_clean(text).split())


def _clean(text: str) -> str:
    text = sendable(text)
    return _CONTROL.sub("\ufffd", _ESCAPE.sub("", text)) if _CONTROL.search(text) else text


def scanned(text: str, most: int) -> str:
    """The beginning and the end of a text of more than `most` characters."""
    if len(text) <= most:
        return text
    head, tail = text[:most], text[-most:]  # looked at alone: where a run of flags began may be far away
    return f"{head[: before(head, most - most // 4)]}…\n…{tail[after(tail, most - most // 4) :]}"


def sentences(text: str, most: int) -> Iterator[tuple[str, bool, bool]]:
    """(sentence, whether it is the first, whether it is code) of the `most` characters that are read of a text.

    No sentence is longer than LONGEST; of a longer one come several pieces. A line of code is kept whole.
    """
    fenced, first = False, True
    for raw in _clean(scanned(text, most)).splitlines():
        line = " ".join(raw.split())
        if line.startswith(_FENCES):
            fenced = not fenced
            continue
        for sentence in [line] if fenced else split(_BULLET.sub("", line, count=1)):
            for piece in [sentence] if 0 < len(sentence) <= LONGEST else pieces(sentence):
                yield piece, first, fenced
                first = False


def split(line: str) -> Iterator[str]:
    """The sentences of a line, whole however long they are."""
    start = 0
    for end in _END.finditer(line):
        if _ends(line, start, end) and before(line, end.end()) == end.end():
            yield line[start : end.end()].strip()
            start = end.end()
    if rest := line[start:].strip():
        yield rest


def _ends(line: str, start: int, end: re.Match[str]) -> bool:
    """Whether the mark ends a sentence: not the point of `e.g.`, `Dr.`, `J. Smith` or the number of an item."""
    mark, following = end[0], line[end.end() : end.end() + 2]
    if mark[0] in _WIDE:
        return not (mark == "．" and following[:1].isdigit()) and (mark[-1] in _WIDE or following[:1] not in _GOES_ON)
    if not following.startswith(" "):
        return False
    if mark[0] == "…" or mark.startswith(".."):
        return not following[1:].islower()
    word = line[max(start, end.start() - 16) : end.start()].rpartition(" ")[2].lstrip("([\"'“")
    item = word.isdigit() and line[start : end.start()].strip() == word
    item = item or (word in ("No", "no") and following[1:].isdigit())
    return mark[0] != "." or not (item or word in _SHORT_FORMS or _SPACED_LETTERS.fullmatch(word))


def pieces(sentence: str) -> Iterator[str]:
    """A sentence in pieces of at most LONGEST characters, with … where it was cut."""
    start, cut = 0, ""
    while len(sentence) - start > LONGEST - len(cut):
        window = sentence[start : start + LONGEST]
        soft = [found.end() for found in _SOFT.finditer(window, LONGEST // 2, LONGEST - 2)]
        place = before(window, soft[-1] if soft else LONGEST - 2)
        if place == 0:  # one character of more than all the room
            start = after(sentence, start + 1)
            continue
        yield f"{cut}{window[:place].rstrip()}…"
        start, cut = start + place, "…"
    if rest := sentence[start:].strip():
        yield cut + rest


def shortened(text: str, most: int) -> str:
    """A line of at most `most` characters: its beginning, and of a long one its end, where a request often stands."""
    if len(text) <= most:
        return text
    tail = after(text, len(text) - most // 3) if most >= 60 else len(text)
    head = before(text, most - (len(text) - tail) - 3)
    return f"{text[:head].rstrip()} … {text[tail:].lstrip()}".strip()


def name_of(name: str) -> str:
    """A name as one word of at most 60 characters; `?` for an empty one."""
    return "_".join(shortened(one_line(scanned(name, NAME_READ)), 60).split()) or "?"
