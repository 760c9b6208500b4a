"""Runs on instances equal a plain simulation that recomputes everything at each instant."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.oracles.elastic import Plain
from tests.sim.instances import SCALERS, Case, part_of
from windlass.drive import drive
from windlass.model.instances import InstanceType
from windlass.model.vectors import VectorJobs
from windlass.scale import Totals, embed, idle_time
from windlass.sim.coupled import SinglePart
from windlass.sim.instances.fleet import InstanceFleet, Interruptions
from windlass.sim.ledger import Ledger

#: Unequal in size, price, time to start and number; the last two differ in price alone.
TYPES = (
    InstanceType("small", cores=4, memory=8, price=1.0, launch=30.0, most=4),
    InstanceType("large", cores=8, memory=32, price=1.9, launch=45.0, most=3),
    InstanceType("gpu", gpus=2, cores=8, memory=32, price=9.0, launch=60.0, most=4),
)
PLAIN = (
    InstanceType("little", cores=2.5, memory=8, price=1.0, launch=10.0, most=3),
    InstanceType("wide", cores=6, memory=9, price=3.5, launch=25.0, most=5),
)


class Varied:
    """Draws totals from none to as many as there may be, and asks for all of them from an instant on.

    It asks for no fewer than before in some types, so that launches and removals come at one answer.
    """

    name = "varied"

    def __init__(self, seed, until):
        self.rng, self.until = np.random.default_rng(seed), until
        self.idle = float(self.rng.choice([0.0, 5.0, 7.0, 50.0]))
        self.views = []

    def decide(self, view):
        self.views.append(view)
        most = np.array([kind.most for kind in view.types])
        drawn = most if view.now > self.until else self.rng.integers(0, most + 1)
        return Totals(tuple(drawn.tolist()), tuple(f"{view.now:g} {kind.name}" for kind in view.types))


class Recorded:
    """Forwards the answers of another policy, and records its views."""

    name = "heard"

    def __init__(self, policy):
        self.policy, self.views, self.idle = policy, [], idle_time(policy, 20.0)

    def decide(self, view):
        self.views.append(view)
        return self.policy.decide(view)


@st.composite
def cases(draw, count=14, alike=False):
    """Jobs of many shapes on two or three types, in each other's way; times are multiples of 5 s.

    Parameters
    ----------
    count
        The most jobs.
    alike
        Whether all jobs of a case ask for the same.
    """
    types = draw(st.sampled_from([TYPES, PLAIN, TYPES[1:]]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shapes = [(0, 1, 1), (0, 2, 7), (0, 0.5, 1), (0, 6, 8), (0, 0, 9), (0, 2.5, 0)]
    # Gangs of two or three whole instances, none of them filled.
    shapes += [(0, 13, 3), (0, 1, 20 if types is PLAIN else 70)]
    if types is not PLAIN:
        shapes += [(1, 2, 4), (2, 0, 0), (6, 10, 0), (3, 0, 40), (0.5, 8, 1)]
    number = draw(st.integers(1, count))
    chosen = rng.integers(0, len(shapes), 1 if alike else number)
    gpus, cores, memory = np.array(shapes)[np.broadcast_to(chosen, number)].T
    # Some come at one instant, some while others run, and some after a pause.
    submit = np.sort(5.0 * rng.integers(0, draw(st.sampled_from([1, 10, 60])), number))
    run_for = 5.0 * rng.integers(1, draw(st.sampled_from([3, 40])), number)
    walltime = np.where(rng.random(number) < 0.3, np.inf, run_for * 2.0)
    jobs = VectorJobs.of(submit, run_for, gpus, cores, memory, walltime=walltime)
    cuts = Interruptions.none()
    if draw(st.booleans()):
        several = draw(st.integers(1, 6))
        kinds, limits = rng.integers(0, len(types), several), rng.integers(0, 4, several)
        times = np.sort(5.0 * rng.integers(0, 60, several))
        back = np.full(len(types), times[-1] + draw(st.sampled_from([100.0, 400.0])))
        cuts = Interruptions(
            np.append(times, back),
            np.append(kinds, np.arange(len(types))),
            np.append(limits, [kind.most for kind in types]),
        )
    fleet = InstanceFleet(
        types,
        idle=draw(st.sampled_from([0.0, 10.0, 100.0])),
        launch_spread=draw(st.sampled_from([0.0, 0.0, 0.5])),
        boot_failure=draw(st.sampled_from([0.0, 0.0, 0.4])),
        notice=draw(st.sampled_from([0.0, 15.0, 35.0, np.inf])),
        best_fit=draw(st.booleans()),
        interruptions=cuts,
    )
    return Case(jobs, fleet, draw(st.integers(0, 1000)))


def compare(case, make, **options):
    """Run both simulations and compare all results."""
    policy, other = make(case.seed), make(case.seed)
    ledger = Ledger([case.fleet.rows()], parts=1)
    options = {"period": 20.0, **options}
    part = part_of(case.jobs, case.fleet, ledger, policy, case.seed, **options)
    done = drive(SinglePart(part, ledger), {"scale": policy})
    kept = replace(case.fleet, idle=idle_time(other, case.fleet.idle))
    plain = Plain(case.jobs, kept, other, np.random.default_rng(case.seed), **options)
    assert done.start.tolist() == plain.start
    assert done.end.tolist() == plain.end
    assert (done.lost, done.begin, done.finish) == (plain.lost, plain.begin, max(plain.end))
    for name in ("kind", "why", "launched", "ready", "gone", "busy"):
        found = getattr(done.launches, name)
        np.testing.assert_array_equal(found, [getattr(each, name) for each in plain.all], err_msg=name)
    lines = zip(
        *(getattr(done.attempts, name).tolist() for name in ("job", "launch", "began", "ended")), strict=True
    )
    assert sorted(lines) == sorted(plain.attempts)
    assert done.decisions.time.tolist() == [row[0] for row in plain.decisions]
    np.testing.assert_allclose(
        done.decisions.needed,
        np.array([row[1] for row in plain.decisions]).reshape(done.decisions.needed.shape),
        atol=1e-9,
    )
    assert done.decisions.totals.tolist() == [list(row[2]) for row in plain.decisions]
    assert done.decisions.there.tolist() == [row[3] for row in plain.decisions]
    assert list(done.decisions.why) == [row[4] for row in plain.decisions]
    shares = [
        embed(row[None], [kind.vector() for kind in case.fleet.types]).sum() for row in case.jobs.resources
    ]
    np.testing.assert_allclose(done.shares, shares)
    for shown, want in zip(policy.views, plain.views, strict=True):
        same_view(shown, want)
    stay = [each.gone if each.gone == each.gone else plain.begin for each in plain.all]
    paid = [
        (max(plain.end) if each.gone != each.gone else gone) - each.launched
        for each, gone in zip(plain.all, stay, strict=True)
    ]
    assert done.paid().tolist() == paid
    return done


def same_view(shown, want):
    """Compare all fields of two views; running jobs are unordered."""
    assert (shown.now, shown.period, shown.look, shown.due) == (want.now, want.period, want.look, want.due)
    assert shown.types == want.types
    for name in ("ready", "coming", "used"):
        assert getattr(shown, name).tolist() == getattr(want, name).tolist(), name
    assert shown.history.shape == want.history.shape
    np.testing.assert_allclose(shown.history, want.history, atol=1e-9)
    assert rows(shown.waiting) == rows(want.waiting)
    assert sorted(rows(shown.running)) == sorted(rows(want.running))


def rows(demands):
    return list(
        zip(demands.since.tolist(), demands.resources.tolist(), demands.walltime.tolist(), strict=True)
    )


plain_settings = settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def varied(seed):
    return Varied(seed, until=500.0)


@settings(plain_settings, max_examples=30)
@given(case=cases(), look=st.sampled_from([None, 5.0, 7.0, 33.0]))
def test_random_policies_run_as_in_the_plain_simulation(case, look):
    compare(case, varied, look=look)


@settings(plain_settings, max_examples=10)
@given(case=cases(), look=st.sampled_from([None, 10.0]))
def test_reactive_runs_as_in_the_plain_simulation(case, look):
    compare(case, lambda seed: Recorded(SCALERS["reactive"](seed)), look=look)


@settings(plain_settings, max_examples=10)
@given(
    case=cases(),
    period=st.sampled_from([11.0, 30.0, 90.0]),
    begin=st.sampled_from([None, -500.0, 35.0]),
    earlier=st.integers(0, 3),
)
def test_begin_period_and_history_act_as_in_the_plain_simulation(case, period, begin, earlier):
    width = len(case.fleet.types)
    history = np.arange(earlier * width, dtype=np.float64).reshape(earlier, width)
    compare(case, varied, period=period, begin=begin, history=history, look=10.0)


@settings(plain_settings, max_examples=20)
@given(case=cases(alike=True), at_once=st.booleans(), warm=st.sampled_from([0.0, 60.0, 150.0]))
def test_instant_and_warm_launches_act_as_in_the_plain_simulation(case, at_once, warm):
    # All jobs ask for the same, so the order in which instances come up is that of the queue.
    times = {"at_once": True} if at_once else {"warm": warm}
    compare(case, varied, **times)


@settings(plain_settings, max_examples=10)
@given(case=cases())
def test_with_instant_launches_separate_jobs_never_wait(case):
    plenty = replace(
        case.fleet,
        types=tuple(replace(kind, most=60) for kind in case.fleet.types),
        interruptions=Interruptions.none(),
    )
    jobs = case.jobs
    apart = VectorJobs.of(7.0 * np.arange(len(jobs)), jobs.run, *jobs.resources.T, walltime=jobs.walltime)
    done = compare(Case(apart, plenty, case.seed), varied, at_once=True)
    assert (done.start == apart.submit).all()


def test_draining_instances_count_towards_the_maximum():
    # Four are full; two of them leave when their jobs end, and the limit returns to 4 before that.
    at = np.array([50.0, 100.0])
    cuts = Interruptions(at, np.zeros(2, np.int64), np.array([2, 4]))
    fleet = InstanceFleet(TYPES[:2], notice=np.inf, interruptions=cuts)
    jobs = VectorJobs.of([0.0] * 4 + [120.0] * 2, [300.0, 400.0, 500.0, 600.0, 10.0, 10.0], cores=4)
    done = compare(Case(jobs, fleet, 1), varied, at_once=True)
    # The jobs of the remaining instances end at 300 s and 400 s; the draining ones leave at 500 s and 600 s.
    assert done.start[4:].tolist() == [300.0, 310.0]
    assert (done.launches.kind == 0).all()


def test_arrays_grow_with_many_simultaneous_jobs():
    rng = np.random.default_rng(3)
    count = 170
    jobs = VectorJobs.of(
        np.sort(5.0 * rng.integers(0, 8, count)),
        100.0 + 5.0 * rng.integers(1, 30, count),
        cores=rng.choice([0.5, 1, 2], count),
    )
    types = (replace(TYPES[0], most=30), replace(TYPES[1], most=20))
    times = np.array([150.0, 200.0, 300.0, 300.0])
    cuts = Interruptions(times, np.array([0, 1, 0, 1]), np.array([5, 6, 30, 20]))
    done = compare(
        Case(jobs, InstanceFleet(types, interruptions=cuts), 5), lambda seed: Varied(seed, until=-1e9)
    )
    began, ended = done.attempts.began, done.attempts.ended
    assert ((began[:, None] <= began) & (ended[:, None] > began)).sum(axis=0).max() > 128
    assert done.lost > 20


def test_arrays_grow_with_many_launches_and_losses():
    # All instances are taken away every 40 s, for as long as it takes to fill the first lines of both logs.
    at = 40.0 * np.arange(1, 61)
    times = np.sort(np.concatenate((at, at, at + 5.0, at + 5.0)))
    kinds = np.tile([0, 1], 120)
    limits = np.tile([0, 0, 2, 1], 60)
    types = (replace(TYPES[0], most=2, launch=5.0), replace(TYPES[1], most=1, launch=10.0))
    fleet = InstanceFleet(types, interruptions=Interruptions(times, kinds, limits))
    jobs = VectorJobs.of([0.0, 0.0, 0.0, 5.0], [60.0] * 4, cores=[3, 3, 7, 1])
    done = compare(Case(jobs, fleet, 1), lambda seed: Recorded(SCALERS["static"](seed)))
    assert len(done.launches.kind) > 2 * 3 + 64
    assert len(done.attempts.job) > 4 + 64


def test_the_log_grows_with_jobs_on_several_instances():
    # A job on four instances is killed every 40 s; each time it leaves four lines.
    at = 40.0 * np.arange(1, 41)
    cuts = Interruptions(np.sort(np.concatenate((at, at + 5.0))), np.zeros(80, np.int64), np.tile([3, 4], 40))
    fleet = InstanceFleet((replace(TYPES[0], launch=5.0),), interruptions=cuts)
    jobs = VectorJobs.of([0.0, 0.0], [60.0, 10.0], cores=[16, 13])
    done = compare(Case(jobs, fleet, 1), lambda seed: Recorded(SCALERS["static"](seed)), look=5.0)
    assert len(done.attempts.job) > 2 * (8 + 64)
