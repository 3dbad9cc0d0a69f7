"""The search index in SQLite: FTS5, fed finished words. New rows wait in `pending` and move over in batches."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import apsw

from .exchange import DamagedIndexError, Place
from .indexing import ESTIMATOR_VERSION, INDEX_VERSION, Words
from .ranking import Match, bm25
from .searching import Form, to_fts5

if TYPE_CHECKING:
    from ._sqlite import SQLiteDatabase

FOLD = 64
"""Rows that wait in `pending` at most: an FTS5 commit costs as much as several appends."""
LONG = "long"
"""The scope word of messages that have several rows, so that a search can look across these."""
BROKEN, UNFINISHED = 0, -1
"""Values of `analysis` in `meta` beside the versions."""
NARROW = 16
"""A scope with this share of the store, or less, is weighed by itself: the engine's weights cost the whole store."""
FEW = 24
"""How many of the best matches are fetched first, with their messages: most searches need no more."""
DAMAGE = (apsw.CorruptError, apsw.SQLError, apsw.ConstraintError)
"""What statements on a damaged index raise."""


class SQLiteIndex:
    """See `AsyncIndex`; plain functions, like all that runs on a SQLite connection."""

    def __init__(self, db: SQLiteDatabase) -> None:
        self._db = db
        self._measures = False

    # -- writing ----------------------------------------------------------------------------------------------------

    def add(self, key: tuple[int, int], strand: int, seq: int, rows: Sequence[Words]) -> int | None:
        if not rows:
            return None
        db = self._db
        scope = f"{_scope(key[0])} {_scope(*key)}"
        if len(rows) > 1:
            scope += f" {LONG}"
        for row in rows:
            db.execute(db.queries.pending_add, (scope, *row, *key, strand, seq))
        last: int = db.connection.last_insert_rowid()
        first = last - len(rows) + 1
        if first // FOLD != (last + 1) // FOLD:
            self._fold()
        return first

    def drop(self, key: tuple[int, int], seq: int, doc: int | None, docs: int) -> None:
        if doc is not None:
            self._drop(doc, doc + docs - 1)

    def drop_session(self, key: tuple[int, int]) -> None:
        first = last = -1
        for doc, docs in self._db.rows(self._db.queries.node_docs, key):
            if doc != last + 1:
                self._drop(first, last)
                first = doc
            last = doc + docs - 1
        self._drop(first, last)

    def settle(self, done: bool) -> None:
        if self._fold() and done:
            self._mark(INDEX_VERSION)

    def start_anew(self) -> None:
        db = self._db
        db.execute(db.queries.words_remove)
        db.execute(db.queries.words_create)
        db.execute(db.queries.pending_clear)
        db.execute(db.queries.node_forget_words)
        self._mark(UNFINISHED)

    def squeeze(self) -> None:
        """Let go of what was dropped, so that no word of it is left in the files."""
        if self._fold():
            self._guarded(self._db.queries.words_optimize, ())

    def _fold(self) -> bool:
        # What could not be moved stays pending; the index is made anew from the messages before the next search.
        sound = self._guarded(self._db.queries.words_fold, ())
        if sound:
            self._db.execute(self._db.queries.pending_clear)
        return sound

    def _drop(self, first: int, last: int) -> None:
        if first >= 0:
            db = self._db
            db.execute(db.queries.pending_drop, (first, last))
            if db.connection.changes() <= last - first:
                self._guarded(db.queries.words_drop, (first, last))

    def _guarded(self, statement: str, parameters: tuple[int, ...]) -> bool:
        """Run a statement on the index. A damaged index must never keep a message from being stored."""
        sound = guarded(self._db, lambda: self._db.execute(statement, parameters))
        if not sound:
            self.condemn()
        return sound

    def condemn(self) -> None:
        """Note that the index is damaged: it is made anew before the next search."""
        self._mark(BROKEN)

    def _mark(self, analysis: int) -> None:
        self._db.execute(self._db.queries.meta_put, ("analysis", analysis))
        self._db.execute(self._db.queries.meta_put, ("estimator", ESTIMATOR_VERSION))

    # -- its state --------------------------------------------------------------------------------------------------

    def waits(self) -> bool:
        return not self.is_current() or bool(self._db.rows(self._db.queries.pending_any))

    def is_current(self) -> bool:
        found = dict(self._db.rows(self._db.queries.meta_all))
        return found.get("analysis") == INDEX_VERSION and found.get("estimator") == ESTIMATOR_VERSION

    def is_broken(self) -> bool:
        return ("analysis", BROKEN) in self._db.rows(self._db.queries.meta_all)

    def faults(self) -> list[str]:
        if self.is_broken():
            return ["the search index was found damaged"]
        db = self._db
        try:
            found = [text for (text,) in db.rows(db.queries.words_check) if text != "ok"]
            if not found and self.is_current():
                written, kept, findable = db.row(db.queries.words_count)
                if not written == kept == findable:
                    found = [f"of {written} rows, {kept} are kept and {findable} can be found"]
        except DAMAGE as error:
            found = [str(error)]
        return [f"the search index is damaged: {text}" for text in found]

    def refresh(self) -> None:
        """Make this connection's picture of the index that of the file: SQLite's own check goes by what the
        connection remembers, and would report what others changed as damage."""
        with contextlib.suppress(*DAMAGE):
            self._db.rows(self._db.queries.words_places, ('"none"',))

    # -- searching --------------------------------------------------------------------------------------------------

    def is_narrow(self, messages: int) -> bool:
        return bool(messages * NARROW < self._db.row(self._db.queries.words_total)[0])

    def matches(self, kinds: Sequence[str], form: Form, key: tuple[int, int | None], narrow: bool) -> Iterator[Place]:
        db = self._db
        expression = f'{to_fts5(form, kinds)} AND scope : "{_scope(*key)}"'
        if not narrow:
            with reading(self._db):
                best = db.rows(db.queries.words_best, (expression, FEW))
            for session, strand, seq, score, *row in best:
                is_there = row[1] is not None  # its id; without one these are words of a message that is gone
                yield Place(session, strand, seq, score, tuple(row) if is_there else None)
            if len(best) == FEW:
                with reading(self._db):
                    rest = db.rows(db.queries.words_ranked, (expression, FEW))
                for place in rest:
                    yield Place(*place)
            return
        self._measure()
        places, found = [], []
        with reading(self._db):
            rows = db.rows(db.queries.words_measured, (expression,))
        for session, strand, seq, measured in rows:
            length, *counts = map(int, measured.split())
            places.append((session, strand, seq))
            found.append(Match(tuple(counts), length))
        scores = bm25(found, len(found))
        order = sorted(range(len(places)), key=lambda number: (-scores[number], -places[number][2]))
        first = json.dumps([places[number][1:] for number in order[:FEW]])
        read = {row[0]: row for row in db.rows(db.queries.words_hits, (*key, first))}
        for number in order:
            session, strand, seq = places[number]
            yield Place(session, strand, seq, scores[number], read.get(seq))

    def across(self, kinds: Sequence[str], form: Form, key: tuple[int, int | None]) -> list[Place]:
        common: set[tuple[int, int, int]] | None = None
        for phrase in form.phrases:
            alone = to_fts5(Form((phrase,), every=True), kinds)
            expression = f'{alone} AND scope : "{_scope(*key)}" AND scope : "{LONG}"'
            with reading(self._db):
                found = set(self._db.rows(self._db.queries.words_places, (expression,)))
            common = found if common is None else common & found
            if not common:
                return []
        return [Place(*place, 0.0) for place in sorted(common or (), key=lambda place: -place[2])]

    def _measure(self) -> None:
        if not self._measures:
            self._db.connection.register_fts5_function("frequencies", _frequencies)
            self._measures = True


def guarded(db: SQLiteDatabase, action: Callable[[], object]) -> bool:
    """Do something to an index. If that is damaged, what was done to it is undone, and False returned."""
    db.execute("SAVEPOINT words")
    try:
        action()
        # FTS5 writes what it has gathered when a savepoint begins; what fails there must not wait for the commit.
        db.execute("SAVEPOINT written")
        sound = True
    except DAMAGE:
        db.execute("ROLLBACK TO words")
        sound = False
    db.execute("RELEASE words")
    return sound


@contextlib.contextmanager
def reading(db: SQLiteDatabase) -> Iterator[None]:
    """Damage that a search meets comes out as DamagedIndexError."""
    try:
        yield
    except apsw.CorruptError as error:
        raise DamagedIndexError(str(error), location=db.options.path) from error


def _scope(ns: int, session: int | None = None) -> str:
    """The scope word of a namespace, or of a session in it."""
    return f"n{ns}" if session is None else f"n{ns}s{session}"


def _frequencies(api: apsw.FTS5ExtensionApi, *_: Any) -> str:
    """The length of an index row, and how often each phrase occurs in it, but for the last, which is the scope."""
    numbers = str(api.column_size(-1))
    for phrase in range(api.phrase_count - 1):
        numbers += f" {sum(map(len, api.phrase_locations(phrase)))}"
    return numbers
