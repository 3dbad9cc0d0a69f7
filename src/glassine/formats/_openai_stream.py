"""A reply of Chat Completions while it comes."""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter
from typing import Any

from ..messages import Message
from ._common import Reply, parsed, plain
from ._openai_parts import message_parts
from ._openai_shared import usage_of
from ._openai_sound import joined
from ._openai_waiting import ids_of_reply

CUT_SHORT = ("length", "content_filter")
"""The finish reasons of a model that did not come to its end."""
_TEXTS = ("content", "refusal", "reasoning_content", "reasoning")


class ChatStream:
    """Takes in the chunks of `chat.completions.create(stream=True)`; other events are ignored.

    The usage comes after the end, in a chunk of its own, and only when it was asked for (`stream_options`).
    """

    def __init__(self) -> None:
        self.finished = False
        """Whether the reply came to its end."""
        self._texts: dict[str, list[str]] = {}
        self._calls: list[tuple[int, dict[str, Any]]] = []  # with the index that the server gives them
        self._legacy: dict[str, str] | None = None
        self._sound: dict[str, list[str]] = {}
        self._sound_facts: dict[str, Any] = {}
        self._usage: Any = None
        self._known: dict[str, Any] = {}
        self._stop: str | None = None

    def feed(self, event: Any) -> None:
        """Take in one chunk: an object of the SDK, or a dict."""
        given = plain(event)
        if not isinstance(given, Mapping) or not isinstance(given.get("choices"), list):
            return
        for name in ("id", "model", "created"):
            if given.get(name):
                self._known.setdefault(name, given[name])
        if isinstance(given.get("usage"), Mapping):
            self._usage = given["usage"]
        for choice in given["choices"]:
            if isinstance(choice, Mapping) and choice.get("index", 0) == 0:
                self._choose(choice)

    def reply(self, finished: bool | None = None) -> Reply:
        """What has come so far. `finished`: whether more will not come; by default the stream's own `finished`.

        While more may come, a call has its input so far as text. Once `finished` is given, or the stream has come to
        its end, calls whose input is not whole are left out.
        """
        said: dict[str, Any] = {name: "".join(texts) for name, texts in self._texts.items()}
        said["audio"] = {
            **self._sound_facts,
            **{name: joined(pieces) if name == "data" else "".join(pieces) for name, pieces in self._sound.items()},
        }
        said["tool_calls"] = [call for _, call in sorted(self._calls, key=itemgetter(0))]
        said["function_call"] = self._legacy
        if self._stop in CUT_SHORT or (finished is not None and not self.finished):
            said = without_cut(said)
        message = Message(role="assistant", parts=message_parts(said, ids_of_reply(self._known)))
        usage = usage_of(self._usage, "prompt_tokens", "completion_tokens")
        return Reply(message, usage, self._known.get("model"), self._stop, self._known.get("id"))

    def _choose(self, choice: Mapping[str, Any]) -> None:
        delta = choice.get("delta")
        if isinstance(delta, Mapping):
            for name in _TEXTS:
                if isinstance(delta.get(name), str):
                    self._texts.setdefault(name, []).append(delta[name])
            calls = delta.get("tool_calls")
            for call in calls if isinstance(calls, list) else ():
                if isinstance(call, Mapping):
                    self._call(call)
            if isinstance(delta.get("function_call"), Mapping):
                self._legacy = self._legacy or {"name": "", "arguments": ""}
                _add(self._legacy, delta["function_call"])
            if isinstance(delta.get("audio"), Mapping):
                self._hear(delta["audio"])
        if isinstance(choice.get("finish_reason"), str):
            self._stop = choice["finish_reason"]
            self.finished = True

    def _call(self, piece: Mapping[str, Any]) -> None:
        index, id, called = piece.get("index"), piece.get("id"), piece.get("function")
        id = id if isinstance(id, str) else ""
        called = called if isinstance(called, Mapping) else {}
        call = self._continued(index, id, bool(called.get("name")))
        if call is None:
            call = {"id": "", "function": {"name": "", "arguments": ""}}
            self._calls.append((index if isinstance(index, int) else len(self._calls), call))
        call["id"] = call["id"] or id
        if isinstance(piece.get("extra_content"), Mapping):
            call["extra_content"] = piece["extra_content"]
        _add(call["function"], called)

    def _continued(self, index: Any, id: str, named: bool) -> dict[str, Any] | None:
        """The call that a piece goes on with; None where it begins another one.

        Some servers leave out the index, and send every call in one piece; some give all calls the index 0; and some
        give a call a new id in each piece, so an id alone begins none.
        """
        known = [call for number, call in self._calls if number == index or not isinstance(index, int)]
        last = known[-1] if known else None
        if last is None or not named or not last["function"]["name"]:
            return last
        if id and last["id"]:
            return last if id == last["id"] else None
        return last if isinstance(index, int) and not is_whole(last) else None

    def _hear(self, piece: Mapping[str, Any]) -> None:
        for name in ("data", "transcript"):
            if isinstance(piece.get(name), str):
                self._sound.setdefault(name, []).append(piece[name])
        for name in ("id", "expires_at"):
            if piece.get(name):
                self._sound_facts[name] = piece[name]


def without_cut(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message without the calls whose arguments are not there to their end."""
    calls, legacy = message.get("tool_calls"), message.get("function_call")
    whole = [call for call in calls if is_whole(call)] if isinstance(calls, list) else []
    return {
        **message,
        "tool_calls": whole,
        "function_call": legacy if is_whole({"function": legacy}) else None,
    }


def is_whole(call: Any) -> bool:
    """Whether the arguments of a call are there to their end: JSON of an object."""
    function = call.get("function") if isinstance(call, Mapping) else None
    arguments = function.get("arguments") if isinstance(function, Mapping) else None
    return isinstance(arguments, str) and isinstance(parsed(arguments), dict)


def _add(called: dict[str, str], piece: Mapping[str, Any]) -> None:
    for name in ("name", "arguments"):
        if isinstance(piece.get(name), str):
            called[name] += piece[name]
