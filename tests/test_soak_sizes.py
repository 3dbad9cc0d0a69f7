"""Long histories and huge messages, beyond what every test run should wait for."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import glassine

pytestmark = pytest.mark.soak


def say(id: str, text: str = "") -> dict[str, Any]:
    return {"id": id, "role": "user", "parts": [{"type": "text", "text": text}]}


def test_a_path_has_no_maximum_length(tmp_path: Path) -> None:
    names = [f"m{number}" for number in range(100_050)]
    with glassine.open(tmp_path / "store.db") as store:
        session = store.session("s")
        for start in range(0, len(names), 5000):
            session.append([say(id) for id in names[start : start + 5000]])
        assert [message.id for message in session.history()] == names
        assert [message.id for message in session.iter_history(newest_first=True)] == names[::-1]
        assert session.path_length() == len(names)
        # A branch off the middle of it, deletions in the middle, and a summary over nearly all.
        session.append(say("x"), parent="m50000")
        assert len(session.history()) == 50_002
        session.switch(names[-1])
        assert session.delete(names[1000:1100]) == 100
        assert len(session.history()) == len(names) - 100
        session.add_compaction("summary", names[0], names[-50])
        assert len(session.history()) == 50
        assert store.verify().clean


def test_many_messages_of_200_kilobytes(tmp_path: Path) -> None:
    with glassine.open(tmp_path / "store.db") as store:
        session = store.session("s")
        for number in range(500):
            session.append(say(f"m{number}", f"{number} " * 50_000))
    with glassine.open(tmp_path / "store.db") as store:
        session = store.session("s")
        assert len(session.recent(max_bytes=1_010_000)) == 5  # each a little over 200,000
        count = 0
        for message in session.iter_history():
            assert message.text.startswith(f"{count} ")
            count += 1
        assert count == 500


@pytest.mark.parametrize("letter", ["x", "山", "\ud800"])
def test_a_tool_result_of_50_megabytes(tmp_path: Path, letter: str) -> None:
    output = letter * (50_000_000 // len(letter.encode("utf-8", "surrogatepass")))
    part = {"type": "tool-result", "toolCallId": "t", "toolName": "look", "output": {"text": output, "rows": [output]}}
    wire = {"id": "m1", "role": "tool", "parts": [part]}
    with glassine.open(tmp_path / "store.db") as store:
        session = store.session("s")
        session.append(wire)
        session.append(say("m2"))
        found = session.message("m1")
        assert found is not None
        assert found.to_dict() == wire
        assert len(session.history()) == 2
        assert store.verify().clean
        session.append(wire)  # again is the same again
        session.redact("m1")
        assert store.verify().clean


def test_threads_open_a_new_file_at_once(tmp_path: Path) -> None:
    for round_ in range(60):
        path = tmp_path / f"{round_}.db"
        barrier = threading.Barrier(8)

        def work(number: int, path: Path = path, barrier: threading.Barrier = barrier) -> None:
            barrier.wait()
            with glassine.open(path) as store:
                store.session("s").append([say(f"{number}-call"), say(f"{number}-result")])

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(8)))
        with glassine.open(path) as store:
            assert len(store.session("s").history()) == 16
            assert store.verify().clean
