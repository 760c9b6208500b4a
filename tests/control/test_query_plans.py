"""Pages read a large journal by its indexes: no query of a page scans a table that grows."""

from __future__ import annotations

import re

import pytest
from benchmarks.control_journal import TARGETS, draw

from tests.control.test_web import app_of, ask
from windlass.control.journal import JournalReader
from windlass.control.journal.totals import TABLES

#: A step of a plan that reads all rows of a table, or of an index of all its rows; that of open acts has few.
SCANS = re.compile(rf"SCAN ({'|'.join(TABLES)})\b(?! USING INDEX (acts|actions)_open)")


@pytest.fixture(scope="module")
def journal(tmp_path_factory):
    path = tmp_path_factory.mktemp("plans") / "journal.db"
    draw(path, 2_000)
    return path


@pytest.mark.matrix
@pytest.mark.parametrize("target", [*TARGETS, "/actions?undo=1&before=9"])
def test_no_query_of_a_page_scans_a_table(journal, target):
    with JournalReader(journal) as reader:
        seen = []
        reader._file.set_trace_callback(seen.append)
        assert ask(app_of(reader), target).status == 200
        reader.change()
        reader._file.set_trace_callback(None)
        assert seen
        # One query of each form is explained.
        for query in {re.sub(r"'[^']*'|\d+", "?", each): each for each in seen}.values():
            plan = [row[3] for row in reader._file.execute(f"explain query plan {query}")]
            scans = [step for step in plan if SCANS.match(step)]
            # The least or the largest id is read at the end of an index, which SQLite calls a search.
            assert not scans, (query, plan)
