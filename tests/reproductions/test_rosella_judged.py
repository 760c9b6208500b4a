"""Drawn settings of dispatch: what is drawn, that each is simulated as it says, and when one is within its target."""

from __future__ import annotations

import numpy as np
import pytest

from windlass_reproductions.rosella import cells, judged
from windlass_reproductions.rosella.cells import Cell, Contender, draw_cells, response
from windlass_reproductions.rosella.judged import Compared, summary

NONE = np.zeros(0)
RECORDED = np.array([0.5, 1.5])
JSQ = Contender("jsq", "jsq")
PLAIN = Cell("exponential", "equal", 8, 0.7, 1, False, 1, 0.0, 0.0, 0.0)


def test_every_value_is_drawn_and_no_other():
    drawn = draw_cells(3, 400)
    assert {cell.sizes for cell in drawn} == set(cells.SIZES)
    assert {cell.speeds for cell in drawn} == set(cells.SPEEDS)
    assert {cell.workers for cell in drawn} == {8, 32, 300}
    assert {cell.load for cell in drawn} == set(cells.LOADS)
    assert {cell.per_job for cell in drawn} == set(cells.PER_JOB)
    assert {cell.schedulers for cell in drawn} == {1, 8}
    assert {cell.lateness for cell in drawn} == set(cells.LATENESS)
    assert {cell.fetch for cell in drawn} == set(cells.FETCHES)
    assert {cell.shocks for cell in drawn} == set(cells.SHOCKS)
    assert 0.1 < np.mean([cell.bursts for cell in drawn]) < 0.3


def test_cells_to_judge_by_are_not_those_of_the_design():
    design = set(draw_cells(judged.DESIGN, 150))
    # One of the cells that this seed draws is also one of the design.
    assert len(design & set(draw_cells(20261126, 80))) == 1
    for seed, left in ((20261126, 79), (judged.JUDGED, 80)):
        found = judged.cells_of(seed, 80)
        assert not design & set(found)
        assert len(found) == left
    assert judged.cells_of(judged.DESIGN, 80) == draw_cells(judged.DESIGN, 80)


@pytest.mark.parametrize("workers", [8, 32, 300])
def test_each_set_of_speeds_has_one_speed_per_worker(workers):
    assert {len(speeds(workers)) for speeds in cells.SPEEDS.values()} == {workers}
    assert all((speeds(workers) > 0.0).all() for speeds in cells.SPEEDS.values())


@pytest.mark.parametrize(
    "changes",
    [
        {"sizes": "fixed"},
        {"sizes": "pareto"},
        {"sizes": "recorded"},
        {"speeds": "1/k"},
        {"workers": 32},
        {"load": 0.9},
        {"per_job": 4},
        {"bursts": True},
        {"schedulers": 8, "lateness": 0.5},
        {"lateness": 0.5},
        {"speeds": "1/k", "shocks": 5.0},
    ],
)
def test_each_property_of_a_cell_changes_the_simulation(changes):
    values = {name: getattr(PLAIN, name) for name in Cell.__slots__} | changes
    other = Cell(**values)
    assert response(JSQ, PLAIN, 400, 1, RECORDED) != response(JSQ, other, 400, 1, RECORDED)
    assert other.words() != PLAIN.words()


def test_a_fetch_changes_only_policies_that_bind_late():
    fetching = Cell(*(getattr(PLAIN, name) for name in Cell.__slots__[:-2]), 0.2, 0.0)
    assert response(JSQ, PLAIN, 400, 1, NONE) == response(JSQ, fetching, 400, 1, NONE)
    for late in (Contender("pull", "pull"), Contender("sparrow", "sparrow")):
        assert response(late, PLAIN, 400, 1, NONE).mean < response(late, fetching, 400, 1, NONE).mean


def test_a_ratio_is_of_means_and_its_interval_of_paired_differences():
    best = np.array([0.9, 1.0, 1.1])
    same = Compared(1.2 * best, best, "jsq", 1.05)
    assert (same.ratio, same.half) == pytest.approx((1.2, 0.0))
    assert same.holds is False
    assert Compared(1.2 * best, best, "jsq", 1.25).holds is True
    apart = Compared(best[::-1], best, "jsq", 1.05)
    assert apart.ratio == pytest.approx(1.0)
    assert apart.half > 0.2
    assert apart.holds is None


def test_the_summary_counts_cells_and_takes_the_geometric_mean():
    best = np.array([1.0, 1.01])
    found = [Compared(share * best, best, "jsq", 1.05) for share in (0.5, 2.0)]
    assert summary("mean", found) == "mean: 1 yes, 0 open, 1 no; ratio 1.000 (geometric mean), 0.50 to 2.00"


def test_the_command_prints_a_row_per_cell_without_recorded_sizes(capsys):
    judged.main(["--cells", "3", "--seed", "2", "--seeds", "2", "--tasks", "300"])
    lines = capsys.readouterr().out.splitlines()
    table = [line for line in lines if line.startswith("|")]
    expected = [cell for cell in draw_cells(2, 3) if cell.sizes != "recorded"]
    assert len(table) == 2 + len(expected)
    assert {line.count("|") for line in table} == {16}
    assert [
        line.startswith(f"| {cell.words()} |") for line, cell in zip(table[2:], expected, strict=True)
    ] == [True] * len(expected)
    assert lines[-2].startswith("mean: ")
    assert lines[-1].startswith("p99: ")
