"""Deciding what an import has to write: a conversation that was read, against what a session holds.

Pure: plain values in, a plan out. What the session's owner did to it always wins over the transcript. Messages that
were deleted stay away, with what hung on them one higher; messages that were changed stay as they are; summaries that
were taken off are not laid again; and a leaf that was moved is followed only when the transcript has gone on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import glassine

from ..messages import Message
from ._values import Compaction, Conversation

__all__ = ["Plan", "Run", "Span", "State", "grown", "outgrown", "plan"]

RUN_LIMIT = 500
"""Messages of one append, so that no write transaction keeps others waiting for long."""


@dataclass(frozen=True, slots=True)
class State:
    """What a session holds. `stored` has the messages among them that differ in size from what was read."""

    outline: Sequence[glassine.Outline] = ()
    overlays: Sequence[glassine.Overlay] = ()
    deleted: frozenset[str] = frozenset()
    undone: frozenset[str] = frozenset()
    leaf_id: str | None = None
    stored: Mapping[str, Message] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Run:
    """Messages to append as a chain below `parent` (None: a new root)."""

    parent: str | None
    messages: list[Message]


@dataclass(frozen=True, slots=True)
class Span:
    """A summary to lay: `first` and `last` are messages that will be there by then."""

    compaction: Compaction
    first: str
    last: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What to write, in this order; and what is left alone.

    `leaf_id` is what the active leaf has to be in the end. `left_out` were deleted in the session, `kept` differ
    there from the transcript and stay so, `refused` are summaries that do not fit what lies there.
    """

    runs: tuple[Run, ...]
    updates: tuple[Message, ...]
    spans: tuple[Span, ...]
    leaf_id: str | None
    known: int
    left_out: int
    kept: int
    refused: tuple[Compaction, ...]


def plan(conversation: Conversation, readable: Mapping[str, Message], state: State) -> Plan:
    """Compare a conversation with a session. `readable` holds its messages that can be stored, by id."""
    parents = {node.id: node.parent_id for node in state.outline}
    ours: set[str] = set()
    new: set[str] = set()
    place: dict[str | None, str | None] = {None: None}  # a message of the transcript → the nearest that will be there
    runs: list[Run] = []
    left_out = 0
    for entry in conversation.messages:
        id, above = entry.id, place[entry.parent]
        if id in parents:
            ours.add(id)
        elif id not in readable or id in state.deleted:
            left_out += id in state.deleted
            place[id] = above
            continue
        else:
            new.add(id)
            parents[id] = above
            if not runs or runs[-1].messages[-1].id != above or len(runs[-1].messages) == RUN_LIMIT:
                runs.append(Run(above, []))
            runs[-1].messages.append(readable[id])
        place[id] = id
    updates = [readable[id] for id, stored in state.stored.items() if grown(stored, readable[id])]
    kept = sum(
        not grown(stored, readable[id]) and not outgrown(stored, readable[id]) for id, stored in state.stored.items()
    )
    spans, refused = _fit(conversation, place, parents, state)
    return Plan(
        runs=tuple(runs),
        updates=tuple(updates),
        spans=tuple(spans),
        leaf_id=_leaf(place[conversation.leaf_id], state.leaf_id, ours, new),
        known=len(ours),
        left_out=left_out,
        kept=kept,
        refused=tuple(refused),
    )


def grown(stored: Message, read: Message) -> bool:
    """Whether `read` is a later state of the stored message: the same beginning, and more parts at the end.

    A reply comes in pieces, and each adds to the metadata too. Parts that are missing from a message whose metadata
    is complete were taken away on purpose.
    """
    return stored.role == read.role and stored.metadata != read.metadata and _begins(stored, read)


def outgrown(stored: Message, read: Message) -> bool:
    """Whether `read` is an earlier state of the stored message."""
    return stored.role == read.role and _begins(read, stored)


def _begins(shorter: Message, longer: Message) -> bool:
    parts = shorter.parts
    return len(parts) < len(longer.parts) and longer.parts[: len(parts)] == parts


def _leaf(end: str | None, before: str | None, ours: set[str], new: set[str]) -> str | None:
    """The active leaf after the import; `end` is where the transcript stands.

    A leaf that is none of the transcript's messages belongs to somebody who works here: it stays.
    """
    if not new or (before is not None and (before not in ours or end not in new)):
        return before
    return end


def _fit(
    conversation: Conversation,
    place: Mapping[str | None, str | None],
    parents: Mapping[str, str | None],
    state: State,
) -> tuple[list[Span], list[Compaction]]:
    """The summaries that are not laid yet, by the rule of `Session.add_compaction`: on one path they are disjoint, or
    the new one contains the others."""
    above = {entry.id: entry.parent for entry in conversation.messages}
    there = {overlay.id for overlay in state.overlays}
    laid = [_range(parents, overlay.first_id, overlay.last_id) for overlay in state.overlays]
    spans: list[Span] = []
    refused: list[Compaction] = []
    for compaction in conversation.compactions:
        if compaction.id in there or compaction.id in state.undone:
            continue
        whole = _range(above, compaction.first_id, compaction.last_id)
        living = [id for id in whole if place[id] == id]
        if not living:
            continue  # all that it stands for was deleted
        covered = _range(parents, living[-1], living[0])
        if covered and compaction.summary.strip() and not any(_cuts(parents, covered, other) for other in laid):
            laid.append(covered)
            spans.append(Span(compaction, living[-1], living[0]))
        else:
            refused.append(compaction)
    return spans, refused


def _range(parents: Mapping[str, str | None], first: str, last: str) -> dict[str, None]:
    """The messages from `last` up to `first`, in this order; empty when `first` is not above `last`."""
    found: dict[str, None] = {}
    for id in _up(parents, last):
        found[id] = None
        if id == first:
            return found
    return {}


def _cuts(parents: Mapping[str, str | None], new: Mapping[str, None], other: Mapping[str, None]) -> bool:
    if new.keys().isdisjoint(other) or other.keys() <= new.keys():
        return False
    one, two = next(iter(new)), next(iter(other))
    return one in _up(parents, two) or two in _up(parents, one)


def _up(parents: Mapping[str, str | None], id: str | None) -> Iterator[str]:
    while id is not None:
        yield id
        id = parents[id]
