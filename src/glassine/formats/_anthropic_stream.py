"""A reply of Anthropic's while it comes: its events put together, and what it took."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..messages import Message
from ._anthropic_blocks import SERVER_CALLS, part_of
from ._common import Reply, ReplyUsage, parsed, plain

_TAKEN = {f"message_{end}" for end in ("start", "delta", "stop")}
_TAKEN |= {f"content_block_{end}" for end in ("start", "delta", "stop")}
_CALLS = SERVER_CALLS | {"tool_use"}

CUT_SHORT = ("max_tokens", "model_context_window_exceeded")
"""The stop reasons of a model that did not come to its end."""


class Stream:
    """Takes in the events of `messages.create(stream=True)` or `messages.stream(…)`; others are ignored."""

    def __init__(self) -> None:
        self.finished = False
        """Whether the reply came to its end."""
        self._message: dict[str, Any] = {}
        self._usage: dict[str, Any] = {}
        self._blocks: dict[int, _Block] = {}

    def feed(self, event: Any) -> None:
        """Take in one event: an object of the SDK, or a dict."""
        kind = event.get("type") if isinstance(event, Mapping) else getattr(event, "type", None)
        if kind not in _TAKEN:
            return
        given = plain(event)
        match given:
            case {"type": "message_start", "message": {} as message}:
                self._message.update(message)
                self._count(message.get("usage"))
            case {"type": "content_block_start", "index": int(index), "content_block": {} as block}:
                self._blocks[index] = _Block(dict(block))
            case {"type": "content_block_delta", "index": int(index), "delta": {} as delta} if index in self._blocks:
                self._blocks[index].add(delta)
            case {"type": "content_block_stop", "index": int(index)} if index in self._blocks:
                self._blocks[index].stopped = True
            case {"type": "message_delta"}:
                delta = given.get("delta")
                if isinstance(delta, Mapping):
                    self._message.update({key: value for key, value in delta.items() if value is not None})
                self._count(given.get("usage"))
            case {"type": "message_stop"}:
                self.finished = True

    def reply(self, finished: bool | None = None) -> Reply:
        """What has come so far. `finished`: whether more will not come; by default the stream's own `finished`.

        While more may come, a call has its input so far as text. Once `finished` is given, or the stream has come to
        its end, calls whose input is not whole are left out.
        """
        ended = self.finished or finished is not None
        # Where the model was cut short, its last block is not what it meant, though that was closed.
        cut = self._message.get("stop_reason") in CUT_SHORT
        last = max(self._blocks, default=0)
        found = [block.block(ended, cut and index == last) for index, block in sorted(self._blocks.items())]
        message = Message(role="assistant", parts=[part_of(block) for block in found if block is not None])
        return Reply(
            message,
            usage_of(self._usage),
            self._message.get("model"),
            self._message.get("stop_reason"),
            self._message.get("id"),
        )

    def _count(self, usage: Any) -> None:
        # The numbers of later events are totals, and only those that are given replace earlier ones.
        if isinstance(usage, Mapping):
            self._usage.update({key: value for key, value in usage.items() if value is not None})


class _Block:
    """One content block while it comes."""

    def __init__(self, start: dict[str, Any]) -> None:
        self.start = start
        self.pieces: dict[str, list[str]] = {}
        self.citations: list[Any] = []
        self.stopped = False

    def add(self, delta: Mapping[str, Any]) -> None:
        match delta:
            case {"type": "text_delta", "text": str(text)}:
                self._append("text", text)
            case {"type": "thinking_delta", "thinking": str(text)}:
                self._append("thinking", text)
            case {"type": "signature_delta", "signature": str(text)}:
                self._append("signature", text)
            case {"type": "input_json_delta", "partial_json": str(text)}:
                self._append("input", text)
            case {"type": "citations_delta", "citation": citation}:
                self.citations.append(citation)
            case {"type": "compaction_delta"}:
                for name in ("content", "encrypted_content"):
                    if isinstance(delta.get(name), str):
                        self._append(name, delta[name])

    def _append(self, name: str, text: str) -> None:
        self.pieces.setdefault(name, []).append(text)

    def block(self, ended: bool, cut: bool) -> dict[str, Any] | None:
        """The block as far as it came; None for a call that will never be whole."""
        made = dict(self.start)
        for name, texts in self.pieces.items():
            if name != "input":
                begun = made.get(name)
                made[name] = (begun if isinstance(begun, str) else "") + "".join(texts)
        if self.citations:
            made["citations"] = [*(made.get("citations") or []), *self.citations]
        if made.get("type") not in _CALLS:
            return made
        text = "".join(self.pieces.get("input", ()))
        value = parsed(text) if text else None if cut else made.get("input", {})
        if self.stopped and (value is not None or not cut):
            return {**made, "input": text if value is None else value}
        return None if ended or made["type"] in SERVER_CALLS else {**made, "input": text}


def usage_of(given: Any) -> ReplyUsage:
    """The token counts of a reply. What was written to the cache without a lifetime counts as five minutes'.

    A compaction that the server made on the way is counted only in `iterations`, and added here: it was read and paid.
    """
    if not isinstance(given, Mapping):
        return ReplyUsage()
    total = _counts(given)
    iterations = given.get("iterations")
    for step in iterations if isinstance(iterations, list) else []:
        if isinstance(step, Mapping) and step.get("type") not in (None, "message"):
            total = [_sum(one, other) for one, other in zip(total, _counts(step), strict=True)]
    return ReplyUsage(*total) if any(total) else ReplyUsage()


def _counts(usage: Mapping[str, Any]) -> list[int | None]:
    split = usage.get("cache_creation")
    lifetimes = split if isinstance(split, Mapping) else {}
    short, long = [_count(lifetimes, f"ephemeral_{ttl}_input_tokens") for ttl in ("5m", "1h")]
    if not short and not long:
        short = _count(usage, "cache_creation_input_tokens")
    return [
        _count(usage, "input_tokens"),
        _count(usage, "output_tokens"),
        _count(usage, "cache_read_input_tokens"),
        short,
        long,
    ]


def _count(usage: Mapping[str, Any], name: str) -> int | None:
    value = usage.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _sum(one: int | None, other: int | None) -> int | None:
    return one if other is None else other if one is None else one + other
