"""What only an asynchronous store can do: be cancelled, be awaited, and be shared by many tasks and loops."""

from __future__ import annotations

import asyncio
import contextlib
import random
from pathlib import Path
from typing import Any

import apsw
import pytest

import glassine

pytestmark = pytest.mark.anyio


def say(id: str) -> dict[str, Any]:
    return {"id": id, "role": "user", "parts": [{"type": "text", "text": id}]}


@pytest.mark.parametrize("url", [":memory:", "file"])
async def test_a_cancelled_append_is_whole_or_not_there(url: str, tmp_path: Path) -> None:
    random_ = random.Random(7)
    async with glassine.open_async(tmp_path / "store.db" if url == "file" else url) as store:
        session = store.session("s")
        cancelled = 0
        for number in range(300):
            task = asyncio.ensure_future(session.append([say(f"{number}-{piece}") for piece in range(3)]))
            for _ in range(random_.randrange(4)):
                await asyncio.sleep(0)
            if random_.random() < 0.2:
                await asyncio.sleep(0.0003)
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
            cancelled += task.cancelled()
            if number % 10 == 0:
                await session.append(say(f"sure-{number}"))
        ids = [message.id for message in await session.history()]
        assert cancelled > 50
        assert len(ids) == len(set(ids))
        stored = {id.partition("-")[0] for id in ids if not id.startswith("sure")}
        for batch in stored:
            start = ids.index(f"{batch}-0")
            assert ids[start : start + 3] == [f"{batch}-{piece}" for piece in range(3)]
        assert {f"sure-{number}" for number in range(0, 300, 10)} <= set(ids)
        assert (await store.verify()).clean


async def test_a_call_that_is_cancelled_while_it_waits_is_not_begun(tmp_path: Path) -> None:
    async with glassine.open_async(tmp_path / "store.db") as store:
        session = store.session("s")
        await session.append(say("m0"))
        holder = apsw.Connection(str(tmp_path / "store.db"))
        holder.execute("BEGIN IMMEDIATE")
        first = asyncio.ensure_future(session.append(say("m1")))
        await asyncio.sleep(0.02)  # its thread has begun, and waits for the lock
        second = asyncio.ensure_future(session.append(say("m2")))
        third = asyncio.ensure_future(session.append(say("m3")))
        await asyncio.sleep(0.02)
        second.cancel()
        first.cancel()
        await asyncio.wait([first, second])
        assert [message.id for message in await session.history()] == ["m0"]  # readers do not wait
        holder.execute("ROLLBACK")
        await third
        # The first was under way: it was committed, though nobody was told. The second never began.
        assert [message.id for message in await session.history()] == ["m0", "m1", "m3"]


async def test_a_retry_after_a_cancellation_stores_nothing_twice() -> None:
    async with glassine.open_async(":memory:") as store:
        session = store.session("s")
        for number in range(100):
            message = say(f"m{number}")
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(session.append(message), timeout=0.00005)
            await session.append(message)
        assert [message.id for message in await session.history()] == [f"m{number}" for number in range(100)]


async def test_a_store_opens_when_it_is_entered_awaited_or_used(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    used = glassine.open_async(path)
    assert not path.exists()
    await used.session("s").append(say("m1"))
    await used.close()
    awaited = await glassine.open_async(path)
    assert len(await awaited.session("s").history()) == 1
    await awaited.close()
    async with glassine.open_async(path) as entered:
        assert len(await entered.session("s").history()) == 1


async def test_what_is_wrong_with_a_file_shows_when_it_is_opened(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("a letter " * 1000)
    with pytest.raises(glassine.NotADatabaseError):
        async with glassine.open_async(tmp_path / "letter.txt"):
            raise AssertionError("it opened")
    store = glassine.open_async(tmp_path / "nowhere" / "store.db")
    for _ in range(2):
        with pytest.raises(glassine.StoreError, match="nowhere"):
            await store.ready()
    await store.close()


async def test_a_closed_store_says_so(tmp_path: Path) -> None:
    for url in (":memory:", tmp_path / "store.db"):
        store = glassine.open_async(url)
        session = store.session("s")
        await session.append(say("m1"))
        await store.close()
        await store.close()
        for call in (session.history, store.info, store.verify, session.clear):
            with pytest.raises(glassine.StoreClosedError):
                await call()


async def test_closing_waits_for_what_was_begun(tmp_path: Path) -> None:
    store = glassine.open_async(tmp_path / "store.db")
    session = store.session("s")
    tasks = [asyncio.ensure_future(session.append(say(f"m{number}"))) for number in range(50)]
    await asyncio.sleep(0)
    await store.close()
    await asyncio.gather(*tasks)
    with glassine.open(tmp_path / "store.db") as again:
        assert len(again.session("s").history()) == 50


async def test_many_readers_at_once(tmp_path: Path) -> None:
    async with glassine.open_async(tmp_path / "store.db") as store:
        session = store.session("s")
        await session.append([say(f"m{number}") for number in range(300)])
        found = await asyncio.gather(*(session.history() for _ in range(30)), session.append(say("x")))
        assert {len(history) for history in found[:-1] if isinstance(history, list)} <= {300, 301}
        assert len(await session.history()) == 301


@pytest.mark.parametrize("url", [":memory:", "file"])
def test_one_store_in_one_loop_after_the_other(url: str, tmp_path: Path) -> None:
    store = glassine.open_async(tmp_path / "store.db" if url == "file" else url)
    session = store.session("s")

    async def add(number: int) -> int:
        await session.append(say(f"m{number}"))
        return len(await session.history())

    assert [asyncio.run(add(number)) for number in range(3)] == [1, 2, 3]
    asyncio.run(store.close())


def test_a_loop_that_ends_in_the_middle_of_a_write_loses_the_answer_only(tmp_path: Path) -> None:
    store = glassine.open_async(tmp_path / "store.db")
    session = store.session("s")

    async def leave() -> None:
        await session.append(say("m0"))
        tasks = [asyncio.ensure_future(session.append(say(f"m{number}"))) for number in range(1, 4)]
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()

    async def look() -> list[str]:
        await session.append(say("last"))
        ids = [message.id for message in await session.history()]
        assert (await store.verify()).clean
        await store.close()
        return ids

    asyncio.run(leave())
    ids = asyncio.run(look())
    assert ids[0] == "m0"
    assert ids[-1] == "last"
