"""Compute times in the views of live policies: measured ones, or the jobs' estimates."""

import numpy as np
import pytest
from hypothesis import given, settings

from tests.engines.engines import ray_engines
from tests.engines.fake import FakeExecutor
from tests.engines.fake_target import FakeTarget
from tests.engines.test_live import AREA, TICK, TICKS, At, chain, workloads
from tests.fleet.test_durations import Notes, tree
from windlass.drive import drive
from windlass.engines.live.engine import LiveFleet
from windlass.experiment.scenario import make_scenario
from windlass.experiment.worlds.fleet import live as live_world
from windlass.experiment.worlds.fleet.world import FleetWorld
from windlass.model import InputError
from windlass.model.fleet import Fleet, FleetCase, FleetJobs, StageSpec
from windlass.place.policies.in_place import InPlace
from windlass.sim.coupled import SinglePart
from windlass.sim.fleet.part import PlacedFleet


def job_with_estimates(estimate_s=9.0, after=7.0, seconds=2.0):
    """A job with six maps of 2 s and two reducers of 1 s, estimated at 9 s and 7 s."""
    stages = [
        StageSpec(seconds, here=(4, 1, 1), estimate_s=estimate_s),
        StageSpec(seconds / 2, tasks=2, parents=(0,), estimate_s=after),
    ]
    return FleetJobs.of([0.0], [stages])


def durations_of(jobs, estimates, executor=None):
    notes = Notes()
    drive(LiveFleet(AREA, jobs, executor or FakeExecutor(AREA), estimates=estimates), {"place": notes})
    return notes.told


def test_finished_durations_are_used_instead_of_estimates():
    found = durations_of(job_with_estimates(), "finished")
    # At first no task has finished; then maps have, and reducers are estimated like them.
    assert [(now, kind, each, after) for now, _, kind, each, after in found] == [
        (0.0, 0, 1.0, 2.0),
        (2.0, 0, 2.0, 4.0),
        (4.0, 1, 2.0, 0.0),
    ]


def test_estimates_are_used_if_they_are_declared_true():
    found = durations_of(job_with_estimates(), "true")
    assert {(kind, each, after) for _, _, kind, each, after in found} == {(0, 9.0, 14.0), (1, 7.0, 0.0)}


@settings(max_examples=150, deadline=None)
@given(jobs=workloads(sizes=(0.0,), seconds=TICKS))
def test_live_and_simulated_durations_are_equal(jobs):
    simulated = Notes()
    drive(SinglePart(PlacedFleet(FleetCase(AREA, jobs), estimates="finished")), {"place": simulated})
    live = durations_of(jobs, "finished")

    def by_instant(noted):
        # Only the last call at each time counts: the number of calls at one time may differ.
        return {(round(now / TICK), job, kind): rest for now, job, kind, *rest in noted}

    ours, theirs = by_instant(live), by_instant(simulated.told)
    both = ours.keys() & theirs.keys()
    assert {key for key in theirs if key[0] == 0} <= both or not theirs
    for key in both:
        np.testing.assert_allclose(ours[key], theirs[key], rtol=1e-9, err_msg=str(key))


class NotesOf(Notes):
    """A policy that records its views and delegates its decisions."""

    def __init__(self, policy):
        super().__init__()
        self.policy = policy

    def decide(self, view):
        super().decide(view)
        return self.policy.decide(view)


def test_read_time_is_not_part_of_the_compute_time():
    # The map reads for 1 s from the first site, and computes for 2 s at the second.
    stages = [
        StageSpec(2.0, here=(1, 0, 0), task_bytes=1e6, estimate_s=9.0),
        StageSpec(1.0, tasks=1, parents=(0,), estimate_s=9.0),
    ]
    notes = NotesOf(At([1, 1]))
    engine = LiveFleet(AREA, FleetJobs.of([0.0], [stages]), FakeExecutor(AREA), estimates="finished")
    drive(engine, {"place": notes})
    assert [(now, each) for now, _, kind, each, _ in notes.told if kind == 1] == [(3.0, 2.0)]


def test_a_run_time_stays_known_when_its_output_is_lost():
    # The map's output is lost with site 1 after it was read, and its reader's with site 2: both run again.
    executor = FakeExecutor(AREA, deaths=[(2.5, 0), (3.5, 1)], notice=0.1)
    notes = NotesOf(At([0, 1, 2]))
    drive(LiveFleet(AREA, chain([1.5, 1.0, 5.0]), executor, estimates="finished"), {"place": notes})
    of_map = [(now, each) for now, _, kind, each, _ in notes.told if kind == 0]
    assert of_map[0] == (0.0, 1.0)
    assert len(of_map) > 1
    assert {each for now, each in of_map if now > 0.0} == {1.5}


@pytest.mark.parametrize(("estimates", "works"), [("finished", {2.0}), ("true", {9.0})])
def test_the_dispatch_policy_gets_the_same_durations(estimates, works):
    completions = []

    class First:
        def arrived(self, now): ...
        def completed(self, worker, work, seconds):
            completions.append((work, seconds))

        def choose(self, lengths):
            return int(np.argmin(lengths))

    jobs = FleetJobs.of([0.0], [[StageSpec(2.0, here=(6, 0, 0), estimate_s=9.0)]])
    engine = LiveFleet(
        AREA, jobs, FakeExecutor(AREA, nodes=2), dispatch=lambda workers: First(), estimates=estimates
    )
    drive(engine, {"place": InPlace()})
    assert {work for work, _ in completions} == works
    assert {seconds for _, seconds in completions} == {2.0}


@pytest.mark.matrix(0.01)
@pytest.mark.parametrize(
    ("given", "expected"),
    [({}, "finished"), ({"estimates": "finished"}, "finished"), ({"estimates": True}, "true")],
)
def test_a_scenario_s_estimates_apply_live_as_simulated(monkeypatch, given, expected):
    estimates_given = []

    def noted(*args, **more):
        estimates_given.append(more["estimates"])
        return run_live(*args, **more)

    run_live = live_world.run_live
    monkeypatch.setattr(live_world, "run_live", noted)
    world, setting = FleetWorld(), make_scenario(tree(**given)).variants[0].setting
    workload = world.workload(setting, 1)
    world.live.run(setting, 1, workload, FakeTarget(), lambda share: None)
    assert estimates_given == [expected]


def test_sizes_in_seconds_are_an_error_live():
    sites = [{"name": name, "slots": 2, "up": 1e6, "down": 1e6} for name in "ab"]
    given = {
        "world": "fleet",
        "cluster": {"sites": sites},
        "workload": {"fixed": {"jobs": 2}},
        "policies": {"order": "swag"},
        "estimates": {"sizes": "seconds"},
    }
    world, setting = FleetWorld(), make_scenario(given).variants[0].setting
    with pytest.raises(InputError, match=r"^estimates\.sizes: 'seconds' is for the simulator"):
        world.live.describe(setting, world.workload(setting, 1), FakeTarget())


@pytest.mark.slow
def test_measured_durations_are_used_on_ray():
    from windlass.engines.ray.executor import RayExecutor

    fleet = Fleet.of([2, 1, 1], [1e7] * 3, [1e7] * 3, names=("a", "b", "c"))
    jobs = job_with_estimates(estimate_s=900.0, after=700.0, seconds=0.5)
    notes = Notes()
    with ray_engines() as engines:
        engines.cluster(fleet)
        run = drive(LiveFleet(fleet, jobs, RayExecutor(fleet), estimates="finished"), {"place": notes})
    computed, maps = run.computed - run.read, jobs.shuffles[jobs.stage] == 0
    assert notes.told[0][2:] == (0, 1.0, 2.0)
    # When reducers may start, all maps have ended, and no reducer has.
    first = next(noted for noted in notes.told if noted[2] == 1)
    assert first[3] == pytest.approx(computed[maps].mean())
    assert all(each < 100.0 for _, _, _, each, _ in notes.told)
