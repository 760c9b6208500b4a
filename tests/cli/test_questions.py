"""The page of questions: each command on an example prints the first line that the page states."""

import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_ROW = re.compile(r"\| (?P<question>[^|]+) \| `(?P<command>windlass [^`]+)` \| (?P<line>[^|]+) \| [^|]+ \|")
#: Files of the rows that take seconds each; the other rows need minutes, or a log that is not shipped.
_QUICK = ("log.swf", "sacct.txt", "fleet-job.yaml", "series.csv")


def rows():
    page = (ROOT / "docs" / "questions.md").read_text(encoding="utf-8")
    return [found for found in map(_ROW.fullmatch, page.splitlines()) if found]


def test_the_page_has_at_least_25_questions():
    assert len({row["question"] for row in rows()}) >= 25
    checked = [row["question"] for row in rows() if "| not recomputed |" not in row.group()]
    assert len(set(checked)) >= 25


@pytest.mark.matrix
@pytest.mark.parametrize(
    "row",
    [row for row in rows() if any(name in row["command"] for name in _QUICK)],
    ids=lambda row: row["question"],
)
def test_the_first_line_is_as_documented(windlass, monkeypatch, row):
    monkeypatch.chdir(ROOT)
    status, out, err = windlass(*shlex.split(row["command"])[1:])
    assert status == 0, err
    first = out.splitlines()[0].rstrip()
    stated = row["line"]
    assert first.startswith(stated.removesuffix(" …")) if stated.endswith("…") else first == stated
