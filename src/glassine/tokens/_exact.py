"""Exact counting, where the optional package `toktok-rs` is installed."""

from __future__ import annotations

from collections.abc import Callable

TokenCounter = Callable[[str], int]
"""What counts the tokens of a text. `estimate_tokens` is one."""


def o200k_counter() -> TokenCounter:
    """A counter that gives the exact tokens of a text in o200k, as OpenAI's models since GPT-4o count them.

    The package and its vocabulary are loaded on the first count, which takes about half a second and 65 MB. Raises
    ModuleNotFoundError here and now when `toktok-rs` is not installed. Lone surrogates are counted as U+FFFD.
    """
    from importlib.util import find_spec

    if find_spec("toktok") is None:
        raise ModuleNotFoundError("exact counts need the package toktok-rs: pip install toktok-rs", name="toktok")

    def count(text: str) -> int:
        import toktok

        if not text.isascii():
            text = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
        counted: int = toktok.batch_count([text], "o200k_base")[0]
        return counted

    return count
