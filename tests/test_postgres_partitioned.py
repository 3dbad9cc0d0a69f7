"""The partitioned form of a Postgres store: `sql/postgres/partitioned.sql`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import psycopg
import pytest

import glassine
from glassine import _postgres, _queries, user
from glassine.testing import check_store

SCRIPT = _queries.read("postgres/partitioned.sql").encode()
WHOLE = {"meta", "namespace"}
COLUMNS = """
    SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attcollation,
        a.attstorage::text, a.attidentity::text, pg_get_expr(d.adbin, d.adrelid)
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
    LEFT JOIN pg_attrdef d ON (adrelid, adnum) = (c.oid, attnum)
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
        AND a.attnum > 0 ORDER BY c.relname, a.attnum
"""
INDEXES = """
    SELECT c.relname, replace(pg_get_indexdef(c.oid), ' ON ONLY ', ' ON ') FROM pg_class c
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('i', 'I') AND NOT c.relispartition
    ORDER BY 1
"""
RIGHTS = """
    SELECT c.relname, r.grantee::regrole::text, r.privilege_type
    FROM pg_class c, aclexplode(coalesce(c.relacl, acldefault('r', c.relowner))) r
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    ORDER BY 1, 2, 3
"""


@pytest.fixture
def url(postgres: str, fresh_schema: str) -> str:
    return f"{postgres}&schema={fresh_schema}"


@pytest.fixture
def admin(postgres: str, fresh_schema: str) -> Iterator[psycopg.Connection]:
    """A connection as it must be for the script."""
    options = f"-c search_path={fresh_schema} -c glassine.partitions=4 -c client_min_messages=warning"
    with psycopg.connect(postgres, autocommit=True, options=options) as connection:
        yield connection


def test_the_contract_holds(url: str, admin: psycopg.Connection) -> None:
    glassine.open(url).close()
    admin.execute(SCRIPT)
    numbers = itertools.count()
    # Those that meet every table; what a value looks like makes no difference to a partition.
    for theme in ("appending", "placing", "changing", "summarising", "searching", "owning", "beside", "remembering"):
        check_store(lambda: glassine.open(url, migrate=False, namespace=f"n{next(numbers)}"), only=f"{theme}.*")
    check_store(lambda: glassine.open(url, migrate=False, namespace=f"n{next(numbers)}"), only="entries.*")
    used = {
        table: admin.execute(f"SELECT count(DISTINCT tableoid) FROM {table}").fetchone()
        for table in ("session", "node", "body", "words", "strand")
    }
    assert used == dict.fromkeys(used, (4,))


def test_what_was_stored_stays_and_nothing_else_differs(url: str, admin: psycopg.Connection, fresh_schema: str) -> None:
    with glassine.open(url) as store:
        for number in range(20):
            store.session(f"s{number}").append([user(f"harbour 港 {number}", id="m1"), user("x" * 300_000, id="m2")])
        store.session("s0").delete("m2")
        store.delete_session("s1")
        reader = f"reader_{fresh_schema}"
        admin.execute(f"CREATE ROLE {reader}")
        try:
            admin.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {fresh_schema} TO {reader}")
            before = [admin.execute(statement).fetchall() for statement in (COLUMNS, INDEXES, RIGHTS)]
            size = store.info().bytes
            histories = {info.id: store.session(info.id).history() for info in store.sessions()}
            admin.execute(SCRIPT)
            after = [admin.execute(statement).fetchall() for statement in (COLUMNS, INDEXES, RIGHTS)]
        finally:
            admin.execute(f"DROP OWNED BY {reader}; DROP ROLE {reader}")
        assert after == before
        # The same store goes on: what it has prepared is prepared anew.
        assert {info.id: store.session(info.id).history() for info in store.sessions()} == histories
        assert len(histories) == 19
        assert store.info().bytes > size / 2
        assert store.was_deleted("s1")
        assert len(store.search("港", limit=50)) == 19
        store.session("s2").append(user("one more"))
        assert store.session("s2").path_length() == 3
        assert store.verify().clean
    kinds: dict[str, str] = dict(
        admin.execute(
            "SELECT relname, relkind::text FROM pg_class WHERE relnamespace = current_schema()::regnamespace "
            "AND relkind IN ('r', 'p') AND NOT relispartition"
        ).fetchall()
    )
    assert kinds == {table: "r" if table in WHOLE else "p" for table in _postgres.TABLES}


def test_a_statement_meets_one_partition(url: str, admin: psycopg.Connection) -> None:
    glassine.open(url).close()
    admin.execute(SCRIPT)
    admin.execute("SET plan_cache_mode = force_custom_plan")
    statements = {
        name: getattr(_postgres.queries(False), name)
        for name in ("session_head", "node_find", "body_get", "strand_parent", "blob_get", "event_list", "usage_list")
    }
    statements["words"] = "SELECT seq FROM words WHERE ns = $1 AND words @@ $2::text::tsquery"
    for name, statement in statements.items():
        values = ["1", "'2'", *["'3'"] * ("$3" in statement)]
        admin.execute(f"PREPARE asked AS {statement}".encode())
        plan = [line for (line,) in admin.execute(f"EXPLAIN EXECUTE asked ({', '.join(values)})".encode())]
        admin.execute("DEALLOCATE asked")
        scans = [line for line in plan if "Scan" in line and " on " in line and "Bitmap Index" not in line]
        assert len(scans) == 1, (name, plan)


def test_it_refuses_what_it_cannot_turn(url: str, admin: psycopg.Connection, fresh_schema: str) -> None:
    with pytest.raises(psycopg.errors.RaiseException, match="glassine migrate"):
        admin.execute(SCRIPT)
    glassine.open(url).close()
    for count in ("0", "1025"):
        admin.execute(f"SET glassine.partitions = {count}".encode())
        with pytest.raises(psycopg.errors.RaiseException, match=f"not {count}"):
            admin.execute(SCRIPT)
    admin.execute("RESET glassine.partitions")
    admin.execute(SCRIPT)
    with pytest.raises(psycopg.errors.RaiseException, match="already"):
        admin.execute(SCRIPT)
