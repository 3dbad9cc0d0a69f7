"""Compaction by several processes on one file, and by processes that are killed: one summary, whole or not there."""

from __future__ import annotations

import itertools
import random
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import glassine
from glassine import Compactor, SessionSpec, user

PROGRAM = textwrap.dedent(
    """
    import sys, time
    import glassine

    path, what = sys.argv[1:]

    def tell(line):
        sys.stdout.write(line + "\\n")
        sys.stdout.flush()

    def summarize(prompt):
        tell("asked")
        if what == "hang":
            time.sleep(60)
        elif what == "race":
            time.sleep(0.3)
        return f"what happened in {len(prompt.messages)} messages"

    compactor = glassine.Compactor(summarize, 1, 30, 1)
    spec = glassine.SessionSpec().with_compaction(compactor, after=300 if what == "append" else None)
    with glassine.open(path) as store:
        session = store.session("s", spec)
        session.info()
        tell("ready")
        sys.stdin.readline()
        if what == "append":
            number = 0
            while True:
                session.append(glassine.user(f"message number {number}"))
                tell(str(number))
                number += 1
        tell(session.compact().code)
    """
)


@contextmanager
def process(path: Path, what: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(path), what], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "ready\n"
        try:
            yield running
        finally:
            running.kill()


def begin(running: subprocess.Popen[str]) -> None:
    assert running.stdin is not None
    running.stdin.write("\n")
    running.stdin.flush()


def fill(path: Path, messages: int = 40) -> None:
    with glassine.open(path) as store:
        store.session("s").append([user(f"message number {number}", id=f"m{number}") for number in range(messages)])


def test_of_two_processes_one_compacts(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    fill(path)
    with process(path, "race") as one, process(path, "race") as two:
        begin(one)
        begin(two)
        told = [process.communicate()[0].split() for process in (one, two)]
    assert sorted(lines[-1] for lines in told) in (["busy", "compacted"], ["compacted", "nothing_new"])
    assert sum("asked" in lines for lines in told) == 1
    with glassine.open(path) as store:
        assert len(store.session("s").compactions()) == 1


def test_a_crashed_holder_gives_up_its_lease(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    fill(path)
    with process(path, "hang") as running:
        begin(running)
        assert running.stdout is not None
        assert running.stdout.readline() == "asked\n"
        running.send_signal(signal.SIGKILL)
        running.wait()
    spec = SessionSpec().with_compaction(Compactor(lambda prompt: "what happened", 1, 30, 1))
    with glassine.open(path) as store:
        session = store.session("s", spec)
        assert session.overlays() == []
        assert len(session.history()) == 40
        assert session.verify().clean
        assert session.compact().code == "busy"
        assert session.events() == []
    later = datetime.now(UTC) + timedelta(minutes=4)
    with glassine.open(path, clock=lambda: later) as store:
        assert store.session("s", spec).compact().kind == "compacted"


def killed(path: Path, kills: int) -> None:
    """Kill a process that appends and compacts, again and again; whatever it was doing, nothing is half done."""
    acknowledged = 0
    chance = random.Random(1)
    for _ in range(kills):
        with process(path, "append") as running:
            begin(running)
            assert running.stdout is not None
            for _ in range(chance.randrange(5, 60)):
                acknowledged += running.stdout.readline() != "asked\n"
            running.send_signal(signal.SIGKILL)
            acknowledged += sum([line.strip().isdigit() for line in running.stdout])
        with glassine.open(path) as store:
            session = store.session("s")
            assert session.verify().clean
            raw = session.history(raw=True)
            assert acknowledged <= len(raw) <= acknowledged + 1
            acknowledged = len(raw)
            events = [event.data for event in session.events() if event.data["kind"] == "compacted"]
            overlays = session.compactions()
            assert [event["overlay"] for event in events] == [overlay.id for overlay in overlays]
            for overlay, later in itertools.pairwise(overlays):
                assert overlay.id in later.supersedes


def test_killed_in_the_middle(tmp_path: Path) -> None:
    with glassine.open(tmp_path / "a.db") as store:
        store.session("s").describe(title="killed")
    killed(tmp_path / "a.db", 4)


@pytest.mark.soak
def test_killed_often_in_the_middle(tmp_path: Path) -> None:
    with glassine.open(tmp_path / "a.db") as store:
        store.session("s").describe(title="killed")
    killed(tmp_path / "a.db", 60)
