"""An Anthropic request as the server sees it: one row of blocks, tools first, then system, then messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

_MARK = "cache_control"
UNCACHEABLE = ("thinking", "redacted_thinking")


class Block(NamedTuple):
    """One block of a request: where it stands ("tools", "system", or the role of its message), what it is without
    its cache marks, the lifetime its mark asks for ("5m", "1h", None without one), and its message and position."""

    place: str
    value: Mapping[str, Any]
    ttl: str | None
    message: int = -1
    position: int = -1

    @property
    def kind(self) -> Any:
        return self.value.get("type")


def blocks_of(request: Mapping[str, Any]) -> list[Block]:
    """The blocks of a request that has been judged good. A plain text counts as the one text block it stands for."""
    found = [Block("tools", *_unmarked(tool)) for tool in request.get("tools") or ()]
    found += [Block("system", *_unmarked(block)) for block in _listed(request.get("system") or ())]
    for number, message in enumerate(request["messages"]):
        for position, block in enumerate(_listed(message["content"])):
            found.append(Block(message["role"], *_unmarked(block), number, position))
    return found


def _listed(content: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(content, str):
        if content:
            yield {"type": "text", "text": content}
    else:
        yield from content


def _unmarked(block: Mapping[str, Any]) -> tuple[dict[str, Any], str | None]:
    """A block without its marks; a mark inside a tool result counts as one of the result."""
    value = {name: item for name, item in block.items() if name != _MARK}
    ttl = _ttl(block)
    if isinstance(value.get("content"), list):
        inner = [_unmarked(item) if isinstance(item, dict) else (item, None) for item in value["content"]]
        value["content"] = [item for item, _ in inner]
        for _, inner_ttl in inner:
            ttl = ttl or inner_ttl
    return value, ttl


def _ttl(holder: Mapping[str, Any]) -> str | None:
    mark = holder.get(_MARK)
    return (mark.get("ttl") or "5m") if mark else None


def automatic_ttl(request: Mapping[str, Any]) -> str | None:
    """The lifetime of the automatic mark of a whole request, None without one."""
    return _ttl(request)
