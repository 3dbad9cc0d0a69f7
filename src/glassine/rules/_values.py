"""Looking into requests of any shape."""

from __future__ import annotations

import json
from typing import Any


def unwritable(value: Any) -> str | None:
    """Why a value cannot be sent as JSON in UTF-8, if it cannot."""
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except UnicodeEncodeError:
        return "a text holds a lone surrogate"
    except RecursionError:
        return "it is nested too deeply"
    except (TypeError, ValueError) as error:
        return str(error)
    return None


def is_int(value: Any) -> bool:
    """Whether a value is a JSON integer: Python's bool is an int, JSON's is not."""
    return isinstance(value, int) and not isinstance(value, bool)


def dicts(value: Any) -> list[tuple[int, dict[str, Any]]]:
    """The objects in what should be a list of objects, each with its index."""
    return [(i, item) for i, item in enumerate(value) if isinstance(item, dict)] if isinstance(value, list) else []
