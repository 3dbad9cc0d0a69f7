"""Copying between stores: everything comes with it, nothing of others is overwritten, and it can be gone on with."""

from __future__ import annotations

import base64
import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest
from click.testing import CliRunner

import glassine
from glassine import CopyReport, Lineage, Store, Usage, _spool, assistant, user
from glassine._sync.ops import copying as ops
from glassine.cli import main
from glassine.copying import Fingerprint, Original, State, judge

IMAGE = "data:image/png;base64," + base64.b64encode(bytes(range(256)) * 40).decode()
TIME = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)


def filled(store: Store) -> Store:
    """A store with something of everything."""
    one = store.session("one")
    one.append([user("naïve 東京 \0 \ud800", id="a"), assistant("ok", id="b"), user("x" * 400_000, id="c")])
    one.append({"id": "d", "role": "user", "parts": [{"type": "file", "mediaType": "image/png", "url": IMAGE}]})
    one.append([user("elsewhere", id="e", created_at=TIME), assistant("yes", id="f")], parent="a")
    one.append(user("a root", id="g"), parent=None)
    one.append([user("gone", id="h"), user("changed", id="i")], parent="d")
    one.delete("h")
    one.update(user("changed 変更", id="i"))
    one.add_compaction("first things", "a", "b")
    two = one.add_compaction("all of it", "a", "c")
    one.delete("c")  # leaves the summary over it stale
    assert two.id in {overlay.id for overlay in one.overlays()}
    one.switch("f")
    one.describe(title="題", source="tests", model="m", metadata={"k": [1, "\ud800"]})
    one.add_events([("note", {"text": "\0 é"}, TIME, None), ("other", None, None, "event")])
    one.add_usage(Usage(id="u", ok=False, cost=0.1, message_id="b", started_at=TIME), Usage(id="v", input_tokens=3))
    store.session("fork").append(user("copy", id="a"))
    store.session("fork").describe(lineage=Lineage("fork", "one", "a"))
    store.session("empty").describe(title="nothing said")
    store.session("deleted").append(user("x"))
    store.delete_session("deleted")
    tenant = store.namespace("テナント").session("one")
    tenant.append({"id": "d", "role": "user", "parts": [{"type": "file", "mediaType": "image/png", "url": IMAGE}]})
    return store


def everything(store: Store) -> dict[tuple[str, str], Any]:
    """All that the library tells of a store, bytes included, but for where it is."""
    found: dict[tuple[str, str], Any] = {}
    for name in store.info().namespaces:
        space = store.namespace(name)
        found[name, "deleted"] = space.was_deleted("deleted")
        for info in space.sessions():
            session = space.session(info.id)
            found[name, info.id] = (
                info,
                session.outline(),
                [session.message(node.id).encoded() for node in session.outline()],  # type: ignore[union-attr]
                [[message.to_dict() for message in session.history(node.id)] for node in session.outline()],
                [session.totals(node.id) for node in session.outline()],
                [session.branches(node.id) for node in session.outline()],
                session.overlays(),
                session.events(),
                session.usage(),
                session.deletions(),
            )
    return found


def aside(store: Store) -> list[list[Any]]:
    """What is in quarantine, and what left the rows of messages, those in quarantine among them."""
    queries = [
        "SELECT seq, id, reason, codec, data, quarantined_at FROM quarantine ORDER BY session, seq",
        "SELECT seq, ordinal, path, kind, prefix, size, digest FROM external ORDER BY session, seq, ordinal",
        "SELECT seq, ordinal, chunk, data FROM spill ORDER BY session, seq, ordinal, chunk",
    ]
    if not store.location.startswith("postgresql"):
        connection: Any = apsw.Connection(store.location)
        return [connection.execute(query).fetchall() for query in queries]
    plain, _, schema = store.location.partition("&schema=")
    with psycopg.connect(plain) as server:
        server.execute(f"SET search_path = {schema}")
        return [server.execute(query).fetchall() for query in queries]


def counts(report: CopyReport) -> tuple[int, int, int, int]:
    return report.copied, report.updated, report.same, report.deleted


@pytest.fixture
def source(tmp_path: Path) -> Iterator[Store]:
    with glassine.open(tmp_path / "source.db") as store:
        yield filled(store)


@pytest.fixture
def target(database: str) -> Iterator[Store]:
    with glassine.open(database) as store:
        yield store


def test_all_of_it_is_there(source: Store, target: Store, tmp_path: Path) -> None:
    report = source.copy_to(target)
    assert counts(report) == (4, 0, 0, 0)
    assert report.namespaces == ("default", "テナント")
    assert report.messages == sum(space.info().messages for space in (source, source.namespace("テナント")))
    assert report.clean
    assert everything(target) == everything(source)
    assert target.verify().clean
    assert target.namespace("テナント").verify().clean
    assert (
        [hit.message_id for hit in target.search("東京")] == [hit.message_id for hit in source.search("東京")] == ["a"]
    )
    with glassine.open(tmp_path / "back.db") as back:
        assert target.copy_to(back).clean
        assert everything(back) == everything(source)
        assert back.verify().clean


def test_a_copy_can_be_written_to(source: Store, target: Store) -> None:
    source.copy_to(target)
    for store in (source, target):
        session = store.session("one")
        session.append(user("next", id="n"))
        session.append(user("beside", id="o"), parent="b")
    assert [m.to_dict() for m in target.session("one").history()] == [
        m.to_dict() for m in source.session("one").history()
    ]
    assert target.verify().clean


def test_only_what_changed_is_copied_again(source: Store, target: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    source.copy_to(target)
    read: list[str] = []
    page: Callable[..., Any] = ops.page

    def watched(db: Any, ref: Any, *args: Any) -> Any:
        read.append(ref.session)
        return page(db, ref, *args)

    monkeypatch.setattr(ops, "page", watched)
    assert counts(source.copy_to(target)) == (0, 0, 4, 0)
    assert read == []
    source.session("fork").append(user("more", id="m"))
    assert counts(source.copy_to(target)) == (0, 1, 3, 0)
    assert set(read) == {"fork"}
    assert everything(target) == everything(source)


def test_one_namespace(source: Store, target: Store) -> None:
    assert counts(source.copy_to(target, namespaces=["テナント"])) == (1, 0, 0, 0)
    assert target.info().namespaces == ("テナント",)


def test_a_dry_run_changes_nothing(source: Store, target: Store) -> None:
    assert counts(source.copy_to(target, dry_run=True)) == (4, 0, 0, 0)
    assert everything(target) == {}
    assert not target.was_deleted("deleted")


def test_deletions_come_with_it(source: Store, target: Store) -> None:
    target.session("own").append(user("mine"))
    source.copy_to(target)
    assert target.was_deleted("deleted")
    source.session("own").append(user("x"))
    for id in ("fork", "own"):
        source.delete_session(id)
    assert counts(source.copy_to(target)) == (0, 0, 3, 1)
    assert target.was_deleted("fork")
    assert target.session("own").path_length() == 1  # it never came from the source
    source.session("fork").append(user("again"))
    assert counts(source.copy_to(target)) == (1, 0, 3, 0)
    assert not target.was_deleted("fork")


@pytest.mark.parametrize(
    ("here", "there"),
    [
        (lambda session: session.append(user("mine")), None),
        (lambda session: session.describe(title="mine"), None),
        (lambda session: session.switch("b"), lambda session: session.switch("g")),
        (lambda session: session.describe(title="mine"), lambda session: session.append([user("1"), user("2")])),
    ],
)
def test_what_others_changed_is_left_alone(
    source: Store, target: Store, here: Callable[[Any], object], there: Callable[[Any], object] | None
) -> None:
    source.copy_to(target)
    here(target.session("one"))
    if there is not None:
        there(source.session("one"))
    before = everything(target)
    report = source.copy_to(target)
    assert [(problem.session_id, problem.code) for problem in report.problems] == [("one", "diverged")]
    assert counts(report) == (0, 0, 3, 0)
    assert everything(target) == before
    source.delete_session("one")
    assert [problem.code for problem in source.copy_to(target).problems] == ["diverged"]
    assert everything(target) == before


def test_a_session_deleted_in_the_target_stays_deleted(source: Store, target: Store) -> None:
    source.copy_to(target)
    target.delete_session("one")
    assert [problem.code for problem in source.copy_to(target).problems] == ["diverged"]
    assert target.was_deleted("one")


def test_another_session_of_the_same_id_is_left_alone(source: Store, target: Store) -> None:
    target.session("fork").append([user("not yours"), user("really")])
    before = everything(target)["default", "fork"]
    assert [problem.session_id for problem in source.copy_to(target).problems] == ["fork"]
    assert everything(target)["default", "fork"] == before


def test_the_way_back_is_free_and_then_goes_both_ways(source: Store, target: Store) -> None:
    source.copy_to(target)
    assert counts(target.copy_to(source)) == (0, 0, 4, 0)
    target.session("one").append(user("on the other side"))
    assert counts(target.copy_to(source)) == (0, 1, 3, 0)
    assert everything(target) == everything(source)


def test_what_cannot_be_read_is_copied_as_it_is(source: Store, target: Store) -> None:
    connection = apsw.Connection(source.location)
    connection.execute("UPDATE body SET data = x'ff' WHERE ns = 1 AND seq = 1")
    connection.execute("DELETE FROM body WHERE ns = 1 AND seq = 2")
    connection.execute("DELETE FROM blob")
    connection.close()
    assert source.copy_to(target).clean
    assert {p.message_id for p in target.verify().problems} == {p.message_id for p in source.verify().problems}
    source.repair()
    assert source.copy_to(target).clean
    assert target.verify().clean
    assert aside(target) == aside(source)
    assert aside(source)[0]


def test_pages_are_bounded(source: Store, target: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    session = source.session("many")
    session.append([user(f"{number} " + "y" * 100, id=str(number)) for number in range(300)])
    session.add_events([("n", number, None, None) for number in range(30)])
    monkeypatch.setattr(ops, "ROWS", 7)
    monkeypatch.setattr(ops, "BYTES", 900)
    monkeypatch.setattr(ops, "SESSIONS", 2)
    monkeypatch.setattr(_spool, "IN_MEMORY", 1000)
    sizes: list[int] = []
    page: Callable[..., Any] = ops.page

    def watched(*args: Any) -> Any:
        found = page(*args)
        sizes.append(len(found.rows))
        return found

    monkeypatch.setattr(ops, "page", watched)
    assert source.copy_to(target).clean
    assert max(sizes) < 60
    assert len(sizes) > 100
    assert everything(target) == everything(source)


def test_a_session_that_changes_while_it_is_read_is_read_again(
    source: Store, target: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, times = ops.page, [0]

    def disturbed(db: Any, ref: Any, begun: Any, place: Any, prepare: bool) -> Any:
        found = page(db, ref, begun, place, prepare)
        if ref.session == "fork" and prepare:
            times[0] += 1
            if times[0] <= busy:
                source.session("fork").append(user("meanwhile"))
        return found

    monkeypatch.setattr(ops, "ROWS", 1)
    monkeypatch.setattr(ops, "BYTES", 1)
    monkeypatch.setattr(ops, "page", disturbed)
    busy = 10**6
    report = source.copy_to(target)
    assert [(problem.session_id, problem.code) for problem in report.problems] == [("fork", "busy")]
    times[0], busy = 0, 1
    assert source.copy_to(target).clean
    assert everything(target) == everything(source)


def test_what_was_written_is_compared(source: Store, target: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    put = ops._put

    def forgetful(db: Any, head: Any, table: str, row: Any) -> None:
        if table != "event":
            put(db, head, table, row)

    monkeypatch.setattr(ops, "_put", forgetful)
    report = source.copy_to(target)
    assert [(problem.session_id, problem.code) for problem in report.problems] == [("one", "checksum")]


KILLED = """
import os, signal, sys
import glassine
from glassine._spool import Spool
original, left = Spool.__iter__, int(sys.argv[3])
def killed(spool):
    global left
    for row in original(spool):
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1
        yield row
Spool.__iter__ = killed
with glassine.open(sys.argv[1]) as source, glassine.open(sys.argv[2]) as target:
    source.copy_to(target)
"""


@pytest.mark.parametrize("rows", [0, 5, 20])
def test_a_killed_copy_leaves_no_half_session_and_is_gone_on_with(source: Store, database: str, rows: int) -> None:
    with glassine.open(database):
        pass
    run = subprocess.run([sys.executable, "-c", KILLED, source.location, database, str(rows)], check=False)
    assert run.returncode == -signal.SIGKILL
    with glassine.open(database) as target:
        whole = everything(source)
        assert all(whole[key] == value for key, value in everything(target).items() if key[1] != "deleted")
        assert target.verify().clean
        report = source.copy_to(target)
        assert report.clean
        assert report.copied + report.same == 4
        assert everything(target) == whole


def test_two_copies_at_once(source: Store, database: str) -> None:
    for number in range(20):
        source.session(f"s{number}").append([user(f"{number}"), assistant("fine")])
    reports: list[CopyReport] = []
    gate = threading.Barrier(2)

    def run() -> None:
        with glassine.open(source.location) as here, glassine.open(database) as there:
            gate.wait()
            reports.append(here.copy_to(there))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [report.problems for report in reports] == [(), ()]
    assert sum(report.copied for report in reports) == 24
    with glassine.open(database) as target:
        assert everything(target) == everything(source)
        assert target.verify().clean


@pytest.mark.anyio
async def test_the_async_store_copies_too(source: Store, database: str) -> None:
    async with glassine.open_async(source.location) as here, glassine.open_async(database) as there:
        assert counts(await here.copy_to(there)) == (4, 0, 0, 0)
        assert counts(await here.copy_to(there)) == (0, 0, 4, 0)
    with glassine.open(database) as target:
        assert everything(target) == everything(source)


def test_estimates_of_another_version_are_made_anew(source: Store, target: Store) -> None:
    right = everything(source)
    connection = apsw.Connection(source.location)
    connection.execute("UPDATE node SET estimator = 0, o200k = o200k + 7, path_o200k = path_o200k + 1000")
    connection.execute("UPDATE session SET path_o200k = 5 WHERE messages > 0")
    connection.close()
    assert source.copy_to(target).clean
    assert everything(target) == right
    assert target.verify().clean


# --- the pure part ----------------------------------------------------------------------------------------------------


def test_the_verdict() -> None:
    original = Original(1, "s", 5, 100)
    cases = {
        State(None, None, None, None): "new",
        State(None, None, None, 99): "new",
        State(None, None, None, 100): "diverged",
        State(5, 100, 5, None): "same",
        State(4, 100, 4, None): "changed",
        State(6, 100, 6, None): "diverged",
        State(4, 101, 4, None): "diverged",
        State(4, 100, 3, None): "diverged",
        State(4, 100, None, None): "diverged",
        State(5, 100, None, None): "compare",
        State(5, 100, 4, None): "compare",
    }
    assert {state: judge(original, state).decision for state in cases} == cases


def test_fingerprints_tell_different_values_apart() -> None:
    def of(*values: Any) -> str:
        fingerprint = Fingerprint()
        fingerprint.add(values)
        return fingerprint.hex()

    different = [(), (None,), ("",), (b"",), ("1",), (1,), (1.0,), ("a", "b"), ("ab",), (("a",), "b"), (("a", "b"),)]
    assert len({of(*values) for values in different}) == len(different)
    assert of(True, ("a",), "\ud800") == of(1, ["a"], "\ud800")


# --- the command ------------------------------------------------------------------------------------------------------


def run(*argv: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, argv)
    return result.exit_code, result.output


def test_the_command(source: Store, database: str) -> None:
    argv = ("copy", source.location, database)
    code, output = run(*argv, "--json", "--namespace", "テナント")
    assert code == 0
    assert json.loads(output)["namespaces"] == ["テナント"]
    code, output = run(*argv)
    assert (code, output) == (0, "3 sessions copied, 0 updated, 0 deleted (8 messages); 1 the same already\n")
    with glassine.open(database) as target:
        target.session("one").append(user("mine"))
    code, output = run(*argv, "--json", "--all-namespaces")
    found = json.loads(output)
    assert code == 1
    assert [(p["namespace"], p["sessionId"], p["code"]) for p in found["problems"]] == [("default", "one", "diverged")]
    assert "diverged  default / one" in run(*argv)[1]


def test_a_dry_run_makes_no_file(source: Store, tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    code, output = run("copy", source.location, str(path), "--dry-run")
    assert code == 0
    assert output.startswith("4 sessions would be copied")
    assert not path.exists()


def test_what_cannot_work_is_said(source: Store, tmp_path: Path) -> None:
    other = str(tmp_path / "other.db")
    assert run("copy", source.location, source.location)[0] == 2
    assert run("copy", source.location, other, "--all-namespaces", "--namespace", "default")[0] == 2
    assert run("copy", str(tmp_path / "none.db"), other)[0] == 3
    assert not Path(other).exists()
