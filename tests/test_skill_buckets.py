"""Skills and files in buckets, on real servers over HTTP and on obstore's own stores."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import obstore
import pytest
from hypothesis import given
from hypothesis import strategies as st
from obstore.store import LocalStore, MemoryStore

from glassine import front_matter
from glassine.errors import InvalidError, InvalidIdError, ProviderError
from glassine.providers import FileContext, SkillBucket
from glassine.providers import _metadata as metadata
from glassine.skills import normal_key
from tests import s3

DESCRIPTION = "デプロイの手順: 本番 100% = 安全?"


@pytest.fixture(scope="session")
def moto() -> Iterator[str]:
    with s3.moto() as url:
        yield url


@pytest.fixture
def url(moto: str) -> str:
    """The URL of an empty bucket on moto."""
    return f"s3://{s3.bucket(moto)}"


@pytest.fixture(params=["s3", "memory", "local"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """An empty store: a server, obstore's memory, a folder."""
    if request.param == "memory":
        return MemoryStore()
    if request.param == "local":
        return LocalStore(tmp_path)
    moto = request.getfixturevalue("moto")
    return obstore.store.from_url(f"s3://{s3.bucket(moto)}", **s3.options(moto), client_options={"allow_http": True})


def put(store: Any, path: str, content: str, description: str | None = None) -> None:
    store.put(path, content.encode(), attributes={"description": description} if description else None)


# --- every store ------------------------------------------------------------------------------------------------------


def test_written_skills_are_listed_and_loaded(store: Any) -> None:
    bucket = SkillBucket(store, prefix="skills/", writable=True)
    assert (bucket.get(), bucket.list(), bucket.load("deploy")) == ("", [], None)
    bucket.set("deploy", "Run `make`.\n", DESCRIPTION)
    bucket.set("ガイド/書き方", "# 書き方\n短く。")
    assert bucket.get() == f"- deploy: {DESCRIPTION}\n- ガイド/書き方: 書き方"
    assert bucket.load("deploy") == "Run `make`.\n"
    assert bucket.load("ガイド/書き方") == "# 書き方\n短く。"
    (skill, _) = bucket.list()
    assert skill.key == "deploy"
    assert skill.size > 10
    assert skill.updated_at is not None
    assert skill.updated_at.tzinfo is not None
    again = SkillBucket(store, prefix="skills")
    assert again.get() == bucket.get()


def test_description_stays_when_only_the_content_is_written(store: Any) -> None:
    bucket = SkillBucket(store, writable=True)
    assert bucket.set("a", "one", "First") is False
    assert bucket.set("a", "two") is True
    assert (bucket.get(), bucket.load("a")) == ("- a: First", "two")
    bucket.set("a", "three", "Third")
    assert (bucket.get(), bucket.load("a")) == ("- a: Third", "three")


def test_removing(store: Any) -> None:
    bucket = SkillBucket(store, prefix="p", writable=True)
    bucket.set("a", "one", "First")
    put(store, "p/b/SKILL.md", "---\nname: b\ndescription: Second\n---\ntwo")
    put(store, "p/b/data/x.txt", "x")
    assert bucket.remove("b")
    assert not bucket.remove("b")
    assert bucket.get() == "- a: First"
    assert [meta["path"] for chunk in store.list() for meta in chunk] == ["p/a"]


def test_folders_with_a_skill_file(store: Any) -> None:
    put(store, "p/deploy/SKILL.md", "---\nname: deploy\ndescription: >\n  Ship\n  it\nlicense: MIT\n---\n\n# Deploy\n")
    put(store, "p/deploy/references/regions.md", "eu, us")
    put(store, "p/deploy/nested/SKILL.md", "not a skill of its own")
    put(store, "p/deploy/.git/config", "hidden")
    put(store, "p/style.md", "# Style guide")
    put(store, "p/.hidden", "hidden")
    put(store, "other/x", "elsewhere")
    bucket = SkillBucket(store, prefix="p", writable=True)
    assert bucket.get() == "- deploy: Ship it\n- style: Style guide"
    assert bucket.load("deploy") == (
        "# Deploy\n\nOther files of this skill, loaded by these keys: "
        "deploy/nested/SKILL.md, deploy/references/regions.md\n"
    )
    assert bucket.load("deploy/references/regions.md") == "eu, us"
    assert bucket.load("deploy/references/none.md") is None
    assert bucket.load("deploy/.git/config") is None
    bucket.set("deploy", "# New", "Ship it well")
    assert bytes(store.get("p/deploy/SKILL.md").bytes()).decode() == (
        '---\nname: deploy\ndescription: "Ship it well"\nlicense: MIT\n---\n\n# New'
    )
    assert "- deploy: Ship it well" in bucket.get()
    with pytest.raises(InvalidIdError, match="inside of the skill 'deploy'"):
        bucket.set("deploy/more", "x")


def test_allowed_keys_hold_for_listing_loading_and_writing(store: Any) -> None:
    for key in ("a", "b", "a-secret"):
        put(store, key, f"text of {key}")
    put(store, "c/SKILL.md", "---\nname: c\ndescription: C\n---\ntext")
    put(store, "c/more.md", "more")
    bucket = SkillBucket(store, keys=["a", "c", "absent"], writable=True)
    assert bucket.get() == "- a: text of a\n- c: C"
    assert bucket.load("b") is None
    assert bucket.load("a-secret") is None
    assert bucket.load("c/more.md") == "more"
    changes: list[Callable[[], object]] = [
        lambda: bucket.set("b", "x"),
        lambda: bucket.remove("b"),
        lambda: bucket.set("new", "x"),
    ]
    for change in changes:
        with pytest.raises(ProviderError, match="not among the allowed"):
            change()
    bucket.set("a", "new")
    assert bucket.load("a") == "new"
    assert "absent: it is among the allowed keys, but not there" in bucket.warnings()
    assert SkillBucket(store, keys=[]).get() == ""


def test_reading_only_unless_said_otherwise(store: Any) -> None:
    bucket = SkillBucket(store)
    assert bucket.writable is False
    with pytest.raises(ProviderError, match="writable=True"):
        bucket.set("a", "x")
    with pytest.raises(ProviderError, match="writable=True"):
        bucket.remove("a")


@pytest.mark.parametrize(
    "key",
    ["", " ", "..", "../a", "a/../b", "/a", "a/", "a//b", "a\\b", "a\0b", "a\nb", ".a", "a/.b", "\ud800", "x" * 600],
)
def test_hostile_keys(key: str) -> None:
    store = MemoryStore()
    put(store, "out", "outside")
    put(store, "in/a", "inside")
    bucket = SkillBucket(store, prefix="in", writable=True)
    assert bucket.load(key) is None
    with pytest.raises(InvalidIdError):
        bucket.set(key, "x")
    with pytest.raises(InvalidIdError):
        bucket.remove(key)
    assert len([meta for chunk in store.list() for meta in chunk]) == 2


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=12), min_size=1, max_size=3).map("/".join), st.text())
def test_any_key_is_found_again_or_refused(key: str, content: str) -> None:
    store = MemoryStore()
    bucket = SkillBucket(store, prefix="in", writable=True)
    try:
        bucket.set(key, content, "Told")
    except (InvalidIdError, InvalidError):
        assert [meta for chunk in store.list() for meta in chunk] == []
        assert normal_key(key) is None or not content.isprintable() or ".md" in key.casefold()
    else:
        assert bucket.get() == f"- {normal_key(key)}: Told"
        assert front_matter.read(content).body == bucket.load(key)
        assert bucket.remove(key)
        assert bucket.list() == []


def test_broken_objects_are_told_and_take_no_other_down(store: Any) -> None:
    put(store, "good", "---\nname: good\ndescription: Good\n---\n")
    store.put("latin", "café".encode("latin-1"))
    store.put("large", b"x" * (1 << 20) + b"x")
    put(store, "yaml/SKILL.md", "---\nname: yaml\ndescription: use when: needed\n---\nbody")
    put(store, "twice", "one")
    put(store, "twice.md", "two")
    bucket = SkillBucket(store, writable=True)
    assert bucket.get() == "- good: Good\n- twice: one\n- yaml: use when: needed"
    warnings = "\n".join(bucket.warnings())
    assert "latin: it is not UTF-8: byte 0xe9 at 3; the skill is left out" in warnings
    assert "large: it has 1,048,577 bytes; at most 1,048,576 are read; the skill is left out" in warnings
    assert (
        "yaml/SKILL.md: its front matter is not valid YAML: mapping values are not allowed here in line 3" in warnings
    )
    assert "twice.md: twice has its key; the skill is left out" in warnings
    assert "good" not in warnings
    assert bucket.load("yaml") == "body"
    for key, reason in (("latin", "not UTF-8"), ("large", "at most 1,048,576")):
        with pytest.raises(ProviderError, match=reason):
            bucket.load(key)
        with pytest.raises(ProviderError, match=reason):
            bucket.set(key, "new")
    with pytest.raises(InvalidError, match="at most 1,048,576"):
        bucket.set("huge", "x" * (1 << 20) + "x")
    with pytest.raises(InvalidError, match="lone surrogate"):
        bucket.set("odd", "\ud800")


def test_cut_character_at_the_end_of_what_is_read_for_the_listing() -> None:
    store = MemoryStore()
    put(store, "long", "# 題\n" + "x" * (65_536 - 7) + "あ" * 10)
    assert SkillBucket(store).get() == "- long: 題"


def test_long_description_stands_in_the_front_matter(store: Any) -> None:
    bucket = SkillBucket(store, writable=True)
    long = "長" * 1000
    bucket.set("a", "text", "short")
    bucket.set("a", "text", long)
    assert bucket.list()[0].description == long
    assert bucket.load("a") == "text"
    bucket.set("a", "more", "short")
    assert bucket.get() == "- a: short"


# --- metadata ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [DESCRIPTION, "plain", "a=b ? 50%20", "=?utf-8?q?x?=", "é 🎈", "%", "%zz"])
def test_metadata_round_trip(text: str) -> None:
    attributes = {"Description": "old", "Content-Type": "text/plain"}
    assert metadata.put(attributes, text)
    assert attributes["description"].isascii()
    assert metadata.get(attributes) == text
    assert set(attributes) == {"description", "Content-Type"}


@pytest.mark.parametrize(
    ("stored", "read"),
    [
        ("API Reference", "API Reference"),
        ("Reference", "Reference"),
        ("50% off", "50% off"),
        ("%E3%81", "%E3%81"),
        ("=?UTF-8?B?44Ks44Kk44OJ?=", "ガイド"),
        ("=?UTF-8?Q?=E3=82=AC=E3=82=A4?= =?UTF-8?Q?=E3=83=89?=", "ガイド"),
        ("=?nonsense?B?AAAA?=", "=?nonsense?B?AAAA?="),
        ("two\n- lines: x", "two - lines: x"),
    ],
)
def test_metadata_of_others(stored: str, read: str) -> None:
    assert metadata.get({"description": stored}) == read


def test_metadata_of_others_is_kept(url: str, moto: str) -> None:
    bucket = SkillBucket(url, writable=True, **s3.options(moto))
    bucket.set("a", "one", "First")
    store = bucket._open()
    store.put("a", b"one", attributes={"description": "First", "owner": "ops", "Content-Type": "text/plain"})
    bucket.set("a", "two", "Second")
    assert store.get("a").attributes == {"description": "Second", "owner": "ops", "Content-Type": "text/plain"}
    assert bytes(store.get("a").bytes()) == b"two"


def test_an_object_that_changed_is_asked_again() -> None:
    store = MemoryStore()
    put(store, "a", "x", "First")
    bucket = SkillBucket(store)
    assert bucket.get() == "- a: First"
    put(store, "a", "x", "Second")
    assert bucket.get() == "- a: Second"


# --- a server ---------------------------------------------------------------------------------------------------------


def test_more_skills_than_one_page(moto: str) -> None:
    objects = [(f"skills/s{n:04}", b"text %d" % n, {"description": f"Skill%20{n}"}) for n in range(1005)]
    name = s3.bucket(moto, objects)
    requests: list[str] = []

    def count(method: str, path: str) -> None:
        requests.append(method)

    with s3.in_front_of(moto, count) as front:
        bucket = SkillBucket(f"s3://{name}/skills", **s3.options(front))
        lines = bucket.get().split("\n")
        assert (len(lines), lines[0], lines[-1]) == (1005, "- s0000: Skill 0", "- s1004: Skill 1004")
        assert (requests.count("HEAD"), requests.count("GET")) == (1005, 2)
        assert len(bucket.list()) == 1005
        assert (requests.count("HEAD"), requests.count("GET")) == (1005, 4)
        assert bucket.load("s1003") == "text 1003"


def test_server_that_fails_midway_through_the_listing(moto: str) -> None:
    name = s3.bucket(moto, [(f"s{n:04}", b"text", {}) for n in range(1001)])

    def second_page_fails(method: str, path: str) -> int | None:
        return 500 if "continuation-token" in path else None

    with s3.in_front_of(moto, second_page_fails) as front:
        bucket = SkillBucket(f"s3://{name}", **s3.options(front))
        for use in (bucket.get, bucket.list, bucket.warnings, lambda: bucket.load("s0000")):
            with pytest.raises(ProviderError, match="500 Internal Server Error") as caught:
                use()
        assert caught.value.source == f"s3://{name}"
        assert "\n" not in str(caught.value)
        assert "continuation" not in str(caught.value)
        assert caught.value.__cause__ is not None


def test_objects_whose_head_fails_are_listed_by_key(moto: str) -> None:
    objects = [(key, b"text", {"description": key.upper()}) for key in ("a", "b", "c", "d")]
    name = s3.bucket(moto, objects)
    broken = {"b": 500, "c": 403, "d": 404}

    def fails(method: str, path: str) -> int | None:
        return broken.get(path.rpartition("/")[2]) if method == "HEAD" else None

    with s3.in_front_of(moto, fails) as front:
        bucket = SkillBucket(f"s3://{name}", **s3.options(front))
        assert bucket.get() == "- a: A\n- b\n- c"  # d was removed after the listing
        assert [warning[:40] for warning in bucket.warnings()] == [
            "b: its description could not be read: Er",
            "c: its description could not be read: ac",
        ]
        broken.clear()
        assert bucket.get() == "- a: A\n- b: B\n- c: C\n- d: D"
        assert bucket.warnings() == []


def test_two_writers_at_the_same_time(moto: str, url: str) -> None:
    other = SkillBucket(url, writable=True, **s3.options(moto))
    armed = threading.Event()
    theirs: list[str] = []

    def before_put(method: str, path: str) -> None:
        if method == "PUT" and armed.is_set():
            armed.clear()
            theirs.append("theirs")
            other.set("a", " and ".join(theirs), "Theirs")

    with s3.in_front_of(moto, before_put) as front:
        bucket = SkillBucket(url, writable=True, **s3.options(front))
        for _ in ("new", "changed"):
            armed.set()
            with pytest.raises(ProviderError, match="somebody else changed it at the same time; nothing was written"):
                bucket.set("a", "ours", "Ours")
            assert (bucket.load("a"), bucket.get()) == (" and ".join(theirs), "- a: Theirs")
        bucket.set("a", "ours", "Ours")
        assert other.load("a") == "ours"


def test_store_without_conditions(moto: str, url: str) -> None:
    bucket = SkillBucket(url, writable=True, conditional_put="disabled", **s3.options(moto))
    for content in ("one", "two"):
        bucket.set("a", content, DESCRIPTION)
        assert (bucket.load("a"), bucket.get()) == (content, f"- a: {DESCRIPTION}")
    assert bytes(bucket._open().get("a").bytes()) == b"two"


def test_marker_of_a_folder_is_no_skill(moto: str) -> None:
    name = s3.bucket(moto, [("skills/", b"", {}), ("skills/a", b"text", {}), ("skills/sub/", b"", {})])
    bucket = SkillBucket(f"s3://{name}", prefix="skills/", **s3.options(moto))
    assert [skill.key for skill in bucket.list()] == ["a"]


def test_bucket_that_does_not_exist(moto: str) -> None:
    bucket = SkillBucket("s3://no-such-bucket", prefix="p", **s3.options(moto))
    uses: list[Callable[[], object]] = [bucket.get, lambda: bucket.load("a")]
    for use in uses:
        with pytest.raises(ProviderError, match="s3://no-such-bucket/p: the bucket does not exist"):
            use()


def test_server_that_is_not_there() -> None:
    bucket = SkillBucket("s3://bucket", **s3.options("http://127.0.0.1:1"))
    with pytest.raises(ProviderError, match="error sending request"):
        bucket.get()


def test_wrong_credentials(tmp_path: Path) -> None:
    (tmp_path / "data" / "bucket").mkdir(parents=True)
    with s3.nanio(tmp_path / "data") as endpoint:
        bucket = SkillBucket("s3://bucket", writable=True, **s3.options(endpoint))
        bucket.set("a", "text", DESCRIPTION)
        assert SkillBucket("s3://bucket", **s3.options(endpoint)).get() == f"- a: {DESCRIPTION}"
        assert FileContext("s3://bucket/a", **s3.options(endpoint)).get() == "text"
        wrong = s3.options(endpoint, secret="wrong")
        refused = SkillBucket("s3://bucket", writable=True, **wrong)
        uses = [
            refused.get,
            lambda: refused.load("a"),
            lambda: refused.set("a", "x"),
            FileContext("s3://bucket/a", default="else", **wrong).get,
        ]
        for use in uses:
            with pytest.raises(ProviderError, match="access was denied; check the credentials") as caught:
                use()
            assert "wrong" not in str(caught.value)
        assert bucket.load("a") == "text"


FORKED = """
import os
from obstore.store import MemoryStore
from glassine.errors import ProviderError
from glassine.providers import SkillBucket

bucket = SkillBucket(MemoryStore(), writable=True)
bucket.set("a", "text")
if os.fork() == 0:
    try:
        bucket.get()
    except ProviderError as error:
        print(error)
    os._exit(0)
os.wait()
print(bucket.get())
"""


def test_forked_child_is_told_and_does_not_hang() -> None:
    done = subprocess.run([sys.executable, "-Wignore", "-c", FORKED], capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    assert "MemoryStore: a forked child cannot use object stores after its parent did" in done.stdout
    assert done.stdout.endswith("- a: text\n")


def test_a_local_folder_by_its_url(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Text")
    assert SkillBucket(tmp_path.as_uri()).get() == "- a: Text"
    with pytest.raises(ProviderError, match=str(tmp_path / "absent")):
        SkillBucket((tmp_path / "absent").as_uri()).get()
    bucket = SkillBucket("memory:///", writable=True)
    bucket.set("a", "text", "Kept as long as the object")
    assert bucket.get() == "- a: Kept as long as the object"


def test_options_that_contradict() -> None:
    with pytest.raises(TypeError, match="'endpoint' is an option of a bucket's URL"):
        SkillBucket(MemoryStore(), endpoint="http://x")
    with pytest.raises(ProviderError, match="nonsense"):
        SkillBucket("s3://bucket", nonsense=1).get()
    with pytest.raises(ProviderError, match="Unable to recognise URL"):
        SkillBucket("what://bucket").get()
    with pytest.raises(TypeError, match="not one text"):
        SkillBucket(MemoryStore(), keys="deploy")
    with pytest.raises(InvalidIdError):
        SkillBucket(MemoryStore(), prefix="../x")


# --- one file ---------------------------------------------------------------------------------------------------------


def test_file_in_a_bucket(moto: str) -> None:
    name = s3.bucket(moto, [("conf/soul.md", "\ufeffYou are 親切.".encode(), {}), ("big", b"x" * (1 << 20) + b"x", {})])
    soul = FileContext(f"s3://{name}/conf/soul.md", **s3.options(moto))
    assert soul.get() == "You are 親切."
    store = obstore.store.from_url(f"s3://{name}", **s3.options(moto), client_options={"allow_http": True})
    store.put("conf/soul.md", b"Changed.")
    assert soul.get() == "Changed."
    assert FileContext("conf/soul.md", store=store).get() == "Changed."
    store.put("bad", b"\xff")
    for path, reason in (
        ("bad", "it is not UTF-8: byte 0xff at 0"),
        ("big", "at most 1,048,576 are read"),
        ("none", "the file is not there"),
    ):
        with pytest.raises(ProviderError, match=reason) as caught:
            FileContext(f"s3://{name}/{path}", **s3.options(moto)).get()
        assert caught.value.source == f"s3://{name}/{path}"
    assert FileContext(f"s3://{name}/none", default="You help.", **s3.options(moto)).get() == "You help."
    with pytest.raises(ProviderError, match="the bucket does not exist"):
        FileContext("s3://no-such-bucket/a", default="x", **s3.options(moto)).get()


def test_urls_that_name_no_object() -> None:
    for url in ("s3://bucket", "s3://bucket/"):
        with pytest.raises(ProviderError, match="names no object"):
            FileContext(url)
    with pytest.raises(ProviderError, match="query") as caught:
        FileContext("https://me:secret@host/a?sig=secret")
    assert "secret" not in str(caught.value)
