"""The part of rigid jobs on one site: an ordering policy chooses which waiting jobs start now."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from windlass.jit import Kernel
from windlass.model import InputError, JobTable, Owners, PolicyError
from windlass.model.pools import Pools
from windlass.order.site import SitePolicy
from windlass.order.site.compiled import (
    STARTS_NONE,
    STARTS_NONE_BY_INDEX,
    CompiledPolicy,
    as_compiled,
    indexed_of,
    numbers_of,
    select_of,
)
from windlass.order.site.ownership import half_life_of
from windlass.order.site.view import SiteView, Start
from windlass.policy.answers import expect_answer
from windlass.sim.demand import CoreDemand
from windlass.sim.handle import Handle
from windlass.sim.instants.loop import KERNELS as COMMON_KERNELS
from windlass.sim.ledger import Ledger
from windlass.sim.part import Concerns, Due, Entries, Loop
from windlass.sim.site.loop import (
    BAD_POSITION,
    CLAIMED,
    COMMIT,
    DECIDE,
    ENDED,
    FREE,
    HORIZON,
    KERNELS,
    LACKING,
    RUN,
    SETTLE,
    TOO_WIDE,
)
from windlass.sim.site.result import Replay
from windlass.sim.site.setup import make_run, with_log, with_slots
from windlass.sim.site.state import SITE_RUN, SiteClock, SiteCounts, SiteRun
from windlass.sim.status import FULL, POLICY_DUE

_INSTANTS_BETWEEN_REPORTS = 50_000
_ORDER = "order"


def kernels(policy: SitePolicy, pools: bool = False, rated: bool = False) -> tuple[Kernel, ...]:
    """Return the kernels of a site under a policy.

    Parameters
    ----------
    policy
        The policy.
    pools
        Whether jobs need more than processors.
    rated
        Whether speeds of jobs may change.
    """
    return (*COMMON_KERNELS, *_functions(as_compiled(policy), pools, rated), *KERNELS)


def _functions(compiled: CompiledPolicy | None, pools: bool, rated: bool) -> tuple[Kernel, Kernel]:
    """Return a policy's functions for short and for long queues; placeholders for those that are not called."""
    select = STARTS_NONE if compiled is None else select_of(compiled, pools)
    # Guests leave the queue at any place, and an index does not count other resources.
    by_index = None if compiled is None or pools or rated else indexed_of(compiled)
    return select, STARTS_NONE_BY_INDEX if by_index is None else by_index


def _first_of(jobs: JobTable, procs: int) -> int:
    """Return the number of the first job of a width."""
    return int(jobs.job[np.argmax(jobs.procs == procs)])


class SitePart:
    """Rigid jobs on one site: see :class:`windlass.sim.part.Part`.

    A job that loses its cores goes to the end of the queue and restarts from its beginning; the result lists its lost
    attempts.

    Parameters
    ----------
    jobs
        Rigid jobs in order of submission.
    policy
        Called at each instant at which something changed while jobs wait: a compiled policy within the loop, a policy
        in Python from outside.
    ledger
        The ledger that has the site's cores.
    site
        The site's number in the ledger.
    number
        The part's number in the ledger; None for a number that no part has.
    kill
        Whether a job is stopped when it reaches its requested time.
    record
        Whether to record the nodes that each job held.
    rated
        Whether speeds of jobs may change, as those of :class:`~windlass.sim.site.rated.RatedSite`.
    owners
        Users, groups and queues of the jobs; None if unknown.
    pools
        Resources of the whole site other than processors; None if jobs need processors only.
    progress
        Called from time to time with the number of jobs submitted.

    Raises
    ------
    InputError
        A job is wider than the whole site, or than what the limits of other parts leave; it needs more of a pool than
        the site has; the ledger does not have the site; or another part has the number.

    Examples
    --------
    >>> from windlass.order.site.policies.fcfs import Fcfs
    >>> part = SitePart(JobTable.of(submit=[0], run=[7], procs=[2]), Fcfs(), Ledger([[2]], parts=1))
    >>> part.advance(5.0), part.ended(), part.advance(7.0), part.ended()
    (5.0, False, 7.0, True)
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
        record: bool = False,
        rated: bool = False,
        owners: Owners | None = None,
        pools: Pools | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        number = ledger.join(site, number)
        self._jobs, self._ledger, self._site, self._owners = jobs, ledger, site, owners
        self._processors = ledger.whole(site)
        widest = int(jobs.procs.max()) if len(jobs) else 0
        if widest > self._processors:
            raise InputError(
                f"job {_first_of(jobs, widest)} needs {widest} processors, the site has {self._processors}"
            )
        sure = ledger.left_by_others(site, number)
        if widest > sure:
            raise InputError(
                f"job {_first_of(jobs, widest)} needs {widest} processors; other parts may hold "
                f"{self._processors - sure} of the site's {self._processors}, so it may never start"
            )
        self._pools = Pools.none(len(jobs)) if pools is None else pools
        for row in self._pools.lacking()[:1]:
            name = self._pools.names[int(np.argmax(self._pools.needs[:, row] > self._pools.amount))]
            raise InputError(f"job {jobs.job[row]} needs more {name} than the site has")
        compiled = as_compiled(policy)
        select, select_by_index = _functions(compiled, len(self._pools.amount) > 0, rated)
        self._run = make_run(
            select.as_argument(),
            select_by_index.as_argument(),
            ledger.nodes,
            site,
            number,
            jobs,
            kill=kill,
            python=compiled is None,
            record=record,
            rated=rated,
            indexed=select_by_index is not STARTS_NONE_BY_INDEX,
            owners=owners,
            half_life=half_life_of(policy),
            given=numbers_of(policy),
            pools=self._pools,
        )
        self._handle = Handle(self._run, SITE_RUN)
        self._counts, self._clock = SiteCounts.of(self._run.site.counts), SiteClock.of(self._run.site.clock)
        #: The policy's reasons; for a policy in Python in the order of first use.
        self._reasons = {} if compiled is None else {why: code for code, why in enumerate(compiled.reasons)}
        self._decide, self._commit = DECIDE.entry(), COMMIT.entry()
        self._settle = SETTLE.entry()
        self._progress = progress or (lambda _: None)
        self._loop = Loop(
            RUN.entry(),
            self._handle,
            _INSTANTS_BETWEEN_REPORTS,
            self._notify,
            self._grow,
        )

    def concerns(self) -> Concerns:
        """Return the site."""
        return Concerns(sites=(self._site,))

    def entries(self) -> Entries:
        """Return the compiled steps."""
        return Entries(
            self._handle.address,
            run=RUN.as_argument().entry,
            steps=self._loop.steps,
            settle=SETTLE.as_argument().entry,
            decide=DECIDE.as_argument().entry,
            horizon=HORIZON.as_argument().entry,
            ended=ENDED.as_argument().entry,
            advanced=self._advanced,
            settled=self._settled,
            decided=self._decided,
        )

    def horizon(self) -> float:
        """Return the next instant of a site with watched rows or a policy in Python; infinity for others."""
        next_one: float = HORIZON.entry()(self._handle.address)
        return next_one

    def advance(self, until: float) -> float:
        """Advance the site through its instants."""
        return self._advanced(self._loop.start(until), until)

    def alter(self, now: float) -> None:
        """Do nothing: other parts change a site's capacity."""

    def settle(self, now: float) -> None:
        """Kill jobs on rows to be vacated; make a decision due if more cores are idle than before."""
        self._settled(self._settle(self._handle.address, now), now)

    def decide(self, now: float) -> Sequence[Due]:
        """Submit arriving jobs and start jobs."""
        return self._decided(self._decide(self._handle.address, now), now)

    def wants(self, decision: str) -> bool:
        """Return whether a decision is still due."""
        return self._clock.decision_due < np.inf

    def view(self, decision: str) -> SiteView:
        """Return the site at this instant."""
        site, jobs, counts = self._run.site, self._jobs, self._counts
        return SiteView.of_rows(
            self._clock.now,
            self._processors,
            self._free(),
            counts.refused,
            int(self._ledger.nodes.owed[self._site]),
            int(CLAIMED.entry()(self._handle.address)),
            queue=site.queue[counts.queue_head : counts.queue_tail],
            running=site.running[: counts.running],
            job=jobs.job,
            submit=jobs.submit,
            procs=site.procs,
            request=jobs.request,
            expected_end=site.expected_end,
            note=site.note,
            owners=self._owners,
            used=site.used,
            pools=site.pools,
            needs=site.needs,
            pool_names=self._pools.names,
        )

    def act(self, decision: str, answer: Start) -> None:
        """Start the jobs of an answer."""
        site, counts = self._run.site, self._counts
        queue = site.queue[counts.queue_head : counts.queue_tail]
        procs, needs = self._jobs.procs[queue], self._pools.needs[:, queue]
        start = expect_answer(answer, Start)
        places = start.positions(
            self._jobs.job[queue], procs, self._free(), needs, site.pools, self._pools.names
        )
        codes = self._reasons
        site.chosen[: len(places)] = places
        site.reason[: len(places)] = [codes.setdefault(why, len(codes)) for why in answer.reasons()]
        if answer.notes is not None:
            site.note[queue] = answer.notes
        counts.answered, counts.wanted = len(places), procs[places].sum()
        while self._commit(self._handle.address) == FULL:
            self._grow()
        self._notify()

    def ended(self) -> bool:
        """Return whether all jobs have ended."""
        return bool(ENDED.entry()(self._handle.address))

    def waits(self) -> bool:
        """Return whether jobs wait while none runs and no submission is pending."""
        return self._clock.next_instant == np.inf and not self.ended()

    def stuck(self) -> Exception:
        """Return the error for jobs that the policy leaves waiting for ever."""
        waiting = self._counts.queue_tail - self._counts.queue_head - self._counts.holes
        left = f"left {waiting} jobs waiting although nothing runs and nothing more is submitted"
        return PolicyError(left, _ORDER)

    def lacking(self, within: float, site: int) -> CoreDemand:
        """Return the processors that waiting jobs lack, in the order of the queue, beyond the idle ones."""
        state, counts = self._run.site, self._counts
        if counts.queue_head == counts.queue_tail:
            return CoreDemand.none()
        rows = state.queue[counts.queue_head : counts.queue_tail]
        rows = rows[rows >= 0]
        procs = state.procs[rows].astype(np.float64)
        lacking = np.clip(np.cumsum(procs) - max(self._free(), 0), 0.0, procs)
        some = lacking > 0.0
        rows = rows[some]
        return CoreDemand(lacking[some], self._jobs.submit[rows], self._jobs.request[rows])

    def finish(self) -> float:
        """Return when the last job so far ended, s; minus infinity if none has."""
        end = self._run.site.end
        return float(np.fmax.reduce(end, initial=-np.inf))

    def uses(self, rows: Sequence[int]) -> NDArray[np.bool_]:
        """Return False for each row: jobs hold the cores that they use."""
        return np.zeros(len(rows), np.bool_)

    def result(self) -> Replay:
        """Return what happened to each job."""
        site = self._run.site
        lost = self._counts.lost
        return Replay(
            self._jobs,
            self._processors,
            site.start,
            site.end,
            site.why,
            tuple(self._reasons),
            site.lost[:lost],
            site.lost_times[:lost, 0],
            site.lost_times[:lost, 1],
            site.pieces_log[: self._counts.pieces_logged],
        )

    def _advanced(self, status: int, until: float) -> float:
        status = self._loop.complete(status, until)
        if status == POLICY_DUE:
            return self._clock.now
        self._raise_for(status)
        return until

    def _settled(self, status: int, now: float) -> None:
        while status == FULL:
            self._grow()
            status = self._settle(self._handle.address, now)

    def _decided(self, status: int, now: float) -> Sequence[Due]:
        while status == FULL:
            self._grow()
            status = self._decide(self._handle.address, now)
        self._raise_for(status)
        return (Due(self, _ORDER),) if status == POLICY_DUE else ()

    def _notify(self) -> None:
        self._progress(self._counts.submitted)

    def _free(self) -> int:
        return int(FREE.entry()(self._handle.address))

    def _grow(self) -> None:
        """Make room for more running jobs, or for longer logs."""
        crowded = self._counts.running + self._counts.answered > len(self._run.site.row_of)
        self._use(with_slots(self._run) if crowded else with_log(self._run))

    def _use(self, run: SiteRun) -> None:
        """Replace the state by the same state in larger arrays."""
        self._run = run
        self._handle.refill(run)

    def _raise_for(self, status: int) -> None:
        problems = {
            BAD_POSITION: "started a job that does not wait, or the same job twice",
            TOO_WIDE: f"started jobs that need more than the {self._free()} idle processors",
            LACKING: f"started jobs that need more {' or '.join(self._pools.names)} than is free",
        }
        if status in problems:
            raise PolicyError(problems[status], _ORDER)
