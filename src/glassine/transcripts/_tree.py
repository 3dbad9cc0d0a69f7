"""Where a message goes in the tree, decided once, when its line is read.

Transcripts record which line followed which. That is finer than the tree of messages: one reply is many lines, and
parallel tool results hang on different lines of it. Here the results of one step stand in a row behind it (a *chain*)
and whatever follows any of them follows the last.

Invariant: a node's parent is final when the node is made, and depends on earlier lines only. So a longer version of
a file gives the same tree with something added.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Chain", "Node", "Tree", "tail"]


@dataclass(slots=True, eq=False)
class Chain:
    """A step and the results that stand behind it, in the order they came."""

    last: Node
    answered: set[str] = field(default_factory=set)


@dataclass(slots=True, eq=False)
class Node:
    """A message in the tree. `newest` is the child added last."""

    id: str
    message: dict[str, Any]
    parent: Node | None
    root: Node = field(init=False)
    newest: Node | None = None
    chain: Chain | None = None

    def __post_init__(self) -> None:
        self.root = self if self.parent is None else self.parent.root
        if self.parent is not None:
            self.parent.newest = self


def tail(at: Node | None) -> Node | None:
    """The node behind which something that hangs on `at` goes."""
    return at if at is None or at.chain is None else at.chain.last


class Tree:
    """The nodes of one conversation, in insertion order."""

    __slots__ = ("_prompted", "nodes")

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._prompted: dict[Node | None, Node | None] = {}

    def append(self, message: dict[str, Any], at: Node | None) -> Node:
        """Add a message that hangs on `at` (None: a root)."""
        return self._add(message, tail(at))

    def append_prompt(self, message: dict[str, Any], at: Node | None) -> Node:
        """Add what a person typed. A second prompt at the same place is a rewind: it stands beside the first."""
        return self._add(message, self._prompted.setdefault(at, tail(at)))

    def append_behind(self, message: dict[str, Any], at: Node | None) -> Node:
        """Add what nobody chose to put beside something else: if `at` is in a row, the message joins that row."""
        if at is None or at.chain is None:
            return self.append(message, at)
        return self._join(message, at.chain)

    def append_result(self, message: dict[str, Any], step: Node, calls: Collection[str]) -> tuple[Node, bool]:
        """Add the results of `calls`, all made by `step`. False when one of them had a result before: then the
        new one begins another branch at the step."""
        first = step.chain is None or step.chain.answered.isdisjoint(calls)
        if step.chain is None or not first:
            step.chain = Chain(step)
        chain = step.chain
        chain.answered.update(calls)
        if first:
            return self._join(message, chain), True
        node = self._add(message, step)
        node.chain, chain.last = chain, node
        return node, False

    def _join(self, message: dict[str, Any], chain: Chain) -> Node:
        # What comes late goes to the end of what has been said since, where it is still on the path. What stands in
        # between joins the row, or the lines that hang on it would leave the newcomer behind.
        before = chain.last
        while before.newest is not None:
            before = before.newest
            before.chain = before.chain or chain
        node = self._add(message, before)
        node.chain = before.chain or chain
        node.chain.last = chain.last = node
        return node

    def _add(self, message: dict[str, Any], parent: Node | None) -> Node:
        node = Node(message["id"], message, parent)
        self.nodes.append(node)
        return node
