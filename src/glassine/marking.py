"""Markers: overlays over one tool result. What a view shows in its place is the marker's text; the result stays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from .messages import Message, results
from .overlays import Overlay, OverlayKind


class Laying(NamedTuple):
    """A marker or reminder to be laid on a message. `data` holds what its maker must know of it again; `anchored`: it
    shows only where the leaf of now is on the path."""

    kind: OverlayKind
    message_id: str
    text: str
    data: dict[str, Any]
    anchored: bool

    @property
    def id(self) -> str:
        """The same for the same thing on the same message, so that two writers lay it once."""
        names = ("reason", "call", "nth", "label", "digest", "prompt", "after")
        named = "\0".join([self.kind, self.message_id, *(str(self.data.get(name)) for name in names)])
        return f"{self.kind}-{sha256(named.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}"


def over_result(message_id: str, call_id: str, text: str, reason: str, *, anchored: bool, **data: Any) -> Laying:
    """A marker over the result of a call in a message."""
    return Laying("marker", message_id, text, {"reason": reason, "call": call_id, **data}, anchored)


UNLOADED = "unloaded"
"""Why a marker stands for the body of a loaded entry: it was unloaded."""
STUBBED = "stubbed"
"""Why a marker stands for a result that never came: a request was sent with a stub in its place."""


def stubs(new: Iterable[tuple[str, str, str]], there: Iterable[tuple[str, str]]) -> list[Laying]:
    """Markers for results that are missing, and had stubs: (message id, call id, text) each. `there` are those
    that earlier requests had; a message may have several calls of one id."""
    numbers = Counter(there)
    found = []
    for message_id, call_id, text in new:
        nth = numbers[message_id, call_id]
        numbers[message_id, call_id] += 1
        found.append(over_result(message_id, call_id, text, STUBBED, anchored=False, nth=nth))
    return found


def stubbed(overlays: Iterable[Overlay]) -> list[tuple[str, str]]:
    """The calls whose results a request had stubs for, each by the ids of message and call."""
    return [
        (overlay.first_id, overlay.data["call"])
        for overlay in overlays
        if overlay.kind == "marker" and overlay.data.get("reason") == STUBBED
    ]


def shown_by(marker: Overlay) -> Any:
    """What stands in the place of the result under a marker: its text, or a value that kept the result's shape."""
    return marker.data.get("output", marker.text)


def by_message(overlays: Iterable[Overlay]) -> dict[str, dict[str, Overlay]]:
    """The markers over results: message id → call id → marker; of several over one result the newest."""
    found: dict[str, dict[str, Overlay]] = {}
    for overlay in overlays:
        call = overlay.data.get("call")
        if overlay.kind == "marker" and isinstance(call, str) and overlay.data.get("reason") != STUBBED:
            found.setdefault(overlay.first_id, {})[call] = overlay
    return found


def replaced(message: Message, texts: Mapping[str, Any]) -> Message:
    """The message with the outputs of these calls (by id) replaced; itself if it has no result of them."""
    places = {result.part: texts[result.id] for result in results(message) if result.id in texts}
    if not places:
        return message
    wire = message.to_dict()
    for index, text in places.items():
        part = {**wire["parts"][index], "output": text}
        if "errorText" in part:
            part["errorText"] = text
        wire["parts"][index] = part
    return Message.from_dict(wire)
