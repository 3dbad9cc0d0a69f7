"""Context memory on the command line: blocks, the frozen prompt, skills."""

import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from rich.cells import cell_len

import glassine
from glassine.cli import main
from tests import s3

Run = Callable[..., Result]
HOSTILE = "\x1b[31mred\x1b[0m \x1b]0;owned\x07 \x9b2J \u202egnp.exe\u2066 a\nb\tc\r\nd \x00\x7f \ud800"
UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
SPEC = (
    glassine.SessionSpec()
    .with_context("memory", description="Facts", max_tokens=1000)
    .with_context("user", scope="namespace")
    .with_cached_prompt()
)

a_file = pytest.mark.parametrize("database", ["file"], indirect=True)
"""For what does not depend on the database."""


@pytest.fixture
def run(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command with a database of the test's own, 80 columns wide."""
    monkeypatch.setenv("GLASSINE_DB", database)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("FORCE_COLOR", raising=False)

    def run(*argv: str, code: int = 0, stdin: str | bytes | None = None) -> Result:
        result = CliRunner().invoke(main, list(argv), input=stdin, prog_name="glassine")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == code, result.output
        assert UNSAFE.search(result.stdout.replace("\t", "")) is None or "--raw" in argv
        assert UNSAFE.search(result.stderr) is None
        return result

    return run


@pytest.fixture
def store(database: str) -> Iterator[glassine.Store]:
    """The database, with the session "chat-1" that has blocks."""
    with glassine.open(database) as store:
        chat = store.session("chat-1", SPEC)
        chat.append([glassine.user("hi"), glassine.assistant(glassine.tool_call("set_context", {}, id="c"), id="a")])
        chat.append_block("memory", "Likes tea.")
        tool = {tool.name: tool for tool in chat.tools()}["set_context"]
        tool.call({"label": "memory", "content": "東京に住む", "action": "append"}, message_id="a")
        chat.append_block("user", "Anna")
        yield store


def lines_of(result: Result) -> list[Any]:
    return [json.loads(text) for text in result.stdout.splitlines()]


# --- blocks -----------------------------------------------------------------------------------------------------------


def test_blocks_are_listed_and_shown(run: Run, store: glassine.Store) -> None:
    head, *rows = run("blocks", "chat").stdout.splitlines()
    assert head.split() == ["label", "scope", "tokens", "size", "written"]
    assert [row.split()[:2] for row in rows] == [["memory", "session"], ["user", "namespace"]]
    assert "26 B" in rows[0]
    assert run("blocks", "chat", "--scope", "namespace").stdout.count("\n") == 2
    found = lines_of(run("blocks", "chat-1", "--json"))
    assert [(block["label"], block["bytes"], block["content"]) for block in found] == [
        ("memory", 26, "Likes tea.\n東京に住む"),
        ("user", 4, "Anna"),
    ]
    assert all(block["tokens"] > 0 and block["updatedAt"].endswith("Z") for block in found)
    assert run("blocks", "chat", "memory").stdout == "Likes tea.\n東京に住む\n"
    assert run("blocks", "chat", "memory", "--raw").stdout_bytes == "Likes tea.\n東京に住む".encode()
    assert run("blocks", "chat", "memory", "--lines").stdout == "–  Likes tea.\na  東京に住む\n"
    one = json.loads(run("blocks", "chat", "memory", "--lines", "--json").stdout)
    assert one["lines"][1] == {"text": "東京に住む", "messageId": "a", "sessionId": "chat-1"}


def test_blocks_are_written(run: Run, store: glassine.Store) -> None:
    chat = store.session("chat-1", SPEC)
    said = run("blocks", "chat", "memory", "--append", "-", stdin="from a pipe\n")
    assert re.fullmatch(r"memory: \d+ tokens, 38 B\n", said.stdout)
    assert chat.block("memory").content == "Likes tea.\n東京に住む\nfrom a pipe"
    assert [one.message_id for one in chat.block_lines("memory")] == [None, "a", None]
    assert json.loads(run("blocks", "chat", "user", "--set", "Bea", "--json").stdout)["content"] == "Bea"
    assert chat.block("user").content == "Bea"
    made = run("blocks", "chat", "todo", "--set", "x")
    assert "'todo' is a new block of the session" in made.stderr
    run("blocks", "chat", "todo", "--scope", "namespace", "--set", "ours")
    refused = run("blocks", "chat", "todo", code=2)
    assert "give --scope" in refused.stderr
    assert run("blocks", "chat", "todo", "--scope", "namespace").stdout == "ours\n"
    assert run("blocks", "chat", "todo", "--scope", "session").stdout == "x\n"


@a_file
def test_a_budget_refuses_with_both_numbers(run: Run, store: glassine.Store) -> None:
    before = store.session("chat-1", SPEC).block("memory").content
    refused = run("blocks", "chat", "memory", "--append", "word " * 50, "--max-tokens", "20", code=2)
    assert re.search(r"'memory' would have \d+ tokens; its budget is 20", refused.stderr)
    assert store.session("chat-1", SPEC).block("memory").content == before
    run("blocks", "chat", "memory", "--set", "word", "--max-tokens", "20")


@a_file
def test_blocks_are_edited(run: Run, store: glassine.Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chat = store.session("chat-1", SPEC)

    def editor(script: str) -> None:
        (tmp_path / "editor.py").write_text(f"import sys, os, pathlib\nfile = pathlib.Path(sys.argv[1])\n{script}\n")
        monkeypatch.setenv("VISUAL", f"{sys.executable} {tmp_path / 'editor.py'}")

    editor("file.write_bytes(file.read_bytes().replace(b'tea', b'coffee'))")
    run("blocks", "chat", "memory", "--edit")
    assert chat.block("memory").content == "Likes coffee.\n東京に住む"
    assert [one.message_id for one in chat.block_lines("memory")] == [None, "a"]
    for script in ("pass", "os.utime(file, (1, 1))", "file.write_bytes(b'caf\\xe9')"):
        editor(script)
        assert "'memory'" in run("blocks", "chat", "memory", "--edit", code=1).stderr
    editor("pass")
    assert "left as it is" in run("blocks", "chat", "memory", "--edit", code=1).stderr
    editor(
        "file.write_text('mine')\n"
        "import glassine\n"
        f"with glassine.open({os.environ['GLASSINE_DB']!r}) as store:\n"
        "    spec = glassine.SessionSpec().with_context('memory')\n"
        "    store.session('chat-1', spec).append_block('memory', 'by another')"
    )
    refused = run("blocks", "chat", "memory", "--edit", code=1)
    assert "written by another" in refused.stderr
    assert refused.stdout == "mine"
    assert chat.block("memory").content.endswith("by another")


@a_file
def test_what_is_no_block_is_refused(run: Run, store: glassine.Store) -> None:
    missing = run("blocks", "chat", "memmory", code=3).stderr
    assert "no block 'memmory' is stored for session 'chat-1'" in missing
    assert "There are: memory, user" in missing
    assert "differs in its case only" in run("blocks", "chat", "Memory", "--set", "x", code=2).stderr
    run("blocks", "nobody", code=3)
    run("blocks", "chat", "--set", "x", code=2)
    run("blocks", "chat", "memory", "--max-tokens", "5", code=2)
    run("blocks", "chat", "memory", "--set", "x", "--append", "y", code=2)
    run("blocks", "chat", "memory", "--set", "x", "--raw", code=2)
    run("blocks", "chat", "[bad]", "--set", "x", code=2)
    assert "not UTF-8: byte 0xe9 at 0" in run("blocks", "chat", "user", "--set", "-", stdin=b"\xe9", code=2).stderr
    store.session("empty").append(glassine.user("hi"))
    assert len(lines_of(run("blocks", "empty", "--json"))) == 1


def test_hostile_blocks_are_shown(run: Run, store: glassine.Store) -> None:
    label = "デ" * 64
    spec = glassine.SessionSpec().with_context(label).with_cached_prompt()
    chat = store.session("hostile", spec)
    chat.replace_block(label, HOSTILE)
    chat.refresh_prompt(HOSTILE)
    run("blocks", "hostile", label, "--edit", code=1)
    for argv in (
        ["blocks", "hostile"],
        ["blocks", "hostile", label],
        ["blocks", "hostile", label, "--lines"],
        ["prompt", "hostile", "--history"],
    ):
        rows = run(*argv).stdout.splitlines()
        assert all(cell_len(row) <= 80 for row in rows)
        run(*argv, "--json")
    run("prompt", "hostile")
    assert json.loads(run("prompt", "hostile", "--json").stdout)["text"] == chat.freeze_prompt()
    assert json.loads(run("blocks", "hostile", label, "--json").stdout)["content"] == HOSTILE
    raw = run("blocks", "hostile", label, "--raw").stdout_bytes
    assert raw == HOSTILE.encode("utf-8", "surrogatepass")


# --- prompt -----------------------------------------------------------------------------------------------------------


def test_the_prompt_is_shown_and_dropped(run: Run, store: glassine.Store) -> None:
    assert "no frozen prompt" in run("prompt", "chat", code=1).stderr
    assert "no prompt was ever frozen" in run("prompt", "chat", "--history").stderr
    chat = store.session("chat-1", SPEC)
    text = chat.freeze_prompt()
    shown = run("prompt", "chat").stdout
    assert shown.endswith(f"\n\n{text}\n")
    assert "reason     first request\n" in shown
    assert "tools      set_context, read_original\n" in shown
    assert run("prompt", "chat", "--raw").stdout_bytes == text.encode()
    prompt = chat.prompt()
    assert prompt is not None
    found = json.loads(run("prompt", "chat", "--json").stdout)
    assert (found["number"], found["digest"], found["text"]) == (1, prompt.digest, text)
    assert [section["label"] for section in found["sections"]] == ["memory", "user"]
    assert found["tools"][0]["inputSchema"] == prompt.tools[0].input_schema

    run("blocks", "chat", "user", "--set", "Bea")
    assert "Drop prompt 1 of chat-1?" in run("prompt", "chat", "--drop", stdin="n\n", code=1).stderr
    assert chat.prompt() == prompt
    assert "prompt 1 is dropped" in run("prompt", "chat", "--drop", stdin="y\n").stdout
    assert "Bea" in chat.freeze_prompt()
    dropped = json.loads(run("prompt", "chat", "--drop", "--yes", "--json").stdout)
    assert dropped == {"sessionId": "chat-1", "number": 2, "dropped": True}
    run("prompt", "chat", "--drop", "--yes", code=1)
    chat.refresh_prompt("a new day")
    rows = [row.split() for row in run("prompt", "chat", "--history").stdout.splitlines()]
    assert [row[0] for row in rows] == ["number", "1", "2", "3"]
    history = lines_of(run("prompt", "chat", "--history", "--json"))
    assert [freezing["reason"] for freezing in history] == ["first request", "the former one was dropped", "a new day"]


@a_file
def test_options_of_the_prompt_exclude_each_other(run: Run, store: glassine.Store) -> None:
    run("prompt", "chat", "--history", "--drop", code=2)
    run("prompt", "chat", "--yes", code=2)
    run("prompt", "chat", "--raw", "--json", code=2)
    run("prompt", "nobody", code=3)


# --- skills -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def moto() -> Iterator[str]:
    with s3.moto() as url:
        yield url


@pytest.fixture(params=["folder", "file-url", "bucket", "table"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> list[str]:
    """SOURCE with its options, with nothing in it."""
    if request.param == "folder":
        return [str(tmp_path / "skills")]
    if request.param == "file-url":
        (tmp_path / "skills").mkdir()
        return [(tmp_path / "skills").as_uri()]
    if request.param == "table":
        return ["table"]
    moto = request.getfixturevalue("moto")
    options = {"access_key_id": s3.KEY, "secret_access_key": s3.SECRET, "region": "us-east-1"}
    given = [part for name, value in options.items() for part in ("--option", f"{name}={value}")]
    return [f"s3://{s3.bucket(moto)}", "--endpoint", moto, "--prefix", "skills/", *given]


@a_file
def test_skills_are_written_listed_read_and_removed(run: Run, source: list[str], tmp_path: Path) -> None:
    file = tmp_path / "deploy.md"
    file.write_text("# Deploy\n\n1. Test.\n\tTag.\n", "utf-8")
    source, options = source[:1], source[1:]

    def skills(command: str, *argv: str, **how: Any) -> Result:
        return run("skills", command, *source, *argv, *options, **how)

    assert skills("put", "deploy", str(file), "--description", "デプロイ").stdout == "deploy is new\n"
    assert skills("put", "deploy", str(file)).stdout == "deploy is replaced\n"
    done = json.loads(skills("put", "style", "-", "--description", "Words", "--json", stdin="Short.").stdout)
    assert done == {"key": "style", "replaced": False}
    head, *rows = skills("list").stdout.splitlines()
    assert head.split() == ["key", "description", "size", "updated"]
    assert [row.split()[:2] for row in rows] == [["deploy", "デプロイ"], ["style", "Words"]]
    listed = lines_of(skills("list", "--json"))
    assert [(skill["key"], skill["description"]) for skill in listed] == [("deploy", "デプロイ"), ("style", "Words")]
    assert all(skill["bytes"] > 0 and skill["updatedAt"] for skill in listed)
    assert skills("get", "deploy", "--raw").stdout.startswith("# Deploy\n\n1. Test.\n\tTag.\n")
    assert json.loads(skills("get", "style", "--json").stdout) == {"key": "style", "content": "Short."}
    assert "no skill 'nope'" in skills("get", "nope", code=3).stderr
    partly = skills("rm", "deploy", "nope", "deploy", code=3)
    assert (partly.stdout, "no skill 'nope'" in partly.stderr) == ("deploy is removed\n", True)
    assert lines_of(skills("rm", "style", "--json")) == [{"key": "style", "removed": True}]
    assert "there are no skills" in skills("list").stderr


def test_a_table_belongs_to_the_namespace_or_to_a_session(run: Run, store: glassine.Store) -> None:
    run("skills", "put", "table", "k", "-", stdin="ours", code=0)
    run("skills", "put", "table", "k", "-", "--session", "chat", stdin="mine")
    run("skills", "put", "table", "k", "-", "--label", "team", stdin="theirs")
    ours = glassine.SessionSpec().with_context("skills", provider=glassine.SkillTable(), scope="namespace")
    mine = glassine.SessionSpec().with_context("skills", provider=glassine.SkillTable())
    assert store.session("other", ours).load_skill("skills", "k") == "ours"
    assert store.session("chat-1", mine).load_skill("skills", "k") == "mine"
    assert run("skills", "get", "table", "k", "--session", "chat").stdout == "mine\n"
    assert run("skills", "get", "table", "k", "--label", "team").stdout == "theirs\n"
    assert [info.id for info in store.sessions()] == ["chat-1"]
    assert "--description" in run("skills", "put", "table", "k", "-", stdin="---\nname: k\n---\nx").stderr
    run("skills", "list", "table", "--session", "nobody", code=3)


@a_file
def test_warnings_go_to_stderr(run: Run, tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "bad.md").write_bytes(b"caf\xe9")
    (tmp_path / "s" / "evil\x1b[2J.md").write_text("x\u202e y", "utf-8")
    (tmp_path / "s" / "good.md").write_text("Fine\n", "utf-8")
    said = run("skills", "list", str(tmp_path / "s"))
    assert "bad.md: it is not UTF-8" in said.stderr
    assert "good" in said.stdout
    assert "good" in [skill["key"] for skill in lines_of(run("skills", "list", str(tmp_path / "s"), "--json"))]


@a_file
def test_long_listings_fit_in_80_columns(run: Run, tmp_path: Path) -> None:
    for number in range(3):
        key = f"{'長い名前' * 9}-{number}"
        run("skills", "put", "table", key, "-", "--description", "説明 of it " * 40, stdin="text")
    rows = run("skills", "list", "table").stdout.splitlines()
    assert len(rows) == 4
    assert all(cell_len(row) <= 80 for row in rows)


@a_file
def test_a_wrong_source_is_refused_without_its_secrets(run: Run, tmp_path: Path) -> None:
    assert "there is no folder" in run("skills", "list", str(tmp_path / "absent"), code=3).stderr
    run("skills", "list", "table", code=3)
    for argv, code in (
        (["s3://u:hunter2@x/y?sig=hunter2", "--option", "wrong=hunter2"], 1),
        (["nope://u:hunter2@x/y?sig=hunter2"], 1),
        (["s3://x", "--option", "hunter2"], 2),
        (["s3://x", "--option", "client_options=hunter2"], 2),
        ([str(tmp_path), "--option", "secret_access_key=hunter2"], 2),
        (["s3://x", "--session", "chat"], 2),
        ([str(tmp_path), "--label", "l"], 2),
    ):
        said = run("skills", "list", *argv, code=code)
        assert said.stderr
        assert "hunter2" not in said.output
