"""Exact counting, where the optional package `toktok-rs` is installed."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec

_LONE = re.compile("[\ud800-\udfff]")

TokenCounter = Callable[[str], int]
"""What counts the tokens of a text. `estimate_tokens` is one."""


def o200k_counter() -> TokenCounter:
    """A counter that gives the exact tokens of a text in o200k, as OpenAI's models since GPT-4o count them.

    The package and its vocabulary are loaded on the first count, which takes about half a second and 65 MB. Raises
    ModuleNotFoundError here and now when `toktok-rs` is not installed. Lone surrogates are counted as U+FFFD.
    """
    if find_spec("toktok") is None:
        raise ModuleNotFoundError("exact counts need toktok-rs: pip install 'glassine[exact]'", name="toktok")

    def count(text: str) -> int:
        counts: list[int] = import_module("toktok").batch_count([_LONE.sub("\ufffd", text)], "o200k_base")
        return counts[0]

    return count
