"""Calibration: what the counts of a provider teach about an estimate, and what teaches nothing."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassine.calibration import LEAST, MOST, UNCALIBRATED, Calibration, learn, prompt_tokens
from glassine.models import facts
from glassine.records import Usage

MODEL = facts("claude-sonnet-4-5")


def row(counted: int | None, estimated: int | None = 1_000, **other: Any) -> Usage:
    return Usage(**{"model": "claude-sonnet-4-5", "input_tokens": counted, "estimated_tokens": estimated, **other})


def test_the_first_request_sets_the_ratio_and_others_move_it_half_the_way() -> None:
    assert learn([], MODEL) == UNCALIBRATED == Calibration(1.0, 0)
    assert learn([row(1_500)], MODEL) == Calibration(1.5, 1)
    assert learn([row(1_500), row(1_000)], MODEL) == Calibration(1.25, 2)
    assert learn([row(1_500), row(1_000), row(750)], MODEL) == Calibration(1.0, 3)
    assert Calibration(1.25, 2).of(10) == 12
    assert UNCALIBRATED.of(12_345) == 12_345


# Raw errors in percent of the estimate, lowest and highest, as measured over sessions of 14 pieces: the estimate of one
# family for a model of another, on mixed content.
MIXES = [(-35, -26), (-30, -23), (-40, -27), (-33, -10), (24, 37)]


@pytest.mark.parametrize(("low", "high"), MIXES)
def test_a_wrong_family_is_mended_within_a_session(low: int, high: int) -> None:
    chance = random.Random(f"{low} {high}")
    raw, calibrated = [], []
    for _ in range(200):
        estimate, true = 0, 0.0
        rows: list[Usage] = []
        for turn in range(14):
            piece = chance.randint(500, 3_000)
            estimate += piece
            true += piece / (1 + chance.uniform(low, high) / 100)
            if turn >= 2:
                raw.append(abs(estimate / true - 1))
                calibrated.append(abs(learn(rows, MODEL).of(estimate) / true - 1))
            rows.append(row(round(true), estimate))
    assert min(raw) > 0.09
    assert sorted(calibrated)[len(calibrated) * 95 // 100] < 0.07
    assert max(calibrated) < 0.13


@given(st.lists(st.tuples(st.integers(1, 10**7), st.integers(1, 10**7)), min_size=1, max_size=20))
def test_the_ratio_stays_within_bounds(pairs: list[tuple[int, int]]) -> None:
    found = learn([row(counted, estimated) for counted, estimated in pairs], MODEL)
    assert LEAST <= found.ratio <= MOST
    assert found.requests == len(pairs)
    ratios = [min(max(counted / estimated, LEAST), MOST) for counted, estimated in pairs]
    assert min(ratios) - 1e-9 <= found.ratio <= max(ratios) + 1e-9


def test_what_is_far_off_counts_as_the_bound() -> None:
    assert learn([row(100_000)], MODEL).ratio == MOST
    assert learn([row(1)], MODEL).ratio == LEAST


@pytest.mark.parametrize(
    "silent",
    [
        row(0),
        row(0, cache_read_tokens=0, cache_write_5m_tokens=0, cache_write_1h_tokens=0),
        row(None),
        row(None, cache_read_tokens=2_000),
        row(2_000, None),
        row(2_000, 0),
        row(2_000, ok=False),
        row(2_000, kind="summary"),
        row(2_000, kind="heartbeat"),
        row(2_000, model=None),
        row(2_000, model="claude-opus-4-5"),
        row(2_000, model="gpt-4o"),
    ],
)
def test_what_teaches_nothing(silent: Usage) -> None:
    assert learn([silent], MODEL) == UNCALIBRATED
    assert learn([silent, row(1_500), silent], MODEL) == Calibration(1.5, 1)


@pytest.mark.parametrize(
    "name",
    [
        "claude-sonnet-4-5-20250929",
        "anthropic/claude-sonnet-4.5",
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "claude-sonnet-4-5@20250929",
    ],
)
def test_one_model_goes_by_many_names(name: str) -> None:
    assert learn([row(1_500, model=name)], MODEL) == Calibration(1.5, 1)
    assert learn([row(1_500)], facts(name)) == Calibration(1.5, 1)


def test_models_that_nobody_knows_are_told_apart() -> None:
    assert learn([row(1_500, model="my-own-7b")], facts("my-own-7b")).ratio == 1.5
    assert learn([row(1_500, model="my-own-7b")], facts("your-own-7b")) == UNCALIBRATED


def test_the_prompt_is_what_was_sent_cached_or_not() -> None:
    used = Usage(input_tokens=5, cache_read_tokens=200, cache_write_5m_tokens=30, cache_write_1h_tokens=1)
    assert prompt_tokens(used) == 236
    assert prompt_tokens(replace(used, input_tokens=0)) == 231
    assert prompt_tokens(replace(used, input_tokens=None)) is None
    assert prompt_tokens(Usage(input_tokens=7, output_tokens=900)) == 7
    assert prompt_tokens(Usage(input_tokens=0, output_tokens=900)) is None
