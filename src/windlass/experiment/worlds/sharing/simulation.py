"""One run of jobs, some of which share allocations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.drive import drive
from windlass.model import JobTable
from windlass.model.use import JobUse
from windlass.order.site import POLICIES as ORDER
from windlass.order.site import SitePolicy
from windlass.share import POLICIES as SHARE
from windlass.share import Allocation, Candidate, SharePolicy
from windlass.share.context import ShareContext
from windlass.share.interference import PairSpeeds, Speeds
from windlass.sim.coupled import Coupled
from windlass.sim.ledger import Ledger
from windlass.sim.shares.part import Physics, SharesPart
from windlass.sim.shares.result import Shared
from windlass.sim.site.rated import RatedSite
from windlass.sim.site.result import Replay


@dataclass(frozen=True, slots=True, eq=False)
class SharingCase:
    """The input of a run at one site, apart from the policies' decisions.

    Parameters
    ----------
    jobs, processors
        Rigid jobs, and the site's processors.
    use
        The jobs' resource use.
    physics
        Speeds of two jobs that share.
    memory_per_core
        Memory of a core, bytes.
    checkpoint
        Time between measurements, s.
    noise
        Relative standard deviation of measured task rates.
    kill
        Whether jobs are killed at their walltime.
    """

    jobs: JobTable
    processors: int
    use: JobUse
    physics: Physics
    memory_per_core: float = 4e9
    checkpoint: float = 60.0
    noise: float = 0.02
    kill: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class SharingRun:
    """The result: replay of all jobs, pairs that shared, and the work left of each job when it was stopped, s."""

    jobs: Replay
    shared: Shared
    left: NDArray[np.float64]


def run_sharing(
    case: SharingCase,
    order: SitePolicy,
    share: SharePolicy,
    rng: np.random.Generator,
    progress: Callable[[float], None] | None = None,
) -> SharingRun:
    """Simulate the jobs.

    Parameters
    ----------
    case
        The jobs and the site.
    order, share
        The ordering policy and the co-scheduler.
    rng
        The random generator of measurement noise.
    progress
        Receives the share of submitted jobs.

    Examples
    --------
    >>> from windlass.model.use import UseStage
    >>> from windlass.share.interference import Interference
    >>> from windlass.sim.shares.neighbours import NeighbourSpeeds
    >>> jobs = JobTable.of(submit=[0, 0], run=[600, 600], procs=[4, 4], request=[900, 900])
    >>> use = JobUse.of(["a", "b"], [1e9, 1e9], [[UseStage(600.0, cpu=40.0)]] * 2)
    >>> case = SharingCase(jobs, 4, use, NeighbourSpeeds(Interference(0.0, 0.0, 0.0), use))
    >>> rng = np.random.default_rng(1)
    >>> done = run_sharing(case, ORDER.make("easy", rng), SHARE.make("static", rng), rng)
    >>> done.jobs.end.tolist(), done.shared.guest.tolist()
    ([600.0, 660.0], [1])
    """
    ledger, report = Ledger([[case.processors]], parts=1), progress or (lambda _: None)
    site, part = sharing_parts(
        case, order, share, ledger, rng, progress=lambda submitted: report(submitted / len(case.jobs))
    )
    done, shared = drive(Coupled((site, part), ledger), {ORDER.key: order, SHARE.key: share})
    left = np.array([site.work_left(row, end) for row, end in enumerate(done.end.tolist())])
    return SharingRun(done, shared, left)


def sharing_parts(
    case: SharingCase,
    order: SitePolicy,
    share: SharePolicy,
    ledger: Ledger,
    rng: np.random.Generator,
    *,
    site: int = 0,
    progress: Callable[[int], None] | None = None,
) -> tuple[RatedSite, SharesPart]:
    """Return the parts of the jobs of a site, and of those that share.

    Parameters
    ----------
    case, order, share
        The jobs and the site, the ordering policy and the co-scheduler.
    ledger, site
        The ledger, and the site's number in it.
    rng
        The random generator of measurement noise.
    progress
        Receives the number of submitted jobs.
    """
    rated = RatedSite(case.jobs, order, ledger, site=site, kill=case.kill, progress=progress)
    shares = SharesPart(
        rated,
        case.jobs,
        case.use,
        share,
        case.physics,
        ledger,
        rng,
        memory_per_core=case.memory_per_core,
        every=case.checkpoint,
        noise=case.noise,
        at_site=site,
    )
    return rated, shares


def share_policy(
    name: str, parameters: Mapping[str, Any], case: SharingCase, rng: np.random.Generator
) -> SharePolicy:
    """Create a co-scheduler; one with a parameter for them receives the true speeds of pairs."""
    policy: SharePolicy = SHARE.make(name, ShareContext(rng, true_speeds(case)), **parameters)
    return policy


def true_speeds(case: SharingCase) -> PairSpeeds:
    """Return the true speeds of pairs, given the host's measured use and the guest's mean use."""
    row_of = {job: row for row, job in enumerate(case.jobs.job.tolist())}
    alone = case.use.core_seconds(np.ones(len(case.jobs), np.int64)) / np.maximum(case.use.run(), 1e-9)

    def speeds(host: Allocation, guest: Candidate, quota: int) -> Speeds:
        one, other = row_of[host.job], row_of[guest.job]
        return case.physics(one, other, host.cpu, 100.0 * float(alone[other]), quota)

    return speeds
