"""`glassine copy`."""

from __future__ import annotations

from typing import Any

import click

import glassine

from ._errors import PROBLEMS, MisuseError
from ._output import print_json, screen
from ._progress import Progress
from ._settings import Settings, settings, shared_options
from ._text import count, line

SHOWN = 20


@click.command()
@click.argument("source", metavar="SOURCE")
@click.argument("target", metavar="TARGET")
@click.option("--all-namespaces", is_flag=True, help="Copy every namespace; so it is when --namespace is not given.")
@click.option("--dry-run", is_flag=True, help="Say what would be copied, and copy nothing.")
@shared_options
def copy(source: str, target: str, all_namespaces: bool, dry_run: bool) -> None:
    """Copy everything from one database to another.

    SOURCE and TARGET are files or postgresql:// URLs; TARGET is made if it is not there, and --db is not looked at.
    Called again, it copies what has changed since, and goes on where it was interrupted. A session that others wrote
    to in TARGET is left as it is.

    Exit code 0: TARGET has it all; 1: some sessions were not copied. --json prints one object.
    """
    chosen = settings()
    if all_namespaces and chosen.namespace_given:
        raise MisuseError("--all-namespaces and --namespace exclude each other")
    origin, aim = Settings(db=source), Settings(db=target)
    if origin.shown == aim.shown:
        raise MisuseError("SOURCE and TARGET are the same database")
    wanted = [chosen.namespace] if chosen.namespace_given else None
    with origin.existing() as here, _target(aim, dry_run) as there, Progress("copying") as progress:
        report = here.copy_to(there, namespaces=wanted, dry_run=dry_run, progress=progress.update)
    if chosen.json:
        print_json(_as_json(origin, aim, dry_run, report))
    else:
        _print(report, dry_run)
    if not report.clean:
        click.get_current_context().exit(PROBLEMS)


def _target(aim: Settings, dry_run: bool) -> glassine.Store:
    return aim.rehearsal() if dry_run else aim.writable()


def _as_json(origin: Settings, aim: Settings, dry_run: bool, report: glassine.CopyReport) -> dict[str, Any]:
    return {
        "source": origin.shown,
        "target": aim.shown,
        "dryRun": dry_run,
        "namespaces": list(report.namespaces),
        "copied": report.copied,
        "updated": report.updated,
        "same": report.same,
        "deleted": report.deleted,
        "messages": report.messages,
        "problems": [
            {
                "code": problem.code,
                "namespace": problem.namespace,
                "sessionId": problem.session_id,
                "detail": problem.detail,
            }
            for problem in report.problems
        ],
    }


def _print(report: glassine.CopyReport, dry_run: bool) -> None:
    out = screen()
    would = "would be " if dry_run else ""
    done = f"{count(report.copied, 'session')} {would}copied, {report.updated} updated, {report.deleted} deleted"
    out.print(f"{done} ({count(report.messages, 'message')}); {report.same} the same already")
    for problem in report.problems[:SHOWN]:
        where = f"{problem.namespace} / {problem.session_id}"
        out.print(f"{problem.code}  {line(where)}  {line(problem.detail)}")
    if len(report.problems) > SHOWN:
        out.print(f"… and {len(report.problems) - SHOWN} more; --json lists all")
