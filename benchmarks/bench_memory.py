"""What reading the end of a long history takes in memory, above the same read by hand."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from ._corpus import stored
from ._measure import Figure, quick

LONG = 100_000
MIB = 1024 * 1024


def run() -> list[Figure]:
    """Differences of medians over processes that ran in turn, in MiB."""
    path = stored(LONG)
    taken: dict[str, list[dict[str, Any]]] = {"glassine": [], "apsw": []}
    for _ in range(3 if quick() else 7):
        for how, found in taken.items():
            found.append(measured(how, path))
    figures = []
    for field, what in (("heap", "peak of allocations"), ("resident", "peak of resident set")):
        ours, floor = ([one[field] for one in taken[how]] for how in ("glassine", "apsw"))
        if None not in ours:
            low, _, high = statistics.quantiles([(a - b) / MIB for a, b in zip(ours, floor, strict=True)], n=4)
            more = (statistics.median(ours) - statistics.median(floor)) / MIB
            figures.append(Figure(f"open, recent(20) of 100,000: {what} above apsw", more, 1.0, low, high, unit="MiB"))
    return figures


def measured(how: str, path: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks._bare", how, str(path)]
    found: dict[str, Any] = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    return found
