"""One name for a model, however a provider, a cloud or a gateway writes it."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

Route = Literal["direct", "bedrock", "vertex", "gateway"]


class Name(NamedTuple):
    """`plain` is the name alone, in lower case; `route` how it was written; `long_context` that `[1m]` stood behind."""

    plain: str
    route: Route
    long_context: bool


_LONG = re.compile(r"\[1m\]$")
_VENDOR = re.compile(
    r"^(?:(?:us-gov|us|eu|apac|au|ca|jp|global)\.)?(anthropic|openai|google|meta|mistral|amazon|qwen)\."
)
_BEDROCK_VERSION = re.compile(r"-v\d+(?::\d+)*(?::\d+k)?$|-\d+:\d+$")
_VARIANT = re.compile(r":[a-z][a-z0-9_-]*$")
_DATE = re.compile(r"-(?:20\d{6}|20\d\d-\d\d-\d\d|\d\d-20\d\d|(?<=preview-)\d\d-\d\d)$")
_SNAPSHOT = re.compile(r"-(?:latest|\d{4}|00\d)$")

_CLAUDE_LINE = re.compile(r"opus|sonnet|haiku|fable|mythos")
_CLAUDE_VERSION = re.compile(r"(?<![\d.])(\d{1,2})(?:[-.](\d{1,2}))?(?![\d.])")


def parse(model: str) -> Name:
    """The parts of a model's name as it was written."""
    name = model.strip().lower()
    long_context = _LONG.search(name) is not None
    name = _LONG.sub("", name)
    head, _, tail = name.rpartition("/")
    route: Route = "direct"
    if vendor := _VENDOR.match(tail):
        tail, route = tail[vendor.end() :], "bedrock"
    elif "@" in tail or "publishers/" in head:
        tail, route = tail.partition("@")[0], "vertex"
    elif head and head not in ("models", "tunedmodels"):
        route = "gateway"
    tail = _BEDROCK_VERSION.sub("", tail)
    tail = _VARIANT.sub("", tail)
    # A date may stand before a snapshot word or behind it.
    for _ in range(2):
        tail = _SNAPSHOT.sub("", _DATE.sub("", tail))
    tail = tail.strip()
    return Name(_claude(tail) or tail, route, long_context)


def _claude(name: str) -> str | None:
    """`claude-<line>-<major>-<minor>`, the order the newer names have: `claude-3.5-sonnet` is `claude-sonnet-3-5`."""
    line = _CLAUDE_LINE.search(name)
    if line is None or not ("claude" in name or name.startswith(line[0])):
        return None
    version = _CLAUDE_VERSION.search(name)
    if version is None:
        return f"claude-{line[0]}"
    minor = version[2]
    return f"claude-{line[0]}-{version[1]}" + (f"-{minor}" if minor and minor != "0" else "")
