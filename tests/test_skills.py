"""Skills: their keys and listing, front matter, skills in a folder, and the text of a file."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
import threading
import unicodedata
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import glassine
from glassine import SessionSpec, front_matter, skills
from glassine.errors import InvalidError, InvalidIdError, ProviderError
from glassine.providers import FileContext, SkillDirectory
from glassine.skills import Skill, key_for
from tests.pg import NOBODY

DATA = Path(__file__).parents[2] / "shared" / "data" / "skills"

GOOD = "---\nname: good\ndescription: A good one\n---\n\nBody\n"


def made(folder: Path, **files: str | bytes) -> Path:
    """A folder with files; `__` in a name stands for a slash, a name without an ending gets .md."""
    for name, content in files.items():
        path = folder / name.replace("__", "/")
        path = path if path.suffix else path.with_suffix(".md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def tree(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())


# --- keys -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("title", "key"),
    [
        ("Deploy Checklist", "deploy-checklist"),
        ("  deploy — CHECKLIST!  ", "deploy-checklist"),
        ("API v2 (beta)", "api-v2-beta"),
        ("../../etc/passwd", "etc-passwd"),
        ("Straße", "strasse"),
        ("デプロイ手順", "デプロイ手順"),
        ("ﾃﾞﾌﾟﾛｲ　手順", "デプロイ-手順"),
        ("天気", "天気"),
        ("हिन्दी", "हिन्दी"),
        ("x" * 60, "x" * 60),
    ],
)
def test_key_from_a_title(title: str, key: str) -> None:
    assert key_for(title, "whatever") == key


def test_keys_that_need_a_hash() -> None:
    long = [key_for("x" * 60 + tail, "") for tail in ("a", "b")]
    numbers, signs = key_for("2024", "a"), key_for("!?", "a")
    assert len({*long, numbers, signs, key_for("??", "a")}) == 5
    assert numbers.startswith("2024-")
    assert signs.startswith("entry-")
    assert (numbers, signs) == (key_for("２０２４", "b"), key_for("！？", "b"))
    untitled = [key_for(" ", f"# 長い題名 {'と' * 80}{tail}") for tail in ("a", "b")]
    assert all(key.startswith("長い題名-") for key in untitled)
    assert len(set(untitled)) == 2
    assert key_for("", "") == key_for("\n", "")
    assert key_for("", "\ud800") != key_for("", "")


@given(st.text(), st.text(max_size=20))
def test_every_key_that_is_made_can_be_used(title: str, content: str) -> None:
    key = key_for(title, content)
    assert 1 <= len(key) <= skills.KEY_CHARS
    assert skills.checked_key(key) == key
    assert key == key_for(f" {unicodedata.normalize('NFD', title)}\n", content)
    assert key == key_for(key, content) or len(key) == skills.KEY_CHARS or not any(map(str.isalpha, key))


@pytest.mark.parametrize(
    "key",
    ["", " ", ".", "../x", "a/../b", "/a", "a/", "a//b", "a\\b", "a\0b", "a\nb", "a\u2028b", ".a", "\ud800"],
)
def test_keys_that_can_be_none(key: str) -> None:
    assert skills.normal_key(key) is None
    with pytest.raises(InvalidIdError) as caught:
        skills.checked_key(key)
    assert (caught.value.kind, caught.value.value) == ("entry", key)


# --- the listing ------------------------------------------------------------------------------------------------------


def test_listing_is_in_the_order_of_the_keys_with_one_line_each() -> None:
    found = [
        Skill("b", "Second\n- c: not a skill\u2028══\x00", 1, None),
        Skill("a", "", 1, None),
        Skill("c", "x" * 2000, 1, None),
    ]
    lines = skills.listing(found).split("\n")
    assert lines[:2] == ["- a", "- b: Second - c: not a skill ══"]
    assert lines[2] == f"- c: {'x' * 1023}…"
    assert skills.listing([]) == ""


@given(st.text())
def test_one_line(text: str) -> None:
    line = skills.one_line(text)
    assert len(line.splitlines()) <= 1
    assert line == line.strip() == skills.one_line(line)
    line.encode()


# --- front matter -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "fields", "body", "problem"),
    [
        ("---\nname: a\ndescription: b\n---\n\nBody\n", {"name": "a", "description": "b"}, "Body\n", None),
        ("\ufeff---\r\nname: a\r\n---\r\n\r\nBody", {"name": "a"}, "Body", None),
        ("---\nname: a\n---", {"name": "a"}, "", None),
        ("---\nname: a\n---\nBody\n---\nMore", {"name": "a"}, "Body\n---\nMore", None),
        (
            "---\nversion: 1.0\non: yes\ndate: 2024-01-01\n---\n",
            {"version": "1.0", "on": "yes", "date": "2024-01-01"},
            "",
            None,
        ),
        ("---\ndescription: |\n  one\n  two\nlist: [1]\n---\n", {"description": "one\ntwo\n"}, "", None),
        ("---\n---\nBody", {}, "Body", None),
        ("---\n# only a remark\n---\nBody", {}, "Body", None),
        ("Body\n---\nname: a\n---\n", {}, "Body\n---\nname: a\n---\n", None),
        ("---\nname: a\nBody", {}, "---\nname: a\nBody", "no closing ---"),
        ("---\na line\n---\nBody", {}, "---\na line\n---\nBody", "holds no fields"),
        ("---\n: [\n---\nBody", {}, "---\n: [\n---\nBody", "not valid YAML"),
        (
            "---\nname: a\ndescription: use when: x\n---\nBody",
            {"name": "a", "description": "use when: x"},
            "Body",
            "line 3",
        ),
        ("---\ndescription: 'it\\'s'\nname: \"a\"\n---\nBody", {"name": "a", "description": "it\\'s"}, "Body", "YAML"),
        ("---\nname: a\x00\n---\nBody", {"name": "a\x00"}, "Body", "not valid YAML"),
        ("---\nname: a\nname: b\n---\n", {"name": "a"}, "", None),
        ("---\nx: " + "[" * 600 + "\n---\nBody", {}, "---\nx: " + "[" * 600 + "\n---\nBody", "not valid YAML"),
        ("---\n" + "a: b\n" * 20_000 + "---\n", {}, "---\n" + "a: b\n" * 20_000 + "---\n", "16,384 characters"),
    ],
)
def test_reading_front_matter(text: str, fields: dict[str, str], body: str, problem: str | None) -> None:
    document = front_matter.read(text)
    assert (document.fields, document.body) == (fields, body)
    assert (problem in (document.problem or "")) if problem else document.problem is None


@pytest.mark.parametrize(
    ("inner", "expected"),
    [
        (
            "name: a\ndescription: old # remark\nlicense: MIT\n",
            'name: a\ndescription: "new: one" # remark\nlicense: MIT\n',
        ),
        ("description: >-\n  long\n\n  text\nname: a # x\n", 'description: "new: one"\nname: a # x\n'),
        ("description: old", 'description: "new: one"'),
        ("description:\nname: a\n", 'description: "new: one"\nname: a\n'),
        ("name:   a\n# end\n", 'name:   a\n# end\ndescription: "new: one"\n'),
        ("{name: a, description: old}\n", '{name: a, description: "new: one"}\n'),
        ("", 'description: "new: one"\n'),
    ],
)
def test_changing_the_description_and_nothing_else(inner: str, expected: str) -> None:
    inner, expected = (text if text.endswith("\n") or not text else f"{text}\n" for text in (inner, expected))
    assert front_matter.described(f"---\n{inner}---\n", "a", "new: one") == f"---\n{expected}---\n"


@pytest.mark.parametrize("inner", ["a: [\n", "{name: a}\n", "x: &d text\ndescription: *d\n", "  name: a\n"])
def test_front_matter_that_cannot_be_changed(inner: str) -> None:
    with pytest.raises(ValueError):
        front_matter.described(f"---\n{inner}---\n", "a", "new")


lines = st.text(st.characters(codec="utf-8")).map(skills.one_line)


@given(lines, lines, lines.filter(bool))
def test_any_description_can_be_written_and_read(first: str, second: str, name: str) -> None:
    made = front_matter.described("", name, first)
    assert yaml.safe_load(made.removesuffix("---\n")) == {"name": name, "description": first}
    changed = front_matter.described(made, name, second)
    assert front_matter.read(changed).fields == {"name": name, "description": second}


@given(
    st.text(st.characters(codec="utf-8")), st.sampled_from([None, GOOD, "plain"]), st.sampled_from([None, "Said: so"])
)
def test_what_is_written_is_loaded(content: str, old: str | None, description: str | None) -> None:
    text = front_matter.updated(old, content, "a", description)
    given = front_matter.read(content)
    if not given.raw:
        assert front_matter.read(text).body == content.removeprefix("\ufeff") or not front_matter.read(text).raw


# --- a folder ---------------------------------------------------------------------------------------------------------


def test_skills_in_a_folder(tmp_path: Path) -> None:
    made(
        tmp_path,
        deploy__SKILL="---\nname: deploy\ndescription: >\n  Ship\n  it\n---\n\n# Deploy\n",
        deploy__references__regions="eu, us",
        deploy__run=b"",
        team__review__SKILL="---\nname: review\ndescription: レビュー\n---\nReview.",
        team__notes="no skill: not directly in the folder",
        style="# Style guide\n\nShort.",
        **{".git__x": "hidden", "node_modules__x__SKILL": GOOD, "data.txt": "no skill"},
    )
    directory = SkillDirectory(tmp_path)
    assert directory.get() == "- deploy: Ship it\n- style: Style guide\n- team/review: レビュー"
    assert directory.load("style") == "# Style guide\n\nShort."
    assert directory.load("team/review") == "Review."
    assert directory.load("deploy") == (
        "# Deploy\n\nOther files of this skill, loaded by these keys: deploy/references/regions.md, deploy/run.md\n"
    )
    assert directory.load("deploy/references/regions.md") == "eu, us"
    assert directory.load("deploy/run.md") == ""
    for key in ("none", "deploy/none", "deploy/references", "team", "team/notes", "data", "x", "style.md", "Deploy"):
        assert directory.load(key) is None
    style = directory.list()[1]
    assert (style.key, style.description, style.size) == ("style", "Style guide", 21)
    assert style.updated_at is not None
    assert abs((datetime.now(UTC) - style.updated_at).total_seconds()) < 3600
    assert directory.warnings() == []


def test_folder_is_read_anew(tmp_path: Path) -> None:
    directory = SkillDirectory(tmp_path)
    assert (directory.get(), directory.list(), directory.warnings()) == ("", [], [])
    made(tmp_path, good__SKILL=GOOD)
    assert directory.get() == "- good: A good one"


def test_folder_that_is_not_there(tmp_path: Path) -> None:
    absent = tmp_path / "absent"
    for use in (SkillDirectory(absent).get, SkillDirectory(absent).warnings, lambda: SkillDirectory(absent).load("a")):
        with pytest.raises(ProviderError, match="the folder is not there"):
            use()
    directory = SkillDirectory(absent, writable=True)
    assert directory.get() == ""
    directory.set("a", "text")
    assert directory.get() == "- a: text"
    with pytest.raises(ProviderError, match="Not a directory"):
        SkillDirectory(absent / "a" / "SKILL.md").get()


def test_broken_skills_are_told_and_take_no_other_down(tmp_path: Path) -> None:
    made(
        tmp_path,
        good__SKILL=GOOD,
        latin__SKILL="café".encode("latin-1"),
        large__SKILL=b"x" * (1 << 20) + b"x",
        yaml__SKILL="---\nname: yaml\ndescription: use when: needed\n---\nBody",
        bare__SKILL="---\nname: bare\n---\nFirst line",
        other__SKILL="---\nname: Other--Name_\ndescription: " + "d" * 1100 + "\n---\n",
        empty__SKILL="",
        SKILL="---\nname: root\ndescription: x\n---\n",
        good="# the same key",
    )
    (tmp_path / "folder" / "SKILL.md").mkdir(parents=True)
    (tmp_path / "line\n- fake: x.md").write_text("x")
    (tmp_path / "loop.md").symlink_to("loop.md")
    os.mkfifo(tmp_path / "pipe.md")
    directory = SkillDirectory(tmp_path)
    assert [skill.key for skill in directory.list()] == ["bare", "empty", "good", "other", "yaml"]
    assert "- yaml: use when: needed" in directory.get()
    assert directory.load("yaml") == "Body"
    warnings = directory.warnings()
    expected = {
        "latin/SKILL.md": "it is not UTF-8: byte 0xe9 at 3; the skill is left out",
        "large/SKILL.md": "it has 1,048,577 bytes; at most 1,048,576 are read; the skill is left out",
        "yaml/SKILL.md": "its front matter is not valid YAML: mapping values are not allowed here in line 3",
        "bare/SKILL.md": "it has no description; its first line is shown",
        "empty/SKILL.md": "it has no description, and no text",
        "SKILL.md": "the folder itself is a skill; give the folder above it",
        "good.md": "good/SKILL.md has its key; the skill is left out",
        "folder/SKILL.md": "Is a directory; the skill is left out",
        "line�- fake: x.md": "its name can be no key; the skill is left out",
        "loop.md": "a link leads out of the folder, or nowhere; the skill is left out",
        "pipe.md": "it is not a regular file; the skill is left out",
    }
    assert {f"{file}: {reason}" for file, reason in expected.items()} <= set(warnings)
    assert [warning for warning in warnings if warning.startswith("other/")] == [
        "other/SKILL.md: its name 'Other--Name_' has other characters than lower-case letters, digits and hyphens",
        "other/SKILL.md: its name is 'Other--Name_', but its key is 'other'",
        "other/SKILL.md: its description has 1,100 characters; at most 1,024 are shown",
    ]
    assert not [warning for warning in warnings if warning.startswith("good/")]
    for key in ("latin", "large", "folder", "pipe"):
        with pytest.raises(ProviderError) as caught:
            directory.load(key)
        assert caught.value.source in (f"{key}/SKILL.md", f"{key}.md")


@pytest.fixture
def unprivileged() -> Iterator[Path]:
    """An empty folder, and rights that end at it: root, who may read everything, is somebody else meanwhile."""
    folder = Path(tempfile.mkdtemp())  # not below the folder of pytest, which is closed to others
    folder.chmod(0o777)
    before = os.geteuid()
    try:
        if before == 0:
            os.chown(folder, NOBODY, -1)
            os.seteuid(NOBODY)
        yield folder
    finally:
        os.seteuid(before)
        for path in folder.rglob("*"):
            path.chmod(0o700)
        shutil.rmtree(folder)


def test_files_that_may_not_be_read(unprivileged: Path) -> None:
    made(unprivileged, good__SKILL=GOOD, good__sub__x="x", shut__SKILL=GOOD, closed__SKILL=GOOD)
    for closed in ("shut/SKILL.md", "closed", "good/sub"):
        (unprivileged / closed).chmod(0)
    directory = SkillDirectory(unprivileged, writable=True)
    assert directory.get() == "- good: A good one"
    assert directory.warnings() == [
        "closed: Permission denied; it is left out",
        "shut/SKILL.md: Permission denied; the skill is left out",
    ]
    assert (directory.load("good"), directory.load("closed")) == ("Body\n", None)
    uses: list[Callable[[], object]] = [
        lambda: directory.load("shut"),
        lambda: directory.load("good/sub/x.md"),
        lambda: directory.set("closed", "x"),
        lambda: directory.set("shut", "x"),
    ]
    for use in uses:
        with pytest.raises(ProviderError, match="Permission denied"):
            use()
    unprivileged.chmod(0o500)
    with pytest.raises(ProviderError, match="new: Permission denied"):
        directory.set("new", "x")


def test_links_do_not_lead_out(tmp_path: Path) -> None:
    outside = made(tmp_path / "outside", secret="secret", skill__SKILL=GOOD)
    root = made(tmp_path / "root", good__SKILL=GOOD, shared__files__x="inside")
    (root / "file.md").symlink_to(outside / "secret.md")
    (root / "folder").symlink_to(outside / "skill")
    (root / "good" / "data.md").symlink_to(outside / "secret.md")
    (root / "good" / "more").symlink_to(outside)
    (root / "good" / "own.md").symlink_to(root / "shared" / "files" / "x.md")
    (root / "alias").symlink_to(root / "good")
    (root / "shared" / "up").symlink_to(root)
    directory = SkillDirectory(root, writable=True)
    assert directory.get() == "- alias: A good one\n- good: A good one"
    assert directory.load("good") == "Body\n\nOther files of this skill, loaded by these keys: good/own.md\n"
    assert directory.load("good/own.md") == "inside"
    for key in ("file", "folder", "good/data.md", "good/more/secret.md", "good/../../outside/secret.md"):
        assert directory.load(key) is None
    assert {warning.partition(":")[0] for warning in directory.warnings()} >= {"file.md", "folder"}
    with pytest.raises((ProviderError, InvalidIdError)):
        directory.set("folder/new", "x")
    with pytest.raises((ProviderError, InvalidIdError)):
        directory.set("folder", "x")
    assert tree(outside) == ["secret.md", "skill/SKILL.md"]
    assert directory.remove("alias")
    assert directory.load("good") is not None


def test_a_root_that_is_a_link(tmp_path: Path) -> None:
    made(tmp_path / "real", good__SKILL=GOOD)
    (tmp_path / "link").symlink_to("real")
    directory = SkillDirectory(tmp_path / "link", writable=True)
    assert directory.load("good") == "Body\n"
    directory.set("new", "text")
    assert directory.load("new") == "text"


def test_relative_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    directory = SkillDirectory("skills", writable=True)
    directory.set("a", "text", "Text")
    assert directory.get() == "- a: Text"
    assert directory.remove("a")
    assert directory.get() == ""
    made(tmp_path, b="plain")
    assert SkillDirectory(".").load("b") == "plain"


def test_keys_are_compared_in_one_form_of_unicode(tmp_path: Path) -> None:
    decomposed = unicodedata.normalize("NFD", "ガイド")
    made(tmp_path, **{f"{decomposed}__SKILL": "---\nname: ガイド\ndescription: d\n---\nText", f"{decomposed}__が": "x"})
    directory = SkillDirectory(tmp_path, writable=True, keys=[decomposed])
    assert directory.get() == "- ガイド: d"
    for key in ("ガイド", decomposed):
        assert "Text" in (directory.load(key) or "")
    directory.set("ガイド", "New")
    assert len(list(tmp_path.iterdir())) == 1
    assert directory.load("ガイド/が.md") == "x"


def test_allowed_keys(tmp_path: Path) -> None:
    made(tmp_path, a__SKILL=GOOD, a__more="more", b="secret", c="text")
    directory = SkillDirectory(tmp_path, writable=True, keys=["a", "absent", "a/more.md"])
    assert directory.get() == "- a: A good one"
    assert directory.load("a/more.md") == "more"
    assert directory.load("b") is None
    changes: list[Callable[[], object]] = [
        lambda: directory.set("b", "x"),
        lambda: directory.remove("b"),
        lambda: directory.set("new", "x"),
    ]
    for change in changes:
        with pytest.raises(ProviderError, match="not among the allowed"):
            change()
    assert [warning for warning in directory.warnings() if "allowed" in warning] == [
        "absent: it is among the allowed keys, but not there"
    ]
    assert not any(warning.startswith(("b", "c")) for warning in directory.warnings())
    directory.set("absent", "now it is")
    assert SkillDirectory(tmp_path, keys=[]).get() == ""
    with pytest.raises(TypeError, match="not one text"):
        SkillDirectory(tmp_path, keys="a")


# --- writing ----------------------------------------------------------------------------------------------------------


def test_writing(tmp_path: Path) -> None:
    directory = SkillDirectory(tmp_path, writable=True)
    assert directory.set("new", "# Title\n\nText", "What it is\nfor") is False
    path = tmp_path / "new" / "SKILL.md"
    assert path.read_text() == '---\nname: "new"\ndescription: "What it is for"\n---\n\n# Title\n\nText'
    assert directory.set("new", "Other") is True
    assert path.read_text() == '---\nname: "new"\ndescription: "What it is for"\n---\n\nOther'
    directory.set("untold", "# Title\n\nText")
    assert directory.get() == "- new: What it is for\n- untold: Title"
    assert directory.load("untold") == "# Title\n\nText"
    directory.set("given", "---\nname: given\ndescription: Own\nlicense: MIT\n---\nText")
    assert (
        tmp_path / "given" / "SKILL.md"
    ).read_text() == "---\nname: given\ndescription: Own\nlicense: MIT\n---\n\nText"
    directory.set("given", "Changed", "Said")
    assert (tmp_path / "given" / "SKILL.md").read_text() == (
        '---\nname: given\ndescription: "Said"\nlicense: MIT\n---\n\nChanged'
    )
    directory.set("a/b/c/d/e", "deep", "Deep")
    assert directory.remove("a/b/c/d/e")
    directory.set("team/デプロイ", "手順")
    assert directory.load("team/デプロイ") == "手順"
    assert directory.warnings() == []
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith(".")]


def test_writing_where_a_plain_file_is(tmp_path: Path) -> None:
    made(tmp_path, plain="# Old", told="---\ndescription: Told\nx: 1\n---\nOld")
    (tmp_path / "plain.md").chmod(0o640)
    directory = SkillDirectory(tmp_path, writable=True)
    directory.set("plain", "# New")
    directory.set("told", "New")
    assert (tmp_path / "plain.md").read_text() == "# New"
    assert stat.S_IMODE((tmp_path / "plain.md").stat().st_mode) == 0o640
    assert (tmp_path / "told.md").read_text() == "---\ndescription: Told\nx: 1\n---\n\nNew"
    directory.set("plain", "# New", "Told now")
    assert directory.get() == "- plain: Told now\n- told: Told"
    assert directory.load("plain") == "# New"
    assert tree(tmp_path) == ["plain.md", "told.md"]


def test_removing(tmp_path: Path) -> None:
    made(tmp_path, a__SKILL=GOOD, a__deep__er__x="x", b="plain", c__SKILL=GOOD)
    directory = SkillDirectory(tmp_path, writable=True)
    assert directory.remove("a")
    assert directory.remove("b")
    assert not directory.remove("b")
    assert not directory.remove("c/x")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c"]


def test_reading_only_unless_said_otherwise(tmp_path: Path) -> None:
    made(tmp_path, a="text")
    directory = SkillDirectory(tmp_path)
    assert directory.writable is False
    changes: list[Callable[[], object]] = [lambda: directory.set("a", "x"), lambda: directory.remove("a")]
    for change in changes:
        with pytest.raises(ProviderError, match="writable=True"):
            change()
    assert directory.load("a") == "text"


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("Good", "differs from the skill 'good' in its case only"),
        ("good/more", "is inside of the skill 'good'"),
        ("GOOD/more", "is inside of the skill 'good'"),
        ("team", "is a folder with the skill 'team/x' in it"),
        ("a:b", "must not contain any of"),
        ("con", "no file name on every system"),
        ("a.", "no file name on every system"),
        ("x" * 201, "more than 200 bytes"),
        ("node_modules/x", "not looked into"),
        ("a/b/c/d/e/f", "not looked into"),
        ("notes.md", "given without it"),
        ("notes/skill.MD", "given without it"),
        ("../x", "begins with a dot"),
        ("", "blank"),
    ],
)
def test_new_keys_that_are_refused(tmp_path: Path, key: str, reason: str) -> None:
    made(tmp_path, good__SKILL=GOOD, team__x__SKILL=GOOD)
    directory = SkillDirectory(tmp_path, writable=True)
    with pytest.raises(InvalidIdError, match=reason):
        directory.set(key, "x")
    assert tree(tmp_path) == ["good/SKILL.md", "team/x/SKILL.md"]


def test_contents_that_are_refused(tmp_path: Path) -> None:
    made(tmp_path, broken__SKILL="---\nname: broken\ndescription: a: b\n---\nBody")
    directory = SkillDirectory(tmp_path, writable=True)
    with pytest.raises(InvalidError, match="lone surrogate"):
        directory.set("a", "\ud800")
    with pytest.raises(InvalidError, match="at most 1,048,576"):
        directory.set("a", "x" * (1 << 20) + "x")
    with pytest.raises(ProviderError, match="'broken' was not written: its front matter is not valid YAML"):
        directory.set("broken", "New", "New")
    directory.set("broken", "New")  # the front matter as it is
    assert directory.load("broken") == "New"
    assert tree(tmp_path) == ["broken/SKILL.md"]
    assert directory.remove("broken")


def test_a_write_that_fails_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tmp_path, good__SKILL=GOOD)

    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    directory = SkillDirectory(tmp_path, writable=True)
    with pytest.raises(ProviderError, match="good: No space left on device"):
        directory.set("good", "New")
    assert tree(tmp_path) == ["good/SKILL.md"]
    assert directory.load("good") == "Body\n"


def test_a_reader_never_sees_half_a_skill(tmp_path: Path) -> None:
    directory = SkillDirectory(tmp_path, writable=True)
    contents = [letter * 200_000 for letter in "ab"]
    directory.set("a", contents[0])
    done = threading.Event()

    def write() -> None:
        for _ in range(20):
            for content in contents:
                directory.set("a", content)
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    seen = set()
    while not done.is_set():
        seen.add(directory.load("a"))
    writer.join()
    assert seen <= set(contents)


names = st.text(st.characters(codec="utf-8") | st.sampled_from("./\\~:\0\n"), max_size=12)


@settings(max_examples=150, deadline=None)
@given(st.lists(names, min_size=1, max_size=4).map("/".join))
def test_no_key_leaves_the_folder(tmp_path_factory: pytest.TempPathFactory, key: str) -> None:
    top = tmp_path_factory.mktemp("top")
    made(top, secret="secret")
    root = made(top / "root", good__SKILL=GOOD)
    directory = SkillDirectory(root, writable=True)
    before = os.listdir(top)  # noqa: PTH208 - names are all that is compared
    assert (directory.load(key) or "").startswith("secret") is False
    try:
        directory.set(key, "text")
    except (InvalidIdError, ProviderError):
        assert tree(root) == ["good/SKILL.md"]
    else:
        assert directory.load(key) == "text"
        assert unicodedata.normalize("NFC", key) in [skill.key for skill in directory.list()]
        assert directory.remove(key)
        assert not directory.remove(key)
    assert os.listdir(top) == before  # noqa: PTH208 - the same


# --- real skills ------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not DATA.is_dir(), reason="the real skills (../shared/data/skills) are not here")
def test_real_skills_load_or_are_reported() -> None:
    files = list(DATA.rglob("SKILL.md"))
    directory = SkillDirectory(DATA)
    listed = {skill.key: skill for skill in directory.list()}
    reported = {warning.partition(":")[0] for warning in directory.warnings()}
    for path in files:
        key = path.parent.relative_to(DATA).as_posix()
        fixture = key.startswith("pi-fixtures/") and not key.endswith("unknown-field")
        assert (f"{key}/SKILL.md" in reported) == fixture
        assert listed[key].description
        body = directory.load(key)
        assert body
        assert not body.startswith("---")
        assert path.read_text().rstrip().endswith(body.partition("\n\nOther files of this skill")[0].rstrip()[-200:])
    assert len(listed) == len(files) > 10


# --- one file ---------------------------------------------------------------------------------------------------------


def test_text_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "so ul.md"
    path.write_bytes(b"\xef\xbb\xbf" + "親切に。\n".encode())
    soul = FileContext(path)
    assert soul.get() == FileContext(str(path)).get() == FileContext(path.as_uri()).get() == "親切に。\n"
    path.write_text("Changed")
    assert soul.get() == "Changed"


def test_file_that_cannot_be_read(tmp_path: Path) -> None:
    absent = tmp_path / "absent.md"
    with pytest.raises(ProviderError, match="the file is not there") as caught:
        FileContext(absent).get()
    assert caught.value.source == str(absent)
    assert FileContext(absent, default="You help.").get() == "You help."
    assert FileContext(absent, default="").get() == ""
    assert FileContext(tmp_path / "no" / "x", default="You help.").get() == "You help."
    made(tmp_path, bad=b"abc\xff", large=b"x" * (1 << 20) + b"x", full=b"x" * (1 << 20))
    os.mkfifo(tmp_path / "pipe")
    assert len(FileContext(tmp_path / "full.md").get()) == 1 << 20
    for name, reason in (
        ("bad.md", "it is not UTF-8: byte 0xff at 3"),
        ("large.md", "it has 1,048,577 bytes; at most 1,048,576 are read"),
        (".", "Is a directory"),
        ("pipe", "it is not a regular file"),
        ("a\0b", "null"),
    ):
        with pytest.raises(ProviderError, match=reason):
            FileContext(tmp_path / name, default="not for this").get()
    with pytest.raises(TypeError, match="'endpoint' is an option of a bucket's URL"):
        FileContext(absent, endpoint="http://x")


def test_buckets_need_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    from glassine.providers import SkillBucket

    monkeypatch.setitem(sys.modules, "obstore", None)
    for use in (FileContext("s3://bucket/soul.md", default="x").get, SkillBucket("s3://bucket/skills").get):
        with pytest.raises(ProviderError, match=r"pip install 'glassine\[buckets\]'") as caught:
            use()
        assert caught.value.source.startswith("s3://bucket/s")


# --- in a session -----------------------------------------------------------------------------------------------------


def spec_of(folder: Path) -> SessionSpec:
    return (
        SessionSpec()
        .with_context("soul", provider=FileContext(folder / "soul.md", default="You help."))
        .with_context("skills", provider=SkillDirectory(folder / "skills", writable=True))
    )


CALLS = [
    ("load_context", {"label": "skills", "key": "good"}, "Body\n"),
    ("load_context", {"label": "skills", "key": "../soul"}, "Not found: ../soul"),
    (
        "set_context",
        {"label": "skills", "content": "手順", "metadata": {"title": "Deploy — 手順"}},
        'Indexed "deploy-手順" in skills.',
    ),
    ("load_context", {"label": "skills", "key": "deploy-手順"}, "手順"),
]
AFTER = "- deploy-手順: Deploy — 手順\n- good: A good one"


def test_in_a_session(tmp_path: Path) -> None:
    made(tmp_path, skills__good__SKILL=GOOD)
    with glassine.open(":memory:") as store:
        session = store.session("s", spec_of(tmp_path))
        prompt = session.freeze_prompt()
        assert "SOUL" in prompt
        assert "You help." in prompt
        assert "- good: A good one" in prompt
        tools = {tool.name: tool for tool in session.tools()}
        for name, arguments, answer in CALLS:
            assert tools[name].call(arguments) == answer
        assert session.block("skills").content == AFTER


@pytest.mark.anyio
async def test_in_an_async_session(tmp_path: Path) -> None:
    made(tmp_path, skills__good__SKILL=GOOD)
    async with glassine.open_async(":memory:") as store:
        session = store.session("s", spec_of(tmp_path))
        tools = {tool.name: tool for tool in await session.tools()}
        for name, arguments, answer in CALLS:
            assert await tools[name].call(arguments) == answer
        assert (await session.block("skills")).content == AFTER
