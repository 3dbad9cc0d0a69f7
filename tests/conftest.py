"""Shared by all tests."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """Asynchronous tests run on asyncio, the loop the stores are made for."""
    return "asyncio"
