"""Errors as a person at a terminal needs them: one line that names the thing, one that says what to do."""

from __future__ import annotations

import errno
import os
import sys
from typing import IO, Any, NoReturn

import click

from ..errors import (
    CorruptMessageError,
    GlassineError,
    InvalidError,
    NotADatabaseError,
    NotFoundError,
    SchemaVersionError,
    StoreBusyError,
    StoreError,
    StorePermissionError,
    StoreReadOnlyError,
    StoreUnavailableError,
)
from ._text import line

PROBLEMS = 1
"""The exit code of a command that did its work and found something wrong."""


class CommandError(click.ClickException):
    """An expected failure: what it is, and what to do about it. Its subclasses are the exit codes."""

    exit_code = PROBLEMS

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"glassine: {line(self.message)}", file=file, err=file is None)
        if self.hint:
            click.echo(self.hint, file=file, err=file is None)


class MisuseError(CommandError):
    """The command was called in a way that cannot work."""

    exit_code = 2


class MissingError(CommandError):
    """What was named is not there."""

    exit_code = 3


class UnusableError(CommandError):
    """The database cannot be used."""

    exit_code = 4


class InterruptedCommandError(CommandError):
    """Somebody pressed Ctrl-C. (128 and the number of the signal, as shells count.)"""

    exit_code = 130


_KINDS: tuple[tuple[type[GlassineError], type[CommandError]], ...] = (
    (NotFoundError, MissingError),
    (StoreError, UnusableError),
    (InvalidError, MisuseError),
    (GlassineError, CommandError),
)
_HINTS: tuple[tuple[type[GlassineError], str], ...] = (
    (StoreBusyError, "Another program is writing to it. Try again in a moment."),
    (NotADatabaseError, "Name another file with --db."),
    (SchemaVersionError, "Upgrade glassine, or name another file with --db."),
    (StoreUnavailableError, "Is the server running, and are host, database and role right?"),
    (StorePermissionError, "Name another role in the URL, or have the right granted."),
    (StoreReadOnlyError, "Check the permissions of the file and its folder."),
    (CorruptMessageError, "`glassine verify` looks at everything, `glassine repair` mends what can be mended."),
)


class Group(click.Group):
    """A group whose commands may raise what the library raises."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()  # here, where a reader that has gone is expected
            return result
        except GlassineError as error:
            raise _translated(error) from error
        except KeyboardInterrupt:
            raise InterruptedCommandError("interrupted") from None
        except OSError as error:
            if error.errno == errno.EPIPE:
                leave_broken_pipe()
            if error.filename is None:
                raise
            raise UnusableError(f"{error.filename}: {error.strerror}") from error


def leave_broken_pipe() -> NoReturn:
    """End quietly when the reader of our output has gone (`| head`): it has all that it wanted."""
    # The interpreter flushes stdout once more at its end; that must not fail either.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(0)


def _translated(error: GlassineError) -> CommandError:
    kind = next(ours for theirs, ours in _KINDS if isinstance(error, theirs))
    hint = next((hint for theirs, hint in _HINTS if isinstance(error, theirs)), "")
    return kind(str(error), hint)
