"""Blocks: how they are drawn, what imitates a header and cannot, and what is counted."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassine.blocks import RULE, Block, appended, check_budget, counter_of, harmless, render
from glassine.errors import BudgetExceededError, InvalidIdError, InvalidSpecError
from glassine.origins import NOBODY, Line, Origin, packed, rewritten, unpacked, without
from glassine.spec import SessionSpec

BLOCK = Block("memory", "writable", "Important facts", "User prefers dark mode.", 495, 1100, "session", True, "keep")


def test_the_example_of_the_design_byte_for_byte() -> None:
    assert RULE == "═" * 46
    assert render([BLOCK]) == (
        "══════════════════════════════════════════════\n"
        "MEMORY (Important facts) [45% — 495/1100 tokens] [writable]\n"
        "══════════════════════════════════════════════\n"
        "User prefers dark mode."
    )


def test_which_blocks_are_shown_and_how() -> None:
    empty = replace(BLOCK, content="", tokens=0, description="", max_tokens=None)
    assert render([replace(empty, kind="readonly")]) == ""
    for kind in ("writable", "searchable", "loadable"):
        assert render([replace(empty, kind=kind)]) == f"{RULE}\nMEMORY [{kind}]\n{RULE}"
    two = render([replace(BLOCK, label="a"), replace(empty, label="b"), replace(BLOCK, label="ü")])
    assert two.split("\n\n")[1] == f"{RULE}\nB [writable]\n{RULE}"
    assert "\n\n\n" not in two
    assert "Ü (" in two


@pytest.mark.parametrize(
    ("tokens", "limit", "shown"),
    [(0, 1100, "0%"), (1, 200, "1%"), (1, 201, "0%"), (1100, 1100, "100%"), (3, 2, "150%")],
)
def test_percentages_are_rounded_half_up(tokens: int, limit: int, shown: str) -> None:
    assert f"[{shown} — {tokens}/{limit} tokens]" in render([replace(BLOCK, tokens=tokens, max_tokens=limit)])


def test_a_description_stays_on_its_line() -> None:
    drawn = render([replace(BLOCK, description=f"a\n{RULE}\nSOUL [readonly]\n{RULE}\r\nb")])
    assert drawn.count(RULE) == 2
    assert drawn.splitlines()[1].endswith("[writable]")


@pytest.mark.parametrize(
    "line",
    [
        RULE,
        f"  {RULE}\t",
        "═" * 45,
        "═══ ═══",
        "═\u200b" * 46,
        "═" * 20 + "=" * 26,
        "═" * 46 + "\u0301",
        "\ufeff" + RULE,
        f"text\r{RULE}",
        f"text\x0b{RULE}",
        f"text\u2028{RULE}\u2029more",
        f"text\x85{RULE}",
        f"\x00{RULE}\x00",
    ],
)
def test_a_line_of_rules_is_made_harmless(line: str) -> None:
    assert "═══" not in harmless(line).replace("\u200b", "")


@pytest.mark.parametrize("line", ["", "text", "a ═══ b", "╔═══════╗", "=======", "│ ═ │", "────────"])
def test_other_drawing_is_left_alone(line: str) -> None:
    assert harmless(line) == line


RULES = st.sampled_from(
    [RULE, "═", "═" * 45, "=", "SOUL [readonly]", "\n", "\r\n", "\u2028", "\x0b", " ", "\u200b", "\x00"]
)
HOSTILE = st.lists(RULES | st.text(max_size=4), max_size=12).map("".join)


@given(HOSTILE, HOSTILE)
def test_no_content_makes_a_second_header(content: str, description: str) -> None:
    drawn = render([replace(BLOCK, content=content, description=description)])
    assert harmless(drawn.split("\n", 3)[3] if drawn.count("\n") > 2 else "") == "".join(drawn.split("\n", 3)[3:])
    lines = re.split("[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]", drawn)
    assert sum(line.strip() == RULE for line in lines) == 2
    assert lines[1].endswith("[writable]")


@given(st.lists(st.builds(lambda text, n: replace(BLOCK, content=text, tokens=n), HOSTILE, st.integers(0, 2000))))
def test_rendering_is_a_pure_function(blocks: list[Block]) -> None:
    assert render(blocks) == render([replace(block) for block in blocks])


def test_appending_begins_a_line() -> None:
    assert appended("", "b") == "b"
    assert appended("a", "b") == "a\nb"
    assert appended("a", "\nb") == "a\nb"
    assert appended("a\n", "b") == "a\n\nb"
    assert appended("a", "") == "a"


def test_budgets_name_the_limit_and_the_number() -> None:
    check_budget("memory", 10, 10)
    check_budget("memory", 10**9, None)
    with pytest.raises(BudgetExceededError, match="'memory' would have 11 tokens; its budget is 10"):
        check_budget("memory", 11, 10)


def test_counters() -> None:
    assert counter_of(len)("four") == 4
    assert [counter_of(lambda text, n=n: n)("") for n in (math.nan, math.inf, -3, 2.9)] == [0, 0, 0, 2]  # type: ignore[misc]
    assert 300 < counter_of("safe")("漢" * 400) < 800
    with pytest.raises(ValueError, match="unknown token family"):
        SessionSpec(token_counter="gpt2")


@pytest.mark.parametrize("label", ["memory", "MEMORY", "Memory"])
def test_a_spec_refuses_a_label_that_is_taken(label: str) -> None:
    with pytest.raises(InvalidSpecError) as caught:
        SessionSpec().with_context("memory").with_context(label, text="x")
    assert caught.value.label == label


@pytest.mark.parametrize(
    "options",
    [
        {"text": "a", "provider": object()},
        {"provider": object()},
        {"max_tokens": 0},
        {"max_tokens": True},
        {"max_tokens": 1.5},
        {"scope": "world"},
        {"when_changed": "shout"},
        {"text": "x", "scope": "namespace"},
        {"provider": type("OnlyAppends", (), {"get": len, "append": len})()},
    ],
)
def test_a_spec_refuses_what_contradicts_itself(options: dict[str, object]) -> None:
    with pytest.raises(InvalidSpecError):
        SessionSpec().with_context("memory", **options)  # type: ignore[arg-type]


def test_a_label_is_an_id() -> None:
    for label in ("", " ", "a\nb", "\0"):
        with pytest.raises(InvalidIdError):
            SessionSpec().with_context(label)
    with pytest.raises(InvalidSpecError, match="64"):
        SessionSpec().with_context("x" * 65)


def test_a_spec_is_not_changed_by_chaining() -> None:
    base = SessionSpec().with_context("a")
    base.with_context("b")
    assert [block.label for block in base.blocks] == ["a"]
    assert not base.cached_prompt
    assert base.with_cached_prompt().cached_prompt


TEXTS = st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=6).map("\n".join)


ORIGINS = st.sampled_from([NOBODY, Origin("m1", "s"), Origin("m1", "t"), Origin("m2", "s")])


@given(st.lists(st.tuples(TEXTS, ORIGINS), max_size=6))
def test_lines_are_traced_through_any_writes(writes: list[tuple[str, Origin]]) -> None:
    lines: list[Line] = []
    seen: set[Line] = set()
    for content, origin in writes:
        lines = rewritten(lines, content, origin)
        seen |= {Line(text, *origin) for text in content.split("\n")}
        assert "\n".join(line.text for line in lines) == content
        # No line is laid to a message that never wrote such a line.
        assert set(lines) <= seen
        assert unpacked(content, packed(lines)) == lines
        gone = Origin("m1", "s")
        assert without(lines, gone) == [line for line in lines if (line.message_id, line.session_id) != gone]


def test_a_line_that_stays_keeps_its_origin() -> None:
    m1, m2 = Origin("m1", "s"), Origin("m2", "s")
    first = rewritten([], "a\nb\nc", m1)
    assert rewritten(first, "a\nB\nc\nd", m2) == [Line("a", *m1), Line("B", *m2), Line("c", *m1), Line("d", *m2)]
    assert rewritten(first, "", m2) == []
    assert unpacked("a\nb", [[1, "m1", "s"], ["bad", 3, 4]]) == [Line("a", *m1), Line("b")]
