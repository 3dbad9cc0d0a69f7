"""Where the tables are in a Postgres database, and bringing them up to this version."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import AsyncConnection, AsyncRawCursor

from .. import _queries
from .._postgres import MIGRATIONS, OWN_SCHEMA, TABLES, PostgresOptions, patience, queries, quoted
from ..errors import NotADatabaseError, SchemaVersionError, StoreError, StorePermissionError
from ..indexing import ESTIMATOR_VERSION, INDEX_VERSION


async def prepared(connection: AsyncConnection[Any], options: PostgresOptions) -> str:
    """The schema that holds our tables, once they are there and of this version.

    It is the one that the URL names; else the first of the search path, if that is one of the role's own (not
    `public`); else `glassine`.
    """
    schema, encoding, role = await _row(connection, queries(False).surroundings)
    if encoding != "UTF8":
        reason = f"the database is encoded in {encoding}; glassine needs one in UTF8, which can hold every text"
        raise StoreError(reason, location=options.location.shown)
    if options.location.schema is not None:
        schema = options.location.schema
    elif schema in (None, "public"):
        schema = OWN_SCHEMA
    try:
        if await _version(connection, options, schema) < len(MIGRATIONS):
            await _migrate(connection, options, schema)
    except psycopg.errors.InsufficientPrivilege as error:
        raise StorePermissionError(
            f"role {role!r} lacks a right in schema {schema!r}: {error.diag.message_primary}. Let a role that may "
            "create tables there run `glassine migrate`, and grant USAGE on the schema, SELECT, INSERT, UPDATE and "
            "DELETE on its tables, and USAGE on its sequences",
            location=options.location.shown,
        ) from error
    return str(schema)


async def _version(connection: AsyncConnection[Any], options: PostgresOptions, schema: str) -> int:
    """The version of our tables, 0 where there are none yet. Others' are refused before anything is changed."""
    location = options.location.shown
    _, ours, taken = await _row(connection, queries(False).tables, (schema, list(TABLES)))
    if not ours:
        if taken:
            reason = f"schema {schema!r} holds tables of another program; name another one in the URL, with ?schema="
            raise NotADatabaseError(reason, location=location)
        if not options.migrate:
            reason = f"there are no tables of glassine in schema {schema!r}; `glassine migrate` makes them"
            raise SchemaVersionError(reason, location=location, actual=0, limit=len(MIGRATIONS))
        return 0
    version, known = await _read_version(connection, schema), len(MIGRATIONS)
    if version > known:
        reason = f"the database has schema version {version}, this glassine knows up to {known}; upgrade it"
        raise SchemaVersionError(reason, location=location, actual=version, limit=known)
    if version < known and not options.migrate:
        reason = f"the database has schema version {version}, this glassine needs {known}: run `glassine migrate`"
        raise SchemaVersionError(reason, location=location, actual=version, limit=known)
    return version


async def _migrate(connection: AsyncConnection[Any], options: PostgresOptions, schema: str) -> None:
    # Invariant: all migrations in one transaction, under one lock. Whoever comes second finds the version there.
    await connection.execute(f"BEGIN; SET LOCAL lock_timeout = {patience(options)}")
    try:
        await _row(connection, queries(False).migration_lock, (schema,))
        exists, ours, _ = await _row(connection, queries(False).tables, (schema, list(TABLES)))
        if not exists:
            await connection.execute(f"CREATE SCHEMA {quoted(schema)}")
        await connection.execute(f"SET LOCAL search_path = {quoted(schema)}")
        version = await _read_version(connection, schema) if ours else 0
        for name in MIGRATIONS[version:]:
            await connection.execute(_queries.read(f"postgres/migrations/{name}.sql"))
        numbers = {"schema": max(version, len(MIGRATIONS))}
        if not ours:
            numbers |= {"analysis": INDEX_VERSION, "estimator": ESTIMATOR_VERSION}
        for number in numbers.items():
            await AsyncRawCursor(connection).execute(queries(True).meta_put, number)
        await connection.execute("COMMIT")
    except BaseException:
        if not connection.closed:
            await connection.execute("ROLLBACK")
        raise


async def _read_version(connection: AsyncConnection[Any], schema: str) -> int:
    # By its whole name: what the search path cannot reach would be no more than unknown, and not forbidden.
    row = await _row(connection, f"SELECT value FROM {quoted(schema)}.meta WHERE name = 'schema'")
    return int(row[0])


async def _row(connection: AsyncConnection[Any], statement: str, parameters: tuple[Any, ...] = ()) -> Any:
    cursor = await AsyncRawCursor(connection).execute(statement, parameters)
    return await cursor.fetchone()
