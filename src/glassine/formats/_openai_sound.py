"""Sound in OpenAI's two APIs: what a user sends, and what a model said aloud, with the transcript of it."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Any

from ._openai_shared import own, with_own

_KINDS = {"wav": "audio/wav", "mp3": "audio/mpeg"}
SPOKEN = "audio/*"
"""The media type of sound of which only the provider's id is known."""
_HEADERS = {
    b"RIFF": "audio/wav",
    b"ID3": "audio/mpeg",
    b"\xff\xfb": "audio/mpeg",
    b"\xff\xf3": "audio/mpeg",
    b"\xff\xf2": "audio/mpeg",
    b"fLaC": "audio/flac",
    b"OggS": "audio/ogg",
    b"\xff\xf1": "audio/aac",
    b"\xff\xf9": "audio/aac",
}


def heard_part(data: str, kind: str) -> dict[str, Any]:
    """The part for the sound in a user's `input_audio`."""
    media = _KINDS.get(kind, f"audio/{kind}")
    return {"type": "file", "mediaType": media, "url": f"data:{media};base64,{data}"}


def sound_parts(audio: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The parts for an `audio` field: the transcript as a text, then the sound as a file; both know the sound's id.

    The field does not say what the sound is: its first bytes do, and without a header it is `audio/pcm`. Of sound that
    comes without its bytes, as in a request, the file's URL is its id, unless the transcript is there.
    """
    id, data, transcript = (_text(audio.get(name)) for name in ("id", "data", "transcript"))
    parts: list[dict[str, Any]] = []
    if transcript:
        parts.append(with_own({"type": "text", "text": transcript}, {"audioId": id}))
    if data:
        media = _media(data)
        part = {"type": "file", "mediaType": media, "url": f"data:{media};base64,{data}"}
        parts.append(with_own(part, {"audioId": id, "expiresAt": audio.get("expires_at")}))
    elif id and not parts:
        parts.append(with_own({"type": "file", "mediaType": SPOKEN, "url": id}, {"audioId": id}))
    return parts


def sound_id(part: Mapping[str, Any]) -> str | None:
    """The id of sound that is known by it alone, or None."""
    id = own(part).get("audioId")
    return id if isinstance(id, str) and id and id.isascii() and part.get("url") == id else None


def is_transcribed(part: Mapping[str, Any], parts: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the transcript of a sound stands among the parts of its message."""
    id = own(part).get("audioId")
    return id is not None and any(
        other.get("type") == "text"
        and isinstance(other.get("text"), str)
        and other["text"].strip()
        and own(other).get("audioId") == id
        for other in parts
    )


def joined(pieces: Sequence[str]) -> str:
    """Base64 that came in pieces. Some servers cut the text, others encode each piece of the sound by itself. What is
    not whole at the end is left out."""
    whole = "".join(pieces)
    try:
        base64.b64decode(whole, validate=True)
    except (binascii.Error, ValueError):
        try:
            return base64.b64encode(b"".join([base64.b64decode(piece, validate=True) for piece in pieces])).decode()
        except (binascii.Error, ValueError):
            return whole[: len(whole) // 4 * 4]
    return whole


def _media(data: str) -> str:
    try:
        head = base64.b64decode(data[:16])
    except (binascii.Error, ValueError):
        head = b""
    return next((media for begin, media in _HEADERS.items() if head.startswith(begin)), "audio/pcm")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
