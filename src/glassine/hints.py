"""Where a request should have its cache breakpoints, and for how long what they cover should be kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .messages import Message

Retention = Literal["none", "short", "long"]
RETENTIONS: tuple[Retention, ...] = ("none", "short", "long")


@dataclass(frozen=True, slots=True)
class CacheHints:
    """Cache breakpoints: after the tools and the system prompt (`prefix`), and after these of the view's `messages`.

    `retention` is how long the provider is asked to keep what they cover: "short" (its usual lifetime), "long" (its
    longer one, where it has one) or "none" (it is not asked to cache).
    """

    prefix: bool
    messages: tuple[int, ...]
    retention: Retention


def place(messages: Sequence[Message], retention: Retention, most: int) -> CacheHints:
    """At most `most` breakpoints: the newest message; where the request before this one ended, so that what it wrote
    is found again however much came since; and the end of the prompt.

    Source: Anthropic looks back 20 blocks from a breakpoint, and finds only what was written at one.
    """
    if retention not in RETENTIONS:
        raise ValueError(f"cache_retention must be one of {', '.join(RETENTIONS)}, not {retention!r}")
    if retention == "none" or most < 1:
        return CacheHints(False, (), retention)
    wanted = []
    if messages:
        wanted.append(len(messages) - 1)
        newest = next((i for i in range(len(messages) - 1, -1, -1) if messages[i].role == "assistant"), None)
        if newest is not None and 0 < newest <= len(messages) - 1:
            wanted.append(newest - 1)
    kept = wanted[: most - 1]
    return CacheHints(True, tuple(sorted(set(kept))), retention)
