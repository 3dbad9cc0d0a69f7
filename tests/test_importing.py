"""Importing transcripts: what is new is added, and what the owner of a session did to it is left alone."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import glassine
from glassine import transcripts
from glassine.transcripts import ImportResult, SessionImport, import_transcript
from glassine.transcripts._beside import description
from tests.made_transcripts import SESSION, Script, call, coding

DATA = Path(__file__).parent.parent.parent / "shared" / "data" / "claude-code"


@pytest.fixture
def store(database: str) -> Iterator[glassine.Store]:
    with glassine.open(database) as store:
        yield store
        assert store.verify().clean


def bring(store: glassine.Store, path: Path, **options: bool) -> ImportResult:
    """Import a file, after a dry run has said the same."""
    rehearsed = import_transcript(store, transcripts.read(path), dry_run=True, **options)
    done = import_transcript(store, transcripts.read(path), **options)
    assert done == rehearsed
    return done


def one(result: ImportResult) -> SessionImport:
    (session,) = result.sessions
    return session


def texts(session: glassine.Session, *, raw: bool = False) -> list[str]:
    return [message.text for message in session.history(raw=raw)]


def test_a_conversation_becomes_a_session(store: glassine.Store, tmp_path: Path) -> None:
    path = coding().write(tmp_path / f"{SESSION}.jsonl")
    done = one(bring(store, path))
    assert (done.created, done.new, done.known, done.events, done.usage) == (True, 10, 0, 1, 5)
    session = store.session(SESSION)
    assert texts(session) == [
        "Why is the build red?",
        "Looking.",
        "",
        "A missing file.",
        "ファイルを元に戻してください",
        "戻しました。",
        "",
        "終わりです。",
    ]
    read = transcripts.read(path).conversations[0]
    assert {node.id: node.parent_id for node in session.outline()} == {e.id: e.parent for e in read.messages}
    info = session.info()
    assert (info.title, info.source, info.model) == ("Why is the build red?", "claude-code", "claude-sonnet-4-5")
    assert info.metadata is not None
    facts = {key: info.metadata[key] for key in ("cwd", "gitBranch", "version", "file")}
    assert facts == {"cwd": "/home/mika/site", "gitBranch": "main", "version": "2.1.0", "file": str(path)}
    usage = session.usage()
    assert [row.cache_read_tokens for row in usage] == [100] * 5
    assert all(session.message(row.message_id) for row in usage if row.message_id)
    assert [event.kind for event in session.events()] == ["system.turn_duration"]


def test_importing_again_writes_nothing(store: glassine.Store, tmp_path: Path) -> None:
    path = coding().write(tmp_path / f"{SESSION}.jsonl")
    bring(store, path)
    before = store.session(SESSION).info()
    done = one(bring(store, path))
    assert (done.created, done.new, done.known, done.events, done.usage) == (False, 0, 10, 0, 0)
    assert store.session(SESSION).info() == before  # the change number and time too


def test_every_longer_version_gives_what_the_whole_gives(tmp_path: Path) -> None:
    script = coding()
    script.compaction("要約: the build")
    script.user("And now?")
    script.reply("One ", id="msg_grows")
    script.reply("two", call("c9"), id="msg_grows")
    script.result("c9", "fine")
    with glassine.open(":memory:") as whole, glassine.open(":memory:") as steps:
        bring(whole, script.write(tmp_path / f"{SESSION}.jsonl"))
        for upto in range(1, len(script.lines) + 1):
            bring(steps, script.write(tmp_path / f"{SESSION}.jsonl", upto))
        a, b = whole.session(SESSION), steps.session(SESSION)
        assert [(n.id, n.parent_id, n.size) for n in a.outline()] == [(n.id, n.parent_id, n.size) for n in b.outline()]
        assert a.history() == [*a.history()[:1], *b.history()[1:]]  # the summaries differ in when they were laid
        assert texts(a) == texts(b) == ["要約: the build", "And now?", "One \ntwo", ""]
        assert len(texts(a, raw=True)) == 11
        assert [event.id for event in a.events()] == [event.id for event in b.events()]
        assert len(a.usage()) == len(b.usage()) == 6
        assert steps.verify().clean


def test_an_earlier_version_takes_nothing_back(store: glassine.Store, tmp_path: Path) -> None:
    script = coding()
    script.reply("more", id="msg_grows")
    script.reply("and more", id="msg_grows")
    bring(store, script.write(tmp_path / "a" / f"{SESSION}.jsonl"))
    before = store.session(SESSION).info()
    for upto in (len(script.lines) - 1, 6):
        done = one(bring(store, script.write(tmp_path / "a" / f"{SESSION}.jsonl", upto)))
        assert (done.new, done.updated, done.kept) == (0, 0, 0)
        assert store.session(SESSION).info() == before


def test_a_reply_that_grew_is_completed_but_not_one_that_was_edited(store: glassine.Store, tmp_path: Path) -> None:
    script = Script()
    script.user("hi")
    id = script.reply("One", id="msg_a")
    path = tmp_path / f"{SESSION}.jsonl"
    bring(store, script.write(path))
    script.reply("Two", id="msg_a")
    done = one(bring(store, script.write(path)))
    assert (done.updated, done.kept) == (1, 0)
    session = store.session(SESSION)
    assert texts(session) == ["hi", "One\nTwo"]

    whole = session.message(id)
    assert whole is not None
    session.update({**whole.to_dict(), "parts": [{"type": "text", "text": "One"}]})  # somebody took a part away
    assert one(bring(store, path)).updated == 0
    session.update({**whole.to_dict(), "parts": [{"type": "text", "text": "Mine"}]})
    script.reply("Three", id="msg_a")
    done = one(bring(store, script.write(path)))
    assert (done.updated, done.kept) == (0, 1)
    assert texts(session) == ["hi", "Mine"]


def test_redacted_content_stays_away_and_so_does_the_title(store: glassine.Store, tmp_path: Path) -> None:
    script = Script()
    id = script.user("The password is 1234")
    script.reply("Noted")
    path = tmp_path / f"{SESSION}.jsonl"
    bring(store, script.write(path))
    session = store.session(SESSION)
    session.redact(id)
    script.user("next")
    bring(store, script.write(path))
    assert texts(session) == ["[redacted]", "Noted", "next"]
    assert session.info().title is None
    assert "1234" not in str(session.info().metadata)


def test_deleted_messages_are_not_resurrected(store: glassine.Store, tmp_path: Path) -> None:
    script = Script()
    ids = [script.user("a"), script.reply("b"), script.user("c"), script.reply("d")]
    path = tmp_path / f"{SESSION}.jsonl"
    bring(store, script.write(path))
    session = store.session(SESSION)
    session.delete([ids[1], ids[3]])
    script.user("e")
    done = one(bring(store, script.write(path)))
    assert (done.new, done.known, done.left_out) == (1, 2, 2)
    assert texts(session) == ["a", "c", "e"]
    session.clear()
    script.reply("f")
    assert one(bring(store, script.write(path))).left_out == 5
    assert texts(session) == ["f"]


def test_deleted_sessions_are_skipped_unless_restored(store: glassine.Store, tmp_path: Path) -> None:
    path = coding().write(tmp_path / f"{SESSION}.jsonl")
    bring(store, path)
    store.delete_session(SESSION)
    done = one(bring(store, path))
    assert (done.skipped, done.new, done.left_out) == ("deleted", 0, 10)
    assert store.sessions() == []
    assert one(bring(store, path, restore=True)).new == 10
    assert one(bring(store, path)).skipped is None


def test_a_leaf_that_was_switched_stays_until_the_transcript_goes_on(store: glassine.Store, tmp_path: Path) -> None:
    script = coding()
    path = tmp_path / f"{SESSION}.jsonl"
    bring(store, script.write(path))
    session = store.session(SESSION)
    other = script.lines[6]["uuid"]  # the end of the branch that was left
    session.switch(other)
    bring(store, path)
    assert session.info().leaf_id == other
    end = script.reply("further")
    bring(store, script.write(path))
    assert session.info().leaf_id == end


def test_messages_of_others_keep_their_place_and_the_leaf(store: glassine.Store, tmp_path: Path) -> None:
    script = Script()
    script.user("a")
    script.reply("b")
    path = tmp_path / f"{SESSION}.jsonl"
    bring(store, script.write(path))
    session = store.session(SESSION)
    mine = session.append(glassine.user("mine"))
    script.user("theirs")
    bring(store, script.write(path))
    assert texts(session) == ["a", "b", "mine"]
    leaf = session.leaf()
    assert leaf is not None
    assert leaf.id == mine.id
    assert len(session.branches(script.lines[1]["uuid"])) == 2


def test_a_leaf_stays_where_only_a_side_branch_is_new(store: glassine.Store, tmp_path: Path) -> None:
    script = Script()
    root = script.user("a")
    script.reply("b")
    bring(store, script.write(tmp_path / "one" / f"{SESSION}.jsonl"))
    session = store.session(SESSION)
    session.switch(root)
    side = Script()
    side.lines = [script.lines[0]]
    side.user("side", after=root, uuid="side")
    side.lines.append(script.lines[1])
    assert one(bring(store, side.write(tmp_path / "two" / f"{SESSION}.jsonl"))).new == 1
    assert session.info().leaf_id == root


def test_a_compaction_becomes_a_summary_and_the_next_one_lies_over_it(store: glassine.Store, tmp_path: Path) -> None:
    script = Script()
    first = script.user("a")
    last = script.reply("b")
    script.compaction("S1")
    script.user("c")
    path = tmp_path / f"{SESSION}.jsonl"
    assert one(bring(store, script.write(path))).summaries == 1
    session = store.session(SESSION)
    assert texts(session) == ["S1", "c"]
    (overlay,) = session.compactions()
    assert (overlay.first_id, overlay.last_id) == (first, last)
    script.compaction("S2")
    script.user("d")
    assert one(bring(store, script.write(path))).summaries == 1
    assert texts(session) == ["S2", "d"]

    session.undo(next(overlay for overlay in session.compactions() if overlay.text == "S2"))
    assert one(bring(store, path)).summaries == 0
    assert texts(session) == ["S1", "c", "d"]


def test_a_summary_covers_what_is_left_of_its_range(store: glassine.Store, tmp_path: Path) -> None:
    script = Script()
    ids = [script.user("a"), script.reply("b"), script.user("c")]
    path = tmp_path / f"{SESSION}.jsonl"
    bring(store, script.write(path))
    session = store.session(SESSION)
    session.delete([ids[0], ids[2]])
    script.compaction("S")
    script.user("d")
    bring(store, script.write(path))
    (overlay,) = session.compactions()
    assert (overlay.first_id, overlay.last_id, overlay.covered_messages) == (ids[1], ids[1], 1)
    assert texts(session) == ["S", "d"]


def test_a_summary_that_cuts_through_another_is_reported_and_kept_as_an_event(
    store: glassine.Store, tmp_path: Path
) -> None:
    script = Script()
    ids = [script.user("a"), script.reply("b"), script.user("c"), script.reply("d")]
    path = tmp_path / f"{SESSION}.jsonl"
    bring(store, script.write(path))
    session = store.session(SESSION)
    session.append(glassine.user("x"), parent=ids[3])
    mine = session.add_compaction("mine", ids[2], session.history()[-1].id)
    script.compaction("S")
    result = bring(store, script.write(path))
    assert [problem.code for problem in result.problems] == ["refused-summary"]
    assert [overlay.id for overlay in session.compactions()] == [mine.id]
    (event,) = [event for event in session.events() if event.kind == "refused-summary"]
    assert event.data["summary"] == "S"
    assert one(bring(store, path)).events == 0


def test_what_cannot_be_stored_is_reported_and_left_out(store: glassine.Store, tmp_path: Path) -> None:
    script = Script()
    script.user("a")
    script.reply("b", call("c1", deep=1))
    script.user("c")
    transcript = transcripts.read(script.write(tmp_path / f"{SESSION}.jsonl"))
    transcript.conversations[0].messages[1].message["parts"][1]["input"]["deep"] = float("nan")
    result = import_transcript(store, transcript)
    assert [problem.code for problem in result.problems] == ["refused-message"]
    assert (result.sessions[0].new, texts(store.session(SESSION))) == (2, ["a", "c"])


def test_a_name_given_here_is_kept_and_one_from_the_file_follows_it(store: glassine.Store, tmp_path: Path) -> None:
    script = coding()
    path = tmp_path / f"{SESSION}.jsonl"
    bring(store, script.write(path))
    session = store.session(SESSION)
    script.title("赤いビルド")
    bring(store, script.write(path))
    assert session.info().title == "赤いビルド"
    session.describe(title="Mine", metadata={**(session.info().metadata or {}), "mine": 1})
    script.title("other")
    script.user("more")
    bring(store, script.write(path))
    info = session.info()
    assert (info.title, (info.metadata or {})["mine"]) == ("Mine", 1)


def test_subagents_are_linked_whatever_comes_first(store: glassine.Store, tmp_path: Path) -> None:
    main = Script()
    main.user("look")
    step = main.reply(call("c1", "Task", prompt="find it"))
    main.result("c1", "found")
    main.lines[-1]["toolUseResult"] = {"agentId": "a1"}
    agent = Script()
    agent.user("find it", isSidechain=True, agentId="a1")
    for line in agent.lines:
        line["uuid"] = "f" + line["uuid"][1:]
    file = agent.write(tmp_path / SESSION / "subagents" / "agent-a1.jsonl")
    bring(store, file)
    session = store.session(f"{SESSION}/agent-a1")
    assert session.info().lineage == glassine.Lineage("sidechain", SESSION, None)
    for transcript in transcripts.read_many([main.write(tmp_path / f"{SESSION}.jsonl"), file]):
        import_transcript(store, transcript)
    assert session.info().lineage == glassine.Lineage("sidechain", SESSION, step)
    # The file alone does not know the step; there is nothing to write.
    (conversation,) = transcripts.read(file).conversations
    assert description(conversation, "claude-code", file, session.info()) == {}


def test_the_same_event_twice_is_two_events(store: glassine.Store, tmp_path: Path) -> None:
    script = Script()
    script.user("a")
    path = tmp_path / f"{SESSION}.jsonl"
    for number in (1, 2):
        script.title("again")
        script.title("again")
        assert one(bring(store, script.write(path))).events == 2
        assert len(store.session(SESSION).events()) == 2 * number


def test_a_plan_that_somebody_else_made_stale_is_made_anew(
    store: glassine.Store, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = Script()
    script.user("a")
    script.reply("One", id="msg_a")
    early = transcripts.read(script.write(tmp_path / f"{SESSION}.jsonl"))
    script.reply("Two", id="msg_a")
    late = transcripts.read(script.write(tmp_path / f"{SESSION}.jsonl"))
    append = glassine.Session.append

    def overtaken(self: glassine.Session, messages: Any, **options: Any) -> Any:
        monkeypatch.setattr(glassine.Session, "append", append)
        with glassine.open(database) as other:
            import_transcript(other, late)
        return append(self, messages, **options)

    monkeypatch.setattr(glassine.Session, "append", overtaken)
    import_transcript(store, early)
    assert texts(store.session(SESSION)) == ["a", "One\nTwo"]


def test_a_long_run_is_written_in_pieces_and_whole(
    store: glassine.Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    append = glassine.Session.append

    def counted(self: glassine.Session, messages: Any, **options: Any) -> Any:
        sizes.append(len(messages))
        return append(self, messages, **options)

    monkeypatch.setattr(glassine.Session, "append", counted)
    script = Script()
    for number in range(1201):
        script.user(str(number))
    assert one(bring(store, script.write(tmp_path / f"{SESSION}.jsonl"))).new == 1201
    assert texts(store.session(SESSION)) == [str(number) for number in range(1201)]
    assert sizes == [500, 500, 201]


IMPORTER = """
import sys, glassine
from glassine import transcripts
with glassine.open(sys.argv[1]) as store:
    print("ready", flush=True)
    sys.stdin.readline()
    for path in sys.argv[2:]:
        transcripts.import_transcript(store, transcripts.read(path))
"""


def test_two_imports_of_the_same_files_at_once(store: glassine.Store, database: str, tmp_path: Path) -> None:
    script = coding()
    for number in range(300):
        script.user(f"{number}")
        script.reply(f"re {number}", id=f"msg_{number}_a")
    script.compaction("要約")
    script.user("end")
    whole = script.write(tmp_path / "a" / f"{SESSION}.jsonl")
    parts = [script.write(tmp_path / str(cut) / f"{SESSION}.jsonl", cut) for cut in (9, 150, 400)]
    orders = [[*parts, whole], [whole, *parts], [parts[2], whole]]
    running = [
        subprocess.Popen(
            [sys.executable, "-c", IMPORTER, database, *map(str, order)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for order in orders
    ]
    for process in running:
        assert process.stdout is not None
        process.stdout.readline()
    for process in running:
        process.communicate("go\n")
    assert [process.returncode for process in running] == [0, 0, 0]
    read = transcripts.read(whole).conversations[0]
    session = store.session(SESSION)
    assert {node.id: node.parent_id for node in session.outline()} == {e.id: e.parent for e in read.messages}
    assert [overlay.text for overlay in session.compactions()] == ["要約"]
    assert len(session.usage()) == len(read.usage)
    assert len(session.events()) == len(read.events)
    assert texts(session) == ["要約", "end"]


REAL = sorted(DATA.glob("*.jsonl*")) or [DATA]


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
def test_real_transcripts_are_stored_as_they_were_read(store: glassine.Store, path: Path) -> None:
    if not DATA.is_dir():
        pytest.skip("real transcripts are not here (../shared/data)")
    transcript = transcripts.read(path)
    result = bring(store, path)
    assert not [problem for problem in result.problems if problem.code.startswith("refused")]
    for conversation in transcript.conversations:
        session = store.session(conversation.id)
        assert [(n.id, n.parent_id) for n in session.outline()] == [(e.id, e.parent) for e in conversation.messages]
        for entry in conversation.messages:
            message = session.message(entry.id)
            assert message is not None
            assert message.to_dict() == entry.message
        assert session.info().leaf_id == conversation.leaf_id
        assert [o.id for o in session.compactions()] == [c.id for c in conversation.compactions]
        assert [event.data for event in session.events()] == [event.data for event in conversation.events]
        assert sum(row.output_tokens or 0 for row in session.usage()) == sum(
            u.output_tokens for u in conversation.usage
        )
    again = bring(store, path)
    assert all((s.new, s.updated, s.summaries, s.events, s.usage) == (0, 0, 0, 0, 0) for s in again.sessions)
