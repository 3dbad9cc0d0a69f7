"""Searching: the index is asked within the scope, and what it finds is looked up until there is enough."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import apsw

from .._sqlite import Database
from ..content import Kind
from ..messages import Message
from ..overlays import Overlay
from ..ranking import Match, bm25
from ..records import Ref
from ..searching import Form, Query, to_fts5
from ..tree import Path, Position
from . import bodies, words
from .heads import find_head, namespace_key, path_to
from .reading import list_overlays

NARROW = 16
"""A scope with this share of the store, or less, is weighed by itself: the engine's weights cost the whole store."""


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


class _Session:
    """What is known of a session that a hit lies in."""

    def __init__(self, db: Database, namespace: str, row: tuple[Any, ...]) -> None:
        self.id, self.kind, self.parent = row
        head = find_head(db, Ref(namespace, self.id))
        assert head is not None
        self.path: Path = path_to(db, head, head.leaf)
        self.summaries: list[tuple[Overlay, Path]] = [
            (overlay, path_to(db, head, overlay.last))
            for overlay in list_overlays(db, head)
            if overlay.kind == "summary"
        ]

    def is_summarised(self, at: Position) -> bool:
        return any(item.first.seq <= at.seq <= item.last.seq and at in path for item, path in self.summaries)


def search(db: Database, asked: Asked, complete: bool) -> list[Found] | None:
    """The matches, strict ones first, the best first. None: `complete` is asked for, and something waits to be
    indexed: `catch_up` first."""
    if complete and words.waiting(db):
        return None
    ns = namespace_key(db, asked.namespace)
    if ns is None:
        return []
    scope, narrow = words.scope_of(ns), False
    if asked.session is not None:
        head = find_head(db, Ref(asked.namespace, asked.session))
        if head is None:
            return []
        total = db.execute(db.queries.words_total).fetchone()[0]
        scope, narrow = words.scope_of(ns, head.session), head.messages * NARROW < total
    gathering = _Gathering(db, ns, asked)
    for form, strict in ((asked.query.strict, True), (asked.query.loose, False)):
        if not form.phrases:
            continue
        for session, strand, seq, score in _matches(db, asked.kinds, form, scope, narrow):
            gathering.offer(session, Position(strand, seq), score, strict)
            if gathering.is_full():
                return gathering.result()
        if strict and len(form.phrases) > 1:
            for session, strand, seq in _across_rows(db, asked.kinds, form, scope):
                gathering.offer(session, Position(strand, seq), 0.0, True)
    return gathering.result()


class _Gathering:
    """Looks up what the index offers, drops what was not asked for, and puts a fork's copies together."""

    def __init__(self, db: Database, ns: int, asked: Asked) -> None:
        self.db, self.ns, self.asked = db, ns, asked
        self.sessions: dict[int, _Session] = {}
        self.roots: dict[str, str] = {}
        self.seen: set[tuple[int, int]] = set()
        self.hits: dict[tuple[str, str], list[Found]] = {}

    def is_full(self) -> bool:
        return len(self.hits) >= self.asked.limit

    def result(self) -> list[Found]:
        found = []
        for group in list(self.hits.values())[: self.asked.limit]:
            ids = [hit.session_id for hit in group]
            origin = next((hit for hit in group if self.roots[hit.session_id] == hit.session_id), group[0])
            copies = tuple(id for id in ids if id != origin.session_id)
            found.append(origin._replace(copies=copies, score=group[0].score, strict=group[0].strict))
        return found

    def offer(self, key: int, at: Position, score: float, strict: bool) -> None:
        if (key, at.seq) in self.seen:
            return
        self.seen.add((key, at.seq))
        asked, db = self.asked, self.db
        row = db.execute(db.queries.hit, (self.ns, key, *at)).fetchone()
        if row is None:
            return
        time = row[7]
        if asked.roles is not None and row[2] not in asked.roles:
            return
        if (asked.since is not None and time < asked.since) or (asked.until is not None and time >= asked.until):
            return
        if (session := self.sessions.get(key)) is None:
            described = db.execute(db.queries.session_by_key, (self.ns, key)).fetchone()
            session = self.sessions[key] = _Session(db, asked.namespace, described)
        active = at in session.path
        if asked.on_path and not active:
            return
        message = bodies.message(db, self.ns, key, row[:7])
        hit = Found(session.id, message, time, score, strict, active, session.is_summarised(at), copies=())
        self.hits.setdefault((self._root(session), message.id), []).append(hit)

    def _root(self, session: _Session) -> str:
        """The session that a fork, or a fork of a fork, was made from."""
        if session.id not in self.roots:
            root, kind, parent, met = session.id, session.kind, session.parent, {session.id}
            while kind == "fork" and parent not in met:
                met.add(parent)
                row = self.db.execute(self.db.queries.session_lineage, (self.ns, parent)).fetchone()
                if row is None:
                    break
                root, (kind, parent) = parent, row
            self.roots[session.id] = root
        return self.roots[session.id]


def _matches(
    db: Database, kinds: Sequence[str], form: Form, scope: str, narrow: bool
) -> Iterator[tuple[int, int, int, float]]:
    """(session, strand, seq, score) of the index rows that match, the best first."""
    expression = f'{to_fts5(form, kinds)} AND scope : "{scope}"'
    if not narrow:
        for _, session, strand, seq, score in db.execute(db.queries.words_ranked, (expression,)):
            yield session, strand, seq, score
        return
    _register(db)
    places, matches = [], []
    for _, session, strand, seq, measured in db.execute(db.queries.words_measured, (expression,)):
        length, *counts = json.loads(measured)
        places.append((session, strand, seq))
        matches.append(Match(tuple(counts[: len(form.phrases)]), length))
    scores = bm25(matches, len(matches))
    order = sorted(range(len(places)), key=lambda index: (-scores[index], -places[index][2]))
    for index in order:
        yield (*places[index], scores[index])


def _across_rows(db: Database, kinds: Sequence[str], form: Form, scope: str) -> list[tuple[int, int, int]]:
    """Messages of several index rows that hold all phrases, but not all of them in one row."""
    common: set[tuple[int, int, int]] | None = None
    for phrase in form.phrases:
        expression = f'{to_fts5(Form((phrase,), every=True), kinds)} AND scope : "{scope}" AND scope : "{words.LONG}"'
        found = set(db.execute(db.queries.words_places, (expression,)))
        common = found if common is None else common & found
        if not common:
            return []
    return sorted(common or (), key=lambda place: -place[2])


def _register(db: Database) -> None:
    if not db.measures:
        db.connection.register_fts5_function("frequencies", _frequencies)
        db.measures = True


def _frequencies(api: apsw.FTS5ExtensionApi, *_: Any) -> str:
    """The length of an index row, and how often each phrase occurs in it, as a JSON list."""
    counts = [sum(map(len, api.phrase_locations(number))) for number in range(api.phrase_count)]
    return json.dumps([api.column_size(-1), *counts])
