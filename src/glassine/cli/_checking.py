"""`glassine verify` and `glassine repair`."""

from __future__ import annotations

from collections import Counter
from typing import Any

import click

import glassine

from ._errors import PROBLEMS
from ._output import print_json, screen
from ._progress import Progress
from ._settings import Settings, settings, shared_options
from ._text import count, line

SHOWN = 20


@click.command()
@shared_options
def verify() -> None:
    """Look at everything stored and name what is wrong. Changes nothing.

    Exit code 0: all is in order; 1: there are problems. --json prints one object.
    """
    chosen = settings()
    with chosen.existing() as store, Progress("looking") as progress:
        check = store.verify(progress=progress.update)
    _report(chosen, check, ())
    if not check.clean:
        click.get_current_context().exit(PROBLEMS)


@click.command()
@shared_options
def repair() -> None:
    """Mend what `verify` finds.

    Messages that cannot be read are put aside with their bytes kept; counts and structure are made anew.
    Exit code 0: all is in order now; 1: something is left. --json prints one object.
    """
    chosen = settings()
    with chosen.existing() as store, Progress("mending") as progress:
        check = store.repair(progress=progress.update)
    left = tuple(problem for problem in check.problems if not problem.repaired)
    _report(chosen, check, left)
    if left:
        click.get_current_context().exit(PROBLEMS)


def check_json(chosen: Settings, check: glassine.Check) -> dict[str, Any]:
    """The outcome as `--json` prints it."""
    return {
        "database": chosen.shown,
        "namespace": chosen.namespace,
        "sessions": check.sessions,
        "messages": check.messages,
        "problems": [
            {
                "code": problem.code,
                "sessionId": problem.session_id,
                "messageId": problem.message_id,
                "detail": problem.detail,
                "repaired": problem.repaired,
            }
            for problem in check.problems
        ],
    }


def _report(chosen: Settings, check: glassine.Check, left: tuple[glassine.Problem, ...]) -> None:
    if chosen.json:
        print_json(check_json(chosen, check))
        return
    from ._messages import wrapped

    out = screen()
    seen = f"{count(check.sessions, 'session')}, {count(check.messages, 'message')}"
    if check.clean:
        out.print(f"{seen}: everything is in order")
        return
    mended = len(check.problems) - len(left)
    repaired = any(problem.repaired for problem in check.problems)
    outcome = f", {mended} repaired" if repaired else ""
    out.print(f"{seen}: {count(len(check.problems), 'problem')}{outcome}", style="bold")
    for problem in check.problems[:SHOWN]:
        where = " / ".join(part for part in (problem.session_id, problem.message_id) if part)
        mark = "repaired  " if problem.repaired else ""
        text = f"{mark}{problem.code}  {line(where)}{'  ' if where else ''}{line(problem.detail)}"
        first, *more = wrapped(text, out.width - 2)
        for row in (first, *(f"  {row}" for row in more)):
            out.print(row)
    rest = Counter(problem.code for problem in check.problems[SHOWN:])
    if rest:
        out.print("… and " + ", ".join(f"{number} {code}" for code, number in rest.items()) + "; --json lists all")
    if not repaired:
        out.print("`glassine repair` mends what can be mended")
