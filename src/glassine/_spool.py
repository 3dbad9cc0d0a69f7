"""Rows on their way from one store to another: in memory while they are few, else in a file that has no name."""

from __future__ import annotations

import marshal
import tempfile
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self

IN_MEMORY = 16 * 1024 * 1024


class Spool:
    """Write pages, then read them as often as a transaction is tried. A context manager."""

    def __init__(self) -> None:
        # Closed by `__exit__`; what was written goes with it, also when the process is killed.
        self._file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def add(self, rows: list[tuple[Any, ...]]) -> None:
        """Plain values only: numbers, text, bytes, None, tuples and lists of these."""
        data = marshal.dumps(rows)
        self._file.write(len(data).to_bytes(8, "big"))
        self._file.write(data)

    def __iter__(self) -> Iterator[Any]:
        """All rows from the first on."""
        self._file.seek(0)
        while size := self._file.read(8):
            yield from marshal.loads(self._file.read(int.from_bytes(size, "big")))
