# Generated from src/glassine/_async/context.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""Context memory of one session: its blocks, the frozen prompt, and the tools through which a model uses them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._ids import is_id
from .._waiting import Gate
from ..blocks import Block, Scope, usage
from ..errors import BlockNotFoundError, BudgetExceededError, ProviderError, ReadOnlyBlockError
from ..formats._common import Note
from ..loading import Copy, Loaded, already, concerns, is_empty_handed, loaded, marker_text, not_found
from ..marking import UNLOADED, over_result
from ..messages import Message
from ..moments import from_micros
from ..originals import excerpt
from ..origins import Line
from ..prompt import Draft, Prompt, changed, draft
from ..records import Ref
from ..reminding import due
from ..searching import parse_query
from ..showing import Seen
from ..skills import key_for
from ..spec import BlockSpec, SessionSpec, check_free
from ..tools import (
    ORIGINAL_CHARS,
    Intent,
    LoadContext,
    ReadOriginal,
    SearchContext,
    SetContext,
    ToolDefinition,
    UnloadContext,
    definitions,
    intent,
    shortened,
)
from .bound import Bound, StoredBlock, bind
from .engine import Engine
from .ops.context import ABSENT, Changes


class Context:
    """What a session has of a spec. Blocks can be added and removed while it is used; the frozen prompt stays."""

    def __init__(
        self,
        engine: Engine,
        ref: Ref,
        spec: SessionSpec,
        now: Callable[[], int],
        new_id: Callable[[], str],
    ) -> None:
        self.engine, self.ref, self.now, self.new_id = engine, ref, now, new_id
        self.count = spec.count
        self.cached = spec.cached_prompt
        self._bound = {block.label: bind(block, self) for block in spec.blocks}
        self._frozen: Prompt | None = None
        self._gate = Gate()
        self._fresh: set[Loaded] = set()
        """What was loaded through this object, and may not be stored yet."""

    # -- blocks -----------------------------------------------------------------------------------------------------

    def blocks(self) -> list[Block]:
        """All blocks as they are now, in the order of the prompt."""
        return self._look_at(list(self._bound.values()), True, {})

    def block(self, label: str) -> Block:
        return self._look(self.bound(label))

    def bound(self, label: str) -> Bound:
        """Where a block's content is. Raises BlockNotFoundError."""
        if label not in self._bound:
            raise BlockNotFoundError(label, known=tuple(self._bound))
        return self._bound[label]

    def add(self, block: BlockSpec) -> None:
        check_free(block.label, list(self._bound))
        self._bound[block.label] = bind(block, self)

    def remove(self, label: str) -> bool:
        return self._bound.pop(label, None) is not None

    @property
    def loads(self) -> bool:
        """Whether any block's entries can be loaded. Where none can, no history is looked through for it."""
        return any(bound.kind == "loadable" for bound in self._bound.values())

    def lines(self, label: str) -> list[Line]:
        bound = self.bound(label)
        if isinstance(bound, StoredBlock):
            return bound.lines()
        return [Line(text) for text in bound.get().split("\n")]

    def write(self, label: str, content: str, append: bool, message_id: str | None = None) -> Block:
        """Replace a block's content, or add to it. Durable at once; the frozen prompt stays."""
        bound = self.bound(label)
        if not isinstance(content, str):
            raise TypeError(f"the content of block {label!r} must be a text, not a {type(content).__name__}")
        if bound.kind in ("searchable", "loadable"):
            raise ReadOnlyBlockError(label, "it holds entries; write one of them by its key")
        return self._block(bound, bound.write(content, append, message_id))

    # -- the prompt -------------------------------------------------------------------------------------------------

    def render(self) -> Draft:
        """The prompt as it would be frozen now."""
        return self._render()[0]

    def _render(self) -> tuple[Draft, Changes]:
        """The prompt, and the change numbers of the stored blocks that it is made of."""
        made_of: dict[tuple[Scope, str], int] = {}
        blocks = self._look_at(list(self._bound.values()), False, made_of)
        return draft(blocks), made_of

    def frozen(self) -> Prompt | None:
        """The frozen prompt, if there is one."""
        if self.cached:
            self._frozen = self.engine.live_prompt(self.ref, self._frozen)
        return self._frozen

    def freeze(self) -> Prompt:
        """The frozen prompt; freezes it if there is none. Whoever comes first decides for all."""
        return self.frozen() or self._freeze("first request", -1)

    def refresh(self, reason: str) -> Prompt:
        """Render the prompt anew from its blocks, and freeze that."""
        return self._freeze(reason, None)

    def drop(self) -> bool:
        """Forget the frozen prompt, wherever it is kept. Whether there was one."""
        stored = self.engine.forget_prompt(self.ref, self.now())
        there = stored or self._frozen is not None
        self._frozen = None
        return there

    def thaw(self) -> None:
        """Forget a prompt that is frozen in this object only, and what was loaded through it."""
        self._frozen = None
        self._fresh.clear()

    def stale(self, prompt: Prompt) -> tuple[str, ...]:
        """The labels of what the frozen prompt does not show as it is now; of a block that cannot be read nobody knows,
        and it is among them."""
        blocks, unknown = [], []
        for bound in list(self._bound.values()):
            try:
                blocks.append(self._look(bound))
            except ProviderError:
                unknown.append(bound.spec.label)
        labels = changed(prompt, draft(blocks))
        return tuple(dict.fromkeys([*labels, *unknown]))

    def _freeze(self, reason: str, expected: int | None) -> Prompt:
        """Freeze a prompt; `expected` -1: if none is frozen yet."""
        while self.cached:
            made, made_of = self._render()
            found = self.engine.freeze(self.ref, made, reason, expected, made_of, self.now())
            if found is not None:
                self._frozen = found
                return found
        made = self.render()
        since = self.engine.next_number(self.ref)
        # Not held while providers are asked: one of them may ask this session.
        with self._gate:
            there = self._frozen
            if there is None or expected is None:
                number = 1 if there is None else there.number + 1
                if there is not None and there.digest == made.digest:
                    since = there.since
                there = Prompt(
                    made.text, made.tools, made.sections, made.digest, reason, from_micros(self.now()), number, since
                )
                self._frozen = there
            return there

    # -- tools ------------------------------------------------------------------------------------------------------

    def tools(self) -> list[Tool]:
        """The tools, as they are frozen with the prompt if it is; calls act on the blocks of now."""
        prompt = self.frozen()
        found = prompt.tools if prompt is not None else definitions(self._known())
        return [Tool(tool.name, tool.description, tool.input_schema, self) for tool in found]

    def call(self, name: str, arguments: Any, message_id: str | None = None) -> str:
        """Do what a call of a tool intends. Never raises: what went wrong is a sentence for the model."""
        try:
            meant = intent(name, arguments, self._known())
            return meant if isinstance(meant, str) else self._perform(meant, message_id)
        except BudgetExceededError as error:
            return f"Error: {error}. Nothing was written. Write less, or replace what is there by something shorter."
        except Exception as error:  # whatever it is, the agent's loop goes on
            return f"Error: {shortened(str(error), 300) or type(error).__name__}"

    def _perform(self, meant: Intent, message_id: str | None) -> str:
        match meant:
            case SetContext():
                return self._set(meant, message_id)
            case LoadContext(label, key):
                return self._load(label, key)
            case UnloadContext(label, key):
                return self.unload(label, key)
            case SearchContext(label, query):
                if not parse_query(query).searchable:
                    return "Error: there is nothing in this query that can be searched for; give words."
                return self.bound(label).search(query) or "No results found."
            case ReadOriginal(named, part, start):
                return self.read_original(named, part, start, ORIGINAL_CHARS)

    def _set(self, meant: SetContext, message_id: str | None) -> str:
        bound = self.bound(meant.label)
        if message_id is None:
            leaf = self.engine.leaf(self.ref)
            message_id = leaf.id if leaf is not None else None
        if bound.kind in ("searchable", "loadable"):
            key, described = key_for(meant.title, meant.content), meant.description
            if bound.kind == "loadable":
                if meant.title and bound.load(meant.title) is not None:
                    key = meant.title  # a key as it is listed, which need not be one that a title would make
                elif described is None and bound.load(key) is None:
                    described = meant.title or None  # of a new skill; one that is there keeps its description
            replaced = bound.put(key, meant.content, described, message_id)
            return f'Indexed "{key}" in {meant.label}' + (" (updated existing entry)." if replaced else ".")
        block = self._block(bound, bound.write(meant.content, meant.action == "append", message_id))
        return f"Written to {meant.label}. Usage: {_usage(block)}"

    def _load(self, label: str, key: str) -> str:
        entry = Loaded(label, key)
        if entry in self.loaded():
            return already(key)
        body = self.bound(label).load(key)
        if body is None:
            return not_found(key)
        self._fresh.add(entry)
        # One line that reads like an answer of ours would not count as a body.
        return f"[{key}]\n{body}" if is_empty_handed(body, key) else body

    def loaded(self) -> tuple[Loaded, ...]:
        """The entries whose bodies stand in the conversation, and are shown."""
        return loaded(self.engine.seen(self.ref, None).copies) if self.loads else ()

    def unload(self, label: str, key: str) -> str:
        """Lay markers over every copy of an entry on the path to the active leaf, and say what that comes to."""
        entry = Loaded(label, key)
        fresh = entry in self._fresh
        self._fresh.discard(entry)
        there = self.engine.seen(self.ref, None).copies
        mine = [copy for copy in there if copy.entry == entry and copy.shown]
        if not mine:
            # A load that is not stored yet: when it is, with the call of this unload, a marker is laid (`settle`).
            return f"Unloaded: {key}. It can be loaded again." if fresh else f"Not loaded: {shortened(key)}"
        self._mark(mine)
        return (
            f"Unloaded: {key}. It can be loaded again. From the next request on the conversation is shorter; what "
            "follows the place where it stood is read anew once, without the prompt cache."
        )

    def stored(self, messages: Iterable[Message]) -> None:
        """Look at what was stored through this session: a load may have come in after its unload."""
        if self.loads:
            self._fresh.clear()
            if any(concerns(message) for message in messages):
                self.settle(self.engine.seen(self.ref, None).copies)

    def settle(self, there: Sequence[Copy]) -> bool:
        """Lay the markers that are missing over bodies whose unloading stands on the path. Whether there were any."""
        late = [copy for copy in there if copy.unloaded and not copy.marked]
        if late:
            self._mark(late)
        return bool(late)

    def _mark(self, there: Sequence[Copy]) -> None:
        layings = [
            over_result(
                copy.message_id,
                copy.call_id,
                marker_text(copy.key),
                UNLOADED,
                anchored=True,
                label=copy.label,
                key=copy.key,
            )
            for copy in there
        ]
        self.engine.lay(self.ref, layings, self.now())

    def remind(self, seen: Seen, prompt: Prompt, commit: bool) -> tuple[Seen, list[Note]]:
        """Lay the reminders that are due after the newest message; without `commit` only show where they would be.

        A block that cannot be read reminds of nothing: a note says so, and the request goes on.
        """
        remind = [bound for bound in self._bound.values() if bound.spec.when_changed == "remind"]
        notes: list[Note] = []
        if not remind or seen.leaf is None or not seen.is_settled:
            return seen, notes
        blocks = []
        for bound in remind:
            try:
                blocks.append(self._look(bound))
            except ProviderError as error:
                notes.append(Note("reminder_failed", None, None, str(error)))
        layings = due(blocks, prompt, seen.reminders(prompt.digest), seen.leaf)
        if layings and commit:
            self.engine.lay(self.ref, layings, self.now())
            return self.engine.seen(self.ref, seen.leaf), notes
        return seen.with_reminders(layings, from_micros(self.now())), notes

    def read_original(self, message_id: str, part: int, start: int, length: int) -> str:
        message = self.engine.message(self.ref, message_id) if is_id(message_id) else None
        if message is None:
            return f'Error: there is no message "{shortened(message_id)}"; use the one that the note names.'
        if start < 0 or length < 1:
            return "Error: `start` must be 0 or more, and `length` 1 or more."
        found = excerpt(message, part, start, length)
        if found is None:
            last = len(message.parts) - 1
            there = f"has the parts 0 to {last}" if last >= 0 else "has no parts"
            return f"Error: that message {there}; there is no part {part}."
        return found

    # -- inside -----------------------------------------------------------------------------------------------------

    def _known(self) -> list[Block]:
        """The blocks without their contents: what the tools are made from."""
        return [self._block(bound, "") for bound in list(self._bound.values())]

    def _look(self, bound: Bound) -> Block:
        return self._block(bound, bound.get())

    def _look_at(self, all_bound: list[Bound], counted: bool, made_of: dict[tuple[Scope, str], int]) -> list[Block]:
        """Blocks as they are now, what is stored of them read at once; their change numbers go to `made_of`. Without
        `counted`, tokens only where the prompt shows them."""
        stored = None
        found = []
        for bound in all_bound:
            if isinstance(bound, StoredBlock):
                if stored is None:
                    stored = self.engine.get_blocks(self.ref)
                there = stored.get((bound.spec.scope, bound.spec.label), ABSENT)
                content = there.content
                made_of[bound.spec.scope, bound.spec.label] = there.change
            else:
                content = bound.get()
            found.append(self._block(bound, content, counted or bound.spec.max_tokens is not None))
        return found

    def _block(self, bound: Bound, content: str, counted: bool = True) -> Block:
        spec = bound.spec
        return Block(
            spec.label,
            bound.kind,
            spec.description,
            content,
            self.count(content) if content and counted else 0,
            spec.max_tokens,
            spec.scope,
            bound.writable,
            spec.when_changed,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Tool(ToolDefinition):
    """A tool that a model may call: its definition, and `call`, which does what is asked of it in the session."""

    context: Context = field(repr=False)

    def call(self, arguments: Any, *, message_id: str | None = None) -> str:
        """The answer to a call, for the model. `arguments` is an object, or JSON text of one.

        `message_id` is the message that holds the call (the active leaf if None): what is written is traced to it.
        Never raises: what goes wrong is a sentence that begins with `Error:`.
        """
        return self.context.call(self.name, arguments, message_id)


def _usage(block: Block) -> str:
    if block.max_tokens is None:
        return f"{block.tokens} tokens"
    percent, _, numbers = usage(block.tokens, block.max_tokens).partition(" — ")
    return f"{percent} ({numbers})"
