# Generated from src/glassine/_async/ops/searching.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""Searching: the index is asked within the scope, and what it finds is looked up until there is enough."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...errors import CorruptMessageError
from ...exchange import Asked, Found, Place
from ...messages import Message
from ...overlays import Overlay
from ...records import Ref
from ...tree import Path, Position
from ..database import Database
from . import bodies
from .heads import find_head, head_of, namespace_key, path_to
from .reading import list_overlays


class _Session(NamedTuple):
    """What is known of a session that a hit lies in."""

    id: str
    kind: str | None
    parent: str | None
    has_forks: bool
    path: Path
    summaries: list[tuple[Overlay, Path]]

    def is_summarised(self, at: Position) -> bool:
        return any(item.first.seq <= at.seq <= item.last.seq and at in path for item, path in self.summaries)


def _session(db: Database, ns: int, key: int) -> _Session:
    id, kind, parent, has_overlays, has_forks, *row = db.row(db.queries.session_by_key, (ns, key))
    head = head_of(ns, row)
    overlays = list_overlays(db, head) if has_overlays else ()
    summaries = [overlay for overlay in overlays if overlay.kind == "summary"]
    covered = [(overlay, path_to(db, head, overlay.last)) for overlay in summaries]
    return _Session(id, kind, parent, bool(has_forks), path_to(db, head, head.leaf), covered)


def search(db: Database, asked: Asked, complete: bool) -> list[Found] | None:
    """The matches, strict ones first, the best first. None: `complete` is asked for, and something waits to be
    indexed: `catch_up` first."""
    if complete and db.index.waits():
        return None
    ns = namespace_key(db, asked.namespace)
    if ns is None:
        return []
    key: tuple[int, int | None] = (ns, None)
    narrow = False
    if asked.session is not None:
        head = find_head(db, Ref(asked.namespace, asked.session))
        if head is None:
            return []
        key, narrow = (ns, head.session), db.index.is_narrow(head.messages)
    gathering = _Gathering(db, ns, asked)
    for form, strict in ((asked.query.strict, True), (asked.query.loose, False)):
        if not form.phrases:
            continue
        for place in db.index.matches(asked.kinds, form, key, narrow):
            gathering.offer(place, strict)
            if gathering.is_full():
                return gathering.result()
        if strict and len(form.phrases) > 1:
            for place in db.index.across(asked.kinds, form, key):
                gathering.offer(place, strict)
    return gathering.result()


class _Gathering:
    """Looks up what the index offers, drops what was not asked for, and puts a fork's copies together."""

    def __init__(self, db: Database, ns: int, asked: Asked) -> None:
        self.db, self.ns, self.asked = db, ns, asked
        self.sessions: dict[int, _Session] = {}
        self.roots: dict[str, str] = {}
        self.families: dict[str, list[tuple[str, int]]] = {}
        self.seen: set[tuple[int, int]] = set()
        self.found: list[list[Found]] = []
        self.by_id: dict[tuple[str, str], list[list[Found]]] = {}

    def is_full(self) -> bool:
        return len(self.found) >= self.asked.limit

    def offer(self, place: Place, strict: bool) -> None:
        key, at = place.session, Position(place.strand, place.seq)
        if (key, at.seq) in self.seen:
            return
        self.seen.add((key, at.seq))
        hit = self._look_up(key, at, place.score, strict, place.row)
        if hit is None:
            return
        same_id = self.by_id.setdefault((self.roots[hit.session_id], hit.message.id), [])
        for group in same_id:
            if _same(group[0].message, hit.message):
                group.append(hit)
                return
        same_id.append([hit])
        self.found.append(same_id[-1])

    def result(self) -> list[Found]:
        """The hits, each of the session that its message comes from, if it is still the same there."""
        found = []
        for group in self.found:
            best = group[0]
            if self.asked.session is None:
                self._complete(group, self.roots[best.session_id])
            origin, *copies = group
            ids = tuple(copy.session_id for copy in copies)
            found.append(origin._replace(copies=ids, score=best.score, strict=best.strict))
        return found

    def _complete(self, group: list[Found], root: str) -> None:
        """Add what was not offered, as a search stops as soon as there is enough; the nearest to the origin first."""
        best, known = group[0], {hit.session_id: hit for hit in group}
        group.clear()
        if root not in self.families:
            self.families[root] = self.db.rows(self.db.queries.session_forks, (self.ns, root))
        for id, key in self.families[root]:
            hit = known.get(id)
            if hit is None:
                row = self.db.row(self.db.queries.node_find, (self.ns, key, best.message.id))
                hit = row and self._look_up(key, Position(row[0], row[1]), best.score, best.strict)
            if hit is not None and (hit is best or _same(hit.message, best.message)):
                group.append(hit)

    def _look_up(
        self, key: int, at: Position, score: float, strict: bool, row: tuple[Any, ...] | None = None
    ) -> Found | None:
        """The message there, if it is one of those asked for. `row` is that of `hit`, if it was read already."""
        asked, db = self.asked, self.db
        if row is None:
            row = db.row(db.queries.hit, (self.ns, key, *at))
        if row is None:
            return None
        time = row[7]
        if asked.roles is not None and row[2] not in asked.roles:
            return None
        if (asked.since is not None and time < asked.since) or (asked.until is not None and time >= asked.until):
            return None
        if (session := self.sessions.get(key)) is None:
            session = self.sessions[key] = _session(db, self.ns, key)
            self.roots[session.id] = root = self._root(session)
            if root == session.id and not session.has_forks:
                self.families[root] = [(root, key)]
        active = at in session.path
        if asked.on_path and not active:
            return None
        message = bodies.message(db, self.ns, key, row[:7])
        return Found(session.id, message, time, score, strict, active, session.is_summarised(at), copies=())

    def _root(self, session: _Session) -> str:
        """The session that a fork, or a fork of a fork, was made from."""
        root, kind, parent, met = session.id, session.kind, session.parent, {session.id}
        while kind == "fork" and parent is not None:
            if parent in met:  # a circle: whoever described them was mistaken, but each must give the same answer
                return min(met)
            met.add(parent)
            row = self.db.row(self.db.queries.session_lineage, (self.ns, parent))
            if row is None:
                break
            root, (kind, parent) = parent, row
        return root


def _same(one: Message, other: Message) -> bool:
    try:
        return one == other
    except CorruptMessageError:
        return False
