"""The pure half of overlays, against a model that knows only sets of messages on explicit paths."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassine import InvalidRangeError, Overlay
from glassine.overlays import check_range, cuts, layers, outermost, summary_message
from glassine.tree import Path, Position, Span

NOON = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)


class Tree:
    """Message `n` has seq n; a child of the last message of a strand goes on there, any other begins a strand."""

    def __init__(self, parents: list[int]) -> None:
        self.parent: dict[int, int | None] = {}
        self.place: dict[int, Position] = {}
        ends: dict[int, int] = {}
        for seq, choice in enumerate(parents, 1):
            parent = choice % seq or None  # 0: a root
            self.parent[seq] = parent
            if parent is not None and ends[self.place[parent].strand] == parent:
                strand = self.place[parent].strand
            else:
                strand = len(ends) + 1
            ends[strand] = seq
            self.place[seq] = Position(strand, seq)

    def walk(self, leaf: int | None) -> list[int]:
        found = []
        while leaf is not None:
            found.append(leaf)
            leaf = self.parent[leaf]
        return found[::-1]

    def path(self, leaf: int) -> Path:
        segments: dict[int, int] = {}
        for seq in self.walk(leaf)[::-1]:
            segments.setdefault(self.place[seq].strand, seq)
        return Path(segments.items())

    def read(self, span: Span) -> list[int]:
        return [seq for seq, at in self.place.items() if at.strand == span.strand and span.low <= seq <= span.high]

    def overlay(self, first: int, last: int, order: int) -> Overlay:
        return Overlay(
            id=f"o{order}",
            kind="summary",
            first_id=str(first),
            last_id=str(last),
            text="要約",
            created_at=NOON,
            stale=False,
            supersedes=(),
            covered_messages=0,
            covered_bytes=0,
            covered_tokens=(0, 0, 0, 0, 0),
            first=self.place[first],
            last=self.place[last],
            order=order,
        )


trees = st.lists(st.integers(0, 50), min_size=1, max_size=14).map(Tree)
ranges = st.lists(st.tuples(st.integers(0, 100), st.integers(0, 100)), max_size=8)


def lay(tree: Tree, wanted: list[tuple[int, int]]) -> tuple[list[Overlay], dict[str, set[int]]]:
    """Lay what `check_range` allows, and see that it allows what it should."""
    laid: list[Overlay] = []
    spans: dict[str, set[int]] = {}
    for order, (one, two) in enumerate(wanted):
        last = one % len(tree.place) + 1
        path = tree.walk(last)
        first = path[two % len(path)]
        mine = set(path[path.index(first) :])
        shared = {
            other.id: spans[other.id]
            for other in laid
            if other.last.seq in path or last in tree.walk(other.last.seq)
            if spans[other.id] & mine
        }
        arguments = (
            (str(first), tree.place[first]),
            (str(last), tree.place[last]),
            tree.path(last),
            [(other, tree.path(other.last.seq)) for other in laid],
        )
        if all(theirs <= mine for theirs in shared.values()):
            assert set(check_range(*arguments)) == shared.keys()
            laid.append(tree.overlay(first, last, order))
            spans[laid[-1].id] = mine
        else:
            with pytest.raises(InvalidRangeError) as caught:
                check_range(*arguments)
            assert caught.value.overlay_id in shared
    return laid, spans


@given(trees, ranges)
@settings(deadline=None)
def test_every_path_shows_messages_and_outermost_summaries_once_each(tree: Tree, wanted: list[tuple[int, int]]) -> None:
    laid, spans = lay(tree, wanted)
    for leaf in tree.place:
        path = tree.walk(leaf)
        there = [overlay for overlay in laid if spans[overlay.id] <= set(path)]
        covered: dict[int, str] = {}
        for overlay in sorted(there, key=lambda overlay: (len(spans[overlay.id]), overlay.order)):
            covered |= dict.fromkeys(spans[overlay.id], overlay.id)
        shown: list[int | str] = []
        for seq in path:
            what = covered.get(seq, seq)
            if not shown or shown[-1] != what:
                shown.append(what)
        found: list[int | str] = []
        for piece in layers(tree.path(leaf), laid):
            found += [piece.id] if isinstance(piece, Overlay) else tree.read(piece)[::-1]
        assert found[::-1] == shown
        assert [overlay.id for overlay in outermost(tree.path(leaf), laid)] == [
            what for what in shown[::-1] if isinstance(what, str)
        ]


@given(trees)
def test_a_path_contains_what_it_walks_over(tree: Tree) -> None:
    for leaf in tree.place:
        path, walked = tree.path(leaf), tree.walk(leaf)
        assert [seq for seq, at in tree.place.items() if at in path] == walked
        for low, high in ((1, leaf), (2, leaf - 1), (leaf, leaf), (3, 5)):
            spans = path.spans(low, high)
            assert [seq for span in spans for seq in tree.read(span)[::-1]] == [
                seq for seq in walked[::-1] if low <= seq <= high
            ]
            assert all(span.low <= span.high for span in spans)


@given(trees, st.integers(0, 50), st.integers(0, 50), st.integers(0, 50), st.integers(0, 50))
def test_cutting_through(tree: Tree, one: int, two: int, three: int, four: int) -> None:
    ends = []
    for last, first in ((one, two), (three, four)):
        last = last % len(tree.place) + 1
        path = tree.walk(last)
        ends.append((path[first % len(path)], last))
    spans = [set(tree.walk(last)) & set(range(first, last + 1)) for first, last in ends]
    shared = ends[0][1] in tree.walk(ends[1][1]) or ends[1][1] in tree.walk(ends[0][1])
    overlap = bool(spans[0] & spans[1]) and not spans[0] <= spans[1] and not spans[1] <= spans[0]
    overlays = [tree.overlay(first, last, order) for order, (first, last) in enumerate(ends)]
    paths = [tree.path(last) for _, last in ends]
    for a, b in ((0, 1), (1, 0)):
        assert cuts(overlays[a], paths[a], overlays[b], paths[b]) == (shared and overlap)


def test_markers_and_reminders_are_no_layers() -> None:
    tree = Tree([0, 1, 2])
    marker = tree.overlay(2, 2, 1)
    for kind in ("marker", "reminder"):
        object.__setattr__(marker, "kind", kind)
        assert outermost(tree.path(3), [marker]) == []


def test_the_message_of_a_summary() -> None:
    overlay = Tree([0, 1]).overlay(1, 2, 7)
    message = summary_message(overlay)
    assert message.to_dict() == {
        "id": "compaction_o7",
        "role": "user",
        "parts": [{"type": "text", "text": "要約"}],
        "createdAt": "2026-01-31T12:00:00Z",
        "metadata": {
            "glassine": {"kind": "summary", "overlay": "o7", "first": "1", "last": "2", "messages": 0, "stale": False}
        },
    }
    assert overlay.size == len("要約".encode())
