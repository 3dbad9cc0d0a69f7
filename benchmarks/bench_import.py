"""What `import glassine` costs a program that has imported nothing else."""

from __future__ import annotations

import statistics
import subprocess
import sys

from ._measure import Figure, quick

# With the names of a first program: what the façade loads late would be no gain if it were only not measured.
TIMED = "import time; start = time.process_time(); from glassine import open, user; print(time.process_time() - start)"
LIMIT = 0.1


def run() -> list[Figure]:
    """The best of several processes, in CPU time, as a share of 100 ms: the only figure here with a fixed measure."""
    command = [sys.executable, "-c", TIMED]
    runs = [
        float(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
        for _ in range(5 if quick() else 15)
    ]
    low, _, high = (share / LIMIT for share in statistics.quantiles(runs, n=4))
    return [Figure("import glassine, open and user, CPU / 100 ms", min(runs) / LIMIT, 1.0, low, high)]
