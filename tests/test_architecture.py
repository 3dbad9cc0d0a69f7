"""Who may import whom, and how long a module may be: the floors of the house, kept by a walk over the imports.

Arrows go down. An import counts wherever it stands: in a function, under TYPE_CHECKING, relative or absolute. Only for
circles those two don't count, as they break one: what is imported while a module is loaded may not need the module.
"""

import ast
import fnmatch
import graphlib
import statistics
import sys
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

import glassine

SRC = Path(__file__).parent.parent / "src"

VALUES, PURE, STORAGE, SHELL, EDGES, FACADE = range(6)
FLOOR_NAMES = ["values", "pure", "storage", "shell", "edges", "façade"]

# The first pattern that fits decides, and it covers what is inside a package too. _sync stands where _async does.
FLOORS = {
    VALUES: "messages moments toolparts errors urls _json _ids",
    PURE: "formats tree history overlays compaction truncation pruning caching view blocks prompt tools representation "
    "copying drafting content exchange hits indexing ingesting ranking vectors tokens searching models records "
    "redaction handles pairing rules skills spec front_matter entries pricing overflow binding marking origins loading "
    "reminding originals thinking hints explaining showing dialects calibration compactor summarising extracting "
    "covering places shrinking turns",
    STORAGE: "providers summarisers _keeping _loop _drivers _spool _waiting _queries _sqlite* _postgres* sql "
    "_async.database _async.ops* _async.engine _async.postgres*",
    SHELL: "_async",
    EDGES: "cli inspector integrations transcripts testing demo demo_data",
    FACADE: "__init__ __main__",
}
# What the edges may import beside themselves: the library as any user sees it.
PUBLIC = {"glassine"} | {
    f"glassine.{name}" for name in ("messages", "moments", "errors", "tokens", "transcripts", "urls", "rules", "models")
}
# Pure code that stands beside the rest of its floor: it may import values and itself, nothing else.
VALUES_ONLY = {"formats", "rules"}

# What the floors `values` and `pure` do without: a value goes in and a value comes out, always the same.
IMPURE_MODULES = (
    "asyncio concurrent fcntl glob http io logging multiprocessing os pathlib queue random sched secrets select shelve "
    "shutil signal socket socketserver sqlite3 ssl subprocess tempfile threading time urllib.request uuid"
)
OTHER_PACKAGES = {"genai_prices", "msgspec", "toktok", "yaml"}
CLOCK_CALLS = {"now", "utcnow", "today"}

LONGEST, MEDIAN = 700, 250


class Module(NamedTuple):
    path: str
    text: str

    @property
    def is_package(self) -> bool:
        return self.path.endswith("__init__.py")


Modules = Mapping[str, Module]


def load(src: Path) -> dict[str, Module]:
    """Every module of the package, by its dotted name."""
    found = {}
    for path in sorted((src / "glassine").rglob("*.py")):
        parts = path.relative_to(src).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = Module(path.relative_to(src.parent).as_posix(), path.read_text("utf-8"))
    return found


def floor_of(name: str) -> int | None:
    parts = name.split(".")[1:] or ["__init__"]
    parts[0] = "_async" if parts[0] == "_sync" else parts[0]
    for floor, patterns in FLOORS.items():
        for pattern in patterns.split():
            wanted = pattern.split(".")
            if len(wanted) <= len(parts) and all(map(fnmatch.fnmatchcase, parts, wanted)):
                return floor
    return None


def area(name: str) -> str:
    """The part of the package a module belongs to: `cli` for glassine.cli.search."""
    return name.split(".")[1] if "." in name else ""


class Import(NamedTuple):
    line: int
    target: str
    at_load: bool  # not in a function, and not for type checkers only


def statements(body: Iterable[ast.AST], at_load: bool = True) -> Iterator[tuple[ast.AST, bool]]:
    """Every node, and whether it runs when the module is loaded."""
    for node in body:
        yield node, at_load
        later = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) or (
            isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
        )
        yield from statements(ast.iter_child_nodes(node), at_load and not later)


def imports(name: str, module: Module, known: Modules) -> Iterator[Import]:
    """Each module imported; `from package import name` counts as package.name if that is a module."""
    parts = name.split(".")
    package = parts if module.is_package else parts[:-1]
    for node, at_load in statements([ast.parse(module.text)]):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(node.lineno, alias.name, at_load)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else []
            source = ".".join([*base, *(node.module.split(".") if node.module else [])])
            for alias in node.names:
                inner = f"{source}.{alias.name}"
                yield Import(node.lineno, inner if inner in known else source, at_load)


def arrow_problem(name: str, target: str) -> str | None:
    """Why the module may not import this module of ours, if it may not."""
    floor, target_floor = floor_of(name), floor_of(target)
    if floor is None or target_floor is None or floor == FACADE:
        return None  # a module without a floor is reported once, as such
    if floor == EDGES:
        allowed = target in PUBLIC or area(target) == area(name)
        return None if allowed else f"imports {target}; the edges use the public modules only"
    if {area(name), area(target)} == {"_async", "_sync"}:
        return f"imports {target}; the two colours never mix"
    if area(name) in VALUES_ONLY and target_floor != VALUES and area(target) != area(name):
        return f"imports {target}; {area(name)} uses the values only"
    if target_floor > floor:
        return f"on floor {FLOOR_NAMES[floor]!r} imports {target} of floor {FLOOR_NAMES[target_floor]!r}"
    return None


def impurities(module: Module) -> Iterator[tuple[int, str]]:
    """What code on the floors `values` and `pure` does that is not in its imports of ours."""
    for node in ast.walk(ast.parse(module.text)):
        match node:
            case ast.AsyncFunctionDef() | ast.Await() | ast.AsyncFor() | ast.AsyncWith():
                yield node.lineno, "is asynchronous"
            case ast.Call(func=ast.Name(id="open" | "input" as called)):
                yield node.lineno, f"calls {called}()"
            case ast.Call(func=ast.Attribute(attr=called, value=owner)) if called in CLOCK_CALLS:
                if ast.unparse(owner).rpartition(".")[2] in ("datetime", "date"):
                    yield node.lineno, f"reads the clock: {ast.unparse(node.func)}()"


def impure_import(target: str) -> str | None:
    top = target.partition(".")[0]
    if any(f"{target}.".startswith(f"{name}.") for name in IMPURE_MODULES.split()):
        return f"imports {target}; here is no I/O, no clock and no chance"
    if top not in sys.stdlib_module_names and top not in OTHER_PACKAGES:
        return f"imports {target}; of other packages only {', '.join(sorted(OTHER_PACKAGES))} may be used here"
    return None


def problems(modules: Modules) -> list[str]:
    found: list[str] = []
    graph: dict[str, set[str]] = {}
    for name, module in modules.items():
        floor = floor_of(name)
        if floor is None:
            found.append(f"{module.path}: stands on no floor; give it one in FLOORS of tests/test_architecture.py")
        graph[name] = set()
        for line, target, at_load in imports(name, module, modules):
            ours = target.partition(".")[0] == "glassine"
            if ours and at_load and floor != FACADE:
                graph[name].add(target)
            problem = (
                arrow_problem(name, target) if ours else impure_import(target) if floor in (VALUES, PURE) else None
            )
            if problem:
                found.append(f"{module.path}:{line}: {problem}")
        if floor in (VALUES, PURE):
            found += [f"{module.path}:{line}: {what}; not on this floor" for line, what in impurities(module)]
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        found.append("imports go in a circle: " + " ← ".join(error.args[1]))
    return found


def size_problems(modules: Modules) -> list[str]:
    lines = {m.path: m.text.count("\n") for name, m in modules.items() if area(name) != "_sync"}
    found = [f"{path}: {count} lines; none may pass {LONGEST}" for path, count in lines.items() if count > LONGEST]
    # Package files of a line or two would make any median small.
    if (median := statistics.median([n for n in lines.values() if n > 10] or [0])) >= MEDIAN:
        found.append(f"the median module has {median} lines; it should stay under {MEDIAN}")
    return found


# --- the package ------------------------------------------------------------------------------------------------------


def test_arrows_go_down() -> None:
    found = problems(load(SRC))
    assert not found, "\n" + "\n".join(found)


def test_modules_are_small() -> None:
    found = size_problems(load(SRC))
    assert not found, "\n" + "\n".join(found)


def test_all_names_exactly_what_is_visible() -> None:
    visible = {
        name
        for name in dir(glassine)
        if not name.startswith("_")
        and not isinstance(getattr(glassine, name), types.ModuleType)
        and not hasattr(typing, name)  # Any and TYPE_CHECKING: needed there, offered by nobody
    }
    declared = list(getattr(glassine, "__all__", []))
    missing = [name for name in declared if not hasattr(glassine, name)]
    modules = {name for name in declared if isinstance(getattr(glassine, name, None), types.ModuleType)}
    assert not missing, f"in __all__ but not there: {missing}"
    assert len(declared) == len(set(declared)), "a name stands in __all__ twice"
    assert visible == set(declared) - modules, "__all__ and the visible names differ"


# --- the rules themselves ---------------------------------------------------------------------------------------------


def package(**texts: str) -> dict[str, Module]:
    """A package from texts by dotted name, with __ for a dot; a name that ends in __ is a package."""
    modules = {"glassine": Module("src/glassine/__init__.py", "")}
    for key, text in texts.items():
        name = "glassine." + key.rstrip("_").replace("__", ".")
        path = name.replace(".", "/") + ("/__init__.py" if key.endswith("__") else ".py")
        modules[name] = Module(path, text)
    return modules


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ({"errors": "from .messages import x"}, None),
        ({"messages": "from . import history"}, "on floor 'values' imports glassine.history of floor 'pure'"),
        ({"history": "import glassine.messages, re"}, None),
        ({"history": "def f():\n from glassine import _drivers"}, "glassine/history.py:2: on floor 'pure' imports"),
        ({"history": "if TYPE_CHECKING:\n from ._drivers import D"}, "history.py:2: on floor 'pure' imports"),
        ({"history": "from . import SessionSpec"}, "on floor 'pure' imports glassine of floor 'façade'"),
        ({"tokens__": "from .exact import x", "tokens__exact": "from .. import errors"}, None),
        ({"tokens__exact": "from ..cli import x"}, "imports glassine.cli of floor 'edges'"),
        ({"formats__openai": "from ..messages import M\nfrom . import shared"}, None),
        ({"formats__": "from ..tree import Path"}, "formats uses the values only"),
        ({"formats__openai": "from ..tree import Path"}, "formats uses the values only"),
        ({"_drivers": "import apsw, time\nfrom . import history"}, None),
        ({"_sqlite_ops": "from ._async import store"}, "of floor 'shell'"),
        ({"_sync__session": "from .._async.backend import B"}, "the two colours never mix"),
        ({"_sync__engine": "from .session import S"}, "on floor 'storage' imports glassine._sync.session"),
        ({"cli__show": "import glassine\nfrom glassine import messages, open\nfrom . import table"}, None),
        ({"cli": "from glassine.history import h"}, "the edges use the public modules only"),
        ({"cli": "from glassine import inspector"}, "the edges use the public modules only"),
        ({"cli": "from .inspector.app import a"}, "the edges use the public modules only"),
        ({"history": "import os.path"}, "imports os.path; here is no I/O"),
        ({"history": "import urllib.parse, urllib.request"}, "imports urllib.request; here is no I/O"),
        ({"history": "import click"}, "imports click; of other packages only"),
        ({"history": "async def f(): ..."}, "history.py:1: is asynchronous"),
        ({"history": "x = datetime.datetime.now(UTC)"}, "reads the clock: datetime.datetime.now()"),
        ({"history": "x = datetime.fromtimestamp(0), self.now()"}, None),
        ({"history": "open('x')"}, "calls open()"),
        ({"_drivers": "open('x')\nasync def f(): ..."}, None),
        ({"tree": "from .history import a", "history": "class C:\n from . import tree"}, "in a circle"),
        ({"tree": "from .history import a", "history": "def f(): from . import tree"}, None),
        ({"tree": "from .history import a", "history": "if t.TYPE_CHECKING: from . import tree"}, None),
        ({"novelty": ""}, "glassine/novelty.py: stands on no floor"),
    ],
)
def test_rules(texts: dict[str, str], expected: str | None) -> None:
    modules = package(errors="", inspector="", history="") | package(**texts)
    found = "\n".join(problems(modules))
    assert expected in found if expected else found == ""


def test_size_rules() -> None:
    long, short = "x\n" * 701, "x\n" * 20
    assert size_problems(package(tree=long, history=short, view=short)) == [
        "glassine/tree.py: 701 lines; none may pass 700"
    ]
    assert "median" in size_problems(package(tree="x\n" * 250, _sync__store=short, _sync__engine=short))[0]
