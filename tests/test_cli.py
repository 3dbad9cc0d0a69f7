"""The command line, as a person and as a program use it."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from rich.cells import cell_len

import glassine
from glassine.cli import main
from glassine.cli._messages import wrapped
from glassine.cli._progress import Progress
from tests.made_transcripts import SESSION, Script, coding

Run = Callable[..., Result]
HOSTILE = "\x1b[31mred\x1b[0m \x1b]0;owned\x07 \x9b2J \u202egnp.exe\u2066 a\nb\tc\r\nd \x00\x7f \ud800"
UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


a_file = pytest.mark.parametrize("database", ["file"], indirect=True)
"""For what is said of files, and what only a file can suffer."""


@pytest.fixture
def run(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command with a database of the test's own, 100 columns wide, at UTC."""
    for name, value in {
        "GLASSINE_DB": database,
        "COLUMNS": "100",
        "HOME": str(tmp_path / "home"),
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("FORCE_COLOR", raising=False)

    def run(*argv: str, code: int = 0) -> Result:
        result = CliRunner().invoke(main, list(argv), prog_name="glassine")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == code, result.output
        return result

    return run


@pytest.fixture
def imported(run: Run, tmp_path: Path) -> Path:
    """A transcript that is in the database."""
    path = coding().write(tmp_path / "in" / f"{SESSION}.jsonl")
    run("import", str(path))
    return path


def store() -> glassine.Store:
    return glassine.open(os.environ["GLASSINE_DB"])


def lines_of(result: Result) -> list[Any]:
    return [json.loads(text) for text in result.stdout.splitlines()]


# --- import -----------------------------------------------------------------------------------------------------------


def test_import_sums_up(run: Run, tmp_path: Path) -> None:
    path = coding().write(tmp_path / "in" / f"{SESSION}.jsonl")
    (tmp_path / "in" / "other.json").write_text("{}")
    with path.open("a") as file:
        file.write('{"type":"user","mess')
    said = run("import", str(tmp_path / "in")).stdout
    assert re.search(r"^Read 1 file in \d+\.\d s$", said, re.MULTILINE)
    assert "new            1 session, 10 messages\n" in said
    assert "left out       1 file: not a transcript of a known format\n" in said
    assert "repaired       truncated-line 1\n" in said
    assert "truncated-line:" not in said
    said = run("import", "-v", str(tmp_path / "in" / "*")).stdout
    assert "new            nothing\n" in said
    assert "already there  1 session, 10 messages\n" in said
    assert f"{SESSION}.jsonl:12: truncated-line:" in said


def test_a_dry_run_says_the_same_and_makes_no_database(run: Run, tmp_path: Path) -> None:
    path = coding().write(tmp_path / "in" / f"{SESSION}.jsonl")
    dry = json.loads(run("import", "--dry-run", "--json", str(path)).stdout)
    assert not (tmp_path / "g.db").exists()
    real = json.loads(run("import", "--json", str(path)).stdout)
    assert (dry.pop("dryRun"), real.pop("dryRun")) == (True, False)
    assert dry == real
    again = json.loads(run("import", "--dry-run", "--json", str(path)).stdout)
    assert (again["totals"]["new"], again["totals"]["known"]) == (0, 10)


def test_import_reads_claude_code_by_default_and_says_so(run: Run, tmp_path: Path) -> None:
    refused = run("import", code=2)
    assert str(tmp_path / "home" / ".claude" / "projects") in refused.stderr
    coding().write(tmp_path / "home" / ".claude" / "projects" / "-home" / f"{SESSION}.jsonl")
    result = run("import")
    assert f"reading {tmp_path / 'home' / '.claude' / 'projects'}" in result.stderr
    assert "10 messages" in result.stdout


def test_importing_nothing_is_a_failure_that_says_why(run: Run, tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("no transcript")
    result = run("import", str(tmp_path / "x.txt"), str(tmp_path / "missing"), code=1)
    assert f"{tmp_path / 'x.txt'}: not a transcript of a known format" in result.stderr
    assert f"{tmp_path / 'missing'}: no such file" in result.stderr
    assert not (tmp_path / "g.db").exists()


def test_a_typing_error_beside_good_files_is_mentioned(run: Run, tmp_path: Path) -> None:
    path = coding().write(tmp_path / "in" / f"{SESSION}.jsonl")
    assert "missing: no such file" in run("import", str(path), str(tmp_path / "missing")).stderr


def test_a_file_that_cannot_be_read_does_not_stop_the_others(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import glassine.transcripts as module

    for name in ("a", "b", "c"):
        script = Script(name)
        script.user(f"hi {name}")
        script.write(tmp_path / "in" / f"{name}.jsonl")
    real = module.read

    def read(path: Path) -> module.Transcript:
        if Path(path).name == "b.jsonl":
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(module, "read", read)
    result = run("import", str(tmp_path / "in"))
    assert "b.jsonl: Permission denied" in result.stderr
    assert [line["id"] for line in lines_of(run("sessions", "--json"))] == ["c", "a"]


def test_deleted_sessions_stay_deleted_unless_restored(run: Run, imported: Path, tmp_path: Path) -> None:
    with store() as opened:
        opened.delete_session(SESSION)
    said = run("import", str(imported)).stdout
    assert "not restored   1 session deleted here (--restore brings back)" in said
    assert "new            1 session, 10 messages" in run("import", "--restore", str(imported)).stdout


# --- sessions ---------------------------------------------------------------------------------------------------------


def test_sessions_come_newest_first_by_their_own_time(run: Run, tmp_path: Path) -> None:
    for name, hour in (("old", "08"), ("new", "20"), ("middle", "12")):
        script = Script(name)
        script.user(f"about {name}", timestamp=f"2026-03-04T{hour}:00:00Z")
        script.write(tmp_path / "in" / f"{name}.jsonl")
    run("import", str(tmp_path / "in"))
    assert [line["id"] for line in lines_of(run("sessions", "--json"))] == ["new", "middle", "old"]
    assert [line["id"] for line in lines_of(run("sessions", "--json", "--limit", "2"))] == ["new", "middle"]
    said = run("sessions", "--limit", "1").stdout
    assert "about new" in said
    assert "about middle" not in said
    assert "… and 2 older; --limit 0 lists all" in said
    assert "about old" in run("sessions", "--limit", "0").stdout


def test_subagents_stand_behind_their_session_and_do_not_count(run: Run, tmp_path: Path) -> None:
    for name, hour in (("main", "08"), ("later", "20")):
        script = Script(name)
        script.user(f"about {name}", timestamp=f"2026-03-04T{hour}:00:00Z")
        script.write(tmp_path / "in" / f"{name}.jsonl")
    agent = Script("main")
    agent.user("sub", isSidechain=True, agentId="a1", timestamp="2026-03-04T23:00:00Z")
    agent.write(tmp_path / "in" / "main" / "subagents" / "agent-a1.jsonl")
    early = Script("later")
    early.user("early sub", isSidechain=True, agentId="b1", timestamp="2026-03-04T01:00:00Z")
    early.write(tmp_path / "in" / "later" / "subagents" / "agent-b1.jsonl")
    run("import", str(tmp_path / "in"))
    order = ["later", "later/agent-b1", "main", "main/agent-a1"]
    assert [line["id"] for line in lines_of(run("sessions", "--json"))] == order
    rows = run("sessions", "--limit", "2").stdout.splitlines()
    assert rows[4].startswith("agent-a1")
    assert "↳ sub" in rows[4]
    # The session is meant, not its subagent, whose id begins with the same letters.
    assert json.loads(run("show", "ma", "--json").stdout)["parts"][0]["text"] == "about main"
    assert json.loads(run("show", "agent-a", "--json").stdout)["parts"][0]["text"] == "sub"


def test_listed_ids_are_long_enough_to_be_used(run: Run, tmp_path: Path) -> None:
    ids = ["aaaaaaaa1-long", "aaaaaaaa2-long", "bbbbbbbbbb", "ビルドの会話１", "ビルドの会話２"]
    with store() as opened:
        for id in ids:
            opened.session(id).append(glassine.user(id))
    shown = [row.split()[0] for row in run("sessions").stdout.splitlines()[1:]]
    assert shown == ["ビルドの会話２", "ビルドの会話１", "bbbbbbbb", "aaaaaaaa2", "aaaaaaaa1"]
    for id, short in zip(reversed(ids), shown, strict=True):
        assert json.loads(run("show", short, "--json").stdout)["parts"][0]["text"] == id


@pytest.mark.parametrize("columns", ["40", "80", "100", "160"])
def test_columns_are_aligned_for_wide_characters(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    titles = [
        "レシピの材料名にふりがなを付けたいです" * 5,
        "短い",
        "ascii only",
        "👩‍👩‍👧 family ×",
        "한국어 제목",
        HOSTILE,
    ]
    for number, title in enumerate(titles):
        script = Script(f"s{number:07}")
        script.user(title)
        script.write(tmp_path / "in" / f"s{number:07}.jsonl")
    run("import", str(tmp_path / "in"))
    monkeypatch.setenv("COLUMNS", columns)
    head, *rows = run("sessions").stdout.splitlines()
    assert len(rows) == len(titles)
    end = cell_len(head[: head.index("size") + len("size")])
    for row in rows:
        assert cell_len(row) <= max(int(columns), 62)
        sizes = list(re.finditer(r"\d+(\.\d)? k?B", row))
        assert cell_len(row[: sizes[-1].end()]) == end, row


@a_file
def test_an_empty_database_and_a_missing_one(run: Run, tmp_path: Path) -> None:
    for argv in (["sessions"], ["show", "x"], ["verify"], ["repair"], ["info"]):
        result = run(*argv, code=3)
        assert f"there is no database at {tmp_path / 'g.db'}" in result.stderr
        assert "glassine import" in result.stderr
        assert result.stdout == ""
    assert not (tmp_path / "g.db").exists()
    store().__enter__().close()
    result = run("sessions")
    assert result.stdout == ""
    assert "no conversations yet" in result.stderr
    assert run("sessions", "--json").output == ""
    assert run("verify").stdout == "0 sessions, 0 messages: everything is in order\n"


# --- show -------------------------------------------------------------------------------------------------------------


def test_show_prints_a_conversation(run: Run, imported: Path) -> None:
    said = run("show", SESSION[:4]).stdout
    assert said.startswith(
        f"Why is the build red?\n{SESSION}\nclaude-code · claude-sonnet-4-5 · 10 messages · 2 branches"
    )
    assert re.search(r"^user  2026-03-04 \d\d:\d\d:\d\d\n  Why is the build red\?$", said, re.MULTILINE)
    assert re.search(r"^assistant  \d\d:\d\d:\d\d\n  Looking\.\n  → Bash  command: ls$", said, re.MULTILINE)
    assert "  ← Bash  500 B\n    error: 42\n    error: 42\n    error: 42\n    … 47 more lines\n" in said
    assert "  ← Edit  2 B  ok\n" in said
    assert "Write it anew" not in said
    assert "\x1b" not in said


def test_show_json_gives_the_messages_as_they_are_stored(run: Run, imported: Path, tmp_path: Path) -> None:
    with store() as opened:
        expected = [message.to_dict() for message in opened.session(SESSION).history()]
    assert lines_of(run("show", SESSION, "--json")) == expected
    assert lines_of(run("--json", "show", SESSION, "--last", "2")) == expected[-2:]


def test_show_last_says_what_came_before(run: Run, imported: Path) -> None:
    said = run("show", SESSION, "--last", "2").stdout
    assert "… 6 earlier messages" in said
    assert "戻しました" not in said
    assert "終わりです" in said
    assert "earlier" not in run("show", SESSION, "--last", "8").stdout


def test_show_another_leaf(run: Run, imported: Path) -> None:
    nodes = lines_of(run("show", SESSION, "--tree", "--json"))
    end = next(node["id"] for node in nodes if not node["onPath"] and node["role"] == "assistant")
    said = run("show", SESSION, "--leaf", end[:10]).stdout
    assert "Done anew." in said
    assert "終わりです" not in said
    tree = run("show", SESSION, "--leaf", end, "--tree").stdout
    assert re.search(r"^├─○ \S+ user  ファイルを", tree, re.MULTILINE)
    assert re.search(r"^● \S+ user  Write it anew", tree, re.MULTILINE)
    inner = next(node["id"] for node in nodes if node["role"] == "tool")
    assert re.search(
        r"^● \S+ tool  ← Bash .*◀ leaf", run("show", SESSION, "--leaf", inner, "--tree").stdout, re.MULTILINE
    )
    assert "no message of session" in run("show", SESSION, "--leaf", "zzz", code=3).stderr
    assert "give more of it" in run("show", SESSION, "--leaf", "0000", code=2).stderr


def test_summaries_are_marked_and_raw_leaves_them_out(run: Run, imported: Path, tmp_path: Path) -> None:
    day = datetime(2026, 3, 4, 12, tzinfo=UTC)
    with glassine.open(os.environ["GLASSINE_DB"], clock=lambda: day) as opened:
        session = opened.session(SESSION)
        path = session.history()
        session.add_compaction("beneath", path[2].id, path[3].id)
        outer = session.add_compaction("要約です", path[0].id, path[3].id)
    nodes = lines_of(run("show", SESSION, "--tree", "--json"))
    assert [node["id"] for node in nodes if node["summary"] == outer.message_id] == [message.id for message in path[:4]]
    said = run("show", SESSION).stdout
    assert re.search(r"\nsummary of 4 messages  2026-03-04 \d\d:00:00\n  要約です\n\nuser  ", said)
    assert "Why is the build red?\n\n" not in said
    assert "A missing file." in run("show", SESSION, "--raw").stdout
    tree = run("show", SESSION, "--tree").stdout
    assert "≡ summary of 4 messages  要約です" in tree
    assert tree.count("◌") == 2
    assert "≡" not in run("show", SESSION, "--tree", "--raw").stdout


def test_the_tree_shows_branches_the_path_and_the_leaf(run: Run, imported: Path) -> None:
    said = run("show", SESSION, "--tree").stdout.split("\n\n", 1)[1]
    shape = [re.sub(r"[0-9a-f]{8}(-[0-9a-f-]+)?|  \d\d-\d\d \d\d:\d\d$", "", row) for row in said.splitlines()]
    assert [" ".join(row.split()) for row in shape] == [
        "● user Why is the build red?",
        "┆ 1 assistant, 1 tool",
        "● assistant A missing file.",
        "├─○ user Write it anew",
        "│ ○ assistant Done anew.",
        "● user ファイルを元に戻してください",
        "┆ 1 assistant, 1 tool",
        "● assistant 終わりです。 ◀ leaf",
    ]
    assert all(cell_len(row) == 100 for row in said.splitlines() if "┆" not in row)
    (leaf,) = [row for row in said.splitlines() if "◀ leaf" in row]
    assert "終わりです" in leaf


@a_file
def test_a_tree_of_branches_upon_branches(run: Run, tmp_path: Path) -> None:
    with store() as opened:
        session = opened.session("deep")
        chain = session.append([glassine.user(f"{number}") for number in range(1500)])  # deeper than Python recurses
        for parent in chain[:-1]:
            side = session.append(glassine.user("side"), parent=parent)
        session.append(glassine.user("other root"), parent=None)
        session.switch(side)
    for argv in (["--leaf", side.id], ["--leaf", chain[1].id]):
        said = run("show", "deep", "--tree", *argv).stdout
        assert all(cell_len(row) <= 100 for row in said.splitlines())
        assert said.count("side") == 1499
        assert re.search(r"\n\n○ \S+ user  other root", said)


def test_a_single_step_is_listed_where_several_are_counted(run: Run, tmp_path: Path) -> None:
    script = Script()
    script.user("q")
    script.reply("step")
    script.reply("answer")
    script.write(tmp_path / "in" / f"{SESSION}.jsonl")
    run("import", str(tmp_path / "in"))
    said = run("show", SESSION, "--tree").stdout
    assert "assistant  step" in said
    assert "┆" not in said


def test_a_session_that_is_not_there_or_not_the_only_one(run: Run, tmp_path: Path) -> None:
    with store() as opened:
        for id in ("abc-1", "abc-2", "日本-1"):
            opened.session(id).append(glassine.user("hi"))
    result = run("show", "zzz", code=3)
    assert "no session begins with 'zzz'" in result.stderr
    assert "glassine sessions" in result.stderr
    result = run("show", "abc", code=2)
    assert "  abc-1" in result.stderr
    assert "  abc-2" in result.stderr
    assert "hi" in run("show", "日").stdout
    assert run("show", "abc", "--tree", "--last", "3", code=2).stderr.endswith("shows the whole conversation.\n")


@a_file
def test_a_message_that_cannot_be_read_is_shown_as_such(run: Run, imported: Path, tmp_path: Path) -> None:
    damage(tmp_path)
    for argv in (["show", SESSION], ["show", SESSION, "--json"], ["show", SESSION, "--last", "8"]):
        result = run(*argv, code=1)
        assert "cannot be read" in result.output
        assert "終わりです" in result.stdout
    damage(tmp_path, seq=1)
    assert "(cannot be read)" in run("show", SESSION, "--tree").stdout


def test_unusual_parts(run: Run, tmp_path: Path) -> None:
    parts: list[Any] = [
        {"type": "reasoning", "text": "hmm\n" * 9},
        {"type": "reasoning", "text": "", "providerMetadata": {"anthropic": {"redactedData": "xx"}}},
        {"type": "file", "mediaType": "image/png", "url": "data:image/png;base64," + "A" * 4000, "filename": "図.png"},
        {"type": "step-start"},
        {"type": "tool-search", "toolCallId": "c", "state": "output-error", "input": {"q": 1}, "errorText": "no"},
        {"type": "text", "text": "語" * 100},
    ]
    blocks = [
        {"type": "text", "text": "seen"},
        {"type": "image", "source": {"media_type": "image/png", "data": "A" * 8}},
    ]
    with store() as opened:
        session = opened.session("s")
        session.append(glassine.assistant(*parts, glassine.tool_call("Write", {"content": "x" * 5000}, id="d")))
        session.append(glassine.tool_result("d", blocks, name="Write"))
        session.append(glassine.user("Caveat: x\n" * 9, metadata={"origin": "injected"}))
    said = run("show", "s").stdout
    assert "  thinking, 36 B: hmm\n  hmm\n  hmm\n  … 6 more lines\n" in said
    assert "  thinking, not shown by the model\n" in said
    assert "  [image/png, 図.png, 3.0 kB]\n" in said
    assert "  [step-start, 22 B]\n" in said
    assert "  → search  q: 1\n  ← search failed  2 B  no\n" in said
    assert f"  {'語' * 49}\n  {'語' * 49}\n  語語\n" in said
    assert "  → Write  5.0 kB  content: xxx" in said
    assert "  ← Write  21 B\n    seen\n    [image/png, 6 B]\n" in said
    assert "user (injected)\n  Caveat: x\n  Caveat: x\n  Caveat: x\n  … 6 more lines\n" in said
    assert all(cell_len(row) <= 100 for row in said.splitlines())


def test_lines_are_folded_between_words_and_by_the_rules_of_japanese(run: Run, tmp_path: Path) -> None:
    japanese = (
        "表示するかどうかを、ここで決めます。「はい」または（いいえ）で答えてください、よろしくお願いします。" * 8
    )
    english = "word " * 60 + "https://example.org/" + "x" * 200
    with store() as opened:
        opened.session("s").append(glassine.user(japanese, english))
    body = run("show", "s").stdout.split("\n\n", 1)[1].splitlines()[1:]
    assert all(cell_len(row) <= 100 for row in body)
    assert "".join(row.strip() for row in body if "か" in row or "す" in row) in japanese + japanese
    for row in body:
        assert row.strip()[0] not in "、。」）", row
        assert row.rstrip()[-1] not in "「（", row
    assert sum(row.split().count("word") for row in body) == 60
    assert "".join(body).count("x") == 201


def test_an_opening_bracket_goes_with_what_it_opens() -> None:
    for before in range(20, 40):
        text = "あ" * before + "「" + "い" * 30
        rows = list(wrapped(text, 60))
        assert "".join(rows) == text
        assert not rows[0].endswith("「")
        assert cell_len(rows[0]) >= 56


# --- hostile text -----------------------------------------------------------------------------------------------------


def test_stored_text_cannot_act_on_the_terminal(run: Run, tmp_path: Path) -> None:
    with store() as opened:
        session = opened.session("s" + "\u202e" + "x")
        session.describe(title=HOSTILE, source=HOSTILE, model=HOSTILE, metadata={"cwd": HOSTILE})
        first = session.append(
            glassine.assistant(
                HOSTILE,
                {"type": HOSTILE},
                {"type": "file", "mediaType": HOSTILE, "url": HOSTILE, "filename": HOSTILE},
                {"type": "reasoning", "text": HOSTILE},
                glassine.tool_call(HOSTILE, {HOSTILE: HOSTILE}, id="c"),
            )
        )
        second = session.append(glassine.tool_result("c", HOSTILE, name=HOSTILE))
        session.append(glassine.user(HOSTILE, metadata={"origin": HOSTILE}))
        session.append(glassine.user(HOSTILE), parent=second)
        session.add_compaction(HOSTILE, first.id, second.id)
    for argv in (
        ["sessions"],
        ["show", "s"],
        ["show", "s", "--raw"],
        ["show", "s", "--tree"],
        ["sessions", "--json"],
        ["show", "s", "--json"],
        ["show", "s", "--raw", "--json"],
        ["verify"],
        ["info"],
    ):
        said = run(*argv).output
        assert not UNSAFE.search(said), (argv, UNSAFE.search(said), said)
    assert json.loads(run("sessions", "--json").stdout)["title"].startswith("\x1b[31mred")
    assert lines_of(run("show", "s", "--raw", "--json"))[0]["parts"][0]["text"] == HOSTILE
    assert "red ␛]0;owned␇ <U+009B>2J <U+202E>gnp.exe" in run("show", "s", "--raw").stdout
    assert UNSAFE.search(run("show", HOSTILE, code=3).stderr) is None


def test_hostile_file_names_and_contents_in_the_report(run: Run, tmp_path: Path) -> None:
    script = Script()
    script.user("hi")
    script.note("\x1b[2Jkind")
    path = tmp_path / "in" / "\x1b[2J\u202e.jsonl"
    script.write(path)
    (tmp_path / "in" / "\x1b[3J.json").write_text("[]")
    result = run("import", "-v", str(tmp_path / "in"))
    assert "unknown-type" in result.stdout
    assert not UNSAFE.search(result.output)


# --- verify, repair, info ---------------------------------------------------------------------------------------------


def damage(tmp_path: Path, *, seq: int = 2) -> None:
    """Spoil the bytes of the message that was stored as number `seq`."""
    import apsw

    connection = apsw.Connection(str(tmp_path / "g.db"))
    connection.execute("UPDATE body SET data = x'00' WHERE seq = ?", (seq,))
    connection.close()


@a_file
def test_verify_finds_and_repair_mends(run: Run, imported: Path, tmp_path: Path) -> None:
    assert run("verify").stdout == "1 session, 10 messages: everything is in order\n"
    damage(tmp_path)
    said = run("verify", code=1).stdout
    assert said.startswith("1 session, 10 messages: 1 problem\nunreadable  ")
    assert said.endswith("`glassine repair` mends what can be mended\n")
    found = json.loads(run("verify", "--json", code=1).stdout)
    assert [(p["code"], p["sessionId"], p["repaired"]) for p in found["problems"]] == [("unreadable", SESSION, False)]
    assert run("repair").stdout.startswith("1 session, 10 messages: 1 problem, 1 repaired\nrepaired  unreadable")
    assert json.loads(run("verify", "--json").stdout)["messages"] == 9


def test_info(run: Run, imported: Path, database: str) -> None:
    said = json.loads(run("info", "--json").stdout)
    assert (said["location"], said["sessions"], said["messages"]) == (database, 1, 10)
    assert set(said) == {
        *("location", "engine", "engineVersion", "schemaVersion", "bytes", "namespace", "namespaces"),
        *("sessions", "messages"),
    }
    assert re.search(r"^messages   10$", run("info").stdout, re.MULTILINE)


def test_namespaces_do_not_see_each_other(run: Run, imported: Path) -> None:
    assert run("sessions", "--namespace", "日本", "--json").stdout == ""
    run("import", str(imported), "--namespace", "日本")
    assert len(lines_of(run("--namespace", "日本", "sessions", "--json"))) == 1
    assert "namespace  default (others: 日本)" in run("info").stdout
    assert "white space" in run("sessions", "--namespace", " x", code=2).stderr


# --- the program ------------------------------------------------------------------------------------------------------


def test_options_may_stand_before_and_behind_the_command(run: Run, imported: Path, tmp_path: Path) -> None:
    nowhere = str(tmp_path / "nowhere.db")
    assert "nowhere.db" in run("--db", nowhere, "sessions", code=3).stderr
    assert run("--db", nowhere, "sessions", "--db", os.environ["GLASSINE_DB"]).stdout


@a_file
def test_what_is_not_our_database_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "g.db").write_text("certainly not a database, and long enough to be looked at" * 10)
    result = run("sessions", code=4)
    assert result.stderr.splitlines()[0].startswith("glassine: ")
    assert "--db" in result.stderr
    result = run(
        "import", "--db", str(tmp_path / "no" / "folder.db"), str(coding().write(tmp_path / "a.jsonl")), code=4
    )
    assert "is not there" in result.stderr


@a_file
def test_a_place_that_cannot_be_a_database_is_named(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "a folder, not a database" in run("sessions", "--db", str(tmp_path), code=4).stderr

    def exists(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "exists", exists)
    assert run("sessions", "--db", "shut/g.db", code=4).stderr == "glassine: shut/g.db: Permission denied\n"


@a_file
def test_a_database_of_a_newer_version_is_refused(run: Run, imported: Path, tmp_path: Path) -> None:
    import apsw

    connection = apsw.Connection(str(tmp_path / "g.db"))
    connection.execute("PRAGMA user_version = 999")
    connection.close()
    assert "upgrade" in run("sessions", code=4).stderr


def test_usage_errors(run: Run) -> None:
    for argv in (["nonsense"], ["show"], ["sessions", "--limit", "-1"], ["show", "x", "--last", "0"]):
        assert "Usage: glassine" in run(*argv, code=2).stderr


def test_version_and_help_say_what_there_is(run: Run) -> None:
    assert run("--version").stdout == f"glassine {glassine.__version__}\n"
    assert [
        name for name in ("import", "sessions", "show", "verify", "repair", "info") if name not in run("-h").stdout
    ] == []


def process(*argv: str, **env: str) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [sys.executable, "-m", "glassine", *argv], capture_output=True, env={**os.environ, **env}, timeout=60
    )


@a_file
@pytest.mark.usefixtures("run")
def test_as_a_program(imported: Path, tmp_path: Path) -> None:
    done = process("sessions", NO_COLOR="1", COLUMNS="")
    assert (done.returncode, done.stderr) == (0, b"")
    assert max(map(cell_len, done.stdout.decode().splitlines())) <= 100
    coloured = process("show", SESSION, FORCE_COLOR="1", TERM="xterm-256color").stdout
    assert b"\x1b[" in coloured
    assert b"\x1b" not in process("show", SESSION, NO_COLOR="1").stdout
    ascii_only = process("show", SESSION, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert (ascii_only.returncode, ascii_only.stderr) == (0, b"")
    as_json = process("show", SESSION, "--json", PYTHONIOENCODING="ascii", PYTHONUTF8="0").stdout.decode()
    assert "終わりです" in as_json


@a_file
@pytest.mark.usefixtures("run")
@pytest.mark.parametrize(
    "argv",
    [
        ["show", "long"],
        ["show", "long", "--last", "1"],
        ["show", "long", "--json"],
        ["show", "long", "--tree"],
        ["sessions"],
    ],
)
def test_a_reader_that_leaves_early_hears_nothing(tmp_path: Path, argv: list[str]) -> None:
    with store() as opened:
        opened.session("long").append([glassine.user(f"{number} " * 50) for number in range(2000)])
        for number in range(500 if argv == ["sessions"] else 0):
            opened.session(f"{number}" * 10).append(glassine.user("語" * 60))
    command = [sys.executable, "-m", "glassine", *argv, *(["--limit", "0"] if argv == ["sessions"] else [])]
    env = {**os.environ, "PYTHONUNBUFFERED": ""}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        if "--last" not in argv:  # so little output is written at the very end
            running.stdout.read(10)
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait() == 0


def test_stdout_is_json_alone(run: Run, imported: Path) -> None:
    for argv in (["import", str(imported)], ["sessions"], ["show", SESSION], ["verify"], ["repair"], ["info"]):
        result = run(*argv, "--json")
        assert result.stderr == ""
        try:
            json.loads(result.stdout)
        except json.JSONDecodeError:
            assert lines_of(result)


def test_an_interrupted_command_says_so(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("glassine.transcripts.import_transcript", interrupted)
    result = run("import", str(coding().write(tmp_path / "a.jsonl")), code=130)
    assert (result.stdout, result.stderr) == ("", "glassine: interrupted\n")


def test_the_bar_comes_after_a_second_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [100.0]
    monkeypatch.setattr("glassine.cli._progress.time.monotonic", lambda: now[0])
    monkeypatch.setenv("TERM", "xterm")

    def shown(seconds: float, terminal: bool) -> str:
        monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
        with Progress("working") as progress:
            progress.update(1, 2)
            now[0] += seconds
            progress.update(2, 2)
        out, err = capsys.readouterr()
        assert out == ""
        return err

    assert shown(0.9, True) == ""
    assert shown(5.0, False) == ""
    assert "working" in shown(5.0, True)
