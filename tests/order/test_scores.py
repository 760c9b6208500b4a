"""Scores, promises and views of a queue, each against its formula or a search."""

from __future__ import annotations

import inspect
import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.workloads import CHECK
from windlass.model import Owners
from windlass.order.site.lib.accounts import priorities_of, users_by_account
from windlass.order.site.policies.conservative import Conservative
from windlass.order.site.policies.easy import Easy
from windlass.order.site.policies.queue import Queue
from windlass.order.site.priorities.f1 import F1
from windlass.order.site.priorities.fcfs import Fcfs
from windlass.order.site.priorities.multifactor import Multifactor
from windlass.order.site.priorities.saf import Saf
from windlass.order.site.priorities.sjf import Sjf
from windlass.order.site.priorities.unicep import Unicep
from windlass.order.site.priorities.wfp3 import Wfp3
from windlass.order.site.reservation import Reservation, after, promise_to_head, promises, reservation
from windlass.order.site.view import Running, SiteView, Start, Waiting

FORMULAS = {
    F1: lambda wait, submit, request, procs: math.log10(request) * procs + 870 * math.log10(max(submit, 1)),
    Fcfs: lambda wait, submit, request, procs: 0.0,
    Unicep: lambda wait, submit, request, procs: -wait / (max(math.log2(procs), 0.001) * request),
    Wfp3: lambda wait, submit, request, procs: -((wait / request) ** 3) * procs,
}


@pytest.mark.parametrize("priority", FORMULAS)
def test_scores_equal_the_formulas_with_requests_of_at_least_1_s(priority):
    for submit in (0.0, 0.5, 3.0, 900.0):
        for request in (0.0, 0.5, 1.0, 2.5, 400.0):
            for procs in (1, 2, 3, 64):
                view = SimpleNamespace(now=905.0, submit=[submit], request=[request], procs=[procs])
                expected = FORMULAS[priority](905.0 - submit, submit, max(request, 1.0), procs)
                assert priority.score(view, 0) == pytest.approx(expected, rel=1e-12)
                assert Saf.score(view, 0) == request * procs
                assert Sjf.score(view, 0) == request


def test_multifactor_has_the_documented_defaults():
    parameters = inspect.signature(Multifactor).parameters.values()
    week = 7 * 24 * 3600.0
    assert {each.name: each.default for each in parameters} == {
        "weight_age": 1000.0,
        "weight_fairshare": 10000.0,
        "weight_job_size": 1000.0,
        "half_life": week,
        "max_age": week,
        "fair_tree": True,
        "dampening": 1.0,
        "favor_small": False,
        "accounts": False,
        "weight_qos": 0.0,
        "qos": "",
    }


def test_multifactor_accepts_bounds_and_rejects_values_beyond():
    nothing = Multifactor(0.0, 0.0, 0.0, math.inf, math.inf, dampening=math.inf)
    assert nothing.half_life == math.inf
    for name in ("weight_age", "weight_fairshare", "weight_job_size", "weight_qos"):
        for value in (-0.5, math.inf, math.nan):
            with pytest.raises(ValueError, match=f"{name} is"):
                Multifactor(**{name: value})
    for name in ("half_life", "max_age", "dampening"):
        for value in (0.0, -1.0, math.nan):
            with pytest.raises(ValueError, match=f"{name} is"):
                Multifactor(**{name: value})


def test_age_and_size_factors_are_at_most_1():
    for now, submit, procs, small, expected in (
        (50.0, 0.0, 2, False, 10 * 0.5 + 4 * 0.25),
        (500.0, 0.0, 2, False, 10 + 4 * 0.25),
        (0.0, 5.0, 2, False, 4 * 0.25),
        (50.0, 0.0, 16, False, 10 * 0.5 + 4),
        (50.0, 0.0, 16, True, 10 * 0.5),
        (50.0, 0.0, 2, True, 10 * 0.5 + 4 * 0.75),
    ):
        priority = Multifactor(10.0, 0.0, 4.0, max_age=100.0, favor_small=small)
        view = SimpleNamespace(
            now=now,
            submit=[submit],
            procs=[procs],
            processors=8,
            owner=np.array([[0]]),
            used=np.array([1.0, 2.0]),
            given=priority.given,
        )
        assert Multifactor.score(view, 0) == pytest.approx(-expected)


@pytest.mark.parametrize("text", ["a=1 b=2.5", " a=1,b=2.5 ", "a=1,  b=2.5", "a=1\nb=2.5"])
def test_priorities_are_separated_by_commas_or_spaces(text):
    assert priorities_of(text) == {"a": 1.0, "b": 2.5}


def test_priorities_are_non_negative_numbers():
    assert priorities_of("") == priorities_of("  ") == {}
    assert priorities_of("a=0") == {"a": 0.0}
    for text in ("a", "=3", "a=", "a=-1", "a=inf", "a=nan", "a=b", "a=1 b"):
        with pytest.raises(ValueError, match="expected a name and a priority of 0 or more"):
            priorities_of(text)


def test_users_are_numbered_by_account():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(0, 12))
        user, group = rng.integers(-1 if seed % 2 else 0, 4, n), rng.integers(-1, 3, n)
        found, account = users_by_account(Owners.of(n, user=user, group=group))
        pairs = sorted({(g, u) for g, u in zip(group.tolist(), user.tolist(), strict=True) if u >= 0})
        assert found.user.tolist() == [
            pairs.index((g, u)) if u >= 0 else -1 for g, u in zip(group.tolist(), user.tolist(), strict=True)
        ]
        accounts = sorted({g for g, _ in pairs})
        expected = [accounts.index(g) for g, _ in pairs]
        if n == 0 or (user < 0).any():
            expected.append(len(accounts))
        assert account.tolist() == expected
        assert found.group.tolist() == group.tolist()


@st.composite
def pooled_views(draw: st.DrawFn) -> SiteView:
    """Jobs that wait for processors and two pools; ends tie, or lie in the past."""
    count = draw(st.integers(0, 5))
    some = st.integers(0, 4)
    column = st.lists(some, min_size=count, max_size=count)
    ends = draw(st.lists(st.sampled_from([1.0, 10.0, 11.0, 20.5]), min_size=count, max_size=count))
    held = [draw(column), draw(column)]
    head, requests = draw(st.integers(1, 8)), [draw(st.integers(0, 8)), draw(st.integers(0, 8))]
    free = draw(some)
    return SiteView(
        10.0,
        processors=9,
        free=free,
        waiting=Waiting.of([7, 8], [0, 0], [head, 1], [5.0, 5.0], needs=[[requests[0], 0], [requests[1], 1]]),
        running=Running.of(100 + np.arange(count), draw(column), ends, needs=np.array(held, np.int64)),
        owed=0 if free else draw(st.sampled_from([0, 1])),
        pools=np.array([draw(some), draw(some)]),
        pool_names=("gpus", "memory"),
    )


def search_reservation(view: SiteView) -> Reservation:
    """Release jobs in the order of their ends until the whole request is free."""
    running, need = view.running, int(view.waiting.procs[0]) + view.owed
    free, pools, at = view.free, view.pools.copy(), view.now
    for row in range(-1, len(running.job)):
        if row >= 0:
            free, pools = free + int(running.procs[row]), pools + running.needs[:, row]
            at = max(view.now, float(running.expected_end[row]))
        if free >= need and (pools >= view.waiting.needs[:, 0]).all():
            return Reservation(7, at, free - need)
    return Reservation(7, math.inf, 0)


@settings(CHECK, max_examples=100)
@given(pooled_views())
def test_the_reservation_of_the_head_covers_all_resources(view):
    assert reservation(view) == search_reservation(view)


def test_started_jobs_are_running_in_the_view_after_an_answer():
    waiting = Waiting(
        np.array([4, 5, 6]),
        np.array([1.0, 2.0, 3.0]),
        np.array([2, 9, 3]),
        np.array([60.0, 50.0, 20.0]),
        np.array([0.5, 1.5, 2.5]),
        np.array([10, 11, 12]),
        np.array([20, 21, 22]),
        np.array([30, 31, 32]),
        np.array([[1, 2, 4], [0, 5, 6]]),
    )
    running = Running.of([3], [4], [100.0], [13], [23], [33], needs=np.array([[7], [8]]))
    view = SiteView(
        10.0, 9, 5, waiting, running, refused=3, pools=np.array([5, 6]), pool_names=("gpus", "memory")
    )
    done = after(view, Start((4, 6), "fits"))
    assert (done.now, done.processors, done.free, done.refused) == (10.0, 9, 0, 1)
    assert done.pools.tolist() == [0, 0]
    left, runs = done.waiting, done.running
    assert (left.job.tolist(), left.note.tolist(), left.user.tolist()) == ([5], [1.5], [11])
    assert (left.group.tolist(), left.named_queue.tolist(), left.needs.tolist()) == ([21], [31], [[2], [5]])
    assert runs.job.tolist() == [6, 4, 3]
    assert runs.procs.tolist() == [3, 2, 4]
    assert runs.expected_end.tolist() == [30.0, 70.0, 100.0]
    assert runs.user.tolist() == [12, 10, 13]
    assert runs.group.tolist() == [22, 20, 23]
    assert runs.named_queue.tolist() == [32, 30, 33]
    assert runs.needs.tolist() == [[4, 1, 7], [6, 0, 8]]
    noted = after(view, Start((4,), "fits", notes=np.array([7.0, 8.0, 9.0])))
    assert noted.waiting.note.tolist() == [8.0, 9.0]
    assert noted.refused == 2


@settings(CHECK, max_examples=40)
@given(pooled_views())
def test_promises_are_only_for_waiting_jobs(view):
    easy = Easy()
    answer = easy.decide(view)
    left = after(view, answer)
    first, found = reservation(left), promises(easy, view, answer)
    expected = [
        first.at if first is not None and job == first.job else math.nan for job in view.waiting.job.tolist()
    ]
    assert np.array_equal(found, expected, equal_nan=True)
    assert np.array_equal(promise_to_head(view, answer), expected, equal_nan=True)


@pytest.mark.matrix(0)
@pytest.mark.parametrize(("backfill", "behind"), [("easy", Easy), ("conservative", Conservative)])
def test_promises_under_a_priority_equal_those_of_the_sorted_queue(backfill, behind):
    """Backfilling promises the same for a queue sorted by its priority beforehand."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 6))
        procs, request = rng.integers(1, 5, n), rng.integers(1, 9, n) * 10.0
        order = np.argsort(request, kind="stable")
        columns = 100 + np.arange(n), np.zeros(n), procs, request
        running = Running.of([1, 2], [2, 1], [50.0, 25.0])
        views = [
            SiteView(5.0, 4, 1, Waiting.of(*(column[places] for column in columns)), running)
            for places in (np.arange(n), order)
        ]
        given, sorted_ = Queue("sjf", backfill), behind()
        answers = given.decide(views[0]), sorted_.decide(views[1])
        assert sorted(answers[0].jobs) == sorted(answers[1].jobs)
        found, expected = (
            promises(policy, view, answer)
            for policy, view, answer in zip((given, sorted_), views, answers, strict=True)
        )
        assert np.array_equal(found[order], expected, equal_nan=True), seed


def test_sorting_running_jobs_keeps_their_columns_together():
    found = Running.of([1, 2, 3], [4, 2, 1], [9.0, 5.0, 9.0], [7, 8, 9], [17, 18, 19], [27, 28, 29])
    assert (found.job.tolist(), found.procs.tolist()) == ([2, 3, 1], [2, 1, 4])
    assert found.user.tolist() == [8, 9, 7]
    assert found.group.tolist() == [18, 19, 17]
    assert found.named_queue.tolist() == [28, 29, 27]
    assert found.needs.shape == (0, 3)
    unsaid = Running.of([1, 2], [1, 1], [2.0, 1.0])
    for column in (unsaid.user, unsaid.group, unsaid.named_queue):
        assert column.tolist() == [-1, -1]
    waiting = Waiting.of([1, 2], [0, 0], [1, 1], [5, 5], user=[3, 4], needs=[[1, 2]])
    assert (waiting.user.tolist(), waiting.group.tolist()) == ([3, 4], [-1, -1])
    assert waiting.needs.tolist() == [[1, 2]]
