# Generated from src/glassine/_async/ops/context.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""Stored blocks, frozen prompts, and leases. Policy is for those who call: nothing here knows what a budget is."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ... import _json
from ...blocks import SCOPES, Scope
from ...errors import ProviderError
from ...moments import from_micros
from ...origins import Line, Origin, packed, unpacked, without
from ...prompt import Draft, Freezing, Prompt, digest_of, unpack_tools
from ...records import Ref
from ..database import Database
from .heads import SHARED, Head, create, find_head, namespace_key, need_namespace, save_head


class Stored(NamedTuple):
    """A stored block: its text, who wrote its lines, when it was last written (microseconds), and the number to swap it
    by."""

    content: str
    origins: str
    updated_at: int
    change: int

    @property
    def lines(self) -> list[Line]:
        """The lines, with the messages that wrote them."""
        return unpacked(self.content, json.loads(self.origins))


Changes = Mapping[tuple[Scope, str], int]
"""The change numbers of stored blocks, by scope and label."""
ABSENT = Stored("", "[]", 0, -1)
"""A block that was never written."""


def get_block(db: Database, ref: Ref, scope: Scope, label: str) -> Stored:
    """A stored block; ABSENT if it was never written."""
    key = _key(db, ref, scope)
    row = None if key is None else db.row(db.queries.block_get, (*key, label))
    return ABSENT if row is None else _stored(label, *row)


def get_blocks(db: Database, ref: Ref) -> dict[tuple[Scope, str], Stored]:
    """All stored blocks that a session can have: its own, and those of its namespace."""
    found: dict[tuple[Scope, str], Stored] = {}
    for scope in SCOPES:
        key = _key(db, ref, scope)
        for label, *row in [] if key is None else db.rows(db.queries.block_list, key):
            found[scope, label] = _stored(label, *row)
    return found


def swap_block(
    db: Database, ref: Ref, scope: Scope, label: str, expected: int, lines: Sequence[Line], now: int
) -> bool:
    """Write a block if it is still at the change number `expected` (-1: never written). False: it is not."""
    head = None
    if scope == "session":
        head = find_head(db, ref) or create(db, ref, now)
        key, change = (head.ns, head.session), head.change + 1
    else:
        # Counted from 1: 0 is what a copy wrote and nobody changed since.
        key, change = (need_namespace(db, ref), SHARED), max(expected, 0) + 1
    row = db.row(db.queries.block_get, (*key, label))
    if (row is None) != (expected < 0) or (row is not None and row[3] != expected):
        return False
    data = "\n".join([line.text for line in lines]).encode("utf-8", "surrogatepass")
    origins = json.dumps(packed(lines), separators=(",", ":"))
    if row is None:
        written = db.run(db.queries.block_add, (*key, label, data, origins, now, change))
    else:
        written = db.run(db.queries.block_swap, (*key, label, data, origins, now, change, expected))
    if written and head is not None:
        save_head(db, ref, head._replace(change=change), now)
    return bool(written)


def live_prompt(db: Database, ref: Ref, known: Prompt | None) -> Prompt | None:
    """The frozen prompt, or None when there is none, or its bytes were dropped. If it is still the one that is `known`,
    its bytes are not read again."""
    ns = namespace_key(db, ref.namespace)
    named = None if ns is None else db.row(db.queries.prompt_named, (ns, ref.session))
    if named is None or named[2]:
        return None
    number, digest, _, since = named
    if known is not None and (known.number, known.digest, known.since) == (number, bytes(digest).hex(), since):
        return known
    return _readable(db.row(db.queries.prompt_live, (ns, ref.session)))


def freeze(
    db: Database, ref: Ref, draft: Draft, reason: str, expected: int | None, made_of: Changes, now: int
) -> Prompt | None:
    """Freeze a prompt, unless another is frozen than the one of the number `expected` (None: any): then that one stays.

    Returns the prompt that is frozen now. None, and nothing is frozen, when the stored blocks are no longer those that
    it was `made_of`: what was redacted meanwhile must not come back.
    """
    head = find_head(db, ref) or create(db, ref, now)
    for (scope, label), change in made_of.items():
        row = db.row(db.queries.block_change, (head.ns, head.session if scope == "session" else SHARED, label))
        if (ABSENT.change if row is None else row[0]) != change:
            return None
    # Invariant: whoever freezes a prompt changes the session.
    named = db.row(db.queries.prompt_named, (head.ns, ref.session)) if head.change else None
    number, since, digest = 1, head.next_seq, bytes.fromhex(draft.digest)
    if named is not None:
        before, former, dropped, made_since = named
        if not dropped and expected is not None and before != expected:
            there = _readable(db.row(db.queries.prompt_live, (head.ns, ref.session)))
            if there is not None:
                return there
            dropped = True
        db.run(db.queries.prompt_drop_bytes, (head.ns, head.session))
        if not dropped and former == digest:
            since = made_since  # the same bytes: what was made on them still was
        if dropped and expected is not None and before:
            reason = "the former one was dropped"
        number = before + 1
    change = head.change + 1
    db.run(
        db.queries.prompt_add,
        (
            *(head.ns, head.session, number, draft.data, draft.packed, _json.text(draft.sections)),
            *(digest, reason, now, since, change),
        ),
    )
    save_head(db, ref, head._replace(change=change), now)
    return Prompt(draft.text, draft.tools, draft.sections, draft.digest, reason, from_micros(now), number, since)


def forget_prompt(db: Database, ref: Ref, now: int) -> bool:
    """Forget the bytes of the frozen prompt. Whether there were any."""
    head = find_head(db, ref)
    named = None if head is None else db.row(db.queries.prompt_named, (head.ns, ref.session))
    if head is None or named is None or named[2]:
        return False
    drop_prompts(db, head, False)
    save_head(db, ref, head._replace(change=head.change + 1), now)
    return True


def freezings(db: Database, ref: Ref) -> list[Freezing]:
    """Every freezing of a session's prompt, the oldest first."""
    head = find_head(db, ref)
    if head is None:
        return []
    rows = db.rows(db.queries.prompt_list, (head.ns, head.session))
    return [Freezing(row[0], bytes(row[4]).hex(), row[5], from_micros(row[6])) for row in rows if row[0]]


def take_lease(db: Database, ref: Ref, name: str, holder: str, now: int, until: int) -> bool:
    """Take, or prolong, a lease. False: another holder has it."""
    head = find_head(db, ref) or create(db, ref, now)
    return bool(db.run(db.queries.lease_take, (head.ns, head.session, name, holder, until, now)))


def drop_lease(db: Database, ref: Ref, name: str, holder: str) -> None:
    """Give a lease back. Nothing happens when it is another's by now."""
    head = find_head(db, ref)
    if head is not None:
        db.run(db.queries.lease_drop, (head.ns, head.session, name, holder))


def take_turns(db: Database, ref: Ref, head: Head, message_id: str) -> None:
    """Wait for other redactions in the namespace, where it has something that a message of any session may have
    written; they wait for this one until it is committed."""
    # Invariant: whoever changes rows of other sessions holds the row of the namespace, and took it before any of them.
    shared = (head.ns, SHARED)
    if db.rows(db.queries.block_list, shared) or db.rows(
        db.queries.entry_of_message, (*shared, message_id, ref.session)
    ):
        db.row(db.queries.namespace_add, (ref.namespace,))


def forget_lines(db: Database, key: tuple[int, int], origin: Origin, change: int | None, now: int) -> list[str]:
    """Remove the lines that a message wrote into the blocks of a session or namespace. `change` None: of a namespace,
    whose blocks are counted each by itself. Returns the labels of the blocks that it wrote to."""
    labels = [label for label, *_ in db.rows(db.queries.block_list, key)]
    return [label for label in labels if _forget_lines(db, key, label, origin, change, now)]


def drop_prompts(db: Database, head: Head, everywhere: bool) -> None:
    """Forget the bytes of the frozen prompt, or (`everywhere`) of those of all sessions of the namespace."""
    if everywhere:
        db.run(db.queries.prompt_drop_bytes_of_namespace, (head.ns,))
    else:
        db.run(db.queries.prompt_drop_bytes, (head.ns, head.session))


def _forget_lines(db: Database, key: tuple[int, int], label: str, origin: Origin, change: int | None, now: int) -> bool:
    """Remove the lines that a message wrote into a block. Whether there were any. `change` None: of the namespace."""
    # Invariant: no line of it is left. A block of the namespace is locked by no session: others may write meanwhile.
    while True:
        row = db.row(db.queries.block_get, (*key, label))
        try:
            stored = ABSENT if row is None else _stored(label, *row)
            lines = stored.lines
        except (ProviderError, ValueError, TypeError):
            return False  # `verify` tells of it; what can be removed is removed all the same
        left = without(lines, origin)
        if len(left) == len(lines):
            return False
        data = "\n".join([line.text for line in left]).encode("utf-8", "surrogatepass")
        number = stored.change + 1 if change is None else change
        origins = json.dumps(packed(left), separators=(",", ":"))
        if db.run(db.queries.block_swap, (*key, label, data, origins, now, number, stored.change)):
            return True


def drop_reminders(db: Database, head: Head, label: str, own: bool, change: int, now: int) -> None:
    """Take off what reminded of a block: in this session, or (not `own`) in all of the namespace."""
    for session, overlay_id, codec, data in db.rows(db.queries.reminder_list, (head.ns,)):
        if own and session != head.session:
            continue
        with contextlib.suppress(ValueError, LookupError, TypeError):  # `verify` tells of what cannot be read
            if _json.decode(codec, bytes(data))["label"] == label:
                db.run(db.queries.overlay_delete, (head.ns, session, overlay_id))
                if session == head.session:  # the rows of other sessions are theirs to lock
                    db.run(db.queries.tombstone_add, (head.ns, session, 1, overlay_id, change, now))


def edited(db: Database, head: Head) -> None:
    """Note that something before the newest message was changed: thinking made on it has another prefix now."""
    key = (head.ns, head.session)
    if not db.run(db.queries.prompt_since, (*key, head.next_seq)):
        # No prompt was ever frozen: a row without bytes keeps the number.
        row = (*key, 0, None, None, "[]", b"", "edited", 0, head.next_seq, head.change)
        db.run(db.queries.prompt_add, row)


def faults(db: Database, key: tuple[int, int], mend: bool) -> list[tuple[str, str]]:
    """What is wrong with blocks and prompts: (code, detail). `mend`: lines of unknown origin have none, and a prompt
    that cannot be read is frozen anew; a block's bytes stay as they are."""
    found = []
    for label, data, origins, updated_at, change in db.rows(db.queries.block_list, key):
        try:
            bytes(data).decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            found.append(("block", f"block {label!r} cannot be read: {error}"))
            continue
        try:
            _stored(label, data, origins, updated_at, change).lines  # noqa: B018
        except (ValueError, TypeError) as error:
            found.append(("block", f"the origins of block {label!r} cannot be read: {error}"))
            if mend:
                db.run(db.queries.block_swap, (*key, label, data, "[]", updated_at, change, change))
    for row in db.rows(db.queries.prompt_list, key):
        prompt = _readable(row)
        if row[1] is not None and (prompt is None or digest_of(bytes(row[1]), bytes(row[2])) != prompt.digest):
            found.append(("prompt", "the frozen prompt cannot be read, or is not what was frozen"))
            if mend:
                db.run(db.queries.prompt_drop_bytes, key)
    return found


def _key(db: Database, ref: Ref, scope: Scope) -> tuple[int, int] | None:
    if scope == "namespace":
        ns = namespace_key(db, ref.namespace)
        return None if ns is None else (ns, SHARED)
    head = find_head(db, ref)
    return None if head is None else (head.ns, head.session)


def _stored(label: str, data: bytes, origins: str, updated_at: int, change: int) -> Stored:
    try:
        content = bytes(data).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        reason = f"what is stored cannot be read ({error}); `verify` says more"
        raise ProviderError(reason, source=f"block {label!r}") from error
    return Stored(content, origins, updated_at, change)


def _readable(row: tuple[Any, ...]) -> Prompt | None:
    """The prompt in a row; None when it has no bytes, or they cannot be read: then it is frozen anew."""
    try:
        return None if row[1] is None else _prompt(row)
    except (ValueError, TypeError, LookupError):
        return None


def _prompt(row: tuple[Any, ...]) -> Prompt:
    number, data, tools, sections, digest, reason, frozen_at, since = row
    return Prompt(
        text=bytes(data).decode("utf-8", "surrogatepass"),
        tools=unpack_tools(bytes(tools)),
        sections=tuple([(label, each) for label, each in json.loads(sections)]),
        digest=bytes(digest).hex(),
        reason=reason,
        frozen_at=from_micros(frozen_at),
        number=number,
        since=since,
    )
