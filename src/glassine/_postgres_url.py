"""Reading a Postgres URL, without the driver: what is ours in it, and what may be shown."""

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
    return _SCHEME.match(url) is not None


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
