"""The frozen prompt: text and tools as one value, which stays the same bytes until it is refreshed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from . import _json
from .blocks import Block, Section, joined, joined_data, sections
from .moments import EPOCH
from .tools import ToolDefinition, definitions

_TOOL = ("name", "description", "input_schema")


@dataclass(frozen=True, slots=True)
class Draft:
    """A prompt that is rendered, and not frozen yet. `data` is its text in UTF-8, `packed` are its tools as they are
    stored, `digest` is a SHA-256 over both."""

    text: str
    data: bytes
    tools: tuple[ToolDefinition, ...]
    packed: bytes
    sections: tuple[tuple[str, str], ...]
    digest: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """A frozen prompt.

    `text` is the system prompt, `tools` the definitions frozen with it, `digest` a SHA-256 over both in hexadecimal,
    `reason` says why it was frozen, `number` counts the freezings of the session. `sections` holds (label, digest) of
    each section. Messages whose number in the session is `since` or more were made on this prompt.
    """

    text: str
    tools: tuple[ToolDefinition, ...]
    sections: tuple[tuple[str, str], ...]
    digest: str
    reason: str
    frozen_at: datetime
    number: int
    since: int


@dataclass(frozen=True, slots=True)
class Freezing:
    """One freezing in a session's past: when, why, and the digest of what was frozen."""

    number: int
    digest: str
    reason: str
    frozen_at: datetime


def draft(blocks: Sequence[Block]) -> Draft:
    """Render a prompt and its tools. The same blocks give the same bytes."""
    drawn = sections(blocks)
    data, tools = joined_data(drawn), definitions(blocks)
    packed = pack_tools(tools)
    labels = tuple([(section.label, section.digest) for section in drawn])
    return Draft(joined(drawn), data, tools, packed, labels, digest_of(data, packed))


def unfrozen(made: Draft, since: int) -> Prompt:
    """A draft as a preview shows it before anything is frozen."""
    return Prompt(made.text, made.tools, made.sections, made.digest, "not frozen", EPOCH, 0, since)


def digest_of(data: bytes, packed: bytes) -> str:
    """SHA-256 in hexadecimal, over the text in UTF-8 and the tools as they are stored."""
    found = sha256(data)
    found.update(b"\0" + packed)
    return found.hexdigest()


def pack_tools(tools: Sequence[ToolDefinition]) -> bytes:
    """The tools as JSON, as they are stored and hashed: what `to_dict` gives of each, without copying it."""
    return _json.text([{name: getattr(tool, name) for name in _TOOL} for tool in tools]).encode(
        "utf-8", "surrogatepass"
    )


def unpack_tools(data: bytes) -> tuple[ToolDefinition, ...]:
    return tuple([ToolDefinition(**tool) for tool in _json.decode(_json.CODEC_STDLIB, data)])


def changed(prompt: Prompt, now: Draft) -> tuple[str, ...]:
    """The labels of the sections that would be other ones if the prompt were refreshed now; `tools` if only these."""
    before, after = dict(prompt.sections), dict(now.sections)
    labels = [label for label in {**before, **after} if before.get(label) != after.get(label)]
    if not labels and prompt.digest != now.digest:
        labels = ["tools"] if prompt.text == now.text else ["order"]
    return tuple(labels)


def section_of(blocks: Sequence[Block], label: str) -> Section | None:
    """The section that a block has now."""
    return next((section for section in sections(blocks) if section.label == label), None)
