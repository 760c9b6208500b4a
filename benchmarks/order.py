"""Orders over many sites: the time of one decision, compared with the printed algorithm as a plain compiled loop."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from benchmarks.measure import Row, compare_rates
from windlass.experiment.workloads.fixed import draw_fixed
from windlass.experiment.workloads.sizes import draw_sizes
from windlass.experiment.workloads.spread import spread
from windlass.jit import prepare
from windlass.order import reordering, swag
from windlass.order.fleet import POLICIES
from windlass.sim.fleet import run_ordered
from windlass.sim.fleet.run import order_kernels

_SITES = 30


@njit(cache=True, error_model="numpy")
def plain_swag(subjobs, slots):  # type: ignore[no-untyped-def]
    """Order jobs by Algorithm 3.5 as printed, which evaluates all jobs for each choice."""
    jobs, sites = subjobs.shape
    queue = np.zeros(sites)
    left = np.ones(jobs, np.bool_)
    totals = subjobs.sum(axis=1)
    order = np.empty(jobs, np.int64)
    for place in range(jobs):
        best, least = -1, np.inf
        for job in range(jobs):
            if left[job]:
                span = 0.0
                for site in range(sites):
                    span = max(span, (queue[site] + subjobs[job, site]) / slots[site])
                if span < least or (span == least and totals[job] < totals[best]):
                    best, least = job, span
        order[place] = best
        left[best] = False
        for site in range(sites):
            queue[site] += subjobs[best, site]
    return order


def plain_reordering(subjobs: NDArray[np.int64], order: NDArray[np.int64]) -> list[int]:
    """Reorder jobs by Algorithm 3.3, with NumPy in a Python loop."""
    queue = subjobs.sum(axis=0)
    left = [int(job) for job in order]
    found: list[int] = []
    while left:
        site = int(queue.argmax())
        job = next(other for other in reversed(left) if subjobs[other, site] > 0)
        found.append(job)
        left.remove(job)
        queue = queue - subjobs[job]
    return found[::-1]


def _fleet(jobs: int, law: str, skew: float | str = 2.0) -> NDArray[np.int64]:
    rng = np.random.default_rng(1)
    return spread(draw_sizes(law, jobs, rng), _SITES, skew, rng)


def rows(repeats: int) -> list[Row]:
    """Return all comparisons of the suite."""
    slots = np.full(_SITES, 300.0)
    found = []
    # Evenly spread jobs are at every site, so little can be skipped: the worst case of the thesis' laws.
    cases: tuple[tuple[int, str, float | str], ...] = (
        (1000, "facebook", 2.0),
        (1000, "exponential", 2.0),
        (1000, "exponential", "uniform"),
        (10_000, "facebook", 2.0),
    )
    for jobs, law, skew in cases:
        subjobs = _fleet(jobs, law, skew)
        if (
            jobs == 1000
            and swag(subjobs, slots).tolist() != plain_swag(subjobs.astype(float), slots).tolist()
        ):
            raise AssertionError("the order of the plain loop differs")
        found.append(
            compare_rates(
                f"SWAG, {jobs:,} jobs × {_SITES} sites, {law} sizes, skew {skew}",
                lambda subjobs=subjobs: swag(subjobs, slots),  # type: ignore[misc]
                lambda subjobs=subjobs: plain_swag(subjobs.astype(float), slots),  # type: ignore[misc]
                "the printed algorithm, a plain compiled loop",
                amount=1.0,
                unit="orders/s",
                repeats=repeats if jobs == 1000 else 1,
            )
        )
    return [*found, _reorderings(repeats), _world(repeats)]


def _reorderings(repeats: int) -> Row:
    subjobs, slots = _fleet(1000, "exponential"), np.full(_SITES, 300.0)
    order = np.random.default_rng(2).permutation(1000)
    if reordering(subjobs, slots, order).tolist() != plain_reordering(subjobs, order):
        raise AssertionError("the order of the plain loop differs")
    return compare_rates(
        f"Reordering, 1,000 jobs × {_SITES} sites",
        lambda: reordering(subjobs, slots, order),
        lambda: plain_reordering(subjobs, order),
        "NumPy in a Python loop",
        amount=1.0,
        unit="orders/s",
        repeats=repeats,
    )


def _world(repeats: int) -> Row:
    """Compare tasks per second under SWAG with the same loop that calls the policy through Python."""
    work = draw_fixed(np.random.default_rng(1), law="exponential", jobs=1000)
    policy = POLICIES.make("swag", np.random.default_rng(0))
    prepare(order_kernels(policy))

    class ThroughPython:
        name = "through-python"

        def decide(self, view):  # type: ignore[no-untyped-def]
            return policy.decide(view)

    return compare_rates(
        "world of 30 sites under SWAG, exponential sizes",
        lambda: run_ordered(work, policy),
        lambda: run_ordered(work, ThroughPython()),
        "the same, decisions through Python",
        amount=float(len(work.jobs.duration)),
        unit="tasks/s",
        repeats=repeats,
    )
