"""Writing to stdout and stderr. JSON is never mixed with anything; text is as wide as the terminal."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NoReturn

import click

from ._errors import leave_broken_pipe
from ._text import escape_json, line

if TYPE_CHECKING:
    from rich.console import Console

PIPED_WIDTH = 100
NARROWEST = 40


def print_json(value: Any, *, indent: int | None = 2) -> None:
    """One JSON value; non-ASCII text as it is, but nothing that could act on a terminal."""
    click.echo(escape_json(json.dumps(value, ensure_ascii=False, indent=indent)).encode())


def print_json_lines(values: Iterable[Any]) -> None:
    """One JSON value a line."""
    for value in values:
        print_json(value, indent=None)


def note(text: str) -> None:
    """A remark for the person at the terminal; stdout stays for results."""
    click.echo(f"glassine: {line(text)}", err=True)


def iso(moment: datetime | None) -> str | None:
    """A time in JSON: UTC, ISO 8601 with Z."""
    return None if moment is None else moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def screen() -> Console:
    """The terminal, or whatever stdout is: 100 columns wide when nobody says otherwise."""
    # Not at the top: rich takes longer to import than JSON output takes as a whole.
    from rich.console import Console
    from rich.text import Text

    class Screen(Console):
        def on_broken_pipe(self) -> NoReturn:
            leave_broken_pipe()

        def print(self, *objects: Any, **options: Any) -> None:
            # What has no style needs no renderer, which is slow where a conversation has 100,000 lines.
            if self.color_system is None and not self.is_terminal:
                self.file.write("".join(item.plain if isinstance(item, Text) else item for item in objects) + "\n")
            else:
                super().print(*objects, **options)

    if (sys.stdout.encoding or "").lower().replace("-", "") != "utf8" and hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")
    return Screen(file=sys.stdout, width=_width(), highlight=False, markup=False, emoji=False, soft_wrap=True)


def _width() -> int:
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        width = int(columns)
    else:
        width = shutil.get_terminal_size((PIPED_WIDTH, 24)).columns if sys.stdout.isatty() else PIPED_WIDTH
    return max(width, NARROWEST)
