"""`glassine tokens`: how many tokens a text or a conversation takes, by family of models."""

from __future__ import annotations

import gzip
import os
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click

import glassine

from ..tokens import FAMILIES, TokenCounter, estimate_all, family_of, o200k_counter
from ._errors import MisuseError, UnusableError
from ._finding import find_session
from ._output import print_json, screen
from ._settings import settings, shared_options
from ._text import count, line, size

STDIN: Final = "-"
EXACT: Final = "o200k, exact"
_GZIP_MAGIC: Final = b"\x1f\x8b"


@click.command()
@click.argument("source", metavar="FILE|SESSION|-")
@click.option("--exact", is_flag=True, help="Count o200k exactly too. Needs toktok-rs: pip install 'glassine[exact]'.")
@shared_options
def tokens(source: str, exact: bool) -> None:
    """Estimate the tokens of a file, of a conversation, or of what is piped in (-).

    Of a conversation, the path to its active leaf is counted: as it is stored, and as it is shown, with summaries in
    place of what they cover. SESSION may be the beginning of an id; a file of that name goes first.

    \b
    Families:
      o200k     OpenAI's GPT-4o and later, the o-series, gpt-oss
      claude3   Claude 3 to 4.6
      claude48  Claude 4.7 and later
      gemma3    Gemini and Gemma
      safe      any other model

    --json prints one object.
    """
    counter = _counter() if exact else None
    if source == STDIN:
        _text("stdin", sys.stdin.buffer.read(), counter)
    elif Path(source).is_file():
        _text(source, _read(Path(source)), counter)
    elif Path(source).is_dir() and os.sep in source:
        raise MisuseError(f"{source}: a folder; name a file in it")
    else:
        _session(source, counter)


def _counter() -> TokenCounter:
    try:
        return o200k_counter()
    except ModuleNotFoundError as error:
        raise MisuseError(str(error)) from error


def _read(path: Path) -> bytes:
    try:
        data = path.read_bytes()
        return gzip.decompress(data) if data.startswith(_GZIP_MAGIC) else data
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise UnusableError(f"{path}: damaged gzip: {error}") from error
    except OSError as error:
        raise UnusableError(f"{path}: {error.strerror}") from error


def _text(name: str, data: bytes, counter: TokenCounter | None) -> None:
    text = data.decode("utf-8", "replace")
    found = _by_family(estimate_all(text))
    exact = None if counter is None else counter(text)
    if settings().json:
        about = {"source": name, "bytes": len(data), "characters": len(text)}
        print_json({**about, "tokens": found, "exact": exact})
        return
    rows = [("family", "tokens", "characters/token")]
    for family, tokens in _with_exact(found, exact).items():
        rows.append((family, f"{tokens:,}", f"{len(text) / tokens:.2f}" if tokens else "–"))
    out = screen()
    out.print(line(name), style="bold")
    out.print(f"{count(len(text), 'character')} · {size(len(data))}\n", style="dim")
    for row in _table(rows):
        out.print(row)


def _session(prefix: str, counter: TokenCounter | None) -> None:
    chosen = settings()
    with chosen.existing() as store:
        info = find_session(store, prefix)
        session = store.session(info.id)
        views = {"stored": True, "shown": False}
        totals = {name: session.totals(raw=raw) for name, raw in views.items()}
        exact = {
            name: None if counter is None else session.count_tokens(counter, raw=raw) for name, raw in views.items()
        }
    if chosen.json:
        print_json({"sessionId": info.id, **{name: _view_json(totals[name], exact[name]) for name in views}})
        return
    tokens = {name: _with_exact(_by_family(totals[name][2:]), exact[name]) for name in views}
    rows = [
        ("family", *views),
        *((family, *(f"{tokens[name][family]:,}" for name in views)) for family in tokens["stored"]),
    ]
    out = screen()
    out.print(line(info.title or "(no title)"), style="bold")
    out.print(line(info.id), style="yellow")
    for name, total in totals.items():
        out.print(f"{name:<7} {count(total.messages, 'message')}, {size(total.size)}", style="dim")
    out.print()
    own = None if info.model is None else family_of(info.model)
    for (family, *_), row in zip(rows, _table(rows), strict=True):
        out.print(f"{row}  ◀ {line(str(info.model))}" if family == own else row)


def _view_json(total: glassine.Totals, exact: int | None) -> dict[str, Any]:
    return {
        "messages": total.messages,
        "bytes": total.size,
        "tokens": _by_family(total[2:]),
        "exact": exact,
    }


def _by_family(numbers: Sequence[int]) -> dict[str, int]:
    return dict(zip(FAMILIES, numbers, strict=True))


def _with_exact(found: Mapping[str, int], exact: int | None) -> dict[str, int]:
    return {**found} if exact is None else {**found, EXACT: exact}


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *others in rows:
        cells = (f"{cell:>{width}}" for cell, width in zip(others, widths[1:], strict=True))
        yield f"{first:<{widths[0]}}  {'  '.join(cells)}"
