"""Ids for the calls of Chat Completions that come without one, and the calls that results without an id answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from ._common import json_text, made_id
from ._openai_parts import MakeId


def ids_of_reply(reply: Mapping[str, Any]) -> MakeId:
    """Ids for the calls of one reply: from its own id and time, and the place of the call, so that a call keeps its id
    while its input comes. A reply that has neither is told apart by what it calls."""
    known = (reply.get("id"), reply.get("created"))

    def make_id(place: int, name: str, input: Any) -> str:
        return made_id(*known, place) if any(known) else made_id(place, name, json_text(input))

    return make_id


class Waiting:
    """The calls of a history while it is read, in its order, and which of them wait for results."""

    def __init__(self) -> None:
        self._same: Counter[tuple[str, str]] = Counter()
        self._names: dict[str, str] = {}
        self._open: dict[str, str] = {}  # of the newest step: the names of calls without a result, by id

    def make_id(self, place: int, name: str, input: Any) -> str:
        """An id for a call: the same wherever the history begins, unless what is cut off had the same call."""
        said = (name, json_text(input))
        self._same[said] += 1
        return made_id(*said, self._same[said])

    def ask(self, parts: Iterable[Mapping[str, Any]]) -> None:
        """Take in an assistant's message: its calls are the ones that wait."""
        self._open = {part["toolCallId"]: part["toolName"] for part in parts if part["type"] == "tool-call"}
        self._names.update(self._open)

    def answered(self, message: Mapping[str, Any]) -> tuple[str, str]:
        """The id and the tool of the call that a tool's or a function's message answers. Without an id it is the first
        one of the tool that it names, or the first one of all, that waits; the id is "" when none does."""
        id, said = message.get("tool_call_id"), message.get("name")
        name = said if isinstance(said, str) else ""
        if not isinstance(id, str) or not id:
            id = next((id for id, tool in self._open.items() if not name or tool == name), "")
        self._open.pop(id, None)
        return id, self._names.get(id, name)
