"""What `import glassine` costs a program that has imported nothing else."""

from __future__ import annotations

import statistics
import subprocess
import sys

from ._measure import Figure, quick

# The façade loads its modules when something of them is asked for, so the second row says what a first program pays.
TIMED = {
    "import glassine, CPU / 100 ms": ("import glassine", 1.0),
    "import glassine, open and user, CPU / 100 ms": ("from glassine import open, user", None),
}
LIMIT = 0.1


def run() -> list[Figure]:
    """The best of several processes, in CPU time, as a share of 100 ms: the only figures here with a fixed measure."""
    return [_figure(name, statement, bar) for name, (statement, bar) in TIMED.items()]


def _figure(name: str, statement: str, bar: float | None) -> Figure:
    timed = f"import time; start = time.process_time(); {statement}; print(time.process_time() - start)"
    runs = [
        float(subprocess.run([sys.executable, "-c", timed], capture_output=True, check=True, text=True).stdout)
        for _ in range(5 if quick() else 15)
    ]
    low, _, high = (share / LIMIT for share in statistics.quantiles(runs, n=4))
    return Figure(name, min(runs) / LIMIT, bar, low, high)
