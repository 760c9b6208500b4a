"""Metrics of jobs on instances that are launched and released: the operator's cost and the users' waits."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from windlass.results import COST, HIGHER, LOWER, TRADED
from windlass.sim.instances.result import REASONS, Scaled

_Floats = NDArray[np.float64]
_HOUR = 3600.0
_IDLE = REASONS.index("idle")


@dataclass(frozen=True, slots=True)
class ElasticMetrics:
    """Metrics of jobs on instances. Each paid instance-hour is starting, busy or idle.

    Parameters
    ----------
    jobs
        Number of jobs.
    cost_usd
        Price of all instances, each from its launch until it was gone or the last job had ended, USD.
    instance_hours
        Paid instance time, h.
    mean_wait_s, p95_wait_s
        Time from submission to the start of the attempt that completed, s.
    delayed_by_launch
        Jobs that waited and ran on an instance that was not ready when they were submitted.
    over_provisioned_h
        Instance-hours that were ready and held no job.
    under_provisioned_h
        Waiting time of jobs, h, times the share of an instance that each needed.
    starting_h
        Instance-hours between launch and readiness.
    utilisation
        Share of the paid instance time that jobs used, measured in each instance's most valuable resource (GPUs,
        else cores) and weighted by price.
    fragmentation
        Share of the time of busy instances that jobs left unused, with the same resource and weights.
    scaling_actions
        Number of launches and of removals of idle instances.
    failed
        Instances that did not boot or were reclaimed by their provider.
    lost
        Attempts of jobs that were killed.
    """

    jobs: int
    cost_usd: float = field(metadata={**LOWER, **COST})
    instance_hours: float = field(metadata=LOWER)
    mean_wait_s: float = field(metadata={**LOWER, **TRADED})
    p95_wait_s: float = field(metadata=LOWER)
    delayed_by_launch: int = field(metadata=LOWER)
    over_provisioned_h: float = field(metadata=LOWER)
    under_provisioned_h: float = field(metadata=LOWER)
    starting_h: float = field(metadata=LOWER)
    utilisation: float = field(metadata=HIGHER)
    fragmentation: float = field(metadata=LOWER)
    scaling_actions: int = field(metadata=LOWER)
    failed: int
    lost: int = field(metadata=LOWER)


def elastic_metrics(done: Scaled) -> ElasticMetrics:
    """Return the metrics of a finished run.

    Parameters
    ----------
    done
        Results of the run, with at least one job.

    Examples
    --------
    >>> from windlass.drive import drive
    >>> from windlass.model.instances import InstanceType
    >>> from windlass.model.vectors import VectorJobs
    >>> from windlass.scale import POLICIES
    >>> from windlass.sim.coupled import SinglePart
    >>> from windlass.sim.instances.fleet import InstanceFleet
    >>> from windlass.sim.instances.part import InstancesPart
    >>> from windlass.sim.ledger import Ledger
    >>> fleet = InstanceFleet((InstanceType("small", cores=4, price=2.0, launch=300.0, most=2),))
    >>> jobs = VectorJobs.of(submit=[0.0], run=[3300.0], cores=2)
    >>> ledger, rng = Ledger([fleet.rows()], 1), np.random.default_rng(1)
    >>> part = InstancesPart(jobs, fleet, ledger, rng, begin=0.0)
    >>> found = elastic_metrics(drive(SinglePart(part, ledger), {"scale": POLICIES.make("reactive", rng)}))
    >>> found.cost_usd, found.instance_hours, found.mean_wait_s, found.delayed_by_launch, found.fragmentation
    (2.0, 1.0, 300.0, 1, 0.5)
    """
    launches, wait = done.launches, done.start - done.jobs.submit
    paid, hours = done.paid(), done.paid().sum() / _HOUR
    ready = np.where(np.isnan(launches.ready), launches.launched + paid, launches.ready)
    starting = ready - launches.launched
    price = np.array([kind.price for kind in done.fleet.types])[launches.kind]
    weight = price if price.any() else np.ones(len(price))
    used = float((_used(done) * weight).sum())
    return ElasticMetrics(
        jobs=len(done.jobs),
        cost_usd=float((paid * price).sum() / _HOUR),
        instance_hours=float(hours),
        mean_wait_s=float(wait.mean()),
        p95_wait_s=float(np.percentile(wait, 95)),
        delayed_by_launch=int((delayed(done) & (wait > 0)).sum()),
        over_provisioned_h=float((paid - starting - launches.busy).sum() / _HOUR),
        under_provisioned_h=float((wait * done.shares).sum() / _HOUR),
        starting_h=float(starting.sum() / _HOUR),
        utilisation=_part(used, float((paid * weight).sum())),
        fragmentation=1.0 - _part(used, float((launches.busy * weight).sum())),
        scaling_actions=len(paid) + int((launches.why == _IDLE).sum()),
        failed=int(((launches.why != _IDLE) & (launches.why >= 0)).sum()),
        lost=done.lost,
    )


def delayed(done: Scaled) -> NDArray[np.bool_]:
    """Return (n,) whether a job completed on an instance that was not ready when the job was submitted."""
    attempts, launches = done.attempts, done.launches
    found = np.zeros(len(done.jobs), np.bool_)
    late = launches.ready[attempts.launch] > done.jobs.submit[attempts.job]
    found[attempts.job[late & (attempts.began == done.start[attempts.job])]] = True
    return found


def _used(done: Scaled) -> _Floats:
    """Return (l,) instance-seconds that jobs used of each launched instance, by its most valuable resource."""
    attempts, launches = done.attempts, done.launches
    capacity = np.array([kind.vector() for kind in done.fleet.types])
    main = (capacity > 0).argmax(axis=1)
    of = launches.kind[attempts.launch]
    # A job on several instances uses the same share of each.
    pieces = np.maximum(1.0, np.round(done.shares[attempts.job]))
    requested = done.jobs.resources[attempts.job, main[of]] / pieces / capacity[of, main[of]]
    seconds = requested * (attempts.ended - attempts.began)
    return np.bincount(attempts.launch, seconds, len(launches.kind)).astype(np.float64)


def _part(part: float, whole: float) -> float:
    return part / whole if whole > 0.0 else 0.0
