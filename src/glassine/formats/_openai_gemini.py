"""Google's thought signatures in Chat Completions, as its models give and want them there: beside each call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._gemini_values import base64_of, own


def with_signature(part: dict[str, Any], call: Mapping[str, Any]) -> dict[str, Any]:
    """The part for a call, with the signature that came in its `extra_content`, if one did."""
    match call:
        case {"extra_content": {"google": {"thought_signature": str(signature)}}}:
            if (kept := base64_of(signature)) is not None:
                held = {**part.get("providerMetadata", {}), "google": {"thoughtSignature": kept}}
                return {**part, "providerMetadata": held}
    return part


def signed(call: dict[str, Any], part: Mapping[str, Any]) -> dict[str, Any]:
    """A call of a request to a Gemini, with the signature of its part, if that has one."""
    signature = base64_of(own(part).get("thoughtSignature"))
    return call if signature is None else {**call, "extra_content": {"google": {"thought_signature": signature}}}


def is_gemini(model: str | None) -> bool:
    """Whether a model takes signatures, by its name. Other servers refuse fields that they do not know."""
    return model is not None and "gemini" in model.lower()
