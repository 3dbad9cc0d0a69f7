"""What goes into the index and the totals for one message: worked out before the write transaction begins."""

from __future__ import annotations

from itertools import zip_longest
from typing import NamedTuple

from .content import KINDS, Piece, counted, pieces
from .messages import Message
from .searching import CHUNK_REPEATS, INDEX_VERSION, chunks, segment
from .tokens import ESTIMATOR_VERSION, TokenCounter, estimate_all

MESSAGE_TOKENS = 4
"""What the frame of a message costs, in every family (the reference systems use the same figure)."""
MEDIA_TOKENS = (765, 1600, 1600, 258, 1600)
"""What an image costs in each family of `tokens.FAMILIES`: o200k at high detail with one tile more than the base,
Claude near its recommended largest size, Gemma per tile. An estimate: the real figure depends on its pixels."""


class Words(NamedTuple):
    """One row of the index: the segmented words of a message, or of a piece of a long one, by kind."""

    text: str | None
    tool_input: str | None
    tool_output: str | None
    reasoning: str | None


def words(message: Message) -> tuple[Words, ...]:
    """The index rows of a message. None, if it has nothing searchable."""
    return _rows(pieces(message))


def same_words(one: Message, other: Message) -> bool:
    """Whether two states of a message are found by the same searches."""
    return [piece[1:] for piece in pieces(one)] == [piece[1:] for piece in pieces(other)]


def tokens(message: Message) -> tuple[int, int, int, int, int]:
    """What a message costs in each family of `tokens.FAMILIES`."""
    text, media = counted(message)
    o200k, claude3, claude48, gemma3, safe = estimate_all(text)
    if not media:
        return (
            o200k + MESSAGE_TOKENS,
            claude3 + MESSAGE_TOKENS,
            claude48 + MESSAGE_TOKENS,
            gemma3 + MESSAGE_TOKENS,
            safe + MESSAGE_TOKENS,
        )
    own = (o200k, claude3, claude48, gemma3, safe)
    o200k, claude3, claude48, gemma3, safe = (
        count + MESSAGE_TOKENS + media * each for count, each in zip(own, MEDIA_TOKENS, strict=True)
    )
    return o200k, claude3, claude48, gemma3, safe


def count(message: Message, counter: TokenCounter) -> int:
    """What a message costs by another counter; its frame and its media at the price of `o200k`."""
    text, media = counted(message)
    return counter(text) + MESSAGE_TOKENS + media * MEDIA_TOKENS[0]


def _rows(found: list[Piece]) -> tuple[Words, ...]:
    columns = [segmented("\n".join([piece.text for piece in found if piece.kind == kind])) for kind in KINDS]
    return tuple(map(Words._make, zip_longest(*columns)))


def segmented(text: str) -> list[str]:
    """The segmented words of a text, in pieces that an index row can hold. None, if it has no words."""
    tokens = segment(text) if text else ()
    if len(tokens) <= CHUNK_REPEATS:  # nearly always: one piece, or none
        return [" ".join(tokens)] if tokens else []
    # A piece that was there before would find nothing more; a log of one repeated line is thousands of them.
    return list(dict.fromkeys(" ".join(chunk) for chunk in chunks(tokens)))


__all__ = ["ESTIMATOR_VERSION", "INDEX_VERSION", "Words", "count", "same_words", "segmented", "tokens", "words"]
