"""Valid answers of a compiled ordering policy: any jobs that fit, in any order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.plain import Answers
from tests.oracles.workloads import CHECK, Case, cases
from windlass.jit import Kernel
from windlass.model import JobTable, PolicyError
from windlass.model.pools import Pools
from windlass.order.site.compiled import SELECT, CompiledPolicy
from windlass.order.site.view import Running, SiteView, Start, Waiting
from windlass.sim import replay


def _fixed_positions(view, chosen, why):
    count = int(view.given[0])
    for place in range(count):
        chosen[place], why[place] = int(view.given[1 + place]), 0
    return count


class FixedPositions(CompiledPolicy):
    """Answers the queue positions given to its constructor."""

    name = "told"
    reasons = ("fixed positions",)
    select = Kernel(_fixed_positions, SELECT, allocates=False)

    def __init__(self, *positions: int) -> None:
        self.given = (float(len(positions)), *map(float, positions))


FOUR = JobTable.of(submit=[0, 0, 0, 0], run=[10, 10, 10, 10], procs=[2, 1, 3, 1])
POOLS = Pools.of(("GPUs", "memory"), [3, 5], [[1, 1, 1, 2], [3, 1, 1, 3]])


@pytest.mark.parametrize(
    ("positions", "problem"),
    [
        ((-1,), "started a job that does not wait, or the same job twice"),
        ((4,), "started a job that does not wait, or the same job twice"),
        ((0, 0), "started a job that does not wait, or the same job twice"),
        ((1, 0, 1), "started a job that does not wait, or the same job twice"),
        ((0, 2), "started jobs that need more than the 4 idle processors"),
        ((0, 1, 3, 2), "started jobs that need more than the 4 idle processors"),
        ((), "left 4 jobs waiting although nothing runs"),
    ],
)
def test_an_invalid_compiled_answer_is_rejected(positions: tuple[int, ...], problem: str) -> None:
    with pytest.raises(PolicyError, match=f"^policy 'told' {problem}"):
        replay(FOUR, 4, FixedPositions(*positions))


@pytest.mark.parametrize("positions", [(0, 1, 3), (3, 0)])
def test_a_compiled_answer_beyond_a_pool_is_rejected(positions: tuple[int, ...]) -> None:
    # Processors are enough for these; of GPUs 1 + 1 + 2 are too many, of memory 3 + 3.
    with pytest.raises(
        PolicyError, match=r"^policy 'told' started jobs that need more GPUs or memory than is free"
    ):
        replay(FOUR, 4, FixedPositions(*positions), pools=POOLS)


def test_a_compiled_answer_within_all_pools_starts_its_jobs() -> None:
    # The first two jobs, and at 10 s the first two of the rest.
    assert replay(FOUR, 4, FixedPositions(0, 1), pools=POOLS).start.tolist() == [0.0, 0.0, 10.0, 10.0]


def _fixed_once(view, chosen, why):
    if len(view.queue) < 4:
        chosen[0], why[0] = 0, 0
        return 1 if view.free == 4 else 0
    count = int(view.given[0])
    for place in range(count):
        chosen[place], why[place] = int(view.given[1 + place]), 0
    return count


class FixedOnce(FixedPositions):
    """Answers its positions first; then one job at a time."""

    select = Kernel(_fixed_once, SELECT, allocates=False)


def refusal(check, *given_) -> str:
    """Return the rule that an answer breaks, with all pool shortages as one."""
    try:
        check(*given_)
    except PolicyError as error:
        text = str(error).removeprefix("policy 'told' ")
        return "more of a pool" if "GPUs" in text or "memory" in text else text
    return ""


@CHECK
@given(st.lists(st.integers(0, 3) | st.integers(-1, 4), min_size=1, max_size=4), st.booleans())
def test_the_loop_and_the_check_reject_the_same_answers(positions: list[int], pooled: bool) -> None:
    zeros = np.zeros(4)
    queue = Waiting.of(FOUR.job, zeros, FOUR.procs, zeros, needs=POOLS.needs if pooled else None)
    pools = {"pools": POOLS.amount, "pool_names": POOLS.names} if pooled else {}
    view = SiteView(0.0, 4, 4, queue, Running.of(), **pools)
    numbers = [*FOUR.job.tolist(), 99]
    start = Start(tuple(numbers[position] for position in positions), "fixed positions")
    more = {"pools": POOLS} if pooled else {}
    assert refusal(start.check, view) == refusal(lambda: replay(FOUR, 4, FixedOnce(*positions), **more))


def _last_first(view, chosen, why):
    count, free = 0, view.free
    for place in range(len(view.queue) - 1, -1, -1):
        if view.procs[view.queue[place]] <= free:
            free -= view.procs[view.queue[place]]
            chosen[count], why[count] = place, count % 3
            count += 1
    return count


class LastFirst(CompiledPolicy):
    """Last come, first served, with every later job that fits."""

    name = "last-first"
    reasons = ("first", "second", "third")
    select = Kernel(_last_first, SELECT, allocates=False)


def last_first(view: SiteView) -> Start:
    free, jobs = view.free, []
    for job, procs in reversed(
        list(zip(view.waiting.job.tolist(), view.waiting.procs.tolist(), strict=True))
    ):
        if procs <= free:
            free -= procs
            jobs.append(job)
    return Start(tuple(jobs), why=tuple(LastFirst.reasons[place % 3] for place in range(len(jobs))))


@CHECK
@given(cases())
def test_jobs_start_in_any_order_each_with_its_reason(case: Case) -> None:
    compiled, python = replay(*case, LastFirst()), replay(*case, Answers(last_first))
    assert compiled.start.tolist() == python.start.tolist()
    assert compiled.end.tolist() == python.end.tolist()
    reasons = [[done.reasons[code] for code in done.why] for done in (compiled, python)]
    assert reasons[0] == reasons[1]
    assert compiled.reasons == LastFirst.reasons


def test_jobs_that_exactly_fill_the_site_start() -> None:
    two = JobTable.of(submit=[0, 0], run=[5, 5], procs=[3, 1])
    assert replay(two, 4, FixedPositions(1, 0)).start.tolist() == [0.0, 0.0]
    exact = Pools.of(("GPUs",), [3], [[1, 2]])
    assert replay(two, 4, FixedPositions(0, 1), pools=exact).start.tolist() == [0.0, 0.0]
