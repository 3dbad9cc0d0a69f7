"""Shared by all tests."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import psycopg
import pytest

from tests import pg

# The same examples in every run, so that a change is judged by what it changes; `./dev soak` looks for new ones, and
# for more of them. No deadline: a machine may be busy with other things.
hypothesis.settings.register_profile("same", derandomize=True, deadline=None, max_examples=50)
hypothesis.settings.register_profile("explore", deadline=None)
hypothesis.settings.load_profile("same")


@pytest.fixture
def anyio_backend() -> str:
    """Asynchronous tests run on asyncio, the loop the stores are made for."""
    return "asyncio"


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a real Postgres, as its superuser. All workers of a run share it."""
    folder = tmp_path_factory.getbasetemp()
    with pg.shared(folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) as url:
        yield url


@pytest.fixture(scope="session")
def _schema(postgres: str) -> Iterator[tuple[psycopg.Connection, str]]:
    """A connection, and the name of this worker's schema, made by the first test that opens it."""
    name = f"test_{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        yield connection, name


@pytest.fixture
def postgres_url(postgres: str, _schema: tuple[psycopg.Connection, str]) -> Iterator[str]:
    """The URL of an empty store. Emptied afterwards, which is faster than making one."""
    connection, schema = _schema
    yield f"{postgres}&schema={schema}"
    pg.empty(connection, schema)


@pytest.fixture(params=["file", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """What names a database that others can open too: the path of a file, or the URL of a server."""
    return str(tmp_path / "g.db") if request.param == "file" else request.getfixturevalue("postgres_url")


_numbers = itertools.count()


@pytest.fixture
def fresh_schema(postgres: str) -> Iterator[str]:
    """The name of a schema that is not there; what is made of it is dropped afterwards."""
    name = f"fresh_{os.getpid()}_{next(_numbers)}"
    yield name
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f'DROP SCHEMA IF EXISTS "{name}" CASCADE')


@pytest.fixture
def other(postgres_url: str) -> Iterator[psycopg.Connection]:
    """Another client, with a transaction of its own in the schema of `postgres_url`."""
    schema = postgres_url.rpartition("=")[2]
    with psycopg.connect(postgres_url.partition("&")[0], options=f"-c search_path={schema}") as connection:
        yield connection
        connection.rollback()
