"""Reproductions run and save their results in readable formats."""

import json
import sys

import numpy as np
import pytest

from tests.report.page import Page
from tests.reproductions.quick import quick
from tests.reproductions.turning import lacks_reason, why_fixed
from windlass.cli import main
from windlass.report.pictures import Line, Picture
from windlass_reproductions import Reproduction, Row, find_paper, papers
from windlass_reproductions.criteria import Judged, Within
from windlass_reproductions.page import rows_json, save
from windlass_reproductions.verdicts import Interval

#: Papers that run on a real engine; the tests of engines cover them.
LIVE = ("sim-vs-live",)


def test_unknown_papers_are_refused(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["windlass", "reproduce", "moby-dick"])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    assert "rosella" in capsys.readouterr().err


def test_rows_and_pictures_are_saved(tmp_path):
    rows = (Row("a <b>", 1.0, float("inf"), None, "note"), Row("c", "words", "words", True))
    lines = (Line("one", [1, 10], [2.0, 3.0], [0.1, 0.2]), Line("two", [1, 10], [4.0, 5.0]))
    pictures = (
        Picture("p", "Title", "x", "y", lines, log_x=True, log_y=True),
        Picture("bars", "Bars", "x", "y", (Line("one", [0, 1], [2.0, 3.0]),), categories=("a", "b")),
    )
    paper = find_paper("rosella")
    save(paper, Reproduction(rows, pictures), tmp_path)
    found = json.loads((tmp_path / "rosella.json").read_text())
    assert found[0] == {"what": "a <b>", "paper": 1.0, "ours": "inf", "holds": None, "note": "note"}
    html = (tmp_path / "rosella.html").read_text()
    assert "a &lt;b&gt;" in html
    assert "1 of 1 published results hold here. Undecided: 1." in html
    plots = json.loads(Page(html).scripts["plots"]).values()
    drawn = [(each["type"], each["x"], each["y"]) for plot in plots for each in plot["data"]]
    assert drawn == [
        ("scatter", [1, 10], [2.0, 3.0]),
        ("scatter", [1, 10], [4.0, 5.0]),
        ("bar", ["a", "b"], [2.0, 3.0]),
    ]
    assert json.loads(rows_json(Reproduction(rows))) == found


#: The profiling of `cascade` takes five minutes, the others most of one; the README's page runs `swag`, too.
LONG = ("cascade", "rosella", "swag", "tetrium")


@pytest.mark.slow
@pytest.mark.parametrize(
    "paper",
    [
        pytest.param(each, marks=[pytest.mark.nightly] if each.name in LONG else [], id=each.name)
        for each in papers()
        if each.name not in LIVE
    ],
)
def test_quick_reproductions_run(paper):
    quick(paper)


def judged_row(low, holds, **given):
    judged = Judged((Within(Interval(1.0, 0.1), low=low),), "rule", **given)
    return Row("what", 1.0, 1.0, holds, "note", judged)


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (judged_row(0.0, True), ""),
        (judged_row(2.0, False), ""),
        (judged_row(1.0, None), ""),
        (Row("what", 1.0, 1.0, None, "note"), ""),
        (judged_row(0.0, None), "says something else than what it is judged by"),
        (judged_row(2.0, True), "says something else than what it is judged by"),
        (Row("what", 1.0, 1.0, True), "has a verdict and nothing that it is judged by"),
        (judged_row(-np.inf, True), "does not turn with all its parts"),
    ],
)
def test_a_verdict_that_cannot_change_is_detected(row, why):
    assert why_fixed(row) == why


def test_a_row_without_a_reason_is_detected():
    assert [lacks_reason(Row("what", 1.0, 1.0, holds)) for holds in (True, False, None)] == [
        False,
        True,
        True,
    ]
    assert not lacks_reason(Row("what", 1.0, 1.0, False, "why"))


def test_the_rule_of_a_row_appears_only_in_its_note():
    row = Row.by("what", 1.0, 1.0, Judged((), "rule"), "note")
    assert (row.holds, row.note) == (None, "note; rule")
    assert set(json.loads(rows_json(Reproduction((row,))))[0]) == {"what", "paper", "ours", "holds", "note"}
