"""The generator of the synchronous twin: what it changes, what it leaves alone, and what it refuses."""

import textwrap
from pathlib import Path

import pytest

from scripts.unasync import NAMES, Rules, convert, leftovers, main

EXTRA = {
    "AsyncStore": "Store",
    "AsyncIterator": "Iterator",
    "__aenter__": "__enter__",
    "aclose": "close",
    "open_async": "open",
    "_async": "_sync",
}


def rules() -> Rules:
    return Rules(EXTRA, frozenset({"Awaitable"}), frozenset({"@pytest.mark.anyio", "pytestmark = pytest.mark.anyio"}))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("async def f(): return await g()", "def f(): return g()"),
        ("async with a as b, c: pass", "with a as b, c: pass"),
        ("x = [y async for y in z if await y]", "x = [y for y in z if y]"),
        ("s: glassine.AsyncStore = glassine.open_async(p)", "s: glassine.Store = glassine.open(p)"),
        ("from glassine._async.store import AsyncStore", "from glassine._sync.store import Store"),
        ("from .._async import x", "from .._sync import x"),
        ("await self.aclose()", "self.close()"),
        # A name that only holds another one is left alone.
        ("asynchronous = aclosed = Awaitables[0]", "asynchronous = aclosed = Awaitables[0]"),
        ("f: Callable[[str], Awaitable[dict[str, int]]]", "f: Callable[[str], dict[str, int]]"),
        # Brackets that only held the await go with it, and no others.
        ("x = (await a.b(c)[0].d()).e", "x = a.b(c)[0].d().e"),
        ("return_(await a.b())", "return_(a.b())"),
        ("x = (await a + b).c", "x = (a + b).c"),
        ("x = (await a, b)", "x = (a, b)"),
        ("x = y[0](await a)", "x = y[0](a)"),
        ("x = not (await a).b", "x = not a.b"),
        ("x = (await a\n.b()\n.c())", "x = (a\n.b()\n.c())"),
        ("x = (\n    await a.b()\n).c", "x = (\n    a.b()\n).c"),
        ("x = (\n    await a.b()).c", "x = (\n    a.b()).c"),
    ],
)
def test_code(source: str, expected: str) -> None:
    assert convert(source, rules()) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("An AsyncStore, or an `AsyncStore`", "A Store, or a `Store`"),
        ("an\n    AsyncStore", "a\n    Store"),
        ("An AsyncIterator", "An Iterator"),
        (">>> async with open_async(p) as s: await s.append(m)", ">>> with open(p) as s: s.append(m)"),
        ("no lock is held across an await; await the end", "no lock is held across an await; await the end"),
        ("AsyncStores", "AsyncStores"),
        ("見本の AsyncStore を await f() する", "見本の Store を f() する"),
    ],
)
def test_strings_and_comments(text: str, expected: str) -> None:
    assert convert(f'"""{text}"""', rules()) == f'"""{expected}"""'
    if "\n" not in text:
        assert convert(f"x = 1  # {text}", rules()) == f"x = 1  # {expected}"


def test_f_strings_are_code_and_text() -> None:
    # The offsets after them must hold too, on the versions that split f-strings into tokens.
    source = """x = f"文字列 {await y} AsyncStore {f'{await z()}'} {{await}}"; await aclose()"""
    assert convert(source, rules()) == """x = f"文字列 {y} Store {f'{z()}'} {{await}}"; close()"""


def test_lines_without_a_counterpart_are_dropped() -> None:
    source = """\
        pytestmark = pytest.mark.anyio
        class T:
            @pytest.mark.anyio  # asyncio and trio
            @pytest.mark.other
            async def test(self) -> None: ...
        """
    expected = """\
        class T:
            @pytest.mark.other
            def test(self) -> None: ...
        """
    assert convert(textwrap.dedent(source), rules()) == textwrap.dedent(expected)


def test_unusual_line_ends_do_not_shift_the_edits() -> None:
    assert convert('x = "\u2028\x0c"\nawait f()\n', rules()) == 'x = "\u2028\x0c"\nf()\n'


@pytest.mark.parametrize(
    "source", ["AsyncOther()", "import anyio", "import asyncio", "def __anext__(self): ...", "run_async()", "Awaitable"]
)
def test_an_asynchronous_name_without_a_rule_is_refused(source: str) -> None:
    assert list(leftovers("mine.py", "Store(asynchronous)  # AsyncStore")) == []
    (line,) = leftovers("mine.py", "\n" + source)
    assert line.startswith("mine.py:2: no rule")
    assert line.endswith(source)


def test_every_name_of_the_real_table_gives_a_synchronous_one() -> None:
    for name in NAMES:
        assert list(leftovers(name, convert(name, Rules(NAMES)))) == []


# --- all files --------------------------------------------------------------------------------------------------------

SOURCE = '''\
"""A store, until aclose()."""
import anyio_unrelated
from collections.abc import AsyncIterator, Awaitable, Iterator
from glassine._async.zeta import z
from glassine._rows import row

class AsyncStore:
    async def rows(self) -> AsyncIterator[int]:
        async for x in z(row, anyio_unrelated): yield x
    def all(self) -> Awaitable[Iterator[int]]: ...
'''
EXPECTED = '''\
# Generated from src/glassine/_async/store.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""A store, until close()."""

from collections.abc import Iterator

import anyio_unrelated

from glassine._rows import row
from glassine._sync.zeta import z


class Store:
    def rows(self) -> Iterator[int]:
        for x in z(row, anyio_unrelated):
            yield x

    def all(self) -> Iterator[int]: ...
'''


@pytest.fixture
def root(tmp_path: Path) -> Path:
    source = tmp_path / "src/glassine/_async/store.py"
    source.parent.mkdir(parents=True)
    source.write_text(SOURCE)
    return tmp_path


def needed() -> Rules:
    return Rules({n: EXTRA[n] for n in ("AsyncStore", "AsyncIterator", "_async", "aclose")}, frozenset({"Awaitable"}))


def test_writes_a_formatted_twin_that_the_check_accepts(root: Path) -> None:
    assert main([], root, needed()) == 0
    assert (root / "src/glassine/_sync/store.py").read_text() == EXPECTED
    assert main(["--check"], root, needed()) == 0


def test_check_shows_what_is_stale_and_changes_nothing(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"], root, needed()) == 1
    assert "+class Store:\n" in capsys.readouterr().out
    assert not (root / "src/glassine/_sync").exists()


def test_a_twin_whose_source_is_gone_is_removed(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([], root, needed())
    stale = root / "tests/_sync/test_old.py"
    stale.parent.mkdir(parents=True)
    stale.write_text("# Generated from tests/_async/test_old.py\n")
    assert main(["--check"], root, needed()) == 1
    assert main([], root, needed()) == 0
    assert not stale.exists()
    assert "removed tests/_sync/test_old.py" in capsys.readouterr().out


def test_a_file_written_by_hand_is_never_overwritten(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = root / "src/glassine/_sync/store.py"
    mine.parent.mkdir()
    mine.write_text("precious = 1\n")
    assert main([], root, needed()) == 1
    assert mine.read_text() == "precious = 1\n"
    assert "src/glassine/_sync/store.py" in capsys.readouterr().err


def test_a_rule_that_no_file_needs_is_an_error(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], root, rules()) == 1
    assert "@pytest.mark.anyio, __aenter__, open_async, pytestmark" in capsys.readouterr().err
    assert main(["--check"], root, rules()) == 1  # though the twin was written, and is not stale
    assert "stale" not in capsys.readouterr().err


def test_a_file_without_a_rule_for_a_name_leaves_all_twins_as_they_are(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / "src/glassine/_async/other.py").write_text("x = AsyncOther()\n")
    assert main([], root, needed()) == 1
    assert "src/glassine/_sync/other.py:2: no rule in scripts/unasync.py for 'AsyncOther'" in capsys.readouterr().err
    assert not (root / "src/glassine/_sync").exists()


def test_without_any_source_nothing_is_needed(tmp_path: Path) -> None:
    assert main(["--check"], tmp_path, rules()) == 0
