"""JSON as it is stored: what comes back is what was given, or it is refused by name."""

from __future__ import annotations

import json
import sys
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import IntEnum
from typing import Any
from uuid import UUID

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassine import InvalidMessageError, _json

anything = st.text(alphabet=st.characters(codec=None, exclude_categories=()), max_size=20)
numbers = st.one_of(st.integers(), st.integers(-(10**400), 10**400), st.floats(allow_nan=False, allow_infinity=False))
values = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, anything),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(anything, inner, max_size=4)),
    max_leaves=20,
)


def same(one: Any, other: Any) -> bool:
    """Equal, and of the same types all the way down (1, 1.0 and True are not the same)."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


@given(values)
@settings(deadline=None)
def test_what_is_given_comes_back(value: Any) -> None:
    codec, data = _json.encode(value)
    assert same(_json.decode(codec, data), value)


@given(values)
@settings(deadline=None)
def test_the_bytes_are_compact_json_with_nothing_escaped_in_vain(value: Any) -> None:
    codec, data = _json.encode(value)
    text = data.decode("utf-8", "surrogatepass")
    assert same(json.loads(text), value)
    if codec == _json.CODEC_MSGSPEC:
        data.decode("utf-8")  # any reader of UTF-8 can read it
    assert _json.encode(value) == (codec, data)


def test_non_ascii_is_not_escaped() -> None:
    assert _json.encode({"鍵": "値é👍"}) == (_json.CODEC_MSGSPEC, '{"鍵":"値é👍"}'.encode())


def test_lone_surrogates_take_the_other_codec() -> None:
    codec, data = _json.encode("\ud800山")
    assert (codec, data) == (_json.CODEC_STDLIB, b'"\xed\xa0\x80\xe5\xb1\xb1"')
    with pytest.raises(msgspec.DecodeError):
        _json.decode(_json.CODEC_MSGSPEC, data)


class Colour(IntEnum):
    RED = 1


@pytest.mark.parametrize(
    ("culprit", "reason"),
    [
        (float("nan"), "nan is not a number in JSON"),
        (float("inf"), "inf is not a number in JSON"),
        (float("-inf"), "-inf is not a number in JSON"),
        (10**4300, "an integer beyond 4,300 digits"),
        (-(10**4300), "an integer beyond 4,300 digits"),
        ((1, 2), "a tuple would not come back as one from JSON"),
        (b"bytes", "a bytes would not"),
        (bytearray(b"x"), "a bytearray would not"),
        ({1}, "a set would not"),
        (date(2026, 1, 1), "a date would not"),
        (datetime(2026, 1, 1, tzinfo=UTC), "a datetime would not"),
        (Decimal("1.5"), "a Decimal would not"),
        (UUID(int=1), "a UUID would not"),
        (object(), "a object would not"),
        ({1: 2}, "the key 1 is not text"),
        ({None: 2}, "the key None is not text"),
        ({(1,): 2}, "is not text"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_what_json_cannot_give_back_is_refused_by_its_path(culprit: Any, reason: str) -> None:
    # Harmless values that only look suspicious stand before it.
    value = {"before": ["\ud800", 10**4300 - 1, 2**64, {"": -0.0}], "here": [0, {"k": culprit}]}
    with pytest.raises(InvalidMessageError) as caught:
        _json.encode(value)
    assert caught.value.path == ("here", 1, "k")
    assert reason in caught.value.reason


def test_integers_up_to_4300_digits() -> None:
    for number in (10**4300 - 1, -(10**4299), 2**14284):
        assert _json.decode(*_json.encode([number])) == [number]


def test_a_circle_is_refused() -> None:
    circle: list[Any] = [1]
    circle.append({"back": circle})
    with pytest.raises(InvalidMessageError):
        _json.encode(circle)


@pytest.mark.parametrize(("codec", "data"), [(0, b"{"), (0, b"\xff"), (1, b"{"), (1, b"\xff"), (7, b"{}")])
def test_bytes_that_are_no_json_are_a_value_error(codec: int, data: bytes) -> None:
    with pytest.raises(ValueError):
        _json.decode(codec, data)


def test_nesting_has_a_fixed_limit_wherever_the_caller_stands() -> None:
    def nested(levels: int) -> Any:
        value: Any = "core"
        for _ in range(levels):
            value = [value]
        return value

    codec, data = _json.encode(nested(_json.DEPTH_LIMIT))
    assert _json.decode(codec, data) == nested(_json.DEPTH_LIMIT)
    with pytest.raises(InvalidMessageError, match="nested more than 500 levels") as caught:
        _json.encode(nested(_json.DEPTH_LIMIT + 1))
    assert caught.value.limit == _json.DEPTH_LIMIT
    for value in (nested(200_000), nested(sys.getrecursionlimit() + 100)):
        with pytest.raises(InvalidMessageError, match="nested"):
            _json.encode(value)
    # Many brackets are not many levels.
    assert _json.encode([[]] * 2000)[0] == _json.CODEC_MSGSPEC
