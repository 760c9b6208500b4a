"""Between decisions a policy is called at polls, so that launches follow waiting jobs and not the period."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from tests.oracles.instances import check
from tests.sim.instances import SCALERS, Case, cases, coupled, run
from windlass.model import InputError
from windlass.model.instances import InstanceType
from windlass.model.vectors import VectorJobs
from windlass.scale import POLICIES, ScaleView, Totals, idle_time
from windlass.sim.instances.fleet import InstanceFleet, Interruptions
from windlass.sim.part import Quiet

ONE = InstanceType("one", cores=1, launch=300.0, most=50)
PERIOD = 1000.0
#: A cut kills a job on several instances, one of which stays and has then been empty for long enough.
_CUT_GANG = Case(
    VectorJobs.of(
        submit=[0.0] * 11 + [5.0, 10.0, 30.0],
        run=[5.0] * 4 + [10.0] + [5.0] * 9,
        gpus=[0.0] * 4 + [6.0] + [0.0] * 9,
        cores=[1.0] * 4 + [10.0] + [1.0] * 9,
        memory=[1.0] * 4 + [0.0] + [1.0] * 9,
    ),
    InstanceFleet(
        (
            InstanceType("small", cores=4, memory=8, price=1.0, launch=30.0, most=4),
            InstanceType("large", cores=8, memory=32, price=1.9, launch=45.0, most=3),
            InstanceType("gpu", gpus=2, cores=8, memory=32, price=9.0, launch=60.0, most=4),
        ),
        interruptions=Interruptions(
            np.array([0.0, 70.0, 470.0, 470.0, 470.0]), np.array([0, 2, 0, 1, 2]), np.array([0, 1, 4, 4, 4])
        ),
    ),
    57,
)
looks = st.sampled_from([5.0, 7.0, 20.0, 33.0])
each_policy = pytest.mark.parametrize("name", SCALERS)


class Recorded:
    """Forwards the answers of another policy, and records its views."""

    name = "heard"

    def __init__(self, policy) -> None:
        self._policy, self.views, self.idle = policy, [], idle_time(policy, 0.0)

    def decide(self, view: ScaleView) -> Totals:
        self.views.append(view)
        return self._policy.decide(view)


def reactive(**parameters):
    return POLICIES.make("reactive", np.random.default_rng(1), **parameters)


def run_single(submit, run_for, policy, look=10.0, **options):
    """Jobs of one instance each."""
    jobs = VectorJobs.of(submit, run_for, cores=1)
    settings = {"period": PERIOD, "begin": 0.0, "look": look, **options}
    return run(jobs, InstanceFleet((ONE,)), policy, **settings)


@pytest.mark.matrix
@each_policy
@settings(max_examples=30, deadline=None)
@given(case=cases(), look=looks)
def test_every_run_with_polling_is_valid(name: str, case: Case, look: float):
    policy = SCALERS[name](case.seed)
    done = case.run(policy, look=look)
    check(done, launch_times_are_exact=case.fleet.launch_spread == 0, idle=idle_time(policy, case.fleet.idle))


@pytest.mark.matrix
@each_policy
@settings(max_examples=15, deadline=None)
@example(case=_CUT_GANG, look=5.0)
@given(case=cases(), look=looks)
def test_polls_are_the_same_when_coupled_with_a_passive_part(name: str, case: Case, look: float):
    # A job of length 0 may end at the instant of a poll, before or after it.
    assume((case.jobs.run > 0).all())
    one = case.run(SCALERS[name](case.seed), look=look)
    two = coupled(case, SCALERS[name](case.seed), Quiet(), look=look)
    assert np.array_equal(one.start, two.start)
    for column in ("launched", "ready", "gone"):
        assert np.array_equal(getattr(one.launches, column), getattr(two.launches, column), equal_nan=True)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 900), min_size=1, max_size=12), looks)
def test_a_waiting_job_triggers_a_launch_at_the_next_poll(times: list[int], look: float):
    # All jobs run until after the last arrival, so each needs its own instance.
    submit = np.sort(np.array(times, np.float64))
    done = run_single(submit, np.full(len(submit), 5000.0), reactive(), look)
    seen = np.minimum(np.ceil(submit / look) * look, PERIOD)
    assert done.start == pytest.approx(seen + ONE.launch)


def test_without_polling_launches_wait_for_the_next_decision():
    done = run_single([1.0, 500.0], [5000.0] * 2, reactive(), look=None)
    assert done.start.tolist() == [1300.0, 1300.0]


def test_an_empty_instance_is_removed_at_a_poll():
    done = run_single([1.0, 5000.0], [95.0, 1.0], reactive(unneeded=60.0))
    # Up at 310, empty at 405, unneeded at 465.
    assert done.launches.gone[0] == 470.0


def test_a_failed_launch_is_retried_at_a_poll():
    fleet = InstanceFleet((ONE,), boot_failure=0.5)
    jobs = VectorJobs.of([1.0] * 8, [10.0] * 8, cores=1)
    done = run(jobs, fleet, reactive(unneeded=1e6), period=1e5, begin=0.0, look=10.0)
    assert np.isnan(done.launches.ready).any()
    assert done.end.max() < 1e5


def test_polls_are_on_their_grid_and_only_after_changes():
    policy = Recorded(reactive())
    run_single([15.0, 16.0, 2015.0], [100.0] * 3, policy)
    times = [view.now for view in policy.views]
    assert [view.now % PERIOD == 0 for view in policy.views] == [view.due for view in policy.views]
    assert all(now % 10.0 == 0 for now in times)
    assert times == [0.0, 20.0, 1000.0, 2000.0, 2020.0]


def test_a_poll_adds_no_row_to_the_history():
    policy = Recorded(reactive())
    run_single([15.0, 1015.0, 2500.0], [100.0] * 3, policy)
    for view in policy.views:
        assert len(view.history) == int(view.now // PERIOD) + 1
        assert (view.look, view.notice()) == (10.0, 10.0)


def test_there_is_no_poll_before_the_first_decision():
    policy = Recorded(reactive())
    run_single([15.0, 3015.0], [100.0] * 2, policy, begin=2000.0)
    assert policy.views[0].now == 2000.0


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan])
def test_a_polling_interval_of_zero_is_rejected(bad: float):
    with pytest.raises(InputError, match="look"):
        run_single([1.0], [1.0], reactive(), look=bad)
