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
from .database import AsyncDriver
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


class AsyncEngine:
    """Raw paths and raw overlays in a database. Policy is for those who call it."""

    def __init__(self, driver: AsyncDriver) -> None:
        self._driver = driver
        self._write, self._write_once, self._read = driver.write, driver.write_once, driver.read

    @property
    def location(self) -> str:
        return self._driver.location

    async def connect(self) -> None:
        """Open the database, if it is not open yet."""
        await self._driver.ready()

    async def close(self) -> None:
        await self._driver.close()

    async def append(
        self, ref: Ref, drafts: Sequence[Draft], parent: Named | None, expect_leaf: Named | None, now: int
    ) -> Appended:
        return await self._write(appending.append, ref, drafts, parent, expect_leaf, now)

    async def ingest(self, ref: Ref, incoming: Sequence[Message], now: int) -> Ingested:
        return await self._write_once(ingesting.ingest, ref, incoming, now)

    async def update(self, ref: Ref, draft: Draft, now: int) -> None:
        await self._write(editing.update, ref, draft, now)

    async def delete(self, ref: Ref, message_ids: Sequence[str], now: int) -> int:
        return await self._write_once(editing.delete, ref, message_ids, now)

    async def redact(self, ref: Ref, message_id: str, remake: Callable[[Message], Draft], now: int) -> list[str]:
        dropped = await self._write_once(editing.redact, ref, message_id, remake, now)
        await self._driver.scrub()
        return dropped

    async def search(self, asked: Asked, complete: bool) -> list[Found] | None:
        try:
            return await self._read(searching.search, asked, complete)
        except DamagedIndexError:
            await self._write(catching_up.condemn)
            return None

    async def search_waits(self) -> bool:
        """Whether something must be indexed before a search sees everything."""
        return await self._read(catching_up.waits)

    async def catch_up(self, anew: bool, cursor: Cursor, done: int) -> Progress:
        return await self._write(catching_up.catch_up, anew, cursor, done)

    async def clear(self, ref: Ref, now: int) -> int:
        return await self._write_once(editing.clear, ref, now)

    async def switch(self, ref: Ref, leaf: str, now: int) -> str:
        return await self._write(editing.switch, ref, leaf, now)

    async def history(self, ref: Ref, leaf: str | None, raw: bool) -> list[Message]:
        return await self._read(reading.history, ref, leaf, raw)

    async def first_page(self, ref: Ref, leaf: str | None, raw: bool, newest_first: bool) -> tuple[list[Message], Plan]:
        return await self._read(reading.first_page, ref, leaf, raw, newest_first)

    async def next_page(self, planned: Plan, newest_first: bool) -> tuple[list[Message], Plan]:
        return await self._read(reading.next_page, planned, newest_first)

    async def recent(
        self,
        ref: Ref,
        leaf: str | None,
        max_messages: int | None,
        max_bytes: int | None,
        min_messages: int,
        max_turns: int | None,
    ) -> Recent:
        return await self._read(reading.recent, ref, leaf, max_messages, max_bytes, min_messages, max_turns)

    async def message(self, ref: Ref, message_id: str) -> Message | None:
        return await self._read(reading.get, ref, message_id)

    async def leaf(self, ref: Ref) -> Message | None:
        return await self._read(reading.leaf, ref)

    async def branches(self, ref: Ref, message_id: str | None) -> list[Message]:
        return await self._read(reading.branches, ref, message_id)

    async def path_length(self, ref: Ref, leaf: str | None) -> int:
        return await self._read(reading.path_length, ref, leaf)

    async def totals(self, ref: Ref, leaf: str | None, raw: bool) -> Totals:
        return await self._read(reading.totals, ref, leaf, raw)

    async def outline(self, ref: Ref) -> list[Outline]:
        return await self._read(reading.outline, ref)

    async def overlays(self, ref: Ref) -> list[Overlay]:
        return await self._read(reading.overlays, ref)

    async def add_summary(
        self, ref: Ref, overlay_id: str, text: str, first: str, last: str, made: int, now: int
    ) -> Overlay:
        return await self._write(overlaying.add_summary, ref, overlay_id, text, first, last, made, now, {})

    async def weigh(self, ref: Ref) -> Weight:
        return await self._read(compacting.weigh, ref)

    async def elsewhere(self, ref: Ref, leaf: str) -> list[Elsewhere]:
        return await self._read(compacting.elsewhere, ref, leaf)

    async def lay_summary(self, ref: Ref, laid: Laid, now: int) -> Overlay | None:
        return await self._write(compacting.lay_summary, ref, laid, now)

    async def last_event(self, ref: Ref, kind: str) -> tuple[Any, int] | None:
        return await self._read(sessions.last_event, ref, kind)

    async def undo(self, ref: Ref, overlay_id: str, now: int) -> Overlay:
        return await self._write_once(overlaying.undo, ref, overlay_id, now)

    async def lay(self, ref: Ref, layings: Sequence[Laying], now: int) -> list[str]:
        return await self._write(overlaying.lay, ref, layings, now)

    async def seen(self, ref: Ref, leaf: str | None) -> Seen:
        return await self._read(reading.seen, ref, leaf)

    async def record(
        self, ref: Ref, draft: Draft | None, below: recording.Below | None, usage: Usage | None, now: int
    ) -> None:
        await self._write(recording.record, ref, draft, below, usage, now)

    async def next_number(self, ref: Ref) -> int:
        return await self._read(reading.next_number, ref)

    async def get_block(self, ref: Ref, scope: Scope, label: str) -> context.Stored:
        return await self._read(context.get_block, ref, scope, label)

    async def get_blocks(self, ref: Ref) -> dict[tuple[Scope, str], context.Stored]:
        return await self._read(context.get_blocks, ref)

    async def swap_block(
        self, ref: Ref, scope: Scope, label: str, expected: int, lines: Sequence[Line], now: int
    ) -> bool:
        return await self._write_once(context.swap_block, ref, scope, label, expected, lines, now)

    async def live_prompt(self, ref: Ref, known: Prompt | None) -> Prompt | None:
        return await self._read(context.live_prompt, ref, known)

    async def freeze(
        self, ref: Ref, draft: PromptDraft, reason: str, expected: int | None, made_of: context.Changes, now: int
    ) -> Prompt | None:
        return await self._write(context.freeze, ref, draft, reason, expected, made_of, now)

    async def forget_prompt(self, ref: Ref, now: int) -> bool:
        return await self._write(context.forget_prompt, ref, now)

    async def freezings(self, ref: Ref) -> list[Freezing]:
        return await self._read(context.freezings, ref)

    async def take_lease(self, ref: Ref, name: str, holder: str, now: int, until: int) -> bool:
        return await self._write(context.take_lease, ref, name, holder, now, until)

    async def drop_lease(self, ref: Ref, name: str, holder: str) -> None:
        await self._write(context.drop_lease, ref, name, holder)

    async def put_entry(
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
        done = await self.put_entry_if(ref, scope, label, "any", key, description, content, message_id, now)
        return done == "replaced"

    async def put_entry_if(
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
            description = await self._read(entries.description, ref, scope, label, key)
        draft = drafted(key, description, content, message_id)
        return await self._write_once(entries.put, ref, scope, label, draft, when, now)

    async def get_entry(self, ref: Ref, scope: Scope, label: str, key: str) -> Entry | None:
        return await self._read(entries.get, ref, scope, label, key) if is_key(key) else None

    async def remove_entry(self, ref: Ref, scope: Scope, label: str, key: str, now: int) -> bool:
        return is_key(key) and await self._write_once(entries.remove, ref, scope, label, key, now)

    async def list_entries(self, ref: Ref, scope: Scope, label: str) -> list[EntryInfo]:
        return await self._read(entries.listing, ref, scope, label)

    async def count_entries(self, ref: Ref, scope: Scope, label: str) -> int:
        return await self._read(entries.count, ref, scope, label)

    async def search_entries(self, ref: Ref, scope: Scope, label: str, query: Query, limit: int) -> list[EntryHit]:
        """The best matches. What waits to be indexed is indexed first, and a damaged index made anew."""
        for _ in range(3):  # what waited is indexed first; and damage may show only when that has been done
            try:
                found = await self._read(entries.search, ref, scope, label, query, limit)
            except DamagedIndexError:
                await self._write(entries.condemn)
                found = None
            if found is not None:
                return found
            await self.catch_up_entries(False)
        return await self._read(entries.search, ref, scope, label, query, limit) or []

    async def catch_up_entries(self, anew: bool) -> None:
        """Index the entries that are not indexed as this version would, or (`anew`) all."""
        more = anew or await self._read(entries.waits)
        while more:
            more = await self._write(entries.catch_up, anew)
            anew = False

    async def info(self, ref: Ref) -> SessionInfo | None:
        return await self._read(sessions.info, ref)

    async def listing(self, namespace: str, limit: int | None) -> list[SessionInfo]:
        return await self._read(sessions.listing, namespace, limit)

    async def describe(self, ref: Ref, changes: dict[str, Any], now: int) -> None:
        await self._write(sessions.describe, ref, changes, now)

    async def delete_session(self, ref: Ref, now: int) -> bool:
        return await self._write_once(editing.delete_session, ref, now)

    async def was_deleted(self, ref: Ref) -> bool:
        return await self._read(sessions.was_deleted, ref)

    async def add_events(self, ref: Ref, events: Sequence[tuple[str, str, int, bytes, int | None]], now: int) -> int:
        return await self._write_once(sessions.add_events, ref, events, now)

    async def events(self, ref: Ref) -> list[Event]:
        return await self._read(sessions.events, ref)

    async def add_usage(self, ref: Ref, rows: Sequence[Usage], now: int) -> int:
        return await self._write_once(sessions.add_usage, ref, rows, now)

    async def usage(self, ref: Ref) -> list[Usage]:
        return await self._read(sessions.usage, ref)

    async def newest_usage(self, ref: Ref) -> list[Usage]:
        return await self._read(sessions.newest_usage, ref)

    async def deletions(self, ref: Ref) -> list[Deletion]:
        return await self._read(sessions.deletions, ref)

    async def store_info(self, namespace: str) -> StoreInfo:
        return await self._read(sessions.store_info, namespace)

    async def session_ids(self, namespace: str) -> list[str]:
        return await self._read(checking.session_ids, namespace)

    async def check_database(self) -> list[Problem]:
        return await self._read(checking.check_database)

    async def verify_shared(self, namespace: str) -> list[Problem]:
        return await self._read(checking.check_shared, namespace, False, 0)

    async def repair_shared(self, namespace: str, now: int) -> list[Problem]:
        return await self._write(checking.check_shared, namespace, True, now)

    async def verify(self, ref: Ref) -> tuple[int, list[Problem]]:
        return await self._read(checking.verify, ref)

    async def repair(self, ref: Ref, now: int) -> tuple[int, list[Problem]]:
        return await self._write(checking.repair, ref, now)

    async def copy_originals(self, namespace: str, after: int) -> list[Original]:
        return await self._read(copying.originals, namespace, after)

    async def copy_deleted(self, namespace: str, after: str) -> list[tuple[str, int, int]]:
        return await self._read(copying.deleted, namespace, after)

    async def copy_states(self, namespace: str, ids: Sequence[str]) -> list[State]:
        return await self._read(copying.states, namespace, ids)

    async def copy_start(self, ref: Ref) -> copying.Start | None:
        return await self._read(copying.start, ref)

    async def copy_page(
        self, ref: Ref, begun: copying.Start, place: copying.Place, prepare: bool
    ) -> copying.Page | None:
        return await self._read(copying.page, ref, begun, place, prepare)

    async def copy_put(self, ref: Ref, row: tuple[Any, ...], rows: Spool, expected: State, now: int) -> bool:
        return await self._write(copying.put, ref, row, rows, expected, now)

    async def copy_adopt(self, ref: Ref, expected: State) -> bool:
        return await self._write(copying.adopt, ref, expected)

    async def copy_drop(self, ref: Ref, change: int, deleted_at: int) -> bool:
        return await self._write(copying.drop, ref, change, deleted_at)

    async def copy_bury(self, ref: Ref, change: int, deleted_at: int) -> bool:
        return await self._write(copying.bury, ref, change, deleted_at)

    async def copy_shared(self, namespace: str, after: tuple[str, str]) -> sharing.Page:
        return await self._read(sharing.page, namespace, after)

    async def copy_shared_put(
        self, namespace: str, rows: Sequence[tuple[Any, Any]], dry_run: bool
    ) -> list[tuple[str, str]]:
        return await self._write(sharing.put, namespace, rows, dry_run)

    async def copy_shared_blocks(self, namespace: str) -> list[sharing.Row]:
        return await self._read(sharing.blocks, namespace)

    async def copy_shared_put_blocks(self, namespace: str, rows: Sequence[sharing.Row], dry_run: bool) -> list[str]:
        return await self._write(sharing.put_blocks, namespace, rows, dry_run)

    async def copy_shared_deleted(self, namespace: str) -> list[tuple[str, str]]:
        return await self._read(sharing.deleted, namespace)

    async def copy_shared_drop(
        self, namespace: str, gone: Sequence[tuple[str, str]], dry_run: bool, now: int
    ) -> list[tuple[str, str]]:
        return await self._write(sharing.drop, namespace, gone, dry_run, now)
