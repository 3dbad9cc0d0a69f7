"""From what a user typed to what is looked for: phrases of tokens, in a strict and a loose form.

Everything typed is a valid query. Quotation marks make a phrase of several words; nothing else has a meaning of its
own, so that operators of query languages (`AND`, `*`, `NEAR`, `-`, `:`) are words or nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from ._folding import fold
from ._segmenting import LONGEST_PHRASE, run_tokens, runs, word_tokens

LONGEST_QUERY = 4096  # characters that are looked at
MOST_LOOSE_PHRASES = 64

# Words too common in English to say what a question is about; the loose form does without them.
_COMMON_WORDS = frozenset(
    re.findall(
        r"\w+",
        """a about after all am an and any are as at be been but by can could did do does for from get had has have
        he her him his how i if in into is it its just like me my no not of on or our out she so some than that the
        their them then there these they this to up us was we were what when where which who why will with would you
        your""",
    )
)
# Shorter runs of hiragana are particles and endings.
_SHORTEST_HIRAGANA = 3


class Phrase(NamedTuple):
    """Tokens to be found in a row. With `prefix`, it is enough that the last one begins a token.

    `runs` are the folded words and runs that the tokens were made of, with which a snippet finds the phrase again.
    """

    tokens: tuple[str, ...]
    prefix: bool = False
    runs: tuple[str, ...] = ()


Sought = tuple[tuple[str, ...], bool]
"""The tokens and `prefix` of a phrase: what an engine is asked for."""


class Form(NamedTuple):
    """Phrases of which all have to occur (`every`), or any."""

    phrases: tuple[Phrase, ...]
    every: bool


class Query(NamedTuple):
    """A query in its two forms.

    What matches `strict` contains each of the words and quoted phrases as they were typed, up to case, accents,
    English endings and what stands between words. `loose` is for filling up with what contains some of them; it is
    empty when it could find nothing more. A query that is not `searchable` holds no letter or digit at all.
    """

    strict: Form
    loose: Form

    @property
    def searchable(self) -> bool:
        return bool(self.strict.phrases)


def parse_query(text: str) -> Query:
    """The query that a user's text stands for. Takes any string and never raises.

    Of a longer text, the first 4,096 characters and the first 128 tokens are looked at.
    """
    folded = fold(text[:LONGEST_QUERY]).replace("_", "-")  # a separator that does not end a term
    strict: dict[Sought, Phrase] = {}
    loose: dict[Sought, Phrase] = {}
    common: dict[Sought, Phrase] = {}
    room = LONGEST_PHRASE
    for quoted, term in _terms_pattern().findall(folded):
        found = list(_bounded(runs(quoted or term), room))
        if not found:
            continue
        phrase = _phrase(found)
        strict.setdefault(phrase[:2], phrase)
        room -= len(phrase.tokens)
        for part in (phrase,) if quoted else _parts(found):
            target = common if part.runs[0] in _COMMON_WORDS and not quoted else loose
            target.setdefault(part[:2], part)
    parts = loose or common
    if len(strict) == 1 and parts.keys() == strict.keys():
        parts = {}
    phrases = tuple(parts.values())[:MOST_LOOSE_PHRASES]
    return Query(Form(tuple(strict.values()), every=True), Form(phrases, every=False))


@cache
def _terms_pattern() -> re.Pattern[str]:
    """What stands in quotation marks (group 1) or between spaces (group 2); a mark without a partner is passed over."""
    return re.compile('["“”„]([^"“”„]*)["“”„]|([^\\s"“”„]+)')


def _bounded(found: Iterable[tuple[str, bool]], room: int) -> Iterator[tuple[str, bool]]:
    """The words and runs that give no more than `room` tokens; of a run that would, the beginning."""
    for run, unspaced in found:
        size = len(run) if unspaced else len(word_tokens(run))
        if size > room:
            if unspaced and room:
                yield run[:room], True
            return
        room -= size
        yield run, unspaced


def _phrase(found: Sequence[tuple[str, bool]]) -> Phrase:
    tokens: list[str] = []
    for run, unspaced in found[:-1]:
        tokens += run_tokens(run) if unspaced else word_tokens(run)
    # The text may go on after the last run: its last character need not be the end of one.
    last, unspaced = found[-1]
    if not unspaced:
        tokens += word_tokens(last)
    else:
        tokens += run_tokens(last)[:-1] or [last]
    return Phrase(tuple(tokens), unspaced and len(last) == 1, tuple(run for run, _ in found))


@cache
def _scripts_pattern() -> re.Pattern[str]:
    """In a run of a script without spaces: hiragana (group 1), katakana (group 2), anything else (group 3)."""
    hiragana, katakana = "\u3041-\u3096\u3099\u309a\u309d-\u309f", "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    return re.compile(f"([{hiragana}]+)|([{katakana}]+)|([^{hiragana}{katakana}]+)")


def _parts(found: Iterable[tuple[str, bool]]) -> Iterator[Phrase]:
    """What the loose form looks for in place of a term.

    Words one by one. Katakana whole, as they spell one word, and hiragana where they are long enough to be one; of
    ideographs, Hangul and others the single pairs, as nothing shows where a word ends.
    """
    for run, unspaced in found:
        if not unspaced:
            yield _phrase([(run, False)])
            continue
        for hiragana, katakana, other in _scripts_pattern().findall(run):
            if other:
                for part in run_tokens(other)[:-1] or [other]:
                    yield _phrase([(part, True)])
            elif len(katakana) > 1 or len(hiragana) >= _SHORTEST_HIRAGANA:
                yield _phrase([(katakana or hiragana, True)])
