"""Lower bounds of the response in drawn settings of dispatch, and parameters chosen for the policies compared."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from windlass_reproductions.rosella import bounds, knobs
from windlass_reproductions.rosella.bounds import MISSED, chain_mean, mean_bound, tail_bound
from windlass_reproductions.rosella.cells import Cell, Contender, Response, response, sizes_of
from windlass_reproductions.rosella.judged import OURS

PAGE = Path(__file__).parents[2] / "docs" / "results-dispatch-drawn.md"
NONE = np.zeros(0)
PLAIN = Cell("exponential", "four classes", 8, 0.7, 1, False, 1, 0.0, 0.0, 0.0)


def test_missed_targets_are_those_of_the_page():
    text = PAGE.read_text().split("\n## ")[0]
    rows = [line for line in text.splitlines() if line.startswith("| ")][1:]
    columns = [[word.strip() for word in row.strip("|").split("|")] for row in rows]
    missed = {number: (row[10] == "no", row[14] == "no") for number, row in enumerate(columns)}
    assert len(rows) == 80
    assert {number: each for number, each in missed.items() if any(each)} == MISSED


@pytest.mark.parametrize("load", [0.3, 0.8])
@pytest.mark.parametrize("per_job", [1, 4])
def test_the_chain_of_equal_workers_is_a_known_queue(load, per_job):
    assert chain_mean(np.array([2.0]), load, per_job) == pytest.approx((per_job + 1) / (4 * (1 - load)))
    a = 3 * load
    blocked = a**3 / 6 / (1 - load)
    erlang_c = blocked / (1 + a + a**2 / 2 + blocked)
    assert chain_mean(np.ones(3), load, 1) == pytest.approx(1 + erlang_c / (3 - a))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"load": 0.9},
        {"per_job": 4},
        {"speeds": "one of 20"},
        {"sizes": "fixed"},
        {"sizes": "fixed", "speeds": "uniform", "per_job": 3},
        {"sizes": "pareto", "bursts": True},
    ],
)
def test_no_policy_is_below_the_bounds(changes):
    cell = dataclasses.replace(PLAIN, **changes)
    tasks, sizes = 12_000, sizes_of(cell.sizes, 12_000, 1, NONE)
    for policy in (Contender("sed", "sed"), Contender("at once", "pull", (("late", False),)), OURS):
        found = response(policy, cell, tasks, 1, NONE)
        assert found.mean > 0.97 * mean_bound(cell, sizes).seconds
        assert found.p99 > 0.97 * tail_bound(cell, sizes).seconds


def test_a_cell_has_a_row_for_each_missed_target():
    found = bounds.rows(32, dataclasses.replace(PLAIN, fetch=0.2), 400, 2, NONE)
    assert [row.split(" | ")[7] for row in found] == ["mean", "p99"]
    assert {row.count("|") for row in found} == {18}


def measured(contender, cell, tasks, seed, recorded):
    """Return 2 s for `pull`, and for others the load times 2 plus their parameters, which are best at 0.1."""
    if contender == OURS:
        return Response(2.0, 4.0)
    added = sum(abs(float(value) - 0.1) for _, value in contender.parameters) if contender.parameters else 0.5
    return Response(2.0 * cell.load + added, 5.0 * cell.load + added)


def test_parameters_are_those_with_the_least_mean(monkeypatch, capsys):
    monkeypatch.setattr(knobs, "response", measured)
    monkeypatch.setattr(knobs, "TRIED", {"a": ((("x", 0.2),), (("x", 0.1),)), "b": ((("x", 9.0),),)})
    assert knobs.chosen([PLAIN], 10, 2, NONE) == [Contender("a (x 0.1)", "a", (("x", 0.1),))]
    # With a load of 0.7, means are 1.9 s with the default and 1.4 s with the parameter.
    assert capsys.readouterr().out == "a (x 0.1): 26.3% less than with its defaults\n"


def test_targets_are_counted_against_all_groups_so_far(monkeypatch):
    monkeypatch.setattr(knobs, "response", measured)
    cells = [dataclasses.replace(PLAIN, load=load) for load in (0.5, 0.72, 0.97)]
    groups = [Contender("a", "a")], [Contender("a", "a", (("x", 0.1),))], []
    found = knobs.counts(cells, groups, 10, 2, NONE)
    # The others' means are 1.5, 1.94 and 2.44 s, then 1, 1.44 and 1.94 s.
    assert [each.mean for each in found] == [2, 1, 1]
    # Their 99th percentiles are 3, 4.1 and 5.35 s, then 2.5, 3.6 and 4.85 s.
    assert [(each.p99, each.cells) for each in found] == [(2, 3), (1, 3), (1, 3)]
