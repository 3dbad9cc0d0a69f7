"""What a summary keeps of its range: calls that wait for results, skills that were loaded, earlier summaries' notes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from glassine.compaction import CompactionPlan, plan_compaction
from glassine.covering import Kept, bare, covered, kept
from glassine.marking import over_result
from glassine.messages import Message, assistant, tool_call, tool_result, user
from glassine.overlays import Overlay, OverlayKind
from glassine.showing import Seen, entries
from glassine.tree import Position

NOTE = "\n\n[Skills that were loaded here and are not any more: {}. Load what is needed.]"


class Stays:
    """The first message stays, and the last."""

    protect_head = 1
    tail_token_budget = 0
    min_tail_messages = 1


def overlay(id: str, text: str, kind: OverlayKind = "summary", at: str = "x", **data: Any) -> Overlay:
    return Overlay(
        id=id,
        kind=kind,
        first_id=at,
        last_id=at,
        text=text,
        created_at=datetime(2026, 1, 31, tzinfo=UTC),
        stale=False,
        supersedes=(),
        covered_messages=2,
        covered_bytes=0,
        covered_tokens=(0, 0, 0, 0, 0),
        first=Position(0, 0),
        last=Position(0, 0),
        order=0,
        data=data,
    )


def marker(message_id: str, call: str) -> Overlay:
    laying = over_result(message_id, call, "[gone]", "unloaded", anchored=False)
    return overlay(laying.id, laying.text, "marker", message_id, **laying.data)


def asks(*ids: str, id: str) -> Message:
    return assistant(*[tool_call("search", {"q": each}, id=each) for each in ids], id=id)


def loads(key: str, number: int, name: str = "load_context") -> list[Message]:
    """A call to load a skill, and its result."""
    call = tool_call(name, {"label": "skills", "key": key}, id=f"c{number}")
    return [assistant(call, id=f"a{number}"), tool_result(call, f"# {key}\nHow to do it.", id=f"r{number}")]


def unloads(key: str, number: int) -> list[Message]:
    return loads(key, number, "unload_context")


def seen_of(*pieces: Message | Overlay, beside: Sequence[Overlay] = ()) -> Seen:
    return Seen(None, None, pieces, tuple(range(1, len(pieces) + 1)), tuple(beside), len(pieces) + 1, 0)


def kept_of(seen: Seen, names_skills: bool = True) -> Kept:
    there = entries(seen, [])
    plan = plan_compaction([entry.message for entry in there], Stays())
    assert isinstance(plan, CompactionPlan), plan
    return kept(seen, covered(there, plan), plan, names_skills)


GO, SO, END = user("go", id="go"), assistant("so", id="so"), assistant("end", id="end")


def test_the_entries_under_a_plan() -> None:
    there = entries(seen_of(GO, SO, assistant("and", id="and"), END), [])
    plan = plan_compaction([entry.message for entry in there], Stays())
    assert isinstance(plan, CompactionPlan)
    assert [entry.first_id for entry in covered(there, plan)] == ["so", "and"]


def test_a_range_without_anything_keeps_nothing() -> None:
    assert kept_of(seen_of(GO, SO, END)) == Kept("", {"open": [], "requests": ["go"]}, frozenset())


def test_calls_without_a_result_are_kept_and_those_of_earlier_summaries_too() -> None:
    asked = asks("a", "b", id="asks")
    answered = tool_result("b", "found", id="r")
    assert kept_of(seen_of(GO, asked, answered, SO, END)).data["open"] == [["a", "search"]]
    before = overlay("s1", "So far.", open=[["x", "read"], ["y", "検索"]])
    found = kept_of(seen_of(GO, before, asked, answered, SO, END))
    assert found.data["open"] == [["x", "read"], ["y", "検索"], ["a", "search"]]
    assert found.replaces == {"s1"}


def test_a_late_result_in_the_range_ends_the_waiting() -> None:
    before = overlay("s1", "So far.", open=[["x", "read"], ["y", "read"]])
    late = tool_result("x", "at last", id="late")
    assert kept_of(seen_of(GO, before, late, SO, END)).data["open"] == [["y", "read"]]
    # One in the tail does not: it is shown there.
    seen = seen_of(GO, before, SO, tool_result("x", "at last", id="late"))
    assert kept_of(seen).data["open"] == [["x", "read"], ["y", "read"]]


def test_all_summaries_in_the_range_are_replaced_and_no_others() -> None:
    first, second = overlay("s1", "One."), overlay("s2", "Two.")
    assert kept_of(seen_of(GO, first, SO, second, SO.with_id("so2"), END)).replaces == {"s1", "s2"}
    assert kept_of(seen_of(GO, first, SO, END)).replaces == {"s1"}


def test_skills_that_were_loaded_in_the_range_are_named() -> None:
    seen = seen_of(GO, *loads("経費", 1), *loads("deploy", 2), END)
    found = kept_of(seen)
    assert found.note == NOTE.format("deploy, 経費")
    assert found.data["skills"] == [["skills", "deploy"], ["skills", "経費"]]
    assert found.data["note"] == found.note
    assert kept_of(seen, names_skills=False) == Kept("", {"open": [], "requests": ["go"]}, frozenset())


def test_skills_that_were_unloaded_again_are_not() -> None:
    assert kept_of(seen_of(GO, *loads("deploy", 1), *unloads("deploy", 2), END)).note == ""
    assert kept_of(seen_of(GO, *loads("deploy", 1), SO, END, beside=[marker("r1", "c1")])).note == ""


def test_a_skill_that_is_still_seen_elsewhere_is_not_named() -> None:
    seen = seen_of(GO, *loads("deploy", 1), SO, *loads("deploy", 2))
    assert kept_of(seen).note == ""
    # A copy that is not seen any more does not count.
    hidden = seen_of(GO, *loads("deploy", 1), SO, *loads("deploy", 2), beside=[marker("r2", "c2")])
    assert kept_of(hidden).note == NOTE.format("deploy")


def test_what_earlier_summaries_named_is_named_on() -> None:
    before = overlay("s1", "So far." + NOTE.format("deploy"), skills=[["skills", "deploy"]], note=NOTE.format("deploy"))
    found = kept_of(seen_of(GO, before, *loads("audit", 1), SO, END))
    assert found.note == NOTE.format("audit, deploy")
    assert kept_of(seen_of(GO, before, SO, *loads("deploy", 1))).note == ""


def test_a_long_name_is_named_short() -> None:
    note = kept_of(seen_of(GO, *loads("x" * 500, 1), END)).note
    assert len(note) < 250
    assert "…" in note


def test_a_summary_is_handed_on_without_its_note() -> None:
    note = NOTE.format("deploy")
    assert bare(overlay("s1", "So far." + note, note=note)) == "So far."
    assert bare(overlay("s1", "So far.")) == "So far."
    assert bare(overlay("s1", "So far.", note=note)) == "So far."
    assert bare(overlay("s1", "So far." + note)) == "So far." + note
