"""Laying messages down: what leaves the row, and that everything comes back from it."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from glassine import Message, _json
from glassine.drafting import draft, drafted
from glassine.representation import CHUNK, MEDIA_MIN, ROW_LIMIT, TEXT_LIMIT, External, lay_down, restore

PICTURE = bytes(range(256)) * 8
BASE64 = base64.b64encode(PICTURE).decode()

texts = st.sampled_from(["", "a", "山" * 500, "\ud800", "é\0", BASE64, "data:image/png;base64," + BASE64])
big = st.sampled_from(["x" * (TEXT_LIMIT + 1), "山" * 90_000, "\ud800" * 90_000, "x" * TEXT_LIMIT])
contents = st.recursive(
    st.one_of(st.none(), st.integers(-5, 5), texts, big),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["data", "mediaType", "url", "text", "鍵", "\ud800", "0"]), inner, max_size=3),
    ),
    max_leaves=8,
)
parts = st.builds(
    lambda kind, body: {"type": kind, **body},
    st.sampled_from(["text", "file", "tool-result", "reasoning", "x"]),
    st.dictionaries(st.sampled_from(["text", "url", "mediaType", "output"]), contents, max_size=3),
)
wires = st.builds(
    lambda parts, extra: {"id": "m1", "role": "user", "parts": parts, **extra},
    st.lists(parts, max_size=4),
    st.one_of(st.just({}), st.builds(lambda x: {"extra": x, "metadata": {"k": x}}, contents)),
)


@given(wires)
@settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
def test_what_is_laid_down_comes_back(wire: dict[str, Any]) -> None:
    message = Message.from_dict(wire)
    laid = draft(message)
    assert drafted(laid).to_dict() == wire
    assert drafted(laid) == message
    assert len(laid.body) <= ROW_LIMIT
    assert laid.size == len(message.encoded()[1])
    for external in laid.externals:
        assert external.digest == hashlib.sha256(external.data).digest()
        assert external.path[0] != "id"


def lay(part: dict[str, Any]) -> tuple[dict[str, Any], tuple[External, ...]]:
    codec, body, externals = lay_down(*_json.encode({"id": "m1", "role": "user", "parts": [part]}))
    return _json.decode(codec, body)["parts"][0], externals


@pytest.mark.parametrize(
    ("part", "path", "prefix"),
    [
        ({"type": "file", "url": "data:image/png;base64," + BASE64}, ("url",), "data:image/png;base64,"),
        ({"type": "file", "mediaType": "image/png", "data": BASE64}, ("data",), ""),
        ({"type": "image", "source": {"media_type": "image/png", "data": BASE64}}, ("source", "data"), ""),
        (
            {"type": "tool-result", "output": [{"type": "image", "mimeType": "image/png", "data": BASE64}]},
            ("output", 0, "data"),
            "",
        ),
    ],
)
def test_media_leaves_the_row(part: dict[str, Any], path: tuple[str | int, ...], prefix: str) -> None:
    left, (external,) = lay(part)
    assert (external.path, external.kind, external.prefix) == (("parts", 0, *path), "media", prefix)
    assert external.data == PICTURE
    assert BASE64 not in repr(left)
    assert restore("media", prefix, PICTURE) == prefix + BASE64


@pytest.mark.parametrize(
    "part",
    [
        {"type": "text", "text": "data:image/png;base64," + BASE64},  # somebody's words
        {"type": "x", "data": BASE64},  # nothing says that it is media
        {"type": "file", "mediaType": "image/png", "data": BASE64[:MEDIA_MIN]},  # small
        {
            "type": "file",
            "mediaType": "image/png",
            "data": BASE64[:-4] + "\n" + BASE64[-4:],
        },  # not the only spelling
        {"type": "file", "mediaType": "image/png", "data": BASE64[:-1] + "!"},
        {"type": "file", "mediaType": "image/png", "data": BASE64[:-2] + "9="},
        {"type": "file", "mediaType": "image/png", "url": "https://example.org/" + "a" * 2000},
    ],
)
def test_what_is_no_media_stays(part: dict[str, Any]) -> None:
    assert lay(part) == (part, ())


def test_long_text_leaves_the_row_whole() -> None:
    for text in ("x" * (TEXT_LIMIT + 1), "山" * 100_000, "\ud800" + "x" * TEXT_LIMIT):
        left, (external,) = lay({"type": "text", "text": text})
        assert left == {"type": "text", "text": ""}
        assert (external.path, external.kind) == (("parts", 0, "text"), "text")
        assert restore("text", "", external.data) == text
    assert lay({"type": "text", "text": "x" * TEXT_LIMIT})[1] == ()


def test_many_small_texts_leave_with_their_parts_oldest_first() -> None:
    wire = {
        "id": "m1",
        "role": "user",
        "parts": [{"type": "x", "values": ["y" * 5000 for _ in range(150)]} for _ in range(4)],
    }
    codec, body, externals = lay_down(*_json.encode(wire))
    assert len(body) <= ROW_LIMIT
    assert [external.path for external in externals] == [("parts", 0), ("parts", 1), ("parts", 2)]
    assert _json.decode(codec, body)["parts"][3] == wire["parts"][3]


def test_a_chunk_is_bounded() -> None:
    assert CHUNK <= ROW_LIMIT


def test_bytes_that_are_no_text_are_a_value_error() -> None:
    with pytest.raises(ValueError):
        restore("text", "", b"\xff")
    with pytest.raises(ValueError):
        restore("json", "", b"{")
