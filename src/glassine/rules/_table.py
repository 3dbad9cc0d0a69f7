"""What a rule is, and what breaking one looks like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

Api = Literal["anthropic", "openai", "openai_responses", "gemini"]
APIS: tuple[Api, ...] = ("anthropic", "openai", "openai_responses", "gemini")


class Rule(NamedTuple):
    """One rule of one API. `id` is stable; `source` says where the provider states it, or where it was seen."""

    id: str
    api: Api
    text: str
    source: str


class Violation(NamedTuple):
    """A rule that a request breaks.

    `path` leads to the place with dots ("messages.1.content.0.text"; "" for the request as a whole), `text` is what
    is wrong there, worded like the provider's own message where that is known.
    """

    rule: str
    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Limits:
    """What a request cannot tell about itself. None: not known, and not judged.

    `context_window` and `max_output` are the model's, in tokens; `input_tokens` is the size of the whole request by
    the caller's own count, `request_bytes` the length of its body.
    """

    context_window: int | None = None
    max_output: int | None = None
    input_tokens: int | None = None
    request_bytes: int | None = None
