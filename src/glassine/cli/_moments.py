"""Times as a person types them: a date, a time, or how long ago."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final

import click

_AGO: Final = re.compile(r"(\d{1,6})\s*([hdw])", re.ASCII)
_HOURS: Final = {"h": 1, "d": 24, "w": 24 * 7}


class Moment(click.ParamType):
    """2026-01-31, 2026-01-31T09:30 (of this computer's zone, unless it names one), 12h, 7d, 2w (so long ago).

    A day alone means its first moment; with `whole_days` its end, so that a range up to a day includes that day.
    """

    name = "when"

    def __init__(self, *, whole_days: bool = False) -> None:
        self._whole_days = whole_days

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        text = str(value).strip()
        try:
            if ago := _AGO.fullmatch(text):
                return datetime.now(UTC) - timedelta(hours=int(ago[1]) * _HOURS[ago[2]])
            return self._absolute(text)
        except (ValueError, OverflowError):
            self.fail(f"{value!r} is no time; write 2026-01-31, 2026-01-31T09:30, 12h, 7d or 2w", param, ctx)

    def _absolute(self, text: str) -> datetime:
        try:
            day = date.fromisoformat(text)
        except ValueError:
            return datetime.fromisoformat(text).astimezone()
        return datetime.combine(day + timedelta(days=self._whole_days), time()).astimezone()
