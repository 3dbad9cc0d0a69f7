"""`glassine import`: transcripts of coding agents into a store."""

from __future__ import annotations

import shlex
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import glassine

from ..errors import InvalidError
from ._errors import PROBLEMS, MisuseError
from ._output import note, print_json, screen
from ._progress import Progress
from ._settings import Settings, settings, shared_options
from ._text import count, line

if TYPE_CHECKING:
    from ..transcripts import Discovery, ImportResult, SessionImport

SHOWN = 10
LABEL = 17
"""Columns before the text of a line of the summary."""
COUNTS = ("new", "updated", "known", "left_out", "kept", "summaries", "events", "usage")


@dataclass
class Outcome:
    """What became of all files. `failed` could not be read or written, and why; `seconds` is how long it took."""

    database: str
    dry_run: bool
    results: list[ImportResult] = field(default_factory=list)
    ignored: list[tuple[Path, str]] = field(default_factory=list)
    failed: list[tuple[Path, str]] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def sessions(self) -> list[SessionImport]:
        return [session for result in self.results for session in result.sessions]

    def total(self, name: str) -> int:
        return sum(getattr(session, name) for session in self.sessions)


@click.command("import")
@click.argument("paths", metavar="[PATH]...", nargs=-1)
@click.option("--dry-run", is_flag=True, help="Write nothing; say what would be imported.")
@click.option("--restore", is_flag=True, help="Bring back sessions that were deleted here.")
@click.option("-v", "--verbose", is_flag=True, help="List every problem and every file that was left out.")
@shared_options
def import_(paths: tuple[str, ...], dry_run: bool, restore: bool, verbose: bool) -> None:
    """Read transcripts of coding agents into the database.

    PATH is a file, a folder (searched through) or a pattern such as 'logs/*.jsonl'. Without any, Claude Code's own
    folder is read: ~/.claude/projects.

    Importing again adds only what is new. What you deleted or changed stays as you left it; damaged files are read
    as far as they go, and the summary says what was wrong with them.

    --json prints one object.
    """
    from ..transcripts import discover

    chosen = settings()
    where = list(paths) or [_default()]
    outcome = Outcome(chosen.shown, dry_run)
    started = time.monotonic()
    found = discover(where)
    outcome.ignored = [(item.path, item.reason) for item in found.ignored]
    if found.files:
        with chosen.rehearsal() if dry_run else chosen.writable() as store, Progress("importing") as progress:
            _import_all(store, found, outcome, restore, progress)
    outcome.seconds = time.monotonic() - started
    if chosen.json:
        print_json(outcome_json(outcome))
    else:
        _report(chosen, outcome, verbose)
    if not outcome.sessions and (outcome.failed or outcome.ignored):
        click.get_current_context().exit(PROBLEMS)


def _default() -> str:
    folder = Path.home() / ".claude" / "projects"
    if not folder.is_dir():
        raise MisuseError(
            f"nothing to import: {folder} is not there, and no PATH was given",
            "Name files or folders: glassine import PATH...",
        )
    note(f"reading {folder}")
    return str(folder)


def _import_all(store: glassine.Store, found: Discovery, outcome: Outcome, restore: bool, progress: Progress) -> None:
    from ..transcripts import import_transcript, read_many

    paths = [item.path for item in found.files]
    sizes = [_size(path) for path in paths]
    reading = read_many(paths)
    for number, path in enumerate(paths, 1):
        try:
            outcome.results.append(import_transcript(store, next(reading), dry_run=outcome.dry_run, restore=restore))
        except OSError as error:
            outcome.failed.append((path, error.strerror or str(error)))
            reading = read_many(paths[number:])  # a generator that raised is at its end
        except InvalidError as error:
            outcome.failed.append((path, str(error)))
        progress.update(sum(sizes[:number]), sum(sizes))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def outcome_json(outcome: Outcome) -> dict[str, Any]:
    """The outcome as `--json` prints it."""
    return {
        "database": outcome.database,
        "dryRun": outcome.dry_run,
        "files": [
            {
                "path": str(result.path),
                "source": result.source,
                "sessions": [
                    {
                        "id": session.id,
                        "title": session.title,
                        "created": session.created,
                        "skipped": session.skipped,
                        **{_camel(name): getattr(session, name) for name in COUNTS},
                    }
                    for session in result.sessions
                ],
                "problems": [
                    {"line": problem.line, "code": problem.code, "detail": problem.detail, "count": problem.count}
                    for problem in result.problems
                ],
            }
            for result in outcome.results
        ],
        "ignored": [{"path": str(path), "reason": reason} for path, reason in outcome.ignored],
        "failed": [{"path": str(path), "reason": reason} for path, reason in outcome.failed],
        "totals": {_camel(name): outcome.total(name) for name in COUNTS},
    }


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


def _report(chosen: Settings, outcome: Outcome, verbose: bool) -> None:
    from ._messages import wrapped

    out = screen()
    head, rows = summary(outcome, verbose)
    if outcome.results:
        out.print(head, style="bold")
    for label, text in rows:
        first, *more = wrapped(line(text), out.width - LABEL)
        out.print(f"  {label:<{LABEL - 2}}{first}")
        for row in more:
            out.print(" " * LABEL + row)
    for path, reason in outcome.failed:
        note(f"{path}: {reason}")
    left_out = outcome.ignored
    if outcome.results and not verbose:
        # Other files beside transcripts are nothing to worry about; paths that are not there were typed by somebody.
        left_out = [(path, reason) for path, reason in left_out if reason in ("no such file", "nothing matches")]
    for path, reason in left_out if verbose else left_out[:SHOWN]:
        note(f"{path}: {reason}")
    if len(left_out) > SHOWN and not verbose:
        note(f"… and {len(left_out) - SHOWN} more that are no transcripts; -v lists them")
    if verbose:
        for result in outcome.results:
            for problem in result.problems:
                times = f" (×{problem.count})" if problem.count > 1 else ""
                out.print(line(f"{result.path}:{problem.line}: {problem.code}: {problem.detail}{times}"))
    if outcome.total("new") and not outcome.dry_run:
        named = f"glassine sessions --db {shlex.quote(chosen.db)}" if chosen.db else "glassine sessions"
        if chosen.namespace_given:
            named += f" --namespace {shlex.quote(chosen.namespace)}"
        out.print(f"In {line(outcome.database)}; now: {line(named)}", style="dim")


def summary(outcome: Outcome, verbose: bool) -> tuple[str, list[tuple[str, str]]]:
    """A heading, and lines of (label, text): what was read, new, there already, left out and repaired."""
    sessions, total = outcome.sessions, outcome.total
    done = [session for session in sessions if session.skipped is None]
    files = len(outcome.results)
    head = f"{'Would import' if outcome.dry_run else 'Read'} {count(files, 'file')} in {outcome.seconds:.1f} s"
    rows = []
    created = [session for session in done if session.created]
    if total("new") or created:
        grown = sum(1 for session in done if session.new and not session.created)
        parts = [count(len(created), "session")] if created else []
        parts.append(count(total("new"), "message"))
        parts += _some(total("summaries"), "summary", "summaries")
        parts += [f"{count(grown, 'session')} went on"] if grown else []
        rows.append(("new", ", ".join(parts)))
    elif files:
        rows.append(("new", "nothing"))
    if total("updated"):
        rows.append(("completed", f"{count(total('updated'), 'message')} that had not ended yet"))
    if known := total("known"):
        there = sum(1 for session in done if not session.created)
        rows.append(("already there", f"{count(there, 'session')}, {count(known, 'message')}"))
    if kept := total("kept"):
        rows.append(("left as it is", f"{count(kept, 'message')} changed here"))
    skipped = [session for session in sessions if session.skipped is not None]
    if skipped:
        rows.append(("not restored", f"{count(len(skipped), 'session')} deleted here (--restore brings back)"))
    if left_out := sum(session.left_out for session in done):
        rows.append(("not restored", f"{count(left_out, 'message')} deleted here"))
    if outcome.results and outcome.ignored:
        rows.append(("left out", f"{count(len(outcome.ignored), 'file')}: {_counted(outcome.ignored)}"))
    if outcome.failed:
        rows.append(("failed", count(len(outcome.failed), "file")))
    codes: Counter[str] = Counter()
    for result in outcome.results:
        for problem in result.problems:
            codes[problem.code] += problem.count
    if codes:
        rows.append(("repaired", ", ".join(f"{code} {number:,}" for code, number in codes.most_common())))
        if not verbose:
            rows.append(("", "-v lists them"))
    return head, rows


def _some(number: int, noun: str, plural: str) -> Iterator[str]:
    if number:
        yield count(number, noun, plural)


def _counted(ignored: Sequence[tuple[Path, str]]) -> str:
    reasons = Counter(reason for _, reason in ignored)
    return ", ".join(f"{reason} ({number})" if len(reasons) > 1 else reason for reason, number in reasons.most_common())
