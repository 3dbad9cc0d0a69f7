"""`glassine search`, `glassine reindex` and `glassine tokens`, as a person and as a program use them."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import apsw
import pytest
from click.testing import CliRunner, Result
from rich.cells import cell_len

import glassine
from glassine import Lineage, assistant, content, tokens, tool_call, tool_result, user
from glassine.cli import _search, main

Run = Callable[..., Result]
NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command with a database of the test's own, 100 columns wide."""
    for name, value in {"GLASSINE_DB": str(tmp_path / "g.db"), "COLUMNS": "100", "HOME": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("FORCE_COLOR", raising=False)

    def run(*argv: str, code: int = 0, input: bytes | None = None) -> Result:
        result = CliRunner().invoke(main, list(argv), prog_name="glassine", input=input)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == code, result.output
        return result

    return run


@pytest.fixture
def store(run: Run, tmp_path: Path) -> Path:
    """Two conversations; `work` has two branches and a summary, and `copy` is a fork of it."""
    path = tmp_path / "g.db"
    with glassine.open(path) as store:
        work = store.session("work-1")
        work.describe(title="Billing", source="claude-code", model="claude-sonnet-4-5")
        ask = work.append(user("The billing deploy failed. なぜ失敗しましたか?", id="ask-0001", created_at=NOON))
        step = assistant(
            "Let me look at the billing log.", tool_call("Read", {"path": "billing.log"}, id="c1"), id="step"
        )
        work.append([step, tool_result("c1", "deploy: timeout", name="Read", id="got-0001")])
        work.append(assistant("The other way: billing.", id="other"), parent=ask)
        work.switch("got-0001")
        work.append(user("Thanks", id="thanks"))
        work.add_compaction("要約: billing", "ask-0001", "step")
        home = store.session("home-1")
        home.describe(title="料理")
        home.append(user("billing という言葉だけ", id="home-m", created_at=NOON + timedelta(days=3)))
        copy = store.session("copy-1")
        copy.append(user("The billing deploy failed. なぜ失敗しましたか?", id="ask-0001", created_at=NOON))
        copy.describe(lineage=Lineage("fork", "work-1", "ask-0001"))
    return path


def lines_of(result: Result) -> list[Any]:
    return [json.loads(text) for text in result.stdout.splitlines()]


def found(result: Result) -> set[str]:
    return {hit["messageId"] for hit in lines_of(result)}


# --- search -----------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("store")
def test_hits_are_shown_by_conversation(run: Run) -> None:
    said = run("search", "billing", "deploy").stdout
    first, second = said.split("\n\n")
    assert first.splitlines()[:2] == ["Billing", "work-1  claude-code"]
    assert second.splitlines()[:2] == ["料理", "home-1"]
    assert re.search(r"^  user  2026-01-31 .*  ask-0001  under a summary · also in 1 fork$", first, re.MULTILINE)
    assert "\n    The «billing» «deploy» failed. なぜ失敗しましたか?\n" in first
    assert re.search(r"^  assistant  .*  other  other branch · some of the words only$", first, re.MULTILINE)
    assert re.search(r"^  tool output  .*  got-0001  some of the words only$", first, re.MULTILINE)
    assert re.search(r"^  user  .*  home-m  some of the words only$", second, re.MULTILINE)


@pytest.mark.usefixtures("store")
def test_what_narrows_a_search(run: Run) -> None:
    everything = {"ask-0001", "step", "other", "home-m"}
    assert found(run("search", "billing", "--json")) == everything
    assert found(run("search", "billing", "--json", "--session", "wo")) == everything - {"home-m"}
    assert found(run("search", "billing", "--json", "--session", "work-1", "--path")) == {"ask-0001", "step"}
    assert found(run("search", "billing", "--json", "--role", "user")) == {"ask-0001", "home-m"}
    assert found(run("search", "deploy", "--json", "--kind", "tool_output", "--kind", "reasoning")) == {"got-0001"}
    assert found(run("search", "billing", "--json", "--since", "2026-02-02", "--until", "2026-02-03")) == {"home-m"}
    assert found(run("search", "billing", "--json", "--until", "2026-01-31")) == {"ask-0001"}
    assert found(run("search", "billing", "--json", "--since", "1d")) == {"step", "other"}
    assert len(found(run("search", "billing", "--json", "--limit", "1"))) == 1
    assert found(run("search", "billing", "--json", "--limit", "0")) == everything
    assert found(run("search", "失敗", "--json")) == {"ask-0001"}
    assert found(run("search", '"deploy failed"', "--json")) == {"ask-0001"}
    run("search", "failed deploy", "--session", "home", code=1)


@pytest.mark.usefixtures("store")
def test_a_hit_in_json(run: Run) -> None:
    hit = lines_of(run("search", "deploy", "失敗", "--json"))[0]
    score = hit.pop("score")
    assert score > 0
    assert hit == {
        "sessionId": "work-1",
        "messageId": "ask-0001",
        "role": "user",
        "kind": "text",
        "part": 0,
        "createdAt": "2026-01-31T12:00:00Z",
        "strict": True,
        "active": True,
        "summarised": True,
        "copies": ["copy-1"],
        "snippet": "The billing «deploy» failed. なぜ«失敗»しましたか?",
        "excerpt": {
            "text": "The billing deploy failed. なぜ失敗しましたか?",
            "start": 0,
            "marks": [[12, 18], [29, 31]],
            "cutBefore": False,
            "cutAfter": False,
        },
    }


@pytest.mark.usefixtures("store")
def test_finding_nothing(run: Run) -> None:
    for argv in (["absent"], ["absent", "--json"]):
        result = run("search", *argv, code=1)
        assert (result.stdout, result.stderr) == ("", "glassine: nothing found\n")
    result = run("search", "?!", "👍", code=2)
    assert result.stdout == ""
    assert result.stderr == (
        "glassine: nothing in '?! 👍' can be looked for\nA query needs a letter or a digit, of any script.\n"
    )


@pytest.mark.usefixtures("store")
def test_misuse_is_explained(run: Run) -> None:
    assert "--path goes with --session" in run("search", "billing", "--path", code=2).stderr
    assert "'--until': 'tomorrow' is no time" in run("search", "billing", "--until", "tomorrow", code=2).stderr
    for wrong in ("2026-13-01", "999999w", "12", "9999-12-31T23:59:59-23:00", ""):
        run("search", "billing", "--since", wrong, code=2)
    run("search", "billing", "--kind", "title", code=2)
    run("search", "billing", "--limit", "-1", code=2)
    run("search", code=2)
    assert "no session begins with 'nosuch'" in run("search", "billing", "--session", "nosuch", code=3).stderr


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("2026-01-31", "2026-01-31T00:00:00", "2026-02-01T00:00:00"),
        ("20260131", "2026-01-31T00:00:00", "2026-02-01T00:00:00"),
        ("2026-01-31T09:30", "2026-01-31T09:30:00", "2026-01-31T09:30:00"),
        ("2026-01-31 09:30+02:00", "2026-01-31T07:30:00+00:00", "2026-01-31T07:30:00+00:00"),
        ("2026-01-31T09:30Z", "2026-01-31T09:30:00+00:00", "2026-01-31T09:30:00+00:00"),
    ],
)
def test_times_as_people_type_them(monkeypatch: pytest.MonkeyPatch, text: str, since: str, until: str) -> None:
    from glassine.cli._moments import before_then, from_then

    nothing: Any = None
    assert from_then(nothing, nothing, text) == datetime.fromisoformat(since).astimezone()
    assert before_then(nothing, nothing, text) == datetime.fromisoformat(until).astimezone()
    for ago, length in (("12h", timedelta(hours=12)), ("7d", timedelta(days=7)), ("2w", timedelta(weeks=2))):
        moment = from_then(nothing, nothing, ago)
        assert moment is not None
        assert abs(datetime.now(UTC) - length - moment) < timedelta(seconds=5)
    assert from_then(nothing, nothing, None) is before_then(nothing, nothing, None) is None


def test_kinds_are_those_of_the_library() -> None:
    assert _search.KINDS == content.KINDS


HOSTILE = "\x1b[31mred\x1b[0m \x1b]0;owned\x07 \u202egnp.exe\u2066 a\tb\r\nc \x00\x7f \ud800 needle\x1b[2J"


def test_nothing_found_acts_on_the_terminal(run: Run, tmp_path: Path) -> None:
    with glassine.open(tmp_path / "g.db") as store:
        store.session("s\u202e").append([user(HOSTILE, id="m\u202e"), user("長い行です。" * 80 + "needle", id="m2")])
        store.session("s\u202e").describe(title=f"title {HOSTILE}")
    said = run("search", "needle").stdout
    assert re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", said) is None
    assert "«needle»␛[2J" in said
    assert max(map(cell_len, said.splitlines())) <= 100
    (line, *_) = [row for row in run("search", "needle", "--json").stdout.splitlines() if "owned" in row]
    assert not set("\x1b\u202e\x7f") & set(line)
    assert json.loads(line)["excerpt"]["text"].endswith("needle\x1b[2J")


def test_marks_are_shown_by_style_where_there_is_one(store: Path) -> None:
    env = {**os.environ, "FORCE_COLOR": "1", "TERM": "xterm-256color", "COLUMNS": "60"}
    env.pop("NO_COLOR", None)
    command = [sys.executable, "-m", "glassine", "--db", str(store), "search", "失敗", "deploy"]
    said = subprocess.run(command, capture_output=True, env=env, check=True).stdout.decode()
    assert "\x1b[1;7mdeploy\x1b[0m" in said
    assert "\x1b[1;7m失敗\x1b[0m" in said
    assert "«" not in said
    plain = subprocess.run(command, capture_output=True, env={**env, "FORCE_COLOR": ""}, check=True).stdout.decode()
    assert "«deploy» failed. なぜ«失敗»" in plain


def test_a_marked_place_may_be_folded(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with glassine.open(tmp_path / "g.db") as store:
        store.session("s").append(user(f"{'前' * 25}{'探し物' * 10}{'後' * 20} tail", id="m1"))
    monkeypatch.setenv("COLUMNS", "50")
    rows = run("search", '"' + "探し物" * 10 + '"').stdout.splitlines()[3:]
    assert max(map(cell_len, rows)) <= 50
    assert "".join(row.strip() for row in rows).replace("…", "").count("探し物") == 10


def test_an_unreadable_message_is_found_without_its_text(run: Run, store: Path) -> None:
    run("search", "billing")
    connection = apsw.Connection(str(store))
    connection.execute("UPDATE body SET data = CAST('[' AS BLOB) WHERE seq = 1")
    connection.close()
    said = run("search", "deploy", "--session", "work-1").stdout
    assert re.search(r"  ask-0001  under a summary\n    \(cannot be read; `glassine verify` says more\)", said)


def test_messages_of_a_subagent_name_it_by_its_own_part(run: Run, tmp_path: Path) -> None:
    with glassine.open(tmp_path / "g.db") as store:
        store.session("11111111-aaaa-bbbb").append(user("alpha", id="m1"))
        store.session("11111111-aaaa-bbbb/agent-77").append(user("alpha beta", id="m2"))
    rows = run("search", "alpha").stdout.splitlines()
    assert {"11111111", "agent-77"} <= set(rows)


# --- reindex ----------------------------------------------------------------------------------------------------------


def test_reindex(run: Run, store: Path) -> None:
    assert run("reindex").stdout == "7 messages indexed\n"
    assert json.loads(run("reindex", "--json").stdout) == {"database": str(store), "messages": 7}
    assert found(run("search", "失敗", "--json")) == {"ask-0001"}
    assert run("reindex", "--db", str(store) + "x", code=3).stdout == ""


def test_a_search_after_a_new_version_shows_a_bar(run: Run, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connection = apsw.Connection(str(store))
    connection.execute("UPDATE meta SET value = 99; UPDATE node SET analysis = 99")
    connection.close()
    told: list[tuple[int, int]] = []
    monkeypatch.setattr("glassine.cli._progress.Progress.update", lambda self, done, total: told.append((done, total)))
    assert found(run("search", "失敗", "--json")) == {"ask-0001"}
    assert told == [(7, 7)]
    assert found(run("search", "失敗", "--json")) == {"ask-0001"}
    assert told == [(7, 7)]


# --- tokens -----------------------------------------------------------------------------------------------------------


def test_tokens_of_a_file_and_of_stdin(run: Run, tmp_path: Path) -> None:
    text = "Hello, こんにちは. " * 50
    path = tmp_path / "notes.md"
    path.write_text(text, "utf-8")
    said = run("tokens", str(path)).stdout.splitlines()
    assert said[:2] == [str(path), "700 characters · 1.2 kB"]
    assert said[3].split() == ["family", "tokens", "characters/token"]
    estimates = tokens.estimate_all(text)
    for row, family, estimate in zip(said[4:], tokens.FAMILIES, estimates, strict=True):
        assert row.split() == [family, f"{estimate:,}", f"{700 / estimate:.2f}"]
    about = json.loads(run("tokens", str(path), "--json").stdout)
    by_family = dict(zip(tokens.FAMILIES, estimates, strict=True))
    assert about == {"source": str(path), "bytes": 1200, "characters": 700, "tokens": by_family, "exact": None}
    assert json.loads(run("tokens", "-", "--json", input=text.encode()).stdout) == {**about, "source": "stdin"}
    assert run("tokens", "-", input=b"").stdout.splitlines()[-1].split() == ["safe", "0", "–"]
    run("tokens", "-", input=b"\xff\xfe not text \x00")


def test_tokens_of_a_packed_file(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "text.jsonl.gz"
    data = "東京の天気 and the news\n".encode() * 100
    path.write_bytes(gzip.compress(data))
    assert json.loads(run("tokens", str(path), "--json").stdout)["bytes"] == len(data)
    path.write_bytes(gzip.compress(data)[:-20])
    assert "damaged gzip" in run("tokens", str(path), code=4).stderr
    assert "a folder" in run("tokens", str(tmp_path), code=2).stderr


def test_tokens_of_a_conversation(run: Run, store: Path) -> None:
    with glassine.open(store) as opened:
        session = opened.session("work-1")
        stored, shown = session.totals(raw=True), session.totals()
    assert (stored.messages, shown.messages) == (4, 3)
    about = json.loads(run("tokens", "work", "--json").stdout)
    for name, total in (("stored", stored), ("shown", shown)):
        assert about[name]["messages"] == total.messages
        assert about[name]["bytes"] == total.size
        assert list(about[name]["tokens"].values()) == list(total[2:])
    said = run("tokens", "work").stdout
    assert said.splitlines()[:2] == ["Billing", "work-1"]
    assert re.search(rf"^claude3 +{stored.claude3} +{shown.claude3}  ◀ claude-sonnet-4-5$", said, re.MULTILINE)
    assert "◀" not in run("tokens", "home").stdout
    assert "no session begins with 'nosuch'" in run("tokens", "nosuch", code=3).stderr


def test_a_file_goes_before_a_session(run: Run, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(store.parent)
    (store.parent / "work-1").write_text("a file")
    assert json.loads(run("tokens", "work-1", "--json").stdout)["characters"] == 6


@pytest.mark.skipif(find_spec("toktok") is None, reason="toktok-rs is not installed")
def test_exact_counts(run: Run, store: Path) -> None:
    assert json.loads(run("tokens", "-", "--exact", "--json", input=b"hello world").stdout)["exact"] == 2
    assert run("tokens", "-", "--exact", input=b"hello world").stdout.splitlines()[-1].split()[:3] == [
        "o200k,",
        "exact",
        "2",
    ]
    about = json.loads(run("tokens", "work-1", "--exact", "--json").stdout)
    assert 0 < about["shown"]["exact"] < about["stored"]["exact"]
    assert abs(about["stored"]["exact"] - about["stored"]["tokens"]["o200k"]) < 20


def test_exact_counts_without_the_package(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glassine.tokens._exact.find_spec", lambda name: None)
    result = run("tokens", "-", "--exact", code=2, input=b"")
    assert "pip install 'glassine[exact]'" in result.stderr
