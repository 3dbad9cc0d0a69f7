"""OpenAI's Chat Completions: `client.chat.completions.create(**to_request(…).arguments)`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import InvalidMessageError
from ..messages import Message, Role
from ._common import Marks, Reply, Request, plain, sendable
from ._openai_messages import ChatMessages
from ._openai_parts import message_parts, result_part, user_part
from ._openai_shared import function, usage_of
from ._openai_stream import CUT_SHORT, without_cut
from ._openai_stream import ChatStream as Stream
from ._openai_waiting import Waiting, ids_of_reply

__all__ = ["Stream", "from_request", "read_reply", "to_request"]

_ROLES: dict[str, Role] = {
    "developer": "system",
    "system": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
_NO_MARKS = Marks()


def to_request(
    messages: Sequence[Message],
    *,
    system: str = "",
    tools: Sequence[Mapping[str, Any]] = (),
    model: str | None = None,
    marks: Marks = _NO_MARKS,
) -> Request:
    """Keyword arguments for `chat.completions.create`: `model`, `messages` (the system prompt first), `tools`.

    A message of the history stays a message of its own. The texts of an assistant message stand before its calls,
    whatever their order was. Results are text: their files follow in a user's message. The cache is the provider's
    affair here, and `marks` set nothing. To a Gemini, calls go back with their signatures.
    """
    found = ChatMessages(messages, model)
    found.read()
    arguments: dict[str, Any] = {}
    if model is not None:
        arguments["model"] = model
    text = sendable(system)
    prompt = [{"role": "system", "content": text}] if text.strip() else []
    arguments["messages"] = prompt + found.found
    if tools:
        arguments["tools"] = [{"type": "function", "function": function(tool)} for tool in tools]
    return Request(arguments, tuple(found.notes))


def from_request(arguments: Mapping[str, Any]) -> list[Message]:
    """The history in a request. A first message of the system or the developer is the prompt, and no message; ids
    are "".

    Calls without an id, and the one of a `function_call`, get one from what they say; results without an id, and those
    of a function's message, go to the first call of that step that waits for one.

    Raises InvalidMessageError, with the place, when `messages` is no list, or something in it is no message.
    """
    given = arguments.get("messages")
    if not isinstance(given, list | tuple):
        raise InvalidMessageError("a request has a list of messages", path=("messages",))
    found: list[Message] = []
    waiting = Waiting()
    for number, entry in enumerate(given):
        entry = plain(entry)
        name = entry.get("role") if isinstance(entry, Mapping) else None
        role = _ROLES.get(name) if isinstance(name, str) else None
        if role is None:
            raise InvalidMessageError(f"role {name!r} is none of {', '.join(_ROLES)}", path=("messages", number))
        if role == "system" and number == 0:
            continue
        parts: list[Any]
        if role == "tool":
            parts = [result_part(entry, *waiting.answered(entry))]
        elif role == "assistant":
            parts = message_parts(entry, waiting.make_id)
            waiting.ask(parts)
        else:
            parts = user_part(entry.get("content"))
        if parts:
            found.append(Message(role=role, parts=parts))
    return found


def read_reply(response: Any) -> Reply:
    """A reply from what `chat.completions.create` returned, or from a dict of the same shape: its first choice.

    Calls without an id get one. Token counts that are all zero mean that nothing was counted, and become None. Raises
    InvalidMessageError when there are no `choices`.
    """
    given = plain(response)
    choices = given.get("choices") if isinstance(given, Mapping) else None
    if not isinstance(choices, list):
        raise InvalidMessageError("a reply of Chat Completions has a list `choices`", path=("choices",))
    choice = choices[0] if choices and isinstance(choices[0], Mapping) else {}
    said = choice.get("message")
    said = dict(said) if isinstance(said, Mapping) else {}
    if choice.get("finish_reason") in CUT_SHORT:
        said = without_cut(said)
    message = Message(role="assistant", parts=message_parts(said, ids_of_reply(given)))
    usage = usage_of(given.get("usage"), "prompt_tokens", "completion_tokens")
    return Reply(message, usage, given.get("model"), choice.get("finish_reason"), given.get("id"))
