"""The index of entries in SQLite: an FTS5 table of its own, so that neither search sees, or weighs, the other's."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import apsw

from ._sqlite_index import DAMAGE, guarded, reading
from .exchange import EntryMatch, Label
from .indexing import INDEX_VERSION
from .ranking import Match, bm25
from .searching import Form, to_fts5

if TYPE_CHECKING:
    from ._sqlite import SQLiteDatabase

LONG = "long"
"""The scope word of entries that have several rows, so that a search can look across these."""
STATE, SOUND, BROKEN = "entries", 1, 0
"""The name in `meta` under which damage is noted, and its values; nothing is noted at first."""


class SQLiteEntryIndex:
    """See `AsyncEntryIndex`; plain functions, like all that runs on a SQLite connection."""

    def __init__(self, db: SQLiteDatabase) -> None:
        self._db = db
        self._measures = False

    # -- writing ----------------------------------------------------------------------------------------------------

    def add(self, label: Label, key: str, rows: Sequence[str]) -> int | None:
        first: int | None = None

        def write() -> None:
            nonlocal first
            scope = _scope(label) if len(rows) == 1 else f"{_scope(label)} {LONG}"
            for number, row in enumerate(rows):
                doc = None if first is None else first + number
                db.execute(db.queries.entry_words_add, (doc, scope, row, *label, key))
                if first is None:
                    first = db.connection.last_insert_rowid()

        db = self._db
        if not guarded(db, write):
            # The entry is stored in any case; the index is made anew from the entries before the next search.
            self.condemn()
        return first

    def drop(self, label: Label, key: str, doc: int | None, docs: int) -> None:
        if doc is not None:
            self._drop(doc, doc + docs - 1)

    def drop_session(self, session: tuple[int, int]) -> None:
        for doc, docs in self._db.rows(self._db.queries.entry_docs, session):
            self._drop(doc, doc + docs - 1)

    def start_anew(self) -> None:
        db = self._db
        db.execute(db.queries.entry_words_remove)
        db.execute(db.queries.entry_words_create)
        db.execute(db.queries.entry_forget_words)
        db.execute(db.queries.meta_put, (STATE, SOUND))

    def condemn(self) -> None:
        self._db.execute(self._db.queries.meta_put, (STATE, BROKEN))

    def squeeze(self) -> None:
        """Let go of what was dropped, so that no word of it is left in the files."""
        if not guarded(self._db, lambda: self._db.execute(self._db.queries.entry_words_optimize)):
            self.condemn()

    def _drop(self, first: int, last: int) -> None:
        if not guarded(self._db, lambda: self._db.execute(self._db.queries.entry_words_drop, (first, last))):
            self.condemn()

    # -- its state --------------------------------------------------------------------------------------------------

    def waits(self) -> bool:
        return self.is_broken() or bool(self._db.rows(self._db.queries.entry_stale_any, (INDEX_VERSION,)))

    def is_broken(self) -> bool:
        return (STATE, BROKEN) in self._db.rows(self._db.queries.meta_all)

    def faults(self) -> list[str]:
        if self.is_broken():
            return ["the index of entries was found damaged"]
        db = self._db
        try:
            found = [text for (text,) in db.rows(db.queries.entry_words_check) if text != "ok"]
            if not found and not self.waits():
                written, kept, findable = db.row(db.queries.entry_words_count)
                if not written == kept == findable:
                    found = [f"of {written} rows, {kept} are kept and {findable} can be found"]
        except DAMAGE as error:
            found = [str(error)]
        return [f"the index of entries is damaged: {text}" for text in found]

    def refresh(self) -> None:
        """As `SQLiteIndex.refresh`."""
        with contextlib.suppress(*DAMAGE):
            self._db.rows(self._db.queries.entry_words_places, ('"none"', ""))

    # -- searching --------------------------------------------------------------------------------------------------

    def matches(self, label: Label, form: Form) -> list[EntryMatch]:
        self._measure()
        keys, found = [], []
        expression = f"{to_fts5(form, ('words',))} AND scope : {_scope(label)}"
        with reading(self._db):
            rows = self._db.rows(self._db.queries.entry_words_measured, (expression, label.name))
        for key, measured in rows:
            length, *counts = map(int, measured.split())
            keys.append(key)
            found.append(Match(tuple(counts), length))
        return [EntryMatch(key, score) for key, score in zip(keys, bm25(found, len(found)), strict=True)]

    def across(self, label: Label, form: Form) -> list[str]:
        common: set[str] | None = None
        for phrase in form.phrases:
            alone = to_fts5(Form((phrase,), every=True), ("words",))
            expression = f"{alone} AND scope : {_scope(label)} AND scope : {LONG}"
            with reading(self._db):
                rows = self._db.rows(self._db.queries.entry_words_places, (expression, label.name))
            found = {key for (key,) in rows}
            common = found if common is None else common & found
            if not common:
                return []
        return sorted(common or ())

    def _measure(self) -> None:
        if not self._measures:
            self._db.connection.register_fts5_function("entry_frequencies", _frequencies)
            self._measures = True


def _scope(label: Label) -> str:
    """The scope word of a label. A digest, as labels need not be words; that of another label is told apart later."""
    return f"n{label.ns}s{label.session}l{sha256(label.name.encode()).hexdigest()[:16]}"


def _frequencies(api: apsw.FTS5ExtensionApi, *_: Any) -> str:
    """How many words an index row has, and how often each phrase occurs in it, but for those of the scope."""
    numbers = str(api.column_size(1))
    for phrase in range(api.phrase_count - 1):
        numbers += f" {len(api.phrase_column_offsets(phrase, 1))}"
    return numbers
