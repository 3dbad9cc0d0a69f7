"""`glassine compact`: a summary in the place of the older part of a conversation."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from itertools import islice
from typing import Any, Final

import click

import glassine

from ..errors import CorruptMessageError
from ._errors import PROBLEMS, MisuseError
from ._finding import find_message, find_session, short_ids
from ._marks import SIGN
from ._output import print_json, screen
from ._overlays import print_rows
from ._progress import Waiting
from ._settings import settings, shared_options
from ._summarisers import EXTRACTIVE, Writer, summariser, writer
from ._table import moment, table
from ._text import count, line

HEAD: Final = 3
TAIL_TOKENS: Final = 20_000
TAIL: Final = 2
"""Defaults of a Compactor."""
SKILLS: Final = glassine.SessionSpec().with_context("skills", provider=glassine.SkillTable())
"""Of a session with skills, whatever their label: a summary names those that were loaded beneath it."""


@click.command()
@click.argument("session")
@click.option(
    "--with",
    "chosen",
    metavar="WRITER",
    default=EXTRACTIVE,
    callback=writer,
    help=f"Who writes it: {EXTRACTIVE}, anthropic:MODEL or openai:MODEL.  [default: {EXTRACTIVE}]",
)
@click.option("--leaf", metavar="ID", help="The path to this message instead of the active one.")
@click.option(
    "--protect-head",
    type=click.IntRange(min=0),
    metavar="N",
    default=HEAD,
    help=f"Messages that stay at the start.  [default: {HEAD}]",
)
@click.option(
    "--tail-tokens",
    type=click.IntRange(min=0),
    metavar="N",
    default=TAIL_TOKENS,
    help=f"Tokens of messages that stay at the end.  [default: {TAIL_TOKENS}]",
)
@click.option(
    "--min-tail",
    type=click.IntRange(min=0),
    metavar="N",
    default=TAIL,
    help=f"Messages that stay at the end, however long.  [default: {TAIL}]",
)
@click.option("--dry-run", is_flag=True, help="Show the plan; write nothing, and ask no model.")
@click.option("--yes", is_flag=True, help="Do it without asking.")
@shared_options
def compact(
    session: str,
    chosen: Writer,
    leaf: str | None,
    protect_head: int,
    tail_tokens: int,
    min_tail: int,
    dry_run: bool,
    yes: bool,
) -> None:
    """Lay a summary over the older part of a conversation, so that requests become shorter.

    The plan comes first: what stays at the head and at the end, and what the summary will stand for, earlier
    summaries among it. No message changes, and `glassine undo` takes the summary off again. A call is never parted
    from its result, and the user's latest request always stays. SESSION and ID may be the beginning of an id.

    \b
    Writers:
      extractive       Asks no model: quotes sentences of the conversation, chosen
                       by a score. Costs nothing, and is the same every time; but
                       it understands nothing, and loses more than a model would.
      anthropic:MODEL  Asks a model, which costs money, and sends it what is to be
      openai:MODEL     summarised. Needs the SDK (pip install anthropic, openai)
                       and a key (ANTHROPIC_API_KEY, OPENAI_API_KEY).

    Tokens are those of the messages, estimated; the system prompt stands in the program, and is not among them. What
    a model was asked is stored with the usage of the conversation.

    Exit code 0: a summary was laid, or there is nothing to do; 1: it was rejected, as it frees nothing, or it failed.
    --json prints one object.
    """
    with settings().existing() as store:
        info = find_session(store, session)
        conversation = _conversation(store, info.id)
        leaf_id = None if leaf is None else find_message(conversation, leaf)
        compactor = glassine.Compactor(
            glassine.extractive_summary,
            protect_head=protect_head,
            tail_token_budget=tail_tokens,
            min_tail_messages=min_tail,
        )
        plan = conversation.plan_compaction(leaf_id, compactor=compactor)
        if isinstance(plan, glassine.NothingToDo):
            _print_nothing(info, chosen, dry_run, plan)
            return
        if not settings().json:
            _print_plan(conversation, info, leaf_id, plan)
        if dry_run:
            if settings().json:
                print_json(_planned_json(info, chosen, plan))
            return
        with summariser(chosen) as summarize:
            if not yes:
                _ask(info, chosen, plan)
            with Waiting("summarising"):
                made = conversation.compact(leaf_id, compactor=replace(compactor, summarize=summarize))
        if settings().json:
            print_json(_made_json(info, chosen, made, dry_run=False))
        else:
            _print_outcome(conversation, made)
    if made.kind in ("rejected", "failed"):
        click.get_current_context().exit(PROBLEMS)


def _conversation(store: glassine.Store, id: str) -> glassine.Session:
    with_skills = store.session(id, SKILLS)
    return with_skills if with_skills.loaded_skills() else store.session(id)


def _ask(info: glassine.SessionInfo, chosen: Writer, plan: glassine.CompactionPlan) -> None:
    sys.stdout.flush()  # the plan is read before the question, wherever the two go
    by = f", written by {line(chosen.model)} (this costs money)" if chosen.model else ""
    asked = f"Lay a summary over {count(plan.covered, 'message')} of {line(info.id)}{by}?"
    try:
        agreed = click.confirm(asked, err=True)
    except click.Abort as error:
        raise MisuseError("nobody answered, and nothing was done: give --yes") from error
    if not agreed:
        raise click.Abort


def _now(plan: glassine.CompactionPlan) -> int:
    """Tokens of the messages that the path shows."""
    return plan.head_tokens + plan.covered_tokens + plan.tail_tokens


def _at_most(plan: glassine.CompactionPlan) -> int:
    """The same afterwards, if the summary is as long as is asked for: one that frees nothing is rejected."""
    return _now(plan) - plan.covered_tokens + min(plan.summary_tokens, max(plan.covered_tokens - 1, 0))


def _counted(made: glassine.Compaction) -> tuple[int | None, int | None]:
    """Tokens of the messages before and after an attempt. Those of the outcome are of a whole request, with a prompt
    that only the program knows."""
    if made.plan is None:
        return None, None
    before = _now(made.plan)
    return before, before - (made.tokens_before - made.tokens_after)


def _made_json(
    info: glassine.SessionInfo, chosen: Writer, made: glassine.Compaction, *, dry_run: bool
) -> dict[str, Any]:
    before, after = _counted(made)
    return {
        "sessionId": info.id,
        "writer": str(chosen),
        "dryRun": dry_run,
        "kind": made.kind,
        "code": made.code,
        "reason": made.reason,
        "tokensBefore": before,
        "tokensAfter": after,
        "messages": made.messages,
        "overlay": None if made.overlay is None else made.overlay.id,
        "plan": None if made.plan is None else made.plan.to_dict(),
    }


def _planned_json(info: glassine.SessionInfo, chosen: Writer, plan: glassine.CompactionPlan) -> dict[str, Any]:
    made = glassine.Compaction(
        "nothing_to_do", "planned", "a dry run lays nothing", "manual", _now(plan), _at_most(plan), plan
    )
    return {**_made_json(info, chosen, made, dry_run=True), "kind": "planned", "messages": plan.covered}


def _print_nothing(info: glassine.SessionInfo, chosen: Writer, dry_run: bool, why: glassine.NothingToDo) -> None:
    if settings().json:
        made = glassine.Compaction("nothing_to_do", why.code, why.reason, "manual", 0, 0)
        print_json(_made_json(info, chosen, made, dry_run=dry_run))
        return
    _say_nothing_to_do(why.reason)


def _say_nothing_to_do(reason: str) -> None:
    from ._messages import wrapped

    out = screen()
    for row in wrapped(line(f"nothing to do: {reason}"), out.width):
        out.print(row)


def _print_plan(
    session: glassine.Session, info: glassine.SessionInfo, leaf_id: str | None, plan: glassine.CompactionPlan
) -> None:
    from ._messages import fit, is_summary, wrapped

    out = screen()
    out.print(fit(line(info.title or "(no title)"), out.width), style="bold")
    out.print(fit(line(info.id), out.width), style="yellow")
    out.print("")
    rows = [
        {"part": part, "messages": f"{messages:,}", "tokens": f"{tokens:,}", "plan": fate}
        for part, messages, tokens, fate in (
            ("head", plan.head, plan.head_tokens, "stays"),
            ("range", plan.covered, plan.covered_tokens, f"→ about {plan.summary_tokens:,}"),
            ("tail", plan.tail, plan.tail_tokens, "stays"),
        )
    ]
    for row in table(rows, out.width, flexible="plan", right=("messages", "tokens")):
        out.print(row)
    out.print("")
    # Messages are decoded when they are asked for: a range may have 100,000, and only its ends are named.
    inside = list(islice(session.iter_history(leaf_id), plan.head, plan.head + plan.covered))
    if inside:  # unless another took it away just now
        named = _Names(session, out.width)
        out.print(fit(f"from  {named.of(inside[0])}", out.width))
        out.print(fit(f"to    {named.of(inside[-1])}", out.width))
        for message in inside:
            if is_summary(message):
                out.print(fit(f"with  {named.of(message)}", out.width))
        out.print("")
    for text in wrapped(f"{_now(plan):,} tokens now, about {_at_most(plan):,} at most afterwards", out.width):
        out.print(text)


class _Names:
    """Messages of a history in one line each: id, time, who, and how it begins."""

    def __init__(self, session: glassine.Session, width: int) -> None:
        nodes, laid = session.outline(), session.compactions()
        self._width = width
        self._ids = short_ids([node.id for node in nodes])
        self._times = {node.id: node.created_at or node.stored_at for node in nodes}
        short = short_ids([overlay.id for overlay in laid])
        self._ids |= {overlay.message_id: f"{SIGN} {short[overlay.id]}" for overlay in laid}
        self._times |= {overlay.message_id: overlay.created_at for overlay in laid}

    def of(self, message: glassine.Message) -> str:
        from ._messages import gist, is_summary, title

        try:
            who = title(message)[0] if is_summary(message) else message.role
            said = gist(message)
        except CorruptMessageError:
            who, said = "(cannot be read)", ""
        id = line(self._ids.get(message.id, message.id))
        return "  ".join([id, moment(self._times.get(message.id), self._width), who, said])


def _print_outcome(session: glassine.Session, made: glassine.Compaction) -> None:
    out = screen()
    out.print("")
    if made.kind == "nothing_to_do":  # another did it meanwhile, or is about to
        _say_nothing_to_do(made.reason)
        return
    rows: dict[str, str] = {made.kind: made.reason}
    if made.overlay is not None:
        ids = short_ids([overlay.id for overlay in session.overlays()])
        named = f"{shlex.quote(session.id)} {shlex.quote(ids.get(made.overlay.id, made.overlay.id))}"
        before, after = _counted(made)
        rows |= {
            "tokens": f"{before:,} → {after:,}",
            "summary": made.overlay.id,
            "read it": f"glassine overlays {named}",
            "undo it": f"glassine undo {named}",
        }
    print_rows(out, rows)
