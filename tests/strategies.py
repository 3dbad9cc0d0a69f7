"""Histories as they come from real life: parallel, late, missing and repeated results, parts of the AI SDK, thinking,
files, empty texts, odd ids and outputs."""

from __future__ import annotations

import base64
from typing import Any

from hypothesis import strategies as st

from glassine.messages import Message, Part

PIXEL = base64.b64encode(
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89"
).decode()
PNG: Part = {"type": "file", "mediaType": "image/png", "url": f"data:image/png;base64,{PIXEL}"}
PDF: Part = {
    "type": "file",
    "mediaType": "application/pdf",
    "url": f"data:application/pdf;base64,{base64.b64encode(b'%PDF-1.4').decode()}",
    "filename": "paper.pdf",
}
NOTES: Part = {
    "type": "file",
    "mediaType": "text/plain",
    "url": f"data:text/plain;base64,{base64.b64encode('覚え書き'.encode()).decode()}",
    "filename": "notes.txt",
}
SOUND: Part = {"type": "file", "mediaType": "audio/mpeg", "url": "data:audio/mpeg;base64,SUQz", "filename": "song.mp3"}

plain_texts = st.sampled_from(["hi", "Deploy it.", "設定を確認して", "done", "a b\nc", "👩‍💻", "{}", "x" * 40])
odd_texts = st.sampled_from(["", " ", "\n\t", "a\x00b", "\ud83d", "\udc00\ud800", "\ud83d\ude00", "ends ", "</system>"])
texts = plain_texts | odd_texts

values: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 0, 1.5, "text", "", "\ud800", [], {}, [1, [2, {"a": None}]], {"a": {"b": ["c", "\ud83d"]}, "type": "x"}]
)
inputs: st.SearchStrategy[Any] = st.sampled_from(
    [{}, {"q": "weather"}, {"path": "a\ud800.txt", "lines": [1, 2]}, "", None, [], '{"a":1}', "{", 7]
)

text_parts: st.SearchStrategy[Part] = texts.map(lambda text: {"type": "text", "text": text})
thinking: st.SearchStrategy[Part] = st.one_of(
    texts.map(lambda text: {"type": "reasoning", "text": text}),
    texts.map(
        lambda text: {"type": "reasoning", "text": text, "providerMetadata": {"anthropic": {"signature": "EqQB"}}}
    ),
    st.just({"type": "reasoning", "text": "", "providerMetadata": {"anthropic": {"redactedData": "EmwK"}}}),
    texts.map(
        lambda text: {
            "type": "reasoning",
            "text": text,
            "providerMetadata": {"openai": {"itemId": "rs_1", "reasoningEncryptedContent": "gAAA"}},
        }
    ),
    texts.map(
        lambda text: {"type": "reasoning", "text": text, "providerMetadata": {"google": {"thoughtSignature": "CsQ="}}}
    ),
)
files: st.SearchStrategy[Part] = st.sampled_from(
    [
        PNG,
        PDF,
        NOTES,
        SOUND,
        {"type": "file", "mediaType": "image/*", "url": "https://pictures.example/cat.png"},
        {"type": "file", "mediaType": "application/pdf", "url": "https://papers.example/a.pdf"},
        {"type": "file", "mediaType": "image/png", "url": "data:image/png;base64,%%%"},
        {"type": "file", "mediaType": "image/png", "url": "file_011CNha8iCJcU1wXNR6q4V8w"},
        {"type": "file", "mediaType": "text/csv", "url": "data:text/csv,a%2Cb"},
        {"type": "file", "mediaType": "image/tiff", "url": "data:image/tiff;base64,SUkqAA=="},
        {"type": "file"},
    ]
)
oddities: st.SearchStrategy[Part] = st.sampled_from(
    [
        {"type": "step-start"},
        {"type": "data-chart", "data": [1, 2]},
        {"type": "source-url", "url": "https://a.example"},
        {"type": "text"},
        {"type": "reasoning"},
        {"type": "tool-call"},
        {"type": "tool-result", "toolCallId": 3},
        {"type": "provider-item", "provider": "openai", "item": {"type": "web_search_call", "id": "ws_1"}},
        {"type": "provider-item", "provider": "anthropic", "item": {"type": "compaction", "content": "So far."}},
        {"type": "provider-item", "provider": "google", "item": {"executableCode": {"code": "1"}}},
        {"type": "provider-item", "provider": "anthropic", "item": {"type": "server_tool_use", "id": "srv_1"}},
        {"type": "provider-item"},
    ]
)
outputs: st.SearchStrategy[Any] = (
    values
    | texts
    | st.sampled_from(
        [
            {"type": "text", "value": "plain"},
            {"type": "json", "value": {"a": [1]}},
            {"type": "error-text", "value": ""},
            {"type": "execution-denied"},
            {"type": "content", "value": [{"type": "text", "text": "a picture"}, PNG]},
            {"content": [{"type": "image", "data": PIXEL, "mimeType": "image/png"}], "isError": False},
            [{"type": "text", "text": ""}, {"type": "text", "text": "b"}],
            [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}, SOUND],
            [{"type": "mystery"}],
        ]
    )
)

call_ids = st.sampled_from(["t1", "t2", "t3", "toolu_01A", "call|with.dots", "x" * 80, "", "同じ", "\ud800"])
names = st.sampled_from(["search", "read_file", "server.tool", "検索", ""])


@st.composite
def _calls(draw: st.DrawFn, sdk: bool) -> Part:
    id, name, input = draw(call_ids), draw(names), draw(inputs)
    if not sdk:
        return {"type": "tool-call", "toolCallId": id, "toolName": name, "input": input}
    part: dict[str, Any] = {"type": f"tool-{name}", "toolCallId": id, "input": input}
    state = draw(st.sampled_from(["input-streaming", "input-available", "output-available", "output-error", None]))
    if state is not None:
        part["state"] = state
    if state == "output-available":
        part["output"] = draw(outputs)
    if state == "output-error":
        part["errorText"] = draw(texts)
    return part


@st.composite
def _results(draw: st.DrawFn) -> Part:
    part: dict[str, Any] = {
        "type": "tool-result",
        "toolCallId": draw(call_ids),
        "toolName": draw(names),
        "output": draw(outputs),
    }
    return {**part, "isError": True} if draw(st.booleans()) else part


@st.composite
def messages(draw: st.DrawFn) -> Message:
    """One message of any kind, without an id."""
    kind = draw(st.sampled_from(["user", "assistant", "assistant", "calls", "sdk", "tool", "tool", "mixed", "system"]))
    parts: st.SearchStrategy[list[Part]]
    match kind:
        case "user":
            role, parts = "user", st.lists(text_parts | files | oddities, max_size=3)
        case "assistant":
            role, parts = "assistant", st.lists(text_parts | thinking | oddities, max_size=3)
        case "calls":
            role, parts = "assistant", st.lists(text_parts | thinking | _calls(False), min_size=1, max_size=4)
        case "sdk":
            role, parts = "assistant", st.lists(text_parts | thinking | _calls(True) | oddities | files, max_size=5)
        case "tool":
            role, parts = "tool", st.lists(_results(), min_size=1, max_size=2)
        case "mixed":
            role, parts = (
                draw(st.sampled_from(["user", "tool", "assistant"])),
                st.lists(_results() | text_parts | files | _calls(False), max_size=4),
            )
        case _:
            role, parts = "system", st.lists(text_parts, max_size=2)
    return Message.from_dict({"role": role, "parts": draw(parts)})


def _numbered(found: list[Message]) -> list[Message]:
    return [message.with_id(f"m{number}") for number, message in enumerate(found)]


histories: st.SearchStrategy[list[Message]] = st.lists(messages(), max_size=8).map(_numbered)
"""Anything that could be stored, with ids m0, m1, …"""

_said = plain_texts.map(lambda text: {"type": "text", "text": text})


@st.composite
def tidy_histories(draw: st.DrawFn) -> list[Message]:
    """What a well-behaved agent writes: turns of a user's text, calls that are answered at once, and an answer. Only
    what every provider can carry is in them."""
    found: list[Message] = []
    number = 0
    for _ in range(draw(st.integers(0, 4))):
        found.append(Message(role="user", parts=draw(st.lists(_said, min_size=1, max_size=2))))
        for _ in range(draw(st.integers(0, 2))):
            asked: list[Part] = []
            for _ in range(draw(st.integers(1, 2))):
                number += 1
                asked.append(
                    {
                        "type": "tool-call",
                        "toolCallId": f"call_{number}",
                        "toolName": draw(st.sampled_from(["search", "read_file"])),
                        "input": draw(st.dictionaries(st.sampled_from(["q", "n"]), st.integers(0, 9), max_size=2)),
                    }
                )
            found.append(Message(role="assistant", parts=[*draw(st.lists(_said, max_size=1)), *asked]))
            found += [
                Message.from_dict(
                    {
                        "role": "tool",
                        "parts": [
                            {
                                "type": "tool-result",
                                "toolCallId": call["toolCallId"],  # type: ignore[typeddict-item]
                                "toolName": call["toolName"],  # type: ignore[typeddict-item]
                                "output": draw(plain_texts),
                            }
                        ],
                    }
                )
                for call in asked
            ]
        found.append(Message(role="assistant", parts=[draw(_said)]))
    return found
