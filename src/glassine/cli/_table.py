"""Tables as wide as the terminal: one column gives way, and what is too long is cut."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.text import Text

NARROW = 90
"""Below so many columns there is room only for the date."""
STYLES = dict.fromkeys(("id", "key", "label", "number"), "yellow") | dict.fromkeys(
    ("laid", "updated", "when", "written"), "dim"
)


def table(
    rows: Sequence[Mapping[str, str]], width: int, *, flexible: str, right: Collection[str] = ()
) -> Iterator[Text]:
    """The lines of a table with a head, whose column `flexible` takes what room the others leave.

    The first column takes at most half of the width. Cells are texts of one line.
    """
    from rich.cells import cell_len
    from rich.text import Text

    from ._messages import fit

    columns = [name for name in rows[0] if name == flexible or any(row[name] for row in rows)]
    widths = {name: max(len(name), *(cell_len(row[name]) for row in rows)) for name in columns}
    widths[columns[0]] = min(widths[columns[0]], width // 2)
    room = width - sum(widths[name] + 2 for name in columns if name != flexible)
    widths[flexible] = min(widths[flexible], max(room, len(flexible)))
    for number, row in enumerate([{name: name for name in columns}, *rows]):
        text = Text()
        for name in columns:
            cell = fit(row[name], widths[name])
            gap = " " * (widths[name] - cell_len(cell))
            text.append(f"{gap}{cell}" if name in right else f"{cell}{gap}", "bold" if not number else STYLES.get(name))
            text.append("  ")
        text.rstrip()
        yield text


def moment(when: datetime | None, width: int) -> str:
    """A time in a table of this width, local; empty where it is not known."""
    return "" if when is None else f"{when.astimezone():{'%Y-%m-%d' if width < NARROW else '%Y-%m-%d %H:%M'}}"
