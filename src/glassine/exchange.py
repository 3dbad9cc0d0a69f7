"""Plain values that pass between the shell, the operations and the engines, and that users never see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .content import Kind
from .errors import StoreError
from .messages import Message
from .overlays import Overlay
from .records import Totals, Usage
from .searching import Query
from .tree import Path, Position, Span


class Plan(NamedTuple):
    """What a reader of one path will see. `pieces` are newest first; `visible` counts messages and bytes of them, and
    tokens of all but the summaries; `beside` are the markers and reminders that apply."""

    ns: int
    session: int
    pieces: Sequence[Span | Overlay]
    visible: Totals
    beside: Sequence[Overlay] = ()


class Appended(NamedTuple):
    """What an append came to: for each message whether it was new, the session's change number, and the totals of the
    path to its active leaf."""

    added: list[bool]
    change: int
    totals: Totals


class Weight(NamedTuple):
    """What the path to the active leaf weighs at a `change` of the session: the totals of what is `stored`, and of what
    is `visible`, summaries included. `over` names the summaries that are seen, and the markers and reminders that
    apply; `usage` are the newest rows of the session."""

    change: int
    path: Path
    stored: Totals
    visible: Totals
    over: tuple[str, ...]
    usage: tuple[Usage, ...]

    def goes_on(self, before: Weight) -> bool:
        """Whether only messages have been added to what was weighed before."""
        known = before.path.segments
        return self.over == before.over and bool(known) and Position(*known[0]) in self.path


class Elsewhere(NamedTuple):
    """A summary that a path does not show: the number of its first message, and of the last one that the path shares
    with the path to its end."""

    first: int
    shared: int


class Laid(NamedTuple):
    """A summary to be laid: over `messages` stored messages from `first` to `last`, in the place of the summaries
    `replaces`, as they were at the `change` of the session; so was the message `request`. `data` is kept with it;
    `event` is (id, kind, data)."""

    id: str
    text: str
    first: str
    last: str
    messages: int
    replaces: frozenset[str]
    request: str | None
    change: int
    data: dict[str, Any]
    event: tuple[str, str, Any]
    usage: tuple[Usage, ...]


class Asked(NamedTuple):
    """What to look for. `session` None is the whole namespace; `on_path` only the active path of each session;
    `roles`, `since` and `until` (microseconds, `until` exclusive) keep what they name."""

    namespace: str
    session: str | None
    query: Query
    limit: int
    on_path: bool
    kinds: tuple[Kind, ...]
    roles: tuple[int, ...] | None
    since: int | None
    until: int | None


class Found(NamedTuple):
    """A message that matches, and where it stands. `copies` are the sessions that hold a fork's copy of it."""

    session_id: str
    message: Message
    time: int
    score: float
    strict: bool
    active: bool
    summarised: bool
    copies: tuple[str, ...]


class Place(NamedTuple):
    """An index row that matched: whose it is, and its score, higher being better. `row` is what the statement `hit`
    would give, where the engine has read it along."""

    session: int
    strand: int
    seq: int
    score: float
    row: tuple[Any, ...] | None = None


class Label(NamedTuple):
    """The entries of one block: of a session, or of the whole namespace where `session` is 0."""

    ns: int
    session: int
    name: str


class EntryMatch(NamedTuple):
    """An index row of an entry that matched; a higher score is better."""

    key: str
    score: float


class Cursor(NamedTuple):
    """The last message that a catching up looked at."""

    ns: int = 0
    session: int = 0
    strand: int = 0
    seq: int = 0


class Progress(NamedTuple):
    """How far a catching up is. `cursor` None: finished. `total` counts all messages of the store."""

    cursor: Cursor | None
    done: int
    total: int


class Facts(NamedTuple):
    """What an engine says of itself."""

    location: str
    engine: str
    engine_version: str
    schema_version: int
    durability: str
    bytes: int


class DamagedIndexError(StoreError):
    """A search met damage in the index. Nobody sees this error: the index is made anew and the search repeated."""
