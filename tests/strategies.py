"""Histories as they come from real life: parallel, late, missing and repeated results, parts of the AI SDK, thinking,
files, empty texts, odd ids and outputs."""

from __future__ import annotations

import base64
import itertools
from typing import Any

from hypothesis import strategies as st

from glassine._ids import RESERVED_PREFIX
from glassine.messages import Message, Part, Role, tool_result

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

PLAIN = ["hi", "Deploy it.", "設定を確認して", "done", "a b\nc", "👩‍💻", "{}", "x" * 40]
ODD = ["", " ", "\n\t", "a\x00b", "\ud83d", "\udc00\ud800", "\ud83d\ude00", "ends ", "</system>"]
VALUES: list[Any] = [
    *[None, True, 0, 1.5, "text", "", "\ud800", [], {}, [1, [2, {"a": None}]]],
    {"a": {"b": ["c", "\ud83d"]}, "type": "x"},
]
INPUTS: list[Any] = [
    *[{"q": "weather"}, {}, {"path": "a\ud800.txt", "lines": [1, 2]}, {"q": "news"}],
    *["", None, [], '{"a":1}', "{", 7],
]
OUTPUTS: list[Any] = [
    *PLAIN,
    *VALUES,
    *ODD,
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
# Most histories have few calls, so results must often name them.
CALL_IDS = ["t1", "t2", "t1", "t3", "t2", "t1", "toolu_01A", "call|with.dots", "x" * 80, "", "同じ", "\ud800"]
NAMES = ["search", "read_file", "server.tool", "検索", ""]

TEXTS: list[Part] = [{"type": "text", "text": text} for text in (*PLAIN, *PLAIN, *ODD)]
THINKING: list[Part] = [
    {"type": "reasoning", "text": text, **({"providerMetadata": own} if own else {})}
    for text in ("hm", "", "あ", "\ud800")
    for own in (
        None,
        {"anthropic": {"signature": "EqQB"}},
        {"anthropic": {"redactedData": "EmwK"}},
        {"openai": {"itemId": "rs_1", "reasoningEncryptedContent": "gAAA"}},
        {"google": {"thoughtSignature": "CsQ="}},
    )
]
FILES: list[Part] = [
    *[PNG, PDF, NOTES, SOUND],
    {"type": "file", "mediaType": "image/*", "url": "https://pictures.example/cat.png"},
    {"type": "file", "mediaType": "application/pdf", "url": "https://papers.example/a.pdf"},
    {"type": "file", "mediaType": "image/png", "url": "data:image/png;base64,%%%"},
    {"type": "file", "mediaType": "image/png", "url": "file_011CNha8iCJcU1wXNR6q4V8w"},
    {"type": "file", "mediaType": "text/csv", "url": "data:text/csv,a%2Cb"},
    {"type": "file", "mediaType": "image/tiff", "url": "data:image/tiff;base64,SUkqAA=="},
    {"type": "file"},
]
ODDITIES: list[Part] = [
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


def _spread(number: int, *lists: list[Any]) -> list[tuple[Any, ...]]:
    """`number` combinations of one item of each list, in which every item comes up about equally often."""
    return list(itertools.islice(zip(*[itertools.cycle(each) for each in lists], strict=False), number))


CALLS: list[Part] = [
    {"type": "tool-call", "toolCallId": id, "toolName": name, "input": input}
    for id, name, input in _spread(60, CALL_IDS, NAMES, INPUTS)
]
RESULTS: list[Part] = [
    {
        "type": "tool-result",
        "toolCallId": id,
        "toolName": name,
        "output": output,
        **({"isError": True} if error else {}),
    }
    for id, name, output, error in _spread(140, CALL_IDS, NAMES, OUTPUTS, [False, False, True])
]
SDK_CALLS: list[Part] = [
    {"type": f"tool-{name}", "toolCallId": id, "input": input, **state}
    for id, name, input, state in _spread(
        120,
        CALL_IDS,
        NAMES,
        INPUTS,
        [
            {},
            {"state": "input-streaming"},
            {"state": "input-available"},
            {"state": "output-error", "errorText": "no such file"},
            *[{"state": "output-available", "output": output} for output in OUTPUTS],
        ],
    )
]
_KINDS: list[tuple[Role, list[Part], int]] = [
    ("user", [*TEXTS, *FILES, *ODDITIES], 3),
    ("assistant", [*TEXTS, *THINKING, *ODDITIES], 3),
    ("assistant", [*CALLS, *TEXTS, *THINKING], 4),
    ("assistant", [*CALLS], 3),
    ("assistant", [*SDK_CALLS, *SDK_CALLS, *TEXTS, *THINKING, *ODDITIES, *FILES], 5),
    ("tool", [*RESULTS], 2),
    ("tool", [*RESULTS], 2),
    ("tool", [*RESULTS, *TEXTS, *FILES, *CALLS], 3),
    ("user", [*RESULTS, *TEXTS, *FILES, *CALLS], 3),
    ("assistant", [*RESULTS, *TEXTS, *CALLS], 3),
    ("system", [*TEXTS], 2),
]


def _of(role: Role, parts: list[Part], most: int) -> st.SearchStrategy[Message]:
    return st.lists(st.sampled_from(parts), max_size=most).map(lambda found: Message(role=role, parts=found))


messages: st.SearchStrategy[Message] = st.one_of([_of(*kind) for kind in _KINDS])
"""One message of any kind, without an id."""


def _numbered(found: list[Message]) -> list[Message]:
    return [message.with_id(f"m{number}") for number, message in enumerate(found)]


histories: st.SearchStrategy[list[Message]] = st.lists(messages, max_size=8).map(_numbered)
"""Anything that could be stored, with ids m0, m1, …"""

_said = st.sampled_from(TEXTS[: len(PLAIN)])


@st.composite
def tidy_histories(draw: st.DrawFn) -> list[Message]:
    """What a well-behaved agent writes: turns of a user's text, calls that are answered at once, and an answer. Only
    what every provider can carry is in them."""
    found: list[Message] = []
    number = 0
    for _ in range(draw(st.integers(0, 4))):
        found.append(Message(role="user", parts=draw(st.lists(_said, min_size=1, max_size=2))))
        for _ in range(draw(st.integers(0, 2))):
            asked: list[Any] = []
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
                tool_result(call["toolCallId"], draw(st.sampled_from(PLAIN)), name=call["toolName"]) for call in asked
            ]
        found.append(Message(role="assistant", parts=[draw(_said)]))
    return found


_summaries: st.SearchStrategy[Message] = st.sampled_from(PLAIN).map(
    lambda text: Message(role="user", parts=[{"type": "text", "text": f"So far: {text}"}])
)


def _as_path(found: list[tuple[bool, Message]]) -> list[Message]:
    named = [(f"{RESERVED_PREFIX}{number}" if summary else f"m{number}") for number, (summary, _) in enumerate(found)]
    return [message.with_id(id) for id, (_, message) in zip(named, found, strict=True)]


paths: st.SearchStrategy[list[Message]] = st.one_of(
    st.lists(
        st.one_of(*[st.tuples(st.just(False), messages)] * 6, st.tuples(st.just(True), _summaries)), max_size=14
    ).map(_as_path),
    tidy_histories().map(_numbered),
)
"""What `history()` can give: anything that could be stored, with summaries in it; ids as a store has them."""
