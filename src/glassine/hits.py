"""From a message that matches to a hit: which of its texts answers the query, and the piece of it to show."""

from __future__ import annotations

from collections.abc import Sequence

from .content import Kind, Piece, pieces
from .errors import CorruptMessageError
from .messages import Message
from .moments import from_micros
from .records import Hit
from .searching import Query, Snippet, snippet

SNIPPET_COLUMNS = 160
_NOTHING = Snippet("", 0, (), cut_before=False, cut_after=False)


def hit(
    session_id: str,
    message: Message,
    query: Query,
    kinds: Sequence[Kind],
    *,
    time: int,
    score: float,
    strict: bool,
    active: bool,
    summarised: bool,
    copies: tuple[str, ...],
) -> Hit:
    """The hit that a matching message is. `time` is in microseconds."""
    try:
        piece, excerpt = _best(message, query, kinds)
    except CorruptMessageError:
        piece, excerpt = Piece(0, kinds[0], ""), _NOTHING  # one that cannot be read must not hide the others
    return Hit(
        session_id=session_id,
        message_id=message.id,
        role=message.role,
        kind=piece.kind,
        part=piece.part,
        created_at=from_micros(time),
        score=score,
        snippet=excerpt.marked(),
        excerpt=excerpt,
        strict=strict,
        active=active,
        summarised=summarised,
        copies=copies,
    )


def _best(message: Message, query: Query, kinds: Sequence[Kind]) -> tuple[Piece, Snippet]:
    """The text that shows most of the query, the earlier of equal ones."""
    best: tuple[int, Piece, Snippet] | None = None
    most = len(query.strict.phrases)
    for piece in pieces(message):
        if piece.kind not in kinds:
            continue
        found = snippet(piece.text, query, SNIPPET_COLUMNS)
        shown = len({found.text[start:end].casefold() for start, end in found.marks})
        if best is None or shown > best[0]:
            best = shown, piece, found
        if shown >= most:
            break
    assert best is not None  # the index holds no message without a text of these kinds
    return best[1], best[2]
