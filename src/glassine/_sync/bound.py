# Generated from src/glassine/_async/bound.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""Blocks bound to where their content is: a text of the spec, the database, or an object of the caller's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from .._keeping import Repeating
from .._waiting import AWAITS, Gate, call, sleep
from ..binding import SearchableEntries, Shape, SkillTable, shape_of
from ..blocks import BlockKind, appended, check_budget
from ..entries import Entry, EntryInfo, listing, results_text
from ..errors import GlassineError, InvalidSpecError, ProviderError, ReadOnlyBlockError
from ..origins import NOBODY, Line, Origin, rewritten
from ..searching import parse_query
from ..spec import BlockSpec
from ..tools import MAX_RESULTS

if TYPE_CHECKING:
    from .context import Context

NO_ENTRIES = "it has no entries that are stored in the database"
LEASE_SECONDS = 30
"""How long a holder that died keeps others from writing to a caller's block. One that lives prolongs its lease."""
LOST = "it took so long that the lease of the block ran out, and another holder may have written meanwhile"


class Bound(Protocol):
    """A block of one session. What a kind of block cannot do, is never asked of it."""

    spec: BlockSpec
    kind: BlockKind
    writable: bool

    def get(self) -> str:
        """What stands in the prompt."""

    def write(self, content: str, append: bool, message_id: str | None) -> str:
        """Replace the content, or add to it. Returns what it is then. Raises BudgetExceededError."""

    def put(self, key: str, content: str, description: str | None, message_id: str | None) -> bool | None:
        """Write an entry. Returns whether it replaced one, None where nobody knows. Raises BudgetExceededError."""

    def search(self, query: str) -> str:
        """The entries that answer a query, as text; empty when none does."""

    def load(self, key: str) -> str | None:
        """The text of an entry, whole."""

    def entries(self) -> list[EntryInfo]:
        """The entries that are stored, in the order of their keys."""

    def entry(self, key: str) -> Entry | None:
        """A stored entry, whole."""

    def remove(self, key: str) -> bool:
        """Remove a stored entry. Returns whether it was there."""


def bind(spec: BlockSpec, context: Context) -> Bound:
    """Bind a block to a session."""
    if spec.text is not None:
        return FixedText(spec)
    if spec.provider is None:
        return StoredBlock(spec, context)
    if isinstance(spec.provider, (SearchableEntries, SkillTable)):
        return StoredEntries(spec, context, spec.provider)
    return Foreign(spec, context, spec.provider, shape_of(spec.label, spec.provider))


class _Unwritten:
    """What a block answers to what it cannot do."""

    spec: BlockSpec

    def write(self, content: str, append: bool, message_id: str | None) -> str:
        raise ReadOnlyBlockError(self.spec.label)

    def put(self, key: str, content: str, description: str | None, message_id: str | None) -> bool | None:
        raise ReadOnlyBlockError(self.spec.label, "it holds no entries that can be written")

    def search(self, query: str) -> str:
        raise ReadOnlyBlockError(self.spec.label, "it is not searchable")

    def load(self, key: str) -> str | None:
        raise ReadOnlyBlockError(self.spec.label, "nothing can be loaded from it")

    def entries(self) -> list[EntryInfo]:
        raise InvalidSpecError(self.spec.label, NO_ENTRIES)

    def entry(self, key: str) -> Entry | None:
        raise InvalidSpecError(self.spec.label, NO_ENTRIES)

    def remove(self, key: str) -> bool:
        raise InvalidSpecError(self.spec.label, NO_ENTRIES)


class FixedText(_Unwritten):
    """A text that stands in the spec."""

    kind: BlockKind = "readonly"
    writable = False

    def __init__(self, spec: BlockSpec) -> None:
        self.spec = spec

    def get(self) -> str:
        return self.spec.text or ""


class StoredBlock(_Unwritten):
    """A text that is stored in the database."""

    kind: BlockKind = "writable"
    writable = True

    def __init__(self, spec: BlockSpec, context: Context) -> None:
        self.spec = spec
        self._context = context

    def get(self) -> str:
        context = self._context
        return context.engine.get_block(context.ref, self.spec.scope, self.spec.label).content

    def lines(self) -> list[Line]:
        """The lines, with the messages that wrote them."""
        context = self._context
        return context.engine.get_block(context.ref, self.spec.scope, self.spec.label).lines

    def write(self, content: str, append: bool, message_id: str | None) -> str:
        context, spec = self._context, self.spec
        # Invariant: what is written was made from what is replaced by it. Tokens are counted between the two
        # transactions, so somebody else may have written meanwhile; then it is made anew, and nobody's line is lost.
        while True:
            stored = context.engine.get_block(context.ref, spec.scope, spec.label)
            new = appended(stored.content, content) if append else content
            check_budget(spec.label, context.count(new), spec.max_tokens)
            origin = NOBODY if message_id is None else Origin(message_id, context.ref.session)
            lines = rewritten(stored.lines, new, origin)
            if context.engine.swap_block(context.ref, spec.scope, spec.label, stored.change, lines, context.now()):
                return new


class StoredEntries(_Unwritten):
    """Entries that are stored in the database."""

    def __init__(self, spec: BlockSpec, context: Context, recipe: SearchableEntries | SkillTable) -> None:
        self.spec = spec
        self.kind: BlockKind = recipe.kind
        self.writable = recipe.writable if isinstance(recipe, SkillTable) else True
        self._context = context

    def get(self) -> str:
        context, spec = self._context, self.spec
        if self.kind == "searchable":
            count = context.engine.count_entries(context.ref, spec.scope, spec.label)
            return f"{count} {'entry' if count == 1 else 'entries'} indexed." if count else ""
        return listing(context.engine.list_entries(context.ref, spec.scope, spec.label))

    def put(self, key: str, content: str, description: str | None, message_id: str | None) -> bool | None:
        context, spec = self._context, self.spec
        check_budget(spec.label, context.count(content), spec.max_tokens, key)
        return context.engine.put_entry(
            context.ref, spec.scope, spec.label, key, description, content, message_id, context.now()
        )

    def search(self, query: str) -> str:
        context, spec = self._context, self.spec
        found = context.engine.search_entries(context.ref, spec.scope, spec.label, parse_query(query), MAX_RESULTS)
        return results_text(found)

    def load(self, key: str) -> str | None:
        context, spec = self._context, self.spec
        entry = context.engine.get_entry(context.ref, spec.scope, spec.label, key)
        return None if entry is None else entry.content

    def entries(self) -> list[EntryInfo]:
        context, spec = self._context, self.spec
        return context.engine.list_entries(context.ref, spec.scope, spec.label)

    def entry(self, key: str) -> Entry | None:
        context, spec = self._context, self.spec
        return context.engine.get_entry(context.ref, spec.scope, spec.label, key)

    def remove(self, key: str) -> bool:
        context, spec = self._context, self.spec
        return context.engine.remove_entry(context.ref, spec.scope, spec.label, key, context.now())


class Foreign(_Unwritten):
    """A block whose content is an object of the caller's: a file, a bucket, a service."""

    def __init__(self, spec: BlockSpec, context: Context, provider: Any, shape: Shape) -> None:
        if shape.coroutine and not AWAITS:
            raise InvalidSpecError(spec.label, "its provider has coroutine functions; use it in an async session")
        self.spec = spec
        self.kind = shape.kind
        self.writable = shape.writable
        self._provider = provider
        self._shape = shape
        self._context = context
        self._gate = Gate()
        self._begun = False

    def get(self) -> str:
        return self._text("get") or ""

    def write(self, content: str, append: bool, message_id: str | None) -> str:
        spec, context = self.spec, self._context
        if self.kind != "writable":
            raise ReadOnlyBlockError(spec.label)
        with self._alone() as lease:
            new = appended(self.get(), content) if append else content
            check_budget(spec.label, context.count(new), spec.max_tokens)
            if not lease.held:
                raise ProviderError(f"{LOST}; nothing was written, call again", source=self._source)
            if append and self._shape.appends:
                self._ask("append", content)
            else:
                self._ask("set", new)
            if not lease.held:
                raise ProviderError(
                    f"{LOST}: what it wrote may be gone, or this; look at the block, and write again what is missing",
                    source=self._source,
                )
        return new

    def put(self, key: str, content: str, description: str | None, message_id: str | None) -> bool | None:
        if not self.writable or self.kind not in ("searchable", "loadable"):
            raise ReadOnlyBlockError(self.spec.label)
        check_budget(self.spec.label, self._context.count(content), self.spec.max_tokens, key)
        more = (description,) if self._shape.described else ()
        replaced = self._ask("set", key, content, *more)
        return replaced if isinstance(replaced, bool) else None

    def search(self, query: str) -> str:
        return self._text("search", query) or ""

    def load(self, key: str) -> str | None:
        return self._text("load", key)

    def _text(self, method: str, *args: Any) -> str | None:
        given = self._ask(method, *args)
        if given is None or isinstance(given, str):
            return given
        raise ProviderError(f"`{method}` gave a {type(given).__name__}, not a text", source=self._source)

    def _ask(self, method: str, *args: Any) -> Any:
        if not self._begun:
            with self._gate:
                # Invariant: `init` is called once, and has returned before anything else is asked.
                self._begin()
        return self._called(method, *args)

    def _begin(self) -> None:
        if not self._begun and callable(getattr(self._provider, "init", None)):
            self._called("init", self.spec.label)
        self._begun = True

    def _called(self, method: str, *args: Any) -> Any:
        try:
            return call(getattr(self._provider, method), *args)
        except GlassineError:
            raise
        except Exception as error:
            reason = f"`{method}` failed: {type(error).__name__}: {error}"
            raise ProviderError(reason, source=self._source) from error

    @property
    def _source(self) -> str:
        return f"block {self.spec.label!r}"

    @contextmanager
    def _alone(self) -> Iterator[_Lease]:
        """Keeps other sessions' holders from writing at the same time, as long as they go through glassine."""
        lease = _Lease(self._context, f"block:{self.spec.label}")
        pause = 0.005
        while not lease.take():
            sleep(pause)
            pause = min(2 * pause, 0.25)
        try:
            with Repeating(lease.prolong, LEASE_SECONDS / 3):
                yield lease
        finally:
            lease.drop()


class _Lease:
    """A right that one holder has at a time. It ends by itself unless it is prolonged."""

    def __init__(self, context: Context, name: str) -> None:
        self._context, self._name, self._holder = context, name, context.new_id()
        self._until = 0

    @property
    def held(self) -> bool:
        """Whether nobody else can have had it since it was taken."""
        return self._context.now() < self._until

    def take(self) -> bool:
        """Take it. False: another has it."""
        self._until = self._ask()
        return bool(self._until)

    def prolong(self) -> None:
        """Prolong it, if it is still held."""
        until = self._ask()
        # Invariant: one that ran out in between is lost, though it may be free again: another may have had it.
        self._until = until if self.held else 0

    def drop(self) -> None:
        self._context.engine.drop_lease(self._context.ref, self._name, self._holder)

    def _ask(self) -> int:
        """Until when it is ours (microseconds), 0 if it is another's."""
        context, now = self._context, self._context.now()
        until = now + LEASE_SECONDS * 1_000_000
        taken = context.engine.take_lease(context.ref, self._name, self._holder, now, until)
        return until if taken else 0
