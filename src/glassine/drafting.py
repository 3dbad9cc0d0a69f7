"""A message made ready to be written: everything that can be worked out before the write transaction begins."""

from __future__ import annotations

import zlib
from typing import NamedTuple

from .indexing import Words, tokens, words
from .messages import ROLES, Message
from .moments import to_micros
from .representation import External, lay_down, restore


class Draft(NamedTuple):
    """A message ready to be written. `size` is the bytes of the whole wire shape, `created_at` microseconds.

    `tokens` are the estimates per family, `words` the rows of the search index.
    """

    id: str
    role: int
    created_at: int | None
    codec: int
    body: bytes
    crc: int
    size: int
    externals: tuple[External, ...]
    tokens: tuple[int, int, int, int, int]
    words: tuple[Words, ...]


def draft(message: Message) -> Draft:
    """Lay a message down. It must have its id."""
    codec, whole = message.encoded()
    codec, body, externals = lay_down(codec, whole)
    created = message.created_at
    return Draft(
        message.id,
        ROLES.index(message.role),
        None if created is None else to_micros(created),
        codec,
        body,
        zlib.crc32(body),
        len(whole),
        externals,
        tokens(message),
        words(message),
    )


def drafted(draft: Draft) -> Message:
    """The message that was laid down."""
    spilled = tuple((item.path, restore(item.kind, item.prefix, item.data)) for item in draft.externals)
    return Message.stored(draft.id, ROLES[draft.role], draft.codec, draft.body, spilled)
