"""Run in a process of its own by bench_memory: read the newest messages of a database, and say what that took.

    python -m benchmarks._bare glassine|apsw DATABASE

Prints JSON: `heap`, the peak of Python's and SQLite's allocations in bytes, and `resident`, by how many bytes the
peak of the resident set rose above where it stood before (null where the system does not tell).
"""

from __future__ import annotations

import json
import re
import sys
import tracemalloc
from contextlib import closing
from pathlib import Path

import apsw
import msgspec

import glassine

from . import _floor
from ._corpus import SESSION

NEWEST = 20


def with_glassine(path: Path) -> int:
    with glassine.open(path) as store:
        return len([message.parts for message in store.session(SESSION).recent(NEWEST)])


def with_apsw(path: Path) -> int:
    with closing(_floor.connect(path)) as connection:
        return len(_floor.read(connection, msgspec.json.decode, NEWEST))


def resident(field: str) -> int | None:
    """A field of the process's memory in bytes: VmRSS is the resident set, VmHWM its peak."""
    try:
        found = re.search(rf"^{field}:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    except OSError:
        return None
    return int(found[1]) * 1024 if found else None


def main(how: str, path: Path) -> None:
    # What is imported at first use is no part of the read.
    with glassine.open(":memory:") as store:
        store.session("warm").append(glassine.user("warm"))
        assert store.session("warm").recent(1)
    work = with_glassine if how == "glassine" else with_apsw
    if sys.platform == "linux":
        Path("/proc/self/clear_refs").write_text("5")  # sets the peak to where the resident set stands now
    before = resident("VmRSS")
    assert work(path) == NEWEST
    peak = resident("VmHWM")
    # A second time for the allocations, as counting them takes memory of its own.
    apsw.memory_high_water(True)
    floor = apsw.memory_used()
    tracemalloc.start()
    assert work(path) == NEWEST
    heap = tracemalloc.get_traced_memory()[1] + apsw.memory_high_water() - floor
    risen = None if before is None or peak is None else peak - before
    print(json.dumps({"heap": heap, "resident": risen}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
