"""Placements over a fleet: its log is valid under every policy, and small cases come out as by hand."""

import numpy as np
import pytest

from tests.place import validator
from windlass.experiment.workloads.drops import draw_drops
from windlass.experiment.workloads.sites import SiteModel, draw_sites
from windlass.experiment.workloads.stages import JobModel, draw_jobs
from windlass.model import InputError, PolicyError
from windlass.model.fleet import Fleet, FleetCase, FleetJobs, StageSpec
from windlass.model.timetable import SiteTimetable
from windlass.place import POLICIES
from windlass.place.view import Placement
from windlass.sim.coupled import SinglePart
from windlass.sim.fleet import run_placed
from windlass.sim.fleet.part import PlacedFleet
from windlass.sim.links import max_min_rates

MOVES = ("centralised", "tetrium-i-data")


def simulate(fleet, jobs, policy, timetable=None, **setting):
    return run_placed(FleetCase(fleet, jobs, timetable or SiteTimetable.none()), policy, **setting)


def drawn(seed, jobs=15, sites=6):
    fleet = draw_sites(SiteModel(sites=sites, slots=(2, 80)), np.random.default_rng(seed))
    return fleet, draw_jobs(JobModel(jobs=jobs, tasks=40, load=1.5), fleet, np.random.default_rng(seed + 1))


def make(name, **parameters):
    return POLICIES.make(name, np.random.default_rng(1), **parameters)


@pytest.mark.matrix
@pytest.mark.parametrize("name", POLICIES.names())
@pytest.mark.parametrize("look_every", [0.0, 0.5])
def test_the_log_is_valid(name, look_every):
    fleet, jobs = drawn(3)
    run = simulate(fleet, jobs, make(name), look_every=look_every, decide_every=0.5, log=True)
    validator.check(run, exact=look_every == 0.0, moves=name in MOVES)


@pytest.mark.matrix(0.01)
@pytest.mark.parametrize("name", POLICIES.names())
def test_the_log_is_valid_where_resources_drop_and_return(name):
    fleet, jobs = drawn(5)
    timetable = draw_drops(fleet, 0.6, 2, 15.0, float(jobs.submit[-1]) + 100, np.random.default_rng(2))
    run = simulate(fleet, jobs, make(name), timetable=timetable, log=True)
    validator.check(run, timetable, moves=name in MOVES)


@pytest.mark.matrix(0.01)
@pytest.mark.parametrize("name", ["tetrium", "in-place", "tetris"])
def test_limits_of_pairs_slow_the_run(name):
    fleet, jobs = drawn(7)
    pair = np.random.default_rng(1).uniform(2e6, 2e7, (6, 6))
    slow = Fleet.of(fleet.slots, fleet.up, fleet.down, pair=pair)
    run = simulate(slow, jobs, make(name), log=True)
    validator.check(run)
    assert run.response.mean() > simulate(fleet, jobs, make(name)).response.mean()


@pytest.mark.matrix(0)
def test_the_validator_finds_too_many_tasks():
    fleet, jobs = drawn(3)
    run = simulate(fleet, jobs, make("in-place"), log=True)
    run.begun[: run.fleet.slots.max() + 1] = run.begun[0]
    run.site[: run.fleet.slots.max() + 1] = np.argmin(run.fleet.slots)
    with pytest.raises(AssertionError):
        validator.check(run)


def test_the_same_seed_gives_the_same_run():
    first, second = (simulate(*drawn(9), make("tetrium")) for _ in range(2))
    assert first.end.tobytes() == second.end.tobytes()


def test_two_reads_share_an_uplink():
    fleet = Fleet.of(slots=[0, 1, 1], up=[1e6, 1e6, 1e6], down=[1e6, 1e6, 0.25e6])
    jobs = FleetJobs.of([0.0], [[StageSpec(1.0, here=(2, 0, 0), task_bytes=1e6)]])

    class Spread:
        name = "spread"

        def decide(self, view):
            starts = np.array([[0, 0, 1, 1], [0, 0, 2, 1]])
            return Placement(starts, np.zeros(2, np.int64), ("by hand",))

    run = simulate(fleet, jobs, Spread(), log=True)
    # The second has 0.25 MB/s of its own downlink, the first the other 0.75 MB/s of the uplink.
    np.testing.assert_allclose(np.sort(run.read), [1 / 0.75, 4.0], rtol=1e-9)
    validator.check(run)


def test_a_slot_that_returns_is_used():
    fleet = Fleet.of(slots=[2, 0], up=[1, 1], down=[1, 1])
    jobs = FleetJobs.of([0.0], [[StageSpec(10.0, here=(4, 0))]])
    twice = np.array([5.0, 35.0]), np.array([0, 0]), np.array([1, 2]), np.ones(2), np.ones(2)
    timetable = SiteTimetable(*twice)
    run = simulate(fleet, jobs, make("in-place"), timetable=timetable)
    assert np.sort(run.computed).tolist() == [10, 10, 20, 30]


def test_a_policy_is_called_at_its_wake_time_without_other_events():
    fleet = Fleet.of(slots=[1, 1], up=[1e6, 1e6], down=[1e6, 1e6])
    jobs = FleetJobs.of([0.0], [[StageSpec(100.0, here=(2, 0), task_bytes=1e6)]])
    run = simulate(fleet, jobs, make("in-place", delay=5.0), log=True)
    assert np.sort(run.begun).tolist() == [0.0, 5.0]
    validator.check(run)


def test_a_wake_time_in_the_past_is_rejected():
    fleet = Fleet.of(slots=[1], up=[1], down=[1])

    class Hasty:
        name = "hasty"

        def decide(self, view):
            return Placement(np.array([[0, 0, 0, 1]]), np.zeros(1, np.int64), ("now",), wake=view.now)

    with pytest.raises(PolicyError, match=r"'hasty' wake is 0\.0 s, expected a time after now"):
        simulate(fleet, FleetJobs.of([0.0], [[StageSpec(1.0, here=(2,))]]), Hasty())


def brute_force_rates(weight, up, down, pair):
    """Raise all rates together in small equal steps; flows on a full link stay."""
    rate = np.zeros_like(weight)
    moving = weight > 0
    step = min(up.max(), down.max()) / 20000
    while moving.any():
        trial = rate + step * moving
        used = trial * weight
        full_up, full_down = used.sum(1) > up, used.sum(0) > down
        stuck = moving & (full_up[:, None] | full_down[None, :] | (used > pair))
        moving &= ~stuck
        rate += step * moving
    return rate


@pytest.mark.matrix
@pytest.mark.parametrize("seed", range(8))
def test_rates_are_max_min_fair(seed):
    rng = np.random.default_rng(seed)
    n = 4
    weight = rng.integers(0, 4, (n, n)) * (1 - np.eye(n))
    up, down = rng.uniform(1, 10, (2, n))
    pair = rng.uniform(0.5, 8, (n, n)) if seed % 2 else np.full((n, n), np.inf)
    ours = max_min_rates(weight, up, down, pair)
    np.testing.assert_allclose(ours, brute_force_rates(weight, up, down, pair), atol=0.02)
    assert ((ours * weight).sum(axis=1) <= up * (1 + 1e-9)).all()
    assert ((ours * weight).sum(axis=0) <= down * (1 + 1e-9)).all()


@pytest.mark.parametrize(
    ("starts", "problem"),
    [
        ([[0, 0, 0, 9]], "free slots"),
        ([[0, 1, 0, 1]], "number that wait there"),
        ([[0, 0, 7, 1]], "no such site"),
        ([[0, 0, 1, 1]], "no link"),
    ],
)
def test_a_bad_answer_names_the_policy(starts, problem):
    fleet = Fleet.of(slots=[2, 2], up=[0, 0], down=[0, 0])
    jobs = FleetJobs.of([0.0], [[StageSpec(1.0, here=(20, 0), task_bytes=1.0)]])

    class Bad:
        name = "bad"

        def decide(self, view):
            return Placement(np.array(starts), np.zeros(1, np.int64), ("no reason",))

    with pytest.raises(PolicyError, match=f"'bad'.*{problem}"):
        simulate(fleet, jobs, Bad())


@pytest.mark.parametrize(
    ("starts", "moves"),
    [
        # The first of each would be right by itself.
        ([[0, 0, 0, 2], [0, 0, 0, 9]], []),
        ([[0, 0, 0, 1], [1, -1, 7, 1]], []),
        ([[0, 0, 0, 9]], [[0, 0, 1, 3]]),
        ([[0, 0, 0, 1]], [[0, 0, 1, 3], [1, -1, 1, 1]]),
    ],
)
def test_a_rejected_answer_has_no_effect(starts, moves):
    fleet = Fleet.of(slots=[4, 2], up=[9, 9], down=[9, 9])
    jobs = FleetJobs.of([0.0, 0.0], [[StageSpec(1.0, here=(here, 0), task_bytes=1.0)] for here in (20, 3)])
    part = PlacedFleet(FleetCase(fleet, jobs))
    engine = SinglePart(part)
    assert engine.wait() == "place"
    engine.view("place")
    before = [column.tobytes() for column in part._state if isinstance(column, np.ndarray)]
    answer = Placement(
        np.array(starts),
        np.zeros(len(starts), np.int64),
        ("no reason",),
        moves=np.array(moves, np.int64).reshape(-1, 4),
        wake=99.0,
        largest_first=True,
    )
    with pytest.raises(PolicyError, match="returned"):
        engine.act("place", answer)
    state = part._state
    state.stages["largest"] = 0
    assert [column.tobytes() for column in state if isinstance(column, np.ndarray)] == before
    # It is still due, and a right answer is taken.
    assert engine.wait() == "place"
    engine.act("place", Placement(np.array([[0, 0, 0, 4]]), np.zeros(1, np.int64), ("now",)))
    assert state.sites["free"].tolist() == [0, 2]


def test_unreadable_data_is_an_error():
    fleet = Fleet.of(slots=[0, 2], up=[0, 1], down=[1, 1])
    jobs = FleetJobs.of([0.0], [[StageSpec(1.0, here=(1, 1), task_bytes=1.0)]])
    with pytest.raises(PolicyError, match="waiting for ever"):
        simulate(fleet, jobs, make("tetrium"))


@pytest.mark.parametrize(
    ("stages", "problem"),
    [
        ([StageSpec(-1.0, here=(1,))], "task_s is -1"),
        ([StageSpec(float("nan"), here=(1,))], "task_s is nan"),
        ([StageSpec(1.0, here=(0,))], "has no tasks"),
        ([StageSpec(1.0, here=(1,)), StageSpec(1.0, tasks=2, parents=(1,))], "parents are"),
        ([StageSpec(1.0, here=(1,)), StageSpec(1.0, tasks=2)], "either input"),
    ],
)
def test_bad_jobs_are_named(stages, problem):
    with pytest.raises(InputError, match=problem):
        FleetJobs.of([0.0], [stages])
