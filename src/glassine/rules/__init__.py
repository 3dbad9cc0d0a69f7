"""What the providers' servers refuse, as one table of rules and one function that judges a whole request by it.

    for violation in rules.violations("anthropic", {"model": …, "max_tokens": …, "messages": […]}):
        print(violation.path, violation.text)

`request` is the body of the request as plain data: the keyword arguments of the official SDK's call. Nothing is sent
and nothing is changed. The judgement is as strict as the documentation and recorded refusals of the provider; what
neither of them mentions passes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import _anthropic, _gemini, _openai_chat, _openai_responses
from ._table import APIS, Api, Limits, Rule, Violation

__all__ = ["APIS", "RULES", "Api", "Limits", "Rule", "Violation", "violations"]

RULES: tuple[Rule, ...] = (*_anthropic.RULES, *_openai_chat.RULES, *_openai_responses.RULES, *_gemini.RULES)
"""Every rule of every API; ids are unique."""

_NOTHING_KNOWN = Limits()

_CHECKS = {
    "anthropic": _anthropic.check,
    "openai": _openai_chat.check,
    "openai_responses": _openai_responses.check,
    "gemini": _gemini.check,
}


def violations(api: Api, request: Mapping[str, Any], *, facts: Limits = _NOTHING_KNOWN) -> list[Violation]:
    """Every rule of `api` that `request` breaks, in the order a reader of the request meets them; [] for a good one.

    Never raises for a malformed request, whatever stands in it. Raises ValueError for an unknown `api`.
    """
    if api not in _CHECKS:
        raise ValueError(f"unknown API {api!r}; known are {', '.join(APIS)}")
    return _CHECKS[api](request, facts)
