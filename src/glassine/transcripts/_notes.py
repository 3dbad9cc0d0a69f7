"""The tally kept while a transcript is read; it becomes the Report."""

from __future__ import annotations

from dataclasses import replace

from ._values import Problem, Report

__all__ = ["Notes"]


class Notes:
    """Counters and problems of one file."""

    __slots__ = ("_problems", "duplicates", "events", "lines", "merged", "messages", "objects", "summaries")

    def __init__(self) -> None:
        self.lines = self.objects = self.messages = self.merged = 0
        self.summaries = self.events = self.duplicates = 0
        self._problems: dict[tuple[str, str], Problem] = {}

    def problem(self, line: int, code: str, detail: str = "", *, group: str | None = None) -> None:
        """Note a problem. One with the same code and detail (or `group`) as before only raises the count of that."""
        key = (code, detail if group is None else group)
        known = self._problems.get(key)
        self._problems[key] = Problem(line, code, detail) if known is None else replace(known, count=known.count + 1)

    def report(self) -> Report:
        return Report(
            lines=self.lines,
            objects=self.objects,
            messages=self.messages,
            merged=self.merged,
            summaries=self.summaries,
            events=self.events,
            duplicates=self.duplicates,
            problems=tuple(sorted(self._problems.values(), key=lambda problem: problem.line)),
        )
