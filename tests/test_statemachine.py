"""The tree against a plain-Python model of it: whatever is done in whatever order, both tell the same story.

The model knows messages by id, parents by id, and walks; it has no strands, no positions and no running totals.
"""

from __future__ import annotations

import base64
import itertools
import json
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import glassine

Wire = dict[str, Any]

TEXTS = ["", "hello", "会議は明日の午後三時", "프로젝트 검토", "a\0b", "lone \ud83d surrogate", "👩‍👩‍👧 zwj", "x" * 700]
IMAGES = [base64.b64encode(bytes([number]) * 900).decode() for number in (1, 2)]
BIG = "x" * 270_000  # over the limit of one row's text

parts = st.one_of(
    st.sampled_from(TEXTS).map(lambda text: {"type": "text", "text": text}),
    st.sampled_from(IMAGES).map(
        lambda data: {"type": "file", "mediaType": "image/png", "url": "data:image/png;base64," + data}
    ),
    st.sampled_from(["t1", "t2"]).map(
        lambda call: {"type": "tool-call", "toolCallId": call, "toolName": "look", "input": {"深さ": [1, {"a": None}]}}
    ),
    st.sampled_from(["t1", "t2"]).map(
        lambda call: {"type": "tool-result", "toolCallId": call, "toolName": "look", "output": "見つかった"}
    ),
)
bodies = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool", "system"]), "parts": st.lists(parts, max_size=3)},
    optional={"metadata": st.just({"k": 1}), "未知": st.just([True])},
)
picks = st.integers(0, 10_000)


@dataclass
class Node:
    parent: str | None
    order: int
    wire: Wire


@dataclass
class Summary:
    first: str
    last: str
    text: str
    order: int
    stale: bool = False


@dataclass
class Model:
    nodes: dict[str, Node] = field(default_factory=dict)
    leaf: str | None = None
    summaries: dict[str, Summary] = field(default_factory=dict)
    deleted: set[tuple[str, str]] = field(default_factory=set)
    counter: int = 0

    def path(self, leaf: str | None) -> list[str]:
        found: list[str] = []
        while leaf is not None:
            found.append(leaf)
            leaf = self.nodes[leaf].parent
        return found[::-1]

    def children(self, parent: str | None) -> list[str]:
        return sorted((id for id, node in self.nodes.items() if node.parent == parent), key=self.order)

    def order(self, id: str) -> int:
        return self.nodes[id].order

    def add(self, wire: Wire, parent: str | None) -> None:
        self.counter += 1
        self.nodes[wire["id"]] = Node(parent, self.counter, wire)
        self.leaf = wire["id"]

    def span(self, summary: Summary) -> list[str]:
        path = self.path(summary.last)
        return path[path.index(summary.first) :]

    def remove(self, id: str) -> None:
        raised = []
        for name, summary in list(self.summaries.items()):
            span = self.span(summary)
            if id not in span:
                continue
            if span[-1] == id:
                raised.append(name)
            summary.stale = True
            span.remove(id)
            if span:
                summary.first, summary.last = span[0], span[-1]
            else:
                self.take_off(name)
        above = self.nodes[id].parent
        for node in self.nodes.values():
            if node.parent == id:
                node.parent = above
        del self.nodes[id]
        if self.leaf == id:
            self.leaf = above
        self.deleted.add(("message", id))
        # One that now ends at a fork can meet a summary of the other branch there.
        cut = [name for name in raised if name in self.summaries and self.cuts_another(self.span(self.summaries[name]))]
        for name in cut:
            self.take_off(name)

    def take_off(self, name: str) -> None:
        del self.summaries[name]
        self.deleted.add(("overlay", name))

    def related(self, span: list[str]) -> list[tuple[str, set[str]]]:
        """The summaries that lie on some path together with this range."""
        spans = [(name, self.span(summary)) for name, summary in self.summaries.items()]
        return [
            (name, set(other))
            for name, other in spans
            if span[-1] in self.path(other[-1]) or other[-1] in self.path(span[-1])
        ]

    def cuts_another(self, span: list[str]) -> bool:
        mine = set(span)
        return any(mine & other and not mine <= other and not other <= mine for _, other in self.related(span))

    def visible(self, leaf: str | None) -> list[str]:
        """Ids of messages and `compaction_…` of summaries: each summary stands where its range stood."""
        path = self.path(leaf)
        spans = {
            name: self.span(summary)
            for name, summary in self.summaries.items()
            if summary.first in path and summary.last in path
        }
        # Narrow ones first, so that wider ones overwrite them; of equal ones the later wins.
        shown: dict[str, str] = {}
        for name in sorted(spans, key=lambda name: (len(spans[name]), self.summaries[name].order)):
            for id in spans[name]:
                shown[id] = "compaction_" + name
        found: list[str] = []
        for id in path:
            seen = shown.get(id, id)
            if not found or found[-1] != seen:
                found.append(seen)
        return found


def size(wire: Wire) -> int:
    text = json.dumps(wire, ensure_ascii=False, separators=(",", ":"))
    return len(text.encode("utf-8", "surrogatepass"))


EXAMPLES = itertools.count()


class TreeMachine(RuleBasedStateMachine):
    """Two handles on one store (for a file or a server: two stores on one database) take turns."""

    location = "memory"
    address = ""
    """The URL of the server."""

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.mkdtemp()
        places = {"memory": ":memory:", "file": str(Path(self.folder, "t.db")), "postgres": self.address}
        self.url, self.namespace = places[self.location], f"example {next(EXAMPLES)}"
        self.stores = [glassine.open(self.url, namespace=self.namespace)]
        if self.location != "memory":
            self.stores.append(glassine.open(self.url, namespace=self.namespace))
        self.model = Model()
        self.ids = 0
        self.change = 0
        self.turn = 0
        self.existed = False
        # A neighbour that holds the same media and the same ids, and must never change.
        self.neighbour = self.stores[0].session("neighbour")
        self.neighbour.append(
            [
                {"id": "m1", "role": "user", "parts": [{"type": "text", "text": "mine"}]},
                {
                    "id": "m2",
                    "role": "user",
                    "parts": [
                        {"type": "file", "mediaType": "image/png", "url": "data:image/png;base64," + IMAGES[0]},
                        {"type": "text", "text": BIG},
                    ],
                },
            ]
        )
        self.next_door = self.neighbour.history()
        for message in self.next_door:
            message.check()

    def teardown(self) -> None:
        if not hasattr(self, "stores"):
            return
        try:
            self.whole()
            assert self.neighbour.history() == self.next_door
            check = self.stores[0].verify()
            assert check.clean, check.problems
        finally:
            for store in self.stores:
                store.close()
            shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def session(self) -> glassine.Session:
        self.turn += 1
        return self.stores[self.turn % len(self.stores)].session("s")

    def fresh(self, body: Wire) -> Wire:
        self.ids += 1
        return {"id": f"m{self.ids}", **body}

    def pick(self, number: int) -> str:
        ids = list(self.model.nodes)
        return ids[number % len(ids)]

    # -- what is done -----------------------------------------------------------------------------------------------

    @rule(batch=st.lists(bodies, min_size=1, max_size=4))
    def append_at_the_leaf(self, batch: list[Wire]) -> None:
        wires = [self.fresh(body) for body in batch]
        stored = self.session.append(wires)
        assert [message.to_dict() for message in stored] == wires
        for wire in wires:
            self.model.add(wire, self.model.leaf)

    @rule(batch=st.lists(bodies, min_size=1, max_size=3), number=picks)
    @precondition(lambda self: self.model.nodes)
    def append_below(self, batch: list[Wire], number: int) -> None:
        parent: str | None = self.pick(number)
        wires = [self.fresh(body) for body in batch]
        self.session.append(wires, parent=parent)
        for wire in wires:
            self.model.add(wire, parent)
            parent = wire["id"]

    @rule(body=bodies)
    def append_a_root(self, body: Wire) -> None:
        wire = self.fresh(body)
        self.session.append(wire, parent=None)
        self.model.add(wire, None)

    @rule(body=bodies, number=picks)
    @precondition(lambda self: self.model.summaries)
    def append_below_a_summary(self, body: Wire, number: int) -> None:
        name = list(self.model.summaries)[number % len(self.model.summaries)]
        wire = self.fresh(body)
        self.session.append(wire, parent="compaction_" + name)
        self.model.add(wire, self.model.summaries[name].last)

    @rule(number=picks, named=st.booleans(), body=bodies, with_more=st.booleans())
    @precondition(lambda self: self.model.nodes)
    def append_again(self, number: int, named: bool, body: Wire, with_more: bool) -> None:
        node = self.model.nodes[self.pick(number)]
        batch = [node.wire, self.fresh(body)] if with_more else [node.wire]
        if named:
            self.session.append(batch, parent=node.parent)
        else:
            self.session.append(batch)
        if with_more:
            self.model.add(batch[1], node.wire["id"])

    @rule(number=picks, body=bodies)
    @precondition(lambda self: self.model.nodes)
    def append_something_else_again(self, number: int, body: Wire) -> None:
        id = self.pick(number)
        wire, first = {"id": id, **body}, self.fresh(body)
        if wire != self.model.nodes[id].wire:
            # The whole batch fails, with what stands before the conflict.
            with pytest.raises(glassine.ConflictError) as caught:
                self.session.append([first, wire])
            assert caught.value.message_id == id

    @rule(number=picks, other=picks)
    @precondition(lambda self: self.model.nodes)
    def append_again_below_another(self, number: int, other: int) -> None:
        node = self.model.nodes[self.pick(number)]
        parent = [None, *self.model.nodes][other % (len(self.model.nodes) + 1)]
        if parent != node.parent:
            with pytest.raises(glassine.ConflictError):
                self.session.append(node.wire, parent=parent)

    @rule(body=bodies)
    def append_below_nothing(self, body: Wire) -> None:
        with pytest.raises(glassine.MessageNotFoundError) as caught:
            self.session.append(self.fresh(body), parent="ghost")
        assert caught.value.message_id == "ghost"

    @rule(body=bodies, number=picks)
    def append_expecting(self, body: Wire, number: int) -> None:
        wire = self.fresh(body)
        expected = [None, *self.model.nodes][number % (len(self.model.nodes) + 1)]
        if expected == self.model.leaf:
            self.session.append(wire, expect_leaf=expected)
            self.model.add(wire, self.model.leaf)
        else:
            with pytest.raises(glassine.LeafMovedError) as caught:
                self.session.append(wire, expect_leaf=expected)
            assert (caught.value.expected, caught.value.actual) == (expected, self.model.leaf)

    @rule(number=picks, body=bodies, big=st.sampled_from([False, False, False, True]))
    @precondition(lambda self: self.model.nodes)
    def update(self, number: int, body: Wire, big: bool) -> None:
        wire = {"id": self.pick(number), **body}
        if big:
            wire["parts"] = [*wire["parts"], {"type": "text", "text": BIG}]
        self.session.update(wire)
        self.model.nodes[wire["id"]].wire = wire

    @rule(body=bodies)
    def update_what_is_not_there(self, body: Wire) -> None:
        with pytest.raises(glassine.MessageNotFoundError):
            self.session.update({"id": "ghost", **body})

    @rule(numbers=st.one_of(st.lists(picks, min_size=1, max_size=3), st.lists(picks, min_size=9, max_size=14)))
    @precondition(lambda self: self.model.nodes)
    def delete(self, numbers: list[int]) -> None:
        ids = list(dict.fromkeys(self.pick(number) for number in numbers))
        assert self.session.delete([*ids, "ghost"]) == len(ids)
        for id in ids:
            self.model.remove(id)

    @rule(number=picks)
    @precondition(lambda self: self.model.nodes)
    def switch(self, number: int) -> None:
        self.model.leaf = self.pick(number)
        assert self.session.switch(self.model.leaf) == self.model.leaf

    @rule(number=picks, back=st.integers(0, 6))
    @precondition(lambda self: self.model.nodes)
    def summarise(self, number: int, back: int) -> None:
        last = self.pick(number)
        path = self.model.path(last)
        first = path[max(0, len(path) - 1 - back)]
        span = path[path.index(first) :]
        overlapping = {name: other for name, other in self.model.related(span) if other & set(span)}
        beneath = [name for name, other in overlapping.items() if other <= set(span)]
        self.ids += 1
        name = f"o{self.ids}"
        if len(beneath) < len(overlapping):
            with pytest.raises(glassine.InvalidRangeError):
                self.session.add_compaction("refused", first, last, id=name)
            return
        overlay = self.session.add_compaction(f"要約 {name}", first, last, id=name)
        assert overlay.supersedes == tuple(beneath)
        assert overlay.covered_messages == len(span)
        self.model.summaries[name] = Summary(first, last, f"要約 {name}", self.ids)

    @rule(number=picks, head=st.integers(0, 2), tail=st.sampled_from([0, 10, 40]), fails=st.booleans())
    @precondition(lambda self: self.model.nodes)
    def compact(self, number: int, head: int, tail: int, fails: bool) -> None:
        leaf = self.pick(number)
        compactor = glassine.Compactor(lambda prompt: "" if fails else "短", head, tail, 0)
        before = self.session.overlays()
        made = self.session.compact(leaf, compactor=compactor)
        if made.overlay is None:
            assert made.kind in ("nothing_to_do", "rejected", "failed")
            assert self.session.overlays() == before
            return
        overlay = made.overlay
        span = self.model.path(overlay.last_id)
        span = span[span.index(overlay.first_id) :]
        assert set(span) <= set(self.model.path(leaf))
        assert made.messages == overlay.covered_messages == len(span)
        assert not self.model.cuts_another(span)
        self.ids += 1
        self.model.summaries[overlay.id] = Summary(overlay.first_id, overlay.last_id, "短", self.ids)

    @rule(number=picks, back=st.integers(0, 3), body=bodies)
    @precondition(lambda self: self.model.summaries)
    def fork_in_the_middle_of_a_summary(self, number: int, back: int, body: Wire) -> None:
        span = self.model.span(list(self.model.summaries.values())[number % len(self.model.summaries)])
        fork = span[max(0, len(span) - 2)]
        wire = self.fresh(body)
        self.session.append(wire, parent=fork)
        self.model.add(wire, fork)
        self.summarise(list(self.model.nodes).index(wire["id"]), back)

    @rule(number=picks)
    @precondition(lambda self: self.model.summaries)
    def delete_the_end_of_a_summary(self, number: int) -> None:
        summary = list(self.model.summaries.values())[number % len(self.model.summaries)]
        id = (summary.first, summary.last)[number % 2]
        assert self.session.delete(id) == 1
        self.model.remove(id)

    @rule(number=picks, other=picks)
    @precondition(lambda self: self.model.nodes)
    def summarise_what_is_no_range(self, number: int, other: int) -> None:
        first, last = self.pick(number), self.pick(other)
        if first not in self.model.path(last):
            with pytest.raises(glassine.InvalidRangeError):
                self.session.add_compaction("refused", first, last)

    @rule(number=picks)
    @precondition(lambda self: self.model.summaries)
    def undo(self, number: int) -> None:
        name = list(self.model.summaries)[number % len(self.model.summaries)]
        assert self.session.undo(name).id == name
        self.model.take_off(name)
        with pytest.raises(glassine.OverlayNotFoundError):
            self.session.undo(name)

    @rule(sure=st.sampled_from([False, False, False, False, True]))
    @precondition(lambda self: self.model.nodes)
    def clear(self, sure: bool) -> None:
        if sure:
            assert self.session.clear() == len(self.model.nodes)
            self.model.deleted |= {("message", id) for id in self.model.nodes}
            self.model.deleted |= {("overlay", name) for name in self.model.summaries}
            self.model.nodes, self.model.summaries, self.model.leaf = {}, {}, None

    @rule(number=picks)
    @precondition(lambda self: self.model.nodes)
    def redact(self, number: int) -> None:
        id = self.pick(number)
        gone = {name for name, summary in self.model.summaries.items() if id in self.model.span(summary)}
        assert set(self.session.redact(id)) == gone
        for name in gone:
            self.model.take_off(name)
        left = self.session.message(id)
        assert left is not None
        before = self.model.nodes[id].wire
        ids = [part["toolCallId"] for part in before["parts"] if "toolCallId" in part]
        assert sorted(part["toolCallId"] for part in left.parts if "toolCallId" in part) == sorted(ids)  # type: ignore[typeddict-item]
        assert left.role == before["role"]
        self.model.nodes[id].wire = left.to_dict()

    @rule(body=bodies, keep=st.integers(0, 4))
    @precondition(lambda self: self.model.nodes)
    def ingest_the_tail_and_a_new_question(self, body: Wire, keep: int) -> None:
        path = self.model.path(self.model.leaf)
        wire = self.fresh({**body, "role": "user", "parts": [{"type": "text", "text": f"質問 {self.ids}"}]})
        client = [self.model.nodes[id].wire for id in path[len(path) - keep :]] if keep else []
        got = self.session.ingest([*client, wire])
        assert (got.appended, got.updated, got.skipped) == ((wire["id"],), (), ())
        self.model.add(wire, self.model.leaf)

    @rule()
    def ingest_what_is_there(self) -> None:
        path = self.model.path(self.model.leaf)
        got = self.session.ingest([self.model.nodes[id].wire for id in path])
        assert (got.appended, got.updated, got.skipped) == ((), (), ())

    @rule()
    @precondition(lambda self: self.location != "memory")
    def reopen(self) -> None:
        for store in self.stores:
            store.close()
        self.stores = [glassine.open(self.url, namespace=self.namespace) for _ in self.stores]
        self.neighbour = self.stores[0].session("neighbour")

    @rule()
    def remove_the_session(self) -> None:
        if len(self.model.nodes) < 12:  # now and then, of a tree worth the name
            return
        assert self.stores[0].delete_session("s")
        assert not self.stores[-1].delete_session("s")
        assert self.stores[-1].was_deleted("s")
        self.model, self.change = Model(), 0

    @rule()
    def look_at_everything(self) -> None:
        self.whole()

    # -- what must hold ---------------------------------------------------------------------------------------------

    @invariant()
    def the_active_path_agrees(self) -> None:
        if not hasattr(self, "stores"):
            return
        model, session = self.model, self.session
        leaf = session.leaf()
        assert (leaf.id if leaf else None) == model.leaf
        assert [message.id for message in session.history()] == model.visible(model.leaf)
        assert session.path_length() == len(model.path(model.leaf))
        check = session.verify()
        assert check.clean, check.problems
        if not model.nodes and not model.deleted:
            return
        info = session.info()
        assert info.messages == len(model.nodes) == check.messages
        assert info.path_length == len(model.path(model.leaf))
        assert info.size == sum(size(model.nodes[id].wire) for id in model.path(model.leaf))
        assert info.change >= self.change
        self.change = info.change

    def whole(self) -> None:
        model, session = self.model, self.session
        assert {(item.kind, item.id) for item in session.deletions()} == model.deleted
        outline = session.outline()
        assert [(item.id, item.parent_id) for item in outline] == [
            (id, model.nodes[id].parent) for id in sorted(model.nodes, key=model.order)
        ]
        assert [item.size for item in outline] == [size(model.nodes[item.id].wire) for item in outline]
        assert [message.id for message in session.branches(None)] == model.children(None)
        for id, node in model.nodes.items():
            path = model.path(id)
            raw = session.history(id, raw=True)
            assert [message.to_dict() for message in raw] == [model.nodes[step].wire for step in path]
            found = session.message(id)
            assert found is not None
            assert found.to_dict() == node.wire
            assert [message.id for message in session.branches(id)] == model.children(id)
            assert session.path_length(id) == len(path)
            visible = model.visible(id)
            assert [message.id for message in session.history(id)] == visible
            assert [message.id for message in session.iter_history(id)] == visible
            assert [message.id for message in session.iter_history(id, newest_first=True)] == visible[::-1]
            self.newest(session, id, visible)
        for overlay in session.compactions():
            summary = model.summaries[overlay.id]
            assert (overlay.first_id, overlay.last_id) == (summary.first, summary.last)
            assert (overlay.text, overlay.stale) == (summary.text, summary.stale)
            assert overlay.covered_messages == len(model.span(summary))
            assert overlay.covered_bytes == sum(size(model.nodes[id].wire) for id in model.span(summary))
        assert len(session.overlays()) == len(model.summaries)

    def newest(self, session: glassine.Session, leaf: str, visible: list[str]) -> None:
        model = self.model
        bytes_of = [
            len(model.summaries[id.removeprefix("compaction_")].text.encode())
            if id.startswith("compaction_")
            else size(model.nodes[id].wire)
            for id in visible
        ]
        for limit, floor in ((2, 0), (None, 1), (None, 3)):
            budget = sum(bytes_of) // 2 if limit is None else None
            recent = session.recent(limit, max_bytes=budget, min_messages=floor, leaf=leaf)
            wanted = 0
            while wanted < len(visible) and (limit is None or wanted < limit):
                over = budget is not None and sum(bytes_of[len(visible) - wanted - 1 :]) > budget
                if over and wanted >= floor:
                    break
                wanted += 1
            assert [message.id for message in recent] == visible[len(visible) - wanted :]
            assert recent.cut == (wanted < len(visible))
            assert (recent.total_messages, recent.total_bytes) == (len(visible), sum(bytes_of))


class FileMachine(TreeMachine):
    location = "file"


class PostgresMachine(TreeMachine):
    location = "postgres"


SHORT = settings(
    max_examples=20,
    stateful_step_count=30,
    deadline=None,
    phases=[Phase.generate, Phase.shrink],
    database=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
LONG = settings(SHORT, derandomize=False, max_examples=1500, stateful_step_count=60)


def test_a_memory_store_keeps_the_tree() -> None:
    run_state_machine_as_test(TreeMachine, settings=SHORT)


def test_a_file_store_keeps_the_tree() -> None:
    run_state_machine_as_test(FileMachine, settings=SHORT)


def test_a_postgres_store_keeps_the_tree(postgres_url: str) -> None:
    PostgresMachine.address = postgres_url
    run_state_machine_as_test(PostgresMachine, settings=settings(SHORT, max_examples=10))


@pytest.mark.soak
@pytest.mark.parametrize("machine", [TreeMachine, FileMachine, PostgresMachine])
def test_soak_all_stores_keep_the_tree(machine: type[TreeMachine], postgres_url: str) -> None:
    PostgresMachine.address = postgres_url
    run_state_machine_as_test(machine, settings=LONG)
