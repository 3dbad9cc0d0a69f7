"""Database URLs: what is passed on, what is shown, and which of it is ours."""

import pytest

from glassine.urls import Location, is_postgres, parse, without_secrets


@pytest.mark.parametrize("name", ["postgresql://h/d", "postgres://h/d", "postgresql:///d"])
def test_a_postgres_url_is_known(name: str) -> None:
    assert is_postgres(name)


@pytest.mark.parametrize(
    "name", ["agent.db", ":memory:", "/postgresql:/x", "postgresql.db", "sqlite://x", "Postgres.db"]
)
def test_anything_else_is_a_file(name: str) -> None:
    assert not is_postgres(name)
    assert without_secrets(name) == name


@pytest.mark.parametrize(
    ("url", "conninfo", "shown", "schema"),
    [
        ("postgresql://h/d", "postgresql://h/d", "postgresql://h/d", None),
        ("postgres://u:p@h:1/d", "postgres://u:p@h:1/d", "postgresql://u@h:1/d", None),
        ("postgresql://u:p@a:1,b:2/d?x=1", "postgresql://u:p@a:1,b:2/d?x=1", "postgresql://u@a:1,b:2/d?x=1", None),
        ("postgresql://u:a@b/c@h/d", "postgresql://u:a@b/c@h/d", "postgresql://u@h/d", None),
        (
            "postgresql:///d?host=/tmp&schema=my%20own&sslmode=require",
            "postgresql:///d?host=/tmp&sslmode=require",
            "postgresql:///d?host=/tmp&schema=my%20own&sslmode=require",
            "my own",
        ),
        ("postgresql://h/d?schema=", "postgresql://h/d", "postgresql://h/d?schema=", None),
        ("postgresql://h/d?schema=s", "postgresql://h/d", "postgresql://h/d?schema=s", "s"),
        ("postgresql://h/d?password=p&user=u", "postgresql://h/d?password=p&user=u", "postgresql://h/d?user=u", None),
        (
            "postgresql://h/d?pass%77ord=p&sslpassword=q",
            "postgresql://h/d?pass%77ord=p&sslpassword=q",
            "postgresql://h/d",
            None,
        ),
    ],
)
def test_a_url_is_taken_apart(url: str, conninfo: str, shown: str, schema: str | None) -> None:
    assert parse(url) == Location(conninfo, shown, schema)
    assert without_secrets(url) == shown
