"""What all formats share: the shape of a request and of a reply, and what has to be made fit to be sent."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Literal, NamedTuple
from urllib.parse import unquote_to_bytes

from .. import _json
from ..errors import InvalidMessageError
from ..messages import Message

CONTINUES = "(The conversation continues.)"
"""The text of the user message that is put first where a provider wants one there."""
NO_OUTPUT = "(no output)"
"""What stands for an empty output where a provider refuses it."""


class Note(NamedTuple):
    """Something that a format cannot carry, or that had to be changed. `code` is stable, `text` is for people."""

    code: str
    message_id: str | None
    part: int | None
    text: str


class Marks(NamedTuple):
    """Where cache breakpoints are wanted: after the tools and the system prompt, and after these messages (their
    indices in the list that is formatted)."""

    prefix: bool = False
    messages: tuple[int, ...] = ()
    ttl: Literal["5m", "1h"] = "5m"


class Request(NamedTuple):
    """Keyword arguments for the official SDK's call, as plain data, and what is to be said about them."""

    arguments: dict[str, Any]
    notes: tuple[Note, ...]


class ReplyUsage(NamedTuple):
    """Tokens that a reply reports, None where it does not. `input` were neither read from nor written to the cache."""

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write_5m: int | None = None
    cache_write_1h: int | None = None


class Reply(NamedTuple):
    """A model's answer: a message without an id, and what its provider says about it."""

    message: Message
    usage: ReplyUsage
    model: str | None
    stop: str | None
    response_id: str | None


class DataUrl(NamedTuple):
    """The content of a `data:` URL: its media type without parameters, and base64 text of at least one byte."""

    media: str
    data: str

    @property
    def bytes(self) -> bytes:
        return base64.b64decode(self.data)


_DATA_URL = re.compile(r"data:([^,;]*)((?:;[^,;]*)*),", re.IGNORECASE)


def data_url(url: Any) -> DataUrl | None:
    """What is in a `data:` URL; None when it is none, is empty, or its base64 is broken."""
    head = _DATA_URL.match(url) if isinstance(url, str) else None
    if head is None:
        return None
    media, body = head[1].lower() or "text/plain", url[head.end() :]
    try:
        if head[2].lower().endswith(";base64"):
            return DataUrl(media, body) if base64.b64decode(body, validate=True) else None
        data = unquote_to_bytes(body)
    except (binascii.Error, ValueError):
        return None
    return DataUrl(media, base64.b64encode(data).decode()) if data else None


def placeholder(part: Mapping[str, Any]) -> str:
    """The text that stands for a file which a format cannot carry."""
    name, media = part.get("filename"), part.get("mediaType")
    shown = name if isinstance(name, str) and name.strip() else "file"
    return sendable(f"[{shown}: {media if isinstance(media, str) and media else 'unknown type'} not sent]")


def system_as_user(text: str) -> str:
    """A system message's text as a user says it, where a format has no system messages inside a history."""
    return f"<system>{text}</system>"


class CallIds:
    """The ids of tool calls as a provider takes them: unique in a request and matching `legal`, a pattern for the whole
    id. Ask in the order of the request: what an id becomes depends on what came before, never on what comes after."""

    def __init__(self, legal: str) -> None:
        self._legal = re.compile(legal)
        self._taken: set[str] = set()
        self._open: dict[str, list[str]] = {}
        self._last: dict[str, str] = {}

    def call(self, id: str) -> str:
        """The id for a call."""
        made, attempt = id, 0
        while made in self._taken or not self._legal.fullmatch(made):
            digest = sha256(f"{id}\0{attempt}".encode("utf-8", "surrogatepass")).hexdigest()
            made, attempt = f"call_{digest[:24]}", attempt + 1
        self._taken.add(made)
        self._open.setdefault(id, []).append(made)
        self._last[id] = made
        return made

    def result(self, id: str) -> str:
        """The id for a result: that of the first call with this id that has none yet, else of the last one."""
        waiting = self._open.get(id)
        if waiting:
            return waiting.pop(0)
        return self._last[id] if id in self._last else self.call(id)


def made_id(*facts: Any) -> str:
    """An id for a call that has none, from what tells it apart from others."""
    return f"call_{sha256(repr(facts).encode('utf-8', 'surrogatepass')).hexdigest()[:24]}"


def sendable(text: str) -> str:
    """`text` as UTF-8 can hold it: lone surrogates become U+FFFD, pairs the character they stand for."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def sendable_value(value: Any) -> Any:
    """A JSON value with every text in it `sendable`; the value itself where that changes nothing."""
    try:
        _json.text(value).encode()
        return value
    except UnicodeEncodeError:
        return _sendable_copy(value)


def _sendable_copy(value: Any) -> Any:
    if isinstance(value, str):
        return sendable(value)
    if isinstance(value, list):
        return [_sendable_copy(item) for item in value]
    if isinstance(value, dict):
        return {sendable(key): _sendable_copy(item) for key, item in value.items()}
    return value


def json_text(value: Any) -> str:
    """A value as JSON text that can be sent."""
    return sendable(_json.text(value))


def parsed(text: str) -> Any:
    """The value of a model's JSON; None when it is no whole JSON, or none that a message can hold."""
    try:
        value = json.loads(text)
        _json.encode(value)
    except (ValueError, RecursionError, InvalidMessageError):
        return None
    return value


def storable(value: Any) -> Any:
    """A value that a message can hold: itself, or its text when JSON could not give it back."""
    try:
        _json.encode(value)
    except InvalidMessageError:
        return str(value)
    return value


def plain(value: Any) -> Any:
    """An SDK's object as plain data: by `model_dump`, `to_dict` or `to_json_dict`; other values as they are."""
    if isinstance(value, Mapping):
        return value
    # Fields that the API did not send are left out: what comes back to it must look as it came.
    for method, options in (
        ("to_json_dict", {}),
        ("model_dump", {"mode": "json", "by_alias": True, "exclude_unset": True, "warnings": False}),
        ("to_dict", {}),
    ):
        found = getattr(value, method, None)
        if callable(found):
            return found(**options)
    return value
