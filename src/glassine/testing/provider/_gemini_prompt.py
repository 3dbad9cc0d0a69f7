"""A request to Gemini as the model reads it, and the signatures that the fake gives out."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

from glassine.rules import Violation

from ._counting import canonical
from ._prefixes import MEDIA_TOKENS, Piece

_HUMP = re.compile(r"([A-Z])")
_SIGNATURES = ("thoughtSignature", "thought_signature")
_OURS = b"fake-provider:"


def either(holder: Mapping[str, Any], name: str) -> Any:
    """A field by its name on the wire, in either spelling."""
    if name in holder:
        return holder[name]
    return holder.get(_HUMP.sub(lambda found: "_" + found[1].lower(), name))


def pieces_of(body: Mapping[str, Any]) -> list[Piece]:
    """Tools, then the system instruction, then the contents."""
    pieces = [
        Piece(f"<|{name}|>{canonical(body[name]).decode()}\n") for name in ("tools", "toolConfig") if body.get(name)
    ]
    instruction = either(body, "systemInstruction")
    if instruction:
        pieces += _turn("system", instruction)
    for content in body["contents"]:
        pieces += _turn(content.get("role") or "user", content)
    return pieces


def signature(part: Mapping[str, Any]) -> str:
    """A thought signature: opaque, and bound to the part that carries it."""
    return base64.b64encode(_OURS + _digest(part)).decode()


def altered(body: Mapping[str, Any]) -> list[Violation]:
    """Signatures of the fake that stand on another part than they were given for. Foreign ones pass."""
    found: list[Violation] = []
    for number, content in enumerate(body["contents"]):
        for position, part in enumerate(content["parts"]):
            given = _bytes(either(part, "thoughtSignature"))
            # A stream carries the signature of a text behind it, where a client may leave it.
            if given.startswith(_OURS) and given != _OURS + _digest(part) and "functionCall" in _names(part):
                path = f"contents.{number}.parts.{position}.thoughtSignature"
                found.append(Violation("gemini.signature_bytes", path, "Thought signature is not valid."))
    return found


def _turn(head: str, content: Mapping[str, Any]) -> Iterator[Piece]:
    yield Piece(f"<|{head}|>")
    for part in content["parts"]:
        if isinstance(part.get("text"), str):
            yield Piece(part["text"])
        elif (media := either(part, "inlineData") or either(part, "fileData")) is not None:
            yield Piece(f"<{hashlib.sha256(canonical(media)).hexdigest()[:16]}>", MEDIA_TOKENS)
        else:
            bare = {
                name: value for name, value in part.items() if name not in ("thoughtSignature", "thought_signature")
            }
            yield Piece(canonical(bare).decode())
    yield Piece("\n")


def _names(part: Mapping[str, Any]) -> set[str]:
    return {"functionCall" if name == "function_call" else name for name in part}


def _digest(part: Mapping[str, Any]) -> bytes:
    call = either(part, "functionCall")
    said = [call.get("name"), call.get("args") or {}] if call else part.get("text")
    return hashlib.sha256(canonical(said)).digest()


def _bytes(text: Any) -> bytes:
    if not isinstance(text, str):
        return b""
    plain = text.translate(str.maketrans("-_", "+/")).rstrip("=")
    return base64.b64decode(plain + "=" * (-len(plain) % 4))
