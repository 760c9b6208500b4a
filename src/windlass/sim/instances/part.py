"""The part in which an autoscaler acts: instances that come and go, and jobs that are packed on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from windlass.jit import Kernel
from windlass.model import InputError, PolicyError
from windlass.model.values import number
from windlass.model.vectors import VectorJobs
from windlass.scale import Demands, ScaleView, Totals
from windlass.sim.handle import Handle
from windlass.sim.instances.collect import taken_down
from windlass.sim.instances.fleet import InstanceFleet
from windlass.sim.instances.history import InstanceHistory
from windlass.sim.instances.loop import ACT, ALTER, DECIDE, KERNELS, RUN, SETTLE, STORE, WAITING_ROWS
from windlass.sim.instances.needs import Needs
from windlass.sim.instances.result import Scaled
from windlass.sim.instances.setup import DecisionTimes, make_run, with_room
from windlass.sim.instances.state import (
    ASKING,
    DUE,
    ENDED,
    N_LEAVING,
    N_STARTING,
    N_UP,
    N_USED,
    NEXT,
    NOW,
    RUNNING,
    SUBMITTED,
    VACATED,
    WAITING,
)
from windlass.sim.nodes import KERNELS as LEDGER_KERNELS
from windlass.sim.nodes import Ledger
from windlass.sim.part import Due, Loop, Quiet
from windlass.sim.status import ASK, FULL

_SCALE = "scale"
_INSTANTS_BETWEEN_REPORTS = 50_000
#: So many decisions in a row may leave jobs waiting while nothing at all happens.
_IN_VAIN = 10_000
#: How long no launch takes, and whether it boots.
_NONE = np.empty(0), np.empty(0, np.uint8)


def kernels() -> tuple[Kernel, ...]:
    """What has to be compiled."""
    return (*LEDGER_KERNELS, *KERNELS)


class InstancesPart(Quiet):
    """Instances and the jobs on them: see :class:`windlass.sim.part.Part`.

    Every so many seconds the policy says how many instances there should be; and in between at looks, where jobs came
    that wait, instances are empty, or a launch failed. What is missing is launched. Where there
    are more than that, those go that were empty for as long as they may be; never one that holds a job, of this part or
    of another that holds cores of the ledger. What is starting comes up in any case. What fails to boot is launched
    again at the next decision, if it is wanted then.

    A job waits until an instance has room for all that it asks for, and then stays there until it ends. One that is
    larger than any type gets so many whole instances at once. A job that is killed runs again from its beginning.

    Parameters
    ----------
    jobs
        In order of submission.
    fleet
        Which instances there are.
    ledger
        Its site has the rows that :meth:`InstanceFleet.rows` says; an instance that is up is a row that has cores.
    rng
        Of launches: how long they take, and whether they fail.
    period
        Seconds from one decision to the next.
    look
        Seconds from one look to the next; None for none.
    begin
        The first decision, s; by default long enough before the first job for what that asks for to be ready.
    history
        (t, k) what was needed before, a row a period.
    site, number
        Which site of the ledger, and which part.
    others
        Whether other parts hold cores of these rows, or want to know of them.
    at_once
        Nobody is asked: whatever instance a job needs is there at once, and gone when it is empty.
    warm
        Until then, s, whatever instance a job needs is there at once: a cluster that was up before begins so.
    progress
        Told the share of the jobs that was submitted.

    Raises
    ------
    InputError
        A job can never run, a number is out of bounds, or the ledger's rows are others.

    Examples
    --------
    >>> from windlass.model.instances import InstanceType
    >>> fleet = InstanceFleet((InstanceType("small", cores=4, most=2),))
    >>> jobs = VectorJobs.of(submit=[0.0, 0.0], run=[60.0, 60.0], cores=3)
    >>> part = InstancesPart(jobs, fleet, Ledger([fleet.rows()], 1), np.random.default_rng(1), at_once=True)
    >>> part.advance(np.inf), part.ended(), len(part.result().launches.kind)
    (inf, True, 2)
    """

    def __init__(
        self,
        jobs: VectorJobs,
        fleet: InstanceFleet,
        ledger: Ledger,
        rng: np.random.Generator,
        *,
        period: float = 600.0,
        look: float | None = None,
        begin: float | None = None,
        history: NDArray[np.float64] | None = None,
        site: int = 0,
        number_in_ledger: int = 0,
        others: bool = False,
        at_once: bool = False,
        warm: float = -np.inf,
        progress: Callable[[float], None] | None = None,
    ) -> None:
        ledger.join(site, number_in_ledger)
        rows = ledger.rows(site)
        if ledger.nodes.whole[rows].tolist() != fleet.rows():
            raise InputError(f"site {site} of the ledger has other rows than the instances that there may be")
        self._period = number("period", period, 0.0, open_below=True)
        self._look = None if look is None else number("look", look, 0.0, open_below=True)
        self._jobs, self._fleet, self._ledger, self._rng = jobs, fleet, ledger, rng
        self._needs = Needs(jobs, fleet.types)
        self._begin = _begin(jobs, fleet, period) if begin is None else begin
        self._history = InstanceHistory(len(fleet.types), history)
        for row in rows:
            ledger.set_capacity(row, 0)
        self._others, self._first = others, rows.start
        if others:
            ledger.watch(site)
        times = DecisionTimes(self._begin, warm, np.inf if self._look is None else self._look, at_once)
        self._run = make_run(
            jobs, self._needs, fleet, ledger.nodes, times, site=site, part=number_in_ledger, others=others
        )
        self._handle, self._clock = Handle(self._run, STORE), self._run.queues.clock
        self._counts = self._run.queues.counts
        self._alter, self._settle = ALTER.entry(), SETTLE.entry()
        self._decide, self._act, self._rows = DECIDE.entry(), ACT.entry(), WAITING_ROWS.entry()
        self._asked = self._in_vain = 0
        self._shown: ScaleView | None = None
        self._needed = np.empty(0)
        self._progress = progress or (lambda _: None)
        self._loop = Loop(RUN.entry(), self._handle, _INSTANTS_BETWEEN_REPORTS, self._tell, self._grow)

    def horizon(self) -> float:
        """The next instant at which anything happens where others want to know, else the next decision."""
        if self.ended():
            return np.inf
        return float(self._clock[NEXT] if self._others else self._clock[DUE])

    def advance(self, until: float) -> float:
        """Go through instants."""
        status = self._loop.until(until)
        return float(self._clock[NOW]) if status == ASK else until

    def alter(self, now: float) -> None:
        """Instances come up, fail, and are taken by their provider."""
        while self._alter(self._handle.address, now) == FULL:
            self._grow()
        self._vacate()

    def settle(self, now: float) -> None:
        """Where others gave cores back, there may be room."""
        if self._others:
            self._settle(self._handle.address, now)

    def decide(self, now: float) -> Sequence[Due]:
        """Arrivals, and who starts; every so often, whether there should be more instances."""
        while (status := self._decide(self._handle.address, now)) == FULL:
            self._grow()
        self._vacate()
        return (Due(self, _SCALE),) if status == ASK else ()

    def wants(self, decision: str) -> bool:
        """Until it was answered."""
        return bool(self._counts[ASKING])

    def view(self, decision: str) -> ScaleView:
        """Instances, who is on them, and who waits."""
        queues, of = self._run.queues, self._run.fleet.number
        due = bool(self._clock[DUE] <= self._clock[NOW])
        self._needed = self._needs.counts(queues.alive)
        if due:
            self._history.show(self._asked, self._needed)
        running = queues.job_of[queues.job_of >= 0]
        waiting = np.empty(int(self._counts[WAITING]), np.int64)
        self._rows(self._handle.address, waiting)
        waiting = waiting[np.argsort(queues.sequence[waiting])]
        self._shown = ScaleView(
            float(self._clock[NOW]),
            self._period,
            self._fleet.types,
            of[:, N_UP].copy(),
            of[:, N_STARTING].copy(),
            of[:, N_USED].copy(),
            self._demands(running, queues.start),
            self._demands(waiting, queues.submit),
            self._history.rows(),
            self._look,
            due,
        )
        return self._shown

    def act(self, decision: str, answer: Totals) -> None:
        """Launch what is missing, and take away what is too much and idle."""
        assert self._shown is not None  # asked for before any answer
        view, fleet = self._shown, self._run.fleet
        answer.check(view)
        totals, there = np.array(answer.counts, np.int64), view.ready + view.coming
        self._history.note(view.now, self._needed, totals, there, answer.why)
        fleet.wanted[:] = totals
        delays, boots = _NONE
        if (totals > there).any():
            room = np.minimum(fleet.limit, np.diff(fleet.first)) - there - fleet.number[:, N_LEAVING]
            delays, boots = self._drawn(np.maximum(np.minimum(totals - there, room), 0))
        self._asked += view.due
        made = self._act(self._handle.address, delays, boots, self._begin + self._asked * self._period)
        self._vacate()
        self._check_not_in_vain(bool(made))

    def ended(self) -> bool:
        """Whether all jobs have run."""
        return bool(self._counts[ENDED] == len(self._jobs))

    def waits(self) -> bool:
        """Whether jobs wait, none runs, none is to come and no instance is."""
        counts, of = self._counts, self._run.fleet.number
        if counts[RUNNING] > 0 or counts[SUBMITTED] < len(self._jobs):
            return False
        return not of[:, N_STARTING].any() and not self.ended()

    def stuck(self) -> Exception:
        """Jobs wait, and there will be no instance for them."""
        return PolicyError(
            f"left {self._counts[WAITING]} jobs waiting although no job runs and no instance is coming",
            _SCALE,
        )

    def result(self) -> Scaled:
        """What happened."""
        return taken_down(
            self._jobs, self._fleet, self._needs, self._run, self._begin, self._history.decisions()
        )

    def _drawn(self, missing: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
        """How long launches take, type by type, and whether they boot."""
        fleet, rng = self._fleet, self._rng
        delays = np.repeat([kind.launch for kind in fleet.types], missing).astype(np.float64)
        boots = np.ones(len(delays), np.uint8)
        if fleet.launch_spread > 0.0:
            delays *= np.exp(rng.normal(0.0, fleet.launch_spread, len(delays)))
        if fleet.boot_failure > 0.0:
            boots = (rng.random(len(delays)) >= fleet.boot_failure).astype(np.uint8)
        return delays, boots

    def _demands(self, rows: NDArray[np.int64], since: NDArray[np.float64]) -> Demands:
        return Demands(self._jobs.resources[rows], since[rows], self._jobs.walltime[rows])

    def _check_not_in_vain(self, launched: bool) -> None:
        vain = not launched and self.waits() and not self._run.fleet.number[:, N_LEAVING].any()
        self._in_vain = self._in_vain + 1 if vain else 0
        if self._in_vain > _IN_VAIN:
            raise self.stuck()

    def _vacate(self) -> None:
        """Tell the ledger which instances are gone, so that it sees to it that nobody holds on to them."""
        if self._others:
            for row in self._run.fleet.vacated[: self._counts[VACATED]].tolist():
                if self._ledger.nodes.capacity[self._first + row] == 0:
                    self._ledger.set_capacity(self._first + row, 0, vacate=True)

    def _tell(self) -> None:
        self._progress(float(self._counts[SUBMITTED]) / max(1, len(self._jobs)))

    def _grow(self) -> None:
        self._run = with_room(self._run)
        self._handle.refill(self._run)


def _begin(jobs: VectorJobs, fleet: InstanceFleet, period: float) -> float:
    """So long before the first job that two decisions' instances are ready for it."""
    longest = max(kind.launch for kind in fleet.types)
    return float(jobs.submit[0]) - (np.ceil(longest / period) + 1.0) * period if len(jobs) else 0.0
