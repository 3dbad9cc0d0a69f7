"""The lines that each section may have, the best first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from heapq import nlargest
from itertools import chain, islice, zip_longest

from .. import _json
from ._earlier import Earlier
from ._form import CHANGED, CONTENT, SEEN, Line, Said, counted
from ._scoring import is_chatter, is_later, is_question, score
from ._sentences import LONGEST, name_of, one_line, scanned, shortened
from ._talk import MOST_READ, Talk

_EARLIER_BONUS, _LEAST_SCORE = 2.5, 1.0
"""What scores less is left out even where there is room: greetings, and what tools say without saying much."""
_FILES_SHOWN, _NAMES_SHOWN, _MOST_LATER = 10, 8, 50


def candidates(talk: Talk, earlier: Earlier, most: int) -> Iterator[Iterator[Line]]:
    """Key points of earlier summaries, new ones, and all; the best first, and more than fit in `most` tokens."""
    # Places count down, so that of equals the first is best.
    keys = dict.fromkeys(earlier.keys)
    kept = [(score(said.text, said.kind) + _EARLIER_BONUS, -order, said) for order, said in enumerate(keys)]
    others = [
        *earlier.others,
        *(earlier.state if talk.said else ()),
        *(said for note, said in earlier.passing if talk.spoke and note != "pending"),
        *talk.said,
    ]
    fresh: list[tuple[float, int, Said]] = []
    for order, said in enumerate(dict.fromkeys(others)):
        points = score(said.text, said.kind, said.first, said.code)
        if points >= _LEAST_SCORE:
            fresh.append((points + order / len(others) / 2, -order - len(kept), said))
    for among in (kept, fresh, kept + fresh):
        yield (Line(said.who, said.text, said, -place) for _, place, said in nlargest(most + 200, among))


def state_lines(talk: Talk, earlier: Earlier) -> Iterator[Line]:
    """Current State, the most needed first."""
    statements = [text for text in talk.last if not is_question(text)]
    statements = [text for text in statements if not is_chatter(text)] or statements
    said_last = [Line("assistant", text, Said("assistant", text)) for text in (*statements[-1:], *statements[:1])]
    yield from said_last[:1]
    if not talk.said:
        for said in earlier.state:
            yield Line(said.who, said.text, said)
    for name, text in list(talk.failures.values())[-2:]:
        yield Line(f"tool {name} (failed)", text, Said(f"tool {name}", text))
    changed = [*(name for name in earlier.changed if name not in talk.changed), *talk.changed]
    for label, names in ((CHANGED, changed), (SEEN, [name for name in talk.seen if name not in changed])):
        more = f" and {len(names) - _FILES_SHOWN} earlier ones" if len(names) > _FILES_SHOWN else ""
        if names:
            yield Line(label, ", ".join(f"`{name}`" for name in names[-_FILES_SHOWN:]) + more)
    yield from said_last[1:]
    counts = [_tally(talk.tools, "tool call", "tool calls"), _tally(talk.attached, "attachment", "attachments")]
    if any(counts):
        yield Line(CONTENT, "; ".join(filter(None, counts)))


def _tally(counter: Counter[str], one: str, more: str) -> str:
    """`3 tool calls: read_file ×2, bash`; empty for none."""
    ordered = sorted(counter.items(), key=lambda item: (-item[1], item[0]))
    names = [name if number == 1 else f"{name} ×{number}" for name, number in ordered[:_NAMES_SHOWN]]
    names += [f"{len(ordered) - _NAMES_SHOWN} more"] if len(ordered) > _NAMES_SHOWN else []
    return f"{counted(counter.total(), one, more)}: {', '.join(names)}" if names else ""


def open_lines(talk: Talk, earlier: Earlier, request: str) -> Iterator[Line]:
    """Open Items behind the latest request, the most needed first."""
    for call in talk.pending.values():
        name = name_of(call.name)
        given = shortened(one_line(scanned(_json.text(call.raw), MOST_READ)), LONGEST)
        yield Line(f"tool {name} (pending)", given or "(no input)")
    if talk.asked:
        for text in [text for text in talk.last if is_question(text)][-2:]:
            yield Line("assistant (question)", text, Said("assistant", text))
    if not talk.spoke:
        for note, said in earlier.passing:
            if not (note == "latest request" and request):
                yield Line(f"{said.who} ({note})", said.text, said)
    later = (s for s in reversed(talk.said) if s.kind != "tool" and not s.code and is_later(s.text))
    # In turns, so that neither what has been open for long nor what has just come up fills all the room.
    for said in chain.from_iterable(zip_longest(reversed(earlier.open), islice(later, _MOST_LATER))):
        if said is not None:
            yield Line(said.who, said.text, said)


def topic_of(talk: Talk, earlier: Earlier) -> tuple[str, str]:
    """(who, text): the sentences up to the first that says something."""
    if earlier.topic:
        return earlier.topic[0].who, shortened(" ".join(said.text for said in earlier.topic), LONGEST)
    telling = (n for n, text in enumerate(talk.first, 1) if len(text) >= 8 and not is_chatter(text))
    return talk.asker, shortened(" ".join(talk.first[: next(telling, None)]), LONGEST)
