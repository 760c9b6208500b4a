"""Jobs on instances that launch and leave: invariants of every run."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.oracles.instances import check, paid_hours
from tests.oracles.packing import replayed
from tests.sim.instances import GPU, LARGE, SCALERS, SMALL, Case, cases, coupled, run
from windlass.model import InputError, PolicyError
from windlass.model.instances import InstanceType
from windlass.model.vectors import VectorJobs
from windlass.results.metrics.elastic import elastic_metrics
from windlass.scale import POLICIES, Totals, idle_time
from windlass.scale.embedding import embed
from windlass.sim.instances.fleet import InstanceFleet, Interruptions
from windlass.sim.ledger import Ledger
from windlass.sim.part import Quiet

each_policy = pytest.mark.parametrize("name", SCALERS)


@pytest.mark.matrix
@each_policy
@settings(max_examples=40, deadline=None)
@given(case=cases())
def test_every_run_is_valid(name: str, case: Case):
    policy = SCALERS[name](case.seed)
    done = case.run(policy)
    check(done, launch_times_are_exact=case.fleet.launch_spread == 0, idle=idle_time(policy, case.fleet.idle))


@pytest.mark.matrix
@each_policy
@settings(max_examples=30, deadline=None)
@given(case=cases(interrupted=False))
def test_jobs_are_placed_as_by_a_plain_search(name: str, case: Case):
    # A job of no length may end before another one that comes at the same instant is placed.
    assume((case.jobs.run > 0).all())
    done = case.run(SCALERS[name](case.seed))
    start, on = replayed(done)
    assert starts(done) == start
    found = [sorted(done.attempts.launch[done.attempts.job == job].tolist()) for job in range(len(done.jobs))]
    assert found == [sorted(each) for each in on]


@pytest.mark.matrix
@each_policy
@settings(max_examples=15, deadline=None)
@given(case=cases())
def test_starting_busy_and_idle_hours_add_up_to_paid_hours(name: str, case: Case):
    done = case.run(SCALERS[name](case.seed))
    found = elastic_metrics(done)
    assert found.instance_hours == pytest.approx(paid_hours(done))
    busy = float(done.launches.busy.sum()) / 3600
    assert found.starting_h + busy + found.over_provisioned_h == pytest.approx(found.instance_hours)
    prices = [case.fleet.types[kind].price for kind in done.launches.kind.tolist()]
    assert found.cost_usd == pytest.approx(float((done.paid() / 3600 * prices).sum()))
    assert found.over_provisioned_h >= -1e-9
    assert 0.0 <= found.utilisation <= 1.0 + 1e-9
    assert -1e-9 <= found.fragmentation <= 1.0


@pytest.mark.matrix
@each_policy
@settings(max_examples=15, deadline=None)
@given(case=cases())
def test_recorded_needs_match_the_embedding(name: str, case: Case):
    # A job of no length that starts at a decision has not ended by then.
    assume((case.jobs.run > 0).all())
    done = case.run(SCALERS[name](case.seed))
    buckets = [kind.vector() for kind in case.fleet.types]
    for time, needed in zip(done.decisions.time.tolist(), done.decisions.needed, strict=True):
        # Jobs that arrive at that instant count; jobs that end then do not.
        alive = (done.jobs.submit <= time) & (done.end > time)
        assert np.allclose(needed, embed(done.jobs.resources[alive], buckets))


@pytest.mark.matrix
@each_policy
@settings(max_examples=15, deadline=None)
@given(case=cases())
def test_coupling_with_a_passive_part_changes_nothing(name: str, case: Case):
    class Ticking(Quiet):
        """A part with an event every few seconds and no effect."""

        def __init__(self) -> None:
            self.now = -200.0

        def horizon(self) -> float:
            return self.now + 13.0

        def advance(self, until: float) -> float:
            self.now = max(self.now, until) if until < np.inf else self.now
            return until

    alone, coupled_run = (
        case.run(SCALERS[name](case.seed)),
        coupled(case, SCALERS[name](case.seed), Ticking()),
    )
    for column in ("start", "end"):
        assert np.array_equal(getattr(alone, column), getattr(coupled_run, column))
    for column in ("launched", "ready", "gone", "why", "busy"):
        assert np.array_equal(
            getattr(alone.launches, column), getattr(coupled_run.launches, column), equal_nan=True
        )


@settings(max_examples=15, deadline=None)
@given(case=cases(), seed=st.integers(0, 99))
def test_the_same_seed_gives_the_same_run(case: Case, seed: int):
    first, second = (case.run(SCALERS["nasty"](seed)) for _ in range(2))
    assert np.array_equal(first.start, second.start)
    assert np.array_equal(first.launches.launched, second.launches.launched)


@pytest.mark.matrix
@each_policy
@settings(max_examples=15, deadline=None)
@given(case=cases())
def test_the_ledger_is_consistent_after_every_change(name: str, case: Case):
    class Witness(Quiet):
        """Checks the sums of the ledger after every change."""

        def __init__(self, ledger: Ledger) -> None:
            self.nodes = ledger.nodes

        def settle(self, now: float) -> None:
            nodes = self.nodes
            assert (nodes.idle == nodes.capacity - nodes.held.sum(axis=1)).all()
            assert (nodes.idle >= 0).all()
            assert nodes.total[0] == nodes.idle.sum()

    from tests.sim.instances import part_of
    from windlass.drive import drive
    from windlass.sim.coupled import Coupled

    policy, ledger = SCALERS[name](case.seed), Ledger([case.fleet.rows()], parts=1)
    part = part_of(case.jobs, case.fleet, ledger, policy, case.seed, others=True)
    drive(Coupled((part, Witness(ledger)), ledger), {"scale": policy})
    assert not ledger.nodes.held.any()


def fixed(*counts: int):
    class Fixed:
        name = "fixed"
        idle = 0.0

        def decide(self, view):
            return Totals(counts, ("fixed",) * len(counts))

    return Fixed()


def starts(done) -> list[float]:
    return done.start.tolist()


def test_a_job_waits_for_its_instance_and_pays_from_the_launch():
    jobs = VectorJobs.of(submit=[5.0], run=[100.0], cores=3)
    done = run(jobs, InstanceFleet((SMALL,)), fixed(1), begin=0.0)
    assert starts(done) == [30.0]
    assert (done.paid() == [130.0]).all()
    assert elastic_metrics(done).delayed_by_launch == 1


def test_a_job_that_does_not_fit_is_skipped():
    jobs = VectorJobs.of(submit=[40.0, 41.0, 42.0], run=[50.0, 10.0, 10.0], cores=[3, 2, 1])
    done = run(jobs, InstanceFleet((SMALL,)), fixed(1), begin=0.0)
    assert starts(done) == [40.0, 90.0, 42.0]


@pytest.mark.parametrize(("best", "started"), [(False, [0, 0, 0, 50.0]), (True, [0, 0, 0, 0])])
def test_best_fit_leaves_room_that_first_fit_does_not(best: bool, started: list[float]):
    # Instances hold 3 of 4 and 1 of 4 cores; the third job joins the second, or, with best fit, the first.
    at = 100.0
    jobs = VectorJobs.of(submit=[at, at, at, at], run=[50.0] * 4, cores=[2, 3, 1, 2])
    done = run(jobs, InstanceFleet((SMALL,), best_fit=best), fixed(2), begin=0.0)
    assert (done.start - at).tolist() == started


def test_a_job_larger_than_any_type_runs_on_several_whole_instances():
    jobs = VectorJobs.of(submit=[100.0, 100.0], run=[50.0, 50.0], gpus=[5, 1])
    done = run(jobs, InstanceFleet((GPU,)), fixed(3), begin=0.0)
    assert starts(done) == [100.0, 150.0]
    assert len(done.attempts.job) == 4


def test_jobs_without_gpus_prefer_instances_without_gpus():
    jobs = VectorJobs.of(submit=[100.0, 100.0], run=[50.0, 50.0], cores=[4, 8])
    done = run(jobs, InstanceFleet((SMALL, GPU)), fixed(1, 1), begin=0.0)
    # Four cores fit the small type; only the type with GPUs has eight.
    assert [done.launches.kind[launch] for launch in done.attempts.launch] == [0, 1]


def test_only_idle_instances_are_removed():
    jobs = VectorJobs.of(submit=[0.0, 500.0], run=[300.0, 10.0], cores=4)

    class Falling:
        name = "falling"

        def decide(self, view):
            return Totals((2 if view.now < 60.0 or view.now >= 440.0 else 0,), ("falling",))

    done = run(jobs, InstanceFleet((SMALL,), idle=50.0), Falling(), begin=-40.0)
    first, second, *later = done.launches.gone.tolist()
    # The used instance leaves 50 s after its job; the other, idle from -10 s on, leaves when it is surplus.
    assert (first, second) == (350.0, 60.0)
    assert np.isnan(later).all()


def cut(time: float, limit: int) -> Interruptions:
    back = [time, time + 100.0]
    return Interruptions(np.array(back), np.zeros(2, np.int64), np.array([limit, 4]))


@pytest.mark.parametrize(
    ("notice", "ended", "lost"), [(0.0, 350.0, 1), (20.0, 350.0, 1), (70.0, 170.0, 0), (np.inf, 170.0, 0)]
)
def test_an_interruption_kills_after_its_notice(notice: float, ended: float, lost: int):
    jobs = VectorJobs.of(submit=[50.0], run=[120.0], cores=4)
    fleet = InstanceFleet((SMALL,), notice=notice, interruptions=cut(100.0, 0))
    done = run(jobs, fleet, fixed(1), begin=0.0)
    check(done)
    # The provider has room again at 200 s; the next launch is ready 30 s later, and the job restarts.
    assert (done.end[0], done.lost) == (ended, lost)


def test_a_failed_launch_is_paid_for_and_retried():
    jobs = VectorJobs.of(submit=[0.0], run=[10.0], cores=1)
    done = run(jobs, InstanceFleet((SMALL,), boot_failure=0.9), fixed(1), begin=0.0)
    failed = len(done.launches.kind) - 1
    assert failed > 0
    assert np.isnan(done.launches.ready[:failed]).all()
    assert (done.paid()[:failed] == 30.0).all()
    # The failure is seen at 30 s, and the next decision is at 40 s.
    assert done.launches.launched.tolist() == [40.0 * number for number in range(failed + 1)]


def test_a_warm_cluster_starts_with_running_instances():
    jobs = VectorJobs.of(submit=[0.0, 0.0, 10.0], run=[100.0] * 3, cores=[4, 4, 2])
    done = run(jobs, InstanceFleet((SMALL,)), fixed(2), begin=0.0, warm=0.0)
    assert starts(done) == [0.0, 0.0, 100.0]


def test_the_view_starts_with_the_earlier_history():
    seen = []

    class Recording:
        name = "looking"

        def decide(self, view):
            seen.append(view.history.ravel().tolist())
            return Totals((1,), ("one",))

    jobs = VectorJobs.of(submit=[15.0], run=[10.0], cores=2)
    run(jobs, InstanceFleet((SMALL,)), Recording(), begin=0.0, history=np.array([[3.0]]))
    assert seen == [[3.0, 0.0], [3.0, 0.0, 0.5], [3.0, 0.0, 0.5, 0.0]][: len(seen)]


def test_jobs_that_wait_forever_are_an_error():
    jobs = VectorJobs.of(submit=[0.0], run=[10.0], cores=1)
    with pytest.raises(PolicyError, match="left 1 jobs waiting"):
        run(jobs, InstanceFleet((SMALL,)), fixed(0))


@pytest.mark.parametrize(
    ("jobs", "types", "message"),
    [
        (VectorJobs.of([0], [1], gpus=1), (SMALL,), "job 1 requests 1 gpus: no type has all of these"),
        (
            VectorJobs.of([0], [1], cores=17),
            (SMALL,),
            "job 1 needs 5 instances of type small, expected at most 4",
        ),
    ],
)
def test_jobs_that_never_fit_are_rejected(jobs, types, message):
    with pytest.raises(InputError, match=message):
        run(jobs, InstanceFleet(types), fixed(1))


def test_an_answer_beyond_the_maximum_is_rejected():
    jobs = VectorJobs.of([0], [1], cores=1)
    with pytest.raises(PolicyError, match="small: 5 instances, expected a whole number from 0 to 4"):
        run(jobs, InstanceFleet((SMALL,)), fixed(5))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"types": ()}, "the fleet has none"),
        ({"types": (LARGE, SMALL)}, "small follows large"),
        ({"types": (SMALL, SMALL)}, "expected each name once"),
        ({"types": (SMALL,), "idle": -1.0}, "idle is -1"),
        ({"types": (SMALL,), "boot_failure": 1.0}, "boot_failure is 1.0"),
        ({"types": (SMALL,), "notice": np.nan}, "notice is nan"),
    ],
)
def test_bad_fleets_are_rejected(options, message):
    with pytest.raises(InputError, match=message):
        InstanceFleet(**options)


def test_the_ledger_must_have_the_fleet_s_rows():
    from tests.sim.instances import part_of

    jobs = VectorJobs.of([0], [1], cores=1)
    with pytest.raises(InputError, match="other rows"):
        part_of(jobs, InstanceFleet((SMALL,)), Ledger([[4, 4]], parts=1), fixed(1), 1)


def test_fractions_of_cores_are_freed_exactly():
    tenth = InstanceType("one", cores=0.3, launch=0.0, most=1)
    jobs = VectorJobs.of(submit=[10.0] * 6, run=[1.0] * 6, cores=0.1)
    done = run(jobs, InstanceFleet((tenth,)), fixed(1), begin=0.0)
    assert starts(done) == [10.0] * 3 + [11.0] * 3


def test_the_registry_has_the_basic_policies():
    assert {"static", "reactive", "consolidate", "clairvoyant"} <= set(POLICIES.names())
