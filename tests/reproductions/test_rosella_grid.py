"""The grid of pulling workers: its rows report the results of the cells, lost cells first."""

import numpy as np
import pytest

from tests.reproductions.turning import why_fixed
from windlass_reproductions.rosella.grid import OURS, RIVALS, CellResult, Place, cell, places, response, rows
from windlass_reproductions.rosella.table import ROSELLA, SPARROW, SpeedSet

SPEEDS = SpeedSet("some", np.array([1.0, 3.0, 1.0, 1.0]))


NOISE = np.array([1.0, 1.02, 0.99])


def cell_result(ours, best, per_job=1, rosella=4.0, sparrow=10.0):
    means = ours * NOISE, best * NOISE
    return CellResult(
        Place(SPEEDS, 0.8, per_job, 1, 0.0, 50.0), *means, "jsq", rosella * NOISE, sparrow * NOISE
    )


@pytest.mark.parametrize(("ours", "holds"), [(0.5, True), (1.05, True), (1.051, False), (2.0, False)])
def test_a_cell_more_than_5_percent_slower_is_lost(ours, holds):
    made = rows([cell_result(1.0, 1.0), cell_result(ours, 1.0, per_job=4)])
    assert [row.holds for row in made[:3]] == [holds, True, holds]
    assert made[0].ours == f"holds in {1 + holds} of 2 cells, fails in {1 - holds}"
    assert [why_fixed(row) for row in made] == [""] * 5
    assert ("4 tasks a job, 1 schedulers" in made[0].note) != holds


def test_cells_without_a_significant_difference_are_undecided():
    place = Place(SPEEDS, 0.8, 1, 1, 0.0, 50.0)
    of = CellResult(place, 1.04 * NOISE, NOISE[::-1].copy(), "jsq", NOISE, NOISE)
    assert [row.holds for row in rows([of])[:2]] == [None, None]


@pytest.mark.parametrize(("rosella", "holds"), [(3.0, True), (4.0, False)])
def test_rosella_is_compared_with_sparrow_for_each_number_of_tasks_per_job(rosella, holds):
    made = rows([cell_result(1.0, 1.0, 1, rosella), cell_result(1.0, 1.0, 16, rosella)])[-2:]
    assert [row.holds for row in made] == [holds, holds]
    assert ["1 tasks" in made[0].what, "16 tasks" in made[1].what] == [True, True]


def test_equal_workers_have_no_row_on_sparrow():
    alike = Place(SpeedSet("alike", np.ones(4)), 0.8, 1, 1, 0.0, 50.0)
    made = rows([CellResult(alike, NOISE, NOISE, "jsq", NOISE, 10.0 * NOISE)])
    assert not [row.what for row in made if "Sparrow" in row.what]


def test_the_grid_covers_all_settings_and_has_no_oracle():
    whole = list(places(quick=False))
    assert {place.per_job for place in whole} == {1, 4, 16}
    assert {place.shocks for place in whole} == {0.0, 50.0, 200.0, 500.0, 2000.0}
    assert len(whole) == len({place.words() for place in whole}) == 4 * 3 * 3 * 5 * 5
    assert len(list(places(quick=True))) == 16
    assert not {"sed", "pss", "ppot", "ppot-ll", "halo"} & {rival.policy for rival in (OURS, *RIVALS)}


def test_a_cell_names_the_best_rival():
    place = Place(SpeedSet("one fast", np.array([1.0, 1.0, 1.0, 5.0])), 0.8, 1, 1, 0.0, 0.0)
    of = cell(place, quick=True)
    assert of.best_policy in {rival.label for rival in RIVALS}
    assert 0.1 < of.ratio < 1.5
    for contender, kept in ((ROSELLA, of.rosella), (SPARROW, of.sparrow)):
        assert kept[1] == response(contender, place, place.seconds(quick=True), 2)
    assert len(of.ours) == len(of.best) == 3
