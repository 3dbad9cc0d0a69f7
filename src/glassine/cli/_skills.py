"""`glassine skills`: the skills in a folder, in a bucket, or in the database."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, TypeVar

import click

import glassine

from ._errors import MissingError, MisuseError
from ._finding import find_session
from ._input import content, print_raw
from ._output import iso, note, print_json, print_json_lines, screen
from ._settings import Settings, settings, shared_options
from ._table import moment, table
from ._text import line, size, visible

F = TypeVar("F", bound=Callable[..., Any])
TABLE: Final = "table"
SHARED: Final = "glassine-cli"
"""The name of a session that is only spoken through, when skills of a namespace are looked at: nothing is stored in
it."""
_NO_TEXTS = ("url_or_store", "prefix", "keys", "writable", "retry_config", "client_options", "credential_provider")
"""What SkillBucket takes beside the options of a store that are texts."""
_FENCE = re.compile(r"---[ \t]*\r?\n")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


class Listed(NamedTuple):
    """A skill as it is listed. `updated_at` is None where it is not known."""

    key: str
    description: str
    size: int
    updated_at: datetime | None


class Shelf(Protocol):
    """Where skills are."""

    def list(self) -> Sequence[Listed | glassine.Skill]: ...
    def warnings(self) -> Sequence[str]: ...
    def load(self, key: str) -> str | None: ...
    def set(self, key: str, content: str, description: str | None = None) -> bool: ...
    def remove(self, key: str) -> bool: ...


class Table:
    """Skills that are entries of a block in the database."""

    def __init__(self, session: glassine.Session, label: str) -> None:
        self._session, self._label = session, label

    def list(self) -> Sequence[Listed]:
        found = self._session.entries(self._label)
        return [Listed(entry.key, entry.description or "", entry.size, entry.updated_at) for entry in found]

    def warnings(self) -> Sequence[str]:
        return []

    def load(self, key: str) -> str | None:
        return self._session.load_skill(self._label, key)

    def set(self, key: str, content: str, description: str | None = None) -> bool:
        there = self._session.entry(self._label, key) is not None
        self._session.put_entry(self._label, key, content, description=description)
        return there

    def remove(self, key: str) -> bool:
        return self._session.remove_entry(self._label, key)


@dataclass(frozen=True)
class Place:
    """SOURCE, and the options that say more of it."""

    source: str = field(repr=False)
    prefix: str
    endpoint: str | None
    options: tuple[str, ...] = field(repr=False)
    session: str | None
    label: str | None

    @contextmanager
    def open(self, *, writing: bool = False) -> Iterator[Shelf]:
        """The skills that are there. `writing` makes the database where it is missing."""
        in_table, in_bucket = self.source == TABLE, _URL.match(self.source) is not None
        if not in_table and (self.session is not None or self.label is not None):
            raise MisuseError(f"--session and --label go with {TABLE}")
        if not in_bucket and (self.prefix or self.endpoint or self.options):
            raise MisuseError("--prefix, --endpoint and --option go with the URL of a bucket")
        if in_bucket:
            yield self._bucket()
        elif in_table:
            with self._table(settings(), writing) as shelf:
                yield shelf
        else:
            if not writing and not Path(self.source).is_dir():
                raise MissingError(f"there is no folder {self.source}")
            yield glassine.SkillDirectory(self.source, writable=True)

    def _bucket(self) -> Shelf:
        options: dict[str, Any] = {} if self.endpoint is None else {"endpoint": self.endpoint}
        for option in self.options:
            name, equals, value = option.partition("=")
            if not name or not equals:  # what was given is not shown: it may be a secret
                raise MisuseError("--option has the form KEY=VALUE")
            if name in _NO_TEXTS:
                raise MisuseError(f"{name!r} cannot be given as --option")
            options[name] = value
        return glassine.SkillBucket(self.source, prefix=self.prefix, writable=True, **options)

    @contextmanager
    def _table(self, chosen: Settings, writing: bool) -> Iterator[Shelf]:
        label = "skills" if self.label is None else self.label
        shared = self.session is None
        with chosen.writable() if writing and shared else chosen.existing() as store:
            id = SHARED if self.session is None else find_session(store, self.session).id
            spec = glassine.SessionSpec().with_context(
                label, provider=glassine.SkillTable(writable=True), scope="namespace" if shared else "session"
            )
            yield Table(store.session(id, spec), label)


def placed(command: F) -> F:
    """Give a command the options of SOURCE; it gets all of them as the argument `place`.

    It stands directly above the function; the argument `source` stands above the other arguments.
    """

    def collected(
        source: str,
        prefix: str,
        endpoint: str | None,
        option: tuple[str, ...],
        session: str | None,
        label: str | None,
        **others: Any,
    ) -> Any:
        return command(Place(source, prefix, endpoint, option, session, label), **others)

    collected.__doc__, collected.__name__ = command.__doc__, command.__name__
    wrapped: Any = shared_options(collected)
    for more in (
        click.option("--label", metavar="LABEL", help=f"In the {TABLE}, the block's label.  [default: skills]"),
        click.option("--session", metavar="ID", help=f"In the {TABLE}, the session's own instead of the namespace's."),
        click.option("--option", metavar="KEY=VALUE", multiple=True, help="Another option of the bucket."),
        click.option("--endpoint", metavar="URL", help="The server of the bucket, where it is not the usual one."),
        click.option("--prefix", metavar="PATH", default="", help="Only what is below this path in the bucket."),
    ):
        wrapped = more(wrapped)
    return wrapped  # type: ignore[no-any-return]


@click.group()
@shared_options
def skills() -> None:
    """List, read, write and remove skills.

    \b
    SOURCE is one of
      a folder                      with SKILL.md files, or plain Markdown
      s3://…, gs://…, az://…        a bucket; also file:///…
      table                         the database: the namespace's, or --session

    A folder of the name `table` is ./table. Credentials of a bucket are found where the provider's own tools find
    them (AWS_ACCESS_KEY_ID, …); what is given as --option other users of this computer may see.
    """


@skills.command("list")
@click.argument("source")
@placed
def list_(place: Place) -> None:
    """List the skills of SOURCE.

    What is wrong with them is said on stderr. --json prints one object a line.
    """
    with place.open() as shelf:
        found, warnings = shelf.list(), shelf.warnings()
    for warning in warnings:
        note(warning)
    if settings().json:
        print_json_lines(
            {
                "key": skill.key,
                "description": skill.description,
                "bytes": skill.size,
                "updatedAt": iso(skill.updated_at),
            }
            for skill in found
        )
        return
    if not found:
        note("there are no skills")
        return
    out = screen()
    rows = [
        {
            "key": line(skill.key),
            "description": line(skill.description),
            "size": size(skill.size),
            "updated": moment(skill.updated_at, out.width),
        }
        for skill in found
    ]
    for row in table(rows, out.width, flexible="description", right=("size",)):
        out.print(row)


@skills.command()
@click.argument("source")
@click.argument("key")
@click.option("--raw", is_flag=True, help="Print the text byte for byte, for a file or a pipe.")
@placed
def get(place: Place, key: str, raw: bool) -> None:
    """Print the skill KEY of SOURCE as a model reads it, or a file of a skill.

    --json prints one object.
    """
    if raw and settings().json:
        raise MisuseError("--raw and --json exclude each other")
    with place.open() as shelf:
        text = shelf.load(key)
    if text is None:
        raise _missing([key])
    if settings().json:
        print_json({"key": key, "content": text})
    elif raw:
        print_raw(text)
    else:
        screen().print(visible(text))


@skills.command()
@click.argument("source")
@click.argument("key")
@click.argument("file", metavar="FILE|-")
@click.option("--description", metavar="TEXT", help="The line of the listing.  [default: as it is, or of the text]")
@placed
def put(place: Place, key: str, file: str, description: str | None) -> None:
    """Write the skill KEY of SOURCE from a file, or from what is piped in (-).

    One that is there is replaced; its front matter stays unless FILE brings another. A table has no front matter:
    give --description. --json prints one object.
    """
    text = content(file)
    if place.source == TABLE and description is None and _FENCE.match(text):
        note("front matter is stored as text in a table; its description is what --description says")
    with place.open(writing=True) as shelf:
        replaced = shelf.set(key, text, description)
    if settings().json:
        print_json({"key": key, "replaced": replaced})
    else:
        screen().print(f"{line(key)} is {'replaced' if replaced else 'new'}")


@skills.command()
@click.argument("source")
@click.argument("keys", nargs=-1, required=True, metavar="KEY...")
@placed
def rm(place: Place, keys: tuple[str, ...]) -> None:
    """Remove the skills KEY… of SOURCE, with all their files.

    Exit code 3: some were not there; the others are removed all the same. --json prints one object a line.
    """
    with place.open() as shelf:
        removed = {key: shelf.remove(key) for key in dict.fromkeys(keys)}
    if settings().json:
        print_json_lines({"key": key, "removed": done} for key, done in removed.items())
    else:
        out = screen()
        for key in (key for key, done in removed.items() if done):
            out.print(f"{line(key)} is removed")
    if missing := [key for key, done in removed.items() if not done]:
        raise _missing(missing)


def _missing(keys: Sequence[str]) -> MissingError:
    what = "there is no skill" if len(keys) == 1 else "there are no skills"
    return MissingError(f"{what} {', '.join(map(repr, keys))}", "`glassine skills list` lists them.")
