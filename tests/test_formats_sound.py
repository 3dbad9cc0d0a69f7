"""Sound: what a user sends and what a model says aloud, in the formats that have it."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassine.formats import ai_sdk, anthropic, gemini, openai_chat, openai_responses
from glassine.formats._openai_sound import joined
from glassine.messages import Message, Part, assistant, calls, user
from glassine.rules import violations
from tests.strategies import SOUND

chat_types = pytest.importorskip("openai.types.chat")

WAV = base64.b64encode(b"RIFF\x24\x00\x00\x00WAVEfmt ").decode()
SPEECH = "いい天気ですね。 👋"


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def spoken(**audio: Any) -> Message:
    message = {"role": "assistant", "content": None, "refusal": None, "audio": audio}
    given_reply = {"id": "r1", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    found = openai_chat.read_reply(given_reply).message
    assert openai_chat.read_reply(chat_types.ChatCompletion.construct(**given_reply)).message == found
    return found


def chat(*messages: Message) -> tuple[list[dict[str, Any]], list[str]]:
    request = openai_chat.to_request([*messages, user("on")], model="gpt-4o")
    assert violations("openai", request.arguments) == []
    return request.arguments["messages"][:-1], [note.code for note in request.notes]


# -- Chat Completions -------------------------------------------------------------------------------------------------


def test_what_a_model_says_aloud_is_a_text_and_a_file() -> None:
    message = spoken(id="audio_1", data=WAV, transcript=SPEECH, expires_at=1_800_000_000)
    assert message.text == SPEECH
    assert message.parts == [
        {"type": "text", "text": SPEECH, "providerMetadata": {"openai": {"audioId": "audio_1"}}},
        {
            "type": "file",
            "mediaType": "audio/wav",
            "url": f"data:audio/wav;base64,{WAV}",
            "providerMetadata": {"openai": {"audioId": "audio_1", "expiresAt": 1_800_000_000}},
        },
    ]


def test_the_transcript_goes_back() -> None:
    message = spoken(id="audio_1", data=WAV, transcript=SPEECH)
    sent, codes = chat(user("hi"), message)
    assert sent[1:] == [{"role": "assistant", "content": SPEECH}]
    assert codes == ["file_not_sent"]


def test_sound_without_a_transcript_is_named() -> None:
    sent, codes = chat(user("hi"), spoken(id="audio_1", data=WAV, transcript=""))
    assert sent[1:] == [{"role": "assistant", "content": "[file: audio/wav not sent]"}]
    assert codes == ["file_not_sent"]
    # A transcript is that of its own sound.
    other: Part = {"type": "text", "text": "other", "providerMetadata": {"openai": {"audioId": "audio_0"}}}
    sent, _ = chat(user("hi"), assistant(other, *spoken(id="audio_1", data=WAV).parts))
    assert [part["text"] for part in sent[1]["content"]] == ["other", "[file: audio/wav not sent]"]


def test_sound_that_only_its_id_is_known_of_goes_back_by_it() -> None:
    messages = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": None, "audio": {"id": "audio_1"}},
        {"role": "user", "content": "why?"},
    ]
    history = openai_chat.from_request({"messages": messages})
    request = openai_chat.to_request(history, model="gpt-4o")
    assert request.arguments["messages"] == messages
    assert request.notes == ()
    assert violations("openai", request.arguments) == []
    known = openai_chat.from_request(
        {"messages": [{"role": "assistant", "audio": {"id": "audio_1", "transcript": SPEECH}}]}
    )
    assert [(len(message.parts), message.text) for message in known] == [(1, SPEECH)]
    twice, codes = chat(user("hi"), assistant(*history[1].parts, *history[1].parts))
    assert twice[1] == {
        "role": "assistant",
        "content": "[file: audio/* not sent]",
        "audio": {"id": "audio_1"},
    }
    assert codes == ["file_not_sent"]


@pytest.mark.parametrize(
    ("head", "media"),
    [
        (b"RIFF....", "audio/wav"),
        (b"ID3\x04....", "audio/mpeg"),
        (b"\xff\xf3....", "audio/mpeg"),
        (b"fLaC....", "audio/flac"),
        (b"OggS....", "audio/ogg"),
        (b"\xff\xf1....", "audio/aac"),
        (b"\x00\x00\x01\x00", "audio/pcm"),
        (b"\x00", "audio/pcm"),
    ],
)
def test_the_first_bytes_say_what_a_sound_is(head: bytes, media: str) -> None:
    (part,) = spoken(id="audio_1", data=encoded(head)).parts
    found: Any = part
    assert (found["mediaType"], found["url"]) == (media, f"data:{media};base64,{encoded(head)}")


def test_a_stream_says_what_the_whole_reply_says() -> None:
    samples = bytes(range(100))
    pieces: list[dict[str, Any]] = [
        {"id": "audio_1", "transcript": SPEECH[:3]},
        *({"data": encoded(samples[start : start + 10])} for start in range(0, 100, 10)),
        {"transcript": SPEECH[3:]},
        {"expires_at": 1_800_000_000},
    ]
    stream = openai_chat.Stream()
    for piece in pieces:
        stream.feed({"id": "r1", "choices": [{"index": 0, "delta": {"audio": piece}}]})
        assert SPEECH.startswith(stream.reply(finished=False).message.text)
    stream.feed({"id": "r1", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    whole = spoken(id="audio_1", data=encoded(samples), transcript=SPEECH, expires_at=1_800_000_000)
    assert stream.reply().message == whole


def test_speech_and_calls_in_one_reply() -> None:
    stream = openai_chat.Stream()
    call = {"index": 0, "id": "a", "function": {"name": "search", "arguments": "{}"}}
    for delta in ({"audio": {"id": "audio_1", "transcript": "I look."}}, {"tool_calls": [call]}):
        stream.feed({"id": "r1", "choices": [{"index": 0, "delta": delta}]})
    message = stream.reply().message
    assert (message.text, [found.id for found in calls(message)]) == ("I look.", ["a"])


@given(data=st.binary(min_size=1, max_size=40), size=st.integers(1, 9))
def test_base64_in_pieces(data: bytes, size: int) -> None:
    text = encoded(data)
    assert joined([text[start : start + size] for start in range(0, len(text), size)]) == text
    assert joined([encoded(data[start : start + size]) for start in range(0, len(data), size)]) == text


def test_base64_that_broke_off() -> None:
    text = encoded(bytes(range(9)))
    assert joined([text[:6], text[6:11]]) == text[:8]


@pytest.mark.parametrize(("kind", "media"), [("wav", "audio/wav"), ("mp3", "audio/mpeg")])
def test_sound_of_a_user_comes_back(kind: str, media: str) -> None:
    item = {"type": "input_audio", "input_audio": {"data": WAV, "format": kind}}
    messages = [{"role": "user", "content": [{"type": "text", "text": "聞いて"}, item]}]
    (message,) = openai_chat.from_request({"messages": messages})
    assert message.parts[1] == {"type": "file", "mediaType": media, "url": f"data:{media};base64,{WAV}"}
    assert chat(message) == (messages, [])


def test_sound_that_the_api_does_not_take_is_named() -> None:
    item = {"type": "input_audio", "input_audio": {"data": WAV, "format": "flac"}}
    (message,) = openai_chat.from_request({"messages": [{"role": "user", "content": [item]}]})
    sent, codes = chat(message)
    assert (sent[0]["content"], codes) == ("[file: audio/flac not sent]", ["file_not_sent"])


# -- Responses --------------------------------------------------------------------------------------------------------


def test_sound_in_responses_is_read_and_named() -> None:
    heard = {"type": "input_audio", "input_audio": {"data": WAV, "format": "wav"}}
    said = {"type": "output_audio", "data": WAV, "transcript": SPEECH}
    items = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}, heard]},
        {"type": "message", "role": "assistant", "content": [said]},
        {"type": "message", "role": "user", "content": "on"},
    ]
    history = openai_responses.from_request({"input": items})
    kinds: list[list[Any]] = [[part["type"] for part in message.parts] for message in history]
    assert kinds == [["text", "file"], ["text", "file"], ["text"]]
    assert history[1].text == SPEECH
    request = openai_responses.to_request(history, model="gpt-5")
    assert violations("openai_responses", request.arguments) == []
    assert [note.code for note in request.notes] == ["file_not_sent"] * 2
    assert "[file: audio/wav not sent]" in str(request.arguments["input"][0])


# -- Gemini -----------------------------------------------------------------------------------------------------------

RAW = "audio/L16;codec=pcm;rate=24000"
SLOW = "audio/L16;codec=pcm;rate=16000"


def chunk(*parts: dict[str, Any], stop: str | None = None) -> dict[str, Any]:
    candidate = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    return {"responseId": "r", "candidates": [{**candidate, **({"finishReason": stop} if stop else {})}]}


def sound(data: bytes, media: str = RAW, **more: Any) -> dict[str, Any]:
    return {"inlineData": {"mimeType": media, "data": encoded(data)}, **more}


def test_sound_of_gemini_comes_back() -> None:
    message = gemini.read_reply(chunk({"text": SPEECH}, sound(b"\x00\x01", RAW), stop="STOP")).message
    assert message.parts[1] == {"type": "file", "mediaType": RAW, "url": f"data:{RAW};base64,AAE="}
    request = gemini.to_request([user("hi", SOUND), message])
    assert request.notes == ()
    assert request.arguments["contents"][1]["parts"][1]["inline_data"] == {"mime_type": RAW, "data": "AAE="}
    assert gemini.from_request(request.arguments)[1] == message
    assert violations("gemini", request.arguments) == []


def test_sound_in_pieces_becomes_one_file() -> None:
    stream = gemini.Stream()
    for piece in (b"\x00", b"\x01\x02", b"\x03"):
        stream.feed(chunk({"text": "a"}) if piece == b"\x00" else chunk())
        stream.feed(chunk(sound(piece)))
        assert stream.reply().message.parts
    whole: Any = stream.reply().message.parts
    assert [part.get("url", "") for part in whole] == ["", f"data:{RAW};base64,{encoded(bytes(range(4)))}"]
    signature = {"thoughtSignature": "Ab4="}
    for other in (
        sound(b"RIFF", "audio/wav"),
        sound(b"RIFF", "audio/wav"),
        sound(b"\x04", **signature),
        sound(b"\x05"),
        sound(b"\x06", SLOW),
    ):
        stream.feed(chunk(other))
    parts: Any = stream.reply().message.parts
    assert parts[:2] == whole
    assert [part["mediaType"] for part in parts[2:]] == ["audio/wav", "audio/wav", RAW, RAW, SLOW]
    assert [part["url"][-4:] for part in parts[4:]] == [encoded(b"\x04"), encoded(b"\x05"), encoded(b"\x06")]


# -- elsewhere --------------------------------------------------------------------------------------------------------


def test_speech_goes_to_the_others_as_its_transcript() -> None:
    history = [user("hi"), spoken(id="audio_1", data=WAV, transcript=SPEECH), user("on")]
    for format in (anthropic, openai_responses, gemini, ai_sdk):
        request = format.to_request(history)
        assert SPEECH in str(request.arguments)
        carries = format in (gemini, ai_sdk)
        assert (WAV in str(request.arguments)) is carries
        assert [note.code for note in request.notes] == ([] if carries else ["file_not_sent"])
