"""What a request cost: from the caller's own prices, else from genai-prices (the extra `prices`).

A cost that is not known is None, never 0: a 0 would be added up as if the request had been free.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import NamedTuple, Protocol

from .models import facts

__all__ = ["PRICE_KEYS", "Price", "Tokens", "price", "why_unpriced"]

PRICE_KEYS = ("input", "output", "cache_read", "cache_write_5m", "cache_write_1h")
"""The keys of a caller's own prices, in US dollars per million tokens."""

_MILLION = 1_000_000


class Price(NamedTuple):
    """`cost` in US dollars, and where the prices came from, such as "genai-prices 0.2.3 (aws)"."""

    cost: float
    source: str


class Tokens(Protocol):
    """The tokens of a usage row, None where unknown; `input_tokens` were neither read from nor written to the cache."""

    @property
    def input_tokens(self) -> int | None: ...
    @property
    def output_tokens(self) -> int | None: ...
    @property
    def cache_read_tokens(self) -> int | None: ...
    @property
    def cache_write_5m_tokens(self) -> int | None: ...
    @property
    def cache_write_1h_tokens(self) -> int | None: ...


def price(
    model: str,
    usage: Tokens,
    *,
    prices: Mapping[str, Mapping[str, float]] | None = None,
    at: datetime | None = None,
) -> Price | None:
    """What `usage` of `model` cost, or None where that is not known (`why_unpriced` says why).

    `prices` are the caller's own and go first: by model name, or a pattern with `*`, a dict of `PRICE_KEYS` in US
    dollars per million tokens. `input` and `output` must be there; a cache price that is missing is the input price
    times the model's multiplier. `at` is the time of the request, for prices that change with it; None is now.

    Unknown input or output tokens give None; unknown cache tokens count as none. Raises ValueError for own prices with
    another key, or without `input` and `output`.
    """
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    if prices is not None and (own := _own(model, prices)) is not None:
        return Price(_cost(model, own, usage), "prices given by the caller")
    return _from_package(model, usage, at)


def why_unpriced(
    model: str, usage: Tokens, *, prices: Mapping[str, Mapping[str, float]] | None = None, at: datetime | None = None
) -> str | None:
    """Why `price` gives None for the same arguments, as a sentence; None when it gives a price."""
    if price(model, usage, prices=prices, at=at) is not None:
        return None
    if usage.input_tokens is None or usage.output_tokens is None:
        return "the provider did not report how many tokens were used"
    try:
        import genai_prices  # noqa: F401
    except ImportError:
        return "genai-prices is not installed (the extra `prices` brings it), and no price of your own fits this model"
    return f"no price is known for the model {model!r}; give your own"


def _own(model: str, prices: Mapping[str, Mapping[str, float]]) -> Mapping[str, float] | None:
    """The caller's prices for a model: by its name, by the table's name for it, by the first pattern that fits."""
    known = facts(model).known_as
    found = prices.get(model)
    if found is None and known is not None:
        found = prices.get(known)
    if found is None:
        for pattern, candidate in prices.items():
            if "*" in pattern and fnmatch.fnmatchcase(model.lower(), pattern.lower()):
                found = candidate
                break
    if found is None:
        return None
    if (unknown := found.keys() - set(PRICE_KEYS)) or not {"input", "output"} <= found.keys():
        problem = f"no price is called {min(unknown)!r}" if unknown else "`input` and `output` must be there"
        raise ValueError(f"prices of {model!r}: {problem}; the keys are {', '.join(PRICE_KEYS)}")
    return found


def _cost(model: str, own: Mapping[str, float], usage: Tokens) -> float:
    cache = facts(model).cache
    writes = dict(zip(cache.ttls, cache.writes, strict=True))
    write_5m, write_1h = (own["input"] * writes.get(ttl, cache.write()) for ttl in (300, 3600))
    rates = (
        (usage.input_tokens, own["input"]),
        (usage.output_tokens, own["output"]),
        (usage.cache_read_tokens, own.get("cache_read", own["input"] * cache.read)),
        (usage.cache_write_5m_tokens, own.get("cache_write_5m", write_5m)),
        (usage.cache_write_1h_tokens, own.get("cache_write_1h", write_1h)),
    )
    return sum((tokens or 0) * rate for tokens, rate in rates) / _MILLION


def _from_package(model: str, usage: Tokens, at: datetime | None) -> Price | None:
    try:
        import genai_prices
    except ImportError:
        return None
    written_5m, written_1h = usage.cache_write_5m_tokens or 0, usage.cache_write_1h_tokens or 0
    read = usage.cache_read_tokens or 0
    counted = genai_prices.Usage(
        input_tokens=(usage.input_tokens or 0) + read + written_5m + written_1h,
        cache_read_tokens=read,
        cache_write_tokens=written_5m + written_1h,
        cache_write_5m_tokens=written_5m,
        cache_write_1h_tokens=written_1h,
        output_tokens=usage.output_tokens,
    )
    for provider, name in _candidates(model):
        try:
            found = genai_prices.calc_price(counted, name, provider_id=provider, genai_request_timestamp=at)
        except (LookupError, ValueError):
            continue
        if found.model_price.input_mtok is None and found.model_price.output_mtok is None:
            continue  # it knows the model and not its price, and would answer 0
        return Price(float(found.total_price), f"genai-prices {genai_prices.__version__} ({found.provider.id})")
    return None


def _candidates(model: str) -> Iterator[tuple[str | None, str]]:
    """(provider, name) as genai-prices may know a model, the most telling first: the route it is bought through."""
    known = facts(model)
    tail = model.rpartition("/")[2]
    if "anthropic." in tail or "amazon." in tail:
        yield "aws", tail
    head = model.partition("/")[0]
    if head != model and head not in ("models", "publishers", "projects", "accounts"):
        yield head, model.partition("/")[2]
        yield "openrouter", model.removeprefix("openrouter/")
    if known.provider != "unknown":
        yield known.provider, tail
        if known.known_as is not None:
            yield known.provider, known.known_as
    yield None, model
