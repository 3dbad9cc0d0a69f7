"""Blocks: the labelled sections of a system prompt, how they are drawn, and what may be written into one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import sha256
from math import isfinite
from typing import Literal, NamedTuple

from .errors import BudgetExceededError
from .tokens import FAMILIES, TokenCounter, estimate_tokens

BlockKind = Literal["readonly", "writable", "searchable", "loadable"]
Scope = Literal["session", "namespace"]
SCOPES: tuple[Scope, ...] = ("session", "namespace")
WhenChanged = Literal["keep", "remind"]

RULE = "═" * 46
LONGEST_RUN = 10
"""So many ═ in a row read as a rule, whatever else stands on the line."""
# What ends a line for some reader or other, and what draws a line across a page.
_LINE = re.compile("[^\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+")
_DRAWN = frozenset("═=＝﹦━─―—–－-_＿▬╍╌┄┅▔▁‗")


@dataclass(frozen=True, slots=True)
class Block:
    """One block as it is now, which may be newer than the frozen prompt.

    `content` is what stands in the prompt: the text, or the listing of a searchable or loadable block. `tokens` counts
    it by the spec's counter, `max_tokens` is its budget (None: none). `writable` says whether `set_context` may write
    to it, `keyed` whether it holds entries by their keys.
    """

    label: str
    kind: BlockKind
    description: str
    content: str
    tokens: int
    max_tokens: int | None
    scope: Scope
    writable: bool
    when_changed: WhenChanged

    @property
    def keyed(self) -> bool:
        return self.kind in ("searchable", "loadable")


class Section(NamedTuple):
    """A block as it stands in the prompt: its text, that in UTF-8 (lone surrogates as `surrogatepass`), and the SHA-256
    of these bytes."""

    label: str
    text: str
    data: bytes
    digest: str


def sections(blocks: Iterable[Block]) -> list[Section]:
    """The sections of a prompt, in the order given. An empty read-only block has none."""
    drawn = []
    for block in blocks:
        content = harmless(block.content).strip("\n")
        if content or block.kind != "readonly":
            text = f"{RULE}\n{header(block)}\n{RULE}\n{content}" if content else f"{RULE}\n{header(block)}\n{RULE}"
            data = text.encode("utf-8", "surrogatepass")
            drawn.append(Section(block.label, text, data, sha256(data).hexdigest()))
    return drawn


def joined(drawn: Iterable[Section]) -> str:
    """The prompt of these sections: one blank line between two of them."""
    return "\n\n".join([section.text for section in drawn])


def joined_data(drawn: Iterable[Section]) -> bytes:
    """The same in UTF-8. Each section is encoded once, for its digest and for this."""
    return b"\n\n".join([section.data for section in drawn])


def render(blocks: Iterable[Block]) -> str:
    """The system prompt: the sections with one blank line between them. The same blocks give the same text."""
    return joined(sections(blocks))


def header(block: Block) -> str:
    """`LABEL (description) [45% — 495/1100 tokens] [tag]`, on one line; the tag comes last."""
    description = " ".join(harmless(block.description).split())
    text = block.label.upper()
    if description:
        text += f" ({description})"
    if block.max_tokens is not None and not block.keyed:
        text += f" [{usage(block.tokens, block.max_tokens)}]"
    return f"{text} [{block.kind}]"


def usage(tokens: int, limit: int) -> str:
    """`45% — 495/1100 tokens`, the percentage rounded half up."""
    return f"{(200 * tokens + limit) // (2 * limit)}% — {tokens}/{limit} tokens"


def harmless(text: str) -> str:
    """`text` with every line that draws a rule of ═ drawn with hyphens, so that no content can imitate a header. Boxes
    that are narrower than LONGEST_RUN are left as they are."""
    return _LINE.sub(_undrawn, text) if "═" in text else text


def _undrawn(match: re.Match[str]) -> str:
    line = match[0]
    seen = [char for char in line if unicodedata.category(char) not in ("Zs", "Cf", "Cc", "Mn", "Me", "Cs")]
    if "═" in seen and (_DRAWN.issuperset(seen) or "═" * LONGEST_RUN in "".join(seen)):
        return line.replace("═", "-")
    return line


def appended(content: str, addition: str) -> str:
    """`content` with something added: on a line of its own, unless it begins with a line break of its own."""
    if not content or not addition or addition.startswith("\n"):
        return content + addition
    return f"{content}\n{addition}"


def check_budget(label: str, tokens: int, limit: int | None, key: str | None = None) -> None:
    """Raise BudgetExceededError when a content, or that of the entry `key`, takes more than its budget."""
    if limit is not None and tokens > limit:
        raise BudgetExceededError(label, limit=limit, actual=tokens, key=key)


def counter_of(counter: str | TokenCounter) -> Callable[[str], int]:
    """The function that counts a block's tokens: the estimate of a family, or a caller's counter, of which a number
    that is negative or not finite counts as 0."""
    if isinstance(counter, str):
        if counter not in FAMILIES:
            raise ValueError(f"unknown token family {counter!r}; known are {', '.join(FAMILIES)}, or give a function")
        return lambda text: estimate_tokens(text, counter)
    return lambda text: _whole(counter(text))


def _whole(number: float) -> int:
    return max(0, int(number)) if isfinite(number) else 0
