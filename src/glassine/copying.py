"""Copying between stores: when a session may be written, and by what two of them are known to be the same."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal, NamedTuple

Outcome = Literal["copied", "updated", "same", "deleted"]
Fault = Literal["diverged", "busy", "checksum"]
Decision = Literal["new", "changed", "same", "compare", "diverged"]

DELETED_HERE = "it was deleted in the target"
CHANGED_HERE = "it was changed in the target since it was copied"
ANOTHER = "the target has another session of this id"
OLDER = "the target has a later state of it than the source"
DELETED_THERE = "it was deleted in the source, but changed in the target since it was copied"


class Original(NamedTuple):
    """A session of the source: its key, id, change number and when it was made (microseconds)."""

    key: int
    id: str
    change: int
    created_at: int


class State(NamedTuple):
    """What the target knows of an id: the session's change number and creation, the change number a copy left it at,
    and when a session of this id was deleted. None: there is no such thing."""

    change: int | None
    created_at: int | None
    copied: int | None
    deleted_at: int | None

    @property
    def untouched(self) -> bool:
        """Whether the session is there just as a copy left it."""
        return self.change is not None and self.change == self.copied


class Verdict(NamedTuple):
    decision: Decision
    reason: str = ""


def judge(original: Original, state: State) -> Verdict:
    """What to do with a session of the source. Invariant: only what a copy made, and nobody wrote to since, is
    replaced; "compare" asks for a look at the contents, since equal ones need nothing."""
    if state.change is None:
        if state.deleted_at is not None and state.deleted_at >= original.created_at:
            return Verdict("diverged", DELETED_HERE)
        return Verdict("new")
    if state.created_at != original.created_at:
        return Verdict("diverged", ANOTHER)
    if state.untouched:
        if state.change == original.change:
            return Verdict("same")
        return Verdict("changed") if state.change < original.change else Verdict("diverged", OLDER)
    if state.change == original.change:
        return Verdict("compare")
    return Verdict("diverged", ANOTHER if state.copied is None else CHANGED_HERE)


def judge_shared(same: bool, change: int) -> Decision:
    """What to do with an entry of a namespace that the target has too. `change` is its number there: 0 is what a copy
    wrote."""
    if same:
        return "same"
    return "diverged" if change else "changed"


class Fingerprint:
    """SHA-256 over values, in their order, such that different values never look alike. What the engines write
    differently (truth values) counts as the same."""

    def __init__(self) -> None:
        self._hash = sha256()

    def add(self, values: Iterable[Any]) -> None:
        """Values are None, numbers, text, bytes, and sequences of these."""
        for value in values:
            if isinstance(value, (tuple, list)):
                self._hash.update(b"(%d:" % len(value))
                self.add(value)
            else:
                kind, data = _bytes(value)
                self._hash.update(b"%b%d:" % (kind, len(data)))
                self._hash.update(data)

    def hex(self) -> str:
        return self._hash.hexdigest()


def _bytes(value: Any) -> tuple[bytes, bytes]:
    if value is None:
        return b"n", b""
    if isinstance(value, str):
        return b"s", value.encode("utf-8", "surrogatepass")
    if isinstance(value, float):
        return b"f", value.hex().encode()
    if isinstance(value, int):
        return b"i", b"%d" % value
    return b"b", bytes(value)


@dataclass(frozen=True, slots=True)
class CopyProblem:
    """What was not copied: a session, or (`session_id` is "") something that belongs to its whole namespace. `code` is
    stable: "diverged" (the target's was changed by others, or is another one: it is left alone), "busy" (others wrote
    to it, again and again, while it was copied) or "checksum" (what the target holds is not what was read in the
    source)."""

    namespace: str
    session_id: str
    code: Fault
    detail: str


@dataclass(frozen=True, slots=True)
class CopyReport:
    """What a copy did. Numbers of sessions: `copied` are new in the target, `updated` were copied before, `deleted`
    were deleted in the source, `same` needed nothing. `messages` counts those of copied and updated sessions. Of a
    dry run, what would be done."""

    namespaces: tuple[str, ...]
    copied: int
    updated: int
    same: int
    deleted: int
    messages: int
    problems: tuple[CopyProblem, ...] = ()

    @property
    def clean(self) -> bool:
        return not self.problems
