"""Times: as the wire shape writes them, and as the database keeps them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from .errors import InvalidError, InvalidMessageError

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def parse_time(value: Any, message_id: str | None = None) -> datetime:
    """An aware datetime from ISO 8601 text with an offset. Raises InvalidMessageError for anything else."""
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            moment = None
        if moment is not None and moment.tzinfo is not None:
            return moment
    raise InvalidMessageError(
        f"createdAt {value!r} is not an ISO 8601 time with an offset, such as 2026-01-31T12:00:00Z",
        message_id=message_id,
        path=("createdAt",),
    )


def to_iso(moment: datetime) -> str:
    """`moment` in UTC as ISO 8601 with a `Z`. Raises InvalidMessageError for a time without a zone."""
    if moment.tzinfo is None:
        raise InvalidMessageError("a time without a zone is ambiguous; use datetime.now(UTC)", path=("createdAt",))
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def to_micros(moment: datetime) -> int:
    """Microseconds since 1970 in UTC, exactly (a float of seconds would round). Raises InvalidError without a zone."""
    if moment.tzinfo is None:
        raise InvalidError("a time without a zone is ambiguous; use datetime.now(UTC)")
    return (moment - EPOCH) // timedelta(microseconds=1)


def from_micros(micros: int) -> datetime:
    """The aware datetime of `to_micros`."""
    return EPOCH + timedelta(microseconds=micros)
