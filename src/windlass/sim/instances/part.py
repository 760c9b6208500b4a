"""The part of a simulated cluster in which an autoscaler acts: instances, and the jobs packed on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from windlass.jit import Kernel
from windlass.model import InputError, PolicyError
from windlass.model.values import number
from windlass.model.vectors import VectorJobs
from windlass.scale import Demands, ScaleView, Totals
from windlass.sim.demand import ScaledLoad
from windlass.sim.handle import Handle
from windlass.sim.instances.collect import collect_run
from windlass.sim.instances.fleet import InstanceFleet
from windlass.sim.instances.history import InstanceHistory
from windlass.sim.instances.loads import OtherLoads
from windlass.sim.instances.loop import (
    ACT,
    ALTER,
    CHECK_DUE,
    DECIDE,
    ENDED,
    HORIZON,
    KERNELS,
    POLL,
    RUN,
    SETTLE,
    WAITING_ROWS,
)
from windlass.sim.instances.needs import Needs
from windlass.sim.instances.result import Scaled
from windlass.sim.instances.setup import DecisionTimes, grow_run, make_run
from windlass.sim.instances.state import RUN_STATE, QueueClock, QueueCounts
from windlass.sim.instants.loop import KERNELS as COMMON_KERNELS
from windlass.sim.ledger import Ledger
from windlass.sim.part import Concerns, Due, Entries, Loop, Quiet
from windlass.sim.status import FULL, POLICY_DUE

_SCALE = "scale"
_INSTANTS_BETWEEN_REPORTS = 50_000
#: Decisions in a row that may leave jobs waiting while nothing else happens; one more is an error.
_MOST_VAIN_DECISIONS = 10_000
#: Delays of no launches, and whether they boot.
_NO_LAUNCHES = np.empty(0), np.empty(0, np.uint8)


def kernels() -> tuple[Kernel, ...]:
    """Return the compiled functions of the part."""
    return (*COMMON_KERNELS, *KERNELS)


class InstancesPart(Quiet):
    """Instances and the jobs on them: see :class:`windlass.sim.part.Part`.

    Once a period the policy decides how many instances of each type are wanted. In between it is polled, if jobs have
    been queued, instances are idle or a launch failed. Missing instances are launched. Unneeded instances end once
    they have been empty for the fleet's idle time; an instance on which any part holds cores is kept, unless these are
    only the share that short tasks keep of each instance. A launch cannot be cancelled. An instance that fails to boot
    is launched again at the next decision, if it is still wanted.

    A job waits until an instance has room for all of its request, and stays there until it ends. A job that is larger
    than any type takes several whole instances at once. A killed job runs again from its beginning.

    Parameters
    ----------
    jobs
        Jobs in order of submission.
    fleet
        Instance types and their behaviour.
    ledger
        Ledger of cores. Its site has the rows of :meth:`InstanceFleet.rows`; the row of an instance that is up has
        cores.
    rng
        Random numbers for launch times and boot failures.
    period
        Time from one periodic decision to the next, s.
    look
        Time from one poll to the next, s; None for no polls.
    begin
        Time of the first decision, s; by default early enough that the instances of two decisions are ready for the
        first job.
    history
        (t, k) instances of each type that were needed before, one row per period.
    site, number_in_ledger
        Number of the site and of this part in the ledger; by default a number that no part has.
    others
        Whether other parts hold cores of these rows, or watch them.
    after
        Number of rows of the site before those of the instances: nodes that are always there.
    loads
        Parts whose load runs on the instances too. The policy sees what they use and lack, and instances are launched
        as long as they have work. List this part after them, so that it sees what they have left waiting.
    at_once
        Ignore the policy: an instance is up as soon as a job needs it, and ends as soon as it is empty.
    warm
        Until this time, s, an instance is up as soon as a job needs it, as in a cluster that was up before.
    progress
        Called with the share of the jobs that has been submitted.

    Raises
    ------
    InputError
        A job can never run, a number is out of bounds, the ledger's rows differ from the fleet's, or another part sets
        their capacity.

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
        number_in_ledger: int | None = None,
        others: bool = False,
        after: int = 0,
        loads: Sequence[ScaledLoad] = (),
        at_once: bool = False,
        warm: float = -np.inf,
        progress: Callable[[float], None] | None = None,
    ) -> None:
        number_in_ledger = ledger.join(site, number_in_ledger)
        rows = ledger.rows(site)[after:]
        if ledger.nodes.whole[rows].tolist() != fleet.rows():
            raise InputError(
                f"site {site}: the ledger has other rows than the fleet, expected those of InstanceFleet.rows() "
                f"from row {after} of the site on"
            )
        self._period = number("period", period, 0.0, open_below=True)
        self._look = None if look is None else number("look", look, 0.0, open_below=True)
        self._jobs, self._fleet, self._ledger, self._rng = jobs, fleet, ledger, rng
        self._needs = Needs(jobs, fleet.types)
        self._begin = _begin(jobs, fleet, period) if begin is None else begin
        self._history = InstanceHistory(len(fleet.types), history)
        ledger.own(rows, "instances")
        for row in rows:
            # A part that keeps cores of each row gives them up until the instance is up.
            ledger.set_capacity(row, 0, vacate=bool(ledger.nodes.held[row].any()))
        others = others or len(loads) > 0 or after > 0
        self._others, self._site = others, site
        if others:
            ledger.watch(site)
        times = DecisionTimes(self._begin, warm, np.inf if self._look is None else self._look, at_once)
        self._run = make_run(
            jobs,
            self._needs,
            fleet,
            ledger.nodes,
            times,
            site=site,
            part=number_in_ledger,
            others=others,
            after=after,
            keeper=ledger.keeper(site),
        )
        self._parts = tuple(loads)
        within = period if look is None else look
        self._loads = OtherLoads(loads, fleet.types, rows, within, site, ledger.keeper(site))
        self._handle = Handle(self._run, RUN_STATE)
        self._counts = QueueCounts.of(self._run.queues.counts)
        self._clock = QueueClock.of(self._run.queues.clock)
        if loads:
            self._counts.kept, self._clock.next_instant = 1, min(self._clock.next_instant, self._begin)
        self._alter, self._settle = ALTER.entry(), SETTLE.entry()
        self._decide, self._act, self._rows = DECIDE.entry(), ACT.entry(), WAITING_ROWS.entry()
        self._periods = self._vain_decisions = 0
        self._clock.next_check = self._begin if loads and self._look is not None else np.inf
        self._last_view: ScaleView | None = None
        self._needed = np.empty(0)
        self._progress = progress or (lambda _: None)
        self._loop = Loop(RUN.entry(), self._handle, _INSTANTS_BETWEEN_REPORTS, self._report, self._grow)

    def concerns(self) -> Concerns:
        """Return the site if other parts share the instances, and the parts of other loads.

        An instant of a load that changes no row does not concern this part: what a load lacks is read at polls.
        """
        return Concerns(sites=(self._site,) if self._others else (), reads=self._parts)

    def entries(self) -> Entries:
        """Return the compiled steps."""
        # Without polls, what the loads have left is read at each instant.
        at_each = bool(self._loads) and self._look is None
        return Entries(
            self._handle.address,
            run=RUN.as_argument().entry,
            steps=self._loop.steps,
            alter=ALTER.as_argument().entry,
            settle=SETTLE.as_argument().entry,
            decide=0 if at_each else DECIDE.as_argument().entry,
            horizon=HORIZON.as_argument().entry,
            ended=ENDED.as_argument().entry,
            advanced=self._advanced,
            altered=self._altered,
            settled=self._settled,
            decided=(lambda _, now: self.decide(now)) if at_each else self._decided,
        )

    def horizon(self) -> float:
        """Return the next instant if other parts share the instances, otherwise the next periodic decision, s.

        With other loads, it is at most the next time of a poll.
        """
        found: float = HORIZON.entry()(self._handle.address)
        return found

    def advance(self, until: float) -> float:
        """Process instants up to a time, s, or to a decision; return the time reached."""
        return self._advanced(self._loop.start(until), until)

    def alter(self, now: float) -> None:
        """Bring up and end the instances that are due."""
        self._altered(self._alter(self._handle.address, now), now)

    def settle(self, now: float) -> None:
        """Take note of cores that other parts have released."""
        if self._others:
            self._settle(self._handle.address, now)

    def decide(self, now: float) -> Sequence[Due]:
        """Queue submitted jobs and place jobs; return the scaling decision if one is due."""
        if self._loads:
            self._look_at_loads(now)
        return self._decided(self._decide(self._handle.address, now), now)

    def wants(self, decision: str) -> bool:
        """Return whether the decision has no answer yet."""
        return bool(self._counts.decision_open)

    def view(self, decision: str) -> ScaleView:
        """Return the instances, the running and the waiting jobs, and what was needed in the past."""
        queues, fleet = self._run.queues, self._run.fleet
        due = self._clock.decision_due <= self._clock.now
        self._needed = self._needs.counts(queues.unfinished)
        if self._loads:
            self._needed = self._needed + self._loads.needed(fleet, self._run.nodes)
        if due:
            self._history.show(self._periods, self._needed)
        running = queues.job_of[queues.job_of >= 0]
        waiting = np.empty(self._counts.waiting, np.int64)
        self._rows(self._handle.address, waiting)
        waiting = waiting[np.argsort(queues.sequence[waiting])]
        self._last_view = ScaleView(
            now=self._clock.now,
            period=self._period,
            types=self._fleet.types,
            ready=fleet.up.copy(),
            coming=fleet.starting.copy(),
            used=fleet.occupied.copy(),
            running=self._demands(running, queues.start),
            waiting=self._demands(waiting, queues.submit),
            history=self._history.rows(),
            look=self._look,
            due=due,
        )
        if self._loads:
            self._last_view = self._loads.add_to(self._last_view, fleet, self._run.nodes)
        return self._last_view

    def act(self, decision: str, answer: Totals) -> None:
        """Launch missing instances, and end unneeded idle ones."""
        assert self._last_view is not None  # a view precedes each answer
        view, fleet = self._last_view, self._run.fleet
        answer.check(view)
        totals, present = np.array(answer.counts, np.int64), view.ready + view.coming
        self._history.note(view.now, self._needed, totals, present, answer.why)
        fleet.wanted[:] = totals
        delays, boots = _NO_LAUNCHES
        if (totals > present).any():
            room = np.minimum(fleet.limit, np.diff(fleet.first)) - present - fleet.leaving
            delays, boots = self._draw_launches(np.maximum(np.minimum(totals - present, room), 0))
        self._periods += view.due
        self._loads.note_decision(view.now)
        launched = self._act(self._handle.address, delays, boots, self._begin + self._periods * self._period)
        self._check_not_in_vain(bool(launched))

    def ended(self) -> bool:
        """Return whether all jobs have ended."""
        return bool(ENDED.entry()(self._handle.address))

    def waits(self) -> bool:
        """Return whether jobs wait although no job runs, none will be submitted and no instance is starting."""
        if self._counts.running > 0 or self._counts.submitted < len(self._jobs):
            return False
        return not self._run.fleet.starting.any() and not self.ended()

    def stuck(self) -> Exception:
        """Return the error for jobs that wait for instances that will never be launched."""
        return PolicyError(
            f"left {self._counts.waiting} jobs waiting although no job runs and no instance is coming",
            _SCALE,
        )

    def result(self) -> Scaled:
        """Return the result of the run so far."""
        return collect_run(
            self._jobs,
            self._fleet,
            self._needs,
            self._run,
            self._begin,
            self._history.decisions(),
            self._clock.now if self._loads.left() else self._loads.finish(),
        )

    def _look_at_loads(self, now: float) -> None:
        """At the time of a poll, make it due if the loads lack more cores than before."""
        if self._look is None:
            self._counts.kept = self._loads.left()
        elif now >= self._clock.next_check:
            # Instants of other parts make no difference, as the loads are read at these times only.
            self._counts.kept = self._loads.left()
            if self._loads.lack_more():
                POLL.entry()(self._handle.address, now)
            self._clock.next_check = (
                self._begin + (np.floor((now - self._begin) / self._look) + 1.0) * self._look
            )

    def _draw_launches(self, missing: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
        """Draw the delays of launches, s, type by type, and whether each boots."""
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
        vain = not launched and self.waits() and not self._run.fleet.leaving.any()
        self._vain_decisions = self._vain_decisions + 1 if vain else 0
        if self._vain_decisions > _MOST_VAIN_DECISIONS:
            raise self.stuck()

    def _advanced(self, status: int, until: float) -> float:
        status = self._loop.complete(status, until)
        return self._clock.now if status == POLICY_DUE else until

    def _altered(self, status: int, now: float) -> None:
        while status == FULL:
            self._grow()
            status = self._alter(self._handle.address, now)

    def _settled(self, status: int, now: float) -> None:
        """Do nothing: the compiled step is always complete."""

    def _decided(self, status: int, now: float) -> Sequence[Due]:
        if status == CHECK_DUE:
            return self.decide(now)
        while status == FULL:
            self._grow()
            status = self._decide(self._handle.address, now)
        return (Due(self, _SCALE),) if status == POLICY_DUE else ()

    def _report(self) -> None:
        self._progress(self._counts.submitted / max(1, len(self._jobs)))

    def _grow(self) -> None:
        self._run = grow_run(self._run)
        self._handle.refill(self._run)


def _begin(jobs: VectorJobs, fleet: InstanceFleet, period: float) -> float:
    """Return a time of the first decision at which the instances of two decisions are ready for the first job, s."""
    longest = max(kind.launch for kind in fleet.types)
    return float(jobs.submit[0]) - (np.ceil(longest / period) + 1.0) * period if len(jobs) else 0.0
