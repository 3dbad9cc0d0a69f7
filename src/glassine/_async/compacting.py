"""Compacting a session: when it is time, asking for the summary, and laying it; never the same range by two at once."""

from __future__ import annotations

import contextlib
import inspect
import logging
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from .._waiting import AWAITS_ASYNC, call_async, call_within_async
from ..compaction import CompactionPlan, NothingToDo, open_calls_in, pause_after, plan_compaction
from ..compactor import (
    Cause,
    Compaction,
    CompactionRecipe,
    Compactor,
    CounterError,
    takes,
)
from ..covering import as_told, bare, closed, covered, kept
from ..errors import GlassineError, InvalidError, MessageNotFoundError, ProviderError
from ..exchange import Appended, Laid
from ..marking import stubbed
from ..messages import user
from ..overlays import Overlay
from ..shrinking import shrunk
from ..summarising import fault_in
from ..turns import is_summary
from .asking import FaultError, Written, shown, summarise, usage_of
from .scales import AsyncScales
from .viewing import Look
from .watching import EVENT, AsyncWatch

if TYPE_CHECKING:
    from .tree import AsyncTree

LEASE_NAME: Final = "compaction"
LEASE: Final = 60_000_000
"""Microseconds that a lease lasts beyond the time that a summariser may take."""
LONG_LEASE: Final = 3_600_000_000
"""The same where a summariser may take for ever."""

_log = logging.getLogger("glassine")


class AsyncCompacting:
    """Compaction of one session, as its spec has it."""

    def __init__(self, session: AsyncTree, recipe: CompactionRecipe) -> None:
        for name in ("before_compaction", "on_failure"):
            if not AWAITS_ASYNC and inspect.iscoroutinefunction(getattr(recipe, name)):
                raise InvalidError(f"{name} is a coroutine function, and this is a synchronous session")
        self._session, self.recipe = session, recipe
        self._scales = AsyncScales(session, recipe.compactor)
        self._watch = AsyncWatch(session, self._scales)
        self._busy = False

    # -- when -------------------------------------------------------------------------------------------------------

    async def watch(self, appended: Appended | None) -> None:
        """Compact if the request from the active leaf has become too long. Raises nothing.

        `appended` is what was just appended below the active leaf; None: something else was written.
        """
        after = self.recipe.after
        if after is None or self._busy:
            return
        if appended is not None and self._watch.is_short(appended, after):
            return
        self._busy = True
        try:
            if await self._watch.is_due(after):
                await self._attempt(None, "threshold", after)
        except Exception as error:  # whatever it is, what was appended is stored
            _log.warning("session %r could not be compacted: %s", self._session.id, error)
        finally:
            self._busy = False

    async def undone(self) -> None:
        """Leave an undone session as it is for a while: whoever took a summary off wants to see what is beneath."""
        after, now = self.recipe.after, self._session.store.now()
        if after is None:
            return
        try:
            total = await self._scales.total(await self._scales.look(None))
        except CounterError:
            return
        if total > after:
            pause = pause_after("nothing_to_do", total, after, now, 0)
            told = {"kind": "undone", "code": "undone", "reason": "a summary was taken off", "cause": "manual"}
            numbers = {"tokensBefore": total, "tokensAfter": total, "after": after, "pause": pause._asdict()}
            await self._session.add_event(EVENT, {**told, **numbers})

    # -- one attempt ------------------------------------------------------------------------------------------------

    async def compact(self, leaf: str | None, cause: Cause, most: int | None = None) -> Compaction:
        """Compact the path to `leaf` (None: the active one). `most` is what the request may take, if that is known."""
        if self._busy:
            return _busy(cause)
        self._busy = True
        try:
            return await self._attempt(leaf, cause, most)
        finally:
            self._busy = False

    async def plan(self, leaf: str | None) -> CompactionPlan | NothingToDo:
        """What an attempt would cover. Raises InvalidError where a function of the caller's decides that, or where the
        token counter raises."""
        compactor = self.recipe.compactor
        if not isinstance(compactor, Compactor):
            raise InvalidError("a function of the caller's chooses the range when it is called, not before")
        try:
            return await self._planned(compactor, await self._scales.look(leaf), None)
        except CounterError as error:
            raise InvalidError(str(error)) from error

    async def _attempt(self, leaf: str | None, cause: Cause, most: int | None) -> Compaction:
        session = self._session
        looked = await self._scales.look(leaf)
        if looked.seen.leaf is None:
            return Compaction("nothing_to_do", "empty", "the session has no messages", cause, 0, 0)
        try:
            made = await self._at(looked.seen.leaf, looked, cause, most)
        except CounterError as error:
            made = await self._ended(Compaction("failed", "counter_raised", str(error), cause, 0, 0), looked)
        except MessageNotFoundError as error:
            made = await self._ended(Compaction("failed", "changed", f"{error}, any more", cause, 0, 0), looked)
        if made.kind == "compacted" and self.recipe.refresh_prompt:
            await self._refresh()
        if made.kind in ("failed", "rejected") and self.recipe.on_failure is not None:
            try:
                await call_async(self.recipe.on_failure, made)
            except Exception as error:
                _log.warning("on_failure of session %r raised %r", session.id, error)
        return made

    async def _refresh(self) -> None:
        """Freeze the prompt anew, if its blocks have changed. A block that cannot be read leaves it as it is."""
        context = self._session._context
        try:
            prompt = await context.frozen()
            if prompt is not None and await context.stale(prompt):
                await context.refresh("compaction")
        except ProviderError as error:
            _log.warning("the prompt of session %r could not be refreshed: %s", self._session.id, error)

    async def _at(self, leaf: str, looked: Look, cause: Cause, most: int | None) -> Compaction:
        """An attempt at the path to `leaf`, wherever the active leaf goes meanwhile: a cycle, by the holder of the
        lease, if there is anything to do."""
        session, compactor = self._session, self.recipe.compactor
        if cause == "threshold" and (reason := await self._prompt_alone(looked)) is not None:
            total = await self._scales.total(looked)
            made = Compaction("nothing_to_do", "prompt_too_long", reason, cause, total, total)
            return await self._ended(made, looked)
        if isinstance(compactor, Compactor):
            planned = await self._planned(compactor, looked, most)
            if isinstance(planned, NothingToDo):
                return await self._ended(await self._nothing(planned, looked, cause), looked)
        holder = session.store.new_id()
        if not await self._hold(holder):
            return _busy(cause)
        try:
            return await self._cycle(leaf, cause, most, holder)
        finally:
            with contextlib.suppress(GlassineError):  # what cannot be given back runs out
                await session._engine.drop_lease(session._ref, LEASE_NAME, holder)

    async def _cycle(self, leaf: str, cause: Cause, most: int | None, holder: str) -> Compaction:
        """One cycle, from the hook to the summary that is laid. Who holds the lease does this alone."""
        session, compactor = self._session, self.recipe.compactor
        # Another holder may have been here before the lease was ours.
        looked = await self._scales.look(leaf)
        plan: CompactionPlan | None = None
        if isinstance(compactor, Compactor):
            planned = await self._planned(compactor, looked, most)
            if isinstance(planned, CompactionPlan) and await self._before(planned):
                looked = await self._after_hook(leaf, looked)
                planned = await self._planned(compactor, looked, most)
            if isinstance(planned, NothingToDo):
                return await self._ended(await self._nothing(planned, looked, cause), looked)
            plan = planned
        elif await self._before(None):
            looked = await self._after_hook(leaf, looked)
        before = await self._scales.total(looked)
        try:
            if isinstance(compactor, Compactor) and plan is not None:
                written = await summarise(
                    compactor, plan, lambda text: self._scales.cost(looked, user(text)), lambda: self._hold(holder)
                )
            else:
                plan, written = await self._stand_in(compactor, looked)
            return await self._lay(plan, written, looked, before, cause)
        except FaultError as fault:
            if fault.usage and await session._engine.info(session._ref) is not None:
                await session._engine.add_usage(
                    session._ref, [session._usage_row(use) for use in fault.usage], session.store.now()
                )
            made = Compaction(fault.kind, fault.code, fault.reason, cause, before, before, plan)
            return await self._ended(made, looked)

    async def _after_hook(self, leaf: str, before: Look) -> Look:
        """The path as it is after the hook: with what was appended to it, if it was the active one and still is. Where
        the hook has deleted its leaf, the active one takes its place."""
        if before.seen.leaf == before.seen.active:
            active = await self._scales.look(None)
            if any(leaf in (entry.message.id, entry.last_id) for entry in active.entries):
                return active
            if await self._session.message(leaf) is None:
                return active
        return await self._scales.look(leaf)

    async def _before(self, plan: CompactionPlan | None) -> bool:
        """Call the caller's hook, if there is one. What it raises keeps nothing from going on."""
        hook = self.recipe.before_compaction
        if hook is None:
            return False
        try:
            await call_async(hook, *(self._session, plan)[: takes(hook)])
        except Exception as error:
            _log.warning("before_compaction of session %r raised %r", self._session.id, error)
        return True

    async def _lay(self, plan: CompactionPlan, written: Written, looked: Look, before: int, cause: Cause) -> Compaction:
        session = self._session
        inside = covered(looked.entries, plan)
        keeps = kept(looked.seen, inside, plan, session._context.loads)
        text = written.text.strip() + keeps.note
        cost = self._scales.cost(looked, user(text))
        if cost >= plan.covered_tokens:
            raise FaultError(
                "rejected",
                "no_gain",
                f"the summary has {cost} tokens, and what it would stand for has {plan.covered_tokens}",
                written.usage,
            )
        after = await self._scales.total_with(looked, plan, user(text), before + cost - plan.covered_tokens)
        if after >= before:
            reason = f"the request would take {after} tokens, and takes {before} now"
            raise FaultError("rejected", "no_gain", reason, written.usage)
        messages = sum([entry.messages for entry in inside])
        reason = f"a summary of {cost} tokens stands for {messages} messages of {plan.covered_tokens} tokens"
        if written.fault is not None:
            reason = f"{written.fault}; by the fallback, {reason}"
        made = Compaction(
            kind="compacted",
            code="compacted",
            reason=reason,
            cause=cause,
            tokens_before=before,
            tokens_after=after,
            plan=plan,
            messages=messages,
            by_fallback=written.fault is not None,
        )
        overlay_id = session.store.new_id()
        event = {**made.to_dict(), "overlay": overlay_id, **await self._to_note(made, looked)}
        try:
            overlay = await session._engine.lay_summary(
                session._ref,
                Laid(
                    id=overlay_id,
                    text=text,
                    first=plan.first_id,
                    last=plan.last_id,
                    messages=messages,
                    replaces=keeps.replaces,
                    request=plan.request_id,
                    change=looked.seen.change,
                    data={**keeps.data, "fallback": made.by_fallback},
                    event=(session.store.new_id(), EVENT, event),
                    usage=tuple([session._usage_row(use) for use in written.usage]),
                ),
                session.store.now(),
            )
        except GlassineError as error:
            raise FaultError("failed", "not_laid", f"the summary could not be laid: {error}", written.usage) from error
        if overlay is None:
            reason = "what was summarised was changed meanwhile; nothing was laid"
            raise FaultError("failed", "changed", reason, written.usage)
        return replace(made, overlay=overlay)

    async def _nothing(self, planned: NothingToDo, looked: Look, cause: Cause) -> Compaction:
        total, after = await self._scales.total(looked), self.recipe.after
        if cause == "threshold" and after is not None and total > after:
            return await self._shrink(looked, planned, total, after)
        return Compaction("nothing_to_do", planned.code, planned.reason, cause, total, total)

    async def _prompt_alone(self, looked: Look) -> str | None:
        """Why no compaction helps, where system prompt and tools alone have passed the threshold."""
        after, prompt = self.recipe.after, await self._scales.prompt(looked)
        if after is None or prompt <= after:
            return None
        return f"system prompt and tools alone take {prompt} tokens, the threshold is {after}: no compaction helps"

    async def _shrink(self, looked: Look, planned: NothingToDo, total: int, after: int) -> Compaction:
        """Show long results short, where there is nothing to summarise; but not before a model has seen them."""
        session, reason = self._session, planned.reason
        last = max([i for i, entry in enumerate(looked.entries) if entry.message.role == "assistant"], default=0)
        layings, freed = shrunk(
            looked.entries[:last],
            total - after,
            partial(self._scales.cost, looked),
            session._has_prompt,
        )
        if layings:
            await session._engine.lay(session._ref, layings, session.store.now())
            reason += f"; {len(layings)} long {'results are' if len(layings) > 1 else 'result is'} shown short instead"
        named = tuple([(laying.message_id, laying.data["call"]) for laying in layings])
        return Compaction("nothing_to_do", planned.code, reason, "threshold", total, total - freed, shrunk=named)

    async def standing(self) -> tuple[int | None, int]:
        """The threshold, and what the request from the active leaf takes of it."""
        return self.recipe.after, await self._scales.total(await self._scales.look(None))

    async def _ended(self, made: Compaction, looked: Look) -> Compaction:
        """Store the event of an attempt that laid nothing; but a session that was deleted meanwhile stays so."""
        if await self._session._engine.info(self._session._ref) is None:
            return made
        await self._session.add_event(EVENT, {**made.to_dict(), **await self._to_note(made, looked)})
        return made

    async def _to_note(self, made: Compaction, looked: Look) -> dict[str, Any]:
        """What the next automatic attempt must know of this one: of those made for something else only that the active
        path has been compacted."""
        after, now = self.recipe.after, self._session.store.now()
        if after is None:
            return {}
        pause = await self._watch.pause(after)
        if made.cause == "threshold" or (made.kind == "compacted" and looked.seen.leaf == looked.seen.active):
            pause = pause_after(made.kind, made.tokens_after, after, now, pause.failures)
        return {"after": after, "pause": pause._asdict()}

    async def _hold(self, holder: str) -> bool:
        session, compactor = self._session, self.recipe.compactor
        seconds = compactor.timeout if isinstance(compactor, Compactor) else None
        lasts = LONG_LEASE if seconds is None else LEASE + round(seconds * 1_000_000)
        now = session.store.now()
        return await session._engine.take_lease(session._ref, LEASE_NAME, holder, now, now + lasts)

    # -- the range ---------------------------------------------------------------------------------------------------

    async def _planned(self, compactor: Compactor, looked: Look, most: int | None) -> CompactionPlan | NothingToDo:
        session = self._session
        elsewhere = [] if looked.seen.leaf is None else await session._engine.elsewhere(session._ref, looked.seen.leaf)
        messages = [entry.message for entry in looked.entries]
        # At most half of what the request may take: else little or nothing would be gained.
        tail = compactor.tail_token_budget if most is None else min(compactor.tail_token_budget, most // 2)
        planned = plan_compaction(
            messages,
            replace(compactor, tail_token_budget=tail),
            tokens=self._scales.costs(looked),
            stubbed=stubbed(looked.seen.beside),
            closed=closed(looked.seen, elsewhere),
        )
        if isinstance(planned, CompactionPlan):
            texts = {piece.message_id: bare(piece) for piece in looked.seen.pieces if isinstance(piece, Overlay)}
            inside = messages[planned.head : planned.head + planned.covered]
            previous = tuple([texts[each.id] for each in inside if is_summary(each)])
            return replace(planned, previous=previous, messages=as_told(looked.seen, planned.messages))
        return planned

    # -- the summary ------------------------------------------------------------------------------------------------

    async def _stand_in(self, compact: Any, looked: Look) -> tuple[CompactionPlan, Written]:
        """Let a function of the caller's choose the range, and write the summary."""
        session = self._session
        history = await session.history(looked.seen.leaf)
        try:
            chosen = await call_within_async(None, compact, history)
        except Exception as error:
            raise FaultError("failed", "compactor_raised", f"the compactor raised {shown(error)}") from error
        if chosen is None:
            raise FaultError("nothing_to_do", "compactor_declined", "the compactor found nothing to do")
        try:
            first, last, text = chosen
        except (TypeError, ValueError):
            reason = "the compactor must give (first id, last id, summary), or None"
            raise FaultError("failed", "not_a_range", reason) from None
        if not text and isinstance(text, str | None):
            raise FaultError("nothing_to_do", "compactor_declined", "the compactor gave no summary")
        if (fault := fault_in(text)) is not None:
            raise FaultError("failed", "no_summary", fault.replace("summariser", "compactor"))
        places = {message.id: index for index, message in enumerate(history)}
        if first not in places or last not in places or places[first] > places[last]:
            reason = f"the range {first!r} to {last!r} does not lie on the path, in this order"
            raise FaultError("failed", "not_on_path", reason)
        start, end = places[first], places[last] + 1
        costs = self._scales.costs(looked)
        plan = CompactionPlan(
            first_id=first,
            last_id=last,
            messages=tuple([message for message in history[start:end] if not is_summary(message)]),
            previous=(),
            request=None,
            request_id=None,
            head=start,
            covered=end - start,
            tail=len(history) - end,
            head_tokens=sum(costs[:start]),
            covered_tokens=sum(costs[start:end]),
            tail_tokens=sum(costs[end:]),
            summary_tokens=0,
            open_calls=open_calls_in(history[start:end]),
        )
        return plan, Written(text, usage_of(text))


def _busy(cause: Cause) -> Compaction:
    return Compaction("nothing_to_do", "busy", "this session is being compacted already", cause, 0, 0)
