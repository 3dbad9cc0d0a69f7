"""Drawing a tree of messages from its outline: one line to the right for every branch, as git draws commits.

Pure: an outline goes in, rows come out. A path runs straight down as far as it can; what branches off it is drawn
before it goes on. Steps between what was asked and what was answered are counted, not listed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import glassine

__all__ = ["Row", "draw"]


class Row(NamedTuple):
    """One line of the drawing: `lanes` to its left, and either a message or how many of each role are left out.

    `blank` separates two roots.
    """

    lanes: str
    node: glassine.Outline | None
    skipped: tuple[tuple[str, int], ...] = ()

    @property
    def blank(self) -> bool:
        return self.node is None and not self.skipped


class _Lane(NamedTuple):
    """Where drawing goes on: a message, the lanes to the left of its first row, and of all later ones."""

    node: glassine.Outline
    first: str
    rest: str


def draw(nodes: Sequence[glassine.Outline], straight: Collection[str], shown: Collection[str]) -> Iterator[Row]:
    """The rows of a tree, oldest first. `straight` are the messages whose path runs straight down (the active one);
    `shown` are to be listed wherever they stand."""
    children: defaultdict[str | None, list[glassine.Outline]] = defaultdict(list)
    for node in nodes:
        children[node.parent_id].append(node)
    for number, root in enumerate(children[None]):
        if number:
            yield Row("", None)
        # A stack and not a recursion: branches of branches may go deeper than Python does.
        stack = [_Lane(root, "", "")]
        while stack:
            lane = stack.pop()
            run, below = _run(lane.node, children)
            yield from _rows(lane, run, shown)
            if below:
                main = next((node for node in below if node.id in straight), below[-1])
                stack.append(_Lane(main, lane.rest, lane.rest))
                stack += [
                    _Lane(node, f"{lane.rest}├─", f"{lane.rest}│ ") for node in reversed(below) if node is not main
                ]


def _run(
    node: glassine.Outline, children: defaultdict[str | None, list[glassine.Outline]]
) -> tuple[list[glassine.Outline], list[glassine.Outline]]:
    """The messages from `node` on to the next branching or the end, and what branches there."""
    run = [node]
    while len(below := children.get(node.id, [])) == 1:
        node = below[0]
        run.append(node)
    return run, below


def _rows(lane: _Lane, run: list[glassine.Outline], shown: Collection[str]) -> Iterator[Row]:
    lanes, skipped = lane.first, list[glassine.Outline]()
    for index, node in enumerate(run):
        following = run[index + 1] if index + 1 < len(run) else None
        ends = following is None or following.role == "user"
        if index == 0 or ends or node.role in ("user", "system") or node.id in shown:
            if skipped:
                yield _skipped(lane.rest, skipped)
                skipped = []
            yield Row(lanes, node)
            lanes = lane.rest
        else:
            skipped.append(node)


def _skipped(lanes: str, nodes: list[glassine.Outline]) -> Row:
    if len(nodes) == 1:
        return Row(lanes, nodes[0])
    return Row(lanes, None, tuple(Counter(node.role for node in nodes).items()))
