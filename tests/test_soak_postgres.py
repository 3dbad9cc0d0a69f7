"""A Postgres that fails in the middle of appends: nothing acknowledged is lost, nothing is doubled, all go on.

The server of these tests writes its log to the disk before it answers, unlike that of the other tests.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

import glassine
from glassine import StoreBusyError, StoreFullError, StoreUnavailableError, user
from tests import pg

pytestmark = pytest.mark.soak

WRITER = textwrap.dedent(
    """
    import sys, threading
    import glassine

    url, name, colour = sys.argv[1:]
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()

    def pair(number):
        return [
            {"id": f"{name}-{number}-call", "role": "assistant", "parts": [{"type": "text", "text": "x" * 3000}]},
            {"id": f"{name}-{number}-result", "role": "tool", "parts": [{"type": "text", "text": "結果" * 500}]},
        ]

    def write():
        with glassine.open(url, durability="full", connections=1) as store:
            number = 0
            while not ended.is_set():
                store.session("shared" if number % 2 else name).append(pair(number))
                number += 1
                print(number, flush=True)

    async def write_async():
        async with glassine.open_async(url, durability="full", connections=1) as store:
            number = 0
            while not ended.is_set():
                await store.session("shared" if number % 2 else name).append(pair(number))
                number += 1
                print(number, flush=True)

    if colour == "sync":
        write()
    else:
        import asyncio
        asyncio.run(write_async())
    """
)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[pg.Server]:
    # Invariant: what is acknowledged must survive a crash, so that the server may not cheat.
    careful = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}
    monkeypatch.setattr(pg, "SETTINGS", {**pg.SETTINGS, **careful})
    with pg.server() as made:
        yield made


class Writers:
    """Processes that append pairs, by turns to a session that all share and to one of their own."""

    def __init__(self, url: str, count: int) -> None:
        self.counts: dict[str, int] = {}
        self.running: dict[str, subprocess.Popen[str]] = {}
        for number in range(count):
            name = f"w{number}"
            command = [sys.executable, "-c", WRITER, url, name, "sync" if number % 2 else "async"]
            pipes = subprocess.PIPE
            self.running[name] = subprocess.Popen(command, stdin=pipes, stdout=pipes, stderr=pipes, text=True)
        self._readers = [threading.Thread(target=self._read, args=pair) for pair in self.running.items()]
        for reader in self._readers:
            reader.start()

    def _read(self, name: str, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            self.counts[name] = int(line)

    def all_write(self, more: int) -> None:
        """Return when each has written so many more."""
        goals = {name: self.counts.get(name, 0) + more for name in self.running}
        end = time.monotonic() + 60
        while any(self.counts.get(name, 0) < goal for name, goal in goals.items()):
            stopped = {
                name: process.stderr.read()
                for name, process in self.running.items()
                if process.poll() is not None
                if process.stderr
            }
            assert not stopped, stopped
            assert time.monotonic() < end, f"writers stand still: {self.counts}, and should be at {goals}"
            time.sleep(0.01)

    def finish(self) -> dict[str, int]:
        for process in self.running.values():
            assert process.stdin is not None
            process.stdin.close()
        for reader in self._readers:
            reader.join(60)
        for name, process in self.running.items():
            assert process.stderr is not None
            said = process.stderr.read()
            assert process.wait(60) == 0, f"{name}: {said}"
            process.stderr.close()
            assert process.stdout is not None
            process.stdout.close()
        return self.counts

    def kill(self) -> None:
        for process in self.running.values():
            if process.poll() is None:
                process.kill()


@pytest.fixture
def writers(server: pg.Server) -> Iterator[Writers]:
    glassine.open(server.url).close()
    made = Writers(server.url, 4)
    yield made
    made.kill()


def check(url: str, counts: dict[str, int]) -> None:
    """Each writer's pairs are there, in order and whole, not one more or less; each session is one chain."""
    with glassine.open(url) as store:
        verified = store.verify()
        assert verified.clean, verified.problems
        shared = chain(store.session("shared"))
        for name, count in counts.items():
            assert chain(store.session(name)) == [f"{name}-{number}" for number in range(0, count, 2)]
            mine = [pair for pair in shared if pair.startswith(f"{name}-")]
            assert mine == [f"{name}-{number}" for number in range(1, count, 2)]
        assert len(shared) == sum(count // 2 for count in counts.values())


def chain(session: glassine.Session) -> list[str]:
    ids = [message.id for message in session.iter_history()]
    info = session.info()
    assert info is not None
    assert len(ids) == len(set(ids)) == info.messages
    pairs = [id.removesuffix("-call") for id in ids[::2]]
    assert ids == [f"{pair}-{half}" for pair in pairs for half in ("call", "result")], "a pair was parted"
    return pairs


def test_a_server_that_is_killed_and_started_again(server: pg.Server, writers: Writers) -> None:
    for _ in range(4):
        writers.all_write(5)
        kill(server)
        time.sleep(0.3)
        server.start()
    writers.all_write(5)
    check(server.url, writers.finish())


def kill(server: pg.Server) -> None:
    """No process of the server has time for anything: as when the machine goes down, but for what the kernel holds."""
    assert server._process is not None
    children = Path(f"/proc/{server._process.pid}/task/{server._process.pid}/children").read_text().split()
    for pid in [server._process.pid, *map(int, children)]:
        os.kill(pid, signal.SIGKILL)
    server._process.wait(30)
    (server.data / "postmaster.pid").unlink()


def test_a_server_that_shuts_down_and_comes_back(server: pg.Server, writers: Writers) -> None:
    for how in (signal.SIGINT, signal.SIGQUIT):
        writers.all_write(5)
        server.stop(how)
        server.start()
    writers.all_write(5)
    check(server.url, writers.finish())


def test_connections_that_are_cut(server: pg.Server, writers: Writers) -> None:
    cut = 0
    with psycopg.connect(server.url, autocommit=True) as admin:
        for _ in range(30):
            writers.all_write(2)
            found = admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
            ).fetchall()
            cut += len(found)
    assert cut > 60
    check(server.url, writers.finish())


def test_a_session_whose_row_is_held_by_another_client(server: pg.Server, writers: Writers) -> None:
    writers.all_write(3)
    with psycopg.connect(server.url, options="-c search_path=glassine") as other:
        other.execute("SELECT 1 FROM session WHERE id = 'shared' FOR UPDATE")
        with glassine.open(server.url, busy_timeout=0.3) as hasty:
            began = time.monotonic()
            with pytest.raises(StoreBusyError, match="nothing was written"):
                hasty.session("shared").append(user("no", id="no"))
            assert 0.3 <= time.monotonic() - began < 3
            assert hasty.session("shared").message("no") is None
            hasty.session("free").append(user("yes"))
        other.rollback()
    writers.all_write(5)
    check(server.url, writers.finish())


def test_statements_that_take_too_long(server: pg.Server, writers: Writers) -> None:
    hasty = f"{server.url}&options=-cstatement_timeout%3D200"
    acknowledged: list[str] = []
    with psycopg.connect(server.url, options="-c search_path=glassine") as other, glassine.open(hasty) as store:
        for number in range(12):
            message = user(str(number), id=f"m{number}")
            if number % 3:
                store.session("hasty").append(message)
                acknowledged.append(message.id)
            else:
                other.execute("LOCK TABLE body IN SHARE MODE")  # met in the middle of the append
                with pytest.raises(StoreBusyError, match="statement timeout"):
                    store.session("hasty").append(message)
                other.rollback()
        assert [message.id for message in store.session("hasty").history()] == acknowledged
    writers.all_write(3)
    check(server.url, writers.finish())


def test_two_connections_that_name_no_parent(server: pg.Server) -> None:
    def write(name: str) -> None:
        with glassine.open(server.url, durability="full") as store:
            for number in range(50):
                store.session("s").append(user("x", id=f"{name}{number}"))

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(write, "ab"))
    with glassine.open(server.url) as store:
        ids = [message.id for message in store.session("s").history()]
        assert len(ids) == 100
        assert [[id for id in ids if id[0] == name] for name in "ab"] == [[f"{n}{i}" for i in range(50)] for n in "ab"]
        assert [len(store.session("s").branches(id)) for id in ids] == [1] * 99 + [0]


@pytest.fixture
def small_disk(server: pg.Server) -> Iterator[Path]:
    """A file system of 24 MiB in memory, mounted where the tables of a store are put."""
    place = server.root / "disk"
    place.mkdir()
    size = ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(place)]
    mounted = subprocess.run(size, capture_output=True, text=True) if os.geteuid() == 0 else None
    if mounted is None or mounted.returncode:
        pytest.skip("a small file system can only be mounted by root: " + (mounted.stderr if mounted else "not root"))
    try:
        os.chown(place, pg.NOBODY, pg.NOBODY)
        yield place
        server.stop(signal.SIGQUIT)
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_full_disk(server: pg.Server, small_disk: Path) -> None:
    with psycopg.connect(server.url, autocommit=True) as admin:
        admin.execute(f"CREATE TABLESPACE small LOCATION '{small_disk}'")
        admin.execute("CREATE DATABASE small TABLESPACE small")
        admin.execute("ALTER SYSTEM SET checkpoint_timeout = '1h'")
    url = server.url.replace("/postgres?", "/small?")
    acknowledged: list[str] = []
    with glassine.open(url, durability="full") as store:
        session = store.session("s")
        refusal = None
        while refusal is None:
            id = f"m{len(acknowledged)}"
            try:
                session.append({"id": id, "role": "user", "parts": [{"type": "x", "data": os.urandom(30_000).hex()}]})
                acknowledged.append(id)
            except StoreFullError as error:
                refusal = error
        assert refusal.reason.endswith("nothing was written")
        assert isinstance(refusal.__cause__, psycopg.errors.DiskFull)
        assert len(acknowledged) > 20
        # Reading goes on, and so does writing, as soon as there is room.
        assert [message.id for message in session.iter_history()] == acknowledged
        subprocess.run(["mount", "-o", "remount,size=64m", str(small_disk)], check=True)
        session.append(user("there is room again", id="last"))
        assert [message.id for message in session.iter_history()] == [*acknowledged, "last"]
        assert store.verify().clean


def test_a_server_that_does_not_come_back(server: pg.Server) -> None:
    with glassine.open(server.url, busy_timeout=1) as store:
        store.session("s").append(user("x", id="m1"))
        kill(server)
        began = time.monotonic()
        with pytest.raises(StoreUnavailableError):
            store.session("s").append(user("y", id="m2"))
        assert 1 <= time.monotonic() - began < 10
        server.start()
        store.session("s").append(user("y", id="m2"))
        assert [message.id for message in store.session("s").history()] == ["m1", "m2"]
        assert store.verify().clean
