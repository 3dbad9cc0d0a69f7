# Generated from src/glassine/testing/_async/counting.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""Token totals: those of a path are the sums of its messages', whatever was done to the tree."""

from __future__ import annotations

import base64
from typing import Any

from glassine import Message, MessageNotFoundError, Session, Store, Totals, tool_call, tool_result
from glassine.tokens import FAMILIES, estimate_all, estimate_tokens

from .._expecting import equal, raises, say, true

_NOTHING = Totals(0, 0, 0, 0, 0, 0, 0)


def _alone(store: Store, message: Message) -> Totals:
    """What a message comes to in a session of its own."""
    session = store.namespace("alone").session("alone")
    session.clear()
    session.append(message.to_dict())
    return session.totals()


def _sum(store: Store, messages: list[Message]) -> Totals:
    total = _NOTHING
    for message in messages:
        total = total.plus(_alone(store, message))
    return total


def _right(store: Store, session: Session) -> None:
    """Every path's totals, as stored and as shown, against those of its messages one by one."""
    for item in session.outline():
        stored = session.history(item.id, raw=True)
        equal(session.totals(item.id, raw=True), _sum(store, stored), f"stored totals at {item.id!r}")
    equal(session.totals(raw=True), _sum(store, session.history(raw=True)), "of the active path")
    equal(session.verify().problems, (), "what verify finds")


def totals_are_the_sums_of_a_path(store: Store) -> None:
    session = store.session("s")
    equal(session.totals(), _NOTHING, "before the first write")
    with raises(MessageNotFoundError):
        session.totals("ghost")
    session.append([say("m1", "こんにちは、世界"), say("m2", "Hello there, world", "assistant"), say("m3", "")])
    call = {"id": "m4", "role": "assistant", "parts": [tool_call("look", {"path": "a/b.py", "lines": [1, 2]}, id="c1")]}
    session.append([call, tool_result("c1", "def main() -> None:\n    pass\n", name="look", id="m5")])
    session.append(say("x1", "데이터베이스"), parent="m2")
    session.append({"id": "x2", "role": "assistant", "parts": [{"type": "reasoning", "text": "Let me think"}]})
    _right(store, session)
    total = session.totals("m1")
    equal(total.messages, 1, "messages")
    estimated = zip(FAMILIES, estimate_all("こんにちは、世界"), total[2:], strict=True)
    for family, tokens, counted in estimated:
        true(tokens < counted <= tokens + 10, f"{family}: the text's own tokens and the frame of a message")


def totals_follow_every_change(store: Store) -> None:
    session = store.session("s")
    session.append([say(f"m{number}", f"message {number} 本文 " * number) for number in range(6)])
    session.append([say("x1", "branch"), say("x2", "枝 " * 40)], parent="m2")
    session.update(say("m1", "much longer than before " * 9))
    _right(store, session)
    session.update(say("x2", "short"))
    _right(store, session)
    session.delete("m2")
    _right(store, session)
    session.switch("m5")
    session.redact("m3")
    _right(store, session)
    session.delete(["m5", "m1"])
    _right(store, session)
    store.reindex()
    _right(store, session)
    session.clear()
    equal(session.totals(), _NOTHING, "after clear")


def a_summary_counts_in_place_of_its_range(store: Store) -> None:
    session = store.session("s")
    session.append([say(f"m{number}", f"長い本文 {number} " * 50) for number in range(8)])
    raw = session.totals()
    narrow = session.add_compaction("要約 one", "m2", "m3", id="o1")
    wide = session.add_compaction("要約 two, wider", "m1", "m5", id="o2")
    covered = _sum(store, session.history(raw=True)[1:6])
    equal((wide.covered_messages, *wide.covered_tokens), (covered.messages, *covered[2:]), "what it covers")
    true(narrow.covered_tokens < wide.covered_tokens, "the narrower covers less")
    equal(session.totals(raw=True), raw, "as stored")
    shown = session.totals()
    expected = _sum(store, [_message(session, id) for id in ("m0", "m6", "m7")])
    summary = _alone(store, Message.of(say("m", "要約 two, wider")))
    equal((shown.messages, *shown[2:]), (4, *expected.plus(summary)[2:]), "as shown")
    session.undo("o2")
    session.undo("o1")
    equal(session.totals(), raw, "after undo")


def media_cost_the_same_whatever_their_size(store: Store) -> None:
    def picture(id: str, size: int) -> dict[str, Any]:
        url = "data:image/png;base64," + base64.b64encode(b"\x89PNG" * size).decode()
        return {"id": id, "role": "user", "parts": [{"type": "file", "mediaType": "image/png", "url": url}]}

    small, large = store.session("small"), store.session("large")
    small.append(picture("m1", 1_000))
    large.append(picture("m1", 100_000))
    one, other = small.totals(), large.totals()
    equal(one[2:], other[2:], "tokens")
    true(other.size > one.size and min(one[2:]) > 100, "bytes are bytes, and a picture costs something")
    true(small.count_tokens(lambda text: 0) > 100, "by another counter too")


def a_huge_text_costs_what_a_view_shows_of_it(store: Store) -> None:
    session = store.session("s")
    session.append(say("m1", "many words of English. " * 100_000))
    total = session.totals()
    true(total.size > 2_000_000, "bytes")
    true(all(100 < tokens < 5_000 for tokens in total[2:]), "tokens of a preview")


def tokens_can_be_counted_by_another_counter(store: Store) -> None:
    session = store.session("s")
    equal(session.count_tokens(len), 0, "of nothing")
    session.append([say(f"m{number}", f"some words {number} 言葉") for number in range(5)])
    session.append(say("x", "aside"), parent="m1")
    session.add_compaction("要約", "m0", "m1")
    for leaf in (None, "m4"):
        for raw in (False, True):
            total = session.totals(leaf, raw=raw)
            equal(session.count_tokens(estimate_tokens, leaf, raw=raw), total.o200k, f"at {leaf!r}, raw={raw}")
    true(session.count_tokens(len, "m4") > session.count_tokens(lambda text: 1, "m4") > 0, "it is asked")


def _message(session: Session, id: str) -> Message:
    found = session.message(id)
    true(found is not None, f"message {id!r} is there")
    return found or Message.of(say(id))
