"""Running the checks and gathering what failed."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterator
from fnmatch import fnmatchcase
from types import ModuleType

from glassine import AsyncStore

from .._expecting import StoreCheckError
from . import (
    appending,
    beside,
    changing,
    compacting,
    counting,
    entries,
    ingesting,
    loading,
    owning,
    placing,
    reading,
    remembering,
    searching,
    summarising,
    values,
)

CheckFunction = Callable[[AsyncStore], Awaitable[None]]


def _checks(module: ModuleType) -> Iterator[tuple[str, CheckFunction]]:
    theme = module.__name__.rpartition(".")[2]
    for name, function in vars(module).items():
        if inspect.isfunction(function) and function.__module__ == module.__name__ and not name.startswith("_"):
            yield f"{theme}.{name}", function


_ALL: dict[str, CheckFunction] = {
    name: check
    for module in (
        appending,
        placing,
        reading,
        changing,
        summarising,
        counting,
        searching,
        ingesting,
        values,
        owning,
        beside,
        remembering,
        loading,
        compacting,
        entries,
    )
    for name, check in _checks(module)
}
CHECKS: tuple[str, ...] = tuple(_ALL)
"""The names of all checks."""


async def check_store_async(make_store: Callable[[], AsyncStore], *, only: str = "*") -> None:
    """Run the checks whose name fits `only` (a name of CHECKS, or a pattern with `*`), each on a new, empty store.

    Raises StoreCheckError, which names every check that failed, and ValueError when no check fits.
    """
    chosen = {name: check for name, check in _ALL.items() if fnmatchcase(name, only)}
    if not chosen:
        raise ValueError(f"no check fits {only!r}; glassine.testing.CHECKS has their names")
    failures: dict[str, Exception] = {}
    for name, check in chosen.items():
        try:
            async with make_store() as store:
                await check(store)
        except Exception as error:
            error.add_note(f"in check {name!r}")
            failures[name] = error
    if failures:
        raise StoreCheckError(failures, len(chosen)) from ExceptionGroup("failed checks", list(failures.values()))
