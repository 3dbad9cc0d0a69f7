# Generated from src/glassine/_async/engine.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""The operations of a store, each in one transaction of the driver, whatever database that is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .._spool import Spool
from ..copying import Original, State
from ..drafting import Draft
from ..entries import Entry, EntryHit, EntryInfo, Put, When, drafted, is_key
from ..exchange import Appended, Asked, Cursor, DamagedIndexError, Elsewhere, Found, Laid, Plan, Progress, Weight
from ..messages import Message
from ..overlays import Overlay
from ..records import (
    Deletion,
    Event,
    Ingested,
    Named,
    Outline,
    Problem,
    Recent,
    Ref,
    SessionInfo,
    StoreInfo,
    Totals,
    Usage,
)
from ..searching import Query
from .database import Driver
from .ops import (
    appending,
    catching_up,
    checking,
    compacting,
    context,
    copying,
    editing,
    entries,
    ingesting,
    overlaying,
    reading,
    recording,
    searching,
    sessions,
    sharing,
)

if TYPE_CHECKING:
    from ..blocks import Scope
    from ..marking import Laying
    from ..origins import Line
    from ..prompt import Draft as PromptDraft
    from ..prompt import Freezing, Prompt
    from ..showing import Seen


class Engine:
    """Raw paths and raw overlays in a database. Policy is for those who call it."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._write, self._write_once, self._read = driver.write, driver.write_once, driver.read

    @property
    def location(self) -> str:
        return self._driver.location

    def connect(self) -> None:
        """Open the database, if it is not open yet."""
        self._driver.ready()

    def close(self) -> None:
        self._driver.close()

    def append(
        self, ref: Ref, drafts: Sequence[Draft], parent: Named | None, expect_leaf: Named | None, now: int
    ) -> Appended:
        return self._write(appending.append, ref, drafts, parent, expect_leaf, now)

    def ingest(self, ref: Ref, incoming: Sequence[Message], now: int) -> Ingested:
        return self._write_once(ingesting.ingest, ref, incoming, now)

    def update(self, ref: Ref, draft: Draft, now: int) -> None:
        self._write(editing.update, ref, draft, now)

    def delete(self, ref: Ref, message_ids: Sequence[str], now: int) -> int:
        return self._write_once(editing.delete, ref, message_ids, now)

    def redact(self, ref: Ref, message_id: str, remake: Callable[[Message], Draft], now: int) -> list[str]:
        dropped = self._write_once(editing.redact, ref, message_id, remake, now)
        self._driver.scrub()
        return dropped

    def search(self, asked: Asked, complete: bool) -> list[Found] | None:
        try:
            return self._read(searching.search, asked, complete)
        except DamagedIndexError:
            self._write(catching_up.condemn)
            return None

    def search_waits(self) -> bool:
        """Whether something must be indexed before a search sees everything."""
        return self._read(catching_up.waits)

    def catch_up(self, anew: bool, cursor: Cursor, done: int) -> Progress:
        return self._write(catching_up.catch_up, anew, cursor, done)

    def clear(self, ref: Ref, now: int) -> int:
        return self._write_once(editing.clear, ref, now)

    def switch(self, ref: Ref, leaf: str, now: int) -> str:
        return self._write(editing.switch, ref, leaf, now)

    def history(self, ref: Ref, leaf: str | None, raw: bool) -> list[Message]:
        return self._read(reading.history, ref, leaf, raw)

    def first_page(self, ref: Ref, leaf: str | None, raw: bool, newest_first: bool) -> tuple[list[Message], Plan]:
        return self._read(reading.first_page, ref, leaf, raw, newest_first)

    def next_page(self, planned: Plan, newest_first: bool) -> tuple[list[Message], Plan]:
        return self._read(reading.next_page, planned, newest_first)

    def recent(
        self,
        ref: Ref,
        leaf: str | None,
        max_messages: int | None,
        max_bytes: int | None,
        min_messages: int,
        max_turns: int | None,
    ) -> Recent:
        return self._read(reading.recent, ref, leaf, max_messages, max_bytes, min_messages, max_turns)

    def message(self, ref: Ref, message_id: str) -> Message | None:
        return self._read(reading.get, ref, message_id)

    def leaf(self, ref: Ref) -> Message | None:
        return self._read(reading.leaf, ref)

    def branches(self, ref: Ref, message_id: str | None) -> list[Message]:
        return self._read(reading.branches, ref, message_id)

    def path_length(self, ref: Ref, leaf: str | None) -> int:
        return self._read(reading.path_length, ref, leaf)

    def totals(self, ref: Ref, leaf: str | None, raw: bool) -> Totals:
        return self._read(reading.totals, ref, leaf, raw)

    def outline(self, ref: Ref) -> list[Outline]:
        return self._read(reading.outline, ref)

    def overlays(self, ref: Ref) -> list[Overlay]:
        return self._read(reading.overlays, ref)

    def add_summary(self, ref: Ref, overlay_id: str, text: str, first: str, last: str, made: int, now: int) -> Overlay:
        return self._write(overlaying.add_summary, ref, overlay_id, text, first, last, made, now, {})

    def weigh(self, ref: Ref) -> Weight:
        return self._read(compacting.weigh, ref)

    def elsewhere(self, ref: Ref, leaf: str) -> list[Elsewhere]:
        return self._read(compacting.elsewhere, ref, leaf)

    def lay_summary(self, ref: Ref, laid: Laid, now: int) -> Overlay | None:
        return self._write(compacting.lay_summary, ref, laid, now)

    def last_event(self, ref: Ref, kind: str) -> tuple[Any, int] | None:
        return self._read(sessions.last_event, ref, kind)

    def undo(self, ref: Ref, overlay_id: str, now: int) -> Overlay:
        return self._write_once(overlaying.undo, ref, overlay_id, now)

    def lay(self, ref: Ref, layings: Sequence[Laying], now: int) -> list[str]:
        return self._write(overlaying.lay, ref, layings, now)

    def seen(self, ref: Ref, leaf: str | None) -> Seen:
        return self._read(reading.seen, ref, leaf)

    def record(
        self, ref: Ref, draft: Draft | None, below: recording.Below | None, usage: Usage | None, now: int
    ) -> None:
        self._write(recording.record, ref, draft, below, usage, now)

    def next_number(self, ref: Ref) -> int:
        return self._read(reading.next_number, ref)

    def get_block(self, ref: Ref, scope: Scope, label: str) -> context.Stored:
        return self._read(context.get_block, ref, scope, label)

    def get_blocks(self, ref: Ref) -> dict[tuple[Scope, str], context.Stored]:
        return self._read(context.get_blocks, ref)

    def swap_block(self, ref: Ref, scope: Scope, label: str, expected: int, lines: Sequence[Line], now: int) -> bool:
        return self._write_once(context.swap_block, ref, scope, label, expected, lines, now)

    def live_prompt(self, ref: Ref, known: Prompt | None) -> Prompt | None:
        return self._read(context.live_prompt, ref, known)

    def freeze(
        self, ref: Ref, draft: PromptDraft, reason: str, expected: int | None, made_of: context.Changes, now: int
    ) -> Prompt | None:
        return self._write(context.freeze, ref, draft, reason, expected, made_of, now)

    def forget_prompt(self, ref: Ref, now: int) -> bool:
        return self._write(context.forget_prompt, ref, now)

    def freezings(self, ref: Ref) -> list[Freezing]:
        return self._read(context.freezings, ref)

    def take_lease(self, ref: Ref, name: str, holder: str, now: int, until: int) -> bool:
        return self._write(context.take_lease, ref, name, holder, now, until)

    def drop_lease(self, ref: Ref, name: str, holder: str) -> None:
        self._write(context.drop_lease, ref, name, holder)

    def put_entry(
        self,
        ref: Ref,
        scope: Scope,
        label: str,
        key: str,
        description: str | None,
        content: str,
        message_id: str | None,
        now: int,
    ) -> bool:
        """Write an entry. Without a description, one that is there keeps its own. Returns whether it replaced one."""
        done = self.put_entry_if(ref, scope, label, "any", key, description, content, message_id, now)
        return done == "replaced"

    def put_entry_if(
        self,
        ref: Ref,
        scope: Scope,
        label: str,
        when: When,
        key: str,
        description: str | None,
        content: str,
        message_id: str | None,
        now: int,
    ) -> Put:
        """The same, only where `when` holds."""
        if description is None and is_key(key):
            description = self._read(entries.description, ref, scope, label, key)
        draft = drafted(key, description, content, message_id)
        return self._write_once(entries.put, ref, scope, label, draft, when, now)

    def get_entry(self, ref: Ref, scope: Scope, label: str, key: str) -> Entry | None:
        return self._read(entries.get, ref, scope, label, key) if is_key(key) else None

    def remove_entry(self, ref: Ref, scope: Scope, label: str, key: str, now: int) -> bool:
        return is_key(key) and self._write_once(entries.remove, ref, scope, label, key, now)

    def list_entries(self, ref: Ref, scope: Scope, label: str) -> list[EntryInfo]:
        return self._read(entries.listing, ref, scope, label)

    def count_entries(self, ref: Ref, scope: Scope, label: str) -> int:
        return self._read(entries.count, ref, scope, label)

    def search_entries(self, ref: Ref, scope: Scope, label: str, query: Query, limit: int) -> list[EntryHit]:
        """The best matches. What waits to be indexed is indexed first, and a damaged index made anew."""
        for _ in range(3):  # what waited is indexed first; and damage may show only when that has been done
            try:
                found = self._read(entries.search, ref, scope, label, query, limit)
            except DamagedIndexError:
                self._write(entries.condemn)
                found = None
            if found is not None:
                return found
            self.catch_up_entries(False)
        return self._read(entries.search, ref, scope, label, query, limit) or []

    def catch_up_entries(self, anew: bool) -> None:
        """Index the entries that are not indexed as this version would, or (`anew`) all."""
        more = anew or self._read(entries.waits)
        while more:
            more = self._write(entries.catch_up, anew)
            anew = False

    def info(self, ref: Ref) -> SessionInfo | None:
        return self._read(sessions.info, ref)

    def listing(self, namespace: str, limit: int | None) -> list[SessionInfo]:
        return self._read(sessions.listing, namespace, limit)

    def describe(self, ref: Ref, changes: dict[str, Any], now: int) -> None:
        self._write(sessions.describe, ref, changes, now)

    def delete_session(self, ref: Ref, now: int) -> bool:
        return self._write_once(editing.delete_session, ref, now)

    def was_deleted(self, ref: Ref) -> bool:
        return self._read(sessions.was_deleted, ref)

    def add_events(self, ref: Ref, events: Sequence[tuple[str, str, int, bytes, int | None]], now: int) -> int:
        return self._write_once(sessions.add_events, ref, events, now)

    def events(self, ref: Ref) -> list[Event]:
        return self._read(sessions.events, ref)

    def add_usage(self, ref: Ref, rows: Sequence[Usage], now: int) -> int:
        return self._write_once(sessions.add_usage, ref, rows, now)

    def usage(self, ref: Ref) -> list[Usage]:
        return self._read(sessions.usage, ref)

    def newest_usage(self, ref: Ref) -> list[Usage]:
        return self._read(sessions.newest_usage, ref)

    def deletions(self, ref: Ref) -> list[Deletion]:
        return self._read(sessions.deletions, ref)

    def store_info(self, namespace: str) -> StoreInfo:
        return self._read(sessions.store_info, namespace)

    def session_ids(self, namespace: str) -> list[str]:
        return self._read(checking.session_ids, namespace)

    def check_database(self) -> list[Problem]:
        return self._read(checking.check_database)

    def verify_shared(self, namespace: str) -> list[Problem]:
        return self._read(checking.check_shared, namespace, False, 0)

    def repair_shared(self, namespace: str, now: int) -> list[Problem]:
        return self._write(checking.check_shared, namespace, True, now)

    def verify(self, ref: Ref) -> tuple[int, list[Problem]]:
        return self._read(checking.verify, ref)

    def repair(self, ref: Ref, now: int) -> tuple[int, list[Problem]]:
        return self._write(checking.repair, ref, now)

    def copy_originals(self, namespace: str, after: int) -> list[Original]:
        return self._read(copying.originals, namespace, after)

    def copy_deleted(self, namespace: str, after: str) -> list[tuple[str, int, int]]:
        return self._read(copying.deleted, namespace, after)

    def copy_states(self, namespace: str, ids: Sequence[str]) -> list[State]:
        return self._read(copying.states, namespace, ids)

    def copy_start(self, ref: Ref) -> copying.Start | None:
        return self._read(copying.start, ref)

    def copy_page(self, ref: Ref, begun: copying.Start, place: copying.Place, prepare: bool) -> copying.Page | None:
        return self._read(copying.page, ref, begun, place, prepare)

    def copy_put(self, ref: Ref, row: tuple[Any, ...], rows: Spool, expected: State, now: int) -> bool:
        return self._write(copying.put, ref, row, rows, expected, now)

    def copy_adopt(self, ref: Ref, expected: State) -> bool:
        return self._write(copying.adopt, ref, expected)

    def copy_drop(self, ref: Ref, change: int, deleted_at: int) -> bool:
        return self._write(copying.drop, ref, change, deleted_at)

    def copy_bury(self, ref: Ref, change: int, deleted_at: int) -> bool:
        return self._write(copying.bury, ref, change, deleted_at)

    def copy_shared(self, namespace: str, after: tuple[str, str]) -> sharing.Page:
        return self._read(sharing.page, namespace, after)

    def copy_shared_put(self, namespace: str, rows: Sequence[tuple[Any, Any]], dry_run: bool) -> list[tuple[str, str]]:
        return self._write(sharing.put, namespace, rows, dry_run)

    def copy_shared_blocks(self, namespace: str) -> list[sharing.Row]:
        return self._read(sharing.blocks, namespace)

    def copy_shared_put_blocks(self, namespace: str, rows: Sequence[sharing.Row], dry_run: bool) -> list[str]:
        return self._write(sharing.put_blocks, namespace, rows, dry_run)

    def copy_shared_deleted(self, namespace: str) -> list[tuple[str, str]]:
        return self._read(sharing.deleted, namespace)

    def copy_shared_drop(
        self, namespace: str, gone: Sequence[tuple[str, str]], dry_run: bool, now: int
    ) -> list[tuple[str, str]]:
        return self._write(sharing.drop, namespace, gone, dry_run, now)
