"""The conversations that are measured: made up, and the same in every run.

Their sizes are like those in real transcripts of coding agents (median some 250 bytes, a few kilobytes at the top),
a quarter of them Japanese, with tool calls and results in every round.
"""

from __future__ import annotations

import atexit
import itertools
import os
import random
import shutil
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import glassine

from ._vocabulary import english, japanese

Wire = dict[str, Any]

SESSION = "chat"


def fresh_id() -> str:
    """A random id, as long as those that a store makes."""
    return os.urandom(16).hex()


def wires(count: int) -> Iterator[Wire]:
    """`count` messages in the wire shape, each with an id of its own. Equal counts give equal contents."""
    for role, parts in itertools.islice(itertools.cycle(contents()), count):
        yield {"id": fresh_id(), "role": role, "parts": parts}


@cache
def contents() -> list[tuple[str, list[Wire]]]:
    source = random.Random(7)
    return [_content(source, step % 4) for step in range(4000)]


def chunks(count: int, size: int) -> Iterator[list[Wire]]:
    """`count` messages in lists of at most `size`."""
    source = wires(count)
    while batch := list(itertools.islice(source, size)):
        yield batch


@cache
def workdir() -> Path:
    """A folder for the databases of this run; it goes when the process ends."""
    path = tempfile.mkdtemp(prefix="glassine-bench-")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return Path(path)


def stored(messages: int, sessions: int = 1) -> Path:
    """A database of `sessions` sessions (`chat`, or `chat-0`, `chat-1`, …) with `messages` messages each."""
    path = workdir() / f"stored-{messages}-{sessions}.db"
    if path.exists():
        return path
    with glassine.open(path) as store:
        for name in names(sessions):
            session = store.session(name)
            for batch in chunks(messages, 1000):
                session.append(batch)
    return path


def names(sessions: int) -> list[str]:
    return [SESSION] if sessions == 1 else [f"{SESSION}-{number}" for number in range(sessions)]


def copy(path: Path, name: str) -> Path:
    """A copy of a closed database, to be written to."""
    return Path(shutil.copyfile(path, workdir() / f"{name}.db"))


def _content(source: random.Random, step: int) -> tuple[str, list[Wire]]:
    if step == 0:
        return "user", [{"type": "text", "text": _text(source, 30)}]
    if step == 1:
        call = {"type": "tool-call", "toolCallId": f"call_{source.randrange(10**12)}", "toolName": "run"}
        return "assistant", [
            {"type": "text", "text": _text(source, 20)},
            {**call, "input": {"command": _text(source, 8), "timeout": source.randrange(1000), "quiet": True}},
        ]
    if step == 2:
        result = {"type": "tool-result", "toolCallId": f"call_{source.randrange(10**12)}", "toolName": "run"}
        lines = [_text(source, 12) for _ in range(int(source.lognormvariate(1.5, 0.9)))]
        return "tool", [{**result, "output": {"exitCode": 0, "stdout": "\n".join(lines)}}]
    return "assistant", [{"type": "text", "text": _text(source, 60)}]


def _text(source: random.Random, words: int) -> str:
    count = 1 + int(words * source.lognormvariate(0, 0.6))
    return japanese(source, 1 + count // 4) if source.random() < 0.25 else english(source, count)
