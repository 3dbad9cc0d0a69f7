"""The tree of a session: writing and reading messages, what is laid over them, and what is kept beside them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Literal, overload

from .. import _json
from .._ids import RESERVED_PREFIX, check_id, is_id
from ..content import Kind
from ..drafting import Draft, draft
from ..errors import InvalidIdError, InvalidMessageError, SessionNotFoundError
from ..indexing import count
from ..messages import Message, MessageLike, Role
from ..moments import to_micros
from ..overlays import Overlay
from ..places import ACTIVE, Place, id_of, maybe_id, named, storable
from ..records import (
    Check,
    Deletion,
    Event,
    Hits,
    Ingested,
    Lineage,
    Outline,
    Recent,
    Ref,
    SessionInfo,
    Totals,
    Usage,
)
from ..redaction import redacted
from ..tokens import TokenCounter

# What a program needs that only reads and writes messages is loaded with this module, the rest when it is asked for.
if TYPE_CHECKING:
    from ..compactor import CompactionRecipe
    from ..spec import SessionSpec
    from .compacting import AsyncCompacting
    from .context import AsyncContext
    from .store import AsyncStore


class AsyncTree:
    """What a session is without a model: messages, overlays, events, usage."""

    def __init__(self, store: AsyncStore, id: str, spec: SessionSpec | None = None) -> None:
        self.store: Final = store
        self.id: Final = check_id("session", id)
        self._engine = store._engine
        self._ref = Ref(store.namespace_name, self.id)
        self._has_prompt = spec is not None
        self._truncation = None if spec is None else spec.truncation
        self._made: AsyncContext | None = None
        self._compacting: AsyncCompacting | None = None
        if spec is not None:
            self._make_context(spec)  # what is wrong with it shows here
            if spec.compaction is not None:
                self._compacting = self._make_compacting(spec.compaction)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id!r} in {self.store!r}>"

    # -- writing ----------------------------------------------------------------------------------------------------

    @overload
    async def append(
        self, message: MessageLike, *, parent: Place | None = ..., expect_leaf: Place | None = ...
    ) -> Message: ...
    @overload
    async def append(
        self, message: Sequence[MessageLike], *, parent: Place | None = ..., expect_leaf: Place | None = ...
    ) -> list[Message]: ...
    async def append(
        self,
        message: MessageLike | Sequence[MessageLike],
        *,
        parent: Place | None = ACTIVE,
        expect_leaf: Place | None = ACTIVE,
    ) -> Message | list[Message]:
        """Append one message, or several as a chain in one transaction. Returns what was stored, with its ids.

        Without `parent` it goes below the active leaf; `parent=None` begins a new root; a parent that has children
        already gets another branch. The last message becomes the active leaf. Messages without an id get one before
        the first attempt. Appending an id again with the same content does nothing; with other content, or under
        another named parent, it is a ConflictError. (Tool calls are not compared: `ingest` takes in a later state of
        one.) With `expect_leaf` the append fails with LeafMovedError when the active leaf is another one (None: when
        there is any).
        """
        single = isinstance(message, (Message, dict, Mapping))
        items = [message] if isinstance(message, (Message, Mapping)) else message
        messages = [self._mint(Message.of(item)) for item in items]
        if messages:
            drafts = [draft(item) for item in messages]
            done = await self._engine.append(self._ref, drafts, named(parent), named(expect_leaf), self.store.now())
            if self._made is not None:
                await self._made.stored(messages)
            if self._compacting is not None:
                await self._compacting.watch(done if parent is ACTIVE else None)
        return messages[0] if single else messages

    async def update(self, message: MessageLike) -> Message:
        """Replace the content of a stored message. Raises MessageNotFoundError for an id that is not there.

        At the active leaf this costs the same however long the history is; further up, the narrow rows of all
        that follows are touched, in one statement.
        """
        whole = Message.of(message)
        if not whole.id:
            raise InvalidMessageError("an update needs the id of the message it replaces")
        await self._engine.update(self._ref, draft(whole), self.store.now())
        return whole

    async def ingest(self, messages: Iterable[MessageLike]) -> Ingested:
        """Take in a client's whole list (or the tail of it, from a message whose id is stored).

        What is stored already is recognised by id, by tool-call id within the open turn, or by position. An answer
        is only ever made more complete; of a user's message the client's text wins. The rest is appended where the
        client has it. Nothing is deleted; what was deleted or redacted here stays so.
        """
        incoming = [self._mint(Message.of(item), reserved=True) for item in messages]
        done = await self._engine.ingest(self._ref, incoming, self.store.now())
        if self._made is not None:
            await self._made.stored(incoming)
        if self._compacting is not None:
            await self._compacting.watch(None)
        return done

    async def delete(self, ids: Place | Iterable[Place]) -> int:
        """Delete messages; what hangs on them moves up to their parents. Returns how many were there.

        Ids that are not there are passed over. When the active leaf goes, its parent becomes the leaf (none, for a
        root). Summaries whose ends go shrink, and are stale; what they say of the messages stays (`redact` takes it).
        """
        places = [ids] if isinstance(ids, (str, Message, Mapping)) else list(ids)
        return await self._engine.delete(self._ref, [id_of(place) for place in places], self.store.now())

    async def redact(self, id: Place) -> tuple[str, ...]:
        """Remove a message's content for good, and the summaries made from it; its place in the tree stays.

        What is left is the text `[redacted]`, or the ids and names of its tool calls and results. A title that was
        taken from the message goes too. The freed bytes are overwritten in the file, and the write-ahead log is
        emptied if no other process is reading. Of a message that was deleted, what it wrote to blocks and entries
        goes. Returns the ids of the summaries that went. Raises MessageNotFoundError for an id that was never there.
        """
        dropped = await self._engine.redact(self._ref, id_of(id), _remake, self.store.now())
        if self._made is not None:
            self._made.thaw()
        return tuple(dropped)

    async def clear(self) -> int:
        """Delete all messages and overlays; the session, its blocks, events and usage stay. Returns how many.

        A frozen prompt is rendered anew.
        """
        frozen = None if self._made is None else await self._made.frozen()
        deleted = await self._engine.clear(self._ref, self.store.now())
        if self._made is not None:
            self._made.thaw()
            if frozen is not None:
                await self._made.refresh("cleared")
        return deleted

    async def switch(self, leaf: Place) -> str:
        """Make a message the active leaf, and return its id. It may stand anywhere in the tree.

        The id of a summary's message means the last message that it covers. Raises MessageNotFoundError.
        """
        return await self._engine.switch(self._ref, id_of(leaf), self.store.now())

    # -- reading ----------------------------------------------------------------------------------------------------

    async def history(self, leaf: Place | None = None, *, raw: bool = False) -> list[Message]:
        """The path from its root to `leaf` (the active leaf if None), oldest first.

        Ranges under a summary are shown as the summary: a user message with the id `compaction_<overlay id>`.
        Results under a marker, such as a skill that was unloaded, are shown as its text. `raw` shows the messages as
        they are stored. Raises CorruptMessageError for one that cannot be read.
        """
        return await self._engine.history(self._ref, maybe_id(leaf), raw)

    async def iter_history(
        self, leaf: Place | None = None, *, raw: bool = False, newest_first: bool = False
    ) -> AsyncIterator[Message]:
        """The messages of `history`, read page by page as they are asked for, from either end.

        Each is decoded when its parts are asked for; one that cannot be read raises CorruptMessageError then, and the
        others go on. Between pages nothing is held open, so writers never wait. What is appended meanwhile is not
        seen; what is deleted meanwhile may be missing.
        """
        page, planned = await self._engine.first_page(self._ref, maybe_id(leaf), raw, newest_first)
        while True:
            for message in page:
                yield message
            if not planned.pieces:
                return
            page, planned = await self._engine.next_page(planned, newest_first)

    async def recent(
        self,
        max_messages: int | None = None,
        *,
        max_bytes: int | None = None,
        min_messages: int = 1,
        max_turns: int | None = None,
        leaf: Place | None = None,
    ) -> Recent:
        """The newest messages that a history shows, oldest first, within all limits.

        `max_bytes` counts the JSON of the messages; at least `min_messages` come back even when they are larger.
        `max_turns` are whole turns: a user's message, and everything up to the next one. 0 messages or turns give none.
        Costs what it returns, however long the history is.
        """
        limits = {"max_messages": max_messages, "max_bytes": max_bytes, "min_messages": min_messages}
        for name, value in {**limits, "max_turns": max_turns}.items():
            if value is not None and value < 0:
                raise ValueError(f"{name} must not be negative, got {value}")
        return await self._engine.recent(self._ref, maybe_id(leaf), max_messages, max_bytes, min_messages, max_turns)

    async def message(self, id: Place) -> Message | None:
        """One message as it is stored, or None. The id of a summary's message gives that message."""
        message_id = id_of(id)
        return await self._engine.message(self._ref, message_id) if is_id(message_id) else None

    async def leaf(self) -> Message | None:
        """The active leaf, or None in an empty session."""
        return await self._engine.leaf(self._ref)

    async def branches(self, id: Place | None) -> list[Message]:
        """The children of a message, in the order they were appended. None: the roots."""
        return await self._engine.branches(self._ref, maybe_id(id))

    async def path_length(self, leaf: Place | None = None) -> int:
        """How many stored messages the path to `leaf` has, whatever lies over them."""
        return await self._engine.path_length(self._ref, maybe_id(leaf))

    async def totals(self, leaf: Place | None = None, *, raw: bool = False) -> Totals:
        """What the history at `leaf` (the active leaf if None) comes to: messages, bytes, and tokens by family.

        `raw` counts the messages as they are stored, without the summaries laid over them. The numbers are kept as
        running totals, so this costs the same however long the history is.
        """
        return await self._engine.totals(self._ref, maybe_id(leaf), raw)

    async def count_tokens(self, counter: TokenCounter, leaf: Place | None = None, *, raw: bool = False) -> int:
        """The tokens of a history by a counter of the caller's, such as `glassine.tokens.o200k_counter()`.

        It is given what the estimates are made from: for each message one text, with the inputs and outputs of tools
        as JSON. The frame of a message and media are added as in family `o200k`. Reads the whole history, by page.
        """
        total = 0
        async for message in self.iter_history(leaf, raw=raw):
            total += count(message, counter)
        return total

    async def outline(self) -> list[Outline]:
        """The whole tree, without content, in the order of insertion: parents come before their children."""
        return await self._engine.outline(self._ref)

    async def search(
        self,
        query: str,
        limit: int = 20,
        *,
        scope: Literal["session", "path"] = "session",
        roles: Iterable[Role] | None = None,
        kinds: Iterable[Kind] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Hits:
        """Full-text search in this session, in any language. Any text is a valid query.

        Each word must occur (words in quotation marks as a phrase); what contains all of them comes first, then,
        up to `limit`, what contains some. `scope="path"` leaves out the other branches. `roles` and `kinds` ("text",
        "tool_input", "tool_output", "reasoning") narrow it down, as do `since` (inclusive) and `until` (exclusive).
        """
        if scope not in ("session", "path"):
            raise ValueError(f"scope must be 'session' or 'path', not {scope!r}")
        return await self.store._look(query, limit, self.id, scope == "path", roles, kinds, since, until)

    # -- overlays ---------------------------------------------------------------------------------------------------

    async def add_compaction(
        self, summary: str, first: Place, last: Place, *, id: str | None = None, created_at: datetime | None = None
    ) -> Overlay:
        """Lay a summary over the messages from `first` to `last` on one path.

        It is shown on every path that holds the whole range, and covers the summaries inside it. The same summary
        laid again under the same `id` changes nothing; another one under that id is a ConflictError. Raises
        InvalidRangeError when the ends are not in order on a path, or the range cuts through another summary or
        lies inside it; ValueError for a blank summary. `created_at` is when the summary was made, now if None.
        """
        if not summary.strip():
            raise ValueError("a summary must not be blank")
        overlay_id = check_id("overlay", id) if id is not None else self.store.new_id()
        first_id, last_id = id_of(first), id_of(last)
        now = self.store.now()
        made = now if created_at is None else to_micros(created_at)
        return await self._engine.add_summary(self._ref, overlay_id, summary, first_id, last_id, made, now)

    async def overlays(self) -> list[Overlay]:
        """Everything laid over this session, in the order it was laid."""
        return await self._engine.overlays(self._ref)

    async def compactions(self) -> list[Overlay]:
        """The summaries among the overlays."""
        return [overlay for overlay in await self.overlays() if overlay.kind == "summary"]

    async def undo(self, overlay: Overlay | str) -> Overlay:
        """Take an overlay off; what lay beneath shows again. Raises OverlayNotFoundError."""
        overlay_id = overlay.id if isinstance(overlay, Overlay) else overlay.removeprefix(RESERVED_PREFIX)
        taken = await self._engine.undo(self._ref, overlay_id, self.store.now())
        if self._compacting is not None and taken.kind == "summary":
            await self._compacting.undone()
        return taken

    # -- beside the tree --------------------------------------------------------------------------------------------

    async def info(self) -> SessionInfo:
        """The session's description and counts. Raises SessionNotFoundError before its first write."""
        found = await self._engine.info(self._ref)
        if found is None:
            raise SessionNotFoundError(self.id, namespace=self._ref.namespace)
        return found

    async def describe(
        self,
        *,
        title: str | None = None,
        source: str | None = None,
        model: str | None = None,
        lineage: Lineage | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Set what is given of the session's description; None leaves a field as it is.

        Creates the session if it is not there. `source` says where the conversation comes from, `model` which model
        it is held with, both in words of the caller's. NUL and lone surrogates in them are replaced by U+FFFD.
        """
        changes: dict[str, Any] = {"title": title, "source": source, "model": model}
        if lineage is not None:
            changes["lineage_kind"] = lineage.kind
            changes["lineage_session"] = lineage.session_id
            changes["lineage_message"] = lineage.message_id
        if metadata is not None:
            changes["metadata"] = _json.encode(dict(metadata))[1]
        given = {name: storable(value) for name, value in changes.items() if value is not None}
        await self._engine.describe(self._ref, given, self.store.now())

    async def add_event(
        self, kind: str, data: Any = None, *, created_at: datetime | None = None, id: str | None = None
    ) -> bool:
        """Store something that belongs to the conversation but is no context. False if the id is there already."""
        return await self.add_events([(kind, data, created_at, id)]) == 1

    async def add_events(self, events: Iterable[tuple[str, Any, datetime | None, str | None]]) -> int:
        """Store many events, each (kind, data, created_at, id), in one transaction. Returns how many were new."""
        rows = [
            (
                self.store.new_id() if id is None else check_id("event", id),
                check_id("event kind", kind),
                *_json.encode(data),
                None if created_at is None else to_micros(created_at),
            )
            for kind, data, created_at, id in events
        ]
        return await self._engine.add_events(self._ref, rows, self.store.now()) if rows else 0

    async def events(self) -> list[Event]:
        """The session's events in the order they were stored."""
        return await self._engine.events(self._ref)

    async def add_usage(self, *usage: Usage) -> int:
        """Store what requests took; a row whose id is there already is passed over. Returns how many were new."""
        rows = [self._usage_row(item) for item in usage]
        return await self._engine.add_usage(self._ref, rows, self.store.now()) if rows else 0

    async def usage(self) -> list[Usage]:
        """One row per request, in the order they were stored. They outlive the messages."""
        return await self._engine.usage(self._ref)

    async def deletions(self) -> list[Deletion]:
        """What was deleted from this session, so that copies and imports do not bring it back."""
        return await self._engine.deletions(self._ref)

    async def verify(self) -> Check:
        """Look at every row of this session and name what is wrong. Changes nothing."""
        messages, problems = await self._engine.verify(self._ref)
        return Check(1, messages, tuple(problems))

    async def repair(self) -> Check:
        """Mend what `verify` finds: messages that cannot be read go to quarantine, with their bytes kept."""
        messages, problems = await self._engine.repair(self._ref, self.store.now())
        return Check(1, messages, tuple(problems))

    # -- inside -----------------------------------------------------------------------------------------------------

    @property
    def _context(self) -> AsyncContext:
        if self._made is None:
            from ..spec import SessionSpec

            return self._make_context(SessionSpec())
        return self._made

    def _make_context(self, spec: SessionSpec) -> AsyncContext:
        from .context import AsyncContext

        self._made = AsyncContext(self._engine, self._ref, spec, self.store.now, self.store.new_id)
        return self._made

    def _make_compacting(self, compacting: CompactionRecipe) -> AsyncCompacting:
        from .compacting import AsyncCompacting

        return AsyncCompacting(self, compacting)

    def _usage_row(self, usage: Usage) -> Usage:
        id = check_id("usage", usage.id) if usage.id else self.store.new_id()
        names = ("kind", "message_id", "leaf_id", "model", "route", "price_source")
        return replace(usage, id=id, **{name: storable(getattr(usage, name)) for name in names})

    def _mint(self, message: Message, *, reserved: bool = False) -> Message:
        if not message.id:
            return message.with_id(self.store.new_id())
        check_id("message", message.id)
        if message.id.startswith(RESERVED_PREFIX) and not reserved:
            raise InvalidIdError("message", message.id, f"the prefix {RESERVED_PREFIX!r} is for summaries")
        return message


def _remake(message: Message) -> Draft:
    return draft(redacted(message))
