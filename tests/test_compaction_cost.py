"""What watching over the length of a request costs, in SQL statements: nothing, once the path has been weighed."""

from __future__ import annotations

from collections.abc import Callable

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import glassine
from glassine import Compactor, SessionSpec, extractive_summary, user
from glassine._drivers import SQLiteDriver

PLAIN = SessionSpec().with_cached_prompt()
ARMED = SessionSpec().with_compaction(Compactor(extractive_summary), after=10**9)

TEXTS = (
    "Where is the key?",
    "鍵は二番目の引き出しにあります。",
    "钥匙在第二个抽屉里。",
    "열쇠는 두 번째 서랍에 있어요.",
    "🔑👩‍👩‍👧",
    "",
)


def statements(session: glassine.Session, action: Callable[[], object]) -> list[str]:
    """The SQL of an action, on all connections that are open when it begins."""
    seen: list[str] = []
    driver = session.store._engine._driver
    assert isinstance(driver, SQLiteDriver)
    connections = [database.connection for database in driver._all]

    def trace(_cursor: apsw.Cursor, sql: str, _bindings: object) -> bool:
        seen.append(sql)
        return True

    for connection in connections:
        connection.exec_trace = trace
    try:
        action()
    finally:
        for connection in connections:
            connection.exec_trace = None
    return seen


def of_one_append(session: glassine.Session) -> list[str]:
    return statements(session, lambda: session.append(user(TEXTS[1])))


def filled(store: glassine.Store, name: str, spec: SessionSpec, length: int) -> glassine.Session:
    """A session whose object has seen nothing of what is stored."""
    store.session(name).append([user(TEXTS[number % len(TEXTS)]) for number in range(length)])
    store.session(name).history()  # so that a connection for reading is there
    return store.session(name, spec)


@pytest.mark.parametrize("length", [10, 1_000])
def test_an_append_with_compaction_armed_takes_no_statement_more(length: int) -> None:
    with glassine.open(":memory:") as store:
        armed, plain = filled(store, "armed", ARMED, length), filled(store, "plain", PLAIN, length)
        for session in (armed, plain):
            session.append(user("the first one is weighed"))
        assert of_one_append(armed) == of_one_append(plain)


def test_weighing_takes_as_many_statements_at_every_length() -> None:
    with glassine.open(":memory:") as store:
        counts = []
        for length in (10, 100, 1_000):
            session = filled(store, f"s{length}", ARMED, length)
            first = of_one_append(session)
            session.add_event("note", "of something else")
            after_other = of_one_append(session)
            counts.append((len(first), len(after_other)))
        plain = len(of_one_append(store.session("s10")))
        assert len(set(counts)) == 1
        assert plain < min(counts[0]), "what was written is weighed anew, so that nothing is missed"
        assert max(counts[0]) <= plain + 11


@settings(max_examples=30)
@given(batches=st.lists(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=5), min_size=1, max_size=5))
def test_any_appends_after_the_first_take_the_same_statements_with_and_without(batches: list[list[str]]) -> None:
    with glassine.open(":memory:") as store:
        armed, plain = filled(store, "armed", ARMED, 3), filled(store, "plain", PLAIN, 3)
        for session in (armed, plain):
            session.append(user("the first one is weighed"))
        for texts in batches:
            ours, theirs = (
                statements(session, lambda session=session: session.append([user(text) for text in texts]))  # type: ignore[misc]  # noqa: B023
                for session in (armed, plain)
            )
            assert ours == theirs
        assert len(armed.history()) == len(plain.history())
