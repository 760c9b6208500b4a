"""A site with changing speeds of running jobs, where a job may run on the processors of another."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.jit import Kernel
from windlass.model import InputError, JobTable
from windlass.order.site import SitePolicy
from windlass.sim.ledger import Ledger
from windlass.sim.site.loop import next_instant, opened
from windlass.sim.site.moves import lose_job, take_slot
from windlass.sim.site.part import SitePart
from windlass.sim.site.rates import set_rate, take_in
from windlass.sim.site.setup import with_log, with_slots
from windlass.sim.site.state import NO_ROW, SiteCounts
from windlass.sim.status import FIRST_OWN, FULL, REACHED

#: The named job does not run, or does not wait.
ABSENT = FIRST_OWN
_Rows = NDArray[np.int64]


def _set_rate(address, row, rate, pace, now):
    """Change the speed of a running job."""
    run = opened(address)
    if run.site.slot[row] < 0:
        return ABSENT
    set_rate(run, row, rate, pace, now)
    run.site.clock[0].next_instant = next_instant(run)
    return REACHED


def _take_in(address, host, guest, promise, now):
    """Start a waiting job on processors of a running one."""
    run = opened(address)
    site, counts = run.site, run.site.counts[0]
    place = counts.queue_head
    while place < counts.queue_tail and site.queue[place] != guest:
        place += 1
    if place == counts.queue_tail or site.slot[host] < 0:
        return ABSENT
    if counts.running == len(site.row_of):
        return FULL
    for later in range(place, counts.queue_tail - 1):
        site.queue[later] = site.queue[later + 1]
    counts.queue_tail -= 1
    take_slot(site, guest)
    take_in(run, host, guest, promise, now)
    # Jobs behind the guest may go ahead now.
    counts.refused = 0
    site.clock[0].freed_until = np.inf
    site.clock[0].decision_due = now
    site.clock[0].next_instant = next_instant(run)
    return REACHED


def _evict(address, row, now):
    """Kill a running job, which returns to the queue."""
    run = opened(address)
    if run.site.slot[row] < 0:
        return ABSENT
    if lose_job(run, row, now) == FULL:
        return FULL
    run.site.clock[0].next_instant = next_instant(run)
    return REACHED


SET_RATE = Kernel(_set_rate, types.int64(*(types.int64,) * 2, *(types.float64,) * 3), allocates=False)
TAKE_IN = Kernel(_take_in, types.int64(*(types.int64,) * 3, *(types.float64,) * 2), allocates=False)
EVICT = Kernel(_evict, types.int64(types.int64, types.int64, types.float64), allocates=False)
KERNELS = (SET_RATE, TAKE_IN, EVICT)


class RatedSite(SitePart):
    """Rigid jobs on one site; its caller sets their speeds and their hosts.

    As at any site, a job that loses its cores goes to the end of the queue. Its guest keeps running.

    Parameters
    ----------
    jobs, policy, ledger, site, number, kill, progress
        See :class:`~windlass.sim.site.part.SitePart`.

    Raises
    ------
    InputError
        See there.

    Examples
    --------
    >>> from windlass.order.site.policies.fcfs import Fcfs
    >>> jobs = JobTable.of(submit=[0, 0], run=[10, 6], procs=[2, 1], request=[60, 60])
    >>> site = RatedSite(jobs, Fcfs(), Ledger([[2]], parts=1))
    >>> _ = site.advance(0.0), site.decide(0.0)
    >>> site.take_in(host=0, guest=1, promise=16.0, now=0.0, why="shares")
    >>> site.set_rate(0, 0.5, 0.0), site.set_rate(1, 0.75, 0.0)
    (None, None)
    >>> _ = site.advance(99.0)
    >>> site.result().end.tolist()
    [20.0, 8.0]
    """

    def __init__(
        self,
        jobs: JobTable,
        policy: SitePolicy,
        ledger: Ledger,
        *,
        site: int = 0,
        number: int | None = None,
        kill: bool = True,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        super().__init__(
            jobs, policy, ledger, site=site, number=number, kill=kill, rated=True, progress=progress
        )

    @property
    def address(self) -> int:
        """The address of the site's state, for compiled code."""
        return self._handle.address

    @property
    def counts(self) -> SiteCounts:
        """The numbers of the site's jobs now."""
        return self._counts

    def set_rate(self, row: int, rate: float, now: float, *, pace: float = 1.0) -> None:
        """Change the speed of a running job: its end moves, but not beyond its limit.

        Parameters
        ----------
        row
            The job's row in the table.
        rate
            Seconds of its run time that pass per second, at least 0; a job starts at 1.
        now
            The instant, s.
        pace
            Seconds of its limit that pass per second, at least 0.

        Raises
        ------
        InputError
            The job does not run, or a number is negative or not finite.
        """
        for name, value in (("rate", rate), ("pace", pace)):
            if not 0 <= value < np.inf:
                raise InputError(f"{name} is {value}, expected a finite number of at least 0")
        if SET_RATE.entry()(self._handle.address, row, rate, pace, now) == ABSENT:
            raise InputError(f"job {self._jobs.job[row]} does not run")

    def take_in(self, host: int, guest: int, promise: float, now: float, why: str) -> None:
        """Start a waiting job on processors of a running one, at speed 0 until :meth:`set_rate` changes it.

        Parameters
        ----------
        host, guest
            Rows of the table. The host must not share, and must have the processors that the guest needs.
        promise
            When its processors are expected back, s.
        now
            The instant, s.
        why
            The reason to record, as for an ordering policy.

        Raises
        ------
        InputError
            The host does not run, already shares, or is too narrow; or the guest does not wait.
        """
        site, jobs = self._run.site, self._jobs
        pair = f"job {jobs.job[guest]} on job {jobs.job[host]}"
        if site.slot[host] >= 0:
            if site.guest[host] != NO_ROW or site.host[host] != NO_ROW:
                raise InputError(f"{pair}: job {jobs.job[host]} shares already")
            if site.procs[host] < site.procs[guest]:
                raise InputError(f"{pair}: it needs {site.procs[guest]} processors of {site.procs[host]}")
        while (status := TAKE_IN.entry()(self._handle.address, host, guest, promise, now)) == FULL:
            self._use(with_slots(self._run))
        if status == ABSENT:
            raise InputError(f"{pair}: the one does not run, or the other does not wait")
        self._run.site.why[guest] = self._reasons.setdefault(why, len(self._reasons))

    def evict(self, row: int, now: float) -> None:
        """Kill a running job; it returns to the queue and restarts from its beginning.

        Raises
        ------
        InputError
            The job does not run.
        """
        while (status := EVICT.entry()(self._handle.address, row, now)) == FULL:
            self._use(with_log(self._run))
        if status == ABSENT:
            raise InputError(f"job {self._jobs.job[row]} does not run")

    def running(self) -> _Rows:
        """Return the rows of running jobs, including guests, by expected end."""
        site = self._run.site
        return site.running[: self._counts.running].copy()

    def waiting(self) -> _Rows:
        """Return the rows of waiting jobs, in the order of the queue."""
        site = self._run.site
        return site.queue[self._counts.queue_head : self._counts.queue_tail].copy()

    def work_left(self, row: int, now: float) -> float:
        """Return how long a running job still runs at full speed, s."""
        site = self._run.site
        return max(0.0, float(site.left[row] - (now - site.since[row]) * site.rate[row]))

    def began(self, row: int) -> float:
        """Return the start of a job (s); NaN for a job that has not started."""
        return float(self._run.site.start[row])

    def speed(self, row: int) -> float:
        """Return the seconds of its run time that pass per second for a running job."""
        return float(self._run.site.rate[row])

    def runs(self, row: int) -> bool:
        """Return whether a job runs."""
        return bool(self._run.site.slot[row] >= 0)

    def runs_since(self, rows: _Rows, begins: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return for each row whether its job runs and started at the given time, s."""
        site = self._run.site
        since: NDArray[np.bool_] = (site.slot[rows] >= 0) & (site.start[rows] == begins)
        return since

    def has_ended(self, row: int) -> bool:
        """Return whether a job has ended, or was stopped at its limit."""
        return bool(np.isfinite(self._run.site.end[row]))

    def free(self) -> int:
        """Return the idle processors."""
        return self._free()

    def owed(self) -> int:
        """Return the processors held beyond the site's capacity; they are not idle once given back."""
        return int(self._ledger.nodes.owed[self._site])

    def width(self, row: int) -> int:
        """Return the processors of a job; for a running host, without its guest's."""
        return int(self._run.site.procs[row])

    def ran(self, row: int, now: float) -> float:
        """Return how much of its requested time a running job has used, s, at the paces that it had."""
        site = self._run.site
        return float(site.request[row] - site.allowance[row] + (now - site.since[row]) * site.pace[row])
