# Generated from tests/_async/test_context.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""Context memory with providers of a caller's own, several holders, and whatever goes wrong."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import glassine
from glassine import BudgetExceededError, ProviderError, Session, SessionSpec
from glassine.testing._together import together


class Shown:
    """A provider that notes what it is asked."""

    def __init__(self, content: str | None = None) -> None:
        self.content = content
        self.asked: list[tuple[Any, ...]] = []

    def init(self, label: str) -> None:
        self.asked.append(("init", label))

    def get(self) -> str | None:
        self.asked.append(("get",))
        return self.content


class Writable(Shown):
    def set(self, content: str) -> None:
        self.asked.append(("set", content))
        self.content = content


class Notes(Shown):
    def __init__(self) -> None:
        super().__init__()
        self.notes: dict[str, str] = {}

    def set(self, key: str, content: str) -> None:
        self.notes[key] = content

    def search(self, query: str) -> str | None:
        return "\n".join(f"[{key}] {text}" for key, text in self.notes.items() if query in text)


class Failing:
    def get(self) -> str:
        return "there"

    def set(self, content: str) -> None:
        raise OSError("the disk is gone")

    def load(self, key: str) -> str:
        raise KeyError(key)


def tool(session: Session, name: str) -> Any:
    return {tool.name: tool for tool in session.tools()}[name]


def test_a_provider_is_initialised_once_with_its_label() -> None:
    providers = [Shown("a"), Writable("b"), Notes()]
    spec = SessionSpec()
    for number, provider in enumerate(providers):
        spec = spec.with_context(f"b{number}", provider=provider)
    with glassine.open(":memory:") as store:
        session = store.session("s", spec)
        session.freeze_prompt()
        session.blocks()
    assert [provider.asked for provider in providers] == [[("init", f"b{n}"), ("get",), ("get",)] for n in range(3)]
    assert [block.kind for block in _kinds(spec)] == ["readonly", "writable", "searchable"]


def _kinds(spec: SessionSpec) -> list[glassine.Block]:
    with glassine.open(":memory:") as store:
        return store.session("s", spec).blocks()


def test_nothing_from_a_provider_is_an_empty_block() -> None:
    spec = SessionSpec().with_context("a", provider=Shown()).with_context("b", provider=Writable())
    with glassine.open(":memory:") as store:
        prompt = store.session("s", spec).freeze_prompt()
    assert "A [" not in prompt
    assert "B [writable]" in prompt


def test_a_write_reaches_the_provider_and_not_the_prompt() -> None:
    provider = Writable("old")
    with glassine.open(":memory:") as store:
        session = store.session("s", SessionSpec().with_context("memory", provider=provider, max_tokens=50))
        frozen = session.freeze_prompt()
        session.append_block("memory", "new")
        assert provider.content == "old\nnew"
        with pytest.raises(BudgetExceededError):
            session.replace_block("memory", "word " * 100)
        with pytest.raises(BudgetExceededError):
            session.append_block("memory", "word " * 100)
        assert provider.content == "old\nnew"
        assert session.freeze_prompt() == frozen
        provider.content = "from outside"
        assert "from outside" in session.refresh_prompt()


def test_a_searchable_provider_of_ones_own() -> None:
    provider = Notes()
    with glassine.open(":memory:") as store:
        session = store.session("s", SessionSpec().with_context("notes", provider=provider))
        write = tool(session, "set_context")
        answer = write.call({"label": "notes", "content": "a b", "metadata": {"title": "T"}})
        assert answer == 'Indexed "t" in notes.'
        assert tool(session, "search_context").call({"label": "notes", "query": "b"}) == "[t] a b"
        answer = tool(session, "search_context").call({"label": "notes", "query": "zzz"})
        assert answer == "No results found."


def test_a_failing_provider_is_an_error_for_callers_and_a_sentence_for_models() -> None:
    spec = SessionSpec().with_context("a", provider=type("W", (Failing,), {"load": None})())
    spec = spec.with_context("b", provider=Failing())
    with glassine.open(":memory:") as store:
        session = store.session("s", spec)
        with pytest.raises(ProviderError, match="block 'a': `set` failed: OSError: the disk is gone") as caught:
            session.replace_block("a", "x")
        assert isinstance(caught.value.__cause__, OSError)
        assert session.block("a").content == "there"
        answer = tool(session, "set_context").call({"label": "a", "content": "x"})
        assert answer == "Error: block 'a': `set` failed: OSError: the disk is gone"
        answer = tool(session, "load_context").call({"label": "b", "key": "k"})
        assert answer.startswith("Error: block 'b': `load` failed: KeyError")


def test_what_is_no_text_is_an_error() -> None:
    provider = type("P", (), {"get": lambda self: 3})()
    with glassine.open(":memory:") as store:
        with pytest.raises(ProviderError, match="gave a int, not a text"):
            store.session("s", SessionSpec().with_context("a", provider=provider)).freeze_prompt()


def test_two_holders_of_a_callers_block_take_turns() -> None:
    provider = Writable()
    spec = SessionSpec().with_context("memory", provider=provider)
    with glassine.open(":memory:") as store:
        holders = [store.session("s", spec) for _ in range(2)]

        def write(number: int) -> None:
            for line in range(10):
                holders[number].append_block("memory", f"{number}-{line}")

        together([partial(write, number) for number in range(2)])
    assert provider.content is not None
    assert sorted(provider.content.split("\n")) == [f"{n}-{line}" for n in range(2) for line in range(10)]


def write_lines(session: Session, message_id: str, text: str) -> None:
    """Write a line into both blocks, and an entry, in the name of a message."""
    write = tool(session, "set_context")
    for label in ("memory", "ours"):
        arguments = {"label": label, "content": text, "action": "append"}
        assert write.call(arguments, message_id=message_id).startswith("Written")
    entry = {"label": "facts", "content": text, "metadata": {"title": text}}
    assert write.call(entry, message_id=message_id).startswith("Indexed")


WRITTEN = (
    SessionSpec()
    .with_cached_prompt()
    .with_context("memory")
    .with_context("ours", scope="namespace")
    .with_context("facts", provider=glassine.SearchableEntries(), scope="namespace")
)


@pytest.mark.parametrize("how", ["delete", "clear", "delete_session", "made anew"])
def test_what_a_deleted_message_wrote_can_be_redacted(database: str, how: str) -> None:
    with glassine.open(database) as store:
        session, beside = store.session("s", WRITTEN), store.session("beside", WRITTEN)
        session.append([glassine.user("秘密", id="m1"), glassine.user("x", id="m2")])
        beside.append(glassine.user("y", id="m1"))
        write_lines(session, "m1", "明日の鍵は4711")
        write_lines(session, "m2", "stays")
        write_lines(beside, "m1", "of another m1")
        session.freeze_prompt()
        assert "4711" in beside.freeze_prompt()
        match how:
            case "delete":
                session.delete("m1")
            case "clear":
                session.clear()
            case _:
                store.delete_session("s")
                if how == "made anew":
                    session.append(glassine.user("z", id="m3"))
        assert "4711" in beside.block("ours").content
        assert session.redact("m1") == ()
        assert beside.block("ours").content == "stays\nof another m1"
        assert [entry.key for entry in beside.entries("facts")] == ["of-another-m1", "stays"]
        assert "4711" not in session.block("memory").content
        for each in (session, beside):
            assert "4711" not in each.freeze_prompt()
        assert session.message("m1") is None
        assert store.verify().clean


def test_only_what_was_here_can_be_redacted() -> None:
    with glassine.open(":memory:") as store:
        session = store.session("s", WRITTEN)
        with pytest.raises(glassine.MessageNotFoundError):
            session.redact("m1")  # nothing was ever written
        session.append(glassine.user("x", id="m1"))
        with pytest.raises(glassine.MessageNotFoundError):
            session.redact("m2")
        session.delete("m1")
        before = session.info()
        assert session.redact("m1") == session.redact("m1") == ()  # which wrote nothing, and was here
        after = session.info()
        assert before is not None
        assert after is not None
        assert after.messages == before.messages == 0
        store.delete_session("s")
        with pytest.raises(glassine.MessageNotFoundError):
            session.redact("m1")


def test_a_prompt_that_shows_what_a_deleted_message_wrote_is_frozen_anew() -> None:
    """Though the block does not hold it any more."""
    with glassine.open(":memory:") as store:
        session = store.session("s", WRITTEN)
        session.append(glassine.user("x", id="m1"))
        write_lines(session, "m1", "4711")
        session.freeze_prompt()
        session.replace_block("memory", "")
        session.delete("m1")
        assert "4711" in session.freeze_prompt()
        session.redact("m1")
        assert "4711" not in session.freeze_prompt()


class Slow(Writable):
    """One whose `set` takes longer than a lease lasts."""

    def __init__(self) -> None:
        super().__init__("")
        self.inside = 0

    def set(self, content: str) -> None:
        self.inside += 1
        assert self.inside == 1, "two write at the same time"
        time.sleep(1.8)
        super().set(content)
        self.inside -= 1


def lease_of(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    monkeypatch.setattr(import_module(Session.__module__.replace("session", "bound")), "LEASE_SECONDS", seconds)


def test_a_lease_lasts_as_long_as_the_call(monkeypatch: pytest.MonkeyPatch, database: str) -> None:
    lease_of(monkeypatch, 1.2)
    spec = SessionSpec().with_context("memory", provider=(provider := Slow()))
    with glassine.open(database) as one, glassine.open(database) as two:
        writers = [
            partial(store.session("s", spec).append_block, "memory", name) for store, name in ((one, "a"), (two, "b"))
        ]
        together(writers)
    assert sorted((provider.content or "").split("\n")) == ["a", "b"]


class Stopped(Writable):
    """One that a machine stops in the middle of a call, for a minute by the clock."""

    def __init__(self, method: str) -> None:
        super().__init__("old")
        self.method, self.ahead = method, timedelta()

    def clock(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + self.ahead

    def get(self) -> str | None:
        self._pass("get")
        return super().get()

    def set(self, content: str) -> None:
        super().set(content)
        self._pass("set")

    def _pass(self, method: str) -> None:
        self.ahead += timedelta(minutes=method == self.method)


@pytest.mark.parametrize(
    ("method", "said", "content"),
    [("get", "nothing was written, call again", "old"), ("set", "write again what is missing", "old\nnew")],
)
def test_a_lease_that_was_lost_is_told(method: str, said: str, content: str) -> None:
    provider = Stopped(method)
    spec = SessionSpec().with_context("memory", provider=provider)
    with glassine.open(":memory:", clock=provider.clock) as store:
        with pytest.raises(ProviderError, match=f"block 'memory': .*lease of the block ran out.*{said}"):
            store.session("s", spec).append_block("memory", "new")
        assert provider.content == content
        provider.method = "none"
        store.session("s", spec).append_block("memory", "again")
    assert provider.content == f"{content}\nagain"


def test_eight_holders_lose_no_line(tmp_path: Path) -> None:
    spec = SessionSpec().with_context("memory").with_context("ours", scope="namespace")
    with glassine.open(tmp_path / "a.db") as store:

        def write(number: int) -> None:
            for line in range(6):
                store.session("s", spec).append_block("memory", f"{number}-{line}")
                store.session(f"s{number}", spec).append_block("ours", f"{number}-{line}")

        together([partial(write, number) for number in range(8)])
        session = store.session("s", spec)
        wanted = sorted(f"{n}-{line}" for n in range(8) for line in range(6))
        for label in ("memory", "ours"):
            assert sorted(session.block(label).content.split("\n")) == wanted


WRITES = st.lists(
    st.tuples(st.integers(0, 1), st.sampled_from(["append", "replace"]), st.text("ab\n", max_size=8)), max_size=12
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(WRITES)
def test_no_writes_of_two_holders_lose_one_or_exceed_a_budget(writes: list[tuple[int, str, str]]) -> None:
    spec = SessionSpec(token_counter=len).with_context("memory", max_tokens=20)
    model = ""
    with glassine.open(":memory:") as store:
        holders = [store.session("s", spec) for _ in range(2)]
        for holder, action, text in writes:
            wanted = text
            if action == "append":
                wanted = model + text if not model or not text or text.startswith("\n") else f"{model}\n{text}"
            call = tool(holders[holder], "set_context")
            answer = call.call({"label": "memory", "content": text, "action": action})
            assert answer.startswith("Error: ") == (len(wanted) > 20)
            model = model if len(wanted) > 20 else wanted
            assert holders[1 - holder].block("memory").content == model


def test_the_first_to_freeze_decides_for_all(tmp_path: Path) -> None:
    provider = Shown("0")
    spec = SessionSpec().with_context("count", provider=provider).with_cached_prompt()
    with glassine.open(tmp_path / "a.db") as store:
        prompts: set[str] = set()

        def freeze(number: int) -> None:
            provider.content = str(number)
            prompts.add(store.session("s", spec).freeze_prompt())

        together([partial(freeze, number) for number in range(8)])
        assert len(prompts) == 1
        assert len(store.session("s", spec).prompt_history()) == 1


def test_an_empty_prompt_is_a_value() -> None:
    with glassine.open(":memory:") as store:
        spec = SessionSpec().with_context("soul", provider=Shown("")).with_cached_prompt()
        session = store.session("s", spec)
        assert session.prompt() is None
        assert session.freeze_prompt() == ""
        assert store.session("s", spec).prompt() is not None


def test_a_prompt_that_is_not_cached_is_frozen_in_its_session_object() -> None:
    provider = Shown("one")
    with glassine.open(":memory:") as store:
        spec = SessionSpec().with_context("soul", provider=provider)
        session = store.session("s", spec)
        first = session.freeze_prompt()
        provider.content = "two"
        assert session.freeze_prompt() == first
        assert "two" in store.session("s", spec).freeze_prompt()
        assert session.stale_blocks() == ("soul",)
        assert "two" in session.refresh_prompt("wanted")
        prompt = session.prompt()
        assert prompt is not None
        assert (prompt.reason, prompt.number) == ("wanted", 2)


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
NAMES = ("label", "key", "query", "content", "action", "metadata", "message_id", "part", "start")
LABELS = st.sampled_from(["memory", "skills", "knowledge", "soul", "append"])
ARGUMENTS = JUNK | st.dictionaries(st.sampled_from(NAMES), JUNK | LABELS) | st.text(max_size=20)


@settings(max_examples=60, deadline=None)
@given(st.lists(ARGUMENTS, min_size=5, max_size=5))
def test_tools_never_raise(arguments: list[Any]) -> None:
    spec = SessionSpec().with_context("memory").with_context("skills", provider=Failing())
    spec = spec.with_context("knowledge", provider=Notes()).with_context("soul", text="x")
    with glassine.open(":memory:") as store:
        session = store.session("s", spec)
        for call, given_arguments in zip(session.tools(), arguments, strict=True):
            answer = call.call(given_arguments)
            assert isinstance(answer, str)
            assert answer


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("set_context", {"content": "x"}, '`label` is missing; it must be one of "memory"'),
        ("set_context", {"label": "soul", "content": "x"}, 'block "soul" is not writable'),
        ("set_context", {"label": "nope", "content": "x"}, 'there is no block "nope"; `label` must be one of "memory"'),
        ("set_context", {"label": "memory"}, "`content` is missing"),
        ("set_context", {"label": "memory", "content": 3}, "`content` must be a text, not a number"),
        ("set_context", {"label": "memory", "content": "x", "action": "add"}, '`action` must be "replace" or "append"'),
        ("load_context", {"label": "memory", "key": "x"}, 'is not loadable; `label` must be one of "skills"'),
        ("load_context", {"label": "skills", "key": " "}, "`key` must not be blank"),
        ("read_original", {"message_id": "nope", "part": 0}, 'there is no message "nope"'),
        ("read_original", {"message_id": "m", "part": 7}, "parts 0 to 0; there is no part 7"),
        ("read_original", {"message_id": "m", "part": -1}, "`part` must be a whole number from 0 on"),
        ("read_original", "{nonsense", "not valid JSON"),
        ("read_original", [1], "one JSON object, not a list"),
    ],
)
def test_errors_tell_the_model_what_to_do(name: str, arguments: Any, told: str) -> None:
    spec = SessionSpec().with_context("memory").with_context("soul", text="x")
    spec = spec.with_context("skills", provider=Failing())
    with glassine.open(":memory:") as store:
        session = store.session("s", spec)
        session.append(glassine.user("hello", id="m"))
        answer = tool(session, name).call(arguments)
    assert answer.startswith("Error: ")
    assert told in answer


def test_a_block_added_later_is_usable_before_the_prompt_shows_it() -> None:
    with glassine.open(":memory:") as store:
        session = store.session("s", SessionSpec().with_context("memory").with_cached_prompt())
        session.freeze_prompt()
        write = tool(session, "set_context")
        session.add_context("todos")
        assert write.call({"label": "todos", "content": "one"}).startswith("Written to todos")
        assert "todos" not in json.dumps(tool(session, "set_context").to_anthropic())
        assert session.stale_blocks() == ("todos",)
        session.refresh_prompt()
        assert "todos" in json.dumps(tool(session, "set_context").to_anthropic())
