"""How large something is for a model: the estimate that stands in for the provider's own tokenizer."""

from __future__ import annotations

import json
from typing import Any

from glassine.tokens import estimate_tokens, family_of


def canonical(value: Any) -> bytes:
    """JSON bytes that are the same for equal values in the same order of keys."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode("ascii")


def count(value: Any, model: str) -> int:
    """Tokens of a text, or of the JSON of anything else."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return estimate_tokens(text, family_of(model))
