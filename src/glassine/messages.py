"""Messages: a frozen value around the wire shape, helpers to make one, and the tool calls and results in it.

The wire shape is the AI SDK's `UIMessage`: camelCase JSON with `id`, `role`, `parts`, and optionally `createdAt`
(ISO 8601 with an offset) and `metadata`. Fields and part types that glassine does not know survive a round trip.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NotRequired, Required, TypedDict, cast

from . import _json
from .errors import CorruptMessageError, InvalidMessageError
from .moments import parse_time, to_iso
from .toolparts import ToolCall, ToolResult, ToolsIn, read_tools

__all__ = [
    "FilePart",
    "Message",
    "MessageLike",
    "Part",
    "ReasoningPart",
    "Role",
    "TextPart",
    "ToolCall",
    "ToolCallPart",
    "ToolResult",
    "ToolResultPart",
    "assistant",
    "calls",
    "results",
    "tool_call",
    "tool_result",
    "user",
]

Role = Literal["system", "user", "assistant", "tool"]
ROLES: tuple[Role, ...] = ("system", "user", "assistant", "tool")


class TextPart(TypedDict):
    type: Literal["text"]
    text: str


class ReasoningPart(TypedDict, total=False):
    type: Required[Literal["reasoning"]]
    text: Required[str]
    providerMetadata: dict[str, Any]


class FilePart(TypedDict, total=False):
    type: Required[Literal["file"]]
    mediaType: Required[str]
    url: Required[str]
    filename: str


class ToolCallPart(TypedDict):
    """A call as the model made it. AI SDK parts that hold call and result together (`tool-<name>`) stay as they are."""

    type: Literal["tool-call"]
    toolCallId: str
    toolName: str
    input: Any


class ToolResultPart(TypedDict):
    type: Literal["tool-result"]
    toolCallId: str
    toolName: str
    output: Any
    isError: NotRequired[bool]


Part = TextPart | ReasoningPart | FilePart | ToolCallPart | ToolResultPart | dict[str, Any]

_SPILLED = tuple[tuple[tuple[str | int, ...], Any], ...]
_BLANK = b'{"id":"",'
"""How the bytes of a message begin whose id is still to be made."""
_new = object.__new__


class Message:
    """One message of a conversation: `id`, `role`, `parts`, `created_at`, `metadata`.

    Frozen: to change a message, make another one and `update` it. Without an id, `id` is "" until a session's
    `append` returns the message that it stored. Equal when the wire shapes are equal. Messages
    that come from a store decode their parts when these are first asked for.

    `parts` is a list of plain dicts in the wire shape; `created_at` an aware datetime or None; `metadata` a dict or
    None. `extra` holds further fields of the wire shape. Raises InvalidMessageError for what could not be stored
    and given back the same.
    """

    # Behind properties rather than a __setattr__ that refuses: making a message is then seven plain assignments, and
    # reading a history makes one for every row.
    __slots__ = ("_body", "_codec", "_created", "_data", "_id", "_role", "_spilled", "_tools")

    _id: str
    _role: Role
    _codec: int
    _body: bytes
    _data: dict[str, Any] | None
    _spilled: _SPILLED
    _created: datetime | Literal["undecoded"] | None
    _tools: ToolsIn | None

    def __init__(
        self,
        *,
        role: Role,
        parts: Sequence[Part],
        id: str | None = None,
        created_at: datetime | None = None,
        metadata: Mapping[str, Any] | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        wire: dict[str, Any] = {"id": id or "", "role": role, "parts": list(parts)}
        if created_at is not None:
            wire["createdAt"] = to_iso(created_at)
        if metadata is not None:
            wire["metadata"] = dict(metadata)
        if extra:
            wire.update(extra)
        self._take(wire)

    @classmethod
    def from_dict(cls, wire: Mapping[str, Any]) -> Message:
        """A message from its wire shape. The dict is copied: changing it afterwards changes nothing here."""
        message = _new(cls)
        message._take(wire if type(wire) is dict else dict(wire))
        return message

    @classmethod
    def of(cls, value: MessageLike) -> Message:
        """`value` itself if it is a Message, else the message of that wire dict."""
        if isinstance(value, Message):
            return value
        if isinstance(value, (dict, Mapping)):  # dict alone would do for the types, and is found much faster
            return cls.from_dict(value)
        raise InvalidMessageError(f"must be a Message or a dict, not {type(value).__name__}")

    @classmethod
    def stored(cls, id: str, role: Role, codec: int, body: bytes, spilled: _SPILLED = ()) -> Message:
        """A message from its stored bytes, undecoded.

        `spilled` holds (path, value) for what left the row; a value that is an exception is raised when the
        message is decoded, so that one bad message does not hide the others.
        """
        message = _new(cls)
        message._id = id
        message._role = role
        message._codec = codec
        message._body = body
        message._spilled = spilled
        message._data = None
        message._created = "undecoded"
        message._tools = None
        return message

    def _take(self, wire: dict[str, Any]) -> None:
        role, parts, id = wire.get("role"), wire.get("parts"), wire.get("id", "")
        if not isinstance(id, str):
            raise InvalidMessageError(f"the id must be text, not {type(id).__name__}")
        named = id or None
        if role not in ROLES:
            raise InvalidMessageError(f"role {role!r} is none of {', '.join(ROLES)}", message_id=named)
        if not isinstance(parts, list):
            raise InvalidMessageError(f"parts must be a list, not {type(parts).__name__}", message_id=named)
        for index, part in enumerate(parts):
            if not isinstance(part, dict) or not isinstance(part.get("type"), str):
                raise InvalidMessageError("a part is a dict with a `type`", message_id=named, path=("parts", index))
        metadata = wire.get("metadata")
        if metadata is not None and not isinstance(metadata, dict):
            raise InvalidMessageError("metadata must be a dict", message_id=named, path=("metadata",))
        created = wire.get("createdAt")
        if created is not None:
            created = parse_time(created, named)
        try:
            codec, body = _json.encode(wire)
        except InvalidMessageError as error:
            raise InvalidMessageError(error.reason, message_id=named, path=error.path) from error.__cause__
        self._id = id
        self._role = role
        self._codec = codec
        self._body = body
        self._spilled = ()
        self._data = None
        self._created = created
        self._tools = None

    @property
    def id(self) -> str:
        return self._id

    @property
    def role(self) -> Role:
        return self._role

    @property
    def parts(self) -> list[Part]:
        # Asked for more often than all else: no second property, and no call of `cast`.
        if (data := self._data) is None:
            data = self._data = self._decode()
        return data["parts"]  # type: ignore[no-any-return]

    @property
    def metadata(self) -> dict[str, Any] | None:
        return cast("dict[str, Any] | None", self._wire.get("metadata"))

    @property
    def created_at(self) -> datetime | None:
        """The caller's time of this message, aware; None when the caller gave none."""
        if self._created == "undecoded":
            value = self._wire.get("createdAt")
            self._created = None if value is None else parse_time(value, self._id)
        return self._created

    @property
    def text(self) -> str:
        """The text parts that are not empty, joined by newlines."""
        return "\n".join(
            part["text"] for part in self._wire["parts"] if part.get("type") == "text" and part.get("text")
        )

    def to_dict(self) -> dict[str, Any]:
        """The wire shape: a fresh dict, equal to the one that was given."""
        return self._decode()

    def check(self) -> None:
        """Decode the parts now. Raises CorruptMessageError if they cannot be read."""
        if self._data is None:
            self._data = self._decode()

    def encoded(self) -> tuple[int, bytes]:
        """(codec, bytes) of the whole wire shape, as `_json.encode` makes them."""
        return (self._codec, self._body) if not self._spilled else _json.encode(self._decode())

    def with_id(self, id: str) -> Message:
        """The same message under another id."""
        if not self._id and self._codec == _json.CODEC_MSGSPEC and not self._spilled:
            # A message that had none: the id goes in front of bytes that were checked already.
            name, body = _json.encode(id), self._body
            rest = body[len(_BLANK) :] if body.startswith(_BLANK) else body[1:] if b'"id":' not in body else b""
            if rest and name[0] == _json.CODEC_MSGSPEC:
                message = Message.stored(id, self._role, _json.CODEC_MSGSPEC, b'{"id":' + name[1] + b"," + rest)
                message._created = self._created
                return message
        return Message.from_dict({"id": id, **{key: value for key, value in self._decode().items() if key != "id"}})

    @property
    def _wire(self) -> dict[str, Any]:
        if (data := self._data) is None:
            data = self._data = self._decode()
        return data

    def _decode(self) -> dict[str, Any]:
        try:
            data: dict[str, Any] = (
                _json.decode_msgspec(self._body) if self._codec == 0 else _json.decode(self._codec, self._body)
            )
            for path, value in self._spilled:
                if isinstance(value, Exception):
                    raise value
                target: Any = data
                for step in path[:-1]:
                    target = target[step]
                target[path[-1]] = value
            if type(data) is not dict or type(data["parts"]) is not list:
                raise ValueError("the stored bytes are no message")
        except CorruptMessageError:
            raise
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            raise CorruptMessageError(self.id, str(error)) from error
        return data

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Message):
            return NotImplemented
        if self.id != other.id or self.role != other.role:
            return False
        if self._body == other._body and self._spilled == other._spilled:
            return True
        # In Python 1, 1.0 and True are equal; in a message they are not the same content.
        return _json.canonical(self._decode()) == _json.canonical(other._decode())

    def __hash__(self) -> int:
        return hash((self.id, self.role))

    def __repr__(self) -> str:
        try:
            text = self.text
        except CorruptMessageError:  # a list with one bad message in it must print
            return f"Message(id={self.id!r}, role={self.role!r}, unreadable)"
        shown = text if len(text) <= 60 else text[:57] + "..."
        return f"Message(id={self.id!r}, role={self.role!r}, text={shown!r}, parts={len(self.parts)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Message.from_dict, (self._decode(),)


MessageLike = Message | Mapping[str, Any]


def user(
    *content: str | Part,
    id: str | None = None,
    created_at: datetime | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Message:
    """A user message. Each piece of content is a text or a part in the wire shape."""
    return Message(role="user", parts=_parts(content), id=id, created_at=created_at, metadata=metadata)


def assistant(
    *content: str | Part,
    id: str | None = None,
    created_at: datetime | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Message:
    """An assistant message. Each piece of content is a text or a part, for instance a `tool_call(...)`."""
    return Message(role="assistant", parts=_parts(content), id=id, created_at=created_at, metadata=metadata)


def tool_call(name: str, input: Any, *, id: str) -> ToolCallPart:
    """The part for one tool call, to be put in an `assistant(...)` message. `id` is the provider's call id."""
    return {"type": "tool-call", "toolCallId": id, "toolName": name, "input": input}


def tool_result(
    call: ToolCall | ToolCallPart | str,
    output: Any,
    *,
    name: str | None = None,
    is_error: bool = False,
    id: str | None = None,
    created_at: datetime | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Message:
    """A `tool` message with the result of one call, named by its part, by a ToolCall or by the call id and `name`."""
    if isinstance(call, ToolCall):
        call_id, call_name = call.id, call.name
    elif isinstance(call, str):
        call_id, call_name = call, ""
    else:
        call_id, call_name = call["toolCallId"], call["toolName"]
    part: ToolResultPart = {
        "type": "tool-result",
        "toolCallId": call_id,
        "toolName": name if name is not None else call_name,
        "output": output,
    }
    if is_error:
        part["isError"] = True
    return Message(role="tool", parts=[part], id=id, created_at=created_at, metadata=metadata)


def calls(message: MessageLike) -> list[ToolCall]:
    """The tool calls in a message, in order: `tool-call` parts and the AI SDK's `tool-<name>` and `dynamic-tool`."""
    return list(_tools_in(message)[0])


def results(message: MessageLike) -> list[ToolResult]:
    """The tool results in a message, in order. An AI SDK part counts once it has an output or an error."""
    return list(_tools_in(message)[1])


def _tools_in(message: MessageLike) -> ToolsIn:
    # Kept with the message, which never changes: whoever makes a request asks several times.
    if not isinstance(message, Message):
        return read_tools(message.get("parts", ()))
    if (found := message._tools) is None:
        found = message._tools = read_tools(message.parts)
    return found


def _parts(content: Iterable[str | Part]) -> list[Part]:
    return [{"type": "text", "text": piece} if isinstance(piece, str) else piece for piece in content]
