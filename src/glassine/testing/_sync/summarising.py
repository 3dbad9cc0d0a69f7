# Generated from src/glassine/testing/_async/summarising.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""Summaries over ranges: where they show, what they refuse, and what becomes of them."""

from __future__ import annotations

from glassine import InvalidIdError, InvalidRangeError, MessageNotFoundError, OverlayNotFoundError, Store

from .._expecting import equal, ids, raises, say, says, true


def a_summary_stands_for_its_range(store: Store) -> None:
    session = store.session("s")
    session.append(says("m1", "m2", "m3", "m4"))
    overlay = session.add_compaction("要約", "m2", "m3", id="o1")
    equal((overlay.first_id, overlay.last_id, overlay.covered_messages), ("m2", "m3", 2), "the overlay")
    history = session.history()
    equal(ids(history), ["m1", "compaction_o1", "m4"], "history")
    equal((history[1].role, history[1].text), ("user", "要約"), "the message of the summary")
    equal((history[1].metadata or {})["glassine"]["overlay"], "o1", "its metadata")
    equal(ids(session.history(raw=True)), ["m1", "m2", "m3", "m4"], "raw history")
    equal([m.id for m in session.iter_history()], ids(history), "iter_history")
    equal([m.id for m in session.iter_history(newest_first=True)], ids(history)[::-1], "newest first")
    equal([m.id for m in session.iter_history(raw=True)], ["m1", "m2", "m3", "m4"], "raw iter_history")
    found = session.message("compaction_o1")
    equal(found and found.text, "要約", "message('compaction_o1')")
    equal(session.path_length(), 4, "path_length counts stored messages")


def ranges_at_both_ends_of_a_path(store: Store) -> None:
    session = store.session("s")
    session.append(says("m1", "m2", "m3", "m4"))
    session.add_compaction("head", "m1", "m1", id="o1")
    session.add_compaction("tail", "m3", "m4", id="o2")
    equal(ids(session.history()), ["compaction_o1", "m2", "compaction_o2"], "history")
    equal(ids(session.history("m3")), ["compaction_o1", "m2", "m3"], "a path that ends inside a range")
    session.append(say("m5"))
    equal(ids(session.history()), ["compaction_o1", "m2", "compaction_o2", "m5"], "what is appended follows")


def a_wider_summary_covers_a_narrower(store: Store) -> None:
    session = store.session("s")
    session.append(says("m1", "m2", "m3", "m4", "m5"))
    session.add_compaction("first", "m1", "m2", id="o1")
    wider = session.add_compaction("second", "compaction_o1", "m4", id="o2")
    equal((wider.supersedes, wider.first_id, wider.last_id), (("o1",), "m1", "m4"), "the wider one")
    equal(ids(session.history()), ["compaction_o2", "m5"], "history")
    again = session.add_compaction("third", "m1", "m4", id="o3")
    equal(again.supersedes, ("o1", "o2"), "the same range again")
    equal(ids(session.history()), ["compaction_o3", "m5"], "the later of two equal ones")
    session.undo(again)
    session.undo("compaction_o2")
    equal(ids(session.history()), ["compaction_o1", "m3", "m4", "m5"], "what lay beneath comes back")
    with raises(OverlayNotFoundError) as caught:
        session.undo("o2")
    equal(caught.error.overlay_id, "o2", "what the error names")


def ranges_that_do_not_fit_are_refused(store: Store) -> None:
    session = store.session("s")
    session.append(says("m1", "m2", "m3", "m4", "m5"))
    session.append(say("x"), parent="m2")
    session.add_compaction("there", "m2", "m4", id="o1")
    for first, last in (("m4", "m2"), ("m3", "x"), ("x", "m5"), ("m1", "m3"), ("m3", "m5"), ("m3", "m3")):
        with raises(InvalidRangeError) as caught:
            session.add_compaction("refused", first, last)
        equal((caught.error.first, caught.error.last), (first, last), "what the error names")
    for first, last in (("ghost", "m5"), ("m1", "ghost")):
        with raises(MessageNotFoundError):
            session.add_compaction("refused", first, last)
    for blank in ("", " \n"):
        with raises(ValueError):
            session.add_compaction(blank, "m1", "m1")
    equal([overlay.id for overlay in session.overlays()], ["o1"], "overlays")


def branches_have_summaries_of_their_own(store: Store) -> None:
    session = store.session("s")
    session.append(says("m1", "m2", "m3", "m4"))
    session.append(says("x1", "x2"), parent="m2")
    session.add_compaction("of x", "m1", "x1", id="ox")
    session.add_compaction("of main", "m1", "m4", id="om")
    equal(ids(session.history("m4")), ["compaction_om"], "one branch")
    equal(ids(session.history("x2")), ["compaction_ox", "x2"], "the other")
    equal(ids(session.history("m3")), ["m1", "m2", "m3"], "a path that holds no whole range")


def a_summary_names_its_last_message(store: Store) -> None:
    session = store.session("s")
    session.append(says("m1", "m2", "m3"))
    session.add_compaction("summary", "m1", "m2", id="o1")
    session.append(say("x"), parent="compaction_o1")
    equal([item.parent_id for item in session.outline()][-1], "m2", "the stored parent")
    equal(ids(session.history()), ["compaction_o1", "x"], "history")
    equal(session.switch("compaction_o1"), "m2", "switch")
    equal(ids(session.history("compaction_o1")), ["compaction_o1"], "history at it")
    with raises(InvalidIdError):
        session.append(say("compaction_mine"))


def recent_counts_what_shows(store: Store) -> None:
    session = store.session("s")
    session.append(says(*(f"m{number}" for number in range(20))))
    session.add_compaction("summary", "m0", "m15", id="o1")
    recent = session.recent(5)
    equal(ids(recent), ["compaction_o1", "m16", "m17", "m18", "m19"], "recent(5)")
    equal((recent.cut, recent.total_messages), (False, 5), "what it reports")
    tail = sum(item.size for item in session.outline()[16:])
    equal(recent.total_bytes, tail + len(b"summary"), "bytes")
    less = session.recent(2)
    equal((ids(less), less.cut), (["m18", "m19"], True), "recent(2)")


def a_summary_shrinks_with_its_ends(store: Store) -> None:
    session = store.session("s")
    session.append(says("m1", "m2", "m3", "m4", "m5"))
    session.add_compaction("summary", "m1", "m4", id="o1")
    true(not session.overlays()[0].stale, "it is fresh")
    for gone, first, last in (("m4", "m1", "m3"), ("m1", "m2", "m3"), ("m3", "m2", "m2")):
        session.delete(gone)
        overlay = session.overlays()[0]
        equal((overlay.first_id, overlay.last_id, overlay.stale), (first, last, True), f"after deleting {gone}")
        equal(ids(session.history()), ["compaction_o1", "m5"], "history")
    session.delete("m2")
    equal((session.overlays(), ids(session.history())), ([], ["m5"]), "nothing is left to stand for")
    true(("overlay", "o1") in [(item.kind, item.id) for item in session.deletions()], "its deletion is known")
    true(session.verify().clean, "verify is clean")


def an_inner_deletion_makes_a_summary_stale(store: Store) -> None:
    session = store.session("s")
    session.append(says("m1", "m2", "m3"))
    session.add_compaction("summary", "m1", "m3", id="o1")
    session.delete("m2")
    overlay = session.compactions()[0]
    equal((overlay.stale, overlay.covered_messages), (True, 2), "the overlay")
    equal(ids(session.history()), ["compaction_o1"], "history")


def a_shrunken_summary_cuts_through_no_other(store: Store) -> None:
    session = store.session("s")
    session.append(says("m1", "m2", "m3"))
    session.append(say("x"), parent="m2")
    session.add_compaction("of main", "m1", "m3", id="om")
    session.add_compaction("of x", "m2", "x", id="ox")
    session.delete("m3")  # the first would now end at the fork, inside the second
    equal(ids(session.history("x")), ["m1", "compaction_ox"], "history")
    equal([overlay.id for overlay in session.overlays()], ["ox"], "overlays")
