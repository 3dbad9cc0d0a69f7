"""Rules of the openai API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._table import Limits, Rule, Violation

RULES: tuple[Rule, ...] = ()


def check(request: Mapping[str, Any], limits: Limits) -> list[Violation]:
    """Every rule that the request breaks, in reading order."""
    return []
