"""What names a database: a Postgres URL taken apart, without its driver, and what of a name may be shown."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import unquote

_SCHEME = re.compile(r"postgres(?:ql)?://")
_SECRETS = ("password", "sslpassword", "oauth_client_secret")


class Location(NamedTuple):
    """`conninfo` is what libpq is given, `shown` the URL without secrets. `schema` is None when the URL names none."""

    conninfo: str
    shown: str
    schema: str | None


def is_postgres(url: str) -> bool:
    """Whether this is the URL of a Postgres database, and not the path of a file."""
    return _SCHEME.match(url) is not None


def without_secrets(url: str) -> str:
    """The path, or the URL without the passwords in it."""
    return parse(url).shown if is_postgres(url) else url


def parse(url: str) -> Location:
    """Take a URL of libpq's form apart. `schema=` among its parameters is ours; it names where the tables are."""
    base, _, query = url.partition("?")
    pairs = [pair for pair in query.split("&") if pair]
    schema = next((unquote(pair.partition("=")[2]) for pair in pairs if pair.startswith("schema=")), None)
    passed = [pair for pair in pairs if not pair.startswith("schema=")]
    shown = [pair for pair in pairs if unquote(pair.partition("=")[0]).lower() not in _SECRETS]
    # Up to the last @, as a password that was not escaped may hold one, or a slash.
    user, at, host = base[base.index("://") + 3 :].rpartition("@")
    name = user.partition(":")[0]
    return Location(_joined(base, passed), _joined(f"postgresql://{name}{at}{host}", shown), schema or None)


def _joined(base: str, pairs: list[str]) -> str:
    return f"{base}?{'&'.join(pairs)}" if pairs else base
