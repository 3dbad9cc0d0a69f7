"""Overlays as a person reads them: in a word what each is, and the marks that `show` sets where they lie."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final

import glassine

from ..errors import CorruptMessageError
from ..tokens import FAMILIES, family_of
from ._finding import short_ids
from ._text import count, line

SIGN: Final = "≡"
STUBBED: Final = "stubbed"


def what(overlay: glassine.Overlay) -> str:
    """`summary`, `reminder`, or why a marker was laid: `unloaded`, `shrunk`, `stubbed`."""
    if overlay.kind == "marker":
        return line(str(overlay.data.get("reason") or "marker"))
    return overlay.kind


def facts(overlay: glassine.Overlay) -> list[str]:
    """What else is to be known of it: that it is stale, that a fallback wrote it."""
    stale = ["stale"] if overlay.stale else []
    return [*stale, "by the fallback"] if overlay.data.get("fallback") is True else stale


def family(info: glassine.SessionInfo) -> str:
    """The family in which the tokens of a session are told: that of its model."""
    return "safe" if info.model is None else family_of(info.model)


def tokens(overlay: glassine.Overlay, family: str) -> int:
    """The stored tokens that it stands for."""
    return overlay.covered_tokens[FAMILIES.index(family)]


class Marks:
    """The overlays of a session, by the messages they lie on."""

    def __init__(self, session: glassine.Session, overlays: Iterable[glassine.Overlay]) -> None:
        self._session = session
        there = list(overlays)
        self.ids = short_ids([overlay.id for overlay in there])
        self._summaries = {overlay.message_id: overlay for overlay in there if overlay.kind == "summary"}
        self._beside: dict[str, list[glassine.Overlay]] = {}
        for overlay in there:
            if overlay.kind != "summary":
                self._beside.setdefault(overlay.first_id, []).append(overlay)

    @property
    def messages(self) -> set[str]:
        """The messages that markers or reminders lie on."""
        return set(self._beside)

    def on(self, message_id: str) -> list[glassine.Overlay]:
        """The markers and reminders on a message."""
        return self._beside.get(message_id, [])

    def short(self, overlay: glassine.Overlay) -> str:
        """Its id, as short as `undo` takes it."""
        return line(self.ids[overlay.id])

    def summary(self, message: glassine.Message) -> glassine.Overlay | None:
        """The summary that this message of a history shows."""
        return self._summaries.get(message.id)

    def over_result(self, message: glassine.Message, result: glassine.ToolResult) -> glassine.Overlay | None:
        """The marker that is shown in the place of this result; of several the newest."""
        for overlay in reversed(self._of_call(message, result.id)):
            # A marker of another branch lies on the same message, and is not shown here.
            if overlay.data.get("output", overlay.text) == result.output:
                return overlay
        return None

    def stub(self, message: glassine.Message, call: glassine.ToolCall) -> glassine.Overlay | None:
        """The stub that a request was sent in the place of the result of this call."""
        return next((overlay for overlay in self._of_call(message, call.id) if what(overlay) == STUBBED), None)

    def reminders(self, message: glassine.Message) -> list[glassine.Overlay]:
        return [overlay for overlay in self.on(message.id) if overlay.kind == "reminder"]

    def stored(self, overlay: glassine.Overlay) -> glassine.ToolResult | None:
        """The result under a marker, as it is stored; None where there is none, or it cannot be read."""
        try:
            message = self._session.message(overlay.first_id)
            found = () if message is None else glassine.results(message)
        except CorruptMessageError:
            return None
        return next((result for result in found if result.id == overlay.data.get("call")), None)

    def told(self, message_id: str) -> str:
        """What lies on a message, in one line: each kind, how many, and the ids."""
        kinds = groupby(sorted(self.on(message_id), key=what), what)
        return ", ".join(_kind(name, [self.short(overlay) for overlay in there]) for name, there in kinds)

    def _of_call(self, message: glassine.Message, call_id: str) -> list[glassine.Overlay]:
        return [overlay for overlay in self.on(message.id) if overlay.data.get("call") == call_id]


def _kind(name: str, ids: list[str]) -> str:
    return f"{name}{f' × {len(ids)}' if len(ids) > 1 else ''}  {' '.join(ids)}"


def lines_of(overlays: Iterable[glassine.Overlay], ids: dict[str, str]) -> Iterator[str]:
    """One line for each: for a hint that lists what is there."""
    for overlay in overlays:
        covers = f" of {count(overlay.covered_messages, 'message')}" if overlay.kind == "summary" else ""
        yield f"{line(ids[overlay.id])}  {what(overlay)}{covers}"
