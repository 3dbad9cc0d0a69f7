"""Entries: the keyed documents of searchable and loadable blocks, and what a model is shown of them."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from datetime import datetime
from typing import Literal, NamedTuple

from . import skills
from ._ids import check_id
from .errors import InvalidIdError
from .indexing import segmented
from .searching import Query, Snippet, snippet

WHOLE_CHARS = 2000
"""An entry up to this length is shown whole in a result; of a longer one, the passage that answers the query."""
PASSAGE_COLUMNS = 1600

When = Literal["any", "absent", "present"]
"""Whether an entry is written in any case, only if its key is new, or only if it replaces one."""
Put = Literal["created", "replaced", "kept"]
"""What became of a write; "kept": `When` did not hold, and nothing was written."""


class EntryInfo(NamedTuple):
    """An entry as it is listed. `size` is bytes of its content; `message_id` is the message whose tool call wrote it,
    None if nobody's did."""

    key: str
    description: str | None
    size: int
    message_id: str | None
    updated_at: datetime


class Entry(NamedTuple):
    """An entry, whole; fields as in EntryInfo."""

    key: str
    description: str | None
    content: str
    size: int
    message_id: str | None
    updated_at: datetime


class EntryHit(NamedTuple):
    """An entry that answers a query. `strict`: it has all words of it. `passage` is what a model is shown of it: all of
    a short content, else the part with the most words of the query."""

    entry: Entry
    score: float
    strict: bool
    passage: Snippet


class EntryDraft(NamedTuple):
    """An entry on its way into the store. `words` are its rows of the index."""

    key: str
    description: bytes | None
    data: bytes
    crc: int
    message_id: str | None
    words: tuple[str, ...]


def drafted(key: str, description: str | None, content: str, message_id: str | None) -> EntryDraft:
    """All that a store needs of an entry, worked out before a transaction begins. Raises InvalidIdError for the key."""
    data = encoded(content)
    return EntryDraft(
        check_id("entry", key),
        encoded(description) if description else None,
        data,
        zlib.crc32(data),
        message_id,
        words(key, description, content),
    )


def is_key(text: object) -> bool:
    """Whether an entry may have this key. What a model asks for need not be one."""
    try:
        check_id("entry", text)
    except InvalidIdError:
        return False
    return True


def words(key: str, description: str | None, content: str) -> tuple[str, ...]:
    """The rows of an entry in the index: a search looks in its key and description too."""
    return tuple(segmented(f"{key}\n{description or ''}\n{content}"))


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def decoded(data: bytes) -> str:
    """The text of stored bytes. Raises UnicodeDecodeError for what was damaged."""
    return bytes(data).decode("utf-8", "surrogatepass")


def passage(content: str, query: Query) -> Snippet:
    """What a model is shown of an entry that answers a query."""
    if len(content) <= WHOLE_CHARS:
        return Snippet(content, 0, (), cut_before=False, cut_after=False)
    return snippet(content, query, PASSAGE_COLUMNS)


def results_text(hits: Iterable[EntryHit]) -> str:
    """The result of a search as a model reads it: `[key]` and content, one blank line between entries; "" for none."""
    return "\n\n".join([_result(hit) for hit in hits])


def listing(found: Iterable[EntryInfo]) -> str:
    """The lines `- key: description` in the order of the keys; "" when there are none."""
    return skills.listing(
        [skills.Skill(item.key, item.description or "", item.size, item.updated_at) for item in found]
    )


def _result(hit: EntryHit) -> str:
    head = f"[{hit.entry.key}]"
    if hit.entry.description and hit.entry.description != hit.entry.key:
        head += f" {' '.join(hit.entry.description.split())}"
    if hit.passage.cut_before or hit.passage.cut_after:
        shown, whole = len(hit.passage.text), len(hit.entry.content)
        head += f" ({shown:,} of {whole:,} characters; other words find other passages)"
    return f"{head}\n{hit.passage.marked('', '')}"
