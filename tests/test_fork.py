"""After fork(): a child opens a file anew, a memory or asynchronous store refuses, and the parent goes on unharmed.

Each case is a script of its own, as a fork of a process with threads is another matter.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="this system cannot fork")

PREAMBLE = """
import gc, multiprocessing, os, sys, warnings
import glassine

def say(id):
    return {"id": id, "role": "user", "parts": [{"type": "text", "text": id}]}

def in_child(work):
    pid = os.fork()
    if pid == 0:
        try:
            work()
            os._exit(0)
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
            os._exit(1)
    return pid

def wait(pid):
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert code == 0, f"the child ended with {code}"

path = sys.argv[1]
"""


def run(tmp_path: Path, code: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PREAMBLE + textwrap.dedent(code), str(tmp_path / "store.db")],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr


def test_a_child_writes_to_the_file_through_the_store_it_inherited(tmp_path: Path) -> None:
    run(
        tmp_path,
        """
        store = glassine.open(path)
        session = store.session("s")
        session.append(say("before"))
        assert len(session.history()) == 1  # a reader is open too

        def work():
            assert session.history()[0].id == "before"
            for number in range(50):
                session.append(say(f"child-{number}"))
            assert store.verify().clean
            store.close()

        pid = in_child(work)
        for number in range(50):
            session.append(say(f"parent-{number}"))
        wait(pid)
        ids = [m.id for m in session.history()]
        assert len(ids) == len(set(ids)) == 101, len(ids)
        for who in ("child", "parent"):
            assert [id for id in ids if id.startswith(who)] == [f"{who}-{number}" for number in range(50)]
        assert store.verify().clean
        store.close()
        assert os.listdir(os.path.dirname(path)) == ["store.db"]
        """,
    )


def test_multiprocessing_by_fork(tmp_path: Path) -> None:
    run(
        tmp_path,
        """
        store = glassine.open(path)
        session = store.session("s")
        session.append(say("before"))
        context = multiprocessing.get_context("fork")

        def work(name):
            for number in range(20):
                session.append(say(f"{name}-{number}"))

        children = [context.Process(target=work, args=(f"child{number}",)) for number in range(3)]
        for child in children:
            child.start()
        for number in range(20):
            session.append(say(f"parent-{number}"))
        for child in children:
            child.join()
            assert child.exitcode == 0
        assert len(session.history()) == 81
        assert store.verify().clean
        """,
    )


def test_a_child_that_leaves_the_store_alone_does_no_harm(tmp_path: Path) -> None:
    # Neither its garbage collection nor its end as an interpreter may touch the parent's locks or log.
    run(
        tmp_path,
        """
        store = glassine.open(path)
        session = store.session("s")
        session.append(say("m0"))
        session.history()
        for number in range(1, 6):
            pid = os.fork()
            if pid == 0:
                if number % 2:
                    del session, store
                    gc.collect()
                if number == 4:
                    store.close()
                sys.exit(0)  # an orderly end, unlike os._exit
            session.append(say(f"m{number}"))
            wait(pid)
            session.append(say(f"n{number}"))
            other = glassine.open(path)
            other.session("s").append(say(f"o{number}"))
            assert len(session.history()) == 1 + 3 * number
            other.close()
        assert store.verify().clean
        """,
    )


def test_a_grandchild_and_a_fork_in_the_middle_of_a_history(tmp_path: Path) -> None:
    run(
        tmp_path,
        """
        store = glassine.open(path)
        session = store.session("s")
        session.append([say(f"m{number}") for number in range(600)])
        reading = session.iter_history()
        first = next(reading).id

        def grandchild():
            session.append(say("grandchild"))

        def child():
            assert [m.id for m in reading] == [f"m{number}" for number in range(1, 600)]
            session.append(say("child"))
            wait(in_child(grandchild))

        wait(in_child(child))
        assert [m.id for m in reading] == [f"m{number}" for number in range(1, 600)]
        assert [m.id for m in session.recent(2)] == ["child", "grandchild"]
        """,
    )


def test_a_memory_store_refuses_in_the_child(tmp_path: Path) -> None:
    run(
        tmp_path,
        """
        store = glassine.open(":memory:")
        session = store.session("s")
        session.append(say("m0"))

        def work():
            for call in (session.history, store.info, lambda: session.append(say("m1"))):
                try:
                    call()
                except glassine.ForkedStoreError as error:
                    assert error.location == ":memory:"
                else:
                    raise AssertionError("no error")
            store.close()

        wait(in_child(work))
        session.append(say("m1"))
        assert len(session.history()) == 2
        """,
    )


@pytest.mark.parametrize("url", ["path", "':memory:'"])
def test_an_asynchronous_store_refuses_in_the_child(tmp_path: Path, url: str) -> None:
    run(
        tmp_path,
        f"""
        import asyncio

        async def main():
            async with glassine.open_async({url}) as store:
                session = store.session("s")
                await session.append(say("m0"))
                await session.history()
                pid = os.fork()
                if pid == 0:
                    try:
                        for call in (session.history, store.info, lambda: session.append(say("m1"))):
                            try:
                                await call()
                            except glassine.ForkedStoreError:
                                continue
                            os._exit(2)
                        await store.close()
                        os._exit(0)
                    except BaseException as error:
                        print(repr(error), file=sys.stderr, flush=True)
                        os._exit(1)
                await session.append(say("m1"))
                wait(pid)
                assert len(await session.history()) == 2
                assert (await store.verify()).clean

        warnings.simplefilter("ignore")  # newer Pythons warn of forks in processes with threads
        asyncio.run(main())
        """,
    )


def test_a_closed_store_stays_closed_in_the_child(tmp_path: Path) -> None:
    run(
        tmp_path,
        """
        store = glassine.open(path)
        store.close()

        def work():
            try:
                store.info()
            except glassine.StoreClosedError:
                return
            raise AssertionError("no error")

        wait(in_child(work))
        """,
    )
