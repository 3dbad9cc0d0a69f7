"""Google's Gemini API: `client.models.generate_content(**to_request(…).arguments)`."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import InvalidMessageError
from ..messages import Message, Role
from ._common import CONTINUES, Marks, Reply, Request, made_id, plain, sendable, sendable_value
from ._gemini_contents import Contents, function_name
from ._gemini_values import field, part_of, response_part, usage_of

__all__ = ["Stream", "from_request", "read_reply", "to_request"]

_ROLES: dict[str | None, Role] = {None: "user", "user": "user", "function": "user", "model": "assistant"}
_BARE_SOUND = ("audio/l16", "audio/pcm")
_NO_MARKS = Marks()


def to_request(
    messages: Sequence[Message],
    *,
    system: str = "",
    tools: Sequence[Mapping[str, Any]] = (),
    model: str | None = None,
    marks: Marks = _NO_MARKS,
) -> Request:
    """Keyword arguments for `models.generate_content`: `model`, `contents`, `config` (prompt and tools, if any).

    Neighbours of one role become one content; system messages become a user's text in `<system>`. Thoughts and calls
    go back with their signatures; from Gemini 3 on, which asks for them, the first call of a step that has none gets
    the word that Google gives for it. The cache is the provider's affair here, and `marks` set nothing.
    """
    contents = Contents(messages, model)
    arguments: dict[str, Any] = {}
    if model is not None:
        arguments["model"] = model
    arguments["contents"] = contents.read()
    config: dict[str, Any] = {}
    text = sendable(system)
    if text.strip():
        config["system_instruction"] = text
    if tools:
        config["tools"] = [{"function_declarations": [_declaration(tool) for tool in tools]}]
    if config:
        arguments["config"] = config
    return Request(arguments, tuple(contents.notes))


def from_request(arguments: Mapping[str, Any]) -> list[Message]:
    """The history in a request's `contents`, or in a body of the wire. Each function response is a `tool` message of
    its own; ids are "", and calls without an id get one from their place.

    Raises InvalidMessageError, with the place, when `contents` is neither text nor a list, or something in it is no
    content.
    """
    given = arguments.get("contents")
    if isinstance(given, str):
        given = [{"role": "user", "parts": [{"text": given}]}]
    if not isinstance(given, list | tuple):
        raise InvalidMessageError("a request has a list of contents", path=("contents",))
    found: list[Message] = []
    open_calls: list[tuple[str, str]] = []  # (name, id) of those that wait for their responses
    for number, entry in enumerate(given):
        content = {"parts": [{"text": entry}]} if isinstance(entry, str) else plain(entry)
        named = content.get("role") if isinstance(content, Mapping) else entry
        role = _ROLES.get(named) if named is None or isinstance(named, str) else None
        if role is None:
            raise InvalidMessageError(f"role {named!r} is none of user, model", path=("contents", number))
        parts: list[Any] = []
        for index, part in enumerate(_parts(content)):
            response = field(part, "functionResponse")
            if isinstance(response, Mapping):
                if parts:
                    found.append(Message(role=role, parts=parts))
                    parts = []
                found.append(Message(role="tool", parts=[_answer(response, open_calls)]))
                continue
            made = part_of(part, made_id(number, index))
            if made is None:
                continue
            if made["type"] == "tool-call":
                open_calls.append((made["toolName"], made["toolCallId"]))
            parts.append(made)
        if parts and not (number == 0 and parts == [{"type": "text", "text": CONTINUES}]):
            found.append(Message(role=role, parts=parts))
    return found


def read_reply(response: Any) -> Reply:
    """A reply from what `models.generate_content` returned, or from a dict of the wire: its first candidate.

    `stop` is the reason to finish, or why the prompt was blocked. Calls without an id get one. Token counts that are
    all zero mean that nothing was counted, and become None. Raises InvalidMessageError for what is no such reply.
    """
    given = plain(response)
    if not any(field(given, name) is not None for name in ("candidates", "promptFeedback", "usageMetadata")):
        raise InvalidMessageError("a reply of Gemini has a list `candidates`", path=("candidates",))
    stream = Stream()
    stream.feed(given)
    return stream.reply()


class Stream:
    """Takes in the chunks of `models.generate_content_stream`; other events are ignored.

    Chunks of text become one part, and so do chunks of sound without a header, which can be laid end to end; but for a
    part that is signed: that stays as it came.
    """

    def __init__(self) -> None:
        self.finished = False
        """Whether the reply came to its end."""
        self._parts: list[dict[str, Any]] = []
        self._more: list[str] = []  # text of the last part, or sound in base64, while more may come
        self._seen = 0
        self._usage: Any = None
        self._model: str | None = None
        self._stop: str | None = None
        self._id: str | None = None

    def feed(self, event: Any) -> None:
        """Take in one chunk: an object of the SDK, or a dict."""
        given = plain(event)
        if not isinstance(given, Mapping):
            return
        self._model = field(given, "modelVersion") or self._model
        self._id = self._id or field(given, "responseId")
        self._usage = field(given, "usageMetadata") or self._usage
        blocked = field(field(given, "promptFeedback"), "blockReason")
        if isinstance(blocked, str):
            self._stop, self.finished = blocked, True
        candidates = field(given, "candidates")
        for candidate in candidates if isinstance(candidates, list) else ():
            if isinstance(candidate, Mapping) and not candidate.get("index"):
                for part in _parts(candidate.get("content")):
                    self._take(part)
                reason = field(candidate, "finishReason")
                if isinstance(reason, str):
                    self._stop, self.finished = reason, True

    def reply(self, finished: bool | None = None) -> Reply:
        """What has come so far; calls come whole. `finished` changes nothing."""
        self._settle()
        message = Message(role="assistant", parts=list(self._parts))
        return Reply(message, usage_of(self._usage), self._model, self._stop, self._id)

    def _take(self, part: Mapping[str, Any]) -> None:
        call = field(part, "functionCall")
        if field(call, "willContinue"):
            return  # a call in pieces: the whole one follows
        facts = (self._id, self._seen) if self._id else (self._seen, str(call))
        made = part_of(part, made_id(*facts))
        self._seen += 1
        if made is None:
            return
        last = self._parts[-1] if self._parts else {}
        if made.keys() == last.keys() == {"type", "text"} and made["type"] == last["type"]:
            self._more.append(made["text"])
            return
        if _is_bare_sound(made) and _is_bare_sound(last) and made["mediaType"] == last["mediaType"]:
            self._more.append(made["url"].partition(";base64,")[2])
            return
        self._settle()
        self._parts.append(made)

    def _settle(self) -> None:
        if not self._more:
            return
        last = self._parts[-1]
        if last["type"] == "file":
            head, mark, begun = last["url"].partition(";base64,")
            sound = b"".join([base64.b64decode(piece) for piece in (begun, *self._more)])
            self._parts[-1] = {**last, "url": f"{head}{mark}{base64.b64encode(sound).decode()}"}
        else:
            self._parts[-1] = {**last, "text": last["text"] + "".join(self._more)}
        self._more = []


def _is_bare_sound(part: Mapping[str, Any]) -> bool:
    """Whether a part is inline sound without a header, and nothing else."""
    if part.keys() != {"type", "mediaType", "url"} or ";base64," not in part["url"]:
        return False
    return part["mediaType"].partition(";")[0].strip().lower() in _BARE_SOUND


def _declaration(tool: Mapping[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {"name": function_name(str(tool.get("name")))}
    if tool.get("description"):
        made["description"] = tool["description"]
    schema = tool.get("input_schema") or {}
    # `parameters` takes a small part of JSON Schema only; this field takes all of it.
    made["parameters_json_schema"] = {"type": "object", **({"properties": {}} if not schema else {}), **schema}
    return dict(sendable_value(made))


def _answer(response: Mapping[str, Any], open_calls: list[tuple[str, str]]) -> dict[str, Any]:
    name, id = response.get("name"), response.get("id")
    waiting = next((call for call in open_calls if call[1] == id or (not id and call[0] == name)), None)
    if waiting is not None:
        open_calls.remove(waiting)
        id = waiting[1]
    return response_part(response, id if isinstance(id, str) else "")


def _parts(content: Any) -> list[Mapping[str, Any]]:
    parts = content.get("parts") if isinstance(content, Mapping) else None
    made = [{"text": part} if isinstance(part, str) else plain(part) for part in parts or ()] if parts else []
    return [part for part in made if isinstance(part, Mapping)]
