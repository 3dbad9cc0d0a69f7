"""From a text to the tokens of its index, and long texts in pieces that an engine can hold.

Words are cut at all that is neither a letter nor a digit, and stemmed. A run of a script without spaces becomes its
pairs of neighbouring characters, and then its last character alone: `の行を` gives `の行 行を を`. So each
character begins a token, and a query of one character is a prefix; and no phrase runs on from one run into the next.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from operator import add

from ._characters import UNSPACED, marks
from ._folding import fold
from ._stemming import stem

# Stored beside every index row. Raise it whenever a text may get other tokens or chunks than before.
INDEX_VERSION = 1

# A longer word is cut in pieces of this length, in characters. With CHUNK_TOKENS it keeps a chunk under the 1 MB that
# Postgres allows a tsvector, and each token under its 2 KB.
LONGEST_TOKEN = 48

CHUNK_TOKENS = 4000
# Postgres keeps 256 positions of a lexeme and drops the rest, which would lose phrases.
CHUNK_REPEATS = 256
# The longest phrase that is found wherever the border of a chunk falls, in tokens. Queries are cut to it.
LONGEST_PHRASE = 128

# Characters that are taken at a time, about: the copies made on the way take several times the memory of their text.
_BLOCK = 1 << 18
_SPACE = re.compile(r"\s")

# Lower-case letters and digits; a space for anything else.
_LOWER_WORDS = bytes(ord(chr(code).lower()) if chr(code).isalnum() else 32 for code in range(128)).ljust(256)


class _LongWord(Exception):  # noqa: N818  a signal that never leaves this module
    """A word longer than LONGEST_TOKEN, which gives more than one token."""


class _Stems(dict[str, str]):
    """Stems of the words met so far, so that a word costs a look-up. Emptied when full: identifiers never end."""

    def __missing__(self, word: str) -> str:
        if len(word) > LONGEST_TOKEN:
            raise _LongWord
        if len(self) >= 1 << 16:
            self.clear()
        found = stem(word) if word.isascii() and word.isalpha() else word
        self[word] = found
        return found


_stems = _Stems()


def word_tokens(word: str) -> list[str]:
    """The tokens of one folded word: its stem, or its pieces when it is too long to be one."""
    if len(word) <= LONGEST_TOKEN:
        return [_stems[word]]
    return [word[i : i + LONGEST_TOKEN] for i in range(0, len(word), LONGEST_TOKEN)]


def run_tokens(run: str) -> list[str]:
    """The tokens of one folded run of a script without spaces: its pairs, and its last character."""
    return [*map(add, run, run[1:]), run[-1]]


@cache
def unspaced_pattern() -> re.Pattern[str]:
    """A run of a script without spaces, as a group, in folded text."""
    return re.compile(f"([{UNSPACED}]+)")


@cache
def word_pattern() -> re.Pattern[str]:
    """A word, in folded text that holds neither underscores nor scripts without spaces."""
    return re.compile(rf"\w[\w{marks()}]*")


def runs(folded: str) -> Iterator[tuple[str, bool]]:
    """The words and runs of a folded text without underscores, each with whether it is of a script without spaces."""
    for place, part in enumerate(unspaced_pattern().split(folded)):
        if place & 1:
            yield part, True
        else:
            for word in word_pattern().findall(part):
                yield word, False


def segment(text: str) -> list[str]:
    """The tokens of `text` in their order: what is indexed, one token per position.

    Tokens hold only ASCII letters and digits, letters and digits of other scripts and their combining marks; no
    engine has a reason to cut them further. Takes any string; a text without a letter or digit gives no tokens.
    """
    if len(text) <= _BLOCK:
        return _segment(text)
    tokens: list[str] = []
    start = 0
    while start < len(text):
        # A space joins to nothing before it, so that what stands on either side folds and segments by itself.
        space = _SPACE.search(text, start + _BLOCK)
        end = space.start() if space else len(text)
        tokens += _segment(text[start:end])
        start = end
    return tokens


def _segment(text: str) -> list[str]:
    if text.isascii():
        return _stemmed(text.encode("ascii").translate(_LOWER_WORDS).decode("ascii").split())
    tokens: list[str] = []
    # `runs` once more, for speed: the same words, without a step of Python for each.
    for place, part in enumerate(unspaced_pattern().split(fold(text).replace("_", " "))):
        if place & 1:
            tokens += map(add, part, part[1:])
            tokens.append(part[-1])
        elif len(part) == 1 and not part.isalnum():
            pass  # a space or comma between two such runs
        elif part.isascii():
            tokens += _stemmed(part.encode("ascii").translate(_LOWER_WORDS).decode("ascii").split())
        else:
            tokens += _stemmed(word_pattern().findall(part))
    return tokens


def _stemmed(words: list[str]) -> list[str]:
    try:
        return list(map(_stems.__getitem__, words))
    except _LongWord:
        return [token for word in words for token in word_tokens(word)]


def chunks(tokens: Sequence[str]) -> Iterator[Sequence[str]]:
    """The tokens in pieces for one index row each, at most CHUNK_TOKENS long, no token over CHUNK_REPEATS times.

    Neighbours overlap, so that any LONGEST_PHRASE tokens in a row stand whole in one of them.
    """
    start = 0
    # Where one word goes on and on, pieces are short, and to look at more than twice the last would be wasted.
    reach = CHUNK_TOKENS
    while True:
        piece = tokens[start : start + reach]
        if len(piece) > CHUNK_REPEATS and (excess := _first_excess(piece)) < len(piece):
            piece = piece[:excess]
        reach = min(2 * max(len(piece), CHUNK_REPEATS), CHUNK_TOKENS)
        if piece:
            yield piece
        start += len(piece)
        if start >= len(tokens):
            return
        start -= LONGEST_PHRASE - 1


def _first_excess(tokens: Sequence[str]) -> int:
    """The place at which a token is met once too often."""
    first = len(tokens)
    for token, count in Counter(tokens).items():
        if count > CHUNK_REPEATS:
            place = -1
            for _ in range(CHUNK_REPEATS + 1):
                place = tokens.index(token, place + 1)
            first = min(first, place)
    return first
