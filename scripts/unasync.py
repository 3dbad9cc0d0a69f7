"""Make the synchronous twin of everything under an _async folder, in the _sync folder beside it.

    python scripts/unasync.py            write src/glassine/_sync and tests/_sync
    python scripts/unasync.py --check    change nothing; print a diff and exit 1 when they are stale

The rules are the tables below. They work on tokens, so a name is never changed because it holds another; in strings
and comments they work on whole words. Two mistakes stop the script: a rule that no file needs, and a name of the
asynchronous world for which there is no rule.
"""

import argparse
import difflib
import io
import keyword
import pathlib
import re
import subprocess
import sys
import tempfile
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAIRS = [
    ("src/glassine/_async", "src/glassine/_sync"),
    ("src/glassine/testing/_async", "src/glassine/testing/_sync"),
    ("tests/_async", "tests/_sync"),
]

NAMES = {
    "open_async": "open",
    "AsyncStore": "Store",
    "AsyncSession": "Session",
    "AsyncTree": "Tree",
    "AsyncMemory": "Memory",
    "AsyncCompacting": "Compacting",
    "AsyncScales": "Scales",
    "AsyncWatch": "Watch",
    "call_within_async": "call_within",
    "AsyncOpening": "Opening",
    "AsyncDriver": "Driver",
    "AsyncEngine": "Engine",
    "AsyncCopying": "Copying",
    "AsyncSQLiteDriver": "SQLiteDriver",
    "AsyncDatabase": "Database",
    "AsyncIndex": "Index",
    "AsyncPostgresDriver": "PostgresDriver",
    "AsyncPostgresDatabase": "PostgresDatabase",
    "AsyncPostgresIndex": "PostgresIndex",
    "AsyncEntryIndex": "EntryIndex",
    "AsyncPostgresEntryIndex": "PostgresEntryIndex",
    "AsyncConnection": "Connection",
    "AsyncRawCursor": "RawCursor",
    "AsyncPlaces": "Places",
    "AsyncContext": "Context",
    "AsyncGate": "Gate",
    "AWAITS_ASYNC": "AWAITS",
    "AsyncTool": "Tool",
    "AsyncBound": "Bound",
    "AsyncText": "FixedText",
    "AsyncStoredBlock": "StoredBlock",
    "AsyncStoredEntries": "StoredEntries",
    "AsyncForeign": "Foreign",
    "call_async": "call",
    "sleep_async": "sleep",
    "survive_fork_async": "survive_fork",
    "AsyncIterator": "Iterator",
    "AsyncRecording": "Recording",
    "iterate_async": "iterate",
    "__aiter__": "__iter__",
    "asynccontextmanager": "contextmanager",
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "check_store_async": "check_store",
    "together_async": "together",
}
# Generic types that stand for their only argument, as Awaitable[T] is T.
UNWRAPPED = frozenset({"Awaitable"})
# Lines that have no counterpart, such as @pytest.mark.anyio: whole statements or decorators.
DROPPED = frozenset({"pytestmark = pytest.mark.anyio"})

# What may not be left over. Names in strings and comments are prose and stay free.
FOREIGN = re.compile(
    r"async|await|aiter|anext|aclose|anyio|asyncio|asynccontextmanager|async_\w+|\w*_async|\w*Async[A-Z]\w*"
    r"|__a(?:enter|exit|iter|next)__|Awaitable"
)

F_STRING = re.compile(r"[rR]?[fF][rR]?['\"]")

Edit = tuple[int, int, str]  # replace source[start:end]


@dataclass(frozen=True)
class Rules:
    """What to change. `used` counts each rule over all files converted with this object."""

    names: Mapping[str, str]
    unwrapped: frozenset[str] = frozenset()
    dropped: frozenset[str] = frozenset()
    used: Counter[str] = field(default_factory=Counter)

    def unused(self) -> list[str]:
        return sorted((self.names.keys() | self.unwrapped | self.dropped) - self.used.keys())


# --- one file ---------------------------------------------------------------------------------------------------------


def convert(source: str, rules: Rules) -> str:
    """Return the synchronous form of a module: valid Python, not formatted, perhaps with imports it no longer needs."""
    tokens = read_tokens(source)
    edits = [*dropped_lines(source, tokens, rules), *code_edits(source, tokens, rules), *text_edits(tokens, rules)]
    return apply(source, edits)


@dataclass(frozen=True)
class Token:
    type: int
    text: str
    start: int  # offsets into the source, not (row, column)
    end: int


def read_tokens(source: str) -> list[Token]:
    """Tokens with offsets. An f-string is one STRING, as before Python 3.12, so that all versions agree."""
    line_starts = [0]
    for line in io.StringIO(source):  # ends lines where tokenize does; splitlines() knows more ends
        line_starts.append(line_starts[-1] + len(line))
    opened = getattr(tokenize, "FSTRING_START", None)
    closed = getattr(tokenize, "FSTRING_END", None)
    tokens: list[Token] = []
    depth = begin = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        start = line_starts[token.start[0] - 1] + token.start[1]
        end = start + len(token.string)
        if token.type == opened:
            begin = begin if depth else start
            depth += 1
        elif token.type == closed:
            depth -= 1
            if not depth:
                tokens.append(Token(tokenize.STRING, source[begin:end], begin, end))
        elif not depth:
            tokens.append(Token(token.type, token.string, start, end))
    return tokens


def code_edits(source: str, tokens: list[Token], rules: Rules) -> Iterator[Edit]:
    code = [t for t in tokens if t.type in (tokenize.NAME, tokenize.OP, tokenize.NUMBER, tokenize.STRING)]
    partner = brackets(code)
    for i, token in enumerate(code):
        following = code[i + 1] if i + 1 < len(code) else token
        if token.type != tokenize.NAME:
            continue
        if token.text in ("async", "await"):
            yield token.start, following.start, ""
            if token.text == "await" and i and is_bare_group(source, code, i - 1, partner):
                yield code[i - 1].start, code[i - 1].end, ""
                close = code[partner[i - 1]]
                yield close.start, close.end, ""
        elif token.text in rules.unwrapped and following.text == "[":
            rules.used[token.text] += 1
            yield token.start, following.end, ""
            close = code[partner[i + 1]]
            yield close.start, close.end, ""
        elif token.text in rules.names:
            rules.used[token.text] += 1
            yield token.start, token.end, rules.names[token.text]


def brackets(code: list[Token]) -> dict[int, int]:
    """Index of each opening bracket → index of its closing one."""
    stack: list[int] = []
    partner: dict[int, int] = {}
    for i, token in enumerate(code):
        if token.type == tokenize.OP and token.text in "([{":
            stack.append(i)
        elif token.type == tokenize.OP and token.text in ")]}":
            partner[stack.pop()] = i
    return partner


def is_bare_group(source: str, code: list[Token], start: int, partner: dict[int, int]) -> bool:
    """Whether code[start] opens a group like `(await name.method(…))`, that needs no brackets once await is gone."""
    if start not in partner or code[start].text != "(":
        return False
    before = code[start - 1] if start else code[start]
    if before.text in (")", "]", "}") or (before.type == tokenize.NAME and not keyword.iskeyword(before.text)):
        return False  # a call
    i = start + 2
    while i < partner[start]:
        if i in partner:
            i = partner[i]
        elif code[i].text != "." and (code[i].type != tokenize.NAME or keyword.iskeyword(code[i].text)):
            return False  # an operator or a comma
        i += 1
        if "\n" in source[code[i - 1].end : code[i].start]:
            return False  # the brackets hold the lines together
    return "\n" not in source[code[start].end : code[start + 2].start]


def dropped_lines(source: str, tokens: list[Token], rules: Rules) -> Iterator[Edit]:
    line: list[Token] = []
    for token in tokens:
        if token.type == tokenize.NEWLINE:
            text = source[line[0].start : line[-1].end]
            if text in rules.dropped:
                rules.used[text] += 1
                yield source.rfind("\n", 0, line[0].start) + 1, token.end, ""
            line = []
        elif token.type not in (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT):
            line.append(token)


def text_edits(tokens: list[Token], rules: Rules) -> Iterator[Edit]:
    for token in tokens:
        if token.type in (tokenize.STRING, tokenize.COMMENT):
            yield token.start, token.end, convert_text(token.text, rules)


def convert_text(text: str, rules: Rules) -> str:
    """Whole words of a string or comment; the keywords only where they stand as in code."""
    if F_STRING.match(text):
        text = re.sub(r"\bawait ", "", text)
    text = re.sub(r"\basync (?=(?:def|with|for)\b)", "", text)
    text = re.sub(r"\bawait (?=[\w.]+[(\[])", "", text)
    words = "|".join(sorted(map(re.escape, rules.names), key=len, reverse=True))

    def replace(match: re.Match[str]) -> str:
        article, word = match.groups()
        rules.used[word] += 1
        new = rules.names[word]
        # "an AsyncStore" → "a Store"
        if article and word[0] in "Aa" and new[0] not in "AEIOUaeiou":
            article = article.replace("n", "", 1)
        return (article or "") + new

    return re.sub(rf"(\b[Aa]n\s+[`*]*)?\b({words})\b", replace, text)


def apply(source: str, edits: list[Edit]) -> str:
    pieces: list[str] = []
    position = 0
    for start, end, new in sorted(edits):
        if start < position:  # inside a line that is dropped as a whole
            continue
        pieces += [source[position:start], new]
        position = end
    return "".join([*pieces, source[position:]])


def leftovers(name: str, result: str) -> Iterator[str]:
    """A line for each asynchronous name in a generated file: one that no rule knows."""
    for token in tokenize.generate_tokens(io.StringIO(result).readline):
        if token.type == tokenize.NAME and FOREIGN.fullmatch(token.string):
            yield f"{name}:{token.start[0]}: no rule in scripts/unasync.py for {token.string!r}: {token.line.strip()}"


# --- all files --------------------------------------------------------------------------------------------------------


def header(source: str) -> str:
    return f"# Generated from {source} by scripts/unasync.py. Edit that file and run ./dev fix.\n"


def generate(root: pathlib.Path, rules: Rules) -> dict[str, str]:
    """What every generated file should hold, by its path relative to root."""
    wanted: dict[str, str] = {}
    for source_dir, target_dir in PAIRS:
        for path in sorted((root / source_dir).rglob("*.py")):
            source = path.relative_to(root).as_posix()
            target = f"{target_dir}/{path.relative_to(root / source_dir).as_posix()}"
            wanted[target] = header(source) + convert(path.read_text("utf-8"), rules)
    return tidy(wanted)


def tidy(files: dict[str, str]) -> dict[str, str]:
    """Format with ruff as the project does; sort imports and drop those that only asynchronous code needed."""
    if not files:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        ruff = [sys.executable, "-m", "ruff"]
        common = ["--config", str(ROOT / "pyproject.toml"), "--no-cache", "--quiet", folder]
        subprocess.run([*ruff, "check", "--fix-only", "--select", "I,F401", *common], check=True)
        subprocess.run([*ruff, "format", *common], check=True)
        return {name: pathlib.Path(folder, name).read_text("utf-8") for name in files}


def existing(root: pathlib.Path) -> dict[str, str]:
    return {
        path.relative_to(root).as_posix(): path.read_text("utf-8")
        for _, target_dir in PAIRS
        for path in sorted((root / target_dir).rglob("*.py"))
    }


def differences(found: dict[str, str], wanted: dict[str, str]) -> Iterator[str]:
    for name in sorted(found.keys() | wanted.keys()):
        old = found.get(name, "").splitlines(keepends=True)
        new = wanted.get(name, "").splitlines(keepends=True)
        yield from difflib.unified_diff(old, new, name, f"{name} (generated now)")


def write(root: pathlib.Path, found: dict[str, str], wanted: dict[str, str]) -> list[str]:
    """Make the files as wanted; return the names of those that changed."""
    changed = [name for name in sorted(found.keys() | wanted.keys()) if found.get(name) != wanted.get(name)]
    for name in changed:
        path = root / name
        if name in wanted:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(wanted[name], "utf-8")
        else:
            path.unlink()
    return changed


def main(argv: list[str], root: pathlib.Path = ROOT, rules: Rules | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 when a generated file is stale")
    options = parser.parse_args(argv)
    rules = rules or Rules(NAMES, UNWRAPPED, DROPPED)
    wanted, found = generate(root, rules), existing(root)
    if foreign := [line for name, text in wanted.items() for line in leftovers(name, text)]:
        print(*foreign, sep="\n", file=sys.stderr)
        return 1
    if strays := [name for name, text in found.items() if not text.startswith("# Generated from ")]:
        print(f"written by hand, in a folder that is generated: {', '.join(strays)}", file=sys.stderr)
        return 1
    diff = list(differences(found, wanted)) if options.check else []
    if diff:
        sys.stdout.writelines(diff)
        print("generated files are stale: run ./dev fix", file=sys.stderr)
    elif not options.check:
        for name in write(root, found, wanted):
            print(f"wrote {name}" if name in wanted else f"removed {name}")
    unused = rules.unused() if wanted else []
    if unused:
        print(f"rules that no file needs; remove them from scripts/unasync.py: {', '.join(unused)}", file=sys.stderr)
    return int(bool(diff or unused))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
