"""Collecting what is wrong with a request, and the checks that several APIs share."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Collection, Mapping
from typing import Any

from ._table import Violation

_INDEX = re.compile(r"\.(\d+)")


class Findings:
    """The violations of one API met so far. `add` takes the id of a rule without the API's prefix."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self.found: list[Violation] = []

    def add(self, rule: str, path: str, text: str) -> None:
        self.found.append(Violation(f"{self._prefix}.{rule}", path, text))


def bracketed(path: str) -> str:
    """A path as OpenAI and Google write it: "messages[1].content[0]" for "messages.1.content.0"."""
    return _INDEX.sub(r"[\1]", path)


def listed(values: Collection[str]) -> str:
    """The names in quotes, the way OpenAI lists what it would have taken."""
    names = [f"'{name}'" for name in values]
    if len(names) < 3:
        return " and ".join(names)
    return f"{', '.join(names[:-1])}, and {names[-1]}"


def kind_of(value: Any) -> str:
    """What a value is, in OpenAI's words."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int():
            return "an integer"
        case float():
            return "a decimal"
        case str():
            return "a string"
        case list():
            return "an array"
        case _:
            return "an object"


def is_base64(text: str) -> bool:
    """Whether a text is base64 of at least one byte, in either alphabet, padded or not."""
    plain = text.translate(str.maketrans("-_", "+/")).rstrip("=")
    try:
        return bool(base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True))
    except (binascii.Error, ValueError):
        return False


def has_text(value: Any, word: str) -> bool:
    """Whether any text inside a value holds `word`, in any case of letters."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            if word in item.lower():
                return True
        elif isinstance(item, Mapping):
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
    return False
