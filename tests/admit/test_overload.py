"""Overload control by a node's tasks: each policy equals a plain one, and keeps its bounds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windlass.admit import POLICIES, AdmitView, TaskLoad
from windlass.model import InputError, PolicyError

LOADS = st.lists(
    st.builds(
        TaskLoad,
        st.floats(0.0, 60.0),
        st.integers(0, 50),
        st.integers(0, 400),
        latency=st.floats(0.01, 5.0) | st.just(math.nan),
        wait=st.floats(0.0, 5.0) | st.just(math.nan),
        least_wait=st.floats(0.0, 2.0) | st.just(math.nan),
        oldest=st.floats(0.0, 5.0),
    ),
    max_size=60,
)


def answers(policy, loads):
    return [policy.decide(AdmitView(0.0, np.zeros(1), tasks=load)) for load in loads]


def made(name, **parameters):
    return POLICIES.make(name, np.random.default_rng(1), **parameters)


@given(LOADS, st.sampled_from([1.0, 1.5, 3.0]), st.sampled_from([0.0, 4.0]))
@settings(max_examples=60, deadline=None)
def test_the_gradient_limit_equals_a_plain_one(loads, tolerance, queue):
    limit, past, mean = 7.0, 0, 0.0
    for load, found in zip(
        loads,
        answers(made("gradient", tolerance=tolerance, queue=queue, initial=7, most=30), loads),
        strict=True,
    ):
        if not math.isnan(load.latency):
            past += 1
            if past <= 10:
                mean = (mean * (past - 1) + load.latency) / past
            else:
                mean += 2 / 601 * (load.latency - mean)
                mean *= 0.95 if mean / load.latency > 2 else 1.0
            if load.in_flight >= limit / 2:
                aim = limit * max(0.5, min(1.0, tolerance * mean / load.latency)) + queue
                limit = max(1.0, min(30.0, 0.8 * limit + 0.2 * aim))
        assert not found.reject
        assert found.score == pytest.approx(limit)
        assert found.limit == max(1, int(found.score))


@given(LOADS)
@settings(max_examples=60, deadline=None)
def test_the_vegas_limit_equals_a_plain_one(loads):
    limit, least, done = 20.0, math.inf, 0
    for load, found in zip(loads, answers(made("vegas", most=120), loads), strict=True):
        if not math.isnan(load.latency):
            done += load.completed
            unit = max(1, int(math.log10(limit)))
            if done > 30 * limit:
                done, least = 0, load.latency
            elif load.latency < least:
                least = load.latency
            elif load.in_flight * 2 >= limit:
                queue = math.ceil(limit * (1 - least / load.latency))
                if queue <= unit:
                    limit += 6 * unit
                elif queue < 3 * unit:
                    limit += unit
                elif queue > 6 * unit:
                    limit -= unit
                limit = max(1, min(limit, 120))
        assert (found.reject, found.limit) == (False, max(1, int(limit)))


@given(LOADS, st.sampled_from([1.0, 2.5]))
@settings(max_examples=60, deadline=None)
def test_codel_rejects_by_its_control_law(loads, interval):
    first, due, count = None, None, 0
    for step, (load, found) in enumerate(
        zip(loads, answers(made("codel", interval=interval), loads), strict=True)
    ):
        delay = load.oldest if math.isnan(load.least_wait) else load.least_wait
        reject = False
        if delay <= 0.5:
            first, count = None, 0
        else:
            if first is None:
                first, due = step, step + interval
            if step >= due:
                reject, count = True, count + 1
                due += interval / count**0.5
        assert (found.reject, found.limit) == (reject, None)


@given(LOADS)
@settings(max_examples=60, deadline=None)
def test_breakwater_s_credits_follow_the_delay(loads):
    credit = 12.0
    policy = made("breakwater", target=0.4, increase=2.0, decrease=0.3, drop=3.0, initial=12, most=20)
    for load, found in zip(loads, answers(policy, loads), strict=True):
        delay = load.oldest if math.isnan(load.wait) else max(load.wait, load.oldest)
        if delay < 0.4:
            credit = min(20.0, credit + 2.0)
        else:
            credit = max(1.0, credit * max(0.5, 1.0 - 0.3 * (delay / 0.4 - 1.0)))
        assert found.reject == (delay > 3.0 * 0.4)
        assert found.limit == (None if found.reject else int(found.score))
        assert found.score == pytest.approx(credit)


@pytest.mark.parametrize("name", ["gradient", "vegas", "codel", "breakwater"])
def test_without_tasks_the_last_answer_holds(name):
    policy = made(name)
    busy = TaskLoad(50.0, 40, 3, latency=4.0, wait=4.0, least_wait=4.0, oldest=5.0)
    (first,) = answers(policy, [None])
    assert not first.reject
    last = answers(policy, [busy] * 9)[-1]
    assert answers(policy, [None])[0] is last


@pytest.mark.parametrize(
    ("name", "given_", "message"),
    [
        ("gradient", {"tolerance": 0.9}, "tolerance is 0.9"),
        ("gradient", {"initial": 300}, "initial is 300, expected 1 to 200"),
        ("gradient", {"smoothing": 0.0}, "smoothing is 0"),
        ("gradient", {"window": 9}, "window is 9"),
        ("vegas", {"initial": 5, "most": 4}, "initial is 5, expected at most 4"),
        ("vegas", {"alpha": 7.0}, "alpha is 7.0, expected at most beta, 6.0"),
        ("codel", {"target": 0.0}, "target is 0"),
        ("codel", {"interval": -1.0}, "interval is -1"),
        ("breakwater", {"drop": 0.5}, "drop is 0.5"),
        ("breakwater", {"initial": 2000}, "initial is 2000, expected at most 1000"),
    ],
)
def test_invalid_parameters_are_named(name, given_, message):
    with pytest.raises(InputError, match=message):
        made(name, **given_)


@pytest.mark.parametrize(
    ("field", "value"), [("in_flight", -1.0), ("waiting", -1), ("completed", 0.5), ("oldest", math.inf)]
)
def test_invalid_tasks_are_named(field, value):
    with pytest.raises(InputError, match=f"{field} is "):
        TaskLoad(**{"in_flight": 1.0, "waiting": 0, "completed": 0, field: value})


@pytest.mark.parametrize("limit", [0, -1, 2.5, "3"])
def test_a_limit_is_a_whole_number_of_at_least_1(limit):
    view = AdmitView(0.0, np.zeros(1))
    (answer,) = answers(made("vegas"), [TaskLoad(1.0, 0, 1, latency=1.0)])
    answer.check(view)
    wrong = type(answer)(False, "a reason", limit=limit)
    with pytest.raises(PolicyError, match=r"limit is .*, expected a whole number of at least 1, or None"):
        wrong.check(view)


def late(wait=2.0, **more):
    return TaskLoad(**{"in_flight": 30.0, "waiting": 9, "completed": 5, "latency": 3.0, "wait": wait, **more})


def test_codel_rejects_more_and_more_often():
    found = [each.reject for each in answers(made("codel", interval=4.0), [late(least_wait=1.0)] * 30)]
    # 4, then 4 after it, and 4 over the root of 2, 3, … after each further one.
    due, steps = 4.0, []
    for count in range(1, 8):
        steps.append(math.ceil(due))
        due += 4.0 / math.sqrt(count)
    assert [step for step, reject in enumerate(found) if reject][:7] == steps


def test_vegas_measures_the_unloaded_latency_anew_after_more_than_thirty_limits_of_tasks():
    policy = made("vegas", initial=20)
    answers(policy, [late(latency=0.1, completed=600)])
    assert (policy.unloaded, policy.completed) == (0.1, 600)
    answers(policy, [late(latency=0.4, completed=1)])
    assert (policy.unloaded, policy.completed) == (0.4, 0)


def test_the_long_term_latency_comes_down_faster_after_an_overload():
    policy = made("gradient")
    answers(policy, [late(latency=4.0)] * 10)
    assert policy.long_term == pytest.approx(4.0)
    answers(policy, [late(latency=1.0)])
    assert policy.long_term == pytest.approx(0.95 * (4.0 - 2.0 / 601 * 3.0))
    answers(policy, [late(latency=3.0)])
    assert policy.long_term > 0.95 * 3.7
