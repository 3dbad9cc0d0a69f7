# Generated from src/glassine/testing/_async/remembering.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""Context memory: blocks, the frozen prompt, the tools, reminders, and the view they make."""

from __future__ import annotations

import glassine
from glassine import BlockNotFoundError, BudgetExceededError, InvalidSpecError, Store

from .._expecting import equal, ids, raises, say, says, true
from .loading import Shelf

SPEC = (
    glassine.SessionSpec(token_counter=len)
    .with_context("soul", text="You are careful.")
    .with_context("memory", description="Facts", max_tokens=40)
    .with_cached_prompt()
)


def a_block_is_written_at_once_and_shown_when_refreshed(store: Store) -> None:
    session = store.session("s", SPEC)
    frozen = session.freeze_prompt()
    true("MEMORY (Facts) [0% — 0/40 tokens] [writable]" in frozen, "an empty writable block is shown")
    session.replace_block("memory", "one")
    session.append_block("memory", "two")
    session.append_block("memory", "\nthree")
    equal(session.block("memory").content, "one\ntwo\nthree", "the block")
    equal(session.freeze_prompt(), frozen, "the frozen prompt")
    again = store.session("s", SPEC)
    equal(again.freeze_prompt(), frozen, "the frozen prompt of another holder")
    equal(again.stale_blocks(), ("memory",), "what is stale")
    equal(again.block("memory").content, "one\ntwo\nthree", "the block of another holder")
    true("one\ntwo\nthree" in again.refresh_prompt("asked"), "the refreshed prompt")
    equal(session.freeze_prompt(), again.freeze_prompt(), "what the first holder sees then")
    equal([one.reason for one in session.prompt_history()], ["first request", "asked"], "the reasons")
    equal(session.stale_blocks(), (), "what is stale after it")


def a_budget_holds_on_every_road(store: Store) -> None:
    session = store.session("s", SPEC)
    session.replace_block("memory", "x" * 30)
    with raises(BudgetExceededError) as caught:
        session.replace_block("memory", "y" * 41)
    equal((caught.error.label, caught.error.limit, caught.error.actual), ("memory", 40, 41), "the error")
    with raises(BudgetExceededError) as caught:
        session.append_block("memory", "z" * 10)
    equal(caught.error.actual, 41, "with its line break")
    tool = {tool.name: tool for tool in session.tools()}["set_context"]
    answer = tool.call({"label": "memory", "content": "w" * 11, "action": "append"})
    true(answer.startswith("Error: ") and "42" in answer and "40" in answer, f"the tool's answer: {answer}")
    equal(session.block("memory").content, "x" * 30, "the block")


def blocks_belong_to_their_session_or_to_all(store: Store) -> None:
    spec = (
        glassine.SessionSpec()
        .with_context("mine")
        .with_context("ours", scope="namespace")
        .with_context("_system_prompt")
        .with_cached_prompt()
    )
    one, two = store.session("a_b", spec), store.session("a", spec)
    one.replace_block("mine", "of a_b")
    one.replace_block("ours", "of all")
    one.replace_block("_system_prompt", "no prompt")
    one.freeze_prompt()
    equal(two.block("mine").content, "", "another session's block")
    equal(two.block("ours").content, "of all", "a block of the namespace")
    other = store.namespace("somebody else").session("a_b", spec)
    equal(other.block("ours").content, "", "the block in another namespace")
    store.delete_session("a_b")
    again = store.session("a_b", spec)
    equal(again.block("mine").content, "", "the block of a deleted session")
    equal(again.prompt(), None, "its prompt")
    equal(again.block("ours").content, "of all", "the block of the namespace after that")


def labels_are_unique_and_named_in_errors(store: Store) -> None:
    session = store.session("s", SPEC)
    with raises(BlockNotFoundError) as caught:
        session.replace_block("memmory", "x")
    equal(caught.error.known, ("soul", "memory"), "the labels there are")
    with raises(glassine.ReadOnlyBlockError):
        session.append_block("soul", "x")
    frozen = session.freeze_prompt()
    session.add_context("todos", description="What is to be done")
    with raises(InvalidSpecError):
        session.add_context("Todos")
    equal(session.freeze_prompt(), frozen, "the frozen prompt")
    true("TODOS (What is to be done)" in session.refresh_prompt(), "the refreshed prompt")
    equal((session.remove_context("todos"), session.remove_context("todos")), (True, False), "removing")


def lines_are_traced_and_go_with_their_message(store: Store) -> None:
    session = store.session("s", SPEC)
    session.append([say("u"), glassine.assistant(glassine.tool_call("set_context", {}, id="c"), id="a")])
    tool = {tool.name: tool for tool in session.tools()}["set_context"]
    session.replace_block("memory", "by hand")
    equal(
        tool.call({"label": "memory", "content": "by the model", "action": "append"}),
        "Written to memory. Usage: 50% (20/40 tokens)",
        "the answer",
    )
    session.append_block("memory", "again")
    traced = [(line.text, line.message_id) for line in session.block_lines("memory")]
    equal(traced, [("by hand", None), ("by the model", "a"), ("again", None)], "the lines")
    session.refresh_prompt()
    session.redact("a")
    equal(session.block("memory").content, "by hand\nagain", "the block after its message was redacted")
    true("by the model" not in session.freeze_prompt(), "the prompt after that")


def stored_blocks_are_listed_whatever_the_spec(store: Store) -> None:
    equal(store.session("s").stored_blocks(), [], "those of a session that is not there")
    spec = glassine.SessionSpec().with_context("b").with_context("a").with_context("ours", scope="namespace")
    session = store.session("s", spec)
    for label in ("b", "ours", "a"):
        session.replace_block(label, f"of {label}\ud800\0")
    store.session("other", spec).replace_block("a", "another's")
    found = store.session("s").stored_blocks()
    equal(
        [(block.label, block.scope, block.content) for block in found],
        [
            ("a", "session", "of a\ud800\0"),
            ("b", "session", "of b\ud800\0"),
            ("ours", "namespace", "of ours\ud800\0"),
        ],
        "the blocks",
    )
    true(all(block.updated_at.tzinfo is not None for block in found), "their times are aware")


def a_dropped_prompt_is_frozen_anew(store: Store) -> None:
    session, other = store.session("s", SPEC), store.session("s", SPEC)
    equal(session.drop_prompt(), False, "dropping nothing")
    session.freeze_prompt()
    other.freeze_prompt()
    session.replace_block("memory", "newer")
    before = session.info().change
    equal((session.drop_prompt(), session.drop_prompt()), (True, False), "dropping it")
    equal(session.info().change, before + 1, "the change number")
    equal((session.prompt(), other.prompt()), (None, None), "what is frozen then")
    true("newer" in other.freeze_prompt(), "the next prompt")
    equal([one.number for one in session.prompt_history()], [1, 2], "the history")
    loose = store.session("loose", glassine.SessionSpec().with_context("memory"))
    loose.freeze_prompt()
    equal((loose.drop_prompt(), loose.drop_prompt()), (True, False), "one that is not stored")


def entries_are_listed_read_and_removed(store: Store) -> None:
    spec = (
        glassine.SessionSpec()
        .with_context("notes", provider=glassine.SearchableEntries())
        .with_context("skills", provider=glassine.SkillTable(), scope="namespace")
        .with_context("memory")
        .with_context("shelf", provider=Shelf())
    )
    session = store.session("s", spec)
    for label in ("notes", "skills"):
        equal((session.entries(label), session.entry(label, "x")), ([], None), f"{label} at first")
        session.put_entry(label, "b", "東京\0", description="City")
        session.put_entry(label, "a", "one")
        listed = [(entry.key, entry.description, entry.size) for entry in session.entries(label)]
        equal(listed, [("a", None, 3), ("b", "City", 7)], f"{label} as listed")
        entry = session.entry(label, "b")
        equal(entry and entry[:4], ("b", "City", "東京\0", 7), f"an entry of {label}")
        removed = [session.remove_entry(label, key) for key in ("a", "a", "", "\ud800")]
        equal(removed, [True, False, False, False], f"removing from {label}")
        equal([entry.key for entry in session.entries(label)], ["b"], f"{label} after that")
    equal([entry.key for entry in store.session("t", spec).entries("skills")], ["b"], "those of the namespace")
    for label in ("memory", "shelf"):
        with raises(InvalidSpecError):
            session.entries(label)
        with raises(InvalidSpecError):
            session.entry(label, "deploy")
        with raises(InvalidSpecError):
            session.remove_entry(label, "deploy")


def clearing_keeps_blocks_and_renders_anew(store: Store) -> None:
    session = store.session("s", SPEC)
    session.append(says("m1", "m2"))
    session.freeze_prompt()
    session.replace_block("memory", "kept")
    session.clear()
    true("kept" in session.freeze_prompt(), "the prompt after clear")
    equal([one.reason for one in session.prompt_history()], ["first request", "cleared"], "the reasons")


def entries_are_written_and_found(store: Store) -> None:
    spec = (
        glassine.SessionSpec()
        .with_context("knowledge", provider=glassine.SearchableEntries())
        .with_context("notes", provider=glassine.SearchableEntries())
    )
    session = store.session("s", spec)
    equal(session.block("knowledge").content, "", "the listing of nothing")
    tools = {tool.name: tool for tool in session.tools()}
    write, look = tools["set_context"], tools["search_context"]
    for title, content in (("Tokyo", "東京の天気は晴れです"), ("Deploy", "The deploy of the billing service failed")):
        metadata = {"title": title}
        answer = write.call({"label": "knowledge", "content": content, "metadata": metadata})
        equal(answer, f'Indexed "{title.lower()}" in knowledge.', "the answer")
    session.put_entry("notes", "x", "天気")
    equal(session.block("knowledge").content, "2 entries indexed.", "the listing")
    found = look.call({"label": "knowledge", "query": "天気"})
    equal(found, "[tokyo]\n東京の天気は晴れです", "what is found")
    found = look.call({"label": "knowledge", "query": "billing failed"})
    true(found.startswith("[deploy]\n"), f"all words, in any order: {found}")
    equal(look.call({"label": "knowledge", "query": "zebra"}), "No results found.", "what is not there")
    again = write.call({"label": "knowledge", "content": "雨", "metadata": {"title": "TOKYO "}})
    true("updated" in again, f"a title again: {again}")
    equal(look.call({"label": "knowledge", "query": "晴れ"}), "No results found.", "what was replaced")


def a_changed_block_reminds_once(store: Store) -> None:
    day = {"now": "Monday"}

    class Calendar:
        def get(self) -> str:
            return day["now"]

    spec = glassine.SessionSpec().with_context("date", provider=Calendar(), when_changed="remind").with_cached_prompt()
    session = store.session("s", spec)
    session.append(say("u1"))
    system = session.view().system
    equal(len(session.view().messages), 1, "nothing changed")
    day["now"] = "Tuesday"
    equal([m.role for m in session.preview().messages], ["user", "user"], "a preview shows the reminder")
    equal(session.overlays(), [], "and does not lay it")
    shown = [message.to_dict() for message in session.view().messages]
    true("Tuesday" in repr(shown[1]), "the reminder")
    session.append(say("u2"))
    again = store.session("s", spec).view()
    equal([message.to_dict() for message in again.messages][:2], shown, "what was sent is sent again")
    equal((len(again.messages), again.system), (3, system), "no second reminder, and the prompt as it was")
    day["now"] = "Wednesday"
    equal(len(session.view().messages), 4, "a new one when it changes again")
    true("Wednesday" in session.refresh_prompt(), "the refreshed prompt")
    equal(len(session.view().messages), 2, "it says itself what the reminders said")
    equal(len(session.overlays()), 2, "which stay where they were laid")


def reminders_tell_the_newest_and_go_with_their_source(store: Store) -> None:
    spec = glassine.SessionSpec().with_context("memory", when_changed="remind").with_cached_prompt()
    session = store.session("s", spec)
    session.replace_block("memory", "A")
    session.append(say("u1"))
    session.view()
    for value in ("B", "A", "B"):
        session.replace_block("memory", value)
        true(value in session.view().messages[-1].text, f"the newest reminder says {value}")
    session.append(glassine.assistant(glassine.tool_call("set_context", {}, id="c"), id="a"))
    tool = {tool.name: tool for tool in session.tools()}["set_context"]
    tool.call({"label": "memory", "content": "SECRET", "action": "append"})
    session.append([glassine.tool_result("c", "done", name="set_context"), say("u2")])
    true("SECRET" in session.view().messages[-1].text, "what was written is told")
    session.redact("a")
    shown = repr([message.to_dict() for message in session.view().messages])
    true("SECRET" not in shown and "SECRET" not in repr(session.overlays()), "after the redaction")


def tools_are_there_though_a_provider_is_not(store: Store) -> None:
    class Gone:
        def get(self) -> str:
            raise OSError("no such host")

        def load(self, key: str) -> str | None:
            raise OSError("no such host")

    spec = glassine.SessionSpec().with_context("skills", provider=Gone()).with_context("memory")
    session = store.session("s", spec.with_context("date", provider=Gone(), when_changed="remind"))
    names = [tool.name for tool in session.tools()]
    equal(names, ["set_context", "load_context", "unload_context", "read_original"], "the tools")
    with raises(glassine.ProviderError) as caught:
        session.freeze_prompt()
    true("no such host" in str(caught.error) and "skills" in caught.error.source, f"the error: {caught.error}")


def a_view_shows_what_a_model_is_sent(store: Store) -> None:
    session = store.session("s", SPEC)
    session.append(says("m1", "m2"))
    call = glassine.tool_call("read", {}, id="c")
    session.append(glassine.assistant(call, id="m3"))
    session.append(glassine.tool_result(call, "長" * 200_000, id="big"))
    session.add_compaction("what came before", "m1", "m2", id="o1")
    view = session.view(model="some-model")
    equal(ids(view.messages), ["compaction_o1", "m3", "big"], "the messages")
    equal(
        [(e.first_id, e.last_id, e.messages, e.why) for e in view.entries][:1],
        [("m1", "m2", 2, ("summary",))],
        "entries",
    )
    equal((view.leaf, view.model, view.system), ("big", "some-model", session.freeze_prompt()), "the view")
    shown = view.messages[-1].parts[0]["output"]  # type: ignore[typeddict-item]
    true(len(shown) < 5000 and '[glassine original: message "big", part 0]' in shown, "a text too long is shortened")
    tool = {tool.name: tool for tool in session.tools()}["read_original"]
    part = tool.call({"message_id": "big", "part": 0, "start": 199_990})
    true(part.startswith("長" * 10 + "\n[characters 199990 to 200000 of 200000"), f"the end of it: {part[:80]}")
    equal(session.history()[-1].parts[0]["output"], "長" * 200_000, "the history shows it whole")  # type: ignore[typeddict-item]
    empty = store.session("none")
    equal((empty.view().messages, empty.view().system, empty.tools()), ([], "", []), "no spec")
