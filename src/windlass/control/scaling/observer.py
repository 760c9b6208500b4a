"""What an autoscaler sees and does, as rows of the control plane's journal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from math import ceil

from windlass.control.journal import (
    ActOutcome,
    ActRecord,
    DecisionRecord,
    EngineStatus,
    EventRecord,
    JobKey,
    JournalReader,
    JournalWriter,
    ViewRecord,
)
from windlass.control.site_status import MOST, HeldCores, MachineState, SiteStatus, status_text
from windlass.engines.elastic.engine import LiveScale
from windlass.engines.elastic.system import ClusterError, ClusterSnapshot, ElasticSystem, SeenMachine
from windlass.model.instances import InstanceType
from windlass.report.units import counted
from windlass.scale import POLICIES, ScaleView, Totals

#: States of machines whose cores count as up: those that the view of the policy counts.
_UP = ("up", "unreachable")


class ScaleObserver:
    """Writes the journal of one engine.

    Parameters
    ----------
    key
        The engine and its site.
    about
        A line on the engine.
    policy
        Name of the policy.
    journal, reader
        The journal, and a reader of it: acts that the process before has left are concluded.
    acts
        True if answers are carried out.
    clock
        Returns the Unix time, s.
    """

    def __init__(
        self,
        key: JobKey,
        about: str,
        policy: str,
        journal: JournalWriter,
        reader: JournalReader,
        *,
        acts: bool,
        clock: Callable[[], float],
    ) -> None:
        self._key, self._about, self._policy, self._journal = key, about, policy, journal
        self._acting, self._clock = acts, clock
        #: The totals of the latest decision, and those that the cluster accepted.
        self._decided: tuple[int, ...] | None = None
        self._requested: tuple[int, ...] | None = None
        #: The machines by name, if the cluster names them.
        self._machines: tuple[SeenMachine, ...] = ()
        #: Why the cluster does not answer; empty if it does.
        self._away = ""
        left = [act for act in reader.open_acts() if act.job == key]
        outcome = "unknown: the process ended; totals are requested again"
        journal.conclude_all([ActOutcome(act.key, clock(), outcome) for act in left])

    def beat(self) -> None:
        """Write that the engine runs, or that the cluster does not answer."""
        state = "unreachable" if self._away else "running"
        self._journal.append(
            EngineStatus(self._key.engine, state, self._clock(), self._about, self._away),
        )

    def answered(self, found: ClusterSnapshot) -> None:
        """Take note that the cluster answers, and of its machines."""
        self._machines = found.machines
        if self._away:
            self._away = ""
            self._journal.append(EventRecord(self._clock(), self._key, "reachable"))
            self.beat()

    def failed(self, error: ClusterError) -> None:
        """Take note that the cluster does not answer."""
        if str(error) != self._away:
            self._away = str(error)
            self._journal.append(EventRecord(self._clock(), self._key, "error", self._away))
        self.beat()

    def decided(self, view: ScaleView, answer: Totals) -> None:
        """Write the decisions of an answer, one for each type, if the totals have changed; and the state."""
        if answer.counts != self._decided:
            self._decided = answer.counts
            self._journal.append(*self._decisions(view, answer))
        state = instance_status(view, self._machines)
        self._journal.append(ViewRecord(view.now, self._key.engine, self._key.site, status_text(state)))
        self.beat()

    def carry_out(self, answer: Totals, types: tuple[InstanceType, ...], act: Callable[[], bool]) -> None:
        """Carry an answer out; if the cluster has not these totals yet, as an act of the journal.

        Parameters
        ----------
        answer
            The answer.
        types
            The types of its counts.
        act
            Requests the totals, and returns whether the cluster accepted.
        """
        if answer.counts == self._requested:
            act()
            return
        now = self._clock()
        totals = ", ".join(f"{count} × {kind.name}" for kind, count in zip(types, answer.counts, strict=True))
        key = f"{self._key} request {now:.6f}"
        self._journal.intend(ActRecord(key, now, self._key, f"request {totals}"))
        done = act()
        self._requested = answer.counts if done else None
        self._journal.conclude(key, self._clock(), "requested" if done else f"failed: {self._away}")

    def _decisions(self, view: ScaleView, answer: Totals) -> Iterator[DecisionRecord]:
        rows = zip(view.types, answer.counts, view.ready, view.coming, answer.why, strict=True)
        before = "" if self._acting else "would request "
        for kind, count, ready, coming, why in rows:
            text = f"{before}{count} × {kind.name}, where {ready} are up and {coming} are starting"
            yield DecisionRecord(view.now, self._key, POLICIES.key, self._policy, text, why)


class ObservedSystem:
    """A cluster whose answers and failures are noted, see :class:`~windlass.engines.elastic.system.ElasticSystem`.

    Parameters
    ----------
    system
        The cluster.
    observer
        Notified of each call.
    """

    def __init__(self, system: ElasticSystem, observer: ScaleObserver) -> None:
        self._system, self._observer = system, observer
        self.describe = system.describe

    @property
    def types(self) -> tuple[InstanceType, ...]:
        """The available types of instances."""
        return self._system.types

    def look(self) -> ClusterSnapshot:
        """Return the current state of the cluster."""
        try:
            found = self._system.look()
        except ClusterError as error:
            self._observer.failed(error)
            raise
        self._observer.answered(found)
        return found

    def set_totals(self, totals: Totals, seen: ClusterSnapshot) -> None:
        """Request totals."""
        try:
            self._system.set_totals(totals, seen)
        except ClusterError as error:
            self._observer.failed(error)
            raise


class ObservedScale:
    """The engine of scaling, whose answers are written to the journal, and carried out or not.

    Parameters
    ----------
    engine
        The engine.
    types
        The types of instances.
    observer
        Notified of each answer.
    acts
        True if answers are carried out.
    """

    def __init__(
        self, engine: LiveScale, types: tuple[InstanceType, ...], observer: ScaleObserver, acts: bool
    ) -> None:
        self._engine, self._types, self._observer, self._acting = engine, types, observer, acts
        self._view: ScaleView | None = None
        self.wait, self.result, self.close = engine.wait, engine.result, engine.close

    def view(self, decision: str) -> ScaleView:
        """Return the engine's view."""
        self._view = self._engine.view(decision)
        return self._view

    def act(self, decision: str, answer: Totals) -> None:
        """Check an answer, write it to the journal, and carry it out."""
        assert self._view is not None  # view() is called before
        answer.check(self._view)
        self._observer.decided(self._view, answer)
        if self._acting:
            self._observer.carry_out(answer, self._types, lambda: self._request(decision, answer))

    def _request(self, decision: str, answer: Totals) -> bool:
        before = self._engine.result().failures
        self._engine.act(decision, answer)
        return self._engine.result().failures == before


def instance_status(view: ScaleView, seen: Sequence[SeenMachine] = ()) -> SiteStatus:
    """Return the state of a cluster of instances; where they have no names, those of a type are numbered.

    Parameters
    ----------
    view
        What the policy reads.
    seen
        The machines by name; empty if the cluster does not name them.

    Examples
    --------
    >>> import numpy as np
    >>> from windlass.scale import Demands
    >>> view = ScaleView(0.0, 300.0, (InstanceType("small", cores=4, most=9, price=0.2),), np.array([2]), np.array([1]),
    ...     np.array([1]), Demands.none(), Demands.none(), np.zeros((1, 1)))
    >>> [(each.name, each.state, each.idle) for each in instance_status(view).machines]
    [('small 1', 'up', 0), ('small 2', 'up', 4), ('small 3', 'starting', 4)]
    >>> seen = [SeenMachine("node-a", 0, "up", 2.5), SeenMachine("node-b", 0, "drained", 1.0)]
    >>> [(each.name, each.state, each.idle) for each in instance_status(view, seen).machines]
    [('node-a', 'up', 1), ('node-b', 'drained', 3)]
    """
    rows, note = list(seen or _numbered(view)), "type {}" if seen else ""
    machines = [_machine(each, view.types[each.row], note) for each in rows]
    up, held = 0, Counter[str]()
    for each, machine in zip(rows, machines, strict=True):
        if each.state in _UP:
            up += machine.cores
            held[view.types[each.row].name] += machine.cores - machine.idle
    running, waiting = len(view.running.resources), len(view.waiting.resources)
    return SiteStatus(
        (),
        (),
        running,
        waiting,
        up,
        up - held.total(),
        tuple(HeldCores(kind, count) for kind, count in held.most_common() if count),
        tuple(machines[:MOST]),
        f"{counted(running, 'request')} of running jobs and {counted(waiting, 'request')} of waiting ones",
        lists_jobs=False,
    )


def _numbered(view: ScaleView) -> Iterator[SeenMachine]:
    """Yield the instances of each type: those in use, empty ones, and those that start."""
    counts = zip(view.types, view.ready.tolist(), view.coming.tolist(), view.used.tolist(), strict=True)
    for row, (kind, ready, coming, used) in enumerate(counts):
        for place in range(ready + coming):
            state = "up" if place < ready else "starting"
            yield SeenMachine(f"{kind.name} {place + 1}", row, state, kind.cores if place < used else 0.0)


def _machine(seen: SeenMachine, kind: InstanceType, note: str) -> MachineState:
    cores = int(kind.cores)
    # A machine that is down has no core to take.
    idle = 0 if seen.state == "down" else max(0, cores - ceil(seen.held))
    return MachineState(seen.name, seen.state, cores, idle, kind.price, note.format(kind.name))
