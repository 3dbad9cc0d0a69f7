"""Where the tables of a Postgres store stand, who may make them, and how they are brought up to date."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from click.testing import CliRunner

import glassine
from glassine import (
    NotADatabaseError,
    SchemaVersionError,
    StoreBusyError,
    StoreError,
    StorePermissionError,
    _postgres,
    _queries,
    user,
)
from glassine.cli import main

SQL = Path(_queries.__file__).parent / "sql"
# What the catalogs say of a schema; constraints stand among the indexes.
CATALOG = """
    SELECT c.relname, c.relkind::text, c.reloptions::text, a.attname, format_type(a.atttypid, a.atttypmod),
        a.attnotnull, a.attcollation, a.attstorage::text, a.attidentity::text, pg_get_expr(d.adbin, d.adrelid)
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
    LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
    WHERE c.relnamespace = %s::regnamespace AND a.attnum > 0 ORDER BY 1, a.attnum
"""
INDEXES = "SELECT indexname, replace(indexdef, schemaname, '') FROM pg_indexes WHERE schemaname = %s ORDER BY 1"


def catalog(connection: psycopg.Connection, schema: str) -> list[tuple[object, ...]]:
    return [*connection.execute(CATALOG, (schema,)), *connection.execute(INDEXES, (schema,))]


@pytest.fixture
def admin(postgres: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(postgres, autocommit=True) as connection:
        yield connection


@pytest.fixture
def role(admin: psycopg.Connection, fresh_schema: str) -> Iterator[str]:
    """A role that may do nothing but connect."""
    name = f"role_{fresh_schema}"
    admin.execute(f"CREATE ROLE {name} LOGIN")
    yield name
    admin.execute(f"DROP SCHEMA IF EXISTS {fresh_schema} CASCADE")
    admin.execute(f"DROP OWNED BY {name} CASCADE; DROP ROLE {name}")


def as_role(url: str, role: str) -> str:
    return url.replace("postgres@", f"{role}:secret@")


# --- the schema -------------------------------------------------------------------------------------------------------


def test_schema_sql_is_what_the_migrations_make(admin: psycopg.Connection, postgres: str, fresh_schema: str) -> None:
    glassine.open(f"{postgres}&schema={fresh_schema}").close()
    made = catalog(admin, fresh_schema)
    assert len(made) > 150
    admin.execute(f"DROP SCHEMA {fresh_schema} CASCADE; CREATE SCHEMA {fresh_schema}")
    admin.execute(f"SET search_path = {fresh_schema}")
    admin.execute((SQL / "postgres" / "schema.sql").read_bytes())
    assert catalog(admin, fresh_schema) == made


def test_every_migration_is_listed() -> None:
    files = sorted(path.stem for path in (SQL / "postgres" / "migrations").iterdir())
    assert tuple(files) == _postgres.MIGRATIONS


def test_every_table_is_listed() -> None:
    schema = (SQL / "postgres" / "schema.sql").read_text()
    assert set(re.findall(r"^CREATE TABLE (\w+)", schema, re.MULTILINE)) == set(_postgres.TABLES)


def test_the_operations_find_their_statements_on_both_engines() -> None:
    names = set()
    for path in (Path(_queries.__file__).parent / "_async" / "ops").glob("*.py"):
        names |= set(re.findall(r"queries\.(\w+)", path.read_text()))
    assert len(names) > 80
    for engine in ("sqlite", "postgres"):
        assert names <= set(vars(_queries.load(engine))), engine


def test_every_statement_is_used() -> None:
    root = Path(_queries.__file__).parent
    code = "".join(path.read_text() for path in [*root.glob("_async/**/*.py"), root / "_postgres.py"])
    unused = {
        name
        for name in vars(_queries.load("postgres"))
        if not re.search(rf"queries(\(\w+\))?\.{name.removesuffix('_locked')}\b", code) and not name.startswith("wipe_")
    }
    assert unused == set()


@pytest.mark.parametrize("version", range(1, len(_postgres.MIGRATIONS)))
def test_an_older_schema_is_brought_up_to_date(
    admin: psycopg.Connection, postgres: str, fresh_schema: str, version: int
) -> None:
    admin.execute(f"CREATE SCHEMA {fresh_schema}; SET search_path = {fresh_schema}")
    for name in _postgres.MIGRATIONS[:version]:
        admin.execute(_queries.read(f"postgres/migrations/{name}.sql").encode())
    admin.execute("INSERT INTO meta VALUES ('schema', %s)", (version,))
    url = f"{postgres}&schema={fresh_schema}"
    with pytest.raises(SchemaVersionError) as caught:
        glassine.open(url, migrate=False)
    assert (caught.value.actual, caught.value.limit) == (version, len(_postgres.MIGRATIONS))
    assert "glassine migrate" in str(caught.value)
    with glassine.open(url) as store:
        store.session("s").append(user("hello", id="m1"))
        assert [hit.message_id for hit in store.search("hello")] == ["m1"]
        assert store.info().schema_version == len(_postgres.MIGRATIONS)


def test_a_newer_schema_is_refused(admin: psycopg.Connection, postgres: str, fresh_schema: str) -> None:
    url = f"{postgres}&schema={fresh_schema}"
    glassine.open(url).close()
    admin.execute(f"UPDATE {fresh_schema}.meta SET value = 999 WHERE name = 'schema'")
    with pytest.raises(SchemaVersionError, match="upgrade") as caught:
        glassine.open(url)
    assert caught.value.actual == 999


def test_a_failed_migration_leaves_nothing(
    admin: psycopg.Connection, postgres: str, fresh_schema: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = _queries.read
    monkeypatch.setattr(_queries, "read", lambda path: real(path) + ("CREATE TABLE meta ();" if "0002" in path else ""))
    with pytest.raises(StoreError):
        glassine.open(f"{postgres}&schema={fresh_schema}")
    monkeypatch.undo()
    assert catalog_is_empty(admin, fresh_schema)
    glassine.open(f"{postgres}&schema={fresh_schema}").close()


def catalog_is_empty(connection: psycopg.Connection, schema: str) -> bool:
    return not connection.execute("SELECT FROM pg_namespace WHERE nspname = %s", (schema,)).fetchall()


def test_a_schema_with_tables_of_others_is_refused(admin: psycopg.Connection, postgres: str, fresh_schema: str) -> None:
    admin.execute(f"CREATE SCHEMA {fresh_schema}; CREATE TABLE {fresh_schema}.session (id int)")
    with pytest.raises(NotADatabaseError, match=r"another program.*schema="):
        glassine.open(f"{postgres}&schema={fresh_schema}")
    with pytest.raises(NotADatabaseError):
        glassine.open(f"{postgres}&schema={fresh_schema}", migrate=False)


def test_the_search_path_of_the_role_is_honoured(
    admin: psycopg.Connection, postgres: str, fresh_schema: str, role: str
) -> None:
    admin.execute(
        f"CREATE SCHEMA {fresh_schema} AUTHORIZATION {role}; ALTER ROLE {role} SET search_path = {fresh_schema}"
    )
    with glassine.open(as_role(postgres, role)) as store:
        store.session("s").append(user("hello"))
    assert admin.execute(f"SELECT count(*) FROM {fresh_schema}.node").fetchone() == (1,)


def test_without_a_schema_of_its_own_a_role_gets_ours(
    admin: psycopg.Connection, postgres: str, fresh_schema: str
) -> None:
    admin.execute(f"CREATE DATABASE {fresh_schema} TEMPLATE template0")
    url = postgres.replace("/postgres?", f"/{fresh_schema}?")
    try:
        with glassine.open(url) as store:
            store.session("s").append(user("hello"))
        with psycopg.connect(url) as connection:
            found = connection.execute("SELECT DISTINCT schemaname FROM pg_tables WHERE tablename = 'node'").fetchall()
        assert found == [("glassine",)]
    finally:
        admin.execute(f"DROP DATABASE {fresh_schema} WITH (FORCE)")


def test_a_name_that_must_be_quoted(admin: psycopg.Connection, postgres: str) -> None:
    name = 'Größe "1"; --'
    try:
        with glassine.open(f"{postgres}&schema=Gr%C3%B6%C3%9Fe%20%221%22%3B%20--") as store:
            store.session("s").append(user("hello"))
            assert store.verify().clean
        assert not catalog_is_empty(admin, name)
    finally:
        admin.execute('DROP SCHEMA IF EXISTS "Größe ""1""; --" CASCADE')


def test_a_database_of_another_encoding_is_refused(admin: psycopg.Connection, postgres: str, fresh_schema: str) -> None:
    admin.execute(f"CREATE DATABASE {fresh_schema} TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE 'C'")
    try:
        with pytest.raises(StoreError, match=r"SQL_ASCII.*UTF8"):
            glassine.open(postgres.replace("/postgres?", f"/{fresh_schema}?"))
    finally:
        admin.execute(f"DROP DATABASE {fresh_schema} WITH (FORCE)")


# --- rights -----------------------------------------------------------------------------------------------------------


def test_a_role_that_may_not_create_tables(
    admin: psycopg.Connection, postgres: str, fresh_schema: str, role: str
) -> None:
    plain, limited = f"{postgres}&schema={fresh_schema}", as_role(f"{postgres}&schema={fresh_schema}", role)
    with pytest.raises(StorePermissionError, match=f"{role}.*glassine migrate") as caught:
        glassine.open(limited)
    assert "secret" not in str(caught.value)
    run = CliRunner().invoke(main, ["migrate", "--db", plain, "--json"], prog_name="glassine")
    assert json.loads(run.stdout) == {"database": plain, "from": 0, "to": len(_postgres.MIGRATIONS)}
    with pytest.raises(StorePermissionError, match="grant USAGE"):
        glassine.open(limited)
    admin.execute(f"GRANT USAGE ON SCHEMA {fresh_schema} TO {role}")
    admin.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {fresh_schema} TO {role}")
    with glassine.open(limited) as store:
        assert store.sessions() == []
        assert len(store.search("hello")) == 0
        with pytest.raises(StorePermissionError, match="permission denied"):
            store.session("s").append(user("hello"))
    admin.execute(f"GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {fresh_schema} TO {role}")
    admin.execute(f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA {fresh_schema} TO {role}")
    with glassine.open(limited) as store:
        store.session("s").append([user("hello", id="m1"), user("again")])
        store.session("s").redact("m1")
        store.reindex()
        assert len(store.search("again")) == 1
        assert store.verify().clean
        assert store.delete_session("s")


def test_migrate_says_what_it_did(postgres: str, fresh_schema: str, tmp_path: Path) -> None:
    newest = len(_postgres.MIGRATIONS)  # both engines count alike
    for place in (f"{postgres}&schema={fresh_schema}", str(tmp_path / "g.db")):
        for said in (f"schema version 0 → {newest}\n", f"schema version {newest}: nothing to do\n"):
            result = CliRunner().invoke(main, ["migrate", "--db", place], prog_name="glassine")
            assert (result.exit_code, result.stdout) == (0, said)


def test_reading_makes_no_tables(admin: psycopg.Connection, postgres: str, fresh_schema: str) -> None:
    url = f"{postgres.replace('postgres@', 'postgres:secret@')}&schema={fresh_schema}"
    for argv in (["sessions"], ["search", "x"], ["verify"], ["reindex"], ["info"]):
        result = CliRunner().invoke(main, ["--db", url, *argv], prog_name="glassine")
        assert result.exit_code == 3
        assert "no tables of glassine" in result.output
        assert "secret" not in result.output
    assert catalog_is_empty(admin, fresh_schema)


def test_migrations_take_turns(admin: psycopg.Connection, postgres: str, fresh_schema: str) -> None:
    url = f"{postgres}&schema={fresh_schema}"
    with psycopg.connect(postgres) as other, ThreadPoolExecutor(3) as pool:
        other.execute(_queries.load("postgres").migration_lock.replace("$1", "%s"), (fresh_schema,))
        opened = [pool.submit(glassine.open, url) for _ in range(3)]
        waiting = "SELECT count(*) FROM pg_stat_activity WHERE %s = ANY (pg_blocking_pids(pid))"
        while admin.execute(waiting, (other.info.backend_pid,)).fetchone() != (3,):
            assert not any(future.done() for future in opened)
            time.sleep(0.01)
        assert catalog_is_empty(admin, fresh_schema)
        with pytest.raises(StoreBusyError):
            glassine.open(url, busy_timeout=0.1)
        other.commit()
        for future in opened:
            future.result().close()


STARTING = """
import os, sys, glassine
children = []
for number in range(int(sys.argv[2])):
    if not (pid := os.fork()):
        code = 1
        try:
            with glassine.open(sys.argv[1], connections=1) as store:
                store.session("s").append(glassine.user(str(number)))
            code = 0
        finally:
            os._exit(code)
    children.append(pid)
print([os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children])
"""


@pytest.mark.parametrize("processes", [6, pytest.param(20, marks=pytest.mark.soak)])
def test_processes_start_at_once(postgres: str, fresh_schema: str, processes: int) -> None:
    url = f"{postgres}&schema={fresh_schema}"
    argv = [sys.executable, "-c", STARTING, url, str(processes)]
    said = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert json.loads(said.stdout) == [0] * processes, said.stderr
    with glassine.open(url) as store:
        assert store.session("s").path_length() == processes
        assert store.verify().clean
