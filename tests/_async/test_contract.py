"""The contract kit on the stores of this project, each check as a test of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

import glassine
from glassine.testing import CHECKS, StoreCheckError, check_store_async

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("name", CHECKS)
async def test_memory(name: str) -> None:
    await check_store_async(lambda: glassine.open_async(":memory:"), only=name)


@pytest.mark.parametrize("name", CHECKS)
async def test_file(name: str, tmp_path: Path) -> None:
    await check_store_async(lambda: glassine.open_async(tmp_path / "store.db"), only=name)


@pytest.mark.parametrize("name", CHECKS)
async def test_postgres(name: str, postgres_url: str) -> None:
    await check_store_async(lambda: glassine.open_async(postgres_url), only=name)


async def test_every_failure_is_named_and_none_hides_another() -> None:
    def stingy() -> glassine.AsyncStore:
        store = glassine.open_async(":memory:")
        store.was_deleted = store.info = None  # type: ignore[assignment]
        return store

    with pytest.raises(StoreCheckError) as caught:
        await check_store_async(stingy, only="owning.*")
    failed = ["owning.a_deleted_session_leaves_nothing", "owning.a_store_tells_what_it_holds"]
    assert list(caught.value.failures) == failed
    assert all(name in str(caught.value) for name in failed)
    assert isinstance(caught.value.__cause__, ExceptionGroup)
    assert caught.value.failures[failed[0]].__notes__ == [f"in check '{failed[0]}'"]


async def test_a_pattern_that_fits_no_check_is_an_error() -> None:
    with pytest.raises(ValueError, match="no check fits"):
        await check_store_async(lambda: glassine.open_async(":memory:"), only="appendig.*")
