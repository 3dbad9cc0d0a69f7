"""What the tests of a real Postgres share."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg

import glassine
from glassine._sync.postgres import PostgresDriver

IMAGE = "data:image/png;base64," + base64.b64encode(bytes(range(256)) * 8).decode()


def driver_of(store: glassine.Store) -> PostgresDriver:
    driver = store._engine._driver
    assert isinstance(driver, PostgresDriver)
    return driver


def picture(id: str) -> dict[str, Any]:
    return {"id": id, "role": "user", "parts": [{"type": "file", "mediaType": "image/png", "url": IMAGE}]}


def waits_for_a_lock(connection: psycopg.Connection) -> None:
    """Return as soon as somebody waits for what this connection holds."""
    pid = connection.info.backend_pid
    for _ in range(400):
        if connection.execute(
            "SELECT 1 FROM pg_stat_activity WHERE %s = ANY (pg_blocking_pids(pid))", (pid,)
        ).fetchall():
            return
        time.sleep(0.01)
    raise AssertionError("nobody waits")


def beside(action: Callable[[], Any]) -> Any:
    """Begin an action in a thread; the result is asked of what this returns."""
    pool = ThreadPoolExecutor(1)
    future = pool.submit(action)
    pool.shutdown(wait=False)
    return future.result


def locks_are_free(connection: psycopg.Connection) -> None:
    for _ in range(100):  # the server needs a moment to see that a client has gone
        try:
            assert connection.execute("SELECT 1 FROM session FOR UPDATE NOWAIT").fetchall()
        except psycopg.errors.LockNotAvailable:
            connection.rollback()
            time.sleep(0.02)
        else:
            connection.rollback()
            return
    raise AssertionError("a lock is still held")
