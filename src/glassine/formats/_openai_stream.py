"""A reply of Chat Completions while it comes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..messages import Message
from ._common import Reply, parsed, plain
from ._openai_parts import message_parts
from ._openai_shared import usage_of

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
        self._calls: dict[int, dict[str, Any]] = {}
        self._usage: Any = None
        self._known: dict[str, Any] = {}
        self._stop: str | None = None

    def feed(self, event: Any) -> None:
        """Take in one chunk: an object of the SDK, or a dict."""
        given = plain(event)
        if not isinstance(given, Mapping) or not isinstance(given.get("choices"), list):
            return
        for name in ("id", "model"):
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
        ended = self.finished or finished is not None
        said: dict[str, Any] = {name: "".join(texts) for name, texts in self._texts.items()}
        said["tool_calls"] = [call for _, call in sorted(self._calls.items()) if self._is_shown(call, ended)]
        message = Message(role="assistant", parts=message_parts(said))
        usage = usage_of(self._usage, "prompt_tokens", "completion_tokens")
        return Reply(message, usage, self._known.get("model"), self._stop, self._known.get("id"))

    def _is_shown(self, call: Mapping[str, Any], ended: bool) -> bool:
        if not ended or (self.finished and self._stop not in CUT_SHORT):
            return True
        return is_whole(call)

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
        if isinstance(choice.get("finish_reason"), str):
            self._stop = choice["finish_reason"]
            self.finished = True

    def _call(self, piece: Mapping[str, Any]) -> None:
        # Some servers leave out the index, and send every call in one piece.
        index = piece.get("index")
        call = self._calls.setdefault(
            index if isinstance(index, int) else len(self._calls), {"id": "", "function": {"name": "", "arguments": ""}}
        )
        if isinstance(piece.get("id"), str) and piece["id"]:
            call["id"] = piece["id"]
        called = piece.get("function")
        if isinstance(called, Mapping):
            for name in ("name", "arguments"):
                if isinstance(called.get(name), str):
                    call["function"][name] += called[name]


def is_whole(call: Any) -> bool:
    """Whether the arguments of a call are there to their end: JSON of an object."""
    function = call.get("function") if isinstance(call, Mapping) else None
    arguments = function.get("arguments") if isinstance(function, Mapping) else None
    return isinstance(arguments, str) and isinstance(parsed(arguments), dict)
