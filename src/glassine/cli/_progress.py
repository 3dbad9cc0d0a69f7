"""A bar or a sign of life for what takes longer than a second: on stderr, and only where a person looks."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID
    from rich.status import Status

PATIENCE = 1.0
"""Seconds before the bar appears."""


class Progress:
    """Tell it how far the work is with `update(done, total)`; it decides whether anybody needs to see it."""

    def __init__(self, title: str) -> None:
        self.title = title
        self._started = time.monotonic()
        self._bar: Bar | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def update(self, done: int, total: int) -> None:
        if self._bar is None and sys.stderr.isatty() and time.monotonic() - self._started > PATIENCE:
            self._show()
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=done, total=total)

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task(self.title)
        self._bar.start()


class Waiting:
    """A sign of life while one long call is waited for, of which nobody knows how far it is."""

    def __init__(self, title: str) -> None:
        self.title = title
        self._status: Status | None = None
        self._timer = threading.Timer(PATIENCE, self._show)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        if self._timer.is_alive():
            self._timer.join()  # it may be showing the sign just now
        if self._status is not None:
            self._status.stop()

    def _show(self) -> None:
        from rich.console import Console

        self._status = Console(stderr=True).status(self.title)
        self._status.start()
