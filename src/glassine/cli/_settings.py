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

from ..errors import SchemaVersionError
from ..urls import is_postgres, without_secrets
from ._errors import MissingError, UnusableError

F = TypeVar("F", bound=Callable[..., Any])
MEMORY = ":memory:"


@dataclass
class Settings:
    """`json` asks for JSON on stdout instead of text; `namespace_given` says that --namespace was there."""

    db: str | None = None
    namespace: str = "default"
    json: bool = False
    namespace_given: bool = False

    @property
    def location(self) -> str:
        """The database: --db, else $GLASSINE_DB, else the platform's place for the data of programs."""
        return self.db or os.environ.get("GLASSINE_DB") or str(_default())

    @property
    def shown(self) -> str:
        """The same, as it may be shown: without a password."""
        return without_secrets(self.location)

    def existing(self) -> glassine.Store:
        """The store, when it is there. Reading never makes a database."""
        if is_postgres(self.location):
            return self._existing_postgres()
        if self.location != MEMORY and not Path(self.location).expanduser().exists():
            raise self._missing(f"there is no database at {self.location}")
        if Path(self.location).expanduser().is_dir():
            raise UnusableError(f"{self.location}: a folder, not a database", "Name a file with --db.")
        return self.opened()

    def _existing_postgres(self) -> glassine.Store:
        try:
            return self.opened(migrate=False)
        except SchemaVersionError as error:
            if not error.actual:
                raise self._missing(str(error)) from error
            if error.actual > error.limit:
                raise
        return self.opened()

    def _missing(self, what: str) -> MissingError:
        return MissingError(
            what,
            "`glassine import` makes one from the transcripts in ~/.claude/projects; `glassine import PATH` from "
            "others.\nIf yours is somewhere else, name it with --db or in $GLASSINE_DB.",
        )

    def writable(self) -> glassine.Store:
        """The store, made if it is not there."""
        if self.location == str(_default()):
            try:
                _default().parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise UnusableError(f"{_default().parent}: {error.strerror}") from error
        return self.opened()

    def rehearsal(self) -> glassine.Store:
        """A store to compare with, not to write to: an empty one in memory when the database is not there."""
        try:
            return self.existing()
        except MissingError:
            return self.opened(MEMORY)

    def opened(self, location: str | None = None, *, migrate: bool = True) -> glassine.Store:
        return glassine.open(location or self.location, namespace=self.namespace, migrate=migrate)


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
            metavar="PATH|URL",
            expose_value=False,
            callback=_keep,
            help="The database: a file, or a postgresql:// URL.  "
            "[default: $GLASSINE_DB, else glassine.db in the user's data folder]",
        ),
    ):
        command = option(command)
    return command


def settings() -> Settings:
    """Those of the command that is running."""
    return click.get_current_context().find_root().ensure_object(Settings)


def _keep(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    if value:
        chosen = ctx.find_root().ensure_object(Settings)
        setattr(chosen, str(param.name), value)
        chosen.namespace_given |= param.name == "namespace"


def _default() -> Path:
    # Imported here: no other part of the program needs it, and most runs name their database.
    import platformdirs

    return Path(platformdirs.user_data_dir("glassine", appauthor=False)) / "glassine.db"
