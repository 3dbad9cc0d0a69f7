# Generated from src/glassine/_async/postgres_entry_index.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""The index of entries in Postgres: vectors of finished words, written in the transaction of their entry."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from .. import vectors
from ..content import KINDS
from ..exchange import EntryMatch, Label
from ..indexing import INDEX_VERSION, Words
from ..ranking import Match, bm25
from ..searching import Form

if TYPE_CHECKING:
    from .postgres_database import PostgresDatabase

STATE, SOUND, BROKEN = "entries", 1, 0
"""The name in `meta` under which damage is noted, and its values; nothing is noted at first."""
CANDIDATES = 20_000
"""Matching rows that are weighed against each other at most."""


class PostgresEntryIndex:
    """See `EntryIndex`."""

    def __init__(self, db: PostgresDatabase) -> None:
        self._db = db

    # -- writing ----------------------------------------------------------------------------------------------------

    def add(self, label: Label, key: str, rows: Sequence[str]) -> int | None:
        made = vectors.rows([_scope(label)], [Words(row, None, None, None) for row in rows])
        for number, (size, vector) in enumerate(made):
            self._db.run(self._db.queries.entry_words_add, (*label, key, number, size, vector))
        return 0 if rows else None

    def drop(self, label: Label, key: str, doc: int | None, docs: int) -> None:
        if doc is not None:
            self._db.run(self._db.queries.entry_words_drop, (*label, key))

    def drop_session(self, session: tuple[int, int]) -> None:
        self._db.run(self._db.queries.entry_words_drop_session, session)

    def start_anew(self) -> None:
        # The rows stay until their entry's turn comes, so that others go on finding what they found before.
        self._db.run(self._db.queries.entry_words_drop_lost)
        self._db.run(self._db.queries.entry_forget_words)
        self._db.run(self._db.queries.meta_put, (STATE, SOUND))

    def condemn(self) -> None:
        self._db.run(self._db.queries.meta_put, (STATE, BROKEN))

    # -- its state --------------------------------------------------------------------------------------------------

    def waits(self) -> bool:
        return self.is_broken() or bool(self._db.rows(self._db.queries.entry_stale_any, (INDEX_VERSION,)))

    def is_broken(self) -> bool:
        return (STATE, BROKEN) in self._db.rows(self._db.queries.meta_all)

    def faults(self) -> list[str]:
        if self.is_broken():
            return ["the index of entries was found damaged"]
        missing, lost = self._db.row(self._db.queries.entry_words_check)
        if (missing or lost) and not self.waits():
            return [f"the index of entries lacks {missing} of them, and has {lost} rows that belong to none"]
        return []

    # -- searching --------------------------------------------------------------------------------------------------

    def matches(self, label: Label, form: Form) -> list[EntryMatch]:
        query = vectors.scoped(form, KINDS, [_scope(label)])
        words, begun = vectors.counted(form)
        each = [vectors.scoped(Form((phrase,), every=True), KINDS, ()) for phrase in begun]
        parameters = (*label, query, words, each, CANDIDATES)
        rows = self._db.rows(self._db.queries.entry_words_found, parameters)
        found = [Match(vectors.frequencies(vector, held, form), size) for _, size, vector, held in rows]
        scores = bm25(found, len(found))
        return [EntryMatch(row[0], score) for row, score in zip(rows, scores, strict=True)]

    def across(self, label: Label, form: Form) -> list[str]:
        scope = [_scope(label), vectors.LONG]
        queries = [vectors.scoped(Form((phrase,), every=True), KINDS, scope) for phrase in form.phrases]
        rows = self._db.rows(self._db.queries.entry_words_across, (*label, queries))
        return [key for (key,) in rows]


def _scope(label: Label) -> str:
    """The word that stands for a label. A digest, as labels need not be words; the table knows the label itself."""
    return f"/{label.ns}/{label.session}/{sha256(label.name.encode()).hexdigest()[:16]}"
