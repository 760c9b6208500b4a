"""Jobs that ask for processors, GPUs and memory start only when all of them fit, under every policy."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.oracles import pooled
from tests.oracles.plain import Answers, Plain
from tests.oracles.validator import violations_of
from tests.oracles.workloads import CHECK, Case, busy, case, cases
from windlass.model import InputError, JobTable, PolicyError
from windlass.model.pools import Pools
from windlass.order.site import POLICIES
from windlass.order.site.policies.queue import Queue
from windlass.order.site.reservation import after, promise_to_head
from windlass.order.site.view import SiteView, Start
from windlass.sim import replay

NAMES = ("fcfs", "sjf", "easy", "conservative")
BOTH = ("GPUs", "memory")
GENEROUS = 10**15


class Pooled(NamedTuple):
    """Jobs, processors and pools."""

    jobs: JobTable
    processors: int
    pools: Pools


@st.composite
def pooled_cases(draw: st.DrawFn, most: int = 12) -> Pooled:
    """Small workloads in which any of the three may bind: jobs that ask for none of one, and for all of it."""
    jobs, processors = draw(cases(most=most))
    amount = [draw(st.sampled_from([1, 2, 5])), draw(st.sampled_from([1, 3, 8]))]
    needs = [
        draw(st.lists(st.one_of(st.just(0), st.integers(0, there)), min_size=len(jobs), max_size=len(jobs)))
        for there in amount
    ]
    return Pooled(jobs, processors, Pools.of(BOTH, amount, np.reshape(needs, (2, len(jobs)))))


def of_case(found: Case, seed: int, amount: tuple[int, int] = (6, 40)) -> Pooled:
    """GPUs and memory for jobs of a long queue."""
    rng, count = np.random.default_rng(seed), len(found.jobs)
    needs = [rng.integers(0, there // 2 + 1, count) * rng.integers(0, 2, count) for there in amount]
    return Pooled(found.jobs, found.processors, Pools.of(BOTH, amount, needs))


def starts(given: Pooled, policy: object, *, kill: bool = True) -> list[float]:
    done = replay(given.jobs, given.processors, policy, kill=kill, pools=given.pools)
    assert violations_of(done, kill=kill, pools=given.pools) == []
    return done.start.tolist()


@pytest.mark.matrix
@pytest.mark.parametrize("kill", [True, False])
@pytest.mark.parametrize("name", NAMES)
@CHECK
@given(found=pooled_cases())
@example(
    found=Pooled(
        *case(4, [0, 0, 1, 2], [10, 10, 10, 10], [1, 1, 1, 1]), Pools.of(("GPUs",), [2], [[2, 1, 2, 0]])
    )
)
# Two jobs, of which one can pass the head.
@pytest.mark.matrix(0)
@example(
    found=Pooled(
        *case(9, [0, 0, 0, 0], [10, 5, 99, 99], [1, 1, 1, 1]), Pools.of(("GPUs",), [4], [[2, 3, 1, 1]])
    )
)
def test_starts_with_pools_equal_the_definition(found: Pooled, name: str, kill: bool) -> None:
    assert starts(found, POLICIES.find(name)(), kill=kill) == pooled.starts_of(name, *found, kill=kill)


@pytest.mark.matrix
@pytest.mark.parametrize("whole", [True, False], ids=["whole", "fractional"])
@pytest.mark.parametrize("name", NAMES)
def test_starts_of_a_long_queue_with_pools_equal_the_definition(name: str, whole: bool) -> None:
    for seed in range(2):
        found = of_case(busy(seed, jobs=100, whole=whole), seed)
        assert starts(found, POLICIES.find(name)()) == pooled.starts_of(name, *found)


@pytest.mark.slow
@pytest.mark.parametrize("kill", [True, False])
@pytest.mark.parametrize("name", NAMES)
@settings(CHECK, max_examples=600)
@given(found=pooled_cases(most=18))
def test_starts_of_many_more_workloads_with_pools_equal_the_definition(
    found: Pooled, name: str, kill: bool
) -> None:
    assert starts(found, POLICIES.find(name)(), kill=kill) == pooled.starts_of(name, *found, kill=kill)


@pytest.mark.slow
@pytest.mark.parametrize("priority", [None, "sjf", "wfp3"])
@pytest.mark.parametrize("backfill", ["none", "easy", "conservative"])
@CHECK
@given(found=cases())
def test_plentiful_pools_have_no_effect(found: Case, backfill: str, priority: str | None) -> None:
    short = {"none": "fcfs"}.get(backfill, backfill)
    policy = POLICIES.find(short)() if priority is None else Queue(priority, backfill)
    needs = np.arange(2 * len(found.jobs)).reshape(2, -1)
    plenty = Pools.of(BOTH, [GENEROUS, GENEROUS], needs)
    for kill in (True, False):
        alone, all_three = (replay(*found, policy, kill=kill, pools=pools) for pools in (None, plenty))
        assert alone.start.tolist() == all_three.start.tolist()
        assert alone.why.tolist() == all_three.why.tolist()


@pytest.mark.parametrize("name", ["fcfs", "easy", pytest.param("conservative", marks=pytest.mark.matrix(0))])
@CHECK
@given(found=cases())
def test_a_pool_requested_like_processors_acts_like_processors(found: Case, name: str) -> None:
    same = Pools.of(("GPUs",), [found.processors], found.jobs.procs[None])
    policy = POLICIES.find(name)()
    assert replay(*found, policy, pools=same).start.tolist() == replay(*found, policy).start.tolist()
    # Either of the two may be the scarce one.
    one_each = JobTable.of(
        found.jobs.submit, found.jobs.run, np.ones(len(found.jobs), int), found.jobs.request
    )
    if name != "easy":
        # EASY counts the narrowest of those that end at one instant, and these are all as narrow.
        scarce = replay(one_each, len(one_each) + 1, policy, pools=same)
        assert scarce.start.tolist() == replay(*found, policy).start.tolist()


@pytest.mark.matrix(0)
@pytest.mark.parametrize("priority", ["sjf", "wfp3"])
@pytest.mark.parametrize("backfill", ["none", "easy", "conservative"])
def test_any_priority_works_with_every_backfill(priority: str, backfill: str) -> None:
    for seed in range(3):
        found = of_case(busy(seed, jobs=120), seed)
        policy = Queue(priority, backfill)
        assert starts(found, policy) == starts(found, Plain(policy))


@pytest.mark.matrix(0)
@CHECK
@given(found=pooled_cases())
def test_conservative_keeps_its_promises(found: Pooled) -> None:
    policy = Plain(POLICIES.find("conservative")())
    done = dict(zip(found.jobs.job.tolist(), starts(found, policy), strict=True))
    promised: dict[int, float] = {}
    for view in policy.views:
        for job, note in zip(view.waiting.job.tolist(), view.waiting.note.tolist(), strict=True):
            if not math.isnan(note):
                assert note <= promised.setdefault(job, note)
                promised[job] = note
    assert all(done[job] <= by for job, by in promised.items())


@CHECK
@given(found=pooled_cases())
def test_easy_never_delays_its_head(found: Pooled) -> None:
    """From one view to the next, a head that is still the head is promised no later start."""
    promised: dict[int, float] = {}
    easy = POLICIES.find("easy")()

    def decide(view: SiteView) -> Start:
        answer = easy.decide(view)
        promise = promise_to_head(view, answer)
        left = after(view, answer)
        assert (left.pools >= 0).all()
        for job, at in zip(view.waiting.job.tolist(), promise.tolist(), strict=True):
            if not math.isnan(at):
                assert at <= promised.get(job, math.inf)
                promised[job] = at
        return answer

    done = dict(zip(found.jobs.job.tolist(), starts(found, Answers(decide)), strict=True))
    assert all(done[job] <= by for job, by in promised.items())


@CHECK
@given(found=pooled_cases())
def test_views_list_free_and_held_amounts(found: Pooled) -> None:
    policy = Plain(POLICIES.find("easy")())
    starts(found, policy)
    row_of = {number: row for row, number in enumerate(found.jobs.job.tolist())}
    for view in policy.views:
        assert view.pool_names == BOTH
        assert (view.pools + view.running.needs.sum(axis=1)).tolist() == found.pools.amount.tolist()
        for some in (view.waiting, view.running):
            rows = [row_of[number] for number in some.job.tolist()]
            assert some.needs.tolist() == found.pools.needs[:, rows].tolist()


TWO = JobTable.of(submit=[0, 0], run=[9, 9], procs=[1, 1])


def test_a_job_larger_than_a_pool_is_rejected() -> None:
    with pytest.raises(InputError, match=r"^job 2 needs more memory than the site has$"):
        replay(TWO, 4, POLICIES.find("easy")(), pools=Pools.of(BOTH, [4, 4], [[4, 4], [4, 5]]))


def test_an_answer_beyond_the_pools_is_rejected() -> None:
    pools = Pools.of(BOTH, [4, 4], [[2, 3], [1, 1]])
    with pytest.raises(PolicyError, match="'stub' started jobs that need more GPUs than are free"):
        replay(TWO, 4, Answers(lambda view: Start((1, 2))), pools=pools)


def test_a_policy_that_ignores_pools_is_rejected_when_it_exceeds_them() -> None:
    compiled = POLICIES.find("fcfs")()

    def blind(view: SiteView) -> Start:
        return Start(tuple(view.waiting.job[np.cumsum(view.waiting.procs) <= view.free].tolist()))

    pools = Pools.of(("memory",), [4], [[4, 4]])
    assert replay(TWO, 4, compiled, pools=pools).start.tolist() == [0, 9]
    with pytest.raises(PolicyError, match="need more memory than is free"):
        replay(TWO, 4, Answers(blind), pools=pools)
