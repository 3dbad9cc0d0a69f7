"""What both colours of the Postgres engine share: its options, what they mean in SQL, and what its errors mean."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal, NamedTuple

import psycopg
from psycopg import errors as raised
from psycopg.conninfo import conninfo_to_dict
from psycopg.types.numeric import Int8BinaryDumper

from . import _queries
from ._queries import Queries
from .errors import (
    StoreBusyError,
    StoreError,
    StoreFullError,
    StorePermissionError,
    StoreReadOnlyError,
    StoreUnavailableError,
)
from .urls import Location

MIGRATIONS = ("0001_tree", "0002_search", "0003_copied", "0004_context", "0005_entries", "0006_calibration")
PREPARE = 3
"""A statement is prepared on the server when a connection has run it so often: planning costs as much as running."""
OWN_SCHEMA = "glassine"
"""Where the tables are when neither the URL nor the search path of the role names a schema."""
TABLES = (
    *("meta", "namespace", "session", "strand", "node", "body", "external", "spill", "blob", "overlay", "tombstone"),
    *("event", "usage", "quarantine", "words", "copied", "block", "prompt", "lease"),
    *("entry", "entry_body", "entry_words"),
)
# Of a host that is gone without a word, TCP would take hours to tell.
_CONNECTING = {
    "connect_timeout": "10",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "fallback_application_name": "glassine",
    "client_encoding": "UTF8",
}


class PostgresOptions(NamedTuple):
    """How a store is opened. `busy_timeout` is in seconds; `connections` is how many there are at most."""

    location: Location
    durability: Literal["normal", "full"]
    busy_timeout: float
    connections: int
    migrate: bool


def connecting(options: PostgresOptions) -> dict[str, Any]:
    """The parameters of a connection. What the URL says goes before what is usual here."""
    try:
        given = conninfo_to_dict(options.location.conninfo)
    except psycopg.ProgrammingError:
        # Without a cause: libpq quotes what it cannot read, and that may be the password.
        raise StoreError("libpq cannot read this URL", location=options.location.shown) from None
    return {**_CONNECTING, **given, "autocommit": True, "prepare_threshold": None}


def settle(connection: psycopg.Connection[Any] | psycopg.AsyncConnection[Any], pid: int) -> None:
    """Make a new connection ours. `pid` is the process that the server says it talks to us with."""
    # Every number of the same type, or a statement would be prepared again for each mixture of sizes.
    connection.adapters.register_dumper(int, Int8BinaryDumper)
    # Invariant: statements are prepared only where nobody stands in between. A pooler invents the process it tells of
    # when a client connects, and hands what was prepared, under names that others use too, to whoever comes next.
    if connection.info.backend_pid == pid:
        connection.prepare_threshold = PREPARE


class Transactions(NamedTuple):
    """How transactions begin. All that they rely on is set for them alone, as a pooler may sit in between.

    One that writes reads what was committed last: it holds the row of its session first, and so sees all that
    earlier writers did. One that reads sees one state of the database throughout.
    """

    write: str
    read: str


def transactions(options: PostgresOptions, schema: str) -> Transactions:
    # Without `pg_temp` at the end, somebody's temporary table would come before ours.
    settings = f"SET LOCAL search_path = {quoted(schema)}, pg_temp; SET LOCAL lock_timeout = {patience(options)}"
    full = "; SET LOCAL synchronous_commit = on" if options.durability == "full" else ""
    return Transactions(f"BEGIN; {settings}{full}", f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {settings}")


def patience(options: PostgresOptions) -> int:
    """`busy_timeout` in milliseconds; never 0, which is without end."""
    return max(1, round(options.busy_timeout * 1000))


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@cache
def queries(write: bool) -> Queries:
    """The statements; in a transaction that writes, those that lock stand in for those that only look."""
    found = vars(_queries.load("postgres"))
    locked = {name.removesuffix("_locked"): text for name, text in found.items() if name.endswith("_locked")}
    return Queries(**{**found, **(locked if write else {})})


_LOST = (
    *(raised.AdminShutdown, raised.CrashShutdown, raised.CannotConnectNow),
    # What was prepared is not there any more, or no longer fits the tables.
    *(raised.InvalidSqlStatementName, raised.DuplicatePreparedStatement, raised.FeatureNotSupported),
)


def is_lost(error: psycopg.Error) -> bool:
    """Whether the connection is gone, so that another one may do better."""
    if isinstance(error, _LOST):
        return True
    return isinstance(error, psycopg.OperationalError) and (error.sqlstate or "08").startswith("08")


def is_beaten(error: psycopg.Error) -> bool:
    """Whether the transaction lost against another one, and may be run again at once."""
    return isinstance(error, (raised.SerializationFailure, raised.DeadlockDetected))


def translated(error: psycopg.Error, location: str) -> StoreError:
    """The error of ours that one of the driver means."""
    text = (error.diag.message_primary or str(error)).strip()
    if isinstance(error, raised.LockNotAvailable):
        return StoreBusyError("another writer kept a lock too long; nothing was written", location=location)
    if isinstance(error, raised.QueryCanceled):
        return StoreBusyError(f"the server ended a statement: {text}; nothing was written", location=location)
    if is_beaten(error):
        return StoreBusyError("other writers got in the way again and again; nothing was written", location=location)
    if isinstance(error, (raised.DiskFull, raised.ConfigurationLimitExceeded)):
        return StoreFullError(f"the server has no space left ({text}); nothing was written", location=location)
    if isinstance(error, raised.ReadOnlySqlTransaction):
        return StoreReadOnlyError("the server takes no writes (a standby, perhaps)", location=location)
    if isinstance(error, raised.InsufficientPrivilege):
        return StorePermissionError(text, location=location)
    if is_lost(error) or isinstance(error, raised.TooManyConnections):
        return StoreUnavailableError(text, location=location)
    return StoreError(text or type(error).__name__, location=location)
