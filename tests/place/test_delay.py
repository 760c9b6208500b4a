"""Delay scheduling: against a plain simulation, and by hand."""

import numpy as np
import pytest

from tests.place import plain_delay
from tests.place.test_plain import drawn_view
from windlass.model import InputError
from windlass.model.fleet import Fleet, FleetCase, FleetJobs, StageSpec
from windlass.place.policies.delay_scheduling import DelayScheduling
from windlass.place.policies.in_place import InPlace
from windlass.place.view import PlaceView, Ready, Sites
from windlass.sim.fleet import run_placed


def drawn(seed):
    """Slots and a few jobs, of unlike times, that come while others run."""
    rng = np.random.default_rng([16, seed])
    places, count = int(rng.integers(2, 6)), int(rng.integers(1, 7))
    slots = rng.integers(1, 7, places).tolist()
    submit = np.sort(rng.uniform(0.0, 12.0, count)).tolist()
    here = rng.integers(0, 14, (count, places))
    here[here.sum(axis=1) == 0, 0] = 3
    times = rng.uniform(0.3, 7.0, count).tolist()
    return slots, [plain_delay.Job(*job) for job in zip(submit, here.tolist(), times, strict=True)]


@pytest.mark.matrix(0)
@pytest.mark.parametrize("wait", [0.0, 3.0, 5.0])
@pytest.mark.parametrize("restarts", [True, False])
def test_tasks_start_as_in_a_plain_simulation(wait, restarts):
    left = 0
    for seed in range(60):
        slots, jobs = drawn(seed)
        stages = [[StageSpec(job.task_s, tuple(job.here))] for job in jobs]
        links = [1e9] * len(slots)
        table = FleetJobs.of([job.submit for job in jobs], stages)
        ran = run_placed(FleetCase(Fleet.of(slots, links, links), table), DelayScheduling(wait, restarts))
        ends = plain_delay.run(slots, jobs, wait, restarts)
        # What is kept of a stage is to a millionth of a second.
        np.testing.assert_allclose(ran.end, ends, atol=1e-5)
        for number, job in enumerate(jobs):
            own = ran.jobs.job[ran.jobs.stage] == number
            found = sorted(zip(ran.begun[own].tolist(), ran.site[own].tolist(), strict=True))
            np.testing.assert_allclose(found, sorted(job.begun), atol=1e-5)
        left += int((ran.source != ran.site).sum())
    assert left > 100


def test_an_infinite_wait_equals_in_place():
    slots, jobs = drawn(4)
    table = FleetJobs.of(
        [job.submit for job in jobs], [[StageSpec(job.task_s, tuple(job.here))] for job in jobs]
    )
    case = FleetCase(Fleet.of(slots, [1e9] * len(slots), [1e9] * len(slots)), table)
    np.testing.assert_array_equal(run_placed(case, DelayScheduling(1e6)).end, run_placed(case, InPlace()).end)


def test_before_the_wait_ends_tasks_start_as_in_place():
    shuffled = 0
    for seed in range(40):
        view = drawn_view(seed)
        found = DelayScheduling(1.0).decide(view).starts.tolist()
        assert found == InPlace().decide(view).starts.tolist(), seed
        shuffled += any(source < 0 for _, source, _, _ in found)
    assert shuffled > 10
    # Tasks of a shuffle are dealt as its data is, however narrow the links of the site that has most of it.
    sites = Sites.of(slots=[20, 20, 20], up=[1e7, 1e9, 1e9], down=[1e7, 1e9, 1e9])
    ready = Ready.of(1, 1.0, [[0, 0, 0]], data=[[5e9, 3e9, 2e9]], waiting=10)
    starts = DelayScheduling().decide(PlaceView(0.0, sites, ready)).starts
    assert starts.tolist() == [[0, -1, 0, 5], [0, -1, 1, 3], [0, -1, 2, 2]]


def test_restarts_control_whether_a_local_start_resets_the_wait():
    fleet = Fleet.of([1, 8], [1e9, 1e9], [1e9, 1e9])
    case = FleetCase(fleet, FleetJobs.of([0.0], [[StageSpec(2.0, (6, 0), 0.0)]]))
    # A task of 2 s ends and the next begins before 3 s are over: no task ever leaves.
    assert run_placed(case, DelayScheduling(3.0)).end[0] == 12.0
    # The wait is over at 3 s, when tasks have begun at 0 and 2 s; the other four leave together.
    assert run_placed(case, DelayScheduling(3.0, restarts=False)).end[0] == 5.0
    # With a wait of 1 s five leave after it, and none needs to wait again.
    assert run_placed(case, DelayScheduling(1.0)).end[0] == 3.0


def test_shuffles_leave_only_to_sites_that_can_read():
    sites = Sites.of(slots=[2, 4, 4], up=[1e9, 1e9, 0.0], down=[1e9, 0.0, 1e9], free=[0, 4, 4])
    ready = Ready.of(1, 1.0, [[0, 0, 0]], data=[[8e9, 0.0, 0.0]], waiting=5)
    late = PlaceView(4.0, sites, ready)
    # Site 1 has no downlink. Data of a site without an uplink must not be needed elsewhere.
    assert DelayScheduling().decide(late).starts.tolist() == [[0, -1, 2, 4]]
    stuck = ready._replace(data=np.array([[8e9, 0.0, 1e9]]))
    assert DelayScheduling().decide(PlaceView(4.0, sites, stuck)).starts[:, 2].tolist() == [2]
    assert len(DelayScheduling().decide(PlaceView(2.0, sites, ready)).starts) == 0


@pytest.mark.parametrize(
    ("parameters", "problem"),
    [({"wait": -1.0}, "wait is -1"), ({"wait": float("inf")}, "wait is inf"), ({"restarts": 2}, "restarts")],
)
def test_bad_parameters_are_named(parameters, problem):
    with pytest.raises(InputError, match=problem):
        DelayScheduling(**parameters)
