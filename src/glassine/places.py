"""How callers name a message: by its id, a Message, or a wire dict; and what texts of theirs a column can keep."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from .errors import InvalidIdError
from .messages import Message, MessageLike
from .records import Named

ACTIVE: Final = "active leaf"
"""Default of `parent` and `expect_leaf`: the caller names no message. (None names something: no message at all.)"""

Place = MessageLike | str


def id_of(place: Place) -> str:
    """The id of the message that is named. Raises InvalidIdError."""
    if isinstance(place, str):
        return place
    if not isinstance(place, (Message, Mapping)):
        raise InvalidIdError("message", place, "name a message by its id, a Message or a dict")
    found = place.id if isinstance(place, Message) else place.get("id")
    if not isinstance(found, str) or not found:
        raise InvalidIdError("message", found, "a message without an id cannot be named")
    return found


def maybe_id(place: Place | None) -> str | None:
    """The same, where none may be named."""
    return None if place is None else id_of(place)


def named(place: Place | None) -> Named | None:
    """What `parent` or `expect_leaf` names; None where it is left out."""
    return None if place is ACTIVE else Named(maybe_id(place))


def storable(value: Any) -> Any:
    """Text that every engine can keep in a column: without NUL, lone surrogates replaced."""
    if isinstance(value, str):
        return value.replace("\0", "�").encode("utf-8", "replace").decode()
    return value
