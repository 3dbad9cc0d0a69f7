"""docs/cli.md shows the real help of every command, and names every field that `--json` prints.

To write the help anew: GLASSINE_WRITE_DOCS=1 ./dev test tests/test_cli_docs.py
"""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

import glassine
from glassine.cli import main
from tests.made_transcripts import SESSION, coding

PAGE = Path(__file__).parent.parent / "docs" / "cli.md"
HEADING = "## The commands\n"


def help_of(*argv: str) -> str:
    result = CliRunner().invoke(main, [*argv, "--help"], prog_name="glassine", terminal_width=80)
    return result.output.rstrip()


def chapter() -> str:
    """The chapter with the help of all commands, as it should be."""
    names: list[tuple[str, ...]] = [()]
    for name in main.list_commands(click.Context(main)):
        command = main.commands[name]
        inner = command.list_commands(click.Context(command)) if isinstance(command, click.Group) else []
        names += [(name,), *((name, below) for below in inner)]
    blocks = [f"### {' '.join(('glassine', *name))}\n\n```text\n{help_of(*name)}\n```\n" for name in names]
    return f"{HEADING}\n" + "\n".join(blocks)


def test_the_help_in_the_docs_is_the_real_one() -> None:
    page = PAGE.read_text("utf-8")
    before, heading, _ = page.partition(HEADING)
    assert heading, f"{PAGE.name} has no chapter {HEADING.strip()!r}"
    if os.environ.get("GLASSINE_WRITE_DOCS"):
        PAGE.write_text(before + chapter(), "utf-8")
    assert PAGE.read_text("utf-8") == before + chapter(), __doc__


def names_in(value: Any) -> Iterator[str]:
    """The names of fields, without what the fields `metadata` (anything), `tokens` (families) and `inputSchema` (JSON
    Schema) hold."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            if key not in ("metadata", "tokens", "inputSchema"):
                yield from names_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from names_in(inner)


def compactable(session: glassine.Session) -> str:
    """Write a conversation with a summary that a later one can take in; the summary's id."""
    path = session.append([glassine.user(f"{number} " * 200) for number in range(12)])
    return session.add_compaction("short", path[3], path[4]).id


def test_every_field_of_json_output_is_documented(tmp_path: Path) -> None:
    documented = set(re.findall(r"`(\w+)`", PAGE.read_text("utf-8").partition("## JSON\n")[2].partition("\n## ")[0]))
    path = coding().write(tmp_path / f"{SESSION}.jsonl")
    path.write_text(path.read_text("utf-8") + '{"type":', "utf-8")
    database = str(tmp_path / "g.db")
    with glassine.open(database) as store:
        spec = glassine.SessionSpec().with_context("memory").with_cached_prompt()
        store.session("memory", spec).append_block("memory", "x")
        store.session("memory", spec).freeze_prompt()
        overlay = compactable(store.session("long"))
    found = set()
    for argv in (
        ["import", str(path), str(tmp_path / "missing")],
        ["sessions"],
        ["show", SESSION, "--tree"],
        ["search", "build"],
        ["tokens", SESSION],
        ["tokens", str(path)],
        ["blocks", "memory"],
        ["blocks", "memory", "memory", "--lines"],
        ["prompt", "memory", "--history"],
        ["prompt", "memory"],
        ["prompt", "memory", "--drop", "--yes"],
        ["compact", "long", "--tail-tokens", "100", "--dry-run"],
        ["compact", "long", "--tail-tokens", "100", "--yes"],
        ["compact", "long", "--tail-tokens", "100", "--yes"],
        ["overlays", "long"],
        ["overlays", "long", overlay],
        ["undo", "long", overlay],
        ["skills", "put", "table", "k", str(path)],
        ["skills", "list", "table"],
        ["skills", "get", "table", "k"],
        ["skills", "rm", "table", "k"],
        ["verify"],
        ["reindex"],
        ["info"],
    ):
        result = CliRunner().invoke(main, [*argv, "--db", database, "--json"])
        whole = argv[0] in ("import", "tokens", "verify", "reindex", "info", "compact", "undo") or bool(
            {overlay, "--lines", "--drop", "put", "get"}.intersection(argv) or argv == ["prompt", "memory"]
        )
        texts = [result.stdout] if whole else result.stdout.splitlines()
        found |= {name for text in texts for name in names_in(json.loads(text))}
    assert {"leafAt", "onPath", "dryRun", "engineVersion", "leftOut", "count", "excerpt", "exact"} <= found
    assert {"lines", "frozenAt", "inputSchema", "dropped", "replaced", "removed"} <= found
    assert {"writer", "summaryTokens", "supersedes", "again", "overlays"} <= found
    assert found - documented == set()


@pytest.mark.parametrize("command", sorted(main.commands))
def test_every_command_has_the_shared_options(command: str) -> None:
    assert all(option in help_of(command) for option in ("--db PATH", "--namespace NAME", "--json", "-h, --help"))
