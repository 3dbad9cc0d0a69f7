"""docs/invariants.md names for each invariant the tests and contract checks that hold it: they must exist."""

import ast
import re
from collections.abc import Collection
from pathlib import Path

import pytest

from glassine.testing import CHECKS

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "invariants.md"

ITEM = re.compile(r"^(\d+)\. (.*?)(?=^\d+\. |^## |\Z)", re.MULTILINE | re.DOTALL)
TEST = re.compile(r"`(\S+\.py)::(\S+?)`")
CHECK = re.compile(r"`([a-z]+\.[a-z_]+)`")


def items(page: str) -> list[tuple[int, str]]:
    """Number and text of each numbered item."""
    return [(int(number), text) for number, text in ITEM.findall(page)]


def names(source: str) -> set[str]:
    """The functions of a module, and the methods of its classes as `Class.method`."""
    found = set()
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.parse(source).body:
        if isinstance(node, functions):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            found.update(f"{node.name}.{item.name}" for item in node.body if isinstance(item, functions))
    return found


def missing(page: str, root: Path, checks: Collection[str]) -> list[str]:
    """What is wrong with a page of invariants, in sentences."""
    wrong = []
    for due, (number, text) in enumerate(items(page), 1):
        if number != due:
            wrong.append(f"invariant {number} should have the number {due}")
        tests, contract = TEST.findall(text), CHECK.findall(text)
        if not tests and not contract:
            wrong.append(f"invariant {number} names nothing that holds it")
        for file, name in tests:
            path = root / file
            if not path.is_file() or name not in names(path.read_text("utf-8")):
                wrong.append(f"invariant {number}: there is no {file}::{name}")
        wrong += [f"invariant {number}: there is no check {name}" for name in contract if name not in checks]
    return wrong


def test_every_invariant_names_tests_that_exist() -> None:
    page = PAGE.read_text("utf-8")
    assert items(page)
    assert missing(page, ROOT, CHECKS) == []


@pytest.mark.parametrize(
    ("page", "wrong"),
    [
        ("1. **A.** `a.py::test_it`\n2. **B.** more\n   text, `a.py::Machine.rule`\n", []),
        ("1. **A.** `adding.one_is_kept`\n", []),
        ("1. **A.** no test here: `append`\n", ["invariant 1 names nothing that holds it"]),
        ("1. **A.** `adding.one_is_lost`\n", ["invariant 1: there is no check adding.one_is_lost"]),
        ("1. **A.** `a.py::test_gone`\n", ["invariant 1: there is no a.py::test_gone"]),
        ("1. **A.** `b.py::test_it`\n", ["invariant 1: there is no b.py::test_it"]),
        ("1. **A.** `a.py::rule`\n", ["invariant 1: there is no a.py::rule"]),
        ("1. `a.py::test_it`\n\n## Next\n\n3. `a.py::test_it`\n", ["invariant 3 should have the number 2"]),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, page: str, wrong: list[str]) -> None:
    Path(tmp_path, "a.py").write_text(
        "async def test_it() -> None: ...\nclass Machine:\n    def rule(self) -> None: ...\n", "utf-8"
    )
    assert missing(page, tmp_path, ["adding.one_is_kept"]) == wrong
