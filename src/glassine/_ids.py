"""The one rule for the ids that callers choose (messages, sessions, namespaces), the same on every store."""

from __future__ import annotations

from .errors import InvalidIdError

ID_LIMIT = 512
"""Bytes of UTF-8 an id may have: it stands in index keys."""

RESERVED_PREFIX = "compaction_"
"""Message ids with this prefix name the summary messages that a view makes; nobody else may use it."""


def check_id(kind: str, value: object) -> str:
    """Return `value` if it can be an id, else raise InvalidIdError.

    Ids are compared character by character. Blank and padded ones are refused rather than trimmed: stores
    disagree about padding, and an id that is silently changed can no longer be found.
    """
    if (
        type(value) is str
        and value.isascii()
        and value.isprintable()
        and 0 < len(value) <= ID_LIMIT
        and (value[0] != " " != value[-1])
    ):
        return value
    if not isinstance(value, str):
        raise InvalidIdError(kind, value, f"must be text, not {type(value).__name__}")
    if not value.strip():
        raise InvalidIdError(kind, value, "must not be blank")
    if value != value.strip():
        raise InvalidIdError(kind, value, "must not begin or end with white space")
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        raise InvalidIdError(kind, value, "must not contain a lone surrogate") from None
    if size > ID_LIMIT:
        raise InvalidIdError(kind, value, f"has {size} bytes; at most {ID_LIMIT}", limit=ID_LIMIT)
    if any(ch < " " or ch == "\x7f" for ch in value):
        raise InvalidIdError(kind, value, "must not contain control characters")
    return str(value)


def is_id(value: object) -> bool:
    """Whether `value` can be an id."""
    try:
        check_id("message", value)
    except InvalidIdError:
        return False
    return True
