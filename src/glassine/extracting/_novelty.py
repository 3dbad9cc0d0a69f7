"""Whether a sentence says something that no chosen one says."""

from __future__ import annotations

from collections import Counter

from ..searching import fold, segment
from ._form import Said
from ._scoring import DIGITS

_COMMON = frozenset(
    segment(
        "a an the of to in on at by for from with as is are was were be been it its this that these those and or so "
        "we i you he she they them our my your will would can could do does did has have had just very also then there"
    )
)
_NEGATIONS = frozenset(segment("not never no don doesn didn isn won cannot can't without none nothing"))
_ALIKE, _LOOKED_AT = 0.6, 64
_OF_ONE_TEMPLATE = {"tool": 1, "assistant": 2}
"""Lines that differ in their numbers only, as those of logs do; users and earlier summaries may say any number."""


def _key(text: str) -> str:
    return fold(text).strip(" .…。")


class Novelty:
    """What has been chosen. A sentence adds to it by a word, number or negation that no single chosen line has."""

    def __init__(self) -> None:
        self._keys: set[str] = set()
        self._templates: Counter[tuple[str, str]] = Counter()
        self._chosen: list[frozenset[str]] = []
        self._holding: dict[str, list[int]] = {}

    def adds(self, said: Said) -> bool:
        key = _key(said.text)
        if not key or key in self._keys:
            return False
        most = _OF_ONE_TEMPLATE.get(said.kind)
        if most and self._templates[said.kind, DIGITS.sub("0", key)] >= most:
            return False
        words = frozenset(segment(said.text))
        telling = words - _COMMON
        if not telling:
            return bool(words) or not self._chosen
        rarest = min(telling, key=lambda word: (len(self._holding.get(word, ())), word))
        for number in self._holding.get(rarest, ())[-_LOOKED_AT:]:
            other = self._chosen[number]
            if (
                telling <= other
                and words & _NEGATIONS == other & _NEGATIONS
                and len(words & other) >= _ALIKE * len(words | other)
            ):
                return False
        return True

    def take(self, said: Said) -> None:
        key = _key(said.text)
        self._keys.add(key)
        self._templates[said.kind, DIGITS.sub("0", key)] += 1
        words = frozenset(segment(said.text))
        for word in words - _COMMON:
            self._holding.setdefault(word, []).append(len(self._chosen))
        self._chosen.append(words)
