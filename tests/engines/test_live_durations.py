"""What live policies are told of compute times: what was measured, unless the jobs are to be believed."""

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


def believed(says=9.0, after=7.0, seconds=2.0):
    """A job whose six maps take 2 s, and its two reducers 1 s, and which says 9 s and 7 s."""
    stages = [
        StageSpec(seconds, here=(4, 1, 1), estimate_s=says),
        StageSpec(seconds / 2, tasks=2, parents=(0,), estimate_s=after),
    ]
    return FleetJobs.of([0.0], [stages])


def told(jobs, estimates, executor=None):
    notes = Notes()
    drive(LiveFleet(AREA, jobs, executor or FakeExecutor(AREA), estimates=estimates), {"place": notes})
    return notes.told


def test_what_has_finished_is_told_and_not_what_jobs_say():
    found = told(believed(), "finished")
    # Nothing has finished at first; then maps have, and the reducers are thought to be like them.
    assert [(now, kind, each, after) for now, _, kind, each, after in found] == [
        (0.0, 0, 1.0, 2.0),
        (2.0, 0, 2.0, 4.0),
        (4.0, 1, 2.0, 0.0),
    ]


def test_what_jobs_say_is_told_where_it_is_to_be_true():
    found = told(believed(), "true")
    assert {(kind, each, after) for _, _, kind, each, after in found} == {(0, 9.0, 14.0), (1, 7.0, 0.0)}


@settings(max_examples=150, deadline=None)
@given(jobs=workloads(sizes=(0.0,), seconds=TICKS))
def test_live_and_simulated_tell_the_same_of_the_same_finished_tasks(jobs):
    simulated = Notes()
    drive(SinglePart(PlacedFleet(FleetCase(AREA, jobs), estimates="finished")), {"place": simulated})
    live = told(jobs, "finished")

    def by_instant(noted):
        # The last word at each instant: how often an engine asks within one is its own affair.
        return {(round(now / TICK), job, kind): rest for now, job, kind, *rest in noted}

    ours, theirs = by_instant(live), by_instant(simulated.told)
    both = ours.keys() & theirs.keys()
    assert {key for key in theirs if key[0] == 0} <= both or not theirs
    for key in both:
        np.testing.assert_allclose(ours[key], theirs[key], rtol=1e-9, err_msg=str(key))


class NotesOf(Notes):
    """Another policy, and what it was told."""

    def __init__(self, policy):
        super().__init__()
        self.policy = policy

    def decide(self, view):
        super().decide(view)
        return self.policy.decide(view)


def test_reading_is_no_part_of_a_compute_time():
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
    # The map's output dies with site 1 when it has been read, and its reader's with site 2: both run again.
    executor = FakeExecutor(AREA, deaths=[(2.5, 0), (3.5, 1)], notice=0.1)
    notes = NotesOf(At([0, 1, 2]))
    drive(LiveFleet(AREA, chain([1.5, 1.0, 5.0]), executor, estimates="finished"), {"place": notes})
    of_map = [(now, each) for now, _, kind, each, _ in notes.told if kind == 0]
    assert of_map[0] == (0.0, 1.0)
    assert len(of_map) > 1
    assert {each for now, each in of_map if now > 0.0} == {1.5}


@pytest.mark.parametrize(("estimates", "works"), [("finished", {2.0}), ("true", {9.0})])
def test_who_chooses_among_workers_hears_the_same(estimates, works):
    heard = []

    class First:
        def arrived(self, now): ...
        def completed(self, worker, work, seconds):
            heard.append((work, seconds))

        def choose(self, lengths):
            return int(np.argmin(lengths))

    jobs = FleetJobs.of([0.0], [[StageSpec(2.0, here=(6, 0, 0), estimate_s=9.0)]])
    engine = LiveFleet(
        AREA, jobs, FakeExecutor(AREA, nodes=2), dispatch=lambda workers: First(), estimates=estimates
    )
    drive(engine, {"place": InPlace()})
    assert {work for work, _ in heard} == works
    assert {seconds for _, seconds in heard} == {2.0}


@pytest.mark.parametrize(
    ("given", "expected"),
    [({}, "finished"), ({"estimates": "finished"}, "finished"), ({"estimates": True}, "true")],
)
def test_a_scenario_means_the_same_live_as_simulated(monkeypatch, given, expected):
    asked = []

    def noted(*args, **more):
        asked.append(more["estimates"])
        return run_live(*args, **more)

    run_live = live_world.run_live
    monkeypatch.setattr(live_world, "run_live", noted)
    world, setting = FleetWorld(), make_scenario(tree(**given)).variants[0].setting
    workload = world.workload(setting, 1)
    world.live.run(setting, 1, workload, FakeTarget(), lambda share: None)
    assert asked == [expected]


def test_sizes_in_seconds_are_refused_live():
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
def test_on_ray_what_was_measured_is_told():
    from windlass.engines.ray.executor import RayExecutor

    fleet = Fleet.of([2, 1, 1], [1e7] * 3, [1e7] * 3, names=("a", "b", "c"))
    jobs = believed(says=900.0, after=700.0, seconds=0.5)
    notes = Notes()
    with ray_engines() as engines:
        engines.cluster(fleet)
        run = drive(LiveFleet(fleet, jobs, RayExecutor(fleet), estimates="finished"), {"place": notes})
    computed, maps = run.computed - run.read, jobs.shuffles[jobs.stage] == 0
    assert notes.told[0][2:] == (0, 1.0, 2.0)
    # All maps have ended when reducers may begin, and no reducer has.
    first = next(noted for noted in notes.told if noted[2] == 1)
    assert first[3] == pytest.approx(computed[maps].mean())
    assert all(each < 100.0 for _, _, _, each, _ in notes.told)
