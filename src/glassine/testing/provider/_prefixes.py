"""The prompt caches of OpenAI and Google, in numbers: how much of a prompt was sent before, byte for byte.

Both match the exact beginning of a prompt: tools and system text first, then the messages in their order.

`shared` is the automatic cache: whatever a prompt has in common with an earlier one is read, in steps of so many tokens
and from a least size on. `marked` is the cache with breakpoints of GPT-5.6 and later: a breakpoint writes the prompt up
to it, and a later prompt that begins with exactly that reads it. Entries live so many seconds from their last use.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ._counting import count

MEDIA_TOKENS = 1500
"""What a picture, a file or a sound counts, whatever is in it."""
_WRITES = 4


class Piece(NamedTuple):
    """A part of a prompt: its text, tokens that stand beside the text, and the lifetime in seconds that a breakpoint
    behind it asks for (None: no breakpoint)."""

    text: str
    media: int = 0
    mark: float | None = None


class Cached(NamedTuple):
    """Tokens of a whole prompt, of what was read and what is written; `commit` is called when the answer begins."""

    total: int
    read: int
    written: int
    commit: Callable[[], None]


@dataclass(slots=True)
class _Entry:
    text: str
    lifetime: float
    expires: float


class PrefixCache:
    """The cache of one account. `key` sets apart what never shares: the model, and a cache key if one is given."""

    def __init__(self) -> None:
        self._entries: dict[Hashable, list[_Entry]] = {}

    def shared(
        self,
        key: Hashable,
        pieces: Sequence[Piece],
        model: str,
        *,
        minimum: int,
        step: int,
        lifetime: float,
        now: float,
    ) -> Cached:
        """Count a prompt for the automatic cache. Nothing changes before `commit` is called."""
        text = "".join(piece.text for piece in pieces)
        total = size(pieces, model)
        live = self._live(key, now)
        common = [_common(text, entry.text) for entry in live]
        longest = max(common, default=0)
        found = min(_size_to(pieces, longest, model), total - 1)
        read = found // step * step if found >= minimum else 0

        def commit() -> None:
            kept = []
            for entry, length in zip(live, common, strict=True):
                if read and length == longest:
                    entry.expires = now + entry.lifetime
                if length < len(entry.text):  # else the new entry holds all of it
                    kept.append(entry)
            if total >= minimum:
                kept.append(_Entry(text, lifetime, now + lifetime))
            self._entries[key] = kept

        return Cached(total, read, 0, commit)

    def marked(
        self,
        key: Hashable,
        pieces: Sequence[Piece],
        model: str,
        *,
        minimum: int,
        implicit: float | None,
        now: float,
    ) -> Cached:
        """Count a prompt for the cache with breakpoints; `implicit` is the lifetime of the one behind all, if any."""
        text = "".join(piece.text for piece in pieces)
        total = size(pieces, model)
        ends = [(end, piece.mark) for end, piece in _ends(pieces) if piece.mark is not None]
        ends = ends[-(_WRITES if implicit is None else _WRITES - 1) :]
        if implicit is not None:
            ends.append((len(text), implicit))
        live = self._live(key, now)
        hit = max((entry for entry in live if text.startswith(entry.text)), key=lambda it: len(it.text), default=None)
        read = _size_to(pieces, len(hit.text), model) if hit else 0
        start = len(hit.text) if hit else 0
        writes = {end: mark for end, mark in ends if end > start and _size_to(pieces, end, model) >= minimum}
        written = _size_to(pieces, max(writes), model) - read if writes else 0

        def commit() -> None:
            if hit:
                hit.expires = now + hit.lifetime
            new = [_Entry(text[:end], mark or 0.0, now + (mark or 0.0)) for end, mark in writes.items()]
            self._entries[key] = [*live, *new]

        return Cached(total, read, written, commit)

    def _live(self, key: Hashable, now: float) -> list[_Entry]:
        return [entry for entry in self._entries.get(key, ()) if now < entry.expires]


def size(pieces: Sequence[Piece], model: str) -> int:
    """Tokens of a whole prompt."""
    return _size_to(pieces, sum(len(piece.text) for piece in pieces), model)


def _size_to(pieces: Sequence[Piece], length: int, model: str) -> int:
    text = "".join(piece.text for piece in pieces)[:length]
    return count(text, model) + sum(piece.media for end, piece in _ends(pieces) if end <= length)


def _ends(pieces: Sequence[Piece]) -> list[tuple[int, Piece]]:
    found: list[tuple[int, Piece]] = []
    end = 0
    for piece in pieces:
        end += len(piece.text)
        found.append((end, piece))
    return found


def _common(one: str, other: str) -> int:
    """How many characters two texts have in common at their beginning."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
