"""What all commands share: which database, which namespace, text or JSON. The options may stand before the command
or behind it; the later one counts."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

import glassine

from ._errors import MissingError, UnusableError

F = TypeVar("F", bound=Callable[..., Any])
MEMORY = ":memory:"


@dataclass
class Settings:
    """`json` asks for JSON on stdout instead of text."""

    db: str | None = None
    namespace: str = "default"
    json: bool = False

    @property
    def location(self) -> str:
        """The database: --db, else $GLASSINE_DB, else the platform's place for the data of programs."""
        return self.db or os.environ.get("GLASSINE_DB") or str(_default())

    def existing(self) -> glassine.Store:
        """The store, when it is there. Reading never makes a database."""
        if self.location != MEMORY and not Path(self.location).expanduser().exists():
            raise MissingError(
                f"there is no database at {self.location}",
                "`glassine import` makes one from the transcripts in ~/.claude/projects; `glassine import PATH` from "
                "others.\nIf yours is somewhere else, name it with --db or in $GLASSINE_DB.",
            )
        return self._open(self.location)

    def writable(self) -> glassine.Store:
        """The store, made if it is not there."""
        if self.location == str(_default()):
            try:
                _default().parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise UnusableError(f"{_default().parent}: {error.strerror}") from error
        return self._open(self.location)

    def rehearsal(self) -> glassine.Store:
        """A store to compare with, not to write to: an empty one in memory when the database is not there."""
        there = Path(self.location).expanduser().exists()
        return self._open(self.location if there else MEMORY)

    def _open(self, location: str) -> glassine.Store:
        return glassine.open(location, namespace=self.namespace)


def shared_options(command: F) -> F:
    """Give a command --db, --namespace and --json; `settings()` has their values."""
    for option in (
        click.option("--json", is_flag=True, expose_value=False, callback=_keep, help="Print JSON."),
        click.option(
            "--namespace",
            metavar="NAME",
            expose_value=False,
            callback=_keep,
            help="Tenant or user.  [default: default]",
        ),
        click.option(
            "--db",
            metavar="PATH",
            expose_value=False,
            callback=_keep,
            help="The database.  [default: $GLASSINE_DB, else glassine.db in the user's data folder]",
        ),
    ):
        command = option(command)
    return command


def settings() -> Settings:
    """Those of the command that is running."""
    return click.get_current_context().find_root().ensure_object(Settings)


def _keep(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    if value:
        setattr(ctx.find_root().ensure_object(Settings), str(param.name), value)


def _default() -> Path:
    # Imported here: no other part of the program needs it, and most runs name their database.
    import platformdirs

    return Path(platformdirs.user_data_dir("glassine", appauthor=False)) / "glassine.db"
