"""Which results are shown short when a request was too long: the oldest first, as few as needed, each its own kind."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassine.handles import original_handle
from glassine.indexing import tokens as estimates
from glassine.marking import Laying, replaced
from glassine.messages import Message, Part, assistant, results, tool_call, tool_result, user
from glassine.showing import ViewEntry
from glassine.shrinking import KEPT_CHARS, REASON, shrunk
from glassine.truncation._shrink import size
from tests.strategies import paths


def cost(message: Message) -> int:
    return estimates(message)[-1]


def shown(path: Sequence[Message]) -> list[ViewEntry]:
    return [ViewEntry(message, message.id, message.id, 1) for message in path]


def after(path: Sequence[Message], layings: Sequence[Laying]) -> list[Message]:
    """The path with the markers over its results."""
    outputs: dict[str, dict[str, Any]] = {}
    for laying in layings:
        outputs.setdefault(laying.message_id, {})[laying.data["call"]] = laying.data["output"]
    return [replaced(message, outputs.get(message.id, {})) for message in path]


def gives(number: int, output: Any) -> Message:
    return tool_result(f"c{number}", output, name="read", id=f"m{number}")


def ids(layings: Sequence[Laying]) -> list[str]:
    return [laying.message_id for laying in layings]


LOGS = [gives(number, f"{number} 記録の一行です。\n" * 300) for number in range(5)]
EACH = cost(LOGS[0]) - 400  # a little less than one of them frees


@pytest.mark.parametrize("needed", range(1, 6))
def test_the_oldest_are_first_and_no_more_than_needed(needed: int) -> None:
    layings, freed = shrunk(shown(LOGS), EACH * needed - 10, cost, True)
    assert ids(layings) == [f"m{number}" for number in range(needed)]
    assert freed >= EACH * needed - 10
    assert freed == sum(map(cost, LOGS)) - sum(map(cost, after(LOGS, layings)))


def test_small_ones_in_front_do_not_keep_it_from_a_huge_one_behind() -> None:
    path = [gives(0, "small"), gives(1, "a little longer " * 40), gives(2, "x" * 400), gives(3, "huge " * 50_000)]
    layings, freed = shrunk(shown(path), 10_000, cost, True)
    assert ids(layings) == ["m1", "m3"]
    assert freed > 10_000


def test_the_newest_is_touched_when_all_else_is_not_enough() -> None:
    assert ids(shrunk(shown(LOGS), 10**9, cost, True)[0]) == ["m0", "m1", "m2", "m3", "m4"]
    assert shrunk(shown(LOGS), 0, cost, True) == ([], 0)
    assert shrunk([], 5, cost, True) == ([], 0)


def test_once_is_enough() -> None:
    layings, _ = shrunk(shown(LOGS), 10**9, cost, True)
    assert shrunk(shown(after(LOGS, layings)), 10**9, cost, True) == ([], 0)


ROWS = [{"id": number, "name": f"第{number}行", "note": "n" * 50} for number in range(100)]
OUTPUTS: list[Any] = [
    "line\n" * 1_000,
    {"path": "a.py", "content": "x = 1\n" * 1_000, "lines": 1_000, "truncated": False},
    ROWS,
    {"rows": ROWS, "total": 100},
    [{"type": "text", "text": "設定" * 2_000}],
    {"type": "text", "value": "v " * 2_000},
    {"type": "json", "value": {"rows": ROWS}},
    "👩‍👩‍👧‍👦" * 500,
    "\ud800" * 2_000,
]


@pytest.mark.parametrize("output", OUTPUTS)
def test_a_result_stays_what_it_was_and_names_its_original(output: Any) -> None:
    path = [user("go", id="u"), gives(1, output)]
    (laying,), _ = shrunk(shown(path), 10, cost, True)
    short = laying.data["output"]
    assert type(short) is type(output)
    assert size(short) <= KEPT_CHARS
    assert json.loads(json.dumps(short)) == short
    if isinstance(output, dict):
        assert set(output) <= set(short)
        assert all(short[key] == value for key, value in output.items() if isinstance(value, int))
    assert original_handle("m1", 0) in json.dumps(short, ensure_ascii=False).replace('\\"', '"')
    assert laying.text == (short if isinstance(short, str) else "")
    assert (laying.kind, laying.data["reason"], laying.data["call"], laying.anchored) == ("marker", REASON, "c1", False)


@pytest.mark.parametrize(
    ("readable", "how"), [(True, "read the whole with read_original"), (False, "run the tool again for the rest")]
)
def test_the_note_says_how_the_rest_is_had(readable: bool, how: str) -> None:
    (laying, *_), _ = shrunk(shown(LOGS), 10, cost, readable)
    assert laying.text.endswith(f'; {how}: [glassine original: message "m0", part 0]]')


def test_parts_of_the_ai_sdk() -> None:
    long = "no such file " * 200
    parts: list[Part] = [
        {"type": "tool-a", "toolCallId": "a", "state": "output-available", "input": {}, "output": {"text": long}},
        {"type": "tool-b", "toolCallId": "b", "state": "output-error", "input": {}, "errorText": long},
        {
            "type": "tool-c",
            "toolCallId": "c",
            "state": "output-available",
            "providerExecuted": True,
            "input": {},
            "output": [{"encryptedContent": long}],
        },
    ]
    path = [assistant(*parts, id="m1")]
    layings, freed = shrunk(shown(path), 10**6, cost, True)
    assert [laying.data["call"] for laying in layings] == ["a", "b"]
    (message,) = after(path, layings)
    first, second, third = results(message)
    assert set(first.output) == {"text", "__truncated"}
    assert second.is_error
    assert len(second.output) <= KEPT_CHARS
    assert third.output == [{"encryptedContent": long}]  # a provider takes its own back whole or not at all
    assert freed == cost(path[0]) - cost(message)


def test_what_is_no_result_of_a_stored_message_is_left_alone() -> None:
    log = LOGS[0]
    path = [
        user("long " * 2_000, id="u"),
        assistant("long " * 2_000, tool_call("read", {"path": "p" * 3_000}, id="c0"), id="a"),
    ]
    assert shrunk(shown(path), 10**6, cost, True) == ([], 0)
    for entry in (
        ViewEntry(log, "first", "last", 3, ("summary",)),
        ViewEntry(log, "m0", "m0", 0, ("reminder",)),
        ViewEntry(log, "other", "other", 1),
    ):
        assert shrunk([entry], 10**6, cost, True) == ([], 0)


def test_what_would_free_nothing_is_not_cut() -> None:
    rule = gives(0, "=" * 600)
    assert cost(rule) < 60  # less than a note takes
    layings, freed = shrunk(shown([rule, *LOGS]), EACH - 10, cost, True)
    assert ids(layings) == ["m0"]
    assert layings[0].data["output"].startswith("0 記録")
    assert freed >= EACH - 10
    assert shrunk(shown([rule]), 100, cost, True) == ([], 0)


@given(path=paths, excess=st.integers(0, 3_000), long=st.lists(st.integers(0, 4), max_size=3))
def test_what_it_says_is_freed_is_freed(path: list[Message], excess: int, long: list[int]) -> None:
    together = [*path, *[LOGS[number].with_id(f"long{place}") for place, number in enumerate(long)]]
    entries = shown(together)
    layings, freed = shrunk(entries, excess, cost, True)
    again = after(together, layings)
    assert freed == sum(map(cost, together)) - sum(map(cost, again))
    assert (freed >= excess) or shrunk(shown(again), 1, cost, True) == ([], 0)
    order = {message.id: number for number, message in enumerate(together)}
    places = [order[laying.message_id] for laying in layings]
    assert places == sorted(places)
