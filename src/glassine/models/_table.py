"""The table of models: windows, limits and cache rules, as data.

What a row says is what the provider's pages said in autumn 2026. Where only third parties give the cache minimum, or
nobody does, `minimum_from` says so, and `facts` repeats it in its notes. Multipliers are checked in the tests
against the prices of genai-prices, another source.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

Provider = Literal["anthropic", "openai", "google", "unknown"]

MINUTE, HOUR, DAY = 60, 3600, 86_400


@dataclass(frozen=True, slots=True)
class Cache:
    """How a model's provider caches prompts.

    `kind`: "explicit" (the request marks what is to be cached), "automatic", or "none". `minimum`: tokens below which a
    prefix is silently not cached. `ttl`: the seconds an entry lives when nothing is asked for, counted from its last
    use; `ttls` are those that can be asked for, and `writes` the price of a write for each of them, as a multiple of
    the input price. `read` is the price of a read, likewise. `max_breakpoints`: marks per request. `lookback`: blocks
    before a mark that are searched for an earlier entry, None without a limit.
    """

    kind: Literal["explicit", "automatic", "none"]
    minimum: int = 0
    ttl: int = 0
    ttls: tuple[int, ...] = ()
    max_breakpoints: int = 0
    lookback: int | None = None
    read: float = 1.0
    writes: tuple[float, ...] = ()

    def write(self, ttl: int | None = None) -> float:
        """The price of a write that lives `ttl` seconds (default: `self.ttl`), as a multiple of the input price.

        Raises ValueError for a lifetime that cannot be asked for.
        """
        if self.kind == "none":
            return 1.0
        wanted = self.ttl if ttl is None else ttl
        if wanted not in self.ttls:
            raise ValueError(f"a lifetime of {wanted} s is none of {', '.join(map(str, self.ttls))}")
        return self.writes[self.ttls.index(wanted)]


NO_CACHE = Cache("none")


def anthropic_cache(minimum: int, read: float = 0.1) -> Cache:
    """Anthropic docs, prompt caching and pricing: four marks, 20 blocks of look-back, 5 minutes or an hour."""
    return Cache("explicit", minimum, 5 * MINUTE, (5 * MINUTE, HOUR), 4, 20, read, (1.25, 2.0))


def openai_cache(read: float, *, day: bool = False) -> Cache:
    """OpenAI docs, prompt caching, before GPT-5.6: in memory for 5 to 10 idle minutes, writes free.

    `day`: the model also keeps an entry for 24 hours on request.
    """
    ttls = (5 * MINUTE, DAY) if day else (5 * MINUTE,)
    return Cache("automatic", 1024, 5 * MINUTE, ttls, 0, None, read, (1.0,) * len(ttls))


def openai_new_cache(read: float) -> Cache:
    """OpenAI docs, prompt caching, GPT-5.6 and later: writes are billed, an entry lives 30 minutes at least, marks may
    be set beside the automatic one."""
    return Cache("automatic", 1024, 30 * MINUTE, (30 * MINUTE,), 4, None, read, (1.25,))


def gemini_cache(minimum: int, read: float = 0.1) -> Cache:
    """Gemini docs, implicit caching. No lifetime is promised; five minutes is our caution."""
    return Cache("automatic", minimum, 5 * MINUTE, (5 * MINUTE,), 0, None, read, (1.0,))


class Row(NamedTuple):
    """One line of the table. `pattern` must match the whole plain name; the first row that does counts."""

    name: str
    pattern: str
    provider: Provider
    context_window: int
    max_output: int
    cache: Cache
    binds_thinking: bool = False
    minimum_from: Literal["provider", "third parties", "assumed"] = "provider"


def _claude(
    name: str,
    window: int,
    output: int,
    minimum: int,
    read: float = 0.1,
    *,
    binds: bool = False,
    minimum_from: Literal["provider", "third parties", "assumed"] = "third parties",
) -> Row:
    return Row(
        f"claude-{name}",
        f"claude-{name}",
        "anthropic",
        window,
        output,
        anthropic_cache(minimum, read),
        binds,
        minimum_from,
    )


def _openai(name: str, pattern: str, window: int, output: int, cache: Cache) -> Row:
    return Row(name, pattern, "openai", window, output, cache)


def _gemini(name: str, pattern: str, window: int, output: int, cache: Cache, *, assumed: bool = False) -> Row:
    return Row(name, pattern, "google", window, output, cache, False, "assumed" if assumed else "provider")


M, K128 = 1_000_000, 128_000

ROWS: tuple[Row, ...] = (
    # Thinking is bound to its prefix from Fable 5.1 on (Anthropic docs, preserved thinking: supported models).
    _claude("fable-5-2", M, K128, 512, 0.025, binds=True, minimum_from="assumed"),
    _claude("fable-5-1", M, K128, 512, 0.025, binds=True, minimum_from="assumed"),
    _claude("fable-5", M, K128, 512),
    _claude("mythos-5-2", M, K128, 512, 0.025, binds=True, minimum_from="assumed"),
    _claude("mythos-5-1", M, K128, 512, 0.025, binds=True, minimum_from="assumed"),
    _claude("mythos-5", M, K128, 512),
    _claude("opus-5-5", M, K128, 512, 0.05, binds=True, minimum_from="assumed"),
    _claude("opus-5", M, K128, 512),
    _claude("sonnet-5-5", M, K128, 1024, 0.05, binds=True, minimum_from="assumed"),
    _claude("sonnet-5", M, K128, 1024),
    _claude("haiku-5-5", M, K128, 4096, binds=True, minimum_from="assumed"),
    _claude("opus-4-8", M, K128, 1024),
    _claude("opus-4-7", M, K128, 2048),
    _claude("opus-4-6", M, K128, 4096),
    _claude("sonnet-4-6", M, K128, 1024),
    _claude("opus-4-5", 200_000, 64_000, 4096),
    _claude("sonnet-4-5", 200_000, 64_000, 1024),
    _claude("haiku-4-5", 200_000, 64_000, 4096),
    _claude("opus-4-1", 200_000, 32_000, 1024),
    _claude("opus-4", 200_000, 32_000, 1024),
    _claude("sonnet-4", 200_000, 64_000, 1024),
    _claude("sonnet-3-7", 200_000, 64_000, 1024, minimum_from="provider"),
    _claude("sonnet-3-5", 200_000, 8_192, 1024, minimum_from="provider"),
    _claude("haiku-3-5", 200_000, 8_192, 2048, minimum_from="provider"),
    _claude("opus-3", 200_000, 4_096, 1024, minimum_from="provider"),
    _claude("haiku-3", 200_000, 4_096, 2048, 0.12, minimum_from="provider"),
    _openai("gpt-6.1, gpt-6.2", r"gpt-6\.[12](?:-(?:sol|terra|luna))?", 1_050_000, K128, openai_new_cache(0.05)),
    _openai("gpt-6", r"gpt-6(?:-(?:astra|sol|luna|rosalind))?", 1_050_000, K128, openai_new_cache(0.1)),
    _openai("gpt-5.6", r"gpt-5\.6(?:-(?:sol|terra|luna))?", 1_050_000, K128, openai_new_cache(0.1)),
    _openai("gpt-5.5", r"gpt-5\.5", M, K128, openai_cache(0.1, day=True)),
    _openai("gpt-5.5-pro", r"gpt-5\.5-pro", M, K128, NO_CACHE),
    _openai("gpt-5.4", r"gpt-5\.4", 1_050_000, K128, openai_cache(0.1, day=True)),
    _openai("gpt-5.4-pro", r"gpt-5\.4-pro", 1_050_000, K128, NO_CACHE),
    _openai("gpt-5.4-mini, -nano", r"gpt-5\.4-(?:mini|nano)", 400_000, K128, openai_cache(0.1)),
    _openai("gpt-5-chat", r"gpt-5(?:\.[123])?-chat|gpt-5\.3", K128, 16_384, openai_cache(0.1)),
    _openai("gpt-5-pro, gpt-5.2-pro", r"gpt-5(?:\.2)?-pro", 400_000, K128, NO_CACHE),
    _openai("gpt-5.1, gpt-5.2", r"gpt-5\.[12](?:-codex(?:-max)?)?", 400_000, K128, openai_cache(0.1, day=True)),
    _openai("gpt-5", r"gpt-5(?:-codex)?", 400_000, K128, openai_cache(0.1, day=True)),
    _openai(
        "gpt-5-mini, -nano; -codex",
        r"gpt-5-(?:mini|nano)|gpt-5\.1-codex-mini|gpt-5\.3-codex",
        400_000,
        K128,
        openai_cache(0.1),
    ),
    _openai("gpt-4.1", r"gpt-4\.1", 1_047_576, 32_768, openai_cache(0.25, day=True)),
    _openai("gpt-4.1-mini, -nano", r"gpt-4\.1-(?:mini|nano)", 1_047_576, 32_768, openai_cache(0.25)),
    _openai("gpt-4o", r"gpt-4o(?:-mini)?", K128, 16_384, openai_cache(0.5)),
    _openai("gpt-4-turbo", r"gpt-4-turbo(?:-preview)?|gpt-4-(?:1106|0125)-preview", K128, 4_096, NO_CACHE),
    _openai("gpt-4", r"gpt-4", 8_192, 8_192, NO_CACHE),
    _openai("gpt-3.5-turbo", r"gpt-3\.5-turbo(?:-16k)?", 16_385, 4_096, NO_CACHE),
    _openai("o3, o4-mini", r"o3|o4-mini", 200_000, 100_000, openai_cache(0.25)),
    _openai("o1, o3-mini", r"o1|o3-mini", 200_000, 100_000, openai_cache(0.5)),
    _openai("o1-pro, o3-pro", r"o[13]-pro", 200_000, 100_000, NO_CACHE),
    _openai("codex-mini", r"codex-mini", 200_000, 100_000, openai_cache(0.25)),
    # Open weights: who serves them decides about caching.
    _openai("gpt-oss", r"gpt-oss(?:[-:](?:20b|120b))?", 131_072, 131_072, NO_CACHE),
    _gemini("gemini-4-argon", r"gemini-4-argon", 1_048_576, 65_536, gemini_cache(4096, 0.05)),
    _gemini("gemini-3.1-pro", r"gemini-3(?:\.1)?-pro(?:-preview)?", 1_048_576, 65_536, gemini_cache(4096)),
    _gemini("gemini-3.5 to 3.8 flash", r"gemini-3\.[5-8]-flash", 1_048_576, 65_536, gemini_cache(4096)),
    _gemini(
        "gemini-3 flash, flash-lite",
        r"gemini-3-flash(?:-preview)?|gemini-3\.[15]-flash-lite(?:-preview)?",
        1_048_576,
        65_536,
        gemini_cache(4096),
        assumed=True,
    ),
    _gemini("gemini-2.5", r"gemini-2\.5-(?:pro|flash)(?:-preview)?", 1_048_576, 65_535, gemini_cache(2048)),
    _gemini(
        "gemini-2.5-flash-lite",
        r"gemini-2\.5-flash-lite(?:-preview)?",
        1_048_576,
        65_535,
        gemini_cache(2048),
        assumed=True,
    ),
    _gemini("gemini-2.0-flash", r"gemini-2\.0-flash(?:-lite|-exp)?", 1_048_576, 8_192, NO_CACHE),
)

# A model of a known maker that has no row. A newer Claude may bind thinking, and takes 4096 tokens at most to cache.
CAUTION: dict[Provider, Row] = {
    "anthropic": Row("another Claude", "claude.*", "anthropic", 200_000, 4_096, anthropic_cache(4096), True, "assumed"),
    "openai": Row(
        "another OpenAI model",
        r"(?:chat)?gpt-.*|o\d.*|codex-.*",
        "openai",
        K128,
        4_096,
        openai_cache(1.0),
        False,
        "assumed",
    ),
    "google": Row("another Gemini", "gemini-.*", "google", K128, 8_192, gemini_cache(4096, 1.0), False, "assumed"),
    "unknown": Row("any other model", ".*", "unknown", K128, 4_096, NO_CACHE),
}


@lru_cache(256)
def find(plain: str) -> tuple[Row, bool]:
    """The row for a plain name, and whether it is of this very model (False: only the caution for its maker)."""
    for row in ROWS:
        if re.fullmatch(row.pattern, plain):
            return row, True
    for row in CAUTION.values():
        if re.fullmatch(row.pattern, plain, re.DOTALL):
            return row, False
    return CAUTION["unknown"], False
