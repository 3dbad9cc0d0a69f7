"""Index rows as text search vectors: what goes in, and what is counted when they come back."""

from __future__ import annotations

import re

import pytest

from glassine import vectors
from glassine.content import KINDS
from glassine.indexing import Words
from glassine.searching import CHUNK_REPEATS, CHUNK_TOKENS, LONGEST_TOKEN, Form, Phrase
from glassine.vectors import LARGEST, LONG, Row


def words(text: str = "", tool_input: str = "", tool_output: str = "", reasoning: str = "") -> Words:
    return Words(text or None, tool_input or None, tool_output or None, reasoning or None)


def phrase(*tokens: str, prefix: bool = False) -> Phrase:
    return Phrase(tokens, prefix)


def every(*phrases: Phrase) -> Form:
    return Form(phrases, every=True)


def test_each_kind_has_its_weight_and_no_phrase_runs_on_into_the_next() -> None:
    assert vectors.rows(["/1", "/1/2"], [words("a b", "c", "", "d")]) == [
        Row(4, "'/1' '/1/2' 'a':1A 'b':2A 'c':4B 'd':6D"),
    ]


def test_a_message_of_several_rows_is_marked() -> None:
    assert vectors.rows(["/1"], [words("a"), words("b", "c")]) == [
        Row(1, f"'/1' '{LONG}' 'a':1A"),
        Row(2, f"'/1' '{LONG}' 'b':1A 'c':3B"),
    ]
    assert vectors.rows(["/1"], []) == []


def test_kinds_that_repeat_a_word_too_often_together_get_rows_of_their_own() -> None:
    """Postgres drops the positions of a lexeme beyond the 256th, and a phrase with them."""
    half, most = "a " * (CHUNK_REPEATS // 2), "a " * CHUNK_REPEATS
    assert len(vectors.rows([], [words(half.strip(), half.strip())])) == 1
    assert [row.size for row in vectors.rows([], [words(most.strip(), "", half.strip())])] == [256, 128]


def test_kinds_that_are_too_large_together_get_rows_of_their_own() -> None:
    def long(first: int) -> str:
        return " ".join(chr(0x10000 + first + number) * LONGEST_TOKEN for number in range(CHUNK_TOKENS))

    rows = vectors.rows([], [words(long(0), long(CHUNK_TOKENS), "a")])
    assert [row.size for row in rows] == [CHUNK_TOKENS, CHUNK_TOKENS, 1]
    assert all(len(row.vector.encode()) <= LARGEST for row in rows)


def test_a_query_is_limited_to_kinds_and_scope() -> None:
    form = every(phrase("a", "b"), phrase("c", prefix=True))
    assert vectors.scoped(form, KINDS, ["/1"]) == "'/1' & (('a' <-> 'b') & ('c':*))"
    assert vectors.scoped(form, KINDS[1:3], []) == "(('a':BC <-> 'b':BC) & ('c':*BC))"


@pytest.mark.parametrize(
    ("vector", "expected"),
    [
        ("'a':1A,4A 'b':2A,5A,9A", (2, 0)),
        ("'a':1A 'b':3A", (0, 0)),
        ("'b':1A 'a':2A", (0, 0)),
        ("'a':7A", (0, 0)),
        ("", (0, 0)),
        ("'a':1A 'b':2A 'c':9A,10A,11A", (1, 3)),
    ],
)
def test_phrases_are_counted(vector: str, expected: tuple[int, ...]) -> None:
    assert vectors.frequencies(vector, [], every(phrase("a", "b"), phrase("c"))) == expected


def test_phrases_that_are_only_begun_count_once() -> None:
    form = every(phrase("a"), phrase("b", prefix=True), phrase("a", "c", prefix=True))
    assert vectors.counted(form) == (["a"], [form.phrases[1], form.phrases[2]])
    assert vectors.frequencies("'a':1A,2A", [True, False], form) == (2, 1, 0)


def test_what_is_written_can_be_counted() -> None:
    (row,) = vectors.rows(["/1"], [words("a b a b x", "a b")])
    # As the server gives it back: each word once, with all its places, and the weights made one.
    places: dict[str, list[str]] = {}
    for lexeme, place in re.findall(r"'(\w)':(\d+)[A-D]", row.vector):
        places.setdefault(lexeme, []).append(f"{place}A")
    vector = " ".join(f"'{lexeme}':{','.join(found)}" for lexeme, found in places.items())
    assert vectors.frequencies(vector, [], every(phrase("a", "b"), phrase("b", "a"), phrase("x", "a"))) == (3, 1, 0)
