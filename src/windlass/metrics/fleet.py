"""What is measured of a run of the wide-area world."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from windlass.results import HIGHER, LOWER
from windlass.sim.fleet.engine import FleetRun


@dataclass(frozen=True, slots=True)
class GeoMetrics:
    """Metrics of jobs over several sites.

    Parameters
    ----------
    jobs, tasks
        How many ran.
    mean_response_s, median_response_s, p90_response_s
        End − submit, s.
    makespan_s
        From the first submit to the last end, s.
    wan_bytes
        Sent between sites.
    egress_usd
        What sending it costs by the price of each pair of sites; 0 without prices.
    remote_share
        Share of map tasks that read from another site.
    utilisation
        Share of slot-seconds held between the first submit and the last end.
    """

    jobs: int
    tasks: int
    mean_response_s: float = field(metadata=LOWER)
    median_response_s: float = field(metadata=LOWER)
    p90_response_s: float = field(metadata=LOWER)
    makespan_s: float = field(metadata=LOWER)
    wan_bytes: float
    egress_usd: float
    remote_share: float
    utilisation: float = field(metadata=HIGHER)


def geo_metrics(run: FleetRun) -> GeoMetrics:
    """Metrics of a finished run.

    Examples
    --------
    >>> from windlass.place.policies.in_place import InPlace
    >>> from windlass.sim.fleet.engine import simulate
    >>> from windlass.model.fleet import FleetJobs, StageSpec, Fleet
    >>> fleet = Fleet.of(slots=[2, 2], up=[1e9, 1e9], down=[1e9, 1e9])
    >>> jobs = FleetJobs.of([0.0], [[StageSpec(2.0, here=(4, 2), task_bytes=1e8)]])
    >>> geo_metrics(simulate(fleet, jobs, InPlace())).mean_response_s
    4.0
    """
    maps = run.source >= 0
    remote = maps & (run.source != run.site)
    span = float(run.end.max() - run.jobs.submit.min())
    held = float((run.computed - run.begun).sum())
    return GeoMetrics(
        jobs=len(run.jobs),
        tasks=len(run.begun),
        mean_response_s=float(run.response.mean()),
        median_response_s=float(np.median(run.response)),
        p90_response_s=float(np.percentile(run.response, 90)),
        makespan_s=span,
        wan_bytes=float(run.sent.sum()),
        egress_usd=float((run.carried * run.fleet.price).sum()),
        remote_share=float(remote.sum() / max(maps.sum(), 1)),
        utilisation=held / (float(run.fleet.slots.sum()) * span) if span > 0 else 0.0,
    )
