"""What is known about models: names in every spelling, cautious values, overrides, prices, and the page about them."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import genai_prices
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassine.models import Cache, facts
from glassine.models._table import CAUTION, ROWS
from glassine.pricing import Price, price, why_unpriced
from glassine.records import Usage
from glassine.tokens import FAMILIES

PAGE = Path(__file__).parent.parent / "docs" / "models.md"
AUTUMN = datetime(2026, 11, 1, tzinfo=UTC)
USAGE = Usage(input_tokens=10_000, cache_read_tokens=80_000, cache_write_5m_tokens=10_000, output_tokens=1_000)


@pytest.mark.parametrize(
    ("model", "known_as"),
    [
        ("claude-sonnet-4-5", "claude-sonnet-4-5"),
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("claude-sonnet-4-5-20250929[1m]", "claude-sonnet-4-5"),
        ("Claude-Sonnet-4.5", "claude-sonnet-4-5"),
        ("anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"),
        ("openrouter/anthropic/claude-3.7-sonnet:thinking", "claude-sonnet-3-7"),
        ("claude-3-5-sonnet-latest", "claude-sonnet-3-5"),
        ("claude-opus-4-0", "claude-opus-4"),
        ("claude-opus-4-20250514", "claude-opus-4"),
        ("us.anthropic.claude-opus-4-7-v1:0", "claude-opus-4-7"),
        ("global.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
        ("anthropic.claude-3-haiku-20240307-v1:0:200k", "claude-haiku-3"),
        ("arn:aws:bedrock:eu-west-1:1:inference-profile/eu.anthropic.claude-sonnet-4-6", "claude-sonnet-4-6"),
        ("claude-opus-4-1@20250805", "claude-opus-4-1"),
        ("publishers/anthropic/models/claude-opus-4-5@20251101", "claude-opus-4-5"),
        ("gpt-4o-2024-08-06", "gpt-4o"),
        ("gpt-4-0613", "gpt-4"),
        ("openai/gpt-5", "gpt-5"),
        ("azure/gpt-5", "gpt-5"),
        ("gpt-6.2-sol", "gpt-6.2-sol"),
        ("o3-2025-04-16", "o3"),
        ("openai.gpt-oss-120b-1:0", "gpt-oss-120b"),
        ("gpt-oss:20b", "gpt-oss:20b"),
        ("models/gemini-2.5-pro", "gemini-2.5-pro"),
        ("gemini-2.5-flash-preview-09-2025", "gemini-2.5-flash-preview"),
        ("gemini-2.5-pro-preview-05-06", "gemini-2.5-pro-preview"),
        ("gemini-2.0-flash-001", "gemini-2.0-flash"),
        ("claude-opus-9", None),
        ("claude", None),
        ("gemini-2.5-pro-preview-tts", None),
        ("gpt-7", None),
        ("llama3:8b", None),
        ("", None),
    ],
)
def test_a_model_is_known_in_every_spelling(model: str, known_as: str | None) -> None:
    assert facts(model).known_as == known_as


def test_every_row_is_in_itself_right() -> None:
    for known in [*ROWS, *CAUTION.values()]:
        cache = known.cache
        assert known.context_window >= known.max_output > 0
        assert len(cache.ttls) == len(cache.writes)
        assert 0 < cache.read <= 1 <= min(cache.writes, default=1)
        assert (cache.kind == "none") == (cache.minimum == 0)
        if cache.kind != "none":
            assert cache.write() == cache.writes[0] == cache.write(cache.ttls[0])


def test_rows_do_not_hide_each_other() -> None:
    for row in ROWS:
        names = [name for name in re.split(r", ", row.name) if re.fullmatch(row.pattern, name)]
        for name in names:
            assert next(other for other in ROWS if re.fullmatch(other.pattern, name)) is row


def test_the_cache_rules_that_matter() -> None:
    cache = facts("claude-opus-4-5").cache
    assert cache == Cache("explicit", 4096, 300, (300, 3600), 4, 20, 0.1, (1.25, 2.0))
    assert (cache.write(), cache.write(3600)) == (1.25, 2.0)
    with pytest.raises(ValueError, match="a lifetime of 60 s is none of 300, 3600"):
        cache.write(60)
    assert facts("gpt-5").cache.kind == "automatic"
    assert facts("gpt-5").cache.write(86_400) == 1.0
    assert facts("gpt-5.6-sol").cache.writes == (1.25,)
    assert facts("llama3").cache == Cache("none")
    assert facts("llama3").cache.write() == 1.0


def test_which_models_bind_thinking() -> None:
    binding = ["claude-fable-5-2", "claude-fable-5-1", "claude-mythos-5-1", "claude-opus-5-5", "claude-sonnet-5-5"]
    assert all(facts(model).binds_thinking for model in [*binding, "claude-haiku-5-5", "claude-opus-9", "opus"])
    assert not any(facts(model).binds_thinking for model in ["claude-fable-5", "claude-opus-5", "gpt-6", "x"])


def test_what_is_not_known_is_cautious_and_says_so() -> None:
    unknown = facts("my-model")
    assert (unknown.provider, unknown.family, unknown.context_window) == ("unknown", "safe", 128_000)
    assert unknown.cache.kind == "none"
    assert "not in the table" in unknown.notes[0]
    newer = facts("claude-opus-9")
    assert (newer.provider, newer.context_window, newer.cache.minimum) == ("anthropic", 200_000, 4096)
    assert facts("deployment-7", provider="azure").provider == "openai"
    assert facts("deployment-7", provider="bedrock").provider == "unknown"
    # A provider that is named never overrules a name that is known.
    assert facts("claude-sonnet-4-5", provider="openai").provider == "anthropic"


def test_notes_name_what_is_uncertain() -> None:
    assert facts("gpt-5").notes == ()
    assert "third parties" in facts("claude-opus-5").notes[0]
    assert "assumed" in facts("claude-opus-5-5").notes[0]
    assert any("gateways" in note for note in facts("us.anthropic.claude-opus-4-7-v1:0").notes)
    assert any("no cache lifetime" in note for note in facts("gemini-2.5-pro").notes)
    assert facts("claude-sonnet-4-5[1m]").context_window == 1_000_000


def test_every_value_can_be_overridden() -> None:
    mine = facts("claude-sonnet-4-6", context_window=64_000, max_output=1, cache={"minimum": 2048}, notes=())
    assert (mine.context_window, mine.max_output, mine.notes) == (64_000, 1, ())
    assert mine.cache == replace(facts("claude-sonnet-4-6").cache, minimum=2048)
    assert facts("x", cache=Cache("none")).cache.kind == "none"
    gateway = facts("x", cache={"kind": "automatic", "minimum": 256, "ttl": 600, "read": 0.1}).cache
    assert (gateway.ttls, gateway.writes, gateway.write()) == ((600,), (1.0,), 1.0)
    assert facts("x", binds_thinking=True, family="o200k").family == "o200k"


@pytest.mark.parametrize(
    ("overrides", "error"),
    [
        ({"window": 5}, TypeError),
        ({"name": "x"}, TypeError),
        ({"context_window": 0}, ValueError),
        ({"max_output": "many"}, ValueError),
        ({"cache": {"size": 3}}, TypeError),
        ({"cache": {"ttl": 9, "ttls": (1, 2)}}, ValueError),
        ({"cache": {"writes": (1.0,)}}, ValueError),
        ({"cache": {"ttl": 0}}, ValueError),
    ],
)
def test_wrong_overrides_are_errors(overrides: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        facts("claude-sonnet-4-6", **overrides)


@given(st.text())
def test_any_text_has_facts(model: str) -> None:
    found = facts(model)
    assert found.name == model
    assert found.family in FAMILIES
    assert facts(found.plain_name).family == found.family or "/" in model or "[" in model


# --- prices -----------------------------------------------------------------------------------------------------------


def test_a_price_of_genai_prices() -> None:
    found = price("claude-sonnet-4-5", USAGE, at=AUTUMN)
    assert found is not None
    assert found.cost == pytest.approx(0.03 + 0.024 + 0.0375 + 0.015)
    assert found.source == f"genai-prices {genai_prices.__version__} (anthropic)"
    an_hour = replace(USAGE, cache_write_5m_tokens=None, cache_write_1h_tokens=10_000)
    found = price("claude-sonnet-4-5", an_hour, at=AUTUMN)
    assert found is not None
    assert found.cost == pytest.approx(0.03 + 0.024 + 0.06 + 0.015)


@pytest.mark.parametrize(
    ("model", "seller"),
    [
        ("anthropic/claude-sonnet-4.5", "anthropic"),
        ("us.anthropic.claude-opus-4-7-v1:0", "aws"),
        ("openrouter/openai/gpt-4o", "openrouter"),
        ("azure/gpt-5", "azure"),
        ("models/gemini-2.5-pro", "google"),
        ("claude-sonnet-4-5-20250929[1m]", "anthropic"),
    ],
)
def test_the_seller_is_told_by_the_name(model: str, seller: str) -> None:
    found = price(model, USAGE, at=AUTUMN)
    assert found is not None
    assert found.cost > 0
    assert found.source.endswith(f"({seller})")


def test_an_unknown_price_is_none_and_says_why() -> None:
    assert price("my-model", USAGE) is None
    assert "no price is known for the model 'my-model'" in str(why_unpriced("my-model", USAGE))
    assert price("gpt-5", replace(USAGE, output_tokens=None)) is None
    assert "did not report" in str(why_unpriced("gpt-5", replace(USAGE, input_tokens=None)))
    assert why_unpriced("gpt-5", USAGE) is None


def test_without_genai_prices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    assert price("gpt-5", USAGE) is None
    assert "the extra `prices`" in str(why_unpriced("gpt-5", USAGE))
    assert price("gpt-5", USAGE, prices={"gpt-*": {"input": 0, "output": 0}}) == Price(0, "prices given by the caller")


def test_own_prices_go_first() -> None:
    own = {"claude-sonnet-4-5": {"input": 1.0, "output": 2.0}, "llama*": {"input": 0.1, "output": 0.2, "cache_read": 0}}
    # 10k input, 80k read at 0.1, 10k written at 1.25, 1k output at 2.
    for model in ("claude-sonnet-4-5", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"):
        found = price(model, USAGE, prices=own)
        assert found is not None
        assert found.cost == pytest.approx((10_000 + 8_000 + 12_500 + 2_000) / 1e6)
    found = price("Llama3:8b", USAGE, prices=own)
    assert found is not None
    assert found.cost == pytest.approx((1_000 + 0 + 1_000 + 200) / 1e6)
    assert price("other", USAGE, prices=own) is None


@pytest.mark.parametrize("own", [{"input": 1.0}, {"input": 1.0, "output": 1.0, "cached": 1.0}])
def test_own_prices_with_wrong_keys_are_errors(own: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="prices of 'm'"):
        price("m", USAGE, prices={"m": own})


MULTIPLIED = ["claude-fable-5-1", "claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5", "claude-opus-4-7"]
MULTIPLIED += ["gpt-6.1-sol", "gpt-6-sol", "gpt-5.6-sol", "gpt-5.5", "gpt-5", "gpt-5-mini", "gpt-4.1", "gpt-4o", "o3"]
MULTIPLIED += ["o4-mini", "o1", "gpt-5-pro", "gemini-4-argon", "gemini-3.8-flash", "gemini-2.5-pro"]


@pytest.mark.parametrize("model", MULTIPLIED)
def test_our_multipliers_agree_with_the_prices(model: str) -> None:
    def cost(**tokens: Any) -> float:
        # No output, and few enough tokens for the lowest step of a price.
        found = price(model, replace(Usage(input_tokens=0, output_tokens=0), **tokens), at=AUTUMN)
        assert found is not None
        return found.cost

    cache, plain = facts(model).cache, cost(input_tokens=10_000)
    assert cost(cache_read_tokens=10_000) == pytest.approx(plain * cache.read)
    for ttl, column in ((300, "cache_write_5m_tokens"), (3600, "cache_write_1h_tokens")):
        if ttl in cache.ttls:
            assert cost(**{column: 10_000}) == pytest.approx(plain * cache.write(ttl))


# --- the page ---------------------------------------------------------------------------------------------------------


def table() -> list[str]:
    lines = ["| model | window | output | cache | smallest prefix | read | write |", "|---|---|---|---|---|---|---|"]
    for row in [*ROWS, *CAUTION.values()]:
        cache = row.cache
        mark = {"provider": "", "third parties": " ¹", "assumed": " ²"}[row.minimum_from]
        spans = {300: "5m", 1800: "30m", 3600: "1h", 86_400: "24h"}
        writes = ", ".join(f"{spans[ttl]} × {write:g}" for ttl, write in zip(cache.ttls, cache.writes, strict=True))
        cells = [f"`{row.name}`" if row in ROWS else row.name, f"{row.context_window:,}", f"{row.max_output:,}"]
        if cache.kind == "none":
            cells += ["none", "", "", ""]
        else:
            cells += [cache.kind, f"{cache.minimum:,}{mark}", f"× {cache.read:g}", writes]
        cells[0] += " ³" if row.binds_thinking else ""
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def test_the_page_shows_the_table() -> None:
    expected = "\n".join(table())
    assert expected in PAGE.read_text("utf-8"), f"docs/models.md should hold:\n{expected}"
