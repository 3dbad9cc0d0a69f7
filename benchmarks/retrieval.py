"""How much of what should be found is found: the measurements behind the bars of search.

    python benchmarks/retrieval.py [DATA]        DATA is ../shared/data, beside the project, if not given

Two sets, both in DATA and neither of them part of the project. `tokens/_search.json`: short documents in Japanese,
Chinese and Korean, with queries and the documents that contain them. `retrieval/ja_jaquad_dev.json.gz` (JaQuAD):
questions in Japanese, each with the passage that answers it. SQLite's FTS5 does the matching.
"""

from __future__ import annotations

import gzip
import json
import pathlib
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import mean

import apsw

from glassine.searching import FTS5_TOKENIZER, Form, fold, parse_query, segment, to_fts5

DATA = pathlib.Path(__file__).resolve().parent.parent.parent / "shared" / "data"

Search = Callable[[str, int], list[int]]
"""A query and how many hits are wanted; gives the numbers of documents, best first."""


def _filled(documents: Sequence[str], tokenizer: str) -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    connection.execute(f"CREATE VIRTUAL TABLE documents USING fts5(text, tokenize = '{tokenizer}')")
    with connection:
        connection.executemany("INSERT INTO documents(rowid, text) VALUES (?, ?)", enumerate(documents))
    return connection


def _matching(connection: apsw.Connection, expression: str, limit: int) -> list[int]:
    sql = "SELECT rowid FROM documents WHERE documents MATCH ? ORDER BY rank, rowid LIMIT ?"
    return [int(row[0]) for row in connection.execute(sql, (expression, limit))]


class Index:
    """Documents under glassine's segmenter."""

    def __init__(self, documents: Sequence[str]) -> None:
        self.connection = _filled([" ".join(segment(text)) for text in documents], FTS5_TOKENIZER)

    def form(self, form: Form, limit: int) -> list[int]:
        return _matching(self.connection, to_fts5(form), limit) if form.phrases else []

    def strict(self, query: str, limit: int) -> list[int]:
        return self.form(parse_query(query).strict, limit)

    def search(self, query: str, limit: int) -> list[int]:
        """Strict hits, then loose ones up to the limit."""
        hits = self.strict(query, limit)
        if len(hits) < limit:
            hits += [hit for hit in self.form(parse_query(query).loose, limit) if hit not in set(hits)]
        return hits[:limit]


def one_phrase(documents: Sequence[str]) -> Search:
    """For comparison: FTS5 as it comes, the whole query as one phrase."""
    connection = _filled(documents, "unicode61")
    return lambda query, limit: _matching(connection, '"' + query.replace('"', '""') + '"', limit)


def trigrams(documents: Sequence[str]) -> Search:
    """For comparison: FTS5's trigrams, any word of three characters and more."""
    connection = _filled(documents, "trigram")

    def search(query: str, limit: int) -> list[int]:
        words = re.findall(r"\w{3,}", query)
        return _matching(connection, " OR ".join(f'"{word}"' for word in words), limit) if words else []

    return search


@dataclass(frozen=True)
class Found:
    """For one language: the share of each query's documents that was found, on average and for queries of one or two
    characters (of a script without spaces); and of all hits, those that do not contain their query."""

    recall: float
    short_recall: float
    hits: int
    wrong: tuple[tuple[str, str], ...]


def bare(text: str) -> str:
    """What is left of a text for the question whether it contains another: folded letters and digits, in a row."""
    return re.sub(r"[\W_]+", "", fold(text))


def containing(data: pathlib.Path, language: str) -> Found:
    """Strict hits on the documents of `_search.json` in a language, against the documents that contain the query."""
    part = json.loads((data / "tokens" / "_search.json").read_text(encoding="utf-8"))[language]
    documents: list[str] = part["docs"]
    index = Index(documents)
    shares: list[float] = []
    short_shares: list[float] = []
    count = 0
    wrong = []
    for query in part["queries"]:
        text: str = query["q"]
        hits = index.strict(text, len(documents))
        share = len(set(hits) & set(query["match"])) / len(query["match"])
        shares.append(share)
        if len(text) <= 2 and not fold(text).isascii():
            short_shares.append(share)
        count += len(hits)
        wrong += [(text, documents[hit]) for hit in hits if bare(text) not in bare(documents[hit])]
    return Found(mean(shares), mean(short_shares), count, tuple(wrong))


@dataclass(frozen=True)
class Passages:
    texts: list[str]
    questions: list[tuple[str, int]]


def passages(data: pathlib.Path) -> Passages:
    """JaQuAD's passages, and its questions with the number of the passage that answers them."""
    with gzip.open(data / "retrieval" / "ja_jaquad_dev.json.gz", "rt", encoding="utf-8") as file:
        raw = json.load(file)
    turns = [turn for session in raw["sessions"] for turn in session["turns"]]
    places = {turn["id"]: place for place, turn in enumerate(turns)}
    return Passages(
        [turn["text"] for turn in turns], [(item["q"], places[item["evidence"][0]]) for item in raw["questions"]]
    )


def hit_rates(search: Search, questions: Sequence[tuple[str, int]]) -> tuple[float, float, float]:
    """The share of questions whose passage is the first hit, among the first 5, among the first 20."""
    found = [(search(question, 20), place) for question, place in questions]
    first, five, twenty = (sum(place in hits[:limit] for hits, place in found) / len(found) for limit in (1, 5, 20))
    return first, five, twenty


def main() -> int:
    data = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else DATA
    if not data.is_dir():
        print(f"{data} is not there: nothing measured")
        return 1
    print("Queries in the documents that contain them: recall, recall of 1 and 2 characters, hits without the query")
    for language in ("ja", "zh", "ko"):
        found = containing(data, language)
        print(f"  {language}  {found.recall:7.1%}  {found.short_recall:7.1%}  {len(found.wrong)} of {found.hits}")
    jaquad = passages(data)
    print(f"\nQuestions answered by one of {len(jaquad.texts)} passages: first hit, among 5, among 20")
    for name, search in (
        ("glassine", Index(jaquad.texts).search),
        ("one phrase", one_phrase(jaquad.texts)),
        ("trigrams", trigrams(jaquad.texts)),
    ):
        print(f"  {name:12}" + "".join(f"{rate:8.1%}" for rate in hit_rates(search, jaquad.questions)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
