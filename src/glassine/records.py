"""The plain values that pass between a session and a store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from operator import add, sub
from typing import Any, Literal, NamedTuple, overload

from .blocks import Scope
from .content import Kind
from .messages import Message, Role
from .searching import Snippet

LineageKind = Literal["fork", "split", "sidechain"]


class Ref(NamedTuple):
    """Names a session: nothing is looked up outside its namespace."""

    namespace: str
    session: str


class Named(NamedTuple):
    """A message that the caller named, where naming none means something else. `id` None: no message at all."""

    id: str | None


class Totals(NamedTuple):
    """What a path, or a message, comes to: messages, bytes of their JSON (`size`), and estimated tokens for each of
    `glassine.tokens.FAMILIES`."""

    messages: int
    size: int
    o200k: int = 0
    claude3: int = 0
    claude48: int = 0
    gemma3: int = 0
    safe: int = 0

    def plus(self, other: Totals) -> Totals:
        return Totals(*map(add, self, other))

    def minus(self, other: Totals) -> Totals:
        return Totals(*map(sub, self, other))


NOTHING = Totals(0, 0)


@dataclass(frozen=True, slots=True)
class Lineage:
    """Where a session comes from: `kind` is "fork", "split" or "sidechain"; `message_id` is the point in the parent."""

    kind: LineageKind
    session_id: str
    message_id: str | None = None


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A session as a list shows it. `messages` counts all branches, `path_length` the active path; `size` is bytes
    of the active path; `change` grows with every write; `leaf_at` is the time of the active leaf: its own, else when
    it was stored."""

    id: str
    namespace: str
    title: str | None
    source: str | None
    model: str | None
    lineage: Lineage | None
    metadata: dict[str, Any] | None
    created_at: datetime
    updated_at: datetime
    messages: int
    path_length: int
    size: int
    change: int
    leaf_id: str | None
    leaf_at: datetime | None


@dataclass(frozen=True, slots=True)
class Recent(Sequence[Message]):
    """The newest messages of a path, oldest first. A sequence of messages that also says what was left out.

    `cut` tells whether older ones exist; `total_messages` and `total_bytes` measure all that the path shows.
    """

    messages: tuple[Message, ...]
    cut: bool
    total_messages: int
    total_bytes: int

    def __len__(self) -> int:
        return len(self.messages)

    def __iter__(self) -> Iterator[Message]:
        return iter(self.messages)

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Message]: ...
    def __getitem__(self, index: int | slice) -> Message | Sequence[Message]:
        return self.messages[index]


@dataclass(frozen=True, slots=True)
class Hit:
    """A message that answers a search.

    `kind` and `part` say where in it: "text", "tool_input", "tool_output" or "reasoning", and the index of the part.
    `snippet` is cut from the original text, with «» around what was found; `text` of it and the places are in
    `excerpt`. `strict` hits contain all of the query, the others some of it. `active`: it stands on the active path
    of its session; `summarised`: a summary lies over it. `copies` are the sessions among its forks that hold the same
    message; a search within one session does not look for them. `created_at` is the message's own time, else when it
    was stored. The snippet of a message that cannot be read is empty.
    """

    session_id: str
    message_id: str
    role: Role
    kind: Kind
    part: int
    created_at: datetime
    score: float
    snippet: str
    excerpt: Snippet
    strict: bool
    active: bool
    summarised: bool
    copies: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Hits(Sequence[Hit]):
    """What a search found: a sequence of hits, strict ones first, the best first.

    `searchable` is False when the query holds nothing that could be looked for, such as punctuation alone; then an
    empty result does not mean that nothing is there.
    """

    hits: tuple[Hit, ...]
    searchable: bool

    def __len__(self) -> int:
        return len(self.hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Hit]: ...
    def __getitem__(self, index: int | slice) -> Hit | Sequence[Hit]:
        return self.hits[index]


class Outline(NamedTuple):
    """One message of a tree, without its content: enough to draw it. `size` is bytes of the wire shape."""

    id: str
    parent_id: str | None
    role: Role
    size: int
    created_at: datetime | None
    stored_at: datetime


@dataclass(frozen=True, slots=True)
class Ingested:
    """What became of a client's list: ids that were appended, updated in place, or passed over because they were
    deleted here; and `known`, from each id the client used to the id the store keeps it under."""

    appended: tuple[str, ...]
    updated: tuple[str, ...]
    skipped: tuple[str, ...]
    known: dict[str, str]


class StoredBlock(NamedTuple):
    """A block that is stored in the database, whether or not a spec names it. `updated_at` says when it was last
    written."""

    label: str
    scope: Scope
    content: str
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Event:
    """Something that belongs to a conversation but is no context. `created_at` is its own time, if known."""

    id: str
    kind: str
    data: Any
    created_at: datetime | None
    stored_at: datetime


@dataclass(frozen=True, slots=True)
class Usage:
    """What one request to a model took. Tokens and times are None where unknown.

    An empty `id` gets a fresh one when the row is stored; a row whose id is stored already is passed over.
    `input_tokens` are those neither read from nor written to the cache. `kind` is "reply", "summary" or
    "heartbeat"; `cost` is in US dollars, `price_source` says where the prices came from. `estimated_tokens` is what the
    request was estimated at, before calibration, where it was made from a view.
    """

    id: str = ""
    kind: str = "reply"
    ok: bool = True
    message_id: str | None = None
    leaf_id: str | None = None
    model: str | None = None
    route: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_5m_tokens: int | None = None
    cache_write_1h_tokens: int | None = None
    cost: float | None = None
    price_source: str | None = None
    estimated_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Deletion:
    """What was deleted, at which change of the session. `kind` is "message", "overlay" or "session"."""

    kind: Literal["message", "overlay", "session"]
    id: str
    change: int
    deleted_at: datetime


@dataclass(frozen=True, slots=True)
class Problem:
    """Something `verify` found. `code` is stable, `detail` for people; `repaired` says that `repair` dealt with it.

    Codes: `unreadable` (the message, or media or text that left its row: quarantined by repair), `totals` (counted
    anew), `structure` (strands, parents, leaf), `overlay` (its range is gone), `entry` (an entry of a block:
    removed if its content is missing, left alone if its bytes have changed), `block` (a stored block: left alone, but
    for who wrote its lines), `prompt` (the frozen prompt: frozen anew), `index` (made anew), `database` (what the
    engine finds in its own files; repair leaves it alone).
    """

    code: str
    session_id: str | None
    message_id: str | None
    detail: str
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class Check:
    """The outcome of `verify` or `repair`: what was looked at, and every problem found."""

    sessions: int
    messages: int
    problems: tuple[Problem, ...] = field(default=())

    @property
    def clean(self) -> bool:
        return not self.problems


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """What a store is: `location`, `engine` and its version, `schema_version`, `namespaces`, and counts and bytes."""

    location: str
    engine: str
    engine_version: str
    schema_version: int
    durability: str
    namespace: str
    namespaces: tuple[str, ...]
    sessions: int
    messages: int
    bytes: int
