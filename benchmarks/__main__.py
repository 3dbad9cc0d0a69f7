"""Run the benchmarks and print one table. Exits with 1 when a bar is missed."""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import sys
from collections.abc import Iterator

import click
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from . import __path__ as folder
from ._measure import Figure


def modules() -> list[str]:
    return [found.name for found in pkgutil.iter_modules(folder) if not found.name.startswith("_")]


def figures(names: tuple[str, ...], console: Console) -> Iterator[Figure]:
    for name in names or modules():
        run = getattr(importlib.import_module(f"{__package__}.{name}"), "run", None)
        if run is None:
            if names:
                raise click.UsageError(f"{name} has no run(), which gives rows of (name, ratio, bar)")
            continue
        with console.status(f"measuring {name}"):
            for row in run():
                yield Figure(*row)


CAPTION = "ratio: of the median blocks; spread: quartiles of neighbouring blocks; wall: the ratio by the wall clock"


def table(rows: list[Figure]) -> Table:
    shown = Table(box=box.SIMPLE_HEAD, caption=CAPTION)
    shown.add_column("benchmark", overflow="fold")
    for title in ("ratio", "spread", "wall", "bar"):
        shown.add_column(title, justify="right", no_wrap=True)
    shown.add_column("ok")
    for row in rows:
        spread = "" if row.low is None or row.high is None else f"{row.low:.2f}–{row.high:.2f}"
        shown.add_row(
            Text(row.name),
            f"{row.ratio:.3f}{row.unit and ' ' + row.unit}",
            spread,
            "" if row.wall is None else f"{row.wall:.2f}",
            "" if row.bar is None else f"≤ {row.bar:g}",
            "" if row.bar is None else Text("yes", "green") if row.ok else Text("MISSED", "bold red"),
        )
    return shown


@click.command(help=__doc__)
@click.argument("names", nargs=-1, type=click.Choice(modules()), metavar="[NAME]...")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list instead of a table.")
@click.option("--quick", is_flag=True, help="A quarter of the blocks: for a first look.")
def main(names: tuple[str, ...], as_json: bool, quick: bool) -> None:
    if quick:
        os.environ["GLASSINE_BENCH_QUICK"] = "1"
    rows = list(figures(names, Console(stderr=True)))
    if as_json:
        print(json.dumps([{**row._asdict(), "ok": row.ok} for row in rows], indent=2, ensure_ascii=False))
    else:
        Console().print(table(rows))
    sys.exit(not all(row.ok for row in rows))


if __name__ == "__main__":
    main(prog_name="python -m benchmarks")
