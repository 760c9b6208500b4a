"""Policies on a workload, measured block by block."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.experiment.worlds.elastic.simulation import run_elastic, scale_policy
from windlass.results.metrics.elastic import delayed
from windlass.sim.instances.result import REASONS, Scaled
from windlass_reproductions.autoscaler.curve_cases import Workload

_Floats = NDArray[np.float64]
_HOUR = 3600.0
_IDLE = REASONS.index("idle")


@dataclass(frozen=True, slots=True)
class Point:
    """A policy at one setting of its knob; ``curve`` is whose curve it is a point of."""

    curve: str
    knob: str
    policy: str
    parameters: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """What was measured in b blocks of time, a week each.

    Parameters
    ----------
    jobs
        (b,) how many were submitted.
    wait
        (b,) how long these waited, s, all together.
    hours, usd
        (b,) instance-hours and their price.
    delayed, actions
        (b,) jobs that a launch delayed; instances launched and taken away.
    waits
        (n,) of each job, s.
    """

    jobs: _Floats
    wait: _Floats
    hours: _Floats
    usd: _Floats
    delayed: _Floats
    actions: _Floats
    waits: _Floats

    def mean_wait(self) -> float:
        """Of all jobs, s."""
        return float(self.wait.sum() / self.jobs.sum())

    def p95_wait(self) -> float:
        """Of all jobs, s."""
        return float(np.percentile(self.waits, 95))


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """A point, and what was measured of it while it learned and when it was judged."""

    point: Point
    learned: Blocks
    judged: Blocks


def measure(workload: Workload, point: Point, notify: Callable[[float], None] | None = None) -> Measured:
    """Run a policy over the whole log, and measure both parts of it.

    Nothing of a policy is chosen by the second part; one that learns goes on learning there, from what is over.
    """
    case = workload.case
    policy = scale_policy(point.policy, dict(point.parameters), case, np.random.default_rng([1, 1]))
    done = run_elastic(case, policy, np.random.default_rng([1, 2]), notify)
    first = float(case.jobs.submit[0])
    return Measured(
        point,
        blocks(done, first, workload.learned, workload.block),
        blocks(done, first, workload.judged, workload.block),
    )


def blocks(done: Scaled, first: float, span: tuple[float, float], size: float) -> Blocks:
    """Measure a stretch of time, block by block: jobs that were submitted there, instances that were paid for there.

    Parameters
    ----------
    done
        What happened.
    first
        When the log begins, s.
    span
        From when to when, s from there.
    size
        Of a block, s.
    """
    count = round((span[1] - span[0]) / size)
    edges = first + span[0] + size * np.arange(count + 1)
    # Who was there already at the first decision was put there at once, and waited for nobody.
    place = np.searchsorted(edges, done.jobs.submit, side="right") - 1
    inside = (place >= 0) & (place < count) & (done.jobs.submit > done.begin)
    waits = (done.start - done.jobs.submit)[inside]
    launches = done.launches
    until = launches.launched + done.paid()
    price = np.array([kind.price for kind in done.fleet.types])[launches.kind]
    hours, usd = np.empty(count), np.empty(count)
    for block, (begin, end) in enumerate(pairwise(edges.tolist())):
        paid = np.clip(until, begin, end) - np.clip(launches.launched, begin, end)
        hours[block], usd[block] = paid.sum() / _HOUR, (paid * price).sum() / _HOUR
    late = (delayed(done) & (done.start > done.jobs.submit))[inside].astype(np.float64)
    gone = launches.gone[launches.why == _IDLE]
    return Blocks(
        np.bincount(place[inside], minlength=count).astype(np.float64),
        np.bincount(place[inside], waits, count).astype(np.float64),
        hours,
        usd,
        np.bincount(place[inside], late, count).astype(np.float64),
        np.histogram(launches.launched, edges)[0] + np.histogram(gone, edges)[0].astype(np.float64),
        waits,
    )
