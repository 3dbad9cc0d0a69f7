"""Anthropic's prompt cache, in numbers: what a request reads, what it writes, what it pays in full.

The rules are those of the prompt caching page: an entry is the exact prefix up to a marked block, and only marked
blocks write; a mark finds entries at itself and at the 19 blocks before it; an entry lives 5 minutes or 1 hour from its
last use; a prefix below the least size of the model is not written. Entries become usable when the answer begins.
Tools come first, then system, then messages; what is set for the whole request beside them (`tool_choice`, thinking,
effort) counts as standing before the messages.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ._blocks import UNCACHEABLE, Block, automatic_ttl, blocks_of
from ._counting import canonical, count

LIFETIMES = {"5m": 300.0, "1h": 3600.0}
LOOK_BACK = 20
_PER_REQUEST = 8  # tokens of the frame that the provider puts around each prompt
_PER_FILE = 1500  # tokens of a picture of about a megapixel, or of a page


class Counted(NamedTuple):
    """What a request costs, in tokens that add up to its whole input, and what to do when its answer begins."""

    input: int
    read: int
    written_5m: int
    written_1h: int
    commit: Callable[[], None]

    @property
    def written(self) -> int:
        return self.written_5m + self.written_1h

    @property
    def total(self) -> int:
        return self.input + self.read + self.written


@dataclass(slots=True)
class _Entry:
    ttl: str
    expires: float


class _Prefixes(NamedTuple):
    """After each block: the digest of everything so far, and its tokens."""

    digests: list[bytes]
    tokens: list[int]


class Ledger:
    """The cache of one account."""

    def __init__(self) -> None:
        self._entries: dict[bytes, _Entry] = {}

    def count(self, request: Mapping[str, Any], minimum: int, now: float) -> Counted:
        """Count a good request. Nothing changes before `commit` is called."""
        blocks = blocks_of(request)
        prefixes = _prefixes(request, blocks)
        total = (prefixes.tokens[-1] if prefixes.tokens else 0) + _PER_REQUEST
        marks = _marks(request, blocks)
        hit = max((self._find(prefixes, place, now) for place in marks), default=-1)
        read = prefixes.tokens[hit] if hit >= 0 else 0
        writes = {place: ttl for place, ttl in marks.items() if place > hit and prefixes.tokens[place] >= minimum}
        written_5m, written_1h = _written(writes, read, prefixes.tokens)

        def commit() -> None:
            for place in [hit, *(place for place in marks if place < hit)]:
                if place >= 0 and (entry := self._live(prefixes.digests[place], now)):
                    entry.expires = now + LIFETIMES[entry.ttl]
            for place, ttl in writes.items():
                self._entries[prefixes.digests[place]] = _Entry(ttl, now + LIFETIMES[ttl])

        return Counted(total - read - written_5m - written_1h, read, written_5m, written_1h, commit)

    def _find(self, prefixes: _Prefixes, mark: int, now: float) -> int:
        for place in range(mark, max(mark - LOOK_BACK, -1), -1):
            if self._live(prefixes.digests[place], now):
                return place
        return -1

    def _live(self, digest: bytes, now: float) -> _Entry | None:
        entry = self._entries.get(digest)
        return entry if entry and now < entry.expires else None


def _prefixes(request: Mapping[str, Any], blocks: Sequence[Block]) -> _Prefixes:
    model = str(request.get("model"))
    digest = hashlib.sha256(canonical([model, request.get("speed")]))
    digests: list[bytes] = []
    tokens: list[int] = []
    total = 0
    before_messages = True
    for block in blocks:
        if before_messages and block.message >= 0:
            before_messages = False
            digest.update(
                canonical([request.get("tool_choice"), request.get("thinking"), request.get("output_config")])
            )
        # The value as it was sent: another order of keys is another prompt.
        data = canonical([block.place, block.value])
        digest.update(len(data).to_bytes(8, "big") + data)
        total += _size(block.value, model)
        digests.append(digest.copy().digest())
        tokens.append(total)
    return _Prefixes(digests, tokens)


def _size(value: Any, model: str) -> int:
    """Tokens of a block: texts as they are, images and files at one price, anything else as JSON."""
    if value.get("type") == "text":
        return count(value["text"], model)
    bare, files = _without_files(value)
    return count(bare, model) + files * _PER_FILE


def _without_files(value: Any) -> tuple[Any, int]:
    if isinstance(value, list):
        pairs = [_without_files(item) for item in value]
        return [item for item, _ in pairs], sum(files for _, files in pairs)
    if not isinstance(value, dict):
        return value, 0
    if value.get("type") == "base64":
        return {name: item for name, item in value.items() if name != "data"}, 1
    pairs = [_without_files(item) for item in value.values()]
    return dict(zip(value, [item for item, _ in pairs], strict=True)), sum(files for _, files in pairs)


def _marks(request: Mapping[str, Any], blocks: Sequence[Block]) -> dict[int, str]:
    """The marked places and the lifetimes they ask for."""
    marks = {place: block.ttl for place, block in enumerate(blocks) if block.ttl}
    automatic = automatic_ttl(request)
    if automatic:
        for place in range(len(blocks) - 1, -1, -1):
            if blocks[place].kind not in UNCACHEABLE:
                marks.setdefault(place, automatic)
                break
    return marks


def _written(writes: Mapping[int, str], read: int, tokens: Sequence[int]) -> tuple[int, int]:
    """Tokens written for 5 minutes and for 1 hour: up to the last hour mark for the hour, the rest for the minutes."""
    end = max((tokens[place] for place in writes), default=read)
    hours = max((tokens[place] for place, ttl in writes.items() if ttl == "1h"), default=read)
    return end - hours, hours - read
