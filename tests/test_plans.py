"""How SQLite goes about the statements whose cost must not grow with the session or the store."""

import re

import pytest

import glassine
from glassine import _queries
from glassine._drivers import SQLiteDriver
from glassine._sqlite import SQLiteDatabase

WHOLE_KEY = "ns=? AND session=? AND strand=?"
# Statement → what its plan must say, and for which table.
PLANS = {
    "session_head": "SEARCH session USING PRIMARY KEY (ns=? AND id=?)",
    "node_find": "SEARCH node USING INDEX node_id (ns=? AND session=? AND id=?)",
    "span_up": f"SEARCH n USING PRIMARY KEY ({WHOLE_KEY} AND seq>? AND seq<?)",
    "span_down": f"SEARCH n USING PRIMARY KEY ({WHOLE_KEY} AND seq>? AND seq<?)",
    "path": f"SEARCH s USING PRIMARY KEY ({WHOLE_KEY})",
    "strand_shift": f"SEARCH node USING PRIMARY KEY ({WHOLE_KEY} AND seq>?)",
    "hung_strands_shift": f"SEARCH node USING PRIMARY KEY ({WHOLE_KEY})",
    "strand_children": "SEARCH strand USING COVERING INDEX strand_parent "
    "(ns=? AND session=? AND parent_strand=? AND parent_seq=?)",
    "blob_used": "SEARCH external USING COVERING INDEX external_blob (ns=? AND digest=?)",
    "words_best": f"SEARCH n USING PRIMARY KEY ({WHOLE_KEY} AND seq=?) LEFT-JOIN",
    "words_hits": f"SEARCH n USING PRIMARY KEY ({WHOLE_KEY} AND seq=?)",
    "session_forks": "SEARCH s USING COVERING INDEX session_forks (ns=? AND lineage_session=?)",
    "session_by_key": "SEARCH session USING INDEX session_key (ns=? AND session=?)",
}


@pytest.mark.parametrize(("name", "expected"), PLANS.items())
def test_a_statement_goes_by_its_whole_key(name: str, expected: str) -> None:
    statement = getattr(_queries.load("sqlite"), name)
    numbered = [int(number) for number in re.findall(r"\?(\d+)", statement)]
    parameters = (1,) * (max(numbered) if numbered else statement.count("?"))

    def plan(db: SQLiteDatabase) -> list[str]:
        return [row[3] for row in db.rows(f"EXPLAIN QUERY PLAN {statement}", parameters)]

    with glassine.open(":memory:") as store:
        driver = store._engine._driver
        assert isinstance(driver, SQLiteDriver)
        steps = driver.read(plan)
    assert expected in steps, steps
