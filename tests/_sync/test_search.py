# Generated from tests/_async/test_search.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""Search, as other projects got it wrong: one test for each of their bug reports (and see glassine.testing)."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest

import glassine
from glassine import CorruptMessageError, Hits, Lineage, Store, assistant, user


@pytest.fixture(params=["memory", "file", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    place = {"memory": ":memory:", "file": str(tmp_path / "store.db")}.get(request.param)
    place = place or request.getfixturevalue("postgres_url")
    with glassine.open(place) as opened:
        yield opened


def ids(hits: Hits) -> list[str]:
    return [hit.message_id for hit in hits]


def test_a_run_of_chinese_is_no_single_word(store: Store) -> None:
    """OC#140736, HM#11511, tommy0103/obelisk#9"""
    store.session("s").append(user("明天下午三点开项目评审会议", id="m1"))
    assert ids(store.search("项目评审")) == ["m1"]


@pytest.mark.parametrize("query", ["项目", "会议", "明", "三", "议"])
def test_one_and_two_characters_are_enough(store: Store, query: str) -> None:
    """HM PR#69423: a trigram index needs three."""
    store.session("s").append([user("明天下午三点开项目评审会议", id="m1"), user("别的", id="m2")])
    assert ids(store.search(query)) == ["m1"]


@pytest.mark.parametrize("query", ["youer", "服务端", "修改youer", "youer服务端", "YOUER 计划"])
def test_a_latin_word_glued_to_chinese(store: Store, query: str) -> None:
    """HM#54242, #69456"""
    store.session("s").append(user("修改youer服务端的计划", id="m1"))
    assert [(hit.message_id, hit.strict) for hit in store.search(query)] == [("m1", True)]


def test_a_session_and_a_store_search_alike(store: Store) -> None:
    """Cloudflare's provider and manager: one wants a phrase, the other words."""
    session = store.session("s")
    session.append(user("deploy of the billing service failed", id="m1"))
    for query, strict in {"billing failed": True, '"billing failed"': False, '"billing service"': True}.items():
        own, all_of_them = session.search(query), store.search(query)
        # Scores differ: each weighs a word by how rare it is in its own scope.
        assert [hit.strict for hit in own] == [hit.strict for hit in all_of_them]
        assert any(hit.strict for hit in own) is strict, query


def test_a_branch_that_was_left_and_a_session_that_is_gone(store: Store) -> None:
    """OC PR#105057"""
    session = store.session("s")
    root = session.append(user("start"))
    session.append(assistant("alpha", id="a"), parent=root)
    session.append(assistant("beta", id="b"), parent=root)
    assert ids(session.search("alpha", scope="path")) == []
    hits = session.search("alpha")
    assert [(hit.message_id, hit.active) for hit in hits] == [("a", False)]
    store.delete_session("s")
    assert ids(session.search("alpha")) == ids(store.search("alpha")) == []


def test_the_asking_session_does_not_matter(store: Store) -> None:
    """OC#103732, #97905: the same scope gives the same hits, whoever asks."""
    store.session("a").append(user("alpha", id="m1"))
    store.session("b").append(user("beta", id="m2"))
    assert ids(store.session("b").store.search("alpha")) == ids(store.search("alpha")) == ["m1"]
    assert ids(store.session("b").search("alpha")) == []


def test_all_of_sixteen_messages_with_a_two_character_word(store: Store) -> None:
    """her#33069, #14829: the others asked a second index only when the first found nothing."""
    texts = ["評価", "の評価を", "再評価", "評価", "評価基準", "ABC評価123", "評価、", "「評価」"] * 2
    store.session("s").append([user(text, id=f"m{number}") for number, text in enumerate(texts)])
    assert sorted(ids(store.search("評価"))) == sorted(f"m{number}" for number in range(16))


def test_a_short_word_beside_a_long_one_keeps_the_ranking(store: Store) -> None:
    """her#52469"""
    session = store.session("s")
    session.append(
        [
            user(f"{'長い前置き' * 40} deployment 語", id="far"),
            user("deployment 語", id="near"),
            user("deployment だけ", id="one"),
        ]
    )
    hits = session.search("deployment 語")
    assert ids(hits) == ["near", "far", "one"]
    assert [hit.strict for hit in hits] == [True, True, False]
    assert hits[0].score > hits[1].score


def test_namespaces_with_names_that_begin_alike(store: Store) -> None:
    """lg#8300, #8478: LIKE takes `_` for any character, and `foo` for the beginning of `foobar`."""
    names = ["a-b", "a_b", "foo", "foobar", "n1", "n1s1", "scope", "%"]
    for name in names:
        store.namespace(name).session(name).append(user(f"alpha {name}", id=name))
    for name in names:
        assert ids(store.namespace(name).search("alpha")) == [name]
        assert ids(store.namespace(name).session(name).search("alpha")) == [name]
        assert ids(store.namespace(name).session("foo").search("alpha")) == [name] * (name == "foo")


def test_the_words_of_the_index_itself_are_not_found(store: Store) -> None:
    store.session("s").append(user("alpha", id="m1"))
    for query in ("n1", "n1s1", "long", "s1"):
        assert ids(store.search(query)) == []
    store.session("s").append(user("a long n1s1 talk", id="m2"))
    assert ids(store.search("long")) == ids(store.search("n1s1")) == ["m2"]


def test_what_is_deleted_is_gone_at_once(store: Store) -> None:
    """mem#3695, CaviraOSS/LongMemory#186"""
    session = store.session("s")
    session.append([user("alpha one", id="m1"), user("alpha two", id="m2")])
    assert len(session.search("alpha")) == 2
    session.delete("m1")
    assert ids(session.search("alpha")) == ["m2"]
    assert ids(store.search("one")) == []


def test_fields_of_unknown_parts_and_file_names_are_found(store: Store) -> None:
    media = base64.b64encode(b"picture" * 300).decode()
    parts = [
        {"type": "data-weather", "data": {"city": "札幌", "degrees": 21.5}},
        {"type": "file", "mediaType": "image/png", "filename": "kumquat.png", "url": f"data:image/png;base64,{media}"},
    ]
    store.session("s").append({"id": "m1", "role": "user", "parts": parts})
    for query, part in (("札幌", 0), ("kumquat", 1), ("21.5", 0)):
        hits = store.search(query)
        assert [(hit.message_id, hit.kind, hit.part) for hit in hits] == [("m1", "text", part)]
    assert ids(store.search("mediaType")) == ids(store.search(media[:40])) == []


def test_a_fork_in_a_circle_and_one_without_an_origin(store: Store) -> None:
    for id, parent in (("a", "b"), ("b", "a"), ("c", "gone")):
        store.session(id).append(user("alpha", id="m1"))
        store.session(id).describe(lineage=Lineage("fork", parent, "m1"))
    groups = [{hit.session_id, *hit.copies} for hit in store.search("alpha")]
    assert sorted(map(sorted, groups)) == [["a", "b"], ["c"]]


def test_one_unreadable_message_does_not_hide_the_others(tmp_path: Path) -> None:
    import apsw

    with glassine.open(tmp_path / "g.db") as store:
        session = store.session("s")
        session.append([user(f"alpha {number}", id=f"m{number}") for number in range(3)])
        store.session("fork").append(user("alpha 1", id="m1"))
        store.session("fork").describe(lineage=Lineage("fork", "s", "m1"))
        assert len(store.search("alpha")) == 3
        connection = apsw.Connection(str(tmp_path / "g.db"))
        connection.execute("UPDATE body SET data = CAST('{\"id' AS BLOB) WHERE seq = 2")
        connection.close()
        shown = {hit.message_id: hit.snippet for hit in session.search("alpha")}
        assert shown == {"m0": "«alpha» 0", "m1": "", "m2": "«alpha» 2"}
        with pytest.raises(CorruptMessageError):
            session.history()
        assert sorted((hit.session_id, hit.message_id) for hit in store.search("alpha")) == [
            ("fork", "m1"),
            ("s", "m0"),
            ("s", "m1"),
            ("s", "m2"),
        ]
        store.repair()
        assert sorted(ids(session.search("alpha"))) == ["m0", "m2"]
