"""Finding what a person means by the beginning of an id."""

from __future__ import annotations

from collections.abc import Sequence

import glassine

from ..errors import NotFoundError
from ._errors import MissingError, MisuseError
from ._text import count, line

SHOWN = 10
SHORT = 8
"""Characters of an id that are shown where room is short; more where these do not tell ids apart."""


def matching(prefix: str, ids: Sequence[str]) -> list[str]:
    """The ids meant by `prefix`: itself, else those that begin with it, else those whose last part (behind a `/`)
    does. A session stands for itself, not for the subagents whose ids begin with its own."""
    if prefix in ids:
        return [prefix]
    found = [id for id in ids if id.startswith(prefix)]
    found = found or [id for id in ids if id.rpartition("/")[2].startswith(prefix)]
    return [id for id in found if not any(id.startswith(f"{other}/") for other in found)]


def short_ids(ids: Sequence[str], length: int = SHORT) -> dict[str, str]:
    """For each id its shortest beginning, of at least `length` characters, that `matching` resolves to it."""
    order = sorted(set(ids))
    shown = {}
    for index, id in enumerate(order):
        # In sorted order, the ids with the longest common beginning are neighbours.
        around = [*order[max(index - 1, 0) : index], *order[index + 1 : index + 2]]
        need = max((_common(id, other) + 1 for other in around), default=0)
        short = id[: max(length, need)]
        if matching(short, [id, *around]) != [id]:
            short = id
        shown[id] = short
    return shown


def find_session(store: glassine.Store, prefix: str) -> glassine.SessionInfo:
    """The session whose id is, or uniquely begins with, `prefix`."""
    try:
        return store.session(prefix).info()
    except (NotFoundError, ValueError):
        infos = {info.id: info for info in store.sessions()}
    found = matching(prefix, list(infos))
    if len(found) == 1:
        return infos[found[0]]
    if not found:
        raise MissingError(f"no session begins with {prefix!r}", "`glassine sessions` lists them.")
    raise ambiguous(prefix, "sessions", [f"{id}  {infos[id].title or ''}" for id in found])


def find_message(session: glassine.Session, prefix: str) -> str:
    """The id of the message of `session` that is, or uniquely begins with, `prefix`."""
    found = matching(prefix, [node.id for node in session.outline()])
    if len(found) == 1:
        return found[0]
    if not found:
        raise MissingError(
            f"no message of session {session.id!r} begins with {prefix!r}",
            f"`glassine show {session.id} --tree` shows their ids.",
        )
    raise ambiguous(prefix, "messages", found)


def ambiguous(prefix: str, noun: str, candidates: Sequence[str]) -> MisuseError:
    """The error for a beginning that fits several; `noun` is their plural."""
    shown = [f"  {line(candidate)}" for candidate in candidates[:SHOWN]]
    if len(candidates) > SHOWN:
        shown.append(f"  … and {len(candidates) - SHOWN} more")
    return MisuseError(
        f"{prefix!r} is the beginning of {count(len(candidates), noun, noun)}; give more of it",
        "\n".join(shown),
    )


def _common(one: str, two: str) -> int:
    length = 0
    for a, b in zip(one, two, strict=False):
        if a != b:
            break
        length += 1
    return length
