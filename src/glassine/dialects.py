"""The providers' formats by name, and which one a reply is written in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Literal, Protocol

from .errors import InvalidMessageError
from .formats._common import Marks, Reply, Request, plain
from .messages import Message

Format = Literal["anthropic", "openai", "openai_responses", "gemini", "ai_sdk"]
FORMATS: dict[Format, str] = {
    "anthropic": "anthropic",
    "openai": "openai_chat",
    "openai_responses": "openai_responses",
    "gemini": "gemini",
    "ai_sdk": "ai_sdk",
}
"""The formats, and the modules that write and read them; one is loaded when it is first asked for."""


class Stream(Protocol):
    """Takes in the events of one reply."""

    @property
    def finished(self) -> bool:
        """Whether the provider said that the reply is whole."""

    def feed(self, event: Any) -> None:
        """Take in an event: the SDK's object, or a dict of the same shape. Unknown ones change nothing."""

    def reply(self, finished: bool | None = None) -> Reply:
        """What has come so far. `finished` False leaves out what is not whole; None goes by the events."""


_OF_GEMINI = ("candidates", "usageMetadata", "usage_metadata", "promptFeedback", "prompt_feedback")


def to_request(
    format: Format,
    messages: Sequence[Message],
    *,
    system: str,
    tools: Sequence[Mapping[str, Any]],
    model: str | None,
    marks: Marks,
) -> Request:
    """The request in one format. Raises ValueError for a format that is none of FORMATS."""
    made: Request = _module(format).to_request(messages, system=system, tools=tools, model=model, marks=marks)
    return made


def from_request(format: Format, arguments: Mapping[str, Any]) -> list[Message]:
    """The history in a request that is written in one format; its system prompt and tools are no messages."""
    found: list[Message] = _module(format).from_request(arguments)
    return found


def read_reply(response: Any) -> Reply:
    """A reply of any of the four providers' APIs: the SDK's object, or a dict of the same shape."""
    given = plain(response)
    format = reply_format(given)
    if format is None:
        raise InvalidMessageError(
            f"{type(response).__name__} is no reply of Anthropic, OpenAI (chat completions, Responses) or Gemini"
        )
    if format == "openai_responses" and given.get("status") in ("queued", "in_progress"):
        raise InvalidMessageError(f"the response is not answered yet: its status is {given['status']!r}")
    reply: Reply = _module(format).read_reply(given)
    return reply


def reply_format(given: Any) -> str | None:
    """Which API a reply comes from, by what is in it; None when it looks like none."""
    if not isinstance(given, Mapping):
        return None
    if given.get("type") == "message" and isinstance(given.get("content"), list):
        return "anthropic"
    if isinstance(given.get("choices"), list):
        return "openai"
    if given.get("object") == "response" or isinstance(given.get("output"), list):
        return "openai_responses"
    if any(name in given for name in _OF_GEMINI):
        return "gemini"
    return None


def event_in(event: Any) -> Any:
    """The provider's own event in one of the OpenAI SDK's helper, which wraps it; other events as they are."""
    return event.chunk if getattr(event, "type", None) == "chunk" and hasattr(event, "chunk") else event


def stream_for(event: Any) -> Stream | None:
    """What takes in a stream that begins with this event; None when the event is of no provider that is known."""
    given = plain(event)
    if not isinstance(given, Mapping):
        return None
    kind = given.get("type")
    format = reply_format(given)
    if isinstance(kind, str) and kind.startswith("response."):
        format = "openai_responses"
    elif kind == "message_start":
        format = "anthropic"
    if format is None:
        return None
    stream: Stream = _module(format).Stream()
    return stream


def _module(format: str) -> Any:
    for known, name in FORMATS.items():
        if known == format:
            return import_module(f".formats.{name}", __package__)
    raise ValueError(f"unknown format {format!r}; known are {', '.join(FORMATS)}")


def from_anthropic(arguments: Mapping[str, Any]) -> list[Message]:
    """The history in the arguments of `messages.create`; ids are "" until it is appended."""
    return from_request("anthropic", arguments)


def from_openai(arguments: Mapping[str, Any]) -> list[Message]:
    """The history in the arguments of `chat.completions.create`; ids are "" until it is appended."""
    return from_request("openai", arguments)


def from_openai_responses(arguments: Mapping[str, Any]) -> list[Message]:
    """The history in the arguments of `responses.create`; ids are "" until it is appended."""
    return from_request("openai_responses", arguments)


def from_gemini(arguments: Mapping[str, Any]) -> list[Message]:
    """The history in the arguments of `models.generate_content`; ids are "" until it is appended."""
    return from_request("gemini", arguments)


def from_ai_sdk(arguments: Mapping[str, Any]) -> list[Message]:
    """The history in what the AI SDK's `generateText` takes, or in its `UIMessage`s; ids are "" where it has none."""
    return from_request("ai_sdk", arguments)
