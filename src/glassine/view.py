"""A view: what a model is sent for one leaf of a conversation, and how it reads in each provider's format."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from . import indexing
from .calibration import UNCALIBRATED, Calibration
from .dialects import Format, to_request
from .explaining import Explanation, Row
from .formats._common import Marks, Note, Request
from .hints import CacheHints
from .messages import Message
from .models import Model
from .prompt import Prompt
from .showing import Measure, ViewEntry
from .tokens import FAMILIES, estimate_tokens
from .tools import ToolDefinition, tools_text

if TYPE_CHECKING:
    from .rules import Violation

_NATIVE: dict[str, Format] = {"anthropic": "anthropic", "openai": "openai", "google": "gemini"}


@dataclass(frozen=True)
class Tokens:
    """Estimated tokens of a request, in the family of its model, and the model's `window`.

    `total` is what the provider is expected to count: the `estimate`, which is the sum of the three, calibrated by what
    it counted for earlier requests of the session.
    """

    system: int
    tools: int
    messages: int
    window: int
    calibration: Calibration = UNCALIBRATED

    @property
    def estimate(self) -> int:
        return self.system + self.tools + self.messages

    @property
    def total(self) -> int:
        return self.calibration.of(self.estimate)


@dataclass(frozen=True)
class View:
    """What a model is sent for one leaf: `system` text, `messages`, and the definitions of the `tools`.

    `entries` are the messages with what they stand for. `leaf` is the id of the newest stored message, below which the
    answer belongs; `active` the active leaf when the view was made. `facts` is what is known of the model, `hints` says
    where cache breakpoints belong, `route` by which way the provider is reached, `started_at` when the view was made.
    `notes` tell what was changed on the way, `pending` names the calls of the newest step that have no result yet:
    their tools are to be run first. `measure` is what the messages cost, `calibration` how far such estimates are off
    for this session and model.
    """

    session_id: str
    leaf: str | None
    active: str | None
    model: str | None
    facts: Model
    prompt: Prompt | None
    entries: tuple[ViewEntry, ...]
    notes: tuple[Note, ...]
    pending: tuple[str, ...]
    hints: CacheHints
    route: str | None
    started_at: datetime
    measure: Measure
    calibration: Calibration

    @property
    def system(self) -> str:
        return "" if self.prompt is None else self.prompt.text

    @property
    def tools(self) -> tuple[ToolDefinition, ...]:
        return () if self.prompt is None else self.prompt.tools

    @cached_property
    def messages(self) -> list[Message]:
        return [entry.message for entry in self.entries]

    @cached_property
    def tokens(self) -> Tokens:
        """Estimated tokens of what is sent, counted when first asked for."""
        family = self.facts.family
        return Tokens(
            estimate_tokens(self.system, family),
            estimate_tokens(self.tools_text, family),
            self.measure.tokens(family),
            self.facts.context_window,
            self.calibration,
        )

    @property
    def tools_text(self) -> str:
        """The definitions of the tools as JSON, a line each: what they are counted by."""
        return tools_text(self.tools)

    def fits(self, reserve: int = 0) -> bool:
        """Whether the request, by its calibrated estimate, leaves `reserve` tokens of the window for the answer."""
        return self.tokens.total + reserve <= self.facts.context_window

    # -- formats ----------------------------------------------------------------------------------------------------

    def to_anthropic(self) -> dict[str, Any]:
        """Keyword arguments for `client.messages.create(max_tokens=…, **…)` of the `anthropic` SDK."""
        return self.request("anthropic").arguments

    def to_openai(self) -> dict[str, Any]:
        """Keyword arguments for `client.chat.completions.create(**…)` of the `openai` SDK."""
        return self.request("openai").arguments

    def to_openai_responses(self) -> dict[str, Any]:
        """Keyword arguments for `client.responses.create(**…)` of the `openai` SDK."""
        return self.request("openai_responses").arguments

    def to_gemini(self) -> dict[str, Any]:
        """Keyword arguments for `client.models.generate_content(**…)` of the `google-genai` SDK."""
        return self.request("gemini").arguments

    def to_ai_sdk(self) -> dict[str, Any]:
        """What the AI SDK's `generateText` takes, as plain data: `system`, `messages`, `tools`."""
        return self.request("ai_sdk").arguments

    def request(self, format: Format) -> Request:
        """The request in one format, with notes on what that format cannot carry or made to look otherwise."""
        marks = Marks()
        if format == "anthropic" and self.facts.cache.kind == "explicit" and self.hints.retention != "none":
            marks = Marks(self.hints.prefix, self.hints.messages, "1h" if self.hints.retention == "long" else "5m")
        made = to_request(
            format,
            self.messages,
            system=self.system,
            tools=[tool.to_dict() for tool in self.tools],
            model=self.model,
            marks=marks,
        )
        if format in ("openai", "openai_responses") and self.facts.provider == "openai":
            made.arguments.update(self._openai_cache())
        return made

    def _openai_cache(self) -> dict[str, Any]:
        if self.hints.retention == "none":
            return {}
        # Requests of one session go to the machine that has its prefix.
        more = {"prompt_cache_key": self.session_id[:64]}
        if self.hints.retention == "long" and self.facts.cache.kind == "automatic":
            return {**more, "prompt_cache_retention": "24h"}
        return more

    # -- checks -----------------------------------------------------------------------------------------------------

    def validate(self, format: Format | None = None) -> list[Violation]:
        """What a strict provider would refuse in this request, before money is spent; [] when nothing.

        `format` is the API to be called, the model's own if None. The answer's length is not known here: a limit on it
        is not judged.
        """
        api = format or _NATIVE.get(self.facts.provider, "openai")
        if api == "ai_sdk":
            raise ValueError("the AI SDK is no provider; name the API that it will call")
        body = self.request(api).arguments
        if api == "anthropic":
            body = {"max_tokens": 1, **body}
        from .rules import Limits, violations  # as large as all of this floor, and asked for by few programs

        limits = Limits(context_window=self.facts.context_window, input_tokens=self.tokens.total)
        return violations(api, body, facts=limits)

    def explain(self, format: Format | None = None) -> Explanation:
        """What the request is made of and why it looks as it does: a table for people, `to_dict()` for programs.

        `format` is the API to be called, the model's own if None: what that format changes is told too.
        """
        notes = (*self.notes, *self.request(format or _NATIVE.get(self.facts.provider, "openai")).notes)
        number = FAMILIES.index(self.facts.family)
        rows = [
            Row(
                entry.message.id,
                entry.message.role,
                entry.first_id,
                entry.last_id,
                entry.messages,
                indexing.tokens(entry.message)[number],
                entry.why,
            )
            for entry in self.entries
        ]
        return Explanation(self.session_id, self.leaf, self.facts, self.prompt, self.tokens, self.hints, rows, notes)
