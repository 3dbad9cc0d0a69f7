"""What the pages say about names is compared with the names there are."""

import re
from pathlib import Path

import apsw
import pytest

import glassine
from glassine import errors

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted(DOCS.rglob("*.md"))]

LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
FENCED = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
NAME = re.compile(r"(session|store|glassine)\.(\w+)")
OWNERS = {"session": glassine.Session, "store": glassine.Store, "glassine": glassine}


def anchors(page: str) -> set[str]:
    """The anchors of a page's headings, as renderers of Markdown make them."""
    headings = HEADING.findall(FENCED.sub("", page))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", [pytest.param(path, id=path.relative_to(ROOT).as_posix()) for path in PAGES])
def test_links_lead_somewhere(path: Path) -> None:
    for link in LINK.findall(FENCED.sub("", path.read_text("utf-8"))):
        if re.match(r"\w+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = path.parent / file if file else path
        assert target.exists(), f"{link}: there is no such file"
        assert not anchor or anchor in anchors(target.read_text("utf-8")), f"{link}: there is no such heading"


def test_the_database_page_names_every_table_and_column(tmp_path: Path) -> None:
    sections = re.split(r"^### (\w+)\n", (DOCS / "database.md").read_text("utf-8"), flags=re.MULTILINE)
    named = {
        table: {
            name for cell in re.findall(r"^\| (`.*?) \|", text, re.MULTILINE) for name in re.findall(r"`(\w+)`", cell)
        }
        for table, text in zip(sections[1::2], sections[2::2], strict=True)
    }
    glassine.open(tmp_path / "new.db").close()
    connection = apsw.Connection(str(tmp_path / "new.db"))
    rows = connection.execute(
        "SELECT t.name, c.name FROM pragma_table_list t, pragma_table_info(t.name) c "
        "WHERE t.type IN ('table', 'virtual') AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    ).fetchall()
    connection.close()
    there: dict[str, set[str]] = {}
    for table, column in rows:
        there.setdefault(str(table), set()).add(str(column))
    assert named == there


def test_the_errors_page_has_a_section_or_a_sentence_for_every_error() -> None:
    page = (DOCS / "errors.md").read_text("utf-8")
    sections = set(re.findall(r"^### (\w+)$", page, re.MULTILINE))
    assert sections <= set(errors.__all__)
    for name in set(errors.__all__) - sections:
        assert f"`{name}`" in page, f"{name} is not explained"
    assert re.search(r"```\n(GlassineError\n.*?)```", page, re.DOTALL), "the tree is not drawn"


def ours(status: str) -> list[tuple[str, str]]:
    """(owner, name) for our side of each row of the tables that has this status."""
    page = (DOCS / "coming-from-cloudflare.md").read_text("utf-8")
    rows = [line.split("|") for line in page.splitlines() if re.search(rf"\| {status} \|$", line)]
    return [name for row in rows for name in NAME.findall(row[2])]


def test_names_that_are_said_to_be_there_today_are() -> None:
    assert len(ours("today")) > 5
    for owner, name in ours("today"):
        assert hasattr(OWNERS[owner], name), f"{owner}.{name} is not there"


def test_names_that_are_said_to_be_planned_are_not_there() -> None:
    assert ours("planned")
    for owner, name in ours("planned"):
        assert not hasattr(OWNERS[owner], name), f"{owner}.{name} is there: say so"
