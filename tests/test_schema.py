"""Both roads to the schema, schema.sql and the migrations, lead to the same place; and every older file gets there."""

from pathlib import Path

import apsw
import pytest

import glassine
from glassine import _queries, _sqlite
from scripts import schema


def of_file(path: Path) -> str:
    connection = apsw.Connection(str(path))
    statements = [str(sql) for (sql,) in connection.execute(schema.STATEMENTS)]
    connection.close()
    return "\n\n".join(f"{sql};" for sql in statements) + "\n"


def test_schema_sql_is_what_the_migrations_make() -> None:
    assert schema.TARGET.read_text("utf-8") == schema.schema(), "run python scripts/schema.py"
    assert schema.main(["--check"]) == 0


def test_schema_sql_makes_the_same_database(tmp_path: Path) -> None:
    glassine.open(tmp_path / "store.db").close()
    assert schema.made_by([schema.TARGET.read_text("utf-8")]) == of_file(tmp_path / "store.db")


def test_a_new_file_is_marked_as_ours(tmp_path: Path) -> None:
    glassine.open(tmp_path / "store.db").close()
    connection = apsw.Connection(str(tmp_path / "store.db"))
    assert connection.execute("PRAGMA user_version").fetchall() == [(len(_sqlite.MIGRATIONS),)]
    assert connection.execute("PRAGMA application_id").fetchall() == [(_sqlite.APPLICATION_ID,)]
    assert connection.execute("PRAGMA journal_mode").fetchall() == [("wal",)]
    connection.close()


@pytest.mark.parametrize("version", range(1, len(_sqlite.MIGRATIONS)))
def test_an_older_file_is_brought_up_to_date(tmp_path: Path, version: int) -> None:
    path = tmp_path / "store.db"
    connection = apsw.Connection(str(path))
    for script in schema.migrations()[:version]:
        connection.execute(script)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.execute(f"PRAGMA application_id = {_sqlite.APPLICATION_ID}")
    connection.close()
    with glassine.open(path) as store:
        store.session("s").append(glassine.user("hello"))
        assert store.verify().clean
        assert store.info().schema_version == len(_sqlite.MIGRATIONS)
    glassine.open(tmp_path / "new.db").close()
    assert of_file(path) == of_file(tmp_path / "new.db")


def test_a_failed_migration_leaves_no_half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "store.db"
    real = _queries.read

    def broken(name: str) -> str:
        return real(name) + "CREATE TABLE namespace (again);" if "migrations" in name else real(name)

    monkeypatch.setattr(_queries, "read", broken)
    with pytest.raises(glassine.StoreError):
        glassine.open(path)
    monkeypatch.undo()
    with glassine.open(path) as store:
        store.session("s").append(glassine.user("hello"))
        assert store.verify().clean
