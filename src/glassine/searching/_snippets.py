"""Snippets: the piece of the original text in which a query was found, with the places of the hit.

The engine matched folded tokens; here they are found again in the text as it was written. A position in folded text is
carried back through the pieces whose foldings, put together, are the folding of the whole.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import accumulate, chain
from typing import NamedTuple
from unicodedata import category, east_asian_width

from ._characters import IGNORABLE, JOINING, UNSPACED, marks
from ._folding import fold
from ._queries import Form, Phrase, Query
from ._segmenting import unspaced_pattern, word_tokens

WIDTH = 160

# A text that is not ASCII is folded in windows of so many characters, until one holds a hit.
_WINDOW = 2048
# Around a place where the query stands as it was typed.
_MARGIN = 320
# Hits of one phrase that are weighed against each other, and marked.
_MOST_HITS = 24

# No word is so long that a snippet is shortened further to leave it out.
_LONGEST_TIDIED = 24

_ZWJ = "\u200d"


class Snippet(NamedTuple):
    """A piece of a text. `marks` are the hits in it, as (start, end) in `text`, in order and without overlaps.

    `start` is where `text` begins in the original; `cut_before` and `cut_after` say that the original goes on there.
    Without marks, nothing of the query was found and the piece is the beginning.
    """

    text: str
    start: int
    marks: tuple[tuple[int, int], ...]
    cut_before: bool
    cut_after: bool

    def marked(self, before: str = "«", after: str = "»", ellipsis: str = "…") -> str:
        """The text with something before and after each hit, and an ellipsis where it was cut."""
        pieces = [ellipsis] if self.cut_before else []
        end = 0
        for first, last in self.marks:
            pieces += [self.text[end:first], before, self.text[first:last], after]
            end = last
        pieces.append(self.text[end:])
        if self.cut_after:
            pieces.append(ellipsis)
        return "".join(pieces)


def snippet(text: str, query: Query, width: int = WIDTH) -> Snippet:
    """The piece of `text` that shows most of the phrases of the query.

    `width` is in columns of a terminal, of which a CJK character takes two and a combining mark none; marks and
    ellipses come on top. A piece never begins or ends within a character as a reader sees it, nor a mark.
    """
    hits: list[Hit] = []
    for form in (query.strict, query.loose):
        if hits := [(*_whole(text, start, end), phrase) for start, end, phrase in _hits(text, form)]:
            break
    first, last = _best(hits, width) if hits else (0, 0)
    start, end = _widened(text, first, last, width)
    places: list[tuple[int, int]] = []
    for begin, stop, _ in sorted(hits):
        here, there = max(begin, start, places[-1][1] + start if places else 0), min(stop, end)
        if here < there:
            places.append((here - start, there - start))
    return Snippet(text[start:end], start, tuple(places), start > 0, end < len(text))


# --- finding ----------------------------------------------------------------------------------------------------------

Hit = tuple[int, int, int]  # start and end in the text, number of the phrase


def _hits(text: str, form: Form) -> list[Hit]:
    if text.isascii():
        return _hits_in(text.lower().replace("_", "-"), form)
    for start, end in _windows(text, form):
        window = text[start:end]
        found = _hits_in(fold(window).replace("_", "-"), form)
        if found:
            origin = _Origin(window)
            return [(start + origin.start(a), start + origin.end(b), phrase) for a, b, phrase in found]
    return []


def _windows(text: str, form: Form) -> Iterator[tuple[int, int]]:
    """Parts of a text to be looked through in turn; first those where a phrase stands as it was typed, if any."""
    if len(text) > _WINDOW:
        for phrase in form.phrases:
            if (place := text.find(phrase.runs[0])) >= 0:
                yield _boundary_before(text, place - _MARGIN), place + _MARGIN
    for start in range(0, len(text), _WINDOW):
        yield _boundary_before(text, start - _MARGIN), start + _WINDOW


def _hits_in(folded: str, form: Form) -> list[Hit]:
    hits = []
    plain = folded.isascii()
    for number, phrase in enumerate(form.phrases):
        beginning = _beginning(phrase, plain)
        place = 0
        found = 0
        while found < _MOST_HITS and (candidate := beginning.search(folded, place)):
            end = _end_of_match(folded, candidate.start(), phrase, plain)
            if end is not None:
                hits.append((candidate.start(), end, number))
                found += 1
            place = end or candidate.start() + 1
    return hits


@lru_cache(maxsize=512)
def _beginning(phrase: Phrase, plain: bool) -> re.Pattern[str]:
    """What every occurrence of a phrase begins with. Words share their stem, but not always its last letter."""
    run, token = phrase.runs[0], phrase.tokens[0]
    if unspaced_pattern().match(run):
        return re.compile(re.escape(run))
    start = re.escape(token[:-1] if len(token) > 2 or token[1:] == "i" else token)
    # Looking back from behind the letters leaves their search to the quick part of the engine.
    return re.compile(f"{start}(?<![a-z0-9]{start})" if plain else start)


@cache
def _patterns(plain: bool) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A whole word, and what may stand between words, in folded text without underscores; `plain` if that is ASCII."""
    if plain:
        return re.compile("[a-z0-9]+"), re.compile("[^a-z0-9]*")
    return (
        re.compile(rf"(?![{UNSPACED}])\w(?:(?![{UNSPACED}])[\w{marks()}])*"),
        re.compile(rf"[^\w{UNSPACED}]*"),
    )


def _end_of_match(folded: str, place: int, phrase: Phrase, plain: bool) -> int | None:
    """Where the phrase that begins at `place` ends, or None if it does not stand there."""
    word, between = _patterns(plain)
    unspaced = unspaced_pattern()
    if not plain and not unspaced.match(phrase.runs[0]) and _is_within_word(folded, place):
        return None
    last = len(phrase.runs) - 1
    for number, run in enumerate(phrase.runs):
        if number:
            gap = between.match(folded, place)
            assert gap is not None  # it matches nothing at all, too
            place = gap.end()
        if unspaced.match(run):
            if not folded.startswith(run, place):
                return None
            place += len(run)
            if number < last and unspaced.match(folded, place):
                return None
        else:
            found = word.match(folded, place)
            if found is None or word_tokens(found[0]) != word_tokens(run):
                return None
            place = found.end()
    return place


def _is_within_word(folded: str, place: int) -> bool:
    """Whether a word goes on at `place`, that is, whether a letter and its marks stand before it."""
    unspaced = unspaced_pattern()
    while place > 0 and folded[place - 1] in marks() and not unspaced.match(folded, place - 1):
        place -= 1
    return place > 0 and folded[place - 1].isalnum() and not unspaced.match(folded, place - 1)


@cache
def _pieces() -> re.Pattern[str]:
    """Pieces that fold on their own: a stretch that keeps its length (group 1), or a character with what joins it."""
    steady = (
        "\\x00-\\x7f\u00a1-\u00a7\u00a9\u00ab\u00ac\u00ae\u00b0\u00b1\u00b6\u00b7\u00bb\u00bf\u2010\u2012-\u2015\u2018-\u2022"
        "\u0400-\u0481\u0621-\u063f\u0641-\u064a\u3001-\u3020\u3041-\u3096\u30a1-\u30fe\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff5e"
    )
    joining = f"[{JOINING}{marks()}]"
    return re.compile(f"([{steady}]+)(?!{joining})|.{joining}*", re.DOTALL)


class _Origin:
    """Carries places in the folded text back to the text."""

    def __init__(self, text: str) -> None:
        self._text_starts = [0]
        self._fold_starts = [0]
        self._steady: list[bool] = []
        for piece in _pieces().finditer(text):
            steady = piece[1] is not None
            self._steady.append(steady)
            self._text_starts.append(piece.end())
            self._fold_starts.append(self._fold_starts[-1] + (len(piece[0]) if steady else len(fold(piece[0]))))

    def start(self, place: int) -> int:
        """Where the character begins that the folded one at `place` comes from."""
        number = bisect_right(self._fold_starts, place) - 1
        if number == len(self._steady):
            return self._text_starts[-1]
        return self._text_starts[number] + (place - self._fold_starts[number] if self._steady[number] else 0)

    def end(self, place: int) -> int:
        """Where the character ends that the folded one before `place` comes from."""
        number = bisect_right(self._fold_starts, place - 1) - 1
        if self._steady[number]:
            return self._text_starts[number] + place - self._fold_starts[number]
        return self._text_starts[number + 1]


# --- cutting ----------------------------------------------------------------------------------------------------------


def _best(hits: Sequence[Hit], width: int) -> tuple[int, int]:
    """The first stretch, no longer than the snippet, with the most different phrases."""
    if len(hits) == 1:
        return hits[0][:2]
    ordered = sorted(hits)
    within: Counter[int] = Counter()
    best = ordered[0][:2]
    most = right = 0
    for left, (start, end, phrase) in enumerate(ordered):
        while right < len(ordered) and (right <= left or ordered[right][1] - start <= width):
            within[ordered[right][2]] += 1
            right += 1
        if len(within) > most:
            most = len(within)
            best = start, max(end, *(stop for _, stop, _ in ordered[left:right]))
        within[phrase] -= 1
        if not within[phrase]:
            del within[phrase]
    return best


class _Widths(dict[str, int]):
    """The columns that characters take, as far as they have been asked for. There are few in use."""

    def __missing__(self, character: str) -> int:
        if len(self) >= 1 << 14:
            self.clear()
        width = 0 if _extends(character) else 2 if east_asian_width(character) in "WF" else 1
        self[character] = width
        return width


_widths = _Widths()


def _columns(text: str) -> list[int]:
    """The columns of each character; what a joiner adds to a picture adds none."""
    if text.isascii():
        return [1] * len(text)
    columns = list(map(_widths.__getitem__, text))
    place = text.find(_ZWJ)
    while 0 <= place < len(text) - 1:
        columns[place + 1] = 0
        place = text.find(_ZWJ, place + 1)
    return columns


def _widened(text: str, first: int, last: int, width: int) -> tuple[int, int]:
    """The hit with what stands around it: a third of the room before, the rest after, as far as there is text."""
    if text.isascii() and last - first <= width:  # a column for each character: the same without counting
        room = width - (last - first)
        right = min(len(text) - last, room - min(room // 3, first))
        return _tidy_start(text, max(first - room + right, 0), first), _tidy_end(text, last + right, last)
    core = list(accumulate(_columns(text[first : min(last, first + width)])))
    if core and (core[-1] > width or last - first > width):
        return first, max(_boundary_before(text, first + bisect_right(core, width)), first)
    room = width - (core[-1] if core else 0)
    before = list(accumulate(_columns(text[max(first - room, 0) : first])[::-1]))
    after = list(accumulate(_columns(text[last : last + room])))
    wanted = min(room // 3, before[-1] if before else 0)
    right = bisect_right(after, room - wanted)
    left = bisect_right(before, room - (after[right - 1] if right else 0))
    return _tidy_start(text, first - left, first), _tidy_end(text, last + right, last)


def _tidy_start(text: str, place: int, hit: int) -> int:
    """The place, or a little later, so that no word is cut and no space comes first."""
    if place < hit and _parts(text, place):
        near = range(place + 1, min(place + _LONGEST_TIDIED, hit + 1))
        spaces, others = (i for i in near if text[i - 1].isspace()), (i for i in near if not text[i - 1].isalnum())
        place = next(chain(spaces, others), place)
    while place < hit and (not _is_boundary(text, place) or (place and text[place].isspace())):
        place += 1
    return place


def _tidy_end(text: str, place: int, hit: int) -> int:
    """The place, or a little earlier, so that no word is cut and no space comes last."""
    if place > hit and _parts(text, place):
        near = range(place - 1, max(place - _LONGEST_TIDIED, hit - 1), -1)
        spaces, others = (i for i in near if text[i].isspace()), (i for i in near if not text[i].isalnum())
        place = next(chain(spaces, others), place)
    while place > hit and (not _is_boundary(text, place) or (place < len(text) and text[place - 1].isspace())):
        place -= 1
    return place


def _parts(text: str, place: int) -> bool:
    """Whether the place parts characters that belong together: no space between them, in a script with spaces."""
    around = text[place - 1 : place + 1] if place else ""
    return len(around) == 2 and all(map(_is_spaced, around))


def _is_spaced(character: str) -> bool:
    if character.isascii():
        return not character.isspace()
    return character.isalnum() and not unspaced_pattern().match(character)


def _whole(text: str, start: int, end: int) -> tuple[int, int]:
    """A stretch widened to whole characters as a reader sees them."""
    while not _is_boundary(text, end):
        end += 1
    return _boundary_before(text, start), end


def _boundary_before(text: str, place: int) -> int:
    place = max(place, 0)
    while not _is_boundary(text, place):
        place -= 1
    return place


@cache
def _extending() -> re.Pattern[str]:
    """What only adds to the character before it, besides marks: invisible characters and skin tones."""
    return re.compile(f"[{IGNORABLE}\U0001f3fb-\U0001f3ff]")


def _extends(character: str) -> bool:
    if character < "\u00ad":
        return False
    return category(character).startswith("M") or _extending().match(character) is not None


def _is_regional(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _is_boundary(text: str, place: int) -> bool:
    """Whether a reader sees one character end and another begin here."""
    if not 0 < place < len(text):
        return True
    before, after = text[place - 1], text[place]
    if before < "\u0300" and after < "\u00ad":
        return not (before == "\r" and after == "\n")
    if _extends(after) or (before == _ZWJ and not after.isalnum()):
        return False
    if "\u1160" <= after <= "\u11ff":  # a vowel or final of Hangul goes with the jamo or syllable before it
        return not ("\u1100" <= before <= "\u11ff" or "\uac00" <= before <= "\ud7a3")
    if _is_regional(before) and _is_regional(after):  # flags are pairs
        first = place
        while first > 0 and _is_regional(text[first - 1]):
            first -= 1
        return (place - first) % 2 == 0
    return True
