"""What all formats share: the shape of a request and of a reply."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from ..messages import Message


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


def plain(value: Any) -> Any:
    """An SDK's object as plain data: by `model_dump`, `to_dict` or `to_json_dict`; other values as they are."""
    if isinstance(value, Mapping):
        return value
    for method in ("to_json_dict", "model_dump", "to_dict"):
        found = getattr(value, method, None)
        if callable(found):
            return found(mode="json") if method == "model_dump" else found()
    return value
