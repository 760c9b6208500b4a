"""Rigid parallel jobs on one site, run under a policy: the site's part alone, on a ledger of one pooled row.

A job holds its processors from start to end without a break. At each instant, all events are processed first (ends,
then submissions in the order of the log); then the policy is called once.
"""

from __future__ import annotations

from collections.abc import Callable

from windlass.drive import drive
from windlass.model import InputError, JobTable, Owners
from windlass.model.pools import Pools
from windlass.order.site import SitePolicy
from windlass.sim.coupled import SinglePart
from windlass.sim.ledger import Ledger
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
    """Run jobs under a policy.

    Parameters
    ----------
    jobs
        Rigid jobs in order of submission.
    processors
        Processors of the site.
    policy
        Called at each instant with a submission or an end while jobs wait.
    kill
        Whether a job is stopped when it reaches its requested time.
    owners
        Users, groups and queues of the jobs; None if unknown.
    pools
        Resources other than processors; None if jobs need processors only.
    progress
        Called from time to time with the number of jobs submitted.

    Raises
    ------
    InputError
        A job is wider than the site, or needs more of a pool than the site has.
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
