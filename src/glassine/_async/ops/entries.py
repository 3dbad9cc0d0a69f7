"""Entries of blocks: written, read, searched; their rows of the index in the same transaction."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from typing import Any

from ...blocks import Scope
from ...entries import Entry, EntryDraft, EntryHit, EntryInfo, Put, When, decoded, passage, words
from ...errors import StoreError
from ...exchange import Label
from ...indexing import INDEX_VERSION
from ...moments import from_micros
from ...records import Ref
from ...searching import Query
from ..database import AsyncDatabase
from .heads import SHARED, Head, create, find_head, namespace_key, need_namespace, save_head

COPIED = 0
"""The change number of a namespace's entry that a copy from another store wrote, and nobody since."""
REMOVED = 3
"""The kind of a tombstone that tells of a namespace's entry. Its id is JSON: [label, key]."""
STEP = 50


async def put(db: AsyncDatabase, ref: Ref, scope: Scope, label: str, draft: EntryDraft, when: When, now: int) -> Put:
    """Write an entry; see `When`."""
    head = None
    if scope == "session":
        head = await find_head(db, ref) or await create(db, ref, now)
        place, change = Label(head.ns, head.session, label), head.change + 1
    else:
        place, change = Label(await need_namespace(db, ref), SHARED, label), 1
    row = (draft.description, len(draft.data), draft.message_id, _writer(ref, scope, draft), now)
    outcome: Put = "created"
    if when == "present" or not await db.run(db.queries.entry_add, (*place, draft.key, *row, change)):
        before = None if when == "absent" else await db.row(db.queries.entry_find, (*place, draft.key))
        if before is None:
            if when == "any":  # another writer removed it in between
                return await put(db, ref, scope, label, draft, when, now)
            return "kept"
        doc, docs, number = before
        await db.run(db.queries.entry_replace, (*place, draft.key, *row, change if head else number + 1))
        await db.entry_index.drop(place, draft.key, doc, docs)
        outcome = "replaced"
    if head is None:
        await db.run(db.queries.tombstone_drop, (place.ns, SHARED, REMOVED, _buried(place, draft.key)))
    await put_rest(db, place, draft.key, (draft.crc, draft.data), draft.words)
    await _advance(db, ref, head, now)
    return outcome


async def get(db: AsyncDatabase, ref: Ref, scope: Scope, label: str, key: str) -> Entry | None:
    place = await _place(db, ref, scope, label)
    return None if place is None else await _get(db, place, key)


async def description(db: AsyncDatabase, ref: Ref, scope: Scope, label: str, key: str) -> str | None:
    """The description of an entry. None if it has none, or is not there."""
    place = await _place(db, ref, scope, label)
    row = None if place is None else await db.row(db.queries.entry_description, (*place, key))
    return None if row is None else _text(row[0])


async def remove(db: AsyncDatabase, ref: Ref, scope: Scope, label: str, key: str, now: int) -> bool:
    """Delete an entry. False if there is none."""
    head = await find_head(db, ref) if scope == "session" else None
    place = await _place(db, ref, scope, label)
    found = None if place is None else await db.row(db.queries.entry_find, (*place, key))
    if place is None or found is None:
        return False
    await take_out(db, place, key, found[0], found[1], now)
    await _advance(db, ref, head, now)
    return True


async def listing(db: AsyncDatabase, ref: Ref, scope: Scope, label: str) -> list[EntryInfo]:
    """The entries of a label, in the order of their keys (by their UTF-8)."""
    place = await _place(db, ref, scope, label)
    if place is None:
        return []
    return [
        EntryInfo(key, _text(description), size, message_id, from_micros(updated_at))
        for key, description, size, message_id, updated_at in await db.rows(db.queries.entry_list, place)
    ]


async def count(db: AsyncDatabase, ref: Ref, scope: Scope, label: str) -> int:
    place = await _place(db, ref, scope, label)
    return 0 if place is None else int((await db.row(db.queries.entry_count, place))[0])


async def search(
    db: AsyncDatabase, ref: Ref, scope: Scope, label: str, query: Query, limit: int
) -> list[EntryHit] | None:
    """The best matches, those with all words of the query first; of equal ones the order is that of the keys.

    None: something waits to be indexed: `catch_up` first.
    """
    if await db.entry_index.waits():
        return None
    place = await _place(db, ref, scope, label)
    if place is None:
        return []
    hits: list[EntryHit] = []
    seen: set[str] = set()
    for form, strict in ((query.strict, True), (query.loose, False)):
        if not form.phrases or len(hits) >= limit:
            continue
        scores: dict[str, float] = {}
        for key, score in await db.entry_index.matches(place, form):
            scores[key] = max(score, scores.get(key, score))
        if strict and len(form.phrases) > 1:
            for key in await db.entry_index.across(place, form):
                scores.setdefault(key, 0.0)
        for key in sorted(scores.keys() - seen, key=lambda key: (-scores[key], key))[: limit - len(hits)]:
            seen.add(key)
            try:
                entry = await _get(db, place, key)
            except StoreError as error:  # one that cannot be read must not hide the others
                entry = Entry(key, None, f"({error.reason})", 0, None, from_micros(0))
            if entry is not None:
                hits.append(EntryHit(entry, scores[key], strict, passage(entry.content, query)))
    return hits


async def condemn(db: AsyncDatabase) -> None:
    """Note that the index of entries was found damaged."""
    await db.entry_index.condemn()


async def waits(db: AsyncDatabase) -> bool:
    """Whether an entry must be indexed before a search sees everything."""
    return await db.entry_index.waits()


async def catch_up(db: AsyncDatabase, anew: bool) -> bool:
    """Take the next step: index what is not indexed as this version would. `anew` begins with an empty index. Returns
    whether more is left."""
    if anew or await db.entry_index.is_broken():
        await db.entry_index.start_anew()
    # Invariant: an entry is held before its content is read, so that no writer changes it in between.
    rows = await db.rows(db.queries.entry_stale, (INDEX_VERSION, STEP))
    for ns, session, label, key, doc, docs in rows:
        place = Label(ns, session, label)
        await db.entry_index.drop(place, key, doc, docs)
        try:
            entry = await _get(db, place, key)
            found = () if entry is None else words(key, entry.description, entry.content)
        except StoreError:
            found = ()  # `verify` tells of it
        await _index(db, place, key, found)
    return len(rows) == STEP or await db.entry_index.is_broken()


async def drop_of_message(db: AsyncDatabase, ref: Ref, key: tuple[int, int], message_id: str, now: int) -> list[str]:
    """Remove the entries that a message of a session wrote, in the session or in its namespace, whichever `key` names.
    Returns the labels that it wrote to."""
    rows = await db.rows(db.queries.entry_of_message, (*key, message_id, ref.session))
    for label, entry_key, doc, docs in rows:
        await take_out(db, Label(*key, label), entry_key, doc, docs, now)
    return [row[0] for row in rows]


async def copied(
    db: AsyncDatabase, place: Label, row: Sequence[Any], body: tuple[Any, ...], found: Sequence[str]
) -> None:
    """Write an entry as it was read from another store: `row` from its key on, as `copy_entry` selects it."""
    key = row[0]
    await db.run(db.queries.entry_add, (*place, *row))
    await put_rest(db, place, key, body, found)


async def put_rest(db: AsyncDatabase, place: Label, key: str, body: Sequence[Any], found: Sequence[str]) -> None:
    """Write what belongs to an entry beside its narrow row: (checksum, content), if that is known, and its words."""
    if body:
        await db.run(db.queries.entry_body_put, (*place, key, *body))
    await _index(db, place, key, found)


async def _index(db: AsyncDatabase, place: Label, key: str, found: Sequence[str]) -> None:
    doc = await db.entry_index.add(place, key, found) if found else None
    await db.run(db.queries.entry_set_words, (*place, key, doc, 0 if doc is None else len(found), INDEX_VERSION))


async def take_out(db: AsyncDatabase, place: Label, key: str, doc: int | None, docs: int, now: int) -> None:
    """Delete an entry, and let copies know."""
    await db.run(db.queries.entry_delete, (*place, key))
    await db.run(db.queries.entry_body_delete, (*place, key))
    await db.entry_index.drop(place, key, doc, docs)
    if place.session == SHARED:
        await db.run(db.queries.tombstone_add, (place.ns, SHARED, REMOVED, _buried(place, key), 0, now))


def _buried(place: Label, key: str) -> str:
    return json.dumps([place.name, key], ensure_ascii=False)


async def _get(db: AsyncDatabase, place: Label, key: str) -> Entry | None:
    row = await db.row(db.queries.entry_get, (*place, key))
    if row is None:
        return None
    _, description, size, message_id, updated_at, data = row
    try:
        if data is None:
            raise ValueError("its content is missing")
        return Entry(key, _text(description), decoded(data), size, message_id, from_micros(updated_at))
    except ValueError as error:
        reason = f"entry {key!r} of {place.name!r} cannot be read: {error}; `verify` says more"
        raise StoreError(reason, location=(await db.facts()).location) from error


async def _place(db: AsyncDatabase, ref: Ref, scope: Scope, label: str) -> Label | None:
    if scope == "namespace":
        ns = await namespace_key(db, ref.namespace)
        return None if ns is None else Label(ns, SHARED, label)
    head = await find_head(db, ref)
    return None if head is None else Label(head.ns, head.session, label)


async def faults(db: AsyncDatabase, session: tuple[int, int], mend: bool, now: int) -> list[str]:
    """What is wrong with the entries of a session (0: those of the namespace itself). `mend` removes those whose
    content is missing, and content that belongs to none; changed bytes are left as they are."""
    found = []
    for label, key, size in await db.rows(db.queries.entry_keys, session):
        place = Label(*session, label)
        body = await db.row(db.queries.entry_body_get, (*place, key))
        reason = _reason(size, body)
        if reason is not None:
            found.append(f"entry {key!r} of {label!r}: {reason}")
        if mend and body is None:
            doc, docs, _ = await db.row(db.queries.entry_find, (*place, key))
            await take_out(db, place, key, doc, docs, now)
    for label, key in await db.rows(db.queries.entry_body_lost, session):
        found.append(f"entry {key!r} of {label!r}: its content is there, and it is not")
        if mend:
            await db.run(db.queries.entry_body_delete, (*session, label, key))
    return found


def _reason(size: int, body: Any) -> str | None:
    if body is None:
        return "its content is missing"
    crc, data = body
    if zlib.crc32(data) != crc:
        return "its bytes have changed (checksum)"
    return None if len(data) == size else f"its size is written as {size} bytes and is {len(data)}"


async def _advance(db: AsyncDatabase, ref: Ref, head: Head | None, now: int) -> None:
    if head is not None:
        await save_head(db, ref, head._replace(change=head.change + 1), now)


def _writer(ref: Ref, scope: Scope, draft: EntryDraft) -> str | None:
    # A message id is unique within its session only.
    return ref.session if scope == "namespace" and draft.message_id is not None else None


def _text(data: bytes | None) -> str | None:
    return None if data is None else decoded(data)
