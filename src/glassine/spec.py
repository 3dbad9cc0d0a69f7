"""A spec: an immutable recipe for sessions, built by chaining `with_…`. It is not stored."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from ._ids import check_id
from .binding import SearchableEntries, SkillTable, shape_of
from .blocks import SCOPES, Scope, WhenChanged, counter_of
from .compactor import Compact, Compaction, CompactionRecipe, Compactor, Hook, check_compacting
from .errors import InvalidError, InvalidSpecError
from .tokens import TokenCounter
from .truncation import Policy, Truncation
from .truncation import check as check_cuts

_UNSEEN: Final = ("Cc", "Cf", "Cs", "Zl", "Zp")
LABEL_LIMIT: Final = 64
"""Characters of a label: it is written in the prompt and in the tools."""


@dataclass(frozen=True, slots=True)
class BlockSpec:
    """One block of a spec. `provider` None: a text of the spec's own, or a stored block when `text` is None too."""

    label: str
    text: str | None
    provider: object | None
    description: str
    max_tokens: int | None
    scope: Scope
    when_changed: WhenChanged


@dataclass(frozen=True, slots=True)
class SessionSpec:
    """What sessions are made of: their blocks in the order of the prompt, and how the prompt is kept.

    One spec serves any number of sessions, sync and async. `token_counter` counts blocks for their budgets: a family of
    `glassine.tokens.FAMILIES`, or a function from text to a number. It should stay the same over a session's life.
    """

    token_counter: str | TokenCounter = "safe"
    blocks: tuple[BlockSpec, ...] = ()
    cached_prompt: bool = False
    compaction: CompactionRecipe | None = None
    truncation: Truncation | None = None

    def __post_init__(self) -> None:
        counter_of(self.token_counter)

    def with_context(
        self,
        label: str,
        *,
        text: str | None = None,
        provider: Any = None,
        description: str = "",
        max_tokens: int | None = None,
        scope: Scope = "session",
        when_changed: WhenChanged = "keep",
    ) -> SessionSpec:
        """The spec with one more block.

        With `text` it is read-only. With a `provider` its kind follows from the provider's methods (`get`: read-only;
        `get` and `set`: writable; `search`: searchable; `load`: loadable). With neither it is writable, and stored:
        with the session, or with `scope="namespace"` for all sessions of the namespace together.

        `max_tokens` is the budget of a writable block's content, and of each single entry of a searchable or loadable
        one. With `when_changed="remind"` a change shows as a reminder after the newest message, as long as the prompt
        is frozen. Raises InvalidSpecError for a label that is taken, whatever its case, and for options that contradict
        each other; InvalidIdError for a label that cannot be one.
        """
        block = block_spec(label, text, provider, description, max_tokens, scope, when_changed)
        check_free(label, [other.label for other in self.blocks])
        return replace(self, blocks=(*self.blocks, block))

    def with_cached_prompt(self) -> SessionSpec:
        """The spec with the frozen prompt stored, so that it stays the same after a restart and in other processes."""
        return replace(self, cached_prompt=True)

    def with_compaction(
        self,
        compactor: Compactor | Compact,
        *,
        after: int | None = None,
        before_compaction: Hook | None = None,
        on_failure: Callable[[Compaction], Any] | None = None,
        refresh_prompt: bool = False,
    ) -> SessionSpec:
        """The spec with compaction: `session.compact()`, and with `after` automatically, when a request from the active
        leaf would take more than so many tokens (system prompt and tools included). It caches the prompt, too.

        `compactor` is a Compactor, or any function from a history to (id of the first message, id of the last,
        summary), or to None where it finds nothing to do; it may be a coroutine function.

        The automatic attempt is made after what was appended is stored, and before the call returns. It never makes
        that call fail: what it came to is an event of the session, and what failed or was rejected goes to `on_failure`
        as well. It backs off: after a failure for 30 seconds; where nothing could be freed until the conversation has
        grown by a twentieth of `after`; then for twice as long, and so on, until an attempt helps.

        `before_compaction` is called once for each summary that is going to be made, whatever for, and before it is:
        with the session and the CompactionPlan, or with the session alone, or with nothing, as it takes; in an async
        session it may be a coroutine function. What it appends, or writes to blocks, is there before the range is
        chosen.

        With `refresh_prompt` a frozen prompt whose blocks have changed is rendered anew once a summary is laid, with
        the reason "compaction": what a hook has saved is then seen, and most of the provider's cache is lost anyway.

        Where there is nothing to summarise, long results of tools are shown short instead, but for those of the newest
        step. Raises InvalidError for values that make no sense.
        """
        check_compacting(compactor, after, before_compaction, on_failure)
        compacting = CompactionRecipe(compactor, after, before_compaction, on_failure, refresh_prompt)
        return replace(self, compaction=compacting, cached_prompt=True)

    def with_truncation(
        self,
        keep_recent: int = 4,
        max_tool_output_chars: int = 500,
        max_text_chars: int = 10_000,
        policies: Mapping[str, Policy] | None = None,
        *,
        max_message_bytes: int | None = None,
        batch: int = 20,
    ) -> SessionSpec:
        """The spec with older messages cut in its views, as `truncate_older` does; what is stored stays whole.

        At least `keep_recent` messages stay as they are. What counts as older moves on by `batch` messages at a time,
        so that in between the prompt cache keeps what it has. Raises InvalidError for values that make no sense.
        """
        if type(batch) is not int or batch < 1:
            raise InvalidError(f"batch must be a whole number from 1 on, not {batch!r}")
        try:
            check_cuts(
                policies,
                keep_recent=keep_recent,
                max_tool_output_chars=max_tool_output_chars,
                max_text_chars=max_text_chars,
                max_message_bytes=max_message_bytes or 0,
            )
        except ValueError as error:
            raise InvalidError(str(error)) from error
        truncation = Truncation(keep_recent, max_tool_output_chars, max_text_chars, policies, max_message_bytes, batch)
        return replace(self, truncation=truncation)

    @property
    def count(self) -> Callable[[str], int]:
        """Counts the tokens of a text, for budgets."""
        return counter_of(self.token_counter)


def block_spec(
    label: str,
    text: str | None,
    provider: object | None,
    description: str,
    max_tokens: int | None,
    scope: Scope,
    when_changed: WhenChanged,
) -> BlockSpec:
    """A checked BlockSpec; see `SessionSpec.with_context`."""
    check_id("block", label)
    for name, value in (("text", text), ("description", description)):
        if value is not None and not isinstance(value, str):
            raise InvalidSpecError(label, f"{name} must be a text, not a {type(value).__name__}")
    if isinstance(provider, type):
        raise InvalidSpecError(label, f"its provider is the class {provider.__name__}; give an object of it")
    if odd := next((char for char in label if char in "[]()═" or unicodedata.category(char) in _UNSEEN), None):
        raise InvalidSpecError(label, f"a label stands in a header, and may not have {odd!r} in it")
    if len(label) > LABEL_LIMIT:
        raise InvalidSpecError(label, f"a label has at most {LABEL_LIMIT} characters, this one {len(label)}")
    if text is not None and provider is not None:
        raise InvalidSpecError(label, "it has a text and a provider; give one of them")
    if scope not in SCOPES:
        raise InvalidSpecError(label, f"scope must be 'session' or 'namespace', not {scope!r}")
    if when_changed not in ("keep", "remind"):
        raise InvalidSpecError(label, f"when_changed must be 'keep' or 'remind', not {when_changed!r}")
    if max_tokens is not None and (type(max_tokens) is not int or max_tokens < 1):
        raise InvalidSpecError(label, f"max_tokens must be a whole number from 1 on, not {max_tokens!r}")
    ours = isinstance(provider, (SearchableEntries, SkillTable))
    if provider is not None and not ours:
        shape_of(label, provider)
    if scope == "namespace" and (text is not None or (provider is not None and not ours)):
        raise InvalidSpecError(label, "only what is stored in the database has a scope")
    return BlockSpec(label, text, provider, description or "", max_tokens, scope, when_changed)


def _folded(label: str) -> str:
    return unicodedata.normalize("NFKC", label).upper()


def check_free(label: str, taken: list[str]) -> None:
    """Raise InvalidSpecError when a label, in capitals, is there already: headers are written in capitals."""
    for other in taken:
        if _folded(other) == _folded(label):
            raise InvalidSpecError(label, f"there is a block {other!r} already")
