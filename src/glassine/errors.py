"""Every error glassine raises, as one small tree.

    GlassineError
    ├── InvalidError            what the caller handed over cannot be accepted (also a ValueError)
    │   ├── InvalidMessageError     a message that could not be given back as it is
    │   ├── InvalidIdError          a message, session or namespace id outside the rule
    │   ├── InvalidRangeError       an overlay whose range does not fit the tree
    │   ├── InvalidSpecError        a block that cannot be configured like this
    │   ├── ReadOnlyBlockError      a write to a block, or an entry, that only its owner changes
    │   └── BudgetExceededError     a block, or an entry, would take more tokens than it may
    ├── NotFoundError           a named thing is not there (also a LookupError)
    │   ├── MessageNotFoundError
    │   ├── SessionNotFoundError
    │   ├── OverlayNotFoundError
    │   └── BlockNotFoundError
    ├── ConflictError           somebody else, or an earlier call, stored something different
    │   └── LeafMovedError          `expect_leaf` did not hold
    ├── NoCompactorError        a session without a compactor was to be compacted
    ├── ProviderError           what a block's content comes from failed: a file, a bucket, a caller's object
    ├── CorruptMessageError     a stored message cannot be read; `verify` and `repair` deal with it
    └── StoreError              the database itself
        ├── StoreClosedError
        ├── StoreBusyError          a lock was not granted in time
        ├── StoreFullError          no space left
        ├── StoreReadOnlyError
        ├── StorePermissionError    the role may not do this (Postgres)
        ├── StoreUnavailableError   the server cannot be reached, or the connection was lost (Postgres)
        ├── DriverMissingError      what an extra of the package would have installed
        ├── ForkedStoreError        a memory or async store used in a forked child
        ├── NotADatabaseError       the file is no SQLite database, or the tables are not glassine's
        └── SchemaVersionError      the database is newer than this code, or older and not to be migrated

Facts are attributes (`session_id`, `message_id`, `limit`, `actual`, …), so that nobody has to read them
out of the text. An error of the driver is kept as `__cause__`.
"""

from __future__ import annotations

__all__ = [
    "BlockNotFoundError",
    "BudgetExceededError",
    "ConflictError",
    "CorruptMessageError",
    "DriverMissingError",
    "ForkedStoreError",
    "GlassineError",
    "InvalidError",
    "InvalidIdError",
    "InvalidMessageError",
    "InvalidRangeError",
    "InvalidSpecError",
    "LeafMovedError",
    "MessageNotFoundError",
    "NoCompactorError",
    "NotADatabaseError",
    "NotFoundError",
    "OverlayNotFoundError",
    "ProviderError",
    "ReadOnlyBlockError",
    "SchemaVersionError",
    "SessionNotFoundError",
    "StoreBusyError",
    "StoreClosedError",
    "StoreError",
    "StoreFullError",
    "StorePermissionError",
    "StoreReadOnlyError",
    "StoreUnavailableError",
]


class GlassineError(Exception):
    """The root of all errors of this library."""


class InvalidError(GlassineError, ValueError):
    """What the caller handed over cannot be accepted; nothing was written."""


class InvalidMessageError(InvalidError):
    """A message that could not be stored and given back as it is.

    `message_id` is None when the message has none yet; `path` leads to the offending value,
    for instance `("parts", 0, "output")`; `limit` and `actual` are set where a size is the trouble.
    """

    def __init__(
        self,
        reason: str,
        *,
        message_id: str | None = None,
        path: tuple[str | int, ...] = (),
        limit: int | None = None,
        actual: int | None = None,
    ) -> None:
        self.reason, self.message_id, self.path, self.limit, self.actual = reason, message_id, path, limit, actual
        where = "".join(f"[{step!r}]" for step in path)
        name = f"message {message_id!r}" if message_id is not None else "message"
        super().__init__(f"{name}{where}: {reason}")


class InvalidIdError(InvalidError):
    """An id outside the rule: 1 to `limit` bytes of UTF-8, no control characters, no white space at its ends.

    `kind` says of what: "message", "session", "namespace", "overlay", "event", "event kind", "usage", "block" or
    "entry"; `value` is what was given.
    """

    def __init__(self, kind: str, value: object, reason: str, *, limit: int | None = None) -> None:
        self.kind, self.value, self.reason, self.limit = kind, value, reason, limit
        shown = repr(value)
        super().__init__(f"{kind} id {shown if len(shown) <= 80 else shown[:77] + '...'}: {reason}")


class InvalidRangeError(InvalidError):
    """An overlay's range does not fit: its ends are not on one path, or it cuts through another summary.

    `first` and `last` are message ids; `overlay_id` names the summary in the way, if it is one.
    """

    def __init__(self, reason: str, *, first: str, last: str, overlay_id: str | None = None) -> None:
        self.reason, self.first, self.last, self.overlay_id = reason, first, last, overlay_id
        super().__init__(f"range {first!r} to {last!r}: {reason}")


class InvalidSpecError(InvalidError):
    """A block cannot be configured like this. `label` names it."""

    def __init__(self, label: str, reason: str) -> None:
        self.label, self.reason = label, reason
        super().__init__(f"block {label!r}: {reason}")


class ReadOnlyBlockError(InvalidError):
    """The block `label` is not written through a session; its owner changes it where it comes from."""

    def __init__(self, label: str, reason: str = "it is read-only") -> None:
        self.label, self.reason = label, reason
        super().__init__(f"block {label!r} cannot be written: {reason}")


class BudgetExceededError(InvalidError):
    """The block `label`, or the entry `key` of it, would have `actual` tokens; `limit` is its budget. Nothing was
    written."""

    def __init__(self, label: str, *, limit: int, actual: int, key: str | None = None) -> None:
        self.label, self.limit, self.actual, self.key = label, limit, actual, key
        what = f"block {label!r}" if key is None else f"entry {key!r} of block {label!r}"
        super().__init__(f"{what} would have {actual} tokens; its budget is {limit}")


class NotFoundError(GlassineError, LookupError):
    """A thing that was named is not there."""


class MessageNotFoundError(NotFoundError):
    """No message of this id in this session. `named_as` says as what it was named ("leaf", "parent", …)."""

    def __init__(self, message_id: str, *, session_id: str, named_as: str = "message") -> None:
        self.message_id, self.session_id, self.named_as = message_id, session_id, named_as
        super().__init__(f"{named_as} {message_id!r} is not in session {session_id!r}")


class SessionNotFoundError(NotFoundError):
    """No session of this id in this namespace."""

    def __init__(self, session_id: str, *, namespace: str) -> None:
        self.session_id, self.namespace = session_id, namespace
        super().__init__(f"session {session_id!r} is not in namespace {namespace!r}")


class OverlayNotFoundError(NotFoundError):
    """No overlay of this id in this session."""

    def __init__(self, overlay_id: str, *, session_id: str) -> None:
        self.overlay_id, self.session_id = overlay_id, session_id
        super().__init__(f"overlay {overlay_id!r} is not in session {session_id!r}")


class BlockNotFoundError(NotFoundError):
    """The session has no block of this label. `known` are those it has."""

    def __init__(self, label: str, *, known: tuple[str, ...]) -> None:
        self.label, self.known = label, known
        super().__init__(f"there is no block {label!r}; there are {', '.join(map(repr, known)) or 'none'}")


class ProviderError(GlassineError):
    """What a block's content comes from failed. `source` names it: a label, a path or a URL without secrets."""

    def __init__(self, reason: str, *, source: str) -> None:
        self.reason, self.source = reason, source
        super().__init__(f"{source}: {reason}")


class ConflictError(GlassineError):
    """The id is taken by a message (or summary) of other content or in another place. Nothing was written."""

    def __init__(self, reason: str, *, session_id: str, message_id: str) -> None:
        self.reason, self.session_id, self.message_id = reason, session_id, message_id
        super().__init__(f"message {message_id!r} in session {session_id!r}: {reason}")


class LeafMovedError(ConflictError):
    """Somebody else moved the active leaf. `expected` and `actual` are message ids (None: no leaf)."""

    def __init__(self, *, session_id: str, expected: str | None, actual: str | None, message_id: str) -> None:
        self.expected, self.actual = expected, actual
        super().__init__(
            f"the active leaf is {actual!r}, not {expected!r}", session_id=session_id, message_id=message_id
        )


class NoCompactorError(GlassineError):
    """The session `session_id` has no compactor, and none was given."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        super().__init__(
            f"session {session_id!r} has no compactor; give one to its spec with `with_compaction`, or to this call"
        )


class CorruptMessageError(GlassineError):
    """A stored message cannot be read. Its bytes stay where they are until `repair` quarantines them.

    `session_id` is None where it is not known.
    """

    def __init__(self, message_id: str, reason: str, *, session_id: str | None = None) -> None:
        self.message_id, self.reason, self.session_id = message_id, reason, session_id
        where = f" in session {session_id!r}" if session_id is not None else ""
        super().__init__(f"message {message_id!r}{where} cannot be read: {reason}")


class StoreError(GlassineError):
    """The database refused or failed. `location` is the file or URL, without secrets."""

    def __init__(self, reason: str, *, location: str) -> None:
        self.reason, self.location = reason, location
        super().__init__(f"{location}: {reason}")


class StoreClosedError(StoreError):
    """The store was closed."""


class StoreBusyError(StoreError):
    """Others kept a lock, or all connections, for longer than the time-out. Nothing was written; try again."""


class StoreFullError(StoreError):
    """The disk or the quota is full. Nothing was written."""


class StoreReadOnlyError(StoreError):
    """The database cannot be written to."""


class StorePermissionError(StoreError):
    """The role that the store is opened as lacks a right. The reason says which, and how it is granted."""


class StoreUnavailableError(StoreError):
    """The server cannot be reached or the connection was lost, and it stayed so for longer than the time-out.

    Nothing was written, unless the reason says that the connection was lost during the commit.
    """


class DriverMissingError(StoreError):
    """The driver of this kind of database is not installed. The reason names the extra that brings it."""


class ForkedStoreError(StoreError):
    """A memory or async store was used after `fork()`; open a new one in the child."""


class NotADatabaseError(StoreError):
    """The file is not a SQLite database, or it (or the schema) belongs to another program."""


class SchemaVersionError(StoreError):
    """The database was written by a newer glassine, or is older (0: empty) and was not to be changed.

    `actual` is its version, `limit` the newest known.
    """

    def __init__(self, reason: str, *, location: str, actual: int, limit: int) -> None:
        self.actual, self.limit = actual, limit
        super().__init__(reason, location=location)
