# Generated from src/glassine/_async/ops/bodies.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""Laying bodies down and taking them up: the row, and what left it for side rows and blobs."""

from __future__ import annotations

import json
import zlib
from hashlib import sha256
from typing import Any, NamedTuple

from ...drafting import Draft
from ...errors import CorruptMessageError
from ...messages import ROLES, Message, Role
from ...representation import CHUNK, EXTERNAL_KINDS, restore
from ..database import Database
from .heads import Head

_MEDIA = EXTERNAL_KINDS.index("media")


class Row(NamedTuple):
    """What the reading statements select of a message."""

    seq: int
    id: str
    role: int
    externals: int
    size: int
    codec: int | None
    data: bytes | None


def put(db: Database, head: Head, seq: int, draft: Draft) -> None:
    """Write the body of a new message."""
    db.run(db.queries.body_add, (head.ns, head.session, seq, draft.codec, draft.crc, draft.body))
    if draft.externals:
        put_externals(db, head, seq, draft)


def put_externals(db: Database, head: Head, seq: int, draft: Draft) -> None:
    queries = db.queries
    for ordinal, external in enumerate(draft.externals):
        kind = EXTERNAL_KINDS.index(external.kind)
        path = json.dumps(external.path)
        db.run(
            queries.external_add,
            (
                head.ns,
                head.session,
                seq,
                ordinal,
                path,
                kind,
                external.prefix,
                len(external.data),
                external.digest,
            ),
        )
        put_external_data(db, (head.ns, head.session, seq), ordinal, kind, external.digest, external.data)


def put_external_data(
    db: Database, key: tuple[int, int, int], ordinal: int, kind: int, digest: bytes, data: bytes
) -> None:
    """Write what left the row of a message: beside it, or once for the whole namespace."""
    if kind != _MEDIA:
        for number, piece in _chunks(data):
            db.run(db.queries.spill_add, (*key, ordinal, number, piece))
    elif not db.rows(db.queries.blob_has, (key[0], digest)):
        _add_blob(db, key[0], digest, data)


def _add_blob(db: Database, ns: int, digest: bytes, data: bytes) -> None:
    queries = db.queries
    for number, piece in _chunks(data):
        if not db.run(queries.blob_add, (ns, digest, number, piece)):
            # Another session brought it at the same moment. Invariant: whoever uses a blob holds it until the commit.
            if not db.rows(queries.blob_has, (ns, digest)):
                _add_blob(db, ns, digest, data)
            return


def drop(db: Database, head: Head, seq: int, externals: int) -> None:
    """Remove a body and all that is held by it alone."""
    db.run(db.queries.body_delete, (head.ns, head.session, seq))
    if externals:
        drop_externals(db, head, seq)


def drop_externals(db: Database, head: Head, seq: int) -> None:
    key = (head.ns, head.session, seq)
    digests = {row[5] for row in db.rows(db.queries.external_list, key) if row[2] == _MEDIA}
    db.run(db.queries.external_delete, key)
    db.run(db.queries.spill_delete, key)
    drop_unused_blobs(db, head.ns, digests)


def drop_unused_blobs(db: Database, ns: int, digests: set[bytes]) -> None:
    queries = db.queries
    for digest in sorted(digests):
        # Invariant: the blob is held before its users are counted, so that nobody becomes one in between.
        held = db.rows(queries.blob_lock, (ns, digest))
        if held and not db.rows(queries.blob_used, (ns, digest)):
            db.run(queries.blob_delete, (ns, digest))


def message(db: Database, ns: int, session: int, row: tuple[Any, ...]) -> Message:
    """The message of a row, undecoded: what is wrong with it comes out when it is decoded."""
    seq, id, role, externals, _, codec, data = row
    if not 0 <= role < len(ROLES):
        return _unreadable(id, "user", f"its role is written as {role}")
    if data is None:
        return _unreadable(id, ROLES[role], "its body is missing")
    if not externals:
        return Message.stored(id, ROLES[role], codec, data)
    spilled = tuple(_spilled(db, ns, session, seq, id))
    if len(spilled) != externals:
        return _unreadable(id, ROLES[role], f"{len(spilled)} of {externals} values that left its row are there")
    return Message.stored(id, ROLES[role], codec, data, spilled)


def _unreadable(id: str, role: Role, reason: str) -> Message:
    return Message.stored(id, role, 0, b"{}", (((), CorruptMessageError(id, reason)),))


def _spilled(db: Database, ns: int, session: int, seq: int, id: str) -> list[tuple[tuple[str | int, ...], Any]]:
    found: list[tuple[tuple[str | int, ...], Any]] = []
    for ordinal, path, kind, prefix, size, digest in db.rows(db.queries.external_list, (ns, session, seq)):
        data = external_data(db, (ns, session, seq), ordinal, kind, digest)
        try:
            if len(data) != size:
                raise ValueError(f"{len(data)} of {size} bytes are there")
            found.append((tuple(json.loads(path)), restore(EXTERNAL_KINDS[kind], prefix, data)))
        except (ValueError, LookupError, TypeError) as error:
            found.append(((), CorruptMessageError(id, f"what left its row from {path}: {error}")))
    return found


def external_data(db: Database, key: tuple[int, int, int], ordinal: int, kind: int, digest: bytes) -> bytes:
    if kind == _MEDIA:
        rows = db.rows(db.queries.blob_get, (key[0], digest))
    else:
        rows = db.rows(db.queries.spill_get, (*key, ordinal))
    return b"".join(piece for (piece,) in rows)


def look(db: Database, head: Head, row: tuple[Any, ...], crc: int | None) -> tuple[str | None, int]:
    """Why a message cannot be read, or None, and then its size.

    The thorough look of `verify`: checksums of all that belongs to it.
    """
    seq, id, _, externals, size, _, data = row
    whole = message(db, head.ns, head.session, row)
    if data is not None and zlib.crc32(data) != crc:
        return "its bytes have changed (checksum)", size
    try:
        wire = whole.to_dict()
    except CorruptMessageError as error:
        return error.reason, size
    if (wire.get("id"), wire.get("role")) != (id, whole.role):
        return f"its bytes belong to message {wire.get('id')!r} of role {wire.get('role')!r}", size
    if externals:
        key = (head.ns, head.session, seq)
        for ordinal, path, kind, _, _, digest in db.rows(db.queries.external_list, key):
            if sha256(external_data(db, key, ordinal, kind, digest)).digest() != digest:
                return f"what left its row from {path} has changed (checksum)", size
    return None, len(whole.encoded()[1])


def _chunks(data: bytes) -> list[tuple[int, bytes]]:
    return [(number, data[start : start + CHUNK]) for number, start in enumerate(range(0, len(data) or 1, CHUNK))]
