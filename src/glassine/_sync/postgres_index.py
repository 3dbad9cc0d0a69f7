# Generated from src/glassine/_async/postgres_index.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""The search index in Postgres: vectors of finished words, written in the transaction of their message."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .. import vectors
from ..exchange import Place
from ..indexing import ESTIMATOR_VERSION, INDEX_VERSION, Words
from ..ranking import Match, bm25
from ..searching import Form

if TYPE_CHECKING:
    from .postgres_database import PostgresDatabase

CANDIDATES = 1000
"""Matches that are weighed against each other at a time: a word that is everywhere costs no more than this."""
BROKEN, UNFINISHED = 0, -1
"""Values of `analysis` in `meta` beside the versions."""
NEWEST = (2**63 - 1, 0)


class PostgresIndex:
    """See `Index`."""

    def __init__(self, db: PostgresDatabase) -> None:
        self._db = db

    # -- writing ----------------------------------------------------------------------------------------------------

    def add(self, key: tuple[int, int], strand: int, seq: int, rows: Sequence[Words]) -> int | None:
        for number, (size, vector) in enumerate(vectors.rows(_scope(key), rows)):
            self._db.run(self._db.queries.words_add, (*key, seq, number, strand, size, vector))
        return 0 if rows else None

    def drop(self, key: tuple[int, int], seq: int, doc: int | None, docs: int) -> None:
        if doc is not None:
            self._db.run(self._db.queries.words_drop, (*key, seq))

    def drop_session(self, key: tuple[int, int]) -> None:
        self._db.run(self._db.queries.words_drop_session, key)

    def settle(self, done: bool) -> None:
        if done:
            self._mark(INDEX_VERSION)

    def start_anew(self) -> None:
        # The rows stay until their message's turn comes, so that others go on finding what they found before.
        self._db.run(self._db.queries.words_drop_lost)
        self._db.run(self._db.queries.node_forget_words)
        self._mark(UNFINISHED)

    def condemn(self) -> None:
        self._mark(BROKEN)

    def _mark(self, analysis: int) -> None:
        self._db.run(self._db.queries.meta_put, ("analysis", analysis))
        self._db.run(self._db.queries.meta_put, ("estimator", ESTIMATOR_VERSION))

    # -- its state --------------------------------------------------------------------------------------------------

    def waits(self) -> bool:
        return not self.is_current()

    def is_current(self) -> bool:
        found = dict(self._db.rows(self._db.queries.meta_all))
        return (found.get("analysis"), found.get("estimator")) == (INDEX_VERSION, ESTIMATOR_VERSION)

    def is_broken(self) -> bool:
        return ("analysis", BROKEN) in self._db.rows(self._db.queries.meta_all)

    def faults(self) -> list[str]:
        if self.is_broken():
            return ["the search index was found damaged"]
        missing, lost = self._db.row(self._db.queries.words_check)
        if (missing or lost) and self.is_current():
            return [f"the search index lacks {missing} messages, and has {lost} rows that belong to none"]
        return []

    # -- searching --------------------------------------------------------------------------------------------------

    def is_narrow(self, messages: int) -> bool:
        return False  # every scope is weighed by what is found in it

    def matches(self, kinds: Sequence[str], form: Form, key: tuple[int, int | None], narrow: bool) -> Iterator[Place]:
        """The matches, the best first, as long as there are at most CANDIDATES of them.

        Of more, the best of the newest come first, then the best of the next. Where any phrase is enough, the best of
        those that hold the rarest phrases come before all others.
        """
        found = self._find(kinds, form, form, key, CANDIDATES + 1)
        if len(found) <= CANDIDATES:
            for place in _ranked(found, form):
                yield place
            return
        rare, counts = self._rare(kinds, form, key)
        if rare is not None:
            for place in _ranked(self._find(kinds, rare, form, key, CANDIDATES), form, counts):
                yield place
        last = NEWEST
        while True:
            found = self._find(kinds, form, form, key, CANDIDATES, last)
            for place in _ranked(found, form, counts):
                yield place
            if len(found) < CANDIDATES:
                return
            last = found[-1][0], found[-1][2]

    def across(self, kinds: Sequence[str], form: Form, key: tuple[int, int | None]) -> list[Place]:
        scope = [*_scope(key), vectors.LONG]
        queries = [vectors.scoped(Form((phrase,), every=True), kinds, scope) for phrase in form.phrases]
        found = self._db.rows(self._db.queries.words_across, (key[0], queries))
        return [Place(session, strand, seq, 0.0) for session, strand, seq in found]

    def _find(
        self,
        kinds: Sequence[str],
        form: Form,
        measured: Form,
        key: tuple[int, int | None],
        limit: int,
        before: tuple[int, int] | None = None,
    ) -> list[Any]:
        """Rows that match `form`, with what is to be known of the phrases of `measured` in them."""
        weights = "{" + ",".join(vectors.WEIGHTS[kind] for kind in kinds) + "}"
        query = vectors.scoped(form, kinds, _scope(key))
        words, begun = vectors.counted(measured)
        each = [vectors.scoped(Form((phrase,), every=True), kinds, ()) for phrase in begun]
        parameters = (key[0], query, weights, words, each, limit)
        if before is None:
            return self._db.rows(self._db.queries.words_found, parameters)
        return self._db.rows(self._db.queries.words_newest, (*parameters, *before))

    def _rare(
        self, kinds: Sequence[str], form: Form, key: tuple[int, int | None]
    ) -> tuple[Form | None, list[int] | None]:
        """The rarest phrases of a form that asks for any, as many as CANDIDATES rows hold; and how many hold each."""
        if form.every:
            return None, None
        each = [vectors.scoped(Form((phrase,), every=True), kinds, _scope(key)) for phrase in form.phrases]
        rows = self._db.rows(self._db.queries.words_counts, (key[0], each, CANDIDATES + 1))
        counts = [count for (count,) in rows]
        rare, total = [], 0
        for count, phrase in sorted(zip(counts, form.phrases, strict=True), key=lambda pair: pair[0]):
            total += count
            if total > CANDIDATES:
                break
            if count:
                rare.append(phrase)
        return Form(tuple(rare), every=False) if rare else None, counts


def _scope(key: tuple[int, int | None]) -> list[str]:
    """The words that stand for a namespace, or for a session in it and its namespace."""
    ns, session = key
    return [f"/{ns}"] if session is None else [f"/{ns}", f"/{ns}/{session}"]


def _ranked(found: Sequence[Any], form: Form, holding: Sequence[int] | None = None) -> list[Place]:
    """Places in the order of their weight, the newer of equal ones first."""
    matches = [Match(vectors.frequencies(vector, begun, form), size) for *_, size, vector, begun in found]
    scores = bm25(matches, len(found), holding)
    places = [Place(row[0], row[1], row[2], score) for row, score in zip(found, scores, strict=True)]
    return sorted(places, key=lambda place: (-place.score, -place.session, -place.seq))
