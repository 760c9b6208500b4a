"""Fleets and jobs over their sites as columns: their values, and rejected input."""

import math

import numpy as np
import pytest

from tests.model.test_bounds import assert_rejected
from windlass.model.fleet import Fleet, FleetCase, FleetJobs, StageSpec, fixed_table
from windlass.model.fleet.fixed import fixed_jobs
from windlass.model.timetable import SiteTimetable


def test_fleets_have_defaults_and_are_validated():
    plain = Fleet.of([1, 0])
    assert (plain.names, plain.linked, len(plain)) == (("site-1", "site-2"), False, 2)
    linked = Fleet.of([1, 2], [3.0, 4.0], [5.0, 0.0])
    assert linked.linked
    assert np.isinf(linked.pair).all()
    assert (linked.price == 0.0).all()
    given = Fleet.of([1, 2], [3, 4], [5, 0], ["a", "b"], [[9, 8], [7, 6]], [[0, 1], [2, 0]])
    assert (given.pair.tolist(), given.price.tolist()) == ([[9, 8], [7, 6]], [[0, 1], [2, 0]])
    assert_rejected(lambda: Fleet.of([]), "slots has shape (0,)")
    assert_rejected(lambda: Fleet.of([[1]]), "slots has shape (1, 1)")
    assert_rejected(lambda: Fleet.of([1, -1]), "slots: -1 is not a number of 0 or more")
    assert_rejected(lambda: Fleet.of([1], [2.0], []), "down has shape (0,), expected (1,) for 1 sites")
    assert_rejected(lambda: Fleet.of([1], [], [2.0]), "up has shape (0,)")
    assert_rejected(lambda: Fleet.of([1], [-2.0], [1.0]), "up: -2.0")
    assert_rejected(lambda: Fleet.of([1], [1.0], [1.0], pair=[[1.0, 1.0]]), "pair has shape (1, 2)")
    assert_rejected(lambda: Fleet.of([1, 1], names=["a"]), "slots has shape (2,), expected (1,)")
    assert_rejected(lambda: Fleet.of([1, 1, 1], names=["a", "b", "b"]), "sites: 'b' appears 2 times")


def test_stages_become_columns():
    first = [
        StageSpec(2.0, (0, 3), task_bytes=5.0),
        StageSpec(4.0, (1, 1), ratio=0.5, estimate_s=9.0),
        StageSpec(1.0, tasks=2, parents=(0, 1)),
        StageSpec(3.0, tasks=1, parents=(0, 2)),
    ]
    factor, size = np.arange(1.0, 10.0), np.full(9, 2.0)
    jobs = FleetJobs.of([1.0, 1.0], [first, [StageSpec(7.0, (1, 0))]], factor, size, notes=("said",))
    assert (len(jobs), jobs.notes, jobs.homes) == (2, ("said",), False)
    assert jobs.job.tolist() == [0, 0, 0, 0, 1]
    assert jobs.tasks.tolist() == [3, 2, 2, 1, 1]
    assert jobs.first.tolist() == [0, 3, 5, 7, 8, 9]
    assert jobs.shuffles.tolist() == [0, 0, 1, 1, 0]
    assert jobs.task_s.tolist() == [2.0, 4.0, 1.0, 3.0, 7.0]
    assert jobs.estimate_s.tolist() == [2.0, 9.0, 1.0, 3.0, 7.0]
    assert jobs.ratio.tolist() == [1.0, 0.5, 1.0, 1.0, 1.0]
    assert jobs.task_bytes.tolist() == [5.0, 0.0, 0.0, 0.0, 0.0]
    assert jobs.parents.tolist() == [0, 0, 2, 2, 0]
    assert jobs.child_at.tolist() == [0, 2, 3, 4, 4, 4]
    assert jobs.children.tolist() == [2, 3, 2, 3]
    assert jobs.part0.tolist() == [0, 1, 3, 4, 5, 6]
    assert jobs.site.tolist() == [1, 0, 1, -1, -1, 0]
    assert jobs.task0.tolist() == [0, 3, 4, 5, 7, 8, 9]
    means = [2.0] * 3 + [4.0] * 2 + [1.0] * 2 + [3.0, 7.0]
    assert jobs.duration.tolist() == [2 * mean * at for at, mean in enumerate(means, start=1)]
    assert jobs.stage.tolist() == [0, 0, 0, 1, 1, 2, 2, 3, 4]
    assert jobs.home.tolist() == [1, 1, 1, 0, 1, -1, -1, -1, 0]
    assert (jobs.job_tasks.tolist(), jobs.stage0.tolist()) == ([8, 1], [0, 4, 5])
    assert jobs.here(2).tolist() == [[0, 3], [1, 1], [0, 0], [0, 0], [1, 0]]
    assert jobs.error.tolist() == [1.0, 1.0]
    plain = FleetJobs.of([0.0], [first])
    assert plain.duration.tolist() == means[:8]
    assert plain.size.tolist() == [1.0] * 8


MAP = StageSpec(1.0, (1, 0))


@pytest.mark.parametrize(
    ("submit", "jobs", "message"),
    [
        ([], [], "submit has 0 times for 0 jobs"),
        ([0.0], [[MAP], [MAP]], "submit has 1 times for 2 jobs"),
        ([1.0, 0.0], [[MAP], [MAP]], "ascending order"),
        ([math.inf], [[MAP]], "finite times"),
        ([0.0, 0.0], [[MAP], []], "job 2 has no stages"),
        ([0.0], [[MAP, StageSpec(1.0, (1,))]], "job 1, stage 2: here has 1 sites, expected 2"),
        ([0.0], [[StageSpec(-1.0, (1, 0))]], "task_s is -1.0"),
        ([0.0], [[StageSpec(1.0, (1, 0), ratio=math.inf)]], "ratio is inf"),
        ([0.0], [[StageSpec(1.0, (1, 0), task_bytes=-1.0)]], "task_bytes is -1.0"),
        ([0.0], [[StageSpec(1.0, (2, -1))]], "here is (2, -1), expected 0 or more"),
        ([0.0], [[StageSpec(1.0, (0, 0))]], "has no tasks"),
        ([0.0], [[MAP, StageSpec(1.0, (1, 0), parents=(0,))]], "expected either input"),
        ([0.0], [[StageSpec(1.0, tasks=1)]], "expected either input"),
        ([0.0], [[MAP, StageSpec(1.0, tasks=1, parents=(1,))]], "job 1, stage 2: parents are (1,)"),
        ([0.0], [[MAP, StageSpec(1.0, tasks=1, parents=(-1,))]], "parents are (-1,)"),
    ],
)
def test_stages_out_of_bounds_are_rejected(submit, jobs, message):
    assert_rejected(lambda: FleetJobs.of(submit, jobs), message)


def test_jobs_fixed_to_sites_become_columns():
    seconds = [1.0, 3.0, 2.0, 5.0, 4.0, 4.0]
    jobs = fixed_table([0, 2], [[2, 0, 1], [0, 3, 0]], seconds, error=[1.0, 2.0], notes=("said",))
    assert jobs.duration.tolist() == [3.0, 1.0, 2.0, 5.0, 4.0, 4.0]
    assert (jobs.site.tolist(), jobs.part0.tolist(), jobs.task0.tolist()) == (
        [0, 2, 1],
        [0, 2, 3],
        [0, 2, 3, 6],
    )
    assert jobs.task_s.tolist() == pytest.approx([2.0, 13 / 3])
    assert jobs.estimate_s.tolist() == pytest.approx([2.0, 26 / 3])
    assert (jobs.homes, jobs.notes, jobs.tasks.tolist()) == (True, ("said",), [3, 3])
    rough = fixed_table([0], [[3]], [1.0, 3.0, 2.0], expected=[9.0, 1.0, 5.0])
    assert rough.duration.tolist() == [1.0, 2.0, 3.0]
    assert rough.error.tolist() == [1.0]
    assert_rejected(
        lambda: fixed_table([0], [[1, 1]], [1.0]), "duration has shape (1,), expected (2,), one per task"
    )
    assert_rejected(lambda: fixed_table([0], [[1]], [1.0], expected=[1.0, 2.0]), "expected has shape (2,)")
    assert_rejected(
        lambda: fixed_table([0, 1], [[1]], [1.0]), "subjobs has shape (1, 1), expected (2, sites)"
    )
    assert_rejected(lambda: fixed_table([0], [1], [1.0]), "subjobs has shape (1,)")
    assert_rejected(lambda: fixed_table([0], [[1.0]], [1.0]), "subjobs holds float64")
    assert_rejected(lambda: fixed_table([0], [[2, -1]], [1.0]), "subjobs[0, 1] is -1")
    assert_rejected(lambda: fixed_table([0, 1], [[1], [0]], [1.0]), "subjobs[1] is all 0")
    assert_rejected(lambda: fixed_table([1, 0], [[1], [1]], [1.0, 1.0]), "submit[1] is before submit[0]")
    assert_rejected(lambda: fixed_table([math.inf], [[1]], [1.0]), "submit[0] is inf, expected a finite time")
    assert_rejected(
        lambda: fixed_table([0], [[1]], [-1.0]), "duration[0] is -1.0, expected a time of 0 s or more"
    )
    none = np.empty(0, np.int64)
    assert_rejected(lambda: fixed_jobs([], none, none, none, []), "workload: no jobs")


def test_jobs_and_timetables_that_do_not_fit_the_fleet_are_rejected():
    jobs = fixed_table([0], [[0, 1]], [1.0])
    assert len(FleetCase(Fleet.of([0, 1]), jobs).timetable) == 0
    assert_rejected(lambda: FleetCase(Fleet.of([1]), jobs), "site[0] is 1, expected a site's number, below 1")
    assert_rejected(lambda: FleetCase(Fleet.of([1, 0]), jobs), "slots[1] is 0, but the site has tasks")
    assert FleetCase(Fleet.of([1, 0], [1, 1], [1, 1]), jobs).fleet.linked
    one = np.ones(1)
    table = SiteTimetable(one, np.array([2]), one, one, one)
    assert_rejected(lambda: FleetCase(Fleet.of([1, 1]), jobs, table), "timetable: site[0] is 2")
