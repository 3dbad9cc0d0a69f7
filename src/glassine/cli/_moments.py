"""Times as a person types them: a date, a time, or how long ago. Each function is the callback of an option.

2026-01-31, 2026-01-31T09:30 (of this computer's zone, unless it names one), 12h, 7d, 2w (so long ago).
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

import click

_AGO: Final = re.compile(r"(\d{1,6})([hdw])", re.ASCII)
_HOURS: Final = {"h": 1, "d": 24, "w": 24 * 7}


def from_then(_: click.Context, __: click.Parameter, text: str | None) -> datetime | None:
    """The moment; of a day alone, its first."""
    return None if text is None else _moment(text, days=0)


def before_then(_: click.Context, __: click.Parameter, text: str | None) -> datetime | None:
    """The moment; of a day alone its end, so that a range up to a day includes that day."""
    return None if text is None else _moment(text, days=1)


def _moment(text: str, days: int) -> datetime:
    try:
        if ago := _AGO.fullmatch(text):
            return datetime.now(UTC) - timedelta(hours=int(ago[1]) * _HOURS[ago[2]])
        try:
            day = date.fromisoformat(text)
        except ValueError:
            return datetime.fromisoformat(text).astimezone()
        return datetime.combine(day + timedelta(days=days), time()).astimezone()
    except (ValueError, OverflowError):
        raise click.BadParameter(f"{text!r} is no time; write 2026-01-31, 2026-01-31T09:30, 12h, 7d or 2w") from None
