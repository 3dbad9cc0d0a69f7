"""What kind of block a provider makes, decided once, from the methods it has.

    get                 read-only
    get, set            writable
    get, search         searchable      with `set` too, its entries can be written
    get, load           loadable        the same

`init(label)` is called once before the first use, where there is one. Methods may be coroutine functions; then all of
the provider belongs to an async session.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from .blocks import BlockKind
from .errors import InvalidSpecError


class SearchableEntries:
    """Entries that are stored in the database and found by full-text search, in any language.

    The prompt shows how many there are; the model looks in them with `search_context` and adds to them with
    `set_context`. A recipe: each session (or, with `scope="namespace"`, each namespace) has entries of its own.
    """

    kind: Literal["searchable"] = "searchable"

    def __repr__(self) -> str:
        return "SearchableEntries()"


class SkillTable:
    """Skills that are stored in the database. The prompt lists them; the model loads them with `load_context`.

    With `writable` the model may add and change them by `set_context`. A recipe, like SearchableEntries.
    """

    kind: Literal["loadable"] = "loadable"

    def __init__(self, *, writable: bool = False) -> None:
        self.writable = writable

    def __repr__(self) -> str:
        return f"SkillTable(writable={self.writable})"


StoredEntries = (SearchableEntries, SkillTable)


class Shape(NamedTuple):
    """What a caller's provider can do. `described`: its `set` takes a description beside key and content."""

    kind: BlockKind
    writable: bool
    appends: bool
    described: bool
    coroutine: bool


def shape_of(label: str, provider: object) -> Shape:
    """The shape of a caller's provider. Raises InvalidSpecError for one that makes no block."""
    methods = {
        name: method for name in ("get", "set", "append", "search", "load", "init") if (method := _of(provider, name))
    }
    if "get" not in methods:
        raise InvalidSpecError(label, f"its provider ({type(provider).__name__}) has no method `get`")
    kind: BlockKind = "readonly"
    if "search" in methods:
        kind = "searchable"
    elif "load" in methods:
        kind = "loadable"
    elif "set" in methods:
        kind = "writable"
    elif "append" in methods:
        raise InvalidSpecError(label, "its provider has `append`, but no `set`")
    # An object may say that its `set` is not for models: a directory or a bucket opened for reading.
    writable = "set" in methods and getattr(provider, "writable", True) is not False
    if not writable and kind == "writable":
        kind = "readonly"
    return Shape(
        kind,
        writable,
        kind == "writable" and "append" in methods,
        writable and _takes_description(methods["set"]),
        any(inspect.iscoroutinefunction(method) for method in methods.values()),
    )


def _of(provider: object, name: str) -> Callable[..., Any] | None:
    method = getattr(provider, name, None)
    return method if callable(method) else None


def _takes_description(method: Callable[..., Any]) -> bool:
    try:
        inspect.signature(method).bind("key", "content", "description")
    except (TypeError, ValueError):
        return False
    return True
