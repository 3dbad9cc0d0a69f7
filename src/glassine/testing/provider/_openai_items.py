"""The items and events of a reply of the Responses API."""

from __future__ import annotations

import hashlib
import json
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ._answers import Call, Part, Text, Thinking
from ._openai import cut
from ._wire import event


def output_items(parts: Sequence[Part], name: str, *, encrypted: bool) -> list[dict[str, Any]]:
    """The items that make up a reply; `name` goes into their ids. `encrypted`: reasoning comes with its content."""
    items: list[dict[str, Any]] = []
    for number, part in enumerate(parts):
        match part:
            case Text():
                text = {"type": "output_text", "text": part.text, "annotations": [], "logprobs": []}
                message = {"id": f"msg_{name}_{number}", "type": "message", "role": "assistant", "status": "completed"}
                items.append({**message, "content": [text]})
            case Thinking():
                summary = [] if part.redacted else [{"type": "summary_text", "text": part.text}]
                item = {"id": f"rs_{name}_{number}", "type": "reasoning", "summary": summary}
                if encrypted:
                    item["encrypted_content"] = sealed(name, number, part.text)
                items.append(item)
            case Call():
                items.append(
                    {
                        "id": f"fc_{name}_{number}",
                        "type": "function_call",
                        "status": "completed",
                        "call_id": part.id or f"call_{name}_{number}",
                        "name": part.name,
                        "arguments": json.dumps(dict(part.input), ensure_ascii=False),
                    }
                )
    return items


def sealed(name: str, number: int, text: str) -> str:
    """Encrypted content: opaque, the same for the same reply."""
    digest = hashlib.sha512(f"{name}:{number}:{text}".encode("utf-8", "surrogatepass")).digest()
    return "gAAAAA" + urlsafe_b64encode(digest).decode()


class Events:
    """The events of one stream, numbered; `response` is what they tell of, without what is only known at the end."""

    def __init__(self, response: Mapping[str, Any]) -> None:
        self.response = {**response, "status": "in_progress", "output": [], "usage": None, "completed_at": None}
        self._number = -1

    def one(self, kind: str, **fields: Any) -> bytes:
        """One event of a type."""
        self._number += 1
        return event({"type": kind, **fields, "sequence_number": self._number}, kind)

    def opening(self) -> Iterator[bytes]:
        yield self.one("response.created", response=self.response)
        yield self.one("response.in_progress", response=self.response)

    def item(self, item: Mapping[str, Any], index: int) -> Iterator[bytes]:
        """An output item, from its first event to its last."""
        kind, place = item["type"], {"item_id": item["id"], "output_index": index}
        blank: dict[str, dict[str, Any]] = {
            "message": {"status": "in_progress", "content": []},
            "function_call": {"status": "in_progress", "arguments": ""},
            "reasoning": {"summary": []},
        }
        yield self.one("response.output_item.added", output_index=index, item={**item, **blank[kind]})
        if kind == "message":
            for number, part in enumerate(item["content"]):
                yield from self._text(part, {**place, "content_index": number})
        elif kind == "reasoning":
            for number, part in enumerate(item["summary"]):
                yield from self._summary(part, {**place, "summary_index": number})
        else:
            name = "response.function_call_arguments"
            for piece in cut(item["arguments"]):
                yield self.one(f"{name}.delta", **place, delta=piece)
            yield self.one(f"{name}.done", **place, name=item["name"], arguments=item["arguments"])
        yield self.one("response.output_item.done", output_index=index, item=item)
        self.response["output"] = [*self.response["output"], item]

    def _text(self, part: Mapping[str, Any], place: Mapping[str, Any]) -> Iterator[bytes]:
        yield self.one("response.content_part.added", **place, part={**part, "text": ""})
        for piece in cut(part["text"]):
            yield self.one("response.output_text.delta", **place, delta=piece, logprobs=[])
        yield self.one("response.output_text.done", **place, text=part["text"], logprobs=[])
        yield self.one("response.content_part.done", **place, part=part)

    def _summary(self, part: Mapping[str, Any], place: Mapping[str, Any]) -> Iterator[bytes]:
        yield self.one("response.reasoning_summary_part.added", **place, part={**part, "text": ""})
        for piece in cut(part["text"]):
            yield self.one("response.reasoning_summary_text.delta", **place, delta=piece)
        yield self.one("response.reasoning_summary_text.done", **place, text=part["text"])
        yield self.one("response.reasoning_summary_part.done", **place, part=part)
