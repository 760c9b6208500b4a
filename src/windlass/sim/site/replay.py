"""Rigid parallel jobs on one site, run through a policy: the site's part by itself, on a ledger of one pooled row.

A job holds its processors from start to end without a break. At each instant, everything that happens then is
taken in first (ends, then submissions in the order of the log); then the policy is asked once.
"""

from __future__ import annotations

from collections.abc import Callable

from windlass.drive import drive
from windlass.model import InputError, JobTable, Owners
from windlass.model.pools import Pools
from windlass.order.site import SitePolicy
from windlass.sim.coupled import SinglePart
from windlass.sim.nodes import Ledger
from windlass.sim.site.part import SitePart
from windlass.sim.site.result import Replay


def replay(
    jobs: JobTable,
    processors: int,
    policy: SitePolicy,
    *,
    kill: bool = True,
    owners: Owners | None = None,
    pools: Pools | None = None,
    progress: Callable[[int], None] | None = None,
) -> Replay:
    """Run jobs through a policy.

    Parameters
    ----------
    jobs
        Rigid jobs in order of submission.
    processors
        How many the site has.
    policy
        Asked at each instant at which a job was submitted or ended and somebody waits.
    kill
        Whether a job is stopped when it reaches its requested time.
    owners
        Whose the jobs are; None where nobody knows.
    pools
        What the jobs hold beside their processors; None where they wait for processors alone.
    progress
        Called now and then with the number of jobs submitted so far.

    Raises
    ------
    InputError
        A job is wider than the site, or asks for more of a pool than there is.
    PolicyError
        The policy started a job that does not wait or does not fit, or left jobs waiting on an idle site.

    Examples
    --------
    >>> from windlass.order.site.policies.fcfs import Fcfs
    >>> jobs = JobTable.of(submit=[0, 0, 1], run=[10, 10, 10], procs=[2, 2, 1])
    >>> replay(jobs, processors=3, policy=Fcfs()).start.tolist()
    [0.0, 10.0, 10.0]
    """
    if not (processors >= 1 and processors % 1 == 0):
        raise InputError(f"processors is {processors}, expected a whole number of at least 1")
    ledger = Ledger([[int(processors)]], parts=1)
    part = SitePart(jobs, policy, ledger, kill=kill, owners=owners, pools=pools, progress=progress)
    replayed: Replay = drive(SinglePart(part, ledger), {"order": policy})
    return replayed
