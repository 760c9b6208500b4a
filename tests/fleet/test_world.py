"""The world of many sites: an independent validator accepts its schedules, and a naive version gives the same."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fleet import naive
from windlass.experiment.checks.order.fleet import workload
from windlass.experiment.workloads.fixed import draw_fixed
from windlass.experiment.workloads.seconds import draw_seconds
from windlass.experiment.workloads.sizes import draw_sizes
from windlass.jit import Kernel
from windlass.model import InputError, PolicyError
from windlass.model.fleet import Fleet, FleetCase, fixed_table
from windlass.order.fleet import POLICIES, FleetView, JobOrder
from windlass.order.fleet.compiled import SELECT, CompiledOrder
from windlass.order.fleet.policies.swag import Swag
from windlass.results.metrics.isolated import alone
from windlass.sim.fleet import run_ordered

NAMES = POLICIES.names()


def fixed(submit, subjobs, duration, slots, **further):
    return FleetCase(Fleet.of(slots), fixed_table(submit, subjobs, duration, **further))


def naive_run(case, policy):
    """Return the starts of tasks, by a loop over instants that calls `decide`; sizes are numbers of tasks."""
    work = naive.flat(case)
    job_of_sub = np.repeat(np.arange(work.jobs), np.diff(work.first))
    coming = work.task0[:-1].copy()
    started = np.full(len(work.duration), np.nan)
    ends, free, orders, present = [], work.slots.copy(), None, []
    arrived = 0
    sequence = 0
    unfinished = work.job_tasks.copy()
    while arrived < work.jobs or ends:
        now = min([work.submit[arrived]] if arrived < work.jobs else [np.inf], default=np.inf)
        now = min([now, *(end for end, *_ in ends)])
        changed = False
        for end in sorted(end for end in ends if end[0] == now):
            ends.remove(end)
            _, _, sub = end
            free[work.site[sub]] += 1
            unfinished[job_of_sub[sub]] -= 1
            changed |= unfinished[job_of_sub[sub]] == 0
        while arrived < work.jobs and work.submit[arrived] == now:
            present.append(arrived)
            arrived, changed = arrived + 1, True
        left = np.zeros((work.jobs, len(work.slots)))
        left[job_of_sub, work.site] = work.task0[1:] - coming
        if changed:
            present = [job for job in present if left[job].sum() > 0]
            if present:
                view = FleetView(now, left[present], work.slots * 1.0, (work.slots - free) * 1.0)
                orders = np.atleast_2d(policy.decide(view).order)
        for site in range(len(work.slots)):
            for place in orders[site % len(orders)] if present else []:
                job = present[place]
                while free[site] > 0 and left[job, site] > 0:
                    sub = next(s for s in range(work.first[job], work.first[job + 1]) if work.site[s] == site)
                    started[coming[sub]] = now
                    ends.append((now + work.duration[coming[sub]], sequence, sub))
                    coming[sub] += 1
                    left[job, site] -= 1
                    free[site] -= 1
                    sequence += 1
    return started


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", [11, 12, 13])
def test_the_compiled_world_equals_the_naive_one(name, seed):
    work, policy = workload(seed, jobs=40), POLICIES.make(name, np.random.default_rng(0))
    assert np.array_equal(run_ordered(work, policy).begun, naive_run(work, policy))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(NAMES), st.booleans())
def test_schedules_are_valid(seed, name, by_seconds):
    work = workload(seed, jobs=30)
    done = run_ordered(work, POLICIES.make(name, np.random.default_rng(0)), by_seconds=by_seconds)
    naive.validate(work, done)


@pytest.mark.matrix
@pytest.mark.parametrize("name", NAMES)
def test_the_schedule_of_a_random_workload_is_valid(name):
    slots = Fleet.of([40, 10, 25, 30])
    work = draw_fixed(np.random.default_rng(5), jobs=150, law="google", fleet=slots, accuracy=0.4)
    naive.validate(work, run_ordered(work, POLICIES.make(name, np.random.default_rng(0))))


def test_the_worked_example_runs_as_computed_by_hand():
    work = fixed([0, 0, 0], [[1, 10, 1], [3, 8, 0], [7, 0, 6]], np.ones(36), [1, 1, 1])
    ends = {name: run_ordered(work, POLICIES.make(name, np.random.default_rng(0))).end for name in NAMES}
    assert ends["fcfs"].tolist() == [10, 18, 11]
    assert ends["swag"].tolist() == ends["optimal"].tolist() == [18, 10, 7]


def test_the_longest_expected_task_starts_first():
    work = fixed([0], [[3]], [5.0, 1.0, 3.0], [1], expected=[1.0, 9.0, 4.0])
    assert work.jobs.duration.tolist() == [1.0, 3.0, 5.0]


def test_many_simultaneous_jobs_fit():
    jobs = 300
    work = fixed(np.zeros(jobs), np.ones((jobs, 2), int), np.ones(2 * jobs), [1, 3])
    assert run_ordered(work, Swag()).end.max() == jobs


def test_sizes_in_seconds_use_measured_task_times():
    # When job 2 arrives, job 0 has one slow task left at site 0, job 1 two that its others showed to be fast.
    seconds = [10.0] * 3 + [1.0] * 4 + [1.0]
    work = fixed([0, 1, 11], [[3, 0], [2, 2], [0, 1]], seconds, [1, 1])
    by_tasks = run_ordered(work, Swag()).end
    by_seconds = run_ordered(work, Swag(), by_seconds=True).end
    assert (by_tasks[1], by_seconds[1]) == (32.0, 22.0)
    naive.validate(work, run_ordered(work, Swag(), by_seconds=True))


class Answer:
    name = "answer"

    def __init__(self, order):
        self.order = order

    def decide(self, view):
        return JobOrder(np.array(self.order), "fixed order")


@pytest.mark.parametrize("order", [[0, 0], [5, 1], [0], [0.5, 1.5]])
def test_an_invalid_order_is_an_error(order):
    work = fixed([0, 0], [[1], [1]], [1.0, 1.0], [1])
    with pytest.raises(PolicyError, match="answer"):
        run_ordered(work, Answer(order))


def _order_of_options(subjobs, slots, backlog, options, out):
    out[0, 0], out[0, 1] = int(options[0]), int(options[1])
    return int(options[2])


class CompiledAnswer(CompiledOrder):
    name = "wrong"
    why = "fixed order"
    select = Kernel(_order_of_options, SELECT)
    options = None

    def __init__(self, options):
        self.options = np.array(options, float)


@pytest.mark.parametrize("options", [[0, 0, 1], [2, 1, 1], [-1, 0, 1], [0, 1, 0], [0, 1, 2], [0, 1, -1]])
def test_an_invalid_compiled_order_is_an_error(options):
    work = fixed([0, 0], [[1, 1, 0], [1, 0, 1]], [1.0] * 4, [1, 1, 1])
    with pytest.raises(
        PolicyError,
        match="policy 'wrong' did not return an order of the 2 waiting jobs, expected each of 0 to 1",
    ):
        run_ordered(work, CompiledAnswer(options))


def _order_from_options(subjobs, slots, backlog, options, out):
    for row in range(2):
        for place in range(len(subjobs)):
            out[row, place] = int(options[1 + 3 * row + place]) if len(subjobs) == 3 else place
    return int(options[0]) if len(subjobs) == 3 else 1


class OrderFromOptions(CompiledAnswer):
    select = Kernel(_order_from_options, SELECT)


@given(
    rows=st.integers(0, 3),
    order=st.lists(st.permutations([0, 1, 2]), min_size=2, max_size=2),
    odd=st.booleans(),
    at=st.tuples(st.integers(0, 5), st.integers(-1, 3)),
)
@settings(deadline=None)
def test_the_loop_and_the_check_reject_the_same_orders(rows, order, odd, at):
    numbers = [number for row in order for number in row]
    if odd:
        numbers[at[0]] = at[1]
    table = np.array([*numbers, 0, 1, 2]).reshape(3, 3)
    order_given = JobOrder(table[0] if rows == 1 else table[:rows])
    errors = []
    for check in (
        lambda: order_given.check(FleetView(0.0, np.ones((3, 2)), np.ones(2), np.zeros(2))),
        lambda: run_ordered(
            fixed([0] * 3, [[1, 1]] * 3, [1.0] * 6, [1, 1]), OrderFromOptions([rows, *numbers])
        ),
    ):
        try:
            check()
            errors.append("")
        except PolicyError as error:
            errors.append("no order" if " order" in str(error) else str(error))
    assert errors[0] == errors[1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"submit": [1, 0]}, r"submit\[1\] is before"),
        ({"submit": [np.nan, 0]}, r"submit\[0\] is nan"),
        ({"subjobs": [[0, 0], [1, 1]]}, r"subjobs\[0\] is all 0"),
        ({"subjobs": [[-1, 2], [1, 1]]}, r"subjobs\[0, 0\] is -1"),
        ({"subjobs": [[1.5, 2], [1, 1]]}, "whole numbers"),
        ({"subjobs": [[1, 1]]}, r"subjobs has shape \(1, 2\)"),
        ({"subjobs": [[1, 1, 0], [0, 1, 1]]}, r"site\[3\] is 2"),
        ({"duration": [1.0, 1.0]}, r"duration has shape \(2,\)"),
        ({"duration": [1.0, 1.0, -1.0, 1.0]}, "expected a time"),
        ({"slots": [1, 0]}, r"slots\[1\] is 0"),
    ],
)
def test_a_bad_workload_is_named(change, message):
    good = {"submit": [0, 1], "subjobs": [[1, 1], [1, 1]], "duration": [1.0] * 4, "slots": [1, 1]}
    with pytest.raises(InputError, match=message):
        fixed(**{**good, **change})


def test_the_isolated_time_is_the_response_in_an_empty_world():
    fleet = Fleet.of([7, 3, 5])
    case = draw_fixed(np.random.default_rng(2), jobs=40, law="google", fleet=fleet, utilisation=1e-6)
    work = naive.flat(case)
    found = alone(work.first, work.site, work.task0, work.duration, work.slots)
    assert np.allclose(found, run_ordered(case, Swag()).response, atol=1e-3)


@pytest.mark.parametrize(
    ("law", "mean", "small", "large"),
    [("facebook", 364.6, 0.89, 0.03), ("google", 86.9, 0.96, 0.02), ("exponential", 800, 0.18, 0.53)],
)
def test_size_laws_match_table_3_2(law, mean, small, large):
    sizes = draw_sizes(law, 2_000_000, np.random.default_rng(1))
    assert sizes.mean() == pytest.approx(mean, rel=0.03)
    assert (sizes <= 150).mean() == pytest.approx(small, abs=0.015)
    assert (sizes > 500).mean() == pytest.approx(large, abs=0.015)


def test_task_times_have_the_same_mean_for_any_cut_off():
    for longest in (2.5, 20.0, 1000.0):
        seconds = draw_seconds(3_000_000, np.random.default_rng(1), longest=longest)
        assert seconds.mean() == pytest.approx(2.0, rel=0.02)
        assert seconds.max() <= longest


def test_the_drawn_load_has_the_requested_utilisation():
    work = draw_fixed(np.random.default_rng(3), jobs=500, utilisation=0.6)
    jobs, slots = work.jobs, work.fleet.slots
    assert jobs.duration.sum() / (slots.sum() * jobs.submit[-1]) == pytest.approx(0.6)
