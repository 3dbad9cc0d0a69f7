# Generated from src/glassine/testing/_async/values.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""Any text and any size is storable, and comes back as it was; what JSON cannot give back is refused by name."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from typing import Any

from glassine import InvalidMessageError, Store

from .._expecting import equal, raises, say, true


def _holding(id: str, value: Any) -> dict[str, Any]:
    return {"id": id, "role": "tool", "parts": [{"type": "data-x", "value": value}]}


def _nested(levels: int) -> Any:
    value: Any = "底"
    for number in range(levels):
        value = [value] if number % 2 else {"k": value}
    return value


def _kept(store: Store, values: dict[str, Any]) -> None:
    session = store.session("s")
    for name, value in values.items():
        session.append(_holding(name, value))
    equal(len(session.history()), len(values), "messages")
    for message in session.iter_history():
        (part,) = message.to_dict()["parts"]
        true(part["value"] == values[message.id], f"the value {message.id!r} is as it was")
        true(type(part["value"]) is type(values[message.id]), f"the type of {message.id!r} is as it was")
    true(session.verify().clean, "verify is clean")
    for name, value in values.items():  # again is the same again
        session.append(_holding(name, value))


def any_text_comes_back(store: Store) -> None:
    _kept(
        store,
        {
            "empty": "",
            "nul": "a\0b\0",
            "controls": "".join(map(chr, range(32))) + "\x7f\x85",
            "lone surrogates": "\ud800 and \udc00",
            "surrogate and nul": "\ud83d\0",
            "a pair, written apart": "\ud83d\udc4d",
            "emoji": "👩‍👩‍👧‍👦 🏳️‍🌈",
            "japanese": "機械学習と自然言語処理",
            "combining": "が e\u0301 \u0301",
            "noncharacters": "\uffff\ufdd0\U0010ffff",
            "line ends": "a\r\nb\u2028c\u2029d",
            "looks like ours": '{"id":"x"} \\u0000 \\ud800',
        },
    )


def media_of_any_name_come_back(store: Store) -> None:
    content = base64.b64encode(bytes(range(256)) * 8).decode()
    names = {"plain": "image/png", "nul": "image/\0", "lone": "image/\ud800", "japanese": "image/絵", "newline": "a\n"}
    _kept(store, {name: f"data:{text};base64,{content}" for name, text in names.items()})


def any_number_comes_back(store: Store) -> None:
    _kept(
        store,
        {
            "zero": 0,
            "float zero": 0.0,
            "true": True,
            "int64": 2**63 - 1,
            "uint64": 2**64 - 1,
            "beyond": 2**64,
            "negative": -(2**70),
            "4300 digits": 10**4300 - 1,
            "tiny": 5e-324,
            "huge": 1.7976931348623157e308,
            "third": 1 / 3,
        },
    )


def any_shape_comes_back(store: Store) -> None:
    _kept(
        store,
        {
            "300 levels": _nested(300),
            "empties": [{}, [], "", None, {"": ""}],
            "wide": {f"鍵{number}": number for number in range(2000)},
            "keys": {"a.b": 1, "a": {"b": 2}, "__proto__": 3, "\0": 4, "\ud800": 5},
        },
    )


def any_size_comes_back(store: Store) -> None:
    noise = base64.b64encode(bytes(range(256)) * 2000).decode()
    _kept(
        store,
        {
            "long text": "x" * 3_000_000,
            "long CJK": "山川" * 50_000,
            "long with surrogate": "\ud800" + "x" * 300_000,
            "many small": ["y" * 5000 for _ in range(400)],
            "deep and long": [[[["z" * 300_000, {"k": "z" * 300_001}]]]],
            "media": {"mediaType": "image/png", "data": noise},
            "data url": {"url": "data:image/png;base64," + noise},
            "base64 not quite": {"mediaType": "image/png", "data": noise[:-1] + "\n="},
        },
    )


def large_inputs_and_metadata_come_back(store: Store) -> None:
    session = store.session("s")
    wire = {
        "id": "m1",
        "role": "assistant",
        "parts": [{"type": "tool-call", "toolCallId": "t", "toolName": "write", "input": {"body": "b" * 3_000_000}}],
        "metadata": {"dump": ["m" * 1_000_000] * 3},
        "別": {"x": "f" * 3_000_000},
    }
    session.append(wire)
    found = session.message("m1")
    true(found is not None and found.to_dict() == wire, "the message is as it was")
    wire["metadata"] = {}
    session.update(wire)
    found = session.message("m1")
    true(found is not None and found.to_dict() == wire, "the updated message is as it was")
    true(session.verify().clean, "verify is clean")


def what_json_cannot_give_back_is_refused(store: Store) -> None:
    session = store.session("s")
    refused = [
        float("nan"),
        float("inf"),
        -float("inf"),
        10**4300,
        b"bytes",
        (1, 2),
        {1, 2},
        datetime(2026, 1, 1, tzinfo=UTC),
        {1: "key"},
        object(),
    ]
    for value in refused:
        with raises(InvalidMessageError) as caught:
            session.append(_holding("m1", {"deep": [0, value]}))
        equal(caught.error.message_id, "m1", f"what the error names for {type(value).__name__}")
        equal(caught.error.path, ("parts", 0, "value", "deep", 1), f"the path to {type(value).__name__}")
    for wire in (
        {"id": "m1", "role": "robot", "parts": []},
        {"id": "m1", "role": "user", "parts": "text"},
        {"id": "m1", "role": "user", "parts": ["text"]},
        {"id": "m1", "role": "user", "parts": [{"text": "no type"}]},
        {"id": "m1", "role": "user", "parts": [], "metadata": "text"},
        {"id": "m1", "role": "user", "parts": [], "createdAt": "yesterday"},
        {"id": "m1", "role": "user", "parts": [], "createdAt": "2026-01-01T00:00:00"},
        {"id": 1, "role": "user", "parts": []},
        {"id": "m1", "role": "user"},
    ):
        with raises(InvalidMessageError):
            session.append(wire)
    equal(store.sessions(), [], "nothing was stored")


def nesting_without_end_is_refused(store: Store) -> None:
    session = store.session("s")
    circle: list[Any] = []
    circle.append(circle)
    for value in (_nested(100_000), circle):
        with raises(InvalidMessageError):
            session.append(_holding("m1", value))


def what_was_given_may_be_changed_afterwards(store: Store) -> None:
    session = store.session("s")
    wire = say("m1", "as given")
    stored = session.append(wire)
    wire["parts"][0]["text"] = "changed"
    stored.to_dict()["parts"].clear()
    equal(session.history()[0].text, "as given", "the stored text")
    equal(stored.text, "as given", "the text of the message returned")
