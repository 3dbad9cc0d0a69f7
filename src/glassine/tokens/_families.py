"""Which family of tokenizers a model belongs to, by its name."""

from __future__ import annotations

import re

_CLAUDE = re.compile(r"(?:claude|sonnet|opus|haiku|fable)(.*)")
# The first number that is no date: "3-5" in claude-3-5-sonnet-20241022, "4" in claude-opus-4-20250514.
_CLAUDE_VERSION = re.compile(r"(?<!\d)(\d{1,2})(?!\d)(?:[-.](\d{1,2})(?!\d))?")
_GPT = re.compile(r"gpt-?(\d+)(\.\d|o)?")
_O200K = re.compile(r"gpt-(?:oss|realtime|audio)|(?:^|[/:.])(?:o\d+(?:$|[-@:])|codex-|computer-use)")
_GEMINI = re.compile(r"gemini|gemma")


def family_of(model: str) -> str:
    """The family of `estimate_tokens` for a model's name, as providers and gateways write it.

    Prefixes of providers, regions, dates and case do not matter (`us.anthropic.claude-opus-4-7-v1:0` is `claude48`).
    A Claude without a version is taken for the newest. GPT-4 and older, and whatever is not known, are `safe`.
    """
    name = model.lower()
    if claude := _CLAUDE.search(name):
        version = _CLAUDE_VERSION.search(claude[1])
        return "claude48" if version is None or (int(version[1]), int(version[2] or 0)) >= (4, 7) else "claude3"
    if gpt := _GPT.search(name):
        return "o200k" if int(gpt[1]) in range(5, 20) or (gpt[1] == "4" and gpt[2]) else "safe"
    if _O200K.search(name):
        return "o200k"
    return "gemma3" if _GEMINI.search(name) else "safe"
