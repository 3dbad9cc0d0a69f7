"""What is asked of an engine: a driver that runs operations; to them, named statements in a transaction that is
already open, and an index."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping, Sequence
from typing import Any, Protocol, TypeVar, TypeVarTuple

from .._queries import Queries
from ..exchange import EntryMatch, Facts, Label, Place
from ..indexing import Words
from ..searching import Form
from ..tree import Span

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class AsyncDriver(Protocol):
    """Runs an operation in one transaction, which is committed whole or not at all; errors come out as ours."""

    @property
    def location(self) -> str:
        """The file or URL, without secrets."""

    async def ready(self) -> None:
        """Open the database, if it is not open yet."""

    async def write(self, operation: Callable[[AsyncDatabase, *Ts], Awaitable[T]], *args: *Ts) -> T:
        """Run `operation` in a write transaction. Whether an earlier try was committed makes no difference to it: where
        that cannot be told, it is run again."""

    async def write_once(self, operation: Callable[[AsyncDatabase, *Ts], Awaitable[T]], *args: *Ts) -> T:
        """The same for an operation that answers otherwise the second time."""

    async def read(self, operation: Callable[[AsyncDatabase, *Ts], Awaitable[T]], *args: *Ts) -> T:
        """Run `operation` in a read transaction, on a snapshot."""

    async def scrub(self) -> None:
        """Leave as little as can be of what was overwritten or deleted."""

    async def close(self) -> None:
        """Close the database. Closing again does nothing."""


class AsyncDatabase(Protocol):
    """One connection with a transaction open on it."""

    queries: Queries
    namespaces: MutableMapping[str, int]
    """Keys of the namespaces that were met; they never change."""

    @property
    def index(self) -> AsyncIndex: ...

    @property
    def entry_index(self) -> AsyncEntryIndex: ...

    async def rows(self, statement: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """All rows of a statement."""

    async def row(self, statement: str, parameters: Sequence[Any] = ()) -> Any:
        """The first row of a statement, or None."""

    async def run(self, statement: str, parameters: Sequence[Any] = ()) -> int:
        """Run a statement; returns how many rows it changed."""

    def span(self, key: tuple[int, int], span: Span, newest_first: bool) -> AsyncIterator[Any]:
        """The messages of a part of a strand, as `span_up` selects them, for whoever may stop before the last."""

    async def facts(self) -> Facts:
        """What `StoreInfo` tells of the engine."""

    async def faults(self) -> list[str]:
        """What the engine itself finds wrong with its files."""


class AsyncIndex(Protocol):
    """The full-text index of an engine. Its rows are written in the transaction of their message.

    `key` is (namespace, session); a message has `docs` rows from `doc` on.
    """

    async def add(self, key: tuple[int, int], strand: int, seq: int, rows: Sequence[Words]) -> int | None:
        """Write the rows of a message. Returns its `doc`, None if it has no words."""

    async def drop(self, key: tuple[int, int], seq: int, doc: int | None, docs: int) -> None:
        """Remove the rows of a message; nothing finds them from here on."""

    async def drop_session(self, key: tuple[int, int]) -> None:
        """Remove all rows of a session."""

    async def waits(self) -> bool:
        """Whether anything must be done before a search sees everything."""

    async def is_current(self) -> bool:
        """Whether every row was made by this version of the analysis and the estimator, and the index is sound."""

    async def condemn(self) -> None:
        """Note that the index is damaged: it is made anew before the next search."""

    async def is_broken(self) -> bool:
        """Whether the index was found damaged."""

    async def settle(self, done: bool) -> None:
        """Make everything that was written findable. `done`: every message is indexed as this version would."""

    async def start_anew(self) -> None:
        """Throw the index away, to be made again from the messages."""

    async def faults(self) -> list[str]:
        """What is wrong with the index."""

    async def is_narrow(self, messages: int) -> bool:
        """Whether a scope of so many messages is better weighed by itself than by the whole store."""

    def matches(
        self, kinds: Sequence[str], form: Form, key: tuple[int, int | None], narrow: bool
    ) -> AsyncIterator[Place]:
        """The rows that match, the best first, in a namespace or in one session of it."""

    async def across(self, kinds: Sequence[str], form: Form, key: tuple[int, int | None]) -> list[Place]:
        """Messages of several rows that hold all phrases, though no single row does."""


class AsyncEntryIndex(Protocol):
    """The full-text index of entries, apart from that of messages. Its rows are written in the transaction of their
    entry, which has `docs` of them, from `doc` on."""

    async def add(self, label: Label, key: str, rows: Sequence[str]) -> int | None:
        """Write the rows of an entry. Returns its `doc`, None if it has no words."""

    async def drop(self, label: Label, key: str, doc: int | None, docs: int) -> None:
        """Remove the rows of an entry; nothing finds them from here on."""

    async def drop_session(self, session: tuple[int, int]) -> None:
        """Remove all rows of a session: (namespace, session)."""

    async def waits(self) -> bool:
        """Whether an entry must be indexed before a search sees everything."""

    async def is_broken(self) -> bool:
        """Whether the index was found damaged."""

    async def condemn(self) -> None:
        """Note that the index is damaged: it is made anew before the next search."""

    async def start_anew(self) -> None:
        """Throw the index away, to be made again from the entries."""

    async def faults(self) -> list[str]:
        """What is wrong with the index."""

    async def matches(self, label: Label, form: Form) -> list[EntryMatch]:
        """The rows that match, in no order: an entry of several rows may come several times."""

    async def across(self, label: Label, form: Form) -> list[str]:
        """Keys of entries of several rows that hold all phrases, though perhaps no single row does."""
