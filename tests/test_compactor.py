"""The recipe: what it refuses, how it counts, and that its values pass between processes."""

from __future__ import annotations

import functools
import pickle
import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings

from glassine.blocks import Block
from glassine.compactor import LEAST_INPUT, LONGEST, Compactor, Meter, Summary, check_compacting, meter, takes
from glassine.errors import InvalidError
from glassine.indexing import MEDIA_TOKENS, MESSAGE_TOKENS
from glassine.indexing import tokens as estimates
from glassine.messages import Message, Part, tool_call, user
from glassine.records import Usage
from glassine.summarising import SummaryPrompt
from glassine.tokens import FAMILIES
from tests.strategies import paths

PICTURE: Part = {"type": "file", "mediaType": "image/png", "url": "data:image/png;base64," + "A" * 5_000}


def summarise(prompt: SummaryPrompt) -> str:
    return "## Topic"


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["protect_head", "tail_token_budget", "min_tail_messages", "max_input_tokens"])
@pytest.mark.parametrize("value", [-1, 1.0, True, "3", None])
def test_numbers_are_whole_and_within_bounds(name: str, value: object) -> None:
    least = LEAST_INPUT if name == "max_input_tokens" else 0
    with pytest.raises(InvalidError, match=f"{name} must be a whole number from {least} on, not {value!r}"):
        Compactor(summarise, **{name: value})  # type: ignore[arg-type]
    assert getattr(Compactor(summarise, **{name: least}), name) == least  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), LONGEST + 1, "10"])
def test_the_timeout_is_seconds_that_a_timer_takes(value: Any) -> None:
    wanted = f"timeout must be seconds above 0, at most {LONGEST}, or None, not {value!r}"
    with pytest.raises(InvalidError, match=re.escape(wanted)):
        Compactor(summarise, timeout=value)


def test_timeouts_that_can_be() -> None:
    for value in (0.001, 5, LONGEST, None):
        assert Compactor(summarise, timeout=value).timeout == value


def test_functions_are_functions() -> None:
    with pytest.raises(InvalidError, match="summarize must be a function from a prompt to a text, not 'gpt'"):
        Compactor("gpt")  # type: ignore[arg-type]
    with pytest.raises(InvalidError, match="fallback must be a function from a prompt to a text, not 'gpt'"):
        Compactor(summarise, fallback="gpt")  # type: ignore[arg-type]
    with pytest.raises(InvalidError, match="unknown token family 'gpt'; known are o200k, "):
        Compactor(summarise, token_counter="gpt")
    with pytest.raises(InvalidError, match="token_counter must be a family or a function, not 3"):
        Compactor(summarise, token_counter=3)  # type: ignore[arg-type]


@pytest.mark.parametrize("counter", [lambda: 1, lambda text, family: 1, lambda a, b, c, d: 1])
def test_a_counter_of_other_arguments_is_refused(counter: Any) -> None:
    with pytest.raises(InvalidError, match="token_counter must be a function of a text, or of messages"):
        Compactor(summarise, token_counter=counter)


def test_what_no_session_can_be_compacted_with() -> None:
    good: dict[str, Any] = {
        "compactor": Compactor(summarise),
        "after": 1,
        "before_compaction": print,
        "on_failure": None,
    }
    check_compacting(**good)
    check_compacting(**{**good, "compactor": lambda history: None, "after": None})
    for name, value, wanted in (
        ("compactor", Compactor, "compactor must be a Compactor or a function from a history"),
        ("compactor", None, "compactor must be a Compactor or a function from a history, not None"),
        ("after", 0, "after must be a whole number of tokens from 1 on, not 0"),
        ("after", True, "after must be a whole number of tokens from 1 on, not True"),
        ("after", 1.5, "after must be a whole number of tokens from 1 on, not 1.5"),
        ("before_compaction", 1, "before_compaction must be a function, not 1"),
        ("on_failure", "log", "on_failure must be a function, not 'log'"),
    ):
        with pytest.raises(InvalidError, match=re.escape(wanted)):
            check_compacting(**{**good, name: value})


# --- how it counts ----------------------------------------------------------------------------------------------------


class Counter:
    """Objects that are called, and methods, count like functions."""

    def __call__(self, text: str) -> int:
        return len(text)

    def whole(self, messages: list[Message], prompt: str, blocks: list[Block]) -> int:
        return 100 * len(messages) + 10 * bool(prompt) + len(blocks)


def of_request(messages: list[Message], prompt: str, blocks: list[Block]) -> int:
    return Counter().whole(messages, prompt, blocks)


def with_more(scale: int, messages: list[Message], prompt: str, blocks: list[Block]) -> int:
    return scale * of_request(messages, prompt, blocks)


@pytest.mark.parametrize(
    "counter",
    [
        len,
        Counter(),
        lambda text: len(text),
        lambda text, scale=1: scale * len(text),
        lambda text, scale=1, more=0: scale * len(text) + more,
        lambda text, *, scale=1: scale * len(text),
        lambda text, **options: len(text),
        functools.partial(lambda scale, text: scale * len(text), 1),
        functools.lru_cache(len),
    ],
)
def test_a_counter_of_texts(counter: Callable[..., Any]) -> None:
    counted = meter(Compactor(summarise, token_counter=counter).token_counter, "safe")
    assert counted.message(user("猫" * 10)) == 10 + MESSAGE_TOKENS
    with_picture = counted.message(user("猫", PICTURE))
    assert MEDIA_TOKENS[0] < with_picture < MEDIA_TOKENS[0] + 100
    assert counted.request([user("ab"), user("c")], "prompt", "tools!", []) == 6 + 6 + 3 + 2 * MESSAGE_TOKENS
    assert counted.request([], "", "", []) == 0


@pytest.mark.parametrize(
    ("counter", "scale"),
    [
        (of_request, 1),
        (Counter().whole, 1),
        (lambda messages, prompt, blocks: of_request(messages, prompt, blocks), 1),
        (lambda *given: of_request(*given), 1),
        (functools.partial(with_more, 3), 3),
    ],
)
def test_a_counter_of_requests(counter: Callable[..., Any], scale: int) -> None:
    counted = meter(Compactor(summarise, token_counter=counter).token_counter, "safe")
    assert counted.whole
    assert counted.message(user("猫")) == 100 * scale
    assert counted.request((user("a"), user("b")), "prompt", "tools", []) == 210 * scale


@pytest.mark.parametrize(
    ("value", "expected"),
    [(float("nan"), 0), (float("inf"), 0), (float("-inf"), 0), (-5, 0), (7.9, 7), (True, 1), (0, 0)],
)
def test_what_is_no_number_of_tokens_counts_nothing(value: Any, expected: int) -> None:
    assert meter(lambda text: value, "safe").message(user("x")) == expected + MESSAGE_TOKENS
    assert meter(lambda messages, prompt, blocks: value, "safe").request([user("x")], "", "", []) == expected


@settings(max_examples=25)
@given(paths)
def test_families_count_as_what_is_stored(path: Sequence[Message]) -> None:
    for number, family in enumerate(FAMILIES):
        assert [meter(family, "safe").message(message) for message in path] == [
            estimates(message)[number] for message in path
        ]


def test_without_a_counter_the_models_family_counts() -> None:
    assert meter(None, "claude3") == Meter("claude3")
    assert meter("gemma3", "claude3") == Meter("gemma3")
    asked = user(tool_call("search", {"q": "猫"}, id="a"))
    assert meter(None, "claude48").message(asked) == estimates(asked)[FAMILIES.index("claude48")]


def test_how_many_arguments_a_function_takes() -> None:
    assert [takes(each) for each in (lambda: 1, len, lambda a, b=1: 1, lambda *a: 1, lambda a, *, b=1: 1)] == [
        *[0, 1, 2, 99, 1]
    ]
    assert takes(dict.fromkeys) >= 1
    assert takes(max) == 1  # its signature cannot be told


def test_a_summary_passes_between_processes() -> None:
    made = Summary("## 題", Usage(kind="summary", input_tokens=5), "cut off")
    again = pickle.loads(pickle.dumps(made))
    assert (type(again), again, again.usage, again.fault) == (Summary, made, made.usage, "cut off")
    assert Summary("x", Usage()).fault is None
