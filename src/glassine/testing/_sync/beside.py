# Generated from src/glassine/testing/_async/beside.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""What stands beside the tree: events, usage, deletions."""

from __future__ import annotations

from datetime import UTC, datetime

from glassine import InvalidIdError, Store, Usage

from .._expecting import equal, ids, raises, say, says, true

_NOON = datetime(2026, 1, 31, 12, 0, 0, 1, tzinfo=UTC)


def events_are_kept_in_order(store: Store) -> None:
    session = store.session("s")
    true(session.add_event("b", {"本文": "a\0\ud800"}, id="e1", created_at=_NOON), "the first is new")
    equal(session.add_event("b", "other", id="e1"), False, "the same id again")
    equal(session.add_events([("a", None, None, None), ("c", [1], None, "e1"), ("c", [2], None, "e2")]), 2, "new")
    events = session.events()
    equal([event.kind for event in events], ["b", "a", "c"], "kinds")
    equal((events[0].data, events[0].created_at), ({"本文": "a\0\ud800"}, _NOON), "the first")
    equal((events[1].data, events[1].created_at, events[2].id), (None, None, "e2"), "the others")
    equal(session.history(), [], "an event is no message")
    with raises(InvalidIdError):
        session.add_event(" ")


def usage_outlives_the_messages(store: Store) -> None:
    session = store.session("s")
    session.append(says("m1", "m2"))
    full = Usage(
        "u1",
        kind="summary",
        ok=False,
        message_id="m2",
        leaf_id="m1",
        model="model",
        route="route",
        started_at=_NOON,
        ended_at=_NOON,
        input_tokens=1,
        output_tokens=2,
        cache_read_tokens=3,
        cache_write_5m_tokens=4,
        cache_write_1h_tokens=5,
        cost=0.1,
        price_source="list",
    )
    equal(session.add_usage(full, Usage("u2")), 2, "add_usage")
    equal(session.add_usage(full, Usage("u1", input_tokens=9), Usage("")), 1, "ids that are there, and none")
    session.delete("m2")
    session.clear()
    usage = session.usage()
    equal(usage[:2], [full, Usage("u2")], "usage")
    true(len(usage) == 3 and usage[2].id, "a row without an id gets one")


def usage_takes_any_text(store: Store) -> None:
    session = store.session("s")
    session.add_usage(Usage("u1", model="モデル\0", route="\ud800", price_source="表"))
    (usage,) = session.usage()
    true(usage.model is not None and usage.model.startswith("モデル"), "the model's name is there, up to the NUL")
    equal((usage.price_source, usage.route is not None), ("表", True), "the other texts")
    with raises(InvalidIdError):
        session.add_usage(Usage("u\0"))


def deletions_are_known(store: Store) -> None:
    session = store.session("s")
    session.append(says("m1", "m2", "m3"))
    session.add_compaction("summary", "m1", "m1", id="o1")
    before = session.info().change
    session.delete("m3")
    session.undo("o1")
    found = session.deletions()
    equal([(item.kind, item.id) for item in found], [("message", "m3"), ("overlay", "o1")], "deletions")
    true(before < found[0].change < found[1].change, "each has the change it was made in")
    session.clear()
    equal({item.id for item in session.deletions()}, {"m1", "m2", "m3", "o1"}, "deletions after clear")


def beside_creates_the_session(store: Store) -> None:
    for id, write in (("e", "event"), ("u", "usage"), ("d", "describe")):
        session = store.session(id)
        if write == "event":
            session.add_event("kind")
        elif write == "usage":
            session.add_usage(Usage(""))
        else:
            session.describe(title="t")
        info = session.info()
        equal((info.messages, info.leaf_id, info.path_length), (0, None, 0), f"a session made by {write}")
        session.append(say("m1"))
        equal(ids(session.history()), ["m1"], "history")
