"""The named statements of an engine, read from its `queries.sql`."""

from __future__ import annotations

import pkgutil
import re
from functools import cache
from types import SimpleNamespace
from typing import TYPE_CHECKING

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


class Queries(SimpleNamespace):
    """One attribute per statement, its SQL as the value."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> str: ...


def read(path: str) -> str:
    data = pkgutil.get_data("glassine", f"sql/{path}")
    assert data is not None, path
    return data.decode()


@cache
def load(engine: str) -> Queries:
    """The statements of `sql/<engine>/queries.sql`: comments before a name belong to people."""
    pieces = _NAME.split(read(f"{engine}/queries.sql"))
    statements = {}
    for name, text in zip(pieces[1::2], pieces[2::2], strict=True):
        lines = [line for line in text.strip().splitlines() if line.strip() and not line.startswith("--")]
        statements[name] = "\n".join(lines).rstrip().removesuffix(";")
    return Queries(**statements)
