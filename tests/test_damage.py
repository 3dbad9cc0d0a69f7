"""Damaged databases: what cannot be read is named, never skipped in silence, and never hides the rest."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import apsw
import pytest

import glassine
from glassine import CorruptMessageError, Session

MEDIA = "data:image/png;base64," + base64.b64encode(bytes(range(256)) * 8).decode()
PATHS = {
    "m5": ["m0", "m1", "m2", "m3", "m4", "m5"],
    "end": ["m0", "m1", "m2", "x1", "x2", "long", "picture", "end"],
}


def say(id: str) -> dict[str, Any]:
    return {"id": id, "role": "user", "parts": [{"type": "text", "text": f"私は {id}"}]}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Two branches, a summary over m0–m1, a text and a picture that left their rows; `end` is the leaf."""
    path = tmp_path / "store.db"
    with glassine.open(path) as store:
        session = store.session("s")
        session.append([say(id) for id in PATHS["m5"]])
        session.append([say("x1"), say("x2")], parent="m2")
        session.append({"id": "long", "role": "user", "parts": [{"type": "text", "text": "長" * 100_000}]})
        session.append({"id": "picture", "role": "user", "parts": [{"type": "file", "url": MEDIA}]})
        session.append(say("end"))
        session.add_compaction("summary", "m0", "m1", id="o1")
        store.session("neighbour").append([say("n1"), say("n2")])
    return path


def damage(path: Path, *statements: str) -> None:
    connection = apsw.Connection(str(path))
    for statement in statements:
        connection.execute(statement)
    connection.close()


def body(id: str) -> str:
    return f"seq = (SELECT seq FROM node WHERE id = '{id}' AND session = 1) AND session = 1"


def readable(session: Session, leaf: str) -> tuple[list[str], list[str]]:
    """Ids of the path that decode, and that don't."""
    good, bad = [], []
    for message in session.iter_history(leaf, raw=True):
        try:
            assert message.parts is not None
            good.append(message.id)
        except CorruptMessageError as error:
            bad.append(error.message_id)
    return good, bad


UNREADABLE = [
    ("m1", f'UPDATE body SET data = CAST(\'{{"id":"m\' AS BLOB) WHERE {body("m1")}'),
    ("m1", f"UPDATE body SET data = CAST('[1]' AS BLOB) WHERE {body('m1')}"),
    ("m1", f'UPDATE body SET data = CAST(\'{{"id":"m1","parts":null}}\' AS BLOB) WHERE {body("m1")}'),
    ("m1", f"UPDATE body SET data = x'ff' WHERE {body('m1')}"),
    ("m1", f"UPDATE body SET codec = 7 WHERE {body('m1')}"),
    ("m1", f"DELETE FROM body WHERE {body('m1')}"),
    ("m1", "UPDATE node SET role = 9 WHERE id = 'm1'"),
    ("m1", "UPDATE node SET role = -1 WHERE id = 'm1'"),
    ("x1", f"DELETE FROM body WHERE {body('x1')}"),
    ("m2", f"DELETE FROM body WHERE {body('m2')}"),
    ("end", f"UPDATE body SET data = x'' WHERE {body('end')}"),
    ("m0", f"DELETE FROM body WHERE {body('m0')}"),
    ("long", "DELETE FROM spill"),
    ("long", "UPDATE spill SET data = substr(data, 2)"),
    ("long", f"DELETE FROM external WHERE {body('long')}"),
    ("long", f"UPDATE external SET path = 'nonsense' WHERE {body('long')}"),
    ("long", f"UPDATE external SET path = '[\"parts\", 9]' WHERE {body('long')}"),
    ("long", f"UPDATE external SET kind = 9 WHERE {body('long')}"),
    ("picture", "DELETE FROM blob"),
]


@pytest.mark.parametrize(("id", "statement"), UNREADABLE)
def test_an_unreadable_message_is_named_and_hides_no_other(path: Path, id: str, statement: str) -> None:
    damage(path, statement)
    with glassine.open(path) as store:
        session = store.session("s")
        for leaf, ids in PATHS.items():
            if id not in ids:
                assert [message.id for message in session.history(leaf, raw=True)] == ids
                continue
            with pytest.raises(CorruptMessageError) as caught:
                session.history(leaf, raw=True)
            assert caught.value.message_id == id
            good, bad = readable(session, leaf)
            assert (good, bad) == ([other for other in ids if other != id], [id])
        found = store.verify()
        assert [(problem.code, problem.session_id, problem.message_id) for problem in found.problems] == [
            ("unreadable", "s", id)
        ]
        mended = store.repair()
        assert [(problem.message_id, problem.repaired) for problem in mended.problems] == [(id, True)]
        assert store.verify().clean
        for leaf, ids in PATHS.items():
            left = [other for other in ids if other != id]
            assert [message.id for message in session.history(left[-1], raw=True)] == left, leaf
        leaf_message = session.leaf()
        assert leaf_message is not None
        assert leaf_message.id == ("picture" if id == "end" else "end")
        assert len(store.session("neighbour").history()) == 2
        session.append(say(id))  # the id is free again
        assert store.verify().clean


def test_the_bytes_of_a_quarantined_message_are_kept(path: Path) -> None:
    damage(path, f"UPDATE body SET data = CAST('broken' AS BLOB) WHERE {body('long')}")
    with glassine.open(path) as store:
        store.repair()
    connection = apsw.Connection(str(path))
    rows = connection.execute("SELECT id, reason, CAST(data AS TEXT) FROM quarantine").fetchall()
    assert rows == [("long", "its bytes have changed (checksum)", "broken")]
    assert connection.execute("SELECT sum(length(data)) FROM spill").fetchall() == [(300_000,)]


@pytest.mark.parametrize(
    ("id", "statement"),
    [
        ("m1", f"UPDATE body SET data = CAST(replace(CAST(data AS TEXT), '私は', '君は') AS BLOB) WHERE {body('m1')}"),
        ("m1", f"UPDATE body SET crc = crc + 1 WHERE {body('m1')}"),
        ("m1", "UPDATE node SET role = 2 WHERE id = 'm1'"),
        ("long", "UPDATE spill SET data = CAST(replace(CAST(data AS TEXT), '長', '短') AS BLOB)"),
        ("picture", "UPDATE blob SET data = zeroblob(length(data))"),
    ],
)
def test_changed_content_that_still_reads_is_found_by_verify(path: Path, id: str, statement: str) -> None:
    damage(path, statement)
    with glassine.open(path) as store:
        assert [(problem.code, problem.message_id) for problem in store.verify().problems] == [("unreadable", id)]
        store.repair()
        assert store.verify().clean
        assert store.session("s").message(id) is None


@pytest.mark.parametrize(
    ("code", "statement"),
    [
        ("totals", "UPDATE node SET size = size + 5 WHERE id = 'm3'"),
        ("totals", "UPDATE node SET size = size + 5 WHERE id = 'long'"),
        ("totals", "UPDATE node SET path_length = path_length + 1 WHERE id = 'm4'"),
        ("totals", "UPDATE node SET path_size = 0 WHERE id = 'x2'"),
        ("totals", "UPDATE session SET path_length = 99 WHERE id = 's'"),
        ("totals", "UPDATE session SET path_size = 99 WHERE id = 's'"),
        ("totals", "UPDATE session SET messages = 99 WHERE id = 's'"),
        ("structure", "UPDATE session SET leaf_seq = 77 WHERE id = 's'"),
        ("structure", "UPDATE session SET leaf_strand = 1 WHERE id = 's'"),
        ("structure", "UPDATE node SET parent = 1 WHERE id = 'm4'"),
        ("structure", "DELETE FROM strand WHERE session = 1 AND strand = 1"),
        ("structure", "DELETE FROM strand WHERE session = 1 AND strand = 2"),
    ],
)
def test_wrong_numbers_and_lost_strands_are_mended_without_loss(path: Path, code: str, statement: str) -> None:
    damage(path, statement)
    with glassine.open(path) as store:
        session = store.session("s")
        found = store.verify()
        assert code in {problem.code for problem in found.problems}
        assert {problem.session_id for problem in found.problems} == {"s"}
        assert all(problem.repaired for problem in store.repair().problems)
        assert store.verify().clean
        for leaf, ids in PATHS.items():
            assert [message.id for message in session.history(leaf, raw=True)] == ids
        assert [message.id for message in session.branches("m2")] == ["m3", "x1"]
        assert session.history()[0].id == "compaction_o1"
        assert (session.info().messages, session.info().path_length) == (11, 8)
        assert session.deletions() == []


@pytest.mark.parametrize(
    ("lost", "statements"),
    [
        ("m1", ["DELETE FROM node WHERE id = 'm1'"]),
        ("m2", ["DELETE FROM node WHERE id = 'm2'"]),
        ("m0", ["DELETE FROM node WHERE id = 'm0'"]),
        ("x1", ["DELETE FROM node WHERE id = 'x1'"]),
        ("end", ["DELETE FROM node WHERE id = 'end'"]),
        ("m2", ["DELETE FROM node WHERE id = 'm2'", "DELETE FROM strand WHERE session = 1 AND strand = 1"]),
    ],
)
def test_a_lost_row_shortens_no_history_in_silence(path: Path, lost: str, statements: list[str]) -> None:
    damage(path, *statements)
    with glassine.open(path) as store:
        session = store.session("s")
        with pytest.raises(CorruptMessageError, match="are there"):
            session.history(raw=True)
        assert not store.verify().clean
        assert all(problem.repaired for problem in store.repair().problems)
        assert store.verify().clean
        ids = [id for id in PATHS["end"] if id != lost]
        assert [message.id for message in session.history(raw=True)] == ids
    rows = apsw.Connection(str(path)).execute("SELECT CAST(data AS TEXT) FROM quarantine").fetchall()
    assert len(rows) == 1
    assert f'"id":"{lost}"' in str(rows[0][0])


def test_a_lost_strand_row_is_no_new_root(path: Path) -> None:
    damage(path, "DELETE FROM strand WHERE session = 1 AND strand = 2", f"DELETE FROM body WHERE {body('x1')}")
    with glassine.open(path) as store:
        session = store.session("s")
        with pytest.raises(CorruptMessageError):
            session.history()
        store.repair()
        assert store.verify().clean
        assert [message.id for message in session.branches(None)] == ["m0"]
        assert [message.id for message in session.history()] == ["compaction_o1", "m2", "x2", "long", "picture", "end"]


@pytest.mark.parametrize(
    "change",
    ["data = x'00'", "data = CAST('{}' AS BLOB)", "supersedes = 'x'", "kind = 9", "codec = 7", "last_seq = 77"],
)
def test_a_damaged_overlay_is_named_and_goes(path: Path, change: str) -> None:
    damage(path, f"UPDATE overlay SET {change}")
    with glassine.open(path) as store:
        session = store.session("s")
        assert [message.id for message in session.history(raw=True)] == PATHS["end"]
        (problem,) = store.verify().problems
        assert problem.code == "overlay"
        assert "'o1'" in problem.detail
        if "last_seq" not in change:
            with pytest.raises(CorruptMessageError) as caught:
                session.history()
            assert caught.value.message_id == "compaction_o1"
        store.repair()
        assert store.verify().clean
        assert [message.id for message in session.history()] == PATHS["end"]
        assert [(item.kind, item.id) for item in session.deletions()] == [("overlay", "o1")]


def test_an_active_leaf_that_is_not_there_is_said(path: Path) -> None:
    damage(path, "UPDATE session SET leaf_seq = 77 WHERE id = 's'")
    with glassine.open(path) as store, pytest.raises(CorruptMessageError, match="active leaf"):
        store.session("s").leaf()


def test_a_damaged_message_is_no_obstacle_to_writing(path: Path) -> None:
    damage(path, "DELETE FROM body WHERE session = 1")
    with glassine.open(path) as store:
        session = store.session("s")
        session.append(say("new"))
        session.update(say("m3"))
        assert session.delete("m4") == 1
        assert [message.id for message in session.recent(1)] == ["new"]
        for id in ("m0", "m1", "m2", "m5"):
            session.update(say(id))  # content can be given anew
        assert [message.id for message in session.history("m5", raw=True)] == ["m0", "m1", "m2", "m3", "m5"]


def test_verify_and_repair_report_progress(path: Path) -> None:
    with glassine.open(path) as store:
        seen: list[tuple[int, int]] = []
        for found in (
            store.verify(progress=lambda done, of: seen.append((done, of))),
            store.repair(progress=lambda done, of: seen.append((done, of))),
        ):
            assert (found.sessions, found.messages, found.clean) == (2, 13, True)
        assert seen == [(1, 2), (2, 2)] * 2


def test_a_repair_of_what_is_sound_changes_nothing(path: Path) -> None:
    with glassine.open(path) as store:
        before = store.sessions()
        assert store.repair().clean
        assert store.sessions() == before


def test_damage_to_pages_is_found(path: Path) -> None:
    # Cut the content of the last index page out of the middle of the file.
    with path.open("r+b") as file:
        connection = apsw.Connection(str(path))
        root = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'node_id'").fetchall()[0][0]
        connection.close()
        file.seek((int(str(root)) - 1) * 8192 + 8)
        file.write(b"\xff" * 64)
    with glassine.open(path) as store:
        try:
            codes = {problem.code for problem in store.verify().problems}
        except glassine.StoreError:
            codes = {"database"}
        assert "database" in codes
