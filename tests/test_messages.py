"""Messages as values: what they keep, what they refuse, and the tool calls and results in them."""

from __future__ import annotations

import copy
import pickle
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassine import (
    CorruptMessageError,
    InvalidMessageError,
    Message,
    assistant,
    calls,
    results,
    tool_call,
    tool_result,
    user,
)
from glassine.moments import from_micros, parse_time, to_iso, to_micros

NOON = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)
WIRE: dict[str, Any] = {
    "id": "m1",
    "role": "assistant",
    "parts": [{"type": "text", "text": "見る"}, {"type": "from-the-future", "x": [1, {"y": None}]}],
    "createdAt": "2026-01-31T21:00:00+09:00",
    "metadata": {"a": 1},
    "extraField": {"kept": True},
}


def test_the_wire_shape_survives() -> None:
    message = Message.from_dict(WIRE)
    assert message.to_dict() == WIRE
    assert list(message.to_dict()) == list(WIRE)
    assert (message.id, message.role, message.metadata) == ("m1", "assistant", {"a": 1})
    assert message.created_at == NOON
    assert message.text == "見る"
    assert message == Message.from_dict(copy.deepcopy(WIRE))
    assert message != Message.from_dict({**WIRE, "extraField": None})
    assert message != WIRE
    assert len({message, Message.from_dict(WIRE)}) == 1


def test_what_is_left_out_stays_out() -> None:
    message = user("hello")
    assert message.to_dict() == {"id": "", "role": "user", "parts": [{"type": "text", "text": "hello"}]}
    assert (message.created_at, message.metadata) == (None, None)


def test_a_message_is_frozen_and_a_copy() -> None:
    wire = copy.deepcopy(WIRE)
    message = Message.from_dict(wire)
    wire["parts"].append({"type": "text", "text": "later"})
    message.to_dict()["parts"].clear()
    assert message.to_dict() == WIRE
    with pytest.raises(AttributeError):
        message.id = "m2"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        del message.role


def test_copies_and_pickles() -> None:
    message = Message.from_dict(WIRE)
    for twin in (copy.copy(message), copy.deepcopy(message), pickle.loads(pickle.dumps(message))):
        assert twin == message
        assert twin.to_dict() == WIRE


def test_another_id() -> None:
    assert Message.from_dict(WIRE).with_id("m2").to_dict() == {**WIRE, "id": "m2"}


def test_of_takes_messages_and_dicts_only() -> None:
    message = user("x")
    assert Message.of(message) is message
    assert Message.of(WIRE).to_dict() == WIRE
    for other in ("text", None, [WIRE]):
        with pytest.raises(InvalidMessageError):
            Message.of(other)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"role": "robot"}, ()),
        ({"role": None}, ()),
        ({"parts": None}, ()),
        ({"parts": ({"type": "text"},)}, ()),
        ({"parts": [{"type": "text"}, "text"]}, ("parts", 1)),
        ({"parts": [{"text": "no type"}]}, ("parts", 0)),
        ({"parts": [{"type": 1}]}, ("parts", 0)),
        ({"metadata": []}, ("metadata",)),
        ({"createdAt": "2026-01-31T12:00:00"}, ("createdAt",)),
        ({"createdAt": 5}, ("createdAt",)),
        ({"createdAt": NOON}, ("createdAt",)),
        ({"extraField": {1: 2}}, ("extraField",)),
        ({"parts": [{"type": "x", "y": [float("nan")]}]}, ("parts", 0, "y", 0)),
    ],
)
def test_what_is_no_message_is_refused_by_its_path(change: dict[str, Any], path: tuple[str | int, ...]) -> None:
    with pytest.raises(InvalidMessageError) as caught:
        Message.from_dict({**WIRE, **change})
    assert (caught.value.message_id, caught.value.path) == ("m1", path)


def test_a_time_needs_a_zone() -> None:
    with pytest.raises(InvalidMessageError):
        user("x", created_at=datetime(2026, 1, 1))  # noqa: DTZ001
    assert user("x", created_at=NOON.astimezone(timezone(timedelta(hours=9)))).created_at == NOON


@given(st.datetimes(timezones=st.just(UTC)))
def test_times_are_kept_to_the_microsecond(moment: datetime) -> None:
    assert from_micros(to_micros(moment)) == moment
    assert parse_time(to_iso(moment)) == moment
    assert to_iso(moment).endswith("Z")
    assert user("x", created_at=moment).created_at == moment


def test_stored_messages_decode_when_they_are_asked() -> None:
    broken = Message.stored("m1", "user", 0, b'{"id":')
    assert (broken.id, broken.role) == ("m1", "user")
    for ask in (lambda: broken.parts, broken.to_dict, broken.check, lambda: broken.metadata, lambda: broken.created_at):
        with pytest.raises(CorruptMessageError) as caught:
            ask()
        assert caught.value.message_id == "m1"


def test_the_repr_is_short() -> None:
    assert len(repr(user("x" * 10_000, id="m1"))) < 150
    assert "m1" in repr(user("hello", id="m1"))


def test_calls_and_results_in_every_shape() -> None:
    message = Message(
        role="assistant",
        parts=[
            {"type": "text", "text": "…"},
            tool_call("look", {"a": 1}, id="t1"),
            {"type": "tool-read", "toolCallId": "t2", "state": "input-available", "input": {"b": 2}},
            {"type": "tool-read", "toolCallId": "t3", "state": "output-available", "input": {}, "output": "out"},
            {"type": "tool-read", "toolCallId": "t4", "state": "output-error", "input": {}, "errorText": "no"},
            {"type": "dynamic-tool", "toolName": "dyn", "toolCallId": "t5", "state": "output-available", "output": 0},
            {"type": "tool-late", "toolCallId": "t6"},
            {"type": "tool-result", "toolCallId": "t7", "toolName": "look", "output": None, "isError": True},
            {"type": "tool-no-id"},
            {"type": "tool-call", "toolCallId": 5, "toolName": "look", "input": {}},
        ],
    )
    assert [(call.id, call.name, call.input, call.part) for call in calls(message)] == [
        ("t1", "look", {"a": 1}, 1),
        ("t2", "read", {"b": 2}, 2),
        ("t3", "read", {}, 3),
        ("t4", "read", {}, 4),
        ("t5", "dyn", {}, 5),
        ("t6", "late", {}, 6),
    ]
    assert [(result.id, result.name, result.output, result.is_error, result.part) for result in results(message)] == [
        ("t3", "read", "out", False, 3),
        ("t4", "read", "no", True, 4),
        ("t5", "dyn", 0, False, 5),
        ("t7", "look", None, True, 7),
    ]
    assert calls(message.to_dict()) == calls(message)


def test_results_are_named_by_part_call_or_id() -> None:
    part = tool_call("look", {}, id="t1")
    (call,) = calls(assistant(part))
    wanted = {"type": "tool-result", "toolCallId": "t1", "toolName": "look", "output": [1]}
    for named in (part, call):
        assert tool_result(named, [1]).parts == [wanted]
    assert tool_result("t1", [1], name="look").parts == [wanted]
    assert tool_result(call, [1], is_error=True).parts == [{**wanted, "isError": True}]
    assert tool_result(call, [1]).role == "tool"


@pytest.mark.parametrize(
    ("raw", "given"),
    [("", {}), (None, {}), ([], {}), (7, {}), ('{"a": 1}', {"a": 1}), ("[1]", {}), ("{bad", {}), ("\ud800", {})],
)
def test_the_input_of_a_call_is_an_object_and_what_was_written_stays(raw: Any, given: dict[str, Any]) -> None:
    message = Message(role="assistant", parts=[{**tool_call("look", None, id="t1"), "input": raw}], id="m1")
    (call,) = calls(message)
    assert call.input == given
    assert call.raw == raw
    assert message.to_dict()["parts"][0]["input"] == raw


def test_equal_for_python_is_not_the_same_content() -> None:
    values = (1, True, 1.0)
    one, yes, real = (Message(role="user", parts=[{"type": "data", "value": value}], id="m1") for value in values)
    assert one != yes
    assert one != real
    assert one == Message(role="user", parts=[{"value": 1, "type": "data"}], id="m1")
