"""Compaction on the command line: `compact`, `overlays`, `undo`, and the marks of `show`."""

import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from rich.cells import cell_len

import glassine
from glassine.cli import _compacting as compacting
from glassine.cli import main
from glassine.cli._progress import Waiting
from glassine.testing import Failure, FakeProvider

Run = Callable[..., Result]
HOSTILE = "\x1b[31mred\x1b[0m \x1b]0;owned\x07 \x9b2J \u202egnp.exe\u2066 a\nb\tc\r\nd \x00\x7f \ud800"
UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
TOO_LONG = {
    "type": "error",
    "error": {"type": "invalid_request_error", "message": "prompt is too long: 10500 tokens > 10000 maximum"},
}
SPEC = (
    glassine.SessionSpec()
    .with_context("skills", provider=glassine.SkillTable())
    .with_context("memory", when_changed="remind")
    .with_cached_prompt()
)
SMALL = ("--tail-tokens", "200")
"""A tail small enough for the conversations here to have a middle."""

a_file = pytest.mark.parametrize("database", ["file"], indirect=True)
"""For what does not depend on the database."""


@pytest.fixture
def run(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command with a database of the test's own, 80 columns wide, without anybody's keys."""
    for name, value in {"GLASSINE_DB": database, "COLUMNS": "80", "HOME": str(tmp_path / "home")}.items():
        monkeypatch.setenv(name, value)
    for name in [name for name in os.environ if name.startswith(("ANTHROPIC_", "OPENAI_"))] + ["FORCE_COLOR"]:
        monkeypatch.delenv(name, raising=False)

    def run(*argv: str, code: int = 0, stdin: str | None = None, **how: Any) -> Result:
        result = CliRunner().invoke(main, list(argv), input=stdin, prog_name="glassine", **how)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == code, result.output
        if not how:
            assert UNSAFE.search(result.stdout) is None
            assert UNSAFE.search(result.stderr) is None
        return result

    return run


@pytest.fixture
def store(database: str) -> Iterator[glassine.Store]:
    with glassine.open(database) as store:
        yield store


@pytest.fixture
def chat(store: glassine.Store) -> glassine.Session:
    """A conversation of 38 messages in Japanese, with calls and long results."""
    chat = store.session("chat-1", SPEC)
    chat.describe(title="ふりがな")
    chat.append(glassine.user("レシピの材料名にふりがなを付けたいです。"))
    for number in range(9):
        chat.append(talk(number))
    chat.append(glassine.user("残りは何件ですか？"))
    return chat


def talk(number: int) -> list[glassine.Message]:
    id = f"c{number}"
    return [
        glassine.assistant("調べます。", glassine.tool_call("Bash", {"command": f"cat {number}.yaml"}, id=id)),
        glassine.tool_result(id, f"材料{number}: りんご 3個\n" * 60, name="Bash"),
        glassine.assistant(f"recipes/{number}.yaml に保存しました。"),
        glassine.user(f"次は {number + 1} をお願いします。"),
    ]


def load_deploy(chat: glassine.Session) -> None:
    asked = glassine.assistant(glassine.tool_call("load_context", {"label": "skills", "key": "deploy"}, id="l1"))
    chat.append(asked)
    chat.append(chat.run_tools(asked))


def lines_of(result: Result) -> list[Any]:
    return [json.loads(text) for text in result.stdout.splitlines()]


def everything(session: glassine.Session) -> tuple[Any, ...]:
    return (
        [message.to_dict() for message in session.history(raw=True)],
        [overlay.id for overlay in session.overlays()],
        [event.id for event in session.events()],
        session.usage(),
    )


# --- compact ----------------------------------------------------------------------------------------------------------


def test_the_plan_comes_first_then_the_summary(run: Run, chat: glassine.Session) -> None:
    stored = chat.history(raw=True)
    said = run("compact", "chat", *SMALL, "--yes").stdout
    (laid,) = chat.compactions()
    plan, _, outcome = said.partition("afterwards\n")
    assert plan.startswith("ふりがな\nchat-1\n\npart   messages  tokens  plan\n")
    kept = re.search(r"head +3 .*stays\nrange +(\d+) +([\d,]+)  → about ([\d,]+)\ntail +(\d+) .*stays\n", plan)
    assert kept is not None
    assert int(kept[1]) == laid.covered_messages
    assert 3 + laid.covered_messages + int(kept[4]) == len(stored) == 38
    assert re.search(rf"from  {laid.first_id[:8]}\S*  \d{{4}}-\S+  assistant  recipes/0.yaml に保存しました。", plan)
    assert re.search(rf"to    {laid.last_id[:8]}\S*  \d{{4}}-\S+  ", plan)
    bounds = re.search(r"\n([\d,]+) tokens now, about ([\d,]+) at most $", plan)
    found = re.search(r"\ntokens     ([\d,]+) → ([\d,]+)\nsummary    (\w+)\n", outcome)
    assert bounds is not None
    assert found is not None
    before, most, had, has = (int(text.replace(",", "")) for text in (*bounds.groups(), *found.groups()[:2]))
    assert had == before
    assert has <= most < before
    assert re.search(rf"compacted  a summary of \d+ tokens stands for {laid.covered_messages}", outcome)
    assert found[3] == laid.id
    for command in re.findall(r"^(?:read|undo) it    glassine (.*)$", outcome, re.MULTILINE):
        run(*command.split())
    assert chat.compactions() == []
    assert chat.history() == stored == chat.history(raw=True)


def test_earlier_summaries_are_taken_in(run: Run, chat: glassine.Session) -> None:
    run("compact", "chat", "--tail-tokens", "3000", "--yes")
    (earlier,) = chat.compactions()
    said = run("compact", "chat", *SMALL, "--yes").stdout
    again = run("compact", "chat", *SMALL, "--yes").stdout
    assert re.search(rf"with  ≡ {earlier.id[:8]}\S*  \S+  summary of {earlier.covered_messages} messages  ", said)
    newer = chat.compactions()[-1]
    assert newer.supersedes == (earlier.id,)
    assert newer.covered_messages > earlier.covered_messages
    assert again.startswith("nothing to do: all that may be covered is a summary already")
    assert len(chat.compactions()) == 2


def test_a_dry_run_writes_nothing_and_asks_nobody(run: Run, chat: glassine.Session) -> None:
    before = everything(chat)
    said = run("compact", "chat", *SMALL, "--dry-run", "--with", "anthropic:any").stdout
    assert "at most afterwards" in said
    assert "compacted" not in said
    found = json.loads(run("compact", "chat", *SMALL, "--dry-run", "--json").stdout)
    assert (found["kind"], found["dryRun"], found["overlay"], found["writer"]) == ("planned", True, None, "extractive")
    assert found["tokensAfter"] < found["tokensBefore"]
    plan = found["plan"]
    assert plan["head"]["messages"] + plan["range"]["messages"] + plan["tail"]["messages"] == 38
    assert everything(chat) == before


def test_it_asks_before_it_writes(run: Run, chat: glassine.Session) -> None:
    before = everything(chat)
    asked = run("compact", "chat", *SMALL, stdin="n\n", code=1).stderr
    assert re.search(r"Lay a summary over \d+ messages of chat-1\? \[y/N\]", asked)
    assert run("compact", "chat", *SMALL, code=2).stderr.endswith("nobody answered, and nothing was done: give --yes\n")
    assert everything(chat) == before
    found = run("compact", "chat", *SMALL, "--json", stdin="y\n")
    assert "Lay a summary" in found.stderr
    made = json.loads(found.stdout)
    assert (made["kind"], made["code"], made["sessionId"]) == ("compacted", "compacted", "chat-1")
    assert made["overlay"] == chat.compactions()[0].id


def test_another_leaf_is_compacted(run: Run, chat: glassine.Session) -> None:
    path = chat.history()
    side = chat.append(glassine.user("別の枝"), parent=path[20])
    chat.switch(path[-1])
    run("compact", "chat", "--leaf", side.id, "--tail-tokens", "1", "--min-tail", "1", "--protect-head", "0", "--yes")
    (laid,) = chat.compactions()
    assert (laid.first_id, laid.last_id) == (path[0].id, path[20].id)
    assert "no message of session" in run("compact", "chat", "--leaf", "zzz", "--yes", code=3).stderr
    run("compact", "nobody", "--yes", code=3)


def test_where_there_is_nothing_to_do(run: Run, store: glassine.Store, chat: glassine.Session) -> None:
    store.session("empty").describe(title="empty")
    assert run("compact", "empty").stdout == (
        "nothing to do: the path shows 0 messages; 3 at its head and 2 at its end stay\n"
    )
    before = everything(chat)
    found = json.loads(run("compact", "chat", "--tail-tokens", "99999", "--json").stdout)
    assert (found["kind"], found["code"], found["plan"]) == ("nothing_to_do", "all_in_tail", None)
    assert everything(chat) == before


def test_skills_that_were_loaded_are_named_by_the_summary(run: Run, chat: glassine.Session) -> None:
    chat.put_entry("skills", "deploy", "1. テストを走らせる。\n" * 30)
    load_deploy(chat)
    for number in range(4):
        chat.append(talk(number + 20))
    said = run("compact", "chat", *SMALL, "--protect-head", "0", "--yes").stdout
    (laid,) = chat.compactions()
    assert laid.text.endswith("[Skills that were loaded here and are not any more: deploy. Load what is needed.]")
    assert chat.loaded_skills() == ()
    now = re.search(r"^([\d,]+) tokens now", said, re.MULTILINE)
    assert now is not None
    assert f"tokens     {now[1]} → " in said


@a_file
def test_options_that_make_no_sense(run: Run, chat: glassine.Session) -> None:
    for given in ("nobody", "anthropic", "anthropic:", "openai: ", "gemini:x", "extractive:x", HOSTILE):
        assert "--with" in run("compact", "chat", "--with", given, "--yes", code=2).stderr
    for option in ("--protect-head", "--tail-tokens", "--min-tail"):
        run("compact", "chat", option, "-1", code=2)
    assert chat.compactions() == []


def test_the_defaults_are_those_of_a_compactor() -> None:
    default = glassine.Compactor(glassine.extractive_summary)
    assert (default.protect_head, default.tail_token_budget, default.min_tail_messages) == (
        compacting.HEAD,
        compacting.TAIL_TOKENS,
        compacting.TAIL,
    )


@a_file
def test_a_model_of_anthropic_writes_it(run: Run, chat: glassine.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeProvider(answers=["## Topic\nふりがな"]) as fake:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", fake.anthropic_url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "any")
        result = run("compact", "chat", *SMALL, "--with", "anthropic:claude-haiku-4-5", stdin="y\n")
    assert "written by claude-haiku-4-5 (this costs money)?" in result.stderr
    assert fake.requests[0].body["model"] == "claude-haiku-4-5"
    assert "recipes/3.yaml に保存しました。" in json.dumps(fake.requests[0].body, ensure_ascii=False)
    assert [overlay.text for overlay in chat.compactions()] == ["## Topic\nふりがな"]
    assert [usage.kind for usage in chat.usage()] == ["summary"]


@a_file
def test_a_model_of_openai_writes_it(run: Run, chat: glassine.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeProvider(answers=["## Topic\nルビ"]) as fake:
        monkeypatch.setenv("OPENAI_BASE_URL", fake.openai_url)
        monkeypatch.setenv("OPENAI_API_KEY", "any")
        made = json.loads(run("compact", "chat", *SMALL, "--with", "openai:gpt-5-mini", "--yes", "--json").stdout)
    assert (made["kind"], made["writer"]) == ("compacted", "openai:gpt-5-mini")
    assert [request.body["model"] for request in fake.requests] == ["gpt-5-mini"]
    assert [overlay.text for overlay in chat.compactions()] == ["## Topic\nルビ"]


@a_file
@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Failure(400, "permission_error"), "failed"),
        ("x" * 200_000, "rejected"),
        ("  ", "failed"),
    ],
)
def test_what_comes_of_a_model_that_fails(
    run: Run, chat: glassine.Session, monkeypatch: pytest.MonkeyPatch, answer: Any, kind: str
) -> None:
    before = chat.history()
    with FakeProvider(answers=[answer, answer]) as fake:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", fake.anthropic_url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "any")
        said = run("compact", "chat", *SMALL, "--with", "anthropic:claude-haiku-4-5", "--yes", code=1).stdout
        made = json.loads(
            run("compact", "chat", *SMALL, "--with", "anthropic:claude-haiku-4-5", "--yes", "--json", code=1).stdout
        )
    assert re.search(rf"^{kind} +\S", said, re.MULTILINE)
    assert (made["kind"], made["overlay"]) == (kind, None)
    assert chat.history() == before


@a_file
def test_a_missing_key_or_sdk_is_one_line(run: Run, chat: glassine.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    before = everything(chat)
    for provider, variable in (("anthropic", "ANTHROPIC_API_KEY"), ("openai", "OPENAI_API_KEY")):
        argv = ("compact", "chat", *SMALL, "--with", f"{provider}:any")
        refused = run(*argv, code=2)
        assert refused.stderr == f"glassine: --with {provider}:… needs a key, and there is none: set {variable}\n"
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, provider, None)
            said = run(*argv, "--yes", code=2).stderr
        assert said.endswith(f"which is not installed: pip install {provider}\n")
        assert said.count("\n") == 1
    assert everything(chat) == before


@a_file
def test_interrupted_it_leaves_nothing_behind(
    run: Run, chat: glassine.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: object) -> str:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(glassine, "extractive_summary", interrupted)
        assert run("compact", "chat", *SMALL, "--yes", code=130).stderr == "glassine: interrupted\n"
    assert chat.compactions() == []
    run("compact", "chat", *SMALL, "--yes")
    assert len(chat.compactions()) == 1


def test_the_sign_of_life_comes_after_a_while_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import time

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")  # for rich, everything is a terminal then

    def shown(patience: float, terminal: bool) -> str:
        monkeypatch.setattr("glassine.cli._progress.PATIENCE", patience)
        monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
        with Waiting("thinking hard") as waiting:
            deadline = time.monotonic() + 20
            while waiting._timer.is_alive() and patience < 1 and time.monotonic() < deadline:
                time.sleep(0.01)
        out, err = capsys.readouterr()
        assert out == ""
        return err

    assert "thinking hard" in shown(0.01, True)
    assert shown(0.01, False) == ""
    assert shown(60.0, True) == ""


# --- overlays, undo, show ---------------------------------------------------------------------------------------------


@pytest.fixture
def marked(chat: glassine.Session) -> glassine.Session:
    """The same with one overlay of each kind: a summary by a fallback, and a stale one; results that are shrunk and
    unloaded, a stub, a reminder."""
    chat.put_entry("skills", "deploy", "1. テストを走らせる。\n" * 30)
    load_deploy(chat)
    chat.append(glassine.assistant("読みました。"))
    chat.unload_skill("skills", "deploy")
    chat.view()
    assert chat.recover(TOO_LONG).kind == "shrunk"
    chat.append(glassine.assistant(glassine.tool_call("Bash", {"command": "sleep"}, id="z")))
    chat.append(glassine.user("やめて"))
    chat.view()
    chat.replace_block("memory", "お茶が好き")
    chat.view()
    path = chat.history(raw=True)

    def fails(_: object) -> str:
        raise RuntimeError("no")

    compactor = glassine.Compactor(fails, tail_token_budget=3000, fallback=glassine.extractive_summary)
    assert chat.compact(compactor=compactor).by_fallback
    chat.delete(path[8])
    return chat


def ids(session: glassine.Session) -> dict[str, str]:
    """Of each kind of overlay the id of the last."""
    return {overlay.data.get("reason", overlay.kind): overlay.id for overlay in session.overlays()}


def test_overlays_are_listed_and_shown(run: Run, marked: glassine.Session) -> None:
    head, *rows = run("overlays", "chat").stdout.splitlines()
    assert head.split() == ["id", "what", "messages", "tokens", "laid", "text"]
    assert {row.split()[1] for row in rows} == {"summary", "shrunk", "unloaded", "stubbed", "reminder"}
    assert all(cell_len(row) <= 80 for row in rows)
    (summary,) = marked.compactions()
    assert any(re.search(rf"summary +{summary.covered_messages} .*\(stale, by the fallback\)", row) for row in rows)
    found = lines_of(run("overlays", "chat", "--json"))
    assert [overlay["id"] for overlay in found] == [overlay.id for overlay in marked.overlays()]
    assert {overlay["reason"] for overlay in found} == {None, "shrunk", "unloaded", "stubbed", "changed"}
    assert [overlay["byFallback"] for overlay in found if overlay["kind"] == "summary"] == [True]
    whole = run("overlays", "chat", summary.id[:12]).stdout
    assert "what       summary, stale, by the fallback\n" in whole
    assert whole.endswith(f"\n\n{summary.text}\n")
    assert run("overlays", "chat", summary.message_id[:20]).stdout == whole
    assert json.loads(run("overlays", "chat", ids(marked)["unloaded"], "--json").stdout)["text"] == (
        "[skill unloaded: deploy]"
    )


def test_show_marks_what_lies_over_the_messages(run: Run, marked: glassine.Session) -> None:
    said = run("show", "chat").stdout
    (summary,) = marked.compactions()
    heading = rf"\n≡ {summary.id[:8]}\S*\nsummary of {summary.covered_messages} messages, stale, by the fallback  "
    assert re.search(heading, said)
    assert re.search(
        r"  ← load_context  24 B  \[skill unloaded: deploy\]\n  ≡ unloaded  marker-\S+  \S+ k?B stored\n", said
    )
    assert re.search(
        r"  → Bash  command: sleep\n  ≡ stubbed  marker-\S+  a request was sent without its result\n", said
    )
    assert re.search(r"  ← Bash  \d+ B\n(    .*\n)+  ≡ shrunk  marker-\S+  1.4 kB stored\n", said)
    assert re.search(r"  やめて\n  ≡ reminder  \S+  \[MEMORY has changed. It now says:\] お茶が好き\n", said)
    raw = run("show", "chat", "--raw").stdout
    assert "≡" not in raw
    assert "テストを走らせる" in raw
    tree = run("show", "chat", "--tree").stdout
    for name in ("shrunk", "unloaded", "stubbed", "reminder"):
        assert re.search(rf"^≡ {name}  \S+$", tree, re.MULTILINE)
    assert re.search(r"^≡ summary of \d+ messages \(stale, by the fallback\)  .*  \w{8,}$", tree, re.MULTILINE)
    assert all(cell_len(row) <= 80 for row in tree.splitlines())
    assert "≡" not in run("show", "chat", "--tree", "--raw").stdout
    nodes = lines_of(run("show", "chat", "--tree", "--json"))
    laid = [id for node in nodes for id in node["overlays"]]
    assert sorted(laid) == sorted(overlay.id for overlay in marked.overlays() if overlay.kind != "summary")


def test_a_marker_of_another_branch_is_not_shown_on_this_one(run: Run, marked: glassine.Session) -> None:
    body = next(
        message for message in marked.history(raw=True) if message.role == "tool" and "テスト" in str(message.to_dict())
    )
    marked.append(glassine.user("別の枝"), parent=body)
    said = run("show", "chat").stdout
    assert "1. テストを走らせる。" in said
    assert "unloaded" not in said


def test_undo_brings_back_what_lay_beneath(run: Run, marked: glassine.Session) -> None:
    there = ids(marked)
    shown = len(marked.history())
    (summary,) = marked.compactions()
    said = run("undo", "chat", summary.message_id).stdout
    # One of the covered messages was deleted.
    again = len(marked.history()) - shown + 1
    assert said.startswith(f"{summary.id} (summary) is taken off; {again} messages of ")
    assert marked.compactions() == []
    for name, told in {
        "stubbed": "looks again for the result",
        "unloaded": "the result of load_context shows again as it is stored",
        "shrunk": "the result of Bash shows again as it is stored",
        "changed": "is not shown after its message",
    }.items():
        said = run("undo", "chat", there[name]).stdout
        assert told in " ".join(said.split())
    assert not set(there.values()) & {overlay.id for overlay in marked.overlays()}
    assert "テストを走らせる" in run("show", "chat").stdout


def test_undo_of_summaries_over_each_other(run: Run, store: glassine.Store) -> None:
    session = store.session("nested")
    path = session.append([glassine.user(f"{number}通目の手紙です。" * 5, id=f"m{number}") for number in range(10)])
    lowest = session.add_compaction("低い", path[1], path[2])
    middle = session.add_compaction("中くらい", path[1], path[4])
    upper = session.add_compaction("高い", path[0], path[6])
    found = json.loads(run("undo", "nested", middle.id, "--json").stdout)
    assert found["again"] == {"messages": 0, "estimatedTokens": 0, "summaries": [], "under": upper.id}
    assert (found["text"], found["id"], found["sessionId"]) == ("中くらい", middle.id, "nested")
    session.undo(upper)
    middle = session.add_compaction("中くらい", path[1], path[4])
    upper = session.add_compaction("高い", path[0], path[6])
    assert upper.supersedes == (lowest.id, middle.id)
    again = json.loads(run("undo", "nested", upper.id, "--json").stdout)["again"]
    assert (again["messages"], again["summaries"], again["under"]) == (3, [middle.id], None)
    assert again["estimatedTokens"] == session.totals(raw=True).safe * 3 // 10
    assert [message.id for message in session.history()][:3] == ["m0", middle.message_id, "m5"]
    said = run("undo", "nested", middle.id).stdout
    assert f"{middle.id} (summary) is taken off; 2 messages of " in said
    assert "show again, and 1 summary that lies beneath" in " ".join(said.split())
    run("undo", "nested", lowest.id)
    assert len(session.history()) == 10


def test_an_overlay_that_is_not_there(run: Run, store: glassine.Store, marked: glassine.Session) -> None:
    (summary,) = marked.compactions()
    missing = run("undo", "chat", "nope", code=3).stderr
    assert missing.startswith("glassine: no overlay of session 'chat-1' begins with 'nope'\nThere are:\n")
    assert re.search(rf"\n  {summary.id[:8]}\S*  summary of {summary.covered_messages} messages\n", missing)
    assert missing == run("overlays", "chat", "nope", code=3).stderr
    assert "give more of it" in run("undo", "chat", "marker-", code=2).stderr
    run("undo", "nobody", "x", code=3)
    store.session("bare").append(glassine.user("hi"))
    assert "Nothing is laid over it." in run("undo", "bare", "x", code=3).stderr
    assert run("overlays", "bare").stderr == "glassine: nothing is laid over session 'bare'\n"
    assert run("overlays", "bare", "--json").stdout == ""
    assert len(marked.overlays()) == len(lines_of(run("overlays", "chat", "--json")))


# --- terminals --------------------------------------------------------------------------------------------------------


def test_nothing_stored_acts_on_the_terminal(run: Run, store: glassine.Store) -> None:
    session = store.session("s\u202e 'x\"; $(y)")
    session.describe(title=HOSTILE)
    path = session.append([glassine.user(HOSTILE * 20) for _ in range(12)])
    session.add_compaction(HOSTILE * 20, path[2], path[3])
    for argv in (
        ["compact", "s", "--tail-tokens", "100", "--dry-run"],
        ["compact", "s", "--tail-tokens", "100", "--yes"],
        ["overlays", "s"],
        ["show", "s"],
        ["show", "s", "--tree"],
    ):
        run(*argv)
    for overlay in session.compactions()[::-1]:
        run("overlays", "s", overlay.id)
        run("overlays", "s", overlay.id, "--json")
        run("undo", "s", overlay.id)
    run("undo", "s", HOSTILE, code=3)
    run("undo", HOSTILE, "x", code=3)
    assert session.overlays() == []


@a_file
@pytest.mark.parametrize("width", [1, 40, 60, 200])
def test_output_is_as_wide_as_the_terminal(
    run: Run, marked: glassine.Session, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    for argv in (
        ["compact", "chat", *SMALL, "--yes"],
        ["overlays", "chat"],
        ["overlays", "chat", ids(marked)["summary"]],
        ["show", "chat"],
        ["show", "chat", "--tree"],
        ["undo", "chat", ids(marked)["summary"]],
    ):
        said = run(*argv).stdout
        if len(argv) == 3 and argv[0] == "overlays":
            said = said.partition("\n\n")[0]  # the text itself is printed as it is, for the terminal to fold
        assert [row for row in said.splitlines() if cell_len(row) > max(width, 40)] == []


@a_file
def test_colours_are_for_terminals(run: Run, marked: glassine.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("FORCE_COLOR", "1")
    for argv in (["overlays", "chat"], ["show", "chat"], ["compact", "chat", *SMALL, "--dry-run"]):
        assert "\x1b[" in run(*argv, color=True).stdout
        with monkeypatch.context() as patch:
            patch.setenv("NO_COLOR", "1")
            patch.delenv("FORCE_COLOR")
            assert "\x1b" not in run(*argv).stdout


@a_file
def test_times_are_those_of_the_messages(run: Run, database: str) -> None:
    day = datetime(2026, 3, 4, 12, tzinfo=UTC)
    with glassine.open(database, clock=lambda: day) as store:
        store.session("dated").append([glassine.user(f"{number} " * 200) for number in range(9)])
    assert re.search(
        r"^from  \S+  2026-03-04  user  3 3 3", run("compact", "dated", *SMALL, "--dry-run").stdout, re.MULTILINE
    )
