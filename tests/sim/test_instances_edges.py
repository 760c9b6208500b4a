"""Edge cases of instances: rejected input, defaults, growing histories, and needs of jobs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from tests.sim.instances import GPU, LARGE, SMALL, part_of, run
from tests.sim.test_instances_plain import cases, compare, varied
from windlass.drive import drive
from windlass.model import InputError
from windlass.model.instances import InstanceType
from windlass.model.vectors import VectorJobs
from windlass.scale import Totals
from windlass.sim.coupled import SinglePart
from windlass.sim.instances.fleet import InstanceFleet, Interruptions, sorted_types
from windlass.sim.instances.history import InstanceHistory
from windlass.sim.instances.needs import Needs, demanded, offered
from windlass.sim.instances.part import InstancesPart
from windlass.sim.ledger import Ledger


def cuts(times, kinds, limits):
    return Interruptions(np.array(times, np.float64), np.array(kinds, np.int64), np.array(limits, np.int64))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (([1.0, 2.0], [0], [1]), "columns of different lengths"),
        (([1.0], [0, 0], [1]), "columns of different lengths"),
        (([1.0], [0], [1, 1]), "columns of different lengths"),
        (([2.0, 1.0], [0, 0], [1, 1]), "finite times that do not decrease"),
        (([np.inf], [0], [1]), "finite times that do not decrease"),
        (([np.nan], [0], [1]), "finite times that do not decrease"),
        (([1.0, 2.0], [0, 0], [3, -2]), "limit is -2, expected at least 0"),
    ],
)
def test_bad_interruptions_are_rejected(columns, message):
    with pytest.raises(InputError, match=message):
        cuts(*columns)


def test_simultaneous_interruptions_of_all_instances_are_accepted():
    found = cuts([1.0, 1.0], [0, 1], [0, 0])
    assert InstanceFleet((SMALL, LARGE), interruptions=found).interruptions is found


@pytest.mark.parametrize("kind", [-1, 2])
def test_interruptions_of_an_unknown_type_are_rejected(kind):
    with pytest.raises(InputError, match="interruptions: unknown type, expected 0 to 1"):
        InstanceFleet((SMALL, LARGE), interruptions=cuts([1.0, 2.0], [0, kind], [1, 1]))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("idle", np.inf),
        ("launch_spread", -0.1),
        ("launch_spread", np.inf),
        ("boot_failure", -0.1),
        ("notice", -1.0),
    ],
)
def test_numbers_out_of_bounds_are_rejected(name, value):
    with pytest.raises(InputError, match=name):
        InstanceFleet((SMALL,), **{name: value})


def test_numbers_at_their_bounds_are_accepted():
    for named in (
        {"idle": 0.0},
        {"launch_spread": 0.0},
        {"boot_failure": 0.0},
        {"notice": 0.0},
        {"notice": np.inf},
    ):
        InstanceFleet((SMALL,), **named)


def test_a_fleet_has_no_failures_or_variation_by_default():
    fleet = InstanceFleet((SMALL,))
    assert (fleet.idle, fleet.launch_spread, fleet.boot_failure, fleet.notice) == (600.0, 0.0, 0.0, 0.0)
    assert not fleet.best_fit
    assert [len(each) for each in (fleet.interruptions.time, fleet.interruptions.kind)] == [0, 0]


def test_types_of_equal_size_are_accepted_in_any_order():
    dear, cheap = (InstanceType(name, cores=4, price=price) for name, price in (("a", 2.0), ("b", 1.0)))
    for types in ((dear, cheap), (cheap, dear)):
        assert InstanceFleet(types).types == types
    also = InstanceType("aa", cores=4, price=1.0)
    gpus = InstanceType("0", gpus=1, cores=1)
    assert sorted_types((gpus, dear, cheap, also)) == (also, cheap, dear, gpus)


def test_cores_of_ledger_rows_are_rounded_up():
    types = (InstanceType("half", cores=2.5, most=2), InstanceType("whole", cores=3, most=1))
    assert InstanceFleet(types).cores() == (3, 3)
    assert InstanceFleet(types).rows() == [3, 3, 3]


def test_a_history_grows_and_its_views_are_read_only():
    earlier = np.array([[1.0, 2.0], [3.0, 4.0]])
    history = InstanceHistory(2, earlier)
    assert history.rows().tolist() == earlier.tolist()
    for step in range(2500):
        history.show(step, np.array([step, 0.5]))
        assert len(history.rows()) == 3 + step
    assert history.rows()[:2].tolist() == earlier.tolist()
    assert history.rows()[2:].tolist() == [[float(step), 0.5] for step in range(2500)]
    history.show(2499, np.array([7.0, 7.0]))
    assert history.rows()[-2:].tolist() == [[2498.0, 0.5], [7.0, 7.0]]
    with pytest.raises(ValueError, match="read-only"):
        history.rows()[0, 0] = 1.0
    assert history.decisions().totals.shape == history.decisions().needed.shape == (0, 2)


@pytest.mark.parametrize(
    ("earlier", "message"),
    [
        (np.zeros((2, 3)), r"history has shape \(2, 3\), expected \(t, 2\)"),
        (np.zeros(2), r"history has shape \(2,\), expected \(t, 2\)"),
        (np.array([[1.0, -1.0]]), "expected finite numbers of 0 or more"),
        (np.array([[np.inf, 1.0]]), "expected finite numbers of 0 or more"),
        (np.array([[np.nan, 1.0]]), "expected finite numbers of 0 or more"),
    ],
)
def test_bad_histories_are_rejected(earlier, message):
    with pytest.raises(InputError, match=message):
        InstanceHistory(2, earlier)


def test_demands_are_rounded_up_and_capacities_down():
    # The nearest float to 0.3 is below it, and the one to 1.1 above: neither is a thousandth off.
    assert demanded(np.array([[0.0001, 0.3, 2.5], [1.1, 1.0004, 7.0]])).tolist() == [
        [1, 300, 3],
        [1100, 1001, 7],
    ]
    types = [InstanceType("a", gpus=0.3, cores=1.0009, memory=2.5), InstanceType("b", cores=1.1, memory=7)]
    assert offered(types).tolist() == [[300, 1000, 2], [0, 1100, 7]]


def test_jobs_of_one_kind_have_equal_requests():
    requests = [(1, 2, 0), (0, 2, 0), (1, 2, 0), (0, 2, 5), (0, 2, 0), (2, 1, 0)]
    jobs = VectorJobs.of([0.0] * 6, [1.0] * 6, *np.array(requests).T)
    needs = Needs(jobs, (SMALL, GPU))
    assert [needs.vector[kind].tolist() for kind in needs.kind] == demanded(
        np.array(requests, float)
    ).tolist()
    assert len(needs.vector) == 4


def test_needs_match_values_worked_out_by_hand():
    jobs = VectorJobs.of([0.0] * 5, [1.0] * 5, [0, 0, 0, 1, 5], [1, 3, 6, 2, 0], [4, 2, 4, 0, 0])
    needs = Needs(jobs, (SMALL, LARGE, GPU))
    of = dict(zip(needs.kind.tolist(), range(5), strict=True))
    order = [of[kind] for kind in range(5)]
    assert [needs.bucket[kind] for kind in needs.kind] == [0, 0, 1, 2, 2]
    assert [needs.gang[kind] for kind in needs.kind] == [0, 0, 0, 0, 3]
    assert needs.shares()[needs.kind].tolist() == [0.5, 0.75, 0.75, 0.5, 3.0]
    alive = np.array([2, 1, 1, 3, 2])[order]
    # Of small ones, 5 of 4 cores and 10 of 8 bytes; 6 of 8 cores; half of the GPUs three times, and two gangs of three.
    assert needs.counts(alive).tolist() == [1.25, 0.75, 7.5]
    assert needs.counts(np.zeros(5, np.int64)).tolist() == [0.0, 0.0, 0.0]


def test_a_gang_of_the_maximum_number_of_instances_is_accepted():
    needs = Needs(VectorJobs.of([0.0], [1.0], cores=16), (SMALL,))
    assert needs.gang.tolist() == [4]
    with pytest.raises(InputError, match="job 1 needs 5 instances of type small, expected at most 4"):
        Needs(VectorJobs.of([0.0], [1.0], cores=16.5), (SMALL,))


def test_a_job_that_fits_no_type_is_named_with_its_request():
    jobs = VectorJobs.of([0.0, 0.0], [1.0, 1.0], gpus=[0, 2], cores=[1, 3])
    with pytest.raises(InputError, match="job 2 requests 2 gpus, 3 cores: no type has all of these"):
        Needs(jobs, (SMALL, LARGE))


class Counted:
    """Answers with a function of the number of the call; the idle time is 0."""

    name = "counted"
    idle = 0.0

    def __init__(self, answer):
        self.answer, self.calls = answer, 0

    def decide(self, view):
        self.calls += 1
        return Totals((self.answer(self.calls),), ("so",))


def test_without_jobs_there_are_no_launches_and_decisions():
    done = run(VectorJobs.of([], [], cores=[]), InstanceFleet((SMALL,)), Counted(lambda calls: 1))
    assert (done.begin, done.finish, len(done.launches.kind), len(done.decisions.time)) == (0.0, 0.0, 0, 0)


def test_the_default_period_is_ten_minutes():
    fleet = InstanceFleet((SMALL,))
    ledger = Ledger([fleet.rows()], 1)
    jobs = VectorJobs.of([0.0], [1900.0], cores=1)
    part = InstancesPart(jobs, fleet, ledger, np.random.default_rng(1))
    done = drive(SinglePart(part, ledger), {"scale": Counted(lambda calls: 1)})
    # The first two are before the job arrives: an instance takes 30 s to launch.
    assert done.decisions.time.tolist() == [-1200.0, -600.0, 0.0, 600.0, 1200.0, 1800.0]


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan])
def test_a_period_of_zero_is_rejected(bad):
    with pytest.raises(InputError, match="period"):
        run(
            VectorJobs.of([0.0], [1.0], cores=1),
            InstanceFleet((SMALL,)),
            Counted(lambda calls: 1),
            period=bad,
        )


@settings(deadline=None, max_examples=8)
@given(case=cases())
def test_results_do_not_depend_on_the_site_of_the_ledger(case):
    done = compare(case, varied)
    policy, ledger = varied(case.seed), Ledger([[3, 5], case.fleet.rows(), [7]], parts=2)
    part = part_of(case.jobs, case.fleet, ledger, policy, case.seed, site=1, number_in_ledger=1)
    other = drive(SinglePart(part, ledger), {"scale": policy})
    assert other.start.tolist() == done.start.tolist()
    np.testing.assert_array_equal(other.launches.gone, done.launches.gone)
    assert ledger.nodes.capacity[[0, 1, -1]].tolist() == ledger.nodes.idle[[0, 1, -1]].tolist() == [3, 5, 7]
    # Instances that are up at the end have all of their cores.
    stays = np.isnan(done.launches.gone) & ~np.isnan(done.launches.ready)
    cores = np.array(case.fleet.cores())[done.launches.kind[stays]]
    assert sorted(ledger.nodes.capacity[2:-1][ledger.nodes.capacity[2:-1] > 0]) == sorted(cores)
    assert ledger.nodes.idle[2:-1].tolist() == ledger.nodes.capacity[2:-1].tolist()


def test_hundreds_of_jobs_can_end_on_one_instance_at_once():
    # Each of them makes room, and the instance is looked at once.
    count = 700
    jobs = VectorJobs.of([10.0] * count + [50.0] * count, [100.0] * 2 * count, cores=0.005)
    one = InstanceFleet((InstanceType("one", cores=3.5, launch=5.0, most=1),))
    done = run(jobs, one, Counted(lambda calls: 1), begin=0.0)
    assert done.start.tolist() == [10.0] * count + [110.0] * count
    assert (done.end == done.start + 100.0).all()
    assert done.launches.busy.tolist() == [200.0]


def test_any_number_of_jobs_can_run_at_once():
    jobs = VectorJobs.of(submit=np.zeros(150), run=60.0 + np.arange(150.0), cores=1)
    fleet = InstanceFleet((InstanceType("one", cores=1, most=150),))
    whole, steps = (
        InstancesPart(
            jobs, fleet, Ledger([fleet.rows()], 1), np.random.default_rng(1), at_once=True, others=others
        )
        for others in (False, True)
    )
    whole.advance(np.inf)
    for _ in range(1000):
        if steps.ended():
            break
        now = steps.horizon()
        steps.advance(now)
        steps.alter(now)
        steps.settle(now)
        assert steps.decide(now) == ()
    found = [part.result() for part in (whole, steps)]
    assert found[0].start.tolist() == found[1].start.tolist() == [0.0] * 150
    assert found[0].end.tolist() == found[1].end.tolist() == (60.0 + np.arange(150.0)).tolist()
