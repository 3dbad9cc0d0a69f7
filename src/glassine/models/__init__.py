"""What is known about a model: its window, its limits, how its provider caches prompts.

`facts(model)` looks a name up, however it is written, and every value can be overridden: a gateway or a new model may
differ from the table. What is not known gets cautious values and a note, never an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from ..tokens import family_of
from ._names import Name, parse
from ._table import CAUTION, Cache, Provider, Row, find

__all__ = ["Cache", "Model", "Provider", "facts"]


@dataclass(frozen=True, slots=True)
class Model:
    """The facts about one model.

    `name` is as it was given, `known_as` the name that the table knows it by (None: it has no row). `provider` says
    whose rules hold, `family` which estimate of `glassine.tokens` is its own. `context_window` and `max_output` are
    tokens. `binds_thinking`: a thinking block is only accepted behind the exact prefix that it was made on. `notes` say
    what is uncertain, in sentences for people.
    """

    name: str
    known_as: str | None
    provider: Provider
    family: str
    context_window: int
    max_output: int
    cache: Cache
    binds_thinking: bool
    notes: tuple[str, ...] = ()

    @property
    def plain_name(self) -> str:
        """The name without what clouds, gateways and dates add to it: the same for the same model."""
        return self.known_as or parse(self.name).plain


_OVERRIDES = tuple(field.name for field in fields(Model) if field.name not in ("name", "known_as", "provider"))
_PROVIDERS: dict[str, Provider] = {
    "anthropic": "anthropic",
    "openai": "openai",
    "azure": "openai",
    "google": "google",
    "gemini": "google",
    "unknown": "unknown",
}


def facts(model: str, *, provider: str | None = None, **overrides: Any) -> Model:
    """What is known about `model`, as providers, clouds and gateways write its name.

    `provider` names the maker ("anthropic", "openai", "azure", "google", "gemini") for a name that does not tell, such
    as a deployment's; others ("bedrock", "openrouter") are routes and decide nothing. `overrides` replace single
    values: `context_window`, `max_output`, `family`, `binds_thinking`, `notes`, and `cache`, a Cache or a dict of those
    of its fields that differ.

    A name without a row gets cautious values: a small window, a small output, a cache only where its maker is known
    to have one, bound thinking for an unknown Claude. Raises TypeError for an override that does not exist, ValueError
    for one that makes no sense.
    """
    name = parse(model)
    row, known = find(name.plain)
    named = _PROVIDERS.get(provider.lower()) if provider is not None else None
    if not known and named is not None:
        row = CAUTION[named]
    found = Model(
        name=model,
        known_as=name.plain if known else None,
        provider=row.provider,
        family=_family(model, row.provider),
        context_window=row.context_window,
        max_output=row.max_output,
        cache=row.cache,
        binds_thinking=row.binds_thinking,
        notes=tuple(_notes(model, name, row, known)),
    )
    if name.long_context and row.provider == "anthropic" and row.context_window < 1_000_000:
        found = replace(found, context_window=1_000_000, notes=(*found.notes, "[1m] asks for the long window (beta)"))
    return _overridden(found, overrides) if overrides else found


def _family(model: str, provider: Provider) -> str:
    family = family_of(model)
    if family != "safe":
        return family
    return {"anthropic": "claude48", "google": "gemma3"}.get(provider, "safe")


def _notes(model: str, name: Name, row: Row, known: bool) -> list[str]:
    notes = []
    if not known:
        notes.append(f"{model!r} is not in the table: these are the cautious values for {row.name!r}; override them")
    if row.cache.kind != "none" and row.minimum_from != "provider":
        how = "comes from third parties" if row.minimum_from == "third parties" else "is assumed"
        notes.append(f"the smallest cacheable prefix ({row.cache.minimum} tokens) {how}")
    if row.provider == "google" and row.cache.kind == "automatic":
        notes.append(f"no cache lifetime is promised; {row.cache.ttl} s is assumed")
    if row.cache.kind != "none" and name.route in ("bedrock", "gateway"):
        notes.append("clouds and gateways list partly different cache minima and lifetimes")
    return notes


def _overridden(model: Model, overrides: Mapping[str, Any]) -> Model:
    if unknown := overrides.keys() - set(_OVERRIDES):
        raise TypeError(f"facts() knows no {min(unknown)!r}; it takes {', '.join(_OVERRIDES)}")
    values = dict(overrides)
    cache = values.get("cache")
    if isinstance(cache, Mapping):
        values["cache"] = _cache(model.cache, cache)
    changed = replace(model, **values)
    for field in ("context_window", "max_output"):
        if not isinstance(value := getattr(changed, field), int) or value < 1:
            raise ValueError(f"{field} must be a number of tokens, not {value!r}")
    return changed


def _cache(known: Cache, changes: Mapping[str, Any]) -> Cache:
    """A cache with the caller's changes. A lifetime may be given without its price: that of `known`'s first."""
    cache = replace(known, **changes)
    if cache.kind == "none":
        return cache
    if "ttl" in changes and "ttls" not in changes and cache.ttl not in cache.ttls:
        cache = replace(cache, ttls=(cache.ttl,))
    if "writes" not in changes and cache.ttls != known.ttls:
        write = known.writes[0] if known.writes else 1.0
        cache = replace(cache, writes=(write,) * len(cache.ttls))
    if cache.ttl <= 0 or cache.ttl not in cache.ttls or len(cache.writes) != len(cache.ttls):
        raise ValueError("a cache needs a `ttl` that is among its `ttls`, and one price in `writes` for each of them")
    return cache
