"""Many processes on one file, and processes that are killed: nothing acknowledged is lost, nothing is doubled."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

import glassine

pytestmark = pytest.mark.soak

KILLS = 200

WRITER = textwrap.dedent(
    """
    import sys
    import glassine

    path, name = sys.argv[1:]
    with glassine.open(path) as store:
        session = store.session("s")
        number = 0
        while True:
            pair = [
                {"id": f"{name}-{number}-call", "role": "assistant", "parts": [{"type": "text", "text": "x" * 3000}]},
                {"id": f"{name}-{number}-result", "role": "tool", "parts": [{"type": "text", "text": "結果" * 500}]},
            ]
            session.append(pair)
            sys.stdout.write(f"{number}\\n")
            sys.stdout.flush()
            number += 1
    """
)

RACER = textwrap.dedent(
    """
    import sys, time
    import glassine

    path, name, seconds = sys.argv[1:]
    with glassine.open(path) as store:
        session = store.session("s")
        sys.stdout.write("ready\\n")
        sys.stdout.flush()
        sys.stdin.readline()
        end = time.monotonic() + float(seconds)
        number = 0
        while time.monotonic() < end:
            session.append([
                {"id": f"{name}-{number}-call", "role": "assistant", "parts": []},
                {"id": f"{name}-{number}-result", "role": "tool", "parts": []},
            ])
            number += 1
        print(number)
    """
)


def check_chain(path: Path, written: dict[str, int], *, at_most: int = 0) -> None:
    """One chain, each writer's pairs in order and whole, all that was acknowledged; at most so many beyond that."""
    with glassine.open(path) as store:
        session = store.session("s")
        check = store.verify()
        assert check.clean, check.problems
        ids = [message.id for message in session.iter_history()]
        assert len(ids) == len(set(ids)) == session.info().messages
        for call, result in zip(ids[::2], ids[1::2], strict=True):
            assert result == call.replace("call", "result"), "a pair was parted"
        for name, count in written.items():
            mine = [int(id.split("-")[1]) for id in ids[::2] if id.startswith(f"{name}-")]
            assert mine == list(range(len(mine)))
            assert count <= len(mine) <= count + at_most, f"{name}: acknowledged {count}, stored {len(mine)}"


def test_kill_in_the_middle_of_appends(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    written: dict[str, int] = {}
    for round_ in range(KILLS):
        name = f"w{round_}"
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path), name], stdout=subprocess.PIPE, text=True)
        assert writer.stdout is not None
        # Each round is killed after another number of appends, and at another moment of one.
        for _ in range(1 + round_ % 7):
            assert writer.stdout.readline()
        time.sleep((round_ % 13) * 0.0007)
        writer.send_signal(signal.SIGKILL)
        acknowledged = 1 + round_ % 7 + len(writer.stdout.readlines())
        assert writer.wait() == -signal.SIGKILL
        writer.stdout.close()
        written[name] = acknowledged
        if round_ % 20 == 0:
            check_chain(path, {name: acknowledged}, at_most=1)
    check_chain(path, written, at_most=1)
    assert len(written) == KILLS


def race(path: Path, names: Sequence[str], seconds: float) -> dict[str, int]:
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, str(path), name, str(seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in names
    ]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    counts = {}
    for name, racer in zip(names, racers, strict=True):
        output, _ = racer.communicate(timeout=120)
        assert racer.returncode == 0
        counts[name] = int(output)
    return counts


@pytest.mark.parametrize("writers", [2, 8])
def test_processes_append_to_one_session(tmp_path: Path, writers: int) -> None:
    counts = race(tmp_path / "store.db", [f"p{number}" for number in range(writers)], 8.0)
    check_chain(tmp_path / "store.db", counts)
    share = sum(counts.values()) / writers
    assert min(counts.values()) >= share / 2, f"a writer was starved: {sorted(counts.values())}"


def test_threads_append_to_one_session(tmp_path: Path) -> None:
    counts = {f"t{number}": 0 for number in range(8)}
    failures: list[BaseException] = []
    with glassine.open(tmp_path / "store.db") as store:
        end = time.monotonic() + 5

        def work(name: str) -> None:
            try:
                while time.monotonic() < end:
                    number = counts[name]
                    store.session("s").append(
                        [
                            {"id": f"{name}-{number}-call", "role": "assistant", "parts": []},
                            {"id": f"{name}-{number}-result", "role": "tool", "parts": []},
                        ]
                    )
                    counts[name] += 1
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(name,)) for name in counts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failures == []
    check_chain(tmp_path / "store.db", counts)
    assert min(counts.values()) >= sum(counts.values()) / len(counts) / 2


def test_readers_see_whole_states_while_writers_write(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with glassine.open(path) as store:
        session = store.session("s")
        session.append({"id": "root", "role": "user", "parts": []})
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path), "w"], stdout=subprocess.DEVNULL)
        try:
            end = time.monotonic() + 5
            seen = 0
            while time.monotonic() < end:
                ids = [message.id for message in session.history()]
                assert len(ids) % 2 == 1, "half a batch was seen"
                assert len(ids) >= seen, "a later read saw less"
                seen = len(ids)
                recent = session.recent(3)
                assert len(recent) == min(3, recent.total_messages)
        finally:
            writer.kill()
            writer.wait()
        assert seen > 3
        assert store.verify().clean


def test_a_process_that_stands_still_in_a_history_stops_no_writer(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with glassine.open(path) as store:
        session = store.session("s")
        session.append([{"id": f"m{number}", "role": "user", "parts": []} for number in range(2000)])
        code = """
            import sys
            import glassine

            store = glassine.open(sys.argv[1])
            reading = store.session("s").iter_history()
            print(next(reading).id, flush=True)
            sys.stdin.readline()
            print(1 + sum(1 for _ in reading), flush=True)
        """
        reader = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(code), str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert reader.stdout is not None
        assert reader.stdout.readline() == "m0\n"
        os.kill(reader.pid, signal.SIGSTOP)
        start = time.monotonic()
        for number in range(200):
            session.append({"id": f"n{number}", "role": "user", "parts": []})
        session.redact("m7")  # empties the log, which a reader in a transaction would prevent
        assert time.monotonic() - start < 5
        assert not (tmp_path / "store.db-wal").stat().st_size
        os.kill(reader.pid, signal.SIGCONT)
        output, _ = reader.communicate("go\n", timeout=30)
        assert output == "2000\n"
