"""Run in processes of its own by bench_postgres: one client of many, which appends when it is told to.

    python -m benchmarks._clients URL SCHEMA SESSIONS SEED

Reads lines `glassine SECONDS` or `psycopg SECONDS`, and answers each with how many messages it appended.
"""

from __future__ import annotations

import itertools
import random
import sys
import time
from collections.abc import Callable

import glassine

from . import _floor_postgres
from ._corpus import Wire, names, wires


def main(url: str, schema: str, sessions: int, seed: int) -> None:
    chance = random.Random(seed)
    chosen = names(sessions)
    ready = itertools.cycle([(wire["role"], wire["parts"]) for wire in wires(500)])
    numbers = itertools.count()
    with glassine.open(f"{url}&schema={schema}") as store, _floor_postgres.connect(url, schema) as connection:
        sides: dict[str, Callable[[str, Wire], object]] = {
            "glassine": lambda name, wire: store.session(name).append(wire),
            "psycopg": _floor_postgres.appender(connection),
        }
        print("ready", flush=True)
        for line in sys.stdin:
            how, seconds = line.split()
            append, done, end = sides[how], 0, time.monotonic() + float(seconds)
            while time.monotonic() < end:
                role, parts = next(ready)
                append(chance.choice(chosen), {"id": f"{seed}-{next(numbers)}", "role": role, "parts": parts})
                done += 1
            print(done, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
