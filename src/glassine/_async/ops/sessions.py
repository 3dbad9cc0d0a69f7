"""What stands beside the tree: the session's description, events, usage, deletions; and the list of sessions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import _json
from ...moments import from_micros, to_micros
from ...records import Deletion, Event, Lineage, Ref, SessionInfo, StoreInfo, Usage
from ..database import AsyncDatabase
from .heads import Head, create, find_head, namespace_key, save_head

USAGE_ROWS = 32
"""The newest usage rows, from which a view learns how far the estimate is off: older ones hardly count."""
_KINDS: tuple[Any, ...] = ("message", "overlay", "session")


async def info(db: AsyncDatabase, ref: Ref) -> SessionInfo | None:
    ns = await namespace_key(db, ref.namespace)
    if ns is None:
        return None
    row = await db.row(db.queries.session_info, (ns, ref.session))
    return None if row is None else _info(ref.namespace, row)


async def listing(db: AsyncDatabase, namespace: str, limit: int | None) -> list[SessionInfo]:
    """The sessions of a namespace, the one written to last first."""
    ns = await namespace_key(db, namespace)
    if ns is None:
        return []
    rows = await db.rows(db.queries.session_list, (ns, -1 if limit is None else limit))
    return [_info(namespace, row) for row in rows]


async def describe(db: AsyncDatabase, ref: Ref, changes: dict[str, Any], now: int) -> None:
    """Set the given fields of a session's description, and make the session if it is not there."""
    head = await find_head(db, ref) or await create(db, ref, now)
    row = await db.row(db.queries.session_info, (head.ns, ref.session))
    names = ("title", "source", "model", "lineage_kind", "lineage_session", "lineage_message", "metadata")
    fields = {**dict(zip(names, row[1:8], strict=True)), **changes}
    if tuple(fields.values()) != tuple(row[1:8]) or head.change == 0:
        await db.run(db.queries.session_describe, (head.ns, ref.session, *fields.values(), now))


async def add_events(
    db: AsyncDatabase, ref: Ref, events: Sequence[tuple[str, str, int, bytes, int | None]], now: int
) -> int:
    """Store events as (id, kind, codec, data, created_at); an id that is there already is passed over."""
    head = await find_head(db, ref) or await create(db, ref, now)
    order = (await db.row(db.queries.event_next, (head.ns, head.session)))[0]
    added = 0
    for event in events:
        row = (head.ns, head.session, order + added, *event, now, head.change + 1)
        added += await db.run(db.queries.event_add, row)
    await _advance(db, ref, head, added, now)
    return added


async def events(db: AsyncDatabase, ref: Ref) -> list[Event]:
    head = await find_head(db, ref)
    if head is None:
        return []
    return [
        Event(id, kind, _json.decode(codec, data), _time(created_at), from_micros(stored_at))
        for id, kind, codec, data, created_at, stored_at in await db.rows(
            db.queries.event_list, (head.ns, head.session)
        )
    ]


async def add_usage(db: AsyncDatabase, ref: Ref, rows: Sequence[Usage], now: int) -> int:
    """Store usage rows; an id that is there already is passed over."""
    head = await find_head(db, ref) or await create(db, ref, now)
    order = (await db.row(db.queries.usage_next, (head.ns, head.session)))[0]
    added = 0
    for use in rows:
        started, ended = (None if moment is None else to_micros(moment) for moment in (use.started_at, use.ended_at))
        added += await db.run(
            db.queries.usage_add,
            (
                *(head.ns, head.session, order + added, use.id, use.kind, use.ok, use.message_id, use.leaf_id),
                *(use.model, use.route, started, ended, use.input_tokens, use.output_tokens, use.cache_read_tokens),
                *(use.cache_write_5m_tokens, use.cache_write_1h_tokens, use.cost, use.price_source, head.change + 1),
                use.estimated_tokens,
            ),
        )
    await _advance(db, ref, head, added, now)
    return added


async def usage(db: AsyncDatabase, ref: Ref) -> list[Usage]:
    head = await find_head(db, ref)
    if head is None:
        return []
    return [_usage(row) for row in await db.rows(db.queries.usage_list, (head.ns, head.session))]


async def newest_usage(db: AsyncDatabase, ref: Ref) -> list[Usage]:
    """The newest rows of a session, the oldest of them first."""
    head = await find_head(db, ref)
    return [] if head is None else await recent_usage(db, head)


async def recent_usage(db: AsyncDatabase, head: Head) -> list[Usage]:
    """The same of a session whose row was read."""
    return [_usage(row) for row in await db.rows(db.queries.usage_recent, (head.ns, head.session, USAGE_ROWS))][::-1]


async def last_event(db: AsyncDatabase, ref: Ref, kind: str) -> tuple[Any, int] | None:
    """What the newest event of a kind says, and when it was stored (microseconds)."""
    head = await find_head(db, ref)
    row = None if head is None else await db.row(db.queries.event_last, (head.ns, head.session, kind))
    return None if row is None else (_json.decode(row[0], row[1]), row[2])


async def deletions(db: AsyncDatabase, ref: Ref) -> list[Deletion]:
    head = await find_head(db, ref)
    if head is None:
        return []
    return [
        Deletion(_KINDS[kind], id, change, from_micros(deleted_at))
        for kind, id, change, deleted_at in await db.rows(db.queries.tombstone_list, (head.ns, head.session))
    ]


async def was_deleted(db: AsyncDatabase, ref: Ref) -> bool:
    """Whether a session of this id was deleted and not made again."""
    ns = await namespace_key(db, ref.namespace)
    return ns is not None and bool(await db.rows(db.queries.tombstone_has, (ns, 0, 2, ref.session)))


async def store_info(db: AsyncDatabase, namespace: str) -> StoreInfo:
    ns = await namespace_key(db, namespace)
    sessions, messages = (0, 0) if ns is None else await db.row(db.queries.session_count, (ns,))
    facts = await db.facts()
    return StoreInfo(
        location=facts.location,
        engine=facts.engine,
        engine_version=facts.engine_version,
        schema_version=facts.schema_version,
        durability=facts.durability,
        namespace=namespace,
        namespaces=tuple([name for (name,) in await db.rows(db.queries.namespace_list)]),
        sessions=sessions,
        messages=messages,
        bytes=facts.bytes,
    )


async def _advance(db: AsyncDatabase, ref: Ref, head: Head, added: int, now: int) -> None:
    if added:
        await save_head(db, ref, head._replace(change=head.change + 1), now)


def _info(namespace: str, row: tuple[Any, ...]) -> SessionInfo:
    id, title, source, model, kind, lineage_session, lineage_message, metadata, created_at, updated_at, *rest = row
    messages, path_length, size, change, leaf_id, leaf_at = rest
    return SessionInfo(
        id=id,
        namespace=namespace,
        title=title,
        source=source,
        model=model,
        lineage=None if kind is None else Lineage(kind, lineage_session, lineage_message),
        metadata=None if metadata is None else _json.decode(_json.CODEC_STDLIB, metadata),
        created_at=from_micros(created_at),
        updated_at=from_micros(updated_at),
        messages=messages,
        path_length=path_length,
        size=size,
        change=change,
        leaf_id=leaf_id,
        leaf_at=_time(leaf_at),
    )


def _usage(row: tuple[Any, ...]) -> Usage:
    id, kind, ok, message_id, leaf_id, model, route, started, ended, *numbers = row
    return Usage(id, kind, bool(ok), message_id, leaf_id, model, route, _time(started), _time(ended), *numbers)


def _time(micros: int | None) -> Any:
    return None if micros is None else from_micros(micros)
