"""Where a message stands in the tree, and what a path is made of.

A *strand* is an unbranched run of messages; a branch starts a new strand. `seq` is the session's insertion
counter, so it grows along every path, and (strand, seq) names a place for ever: neither is used twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Position(NamedTuple):
    strand: int
    seq: int


class Segment(NamedTuple):
    """The part of a path that lies on one strand: its messages with `seq <= upto`."""

    strand: int
    upto: int


class Span(NamedTuple):
    """Messages of one strand with `low <= seq <= high`: one range read."""

    strand: int
    low: int
    high: int


class Path:
    """A path from a leaf to its root: segments, the leaf's first.

    Invariant: `upto` falls from segment to segment, and every seq on a segment is above the `upto` of the next
    one, because a child is always inserted after its parent.
    """

    __slots__ = ("_upto", "segments")

    def __init__(self, segments: Iterable[tuple[int, int]]) -> None:
        self.segments = tuple(Segment(strand, upto) for strand, upto in segments)
        self._upto = dict(self.segments)

    def __contains__(self, position: Position) -> bool:
        upto = self._upto.get(position.strand)
        return upto is not None and position.seq <= upto

    def shared(self, other: Path) -> int:
        """The number of the last message that both paths have; 0 when they have none in common."""
        return max(
            [min(upto, other._upto[strand]) for strand, upto in self.segments if strand in other._upto], default=0
        )

    def spans(self, low: int, high: int) -> list[Span]:
        """The messages with `low <= seq <= high`, as range reads, newest first."""
        found = []
        for index, (strand, upto) in enumerate(self.segments):
            if upto < low:
                break
            floor = self.segments[index + 1].upto + 1 if index + 1 < len(self.segments) else 1
            if max(low, floor) <= high:
                found.append(Span(strand, max(low, floor), min(high, upto)))
        return found
