"""How a check says what it expects. No `assert`: a check must also fail under `python -O`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, Generic, TypeVar

from glassine import Message

E = TypeVar("E", bound=BaseException)


class StoreCheckError(AssertionError):
    """Some checks of a store failed: `failures` has each by its name; they are the `__cause__` too, as a group."""

    def __init__(self, failures: Mapping[str, Exception], run: int) -> None:
        self.failures = dict(failures)
        lines = [f"{name}: {type(error).__name__}: {error}" for name, error in failures.items()]
        super().__init__("\n".join([f"{len(failures)} of {run} checks failed", *lines]))


def equal(actual: object, expected: object, what: str = "it") -> None:
    if actual != expected:
        raise AssertionError(f"{what} should be {expected!r} and is {actual!r}")


def true(condition: object, what: str) -> None:
    if not condition:
        raise AssertionError(f"not so: {what}")


class raises(Generic[E]):  # noqa: N801  (reads as in `with raises(ConflictError)`)
    """The block must raise an error of this type, which is then in `error`."""

    error: E

    def __init__(self, expected: type[E]) -> None:
        self._expected = expected

    def __enter__(self) -> raises[E]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if error is None:
            raise AssertionError(f"{self._expected.__name__} was not raised")
        if not isinstance(error, self._expected):
            return False
        self.error = error
        return True


def say(id: str, text: str | None = None, role: str = "user") -> dict[str, Any]:
    """A message of one text (its id, if no other is given)."""
    return {"id": id, "role": role, "parts": [{"type": "text", "text": id if text is None else text}]}


def says(*ids: str) -> list[dict[str, Any]]:
    return [say(id) for id in ids]


def ids(messages: Iterable[Message]) -> list[str]:
    return [message.id for message in messages]
