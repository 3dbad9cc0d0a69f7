"""The examples of README.md and docs/ are run, so that they can be believed.

Blocks marked `python` run in order, all of one page in one namespace, in an empty folder with $GLASSINE_DB set. Blocks
marked `console` are sessions of the command line: after each `$ glassine …` its output follows, where `...` stands for
any text in a line and, alone on a line, for any lines; without output shown, the command must only succeed. After
`<!-- no-run: reason -->` a block is only read: Python must compile, and commands are left out.
"""

import contextlib
import importlib
import re
import shlex
import sys
import types
from pathlib import Path
from typing import NamedTuple

import click
import pytest
from click.testing import CliRunner

ROOT = Path(__file__).parent.parent

FENCE = re.compile(
    r"^(?P<indent>[ ]*)(?P<fence>`{3,})(?P<language>\w*)[^\n`]*\n(?P<body>.*?)^(?P=indent)(?P=fence)[ ]*$",
    re.DOTALL | re.MULTILINE,
)
NO_RUN = re.compile(r"<!--\s*no-run:\s*\S(?:(?!-->).)*-->\s*\Z", re.DOTALL)


class Block(NamedTuple):
    language: str
    text: str
    line: int  # of its first line in the page, from 1
    run: bool


class Command(NamedTuple):
    line: int
    argv: list[str]
    expected: str  # "" where no output is shown


def blocks(page: str) -> list[Block]:
    found = []
    for match in FENCE.finditer(page):
        indent = match["indent"]
        text = "".join(line.removeprefix(indent) for line in match["body"].splitlines(keepends=True))
        line = page.count("\n", 0, match.start("body")) + 1
        found.append(Block(match["language"], text, line, NO_RUN.search(page, 0, match.start()) is None))
    return found


def commands(block: Block) -> list[Command]:
    """Each `$ glassine …` of a console block with the output below it. Lines that end in a backslash go on."""
    found: list[Command] = []
    ours = False
    lines = iter(enumerate(block.text.splitlines(), block.line))
    for number, line in lines:
        if line.startswith("$ "):
            while line.endswith("\\"):
                line = line[:-1] + next(lines)[1]
            argv = shlex.split(line[2:], comments=True)
            if ours := argv[:1] == ["glassine"]:
                found.append(Command(number, argv[1:], ""))
        elif ours:
            found[-1] = found[-1]._replace(expected=found[-1].expected + line + "\n")
    return found


def matches(shown: str, actual: str) -> bool:
    """Whether the output is the one shown, up to `...` and the white space at the ends of lines."""
    pattern = ""
    for line in shown.strip().splitlines():
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += re.escape(line.rstrip()).replace(r"\.\.\.", ".*") + r"[ \t]*\n"
    return re.fullmatch(pattern, actual.strip() + "\n") is not None


def run_python(block: Block, name: str, namespace: dict[str, object]) -> None:
    # Line numbers of the page, so that a traceback points into it.
    code = compile("\n" * (block.line - 1) + block.text, name, "exec", dont_inherit=True)
    if block.run:
        exec(code, namespace)


def run_command(command: Command, name: str) -> None:
    main = importlib.import_module("glassine.cli").main
    result = CliRunner().invoke(main, command.argv, prog_name="glassine", catch_exceptions=False)
    shown = f"{name}:{command.line}: $ glassine {shlex.join(command.argv)}"
    if command.expected:
        assert matches(command.expected, result.output), f"{shown}\nprints\n{result.output}"
    else:
        assert result.exit_code == 0, f"{shown}\nfails with {result.exit_code}:\n{result.output}"


def run_page(page: str, name: str) -> None:
    """Run the examples of a page in the current folder."""
    module = types.ModuleType("__page__")  # a real module, as dataclasses and pickle look theirs up
    sys.modules[module.__name__] = module
    try:
        for block in blocks(page):
            if block.language == "python":
                run_python(block, name, vars(module))
            elif block.language == "console" and block.run:
                for command in commands(block):
                    run_command(command, name)
    finally:
        del sys.modules[module.__name__]


PAGES = [path for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))] if path.is_file()]


@pytest.fixture
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GLASSINE_DB", str(tmp_path / "glassine.db"))
    # A rule of the terminal that runs the tests must not change what a command prints.
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    return tmp_path


@pytest.mark.usefixtures("empty_folder")
@pytest.mark.parametrize("path", [pytest.param(p, id=p.relative_to(ROOT).as_posix()) for p in PAGES])
def test_page(path: Path) -> None:
    with contextlib.redirect_stdout(sys.stderr):  # what examples print is not compared, only shown on failure
        run_page(path.read_text("utf-8"), str(path))


# --- the runner itself ------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("empty_folder")
def test_blocks_of_a_page_share_a_namespace_and_errors_point_into_the_page() -> None:
    page = "# 題\n```python\nx = 1\n```\ntext\n\n  ```python\n  if x:\n      raise ValueError(x)\n  ```\n"
    with pytest.raises(ValueError, match=r"^1$") as caught:
        run_page(page, "page.md")
    assert (caught.traceback[-1].path, caught.traceback[-1].lineno + 1) == ("page.md", 9)


def test_a_block_marked_no_run_is_compiled_only() -> None:
    run_page("<!-- no-run: needs a key -->\n\n```python\n1 / 0\n```\n", "page.md")
    with pytest.raises(SyntaxError):
        run_page("<!-- no-run: needs a key -->\n```python\n1 /\n```\n", "page.md")
    with pytest.raises(ZeroDivisionError):  # the mark is for one block, and needs a reason
        run_page("<!-- no-run: x -->\n```python\n```\n<!-- no-run: -->\n```python\n1 / 0\n```\n", "page.md")


def test_other_languages_are_not_run() -> None:
    run_page("```\n1 / 0\n```\n````sh\n```python\n1 / 0\n```\n````\n", "page.md")


def test_commands_of_a_console_block() -> None:
    text = "$ glassine show 'a b' \\\n    --last 2   # two\none\ntwo\n$ ls\nfile\n$ glassine list\n"
    assert commands(Block("console", text, 10, True)) == [
        Command(10, ["show", "a b", "--last", "2"], "one\ntwo\n"),
        Command(16, ["list"], ""),
    ]


@pytest.fixture
def echo(monkeypatch: pytest.MonkeyPatch) -> None:
    """A `glassine` that prints its arguments, and fails when one is `bad`."""

    @click.command()
    @click.argument("words", nargs=-1)
    def main(words: tuple[str, ...]) -> None:
        click.echo(" ".join(words))
        sys.exit(int("bad" in words))

    module = types.ModuleType("glassine.cli")
    vars(module)["main"] = main
    monkeypatch.setitem(sys.modules, "glassine.cli", module)


@pytest.mark.usefixtures("echo")
def test_commands_are_run_and_compared() -> None:
    run_page("```console\n$ glassine 一 b\n一 b\n$ glassine bad\nbad\n$ glassine x\n```\n", "page.md")
    with pytest.raises(AssertionError, match=r"page\.md:2: \$ glassine a b\n\s*prints\n\s*a b"):
        run_page("```console\n$ glassine a b\na c\n```\n", "page.md")
    with pytest.raises(AssertionError, match=r"page\.md:3: \$ glassine bad\n\s*fails with 1"):
        run_page("```console\n$ glassine a\n$ glassine bad\n```\n", "page.md")
    run_page("<!-- no-run: long -->\n```console\n$ glassine bad\n```\n", "page.md")


@pytest.mark.parametrize(
    ("shown", "actual", "same"),
    [
        ("a\nb\n", "a  \nb", True),
        ("a\nb", "a\nb\nc", False),
        ("3 会話 in ... ms", "3 会話 in 17.5 ms\n", True),
        ("3 in ... ms", "3 in\n17 ms\n", False),
        ("a\n...\nz", "a\nb\nc\nz", True),
        ("a\n...\nz", "a\nz", True),
        ("a\n...", "a\nb\nc", True),
        ("...\nz", "a\ny", False),
        ("a.c", "abc", False),
    ],
)
def test_output_is_compared_up_to_dots(shown: str, actual: str, same: bool) -> None:
    assert matches(shown, actual) is same
