# Generated from src/glassine/_async/session.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""A session: one conversation. The shell reads, calls one pure function, and writes in one transaction."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..errors import NoCompactorError
from ..messages import Message
from ..places import Place, maybe_id
from .memory import Memory

if TYPE_CHECKING:
    from ..compaction import CompactionPlan, NothingToDo
    from ..compactor import Compact, Compaction, Compactor, Recovery
    from ..explaining import Explanation
    from ..hints import Retention
    from ..models import Model
    from ..view import View
    from .compacting import Compacting
    from .recording import Recording


class Session(Memory):
    """One conversation: a tree of messages with an active leaf.

    Get one from `store.session(id)`. Nothing is read or written until a method is called; the session is created by
    its first write. Wherever a message is named, its id, a Message or a wire dict will do.
    """

    def view(
        self,
        model: str | None = None,
        *,
        leaf: Place | None = None,
        cache_retention: Retention = "short",
        facts: Model | None = None,
        route: str | None = None,
    ) -> View:
        """Prepare a request: what a model is sent for the path to `leaf` (the active leaf if None).

        May commit the first frozen prompt, reminders of blocks that changed, and stubs for results that are missing:
        what is sent must be sent again the same. Messages never change. `cache_retention` says how long the provider
        should cache the prompt: "short", "long", or "none". `facts` replaces what is known of the model
        (`glassine.models.facts` makes them), `route` names the way by which its provider is reached.
        """
        from .viewing import Wanted, look

        return look(self, Wanted(model, maybe_id(leaf), cache_retention, facts, route), True).view

    def preview(
        self,
        model: str | None = None,
        *,
        leaf: Place | None = None,
        cache_retention: Retention = "short",
        facts: Model | None = None,
        route: str | None = None,
    ) -> View:
        """The view as `view` would make it, without writing anything."""
        from .viewing import Wanted, look

        return look(self, Wanted(model, maybe_id(leaf), cache_retention, facts, route), False).view

    def explain(self, model: str | None = None, *, leaf: Place | None = None) -> Explanation:
        """Why the next request will look as it does, without writing anything; see `View.explain`."""
        view = self.preview(model, leaf=leaf)
        after, tokens = (None, 0) if self._compacting is None else self._compacting.standing()
        compaction = None if after is None else (after, tokens)
        return replace(view.explain(), stale=self.stale_blocks(), compaction=compaction)

    def record(self, response: Any, *, view: View | None = None) -> Message:
        """Store a model's reply: the message, its usage and what it cost, in one transaction. Returns the message.

        `response` is what the SDK of Anthropic, OpenAI (chat completions, Responses) or Google gave, or a dict of that
        shape. The reply goes below the leaf of the `view` that it answers: on the active branch it follows whatever
        was appended meanwhile; on another it makes a branch. Without a view it goes below the active leaf, and when the
        request was begun is not known. Raises InvalidMessageError for what is no reply.
        """
        from .recording import record

        return record(self, response, view)

    def record_stream(self, events: Any, *, view: View | None = None) -> Recording:
        """Take in a reply while it comes: iterate over what this returns to get the SDK's `events`, unchanged.

        What came so far is stored now and then, so that a crash or an interruption keeps it. `run()` takes in all.
        """
        from .recording import Recording

        return Recording(self, events, view)

    # -- compaction -------------------------------------------------------------------------------------------------

    def compact(self, leaf: Place | None = None, *, compactor: Compactor | Compact | None = None) -> Compaction:
        """Lay a summary over the older part of the path to `leaf` (the active leaf if None). No message changes.

        Returns what it came to, and why: `compacted`, `nothing_to_do`, `rejected` or `failed`. `compactor` stands in
        for the spec's for this call; NoCompactorError is raised when there is neither. What the summariser does wrong
        is in the outcome; what the store does, and a leaf that is not there (MessageNotFoundError), is raised.
        """
        return self._compacting_by(compactor).compact(maybe_id(leaf), "manual")

    def plan_compaction(
        self, leaf: Place | None = None, *, compactor: Compactor | None = None
    ) -> CompactionPlan | NothingToDo:
        """What `compact` would cover, without doing anything.

        Raises NoCompactorError, and InvalidError where a function of the caller's decides that.
        """
        return self._compacting_by(compactor).plan(maybe_id(leaf))

    def recover(self, error: object) -> Recovery:
        """Make the next request shorter, after a provider refused this one as too long.

        `error` is what was raised, or the body of the answer. What is no such error is left alone (`not_an_overflow`).
        Results of tools are shown short first, from the oldest on, then the session is compacted; `retry` says whether
        it is worth sending a new view. After three recoveries without a reply in between it is `exhausted`.
        """
        from .recovering import recover

        return recover(self, error)

    def run_tools(self, reply: Message) -> list[Message]:
        """Run the calls of a reply that are to this session's tools, and return their results, to be appended.

        Calls of other tools are passed over. Never raises for what a tool says is wrong: that is in its result.
        """
        from .recording import run_tools

        return run_tools(self, reply)

    def _compacting_by(self, compactor: Compactor | Compact | None) -> Compacting:
        if compactor is None:
            if self._compacting is None:
                raise NoCompactorError(self.id)
            return self._compacting
        from ..compactor import CompactionRecipe, check_compacting

        check_compacting(compactor, None, None, None)
        if self._compacting is None:
            return self._make_compacting(CompactionRecipe(compactor, None, None, None))
        return self._make_compacting(replace(self._compacting.recipe, compactor=compactor))
