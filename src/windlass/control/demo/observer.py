"""A part of the simulation that reads the others at intervals, writes the journal, and waits for the wall clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from windlass.control.demo.answers import AnswerRecords
from windlass.control.demo.fleet_watches import QueryWatch, StagedWatch
from windlass.control.demo.machines import SiteMachines
from windlass.control.demo.pace import SimulatedPace
from windlass.control.demo.predictor import SitePredictor
from windlass.control.demo.watches import BatchWatch, InstanceWatch, JobWatch, LoadName, SeenJobs
from windlass.control.journal import DecisionRecord, EngineStatus, EventRecord, JournalWriter, ViewRecord
from windlass.control.predicted_starts import replay_policy
from windlass.control.site_status import MOST, SiteStatus, status_text
from windlass.experiment.start_times.calibration import Calibration
from windlass.experiment.worlds.cluster.policies import DECISIONS
from windlass.experiment.worlds.cluster.spec import ClusterSetting
from windlass.report.units import counted
from windlass.sim.ledger import Ledger
from windlass.sim.part import Concerns, Due, Part, Quiet
from windlass.sim.workers.part import WorkersPart
from windlass.sim.workers.scalars import NONE


class ClusterObserver:
    """Observes a run of a cluster, see :class:`~windlass.experiment.worlds.cluster.results.ClusterRecorder`.

    Parameters
    ----------
    engine, about
        Name of the engine, and a line on it.
    setting
        The scenario's variant.
    journal
        Where decisions, events and views are written.
    pace
        The speed of the simulation.
    """

    def __init__(
        self, engine: str, about: str, setting: ClusterSetting, journal: JournalWriter, pace: SimulatedPace
    ) -> None:
        self._engine, self._about, self._setting = engine, about, setting
        self._journal, self._pace = journal, pace
        #: Time of the latest observation, s.
        self.now = 0.0
        self._watches: list[JobWatch] = []
        self._parts: list[Part] = []
        self._predictors: list[SitePredictor] = []
        self._calibration = Calibration()
        self._machines: dict[str, SiteMachines] = {}
        #: By site: the parts of short tasks, which are counted only.
        self._tasks: dict[str, list[WorkersPart]] = {}
        sites = {name: setting.sites_of(load) for name, load in setting.loads.items()}
        self._answers = AnswerRecords(engine, self._policy, sites)
        #: Decisions since the last observation.
        self._decided: list[DecisionRecord] = []

    def before(self, kind: str, name: str, part: Any, ledger: Ledger) -> Sequence[Part]:
        """Take note of a part with jobs."""
        load, _, site = name.partition("@")
        watch: JobWatch
        if kind == "rigid":
            spec = self._setting.chosen().of("order", site)
            replayed = None if spec is None else replay_policy(spec)
            watch = BatchWatch(
                LoadName(self._engine, load, site), part, self._policy("order", site), replayed
            )
            if spec is not None:
                self._predictors.append(SitePredictor(watch.name, part, spec, self._calibration))
        elif kind == "scaled" and load:
            watch = InstanceWatch(LoadName(self._engine, load, site), part)
        elif kind == "staged":
            watch = StagedWatch(LoadName(self._engine, load, ""), part)
        elif kind == "queries":
            watch = QueryWatch(LoadName(self._engine, load, ""), part)
        else:
            if kind == "tasks":
                self._tasks.setdefault(site, []).append(part)
                self._parts.append(part)
            return ()
        self._watches.append(watch)
        self._parts.append(part)
        return ()

    def last(self, ledger: Ledger, holders: Mapping[int, str]) -> Sequence[Part]:
        """Return the part that observes."""
        for place, (name, spec) in enumerate(self._setting.sites.items()):
            self._machines[name] = SiteMachines(spec, ledger, place, holders)
        return (ObservingPart(self, self._parts, self._pace.every, self._setting.seconds),)

    def log(self, address: str, view: Any, answer: Any) -> None:
        """Take note of an answer."""
        self._decided += self._answers.of(address, view, answer)

    def observe(self, now: float) -> None:
        """Write what happened since the observation before, and the state at ``now`` (s); then wait.

        Raises
        ------
        EngineStoppedError
            A stop was requested.
        InputError
            The journal cannot be written.
        """
        seen = {watch.name: watch.look(now) for watch in self._watches}
        guests = {row.job for row in self._decided if row.decision == "share"}
        decisions = self._decided + [
            row for each in seen.values() for row in each.decisions if row.job not in guests
        ]
        events = [row for each in seen.values() for row in each.events]
        self._decided, self.now = [], now
        self._journal.append(
            *sorted(decisions, key=_time),
            *sorted(events, key=_time),
            *self._views(now, seen),
            *(row for each in self._predictors for row in each.look(now)),
            EngineStatus(self._engine, "running", now, self._about),
        )
        self._pace.wait(now)

    def _views(self, now: float, seen: Mapping[LoadName, SeenJobs]) -> list[ViewRecord]:
        found = []
        for site in (*self._setting.sites, ""):
            some = [each for name, each in seen.items() if name.site == site]
            running = [job for each in some for job in each.running]
            waiting = [job for each in some for job in each.waiting]
            machines = self._machines.get(site)
            if machines is None and not some:
                continue
            cores, idle = (0, 0) if machines is None else machines.cores()
            state = SiteStatus(
                running=tuple(running[:MOST]),
                waiting=tuple(waiting[:MOST]),
                running_count=len(running),
                waiting_count=len(waiting),
                cores=cores,
                idle=idle,
                held=() if machines is None else machines.held(),
                machines=() if machines is None else machines.machines(),
                note=self._note(site),
                queue=next((each.queue for each in some if each.queue is not None), None),
            )
            found.append(ViewRecord(now, self._engine, site, status_text(state)))
        return found

    def _note(self, site: str) -> str:
        parts = self._tasks.get(site)
        if parts is None:
            return ""
        # Higher numbers are benchmark tasks of the policy.
        lines = [(part.state.line["running"], len(part.state.submit)) for part in parts]
        count = sum(int(((running != NONE) & (running < tasks)).sum()) for running, tasks in lines)
        return _tasks_note(count)

    def _policy(self, decision: str, site: str) -> str:
        known = next((each for each in DECISIONS if each == decision), None)
        spec = None if known is None else self._setting.chosen().of(known, site or None)
        return "" if spec is None else spec.name


class ObservingPart(Quiet):
    """Calls an observer at intervals of simulated time, until the last arrival; it changes nothing.

    Parameters
    ----------
    observer
        The observer.
    parts
        The parts that it reads.
    every, until
        Time between observations, and their end, s.
    """

    def __init__(self, observer: ClusterObserver, parts: Sequence[Part], every: float, until: float) -> None:
        self._observer, self._parts = observer, tuple(parts)
        self._every, self._until, self._count = every, until, 0

    def concerns(self) -> Concerns:
        """Return the parts that it reads."""
        return Concerns(reads=self._parts)

    def horizon(self) -> float:
        """Return the time of the next observation, s; infinity after the last."""
        time = self._count * self._every
        return time if time < self._until else np.inf

    def decide(self, now: float) -> Sequence[Due]:
        """Observe if it is time."""
        if now >= self.horizon():
            self._count += 1
            self._observer.observe(now)
        return ()


def _tasks_note(count: int) -> str:
    """Return a note on the short tasks that run.

    >>> _tasks_note(0), _tasks_note(1), _tasks_note(2000)
    ('', '1 short task runs', '2,000 short tasks run')
    """
    if count == 0:
        return ""
    return counted(count, "short task") + (" runs" if count == 1 else " run")


def _time(row: DecisionRecord | EventRecord) -> float:
    return row.time
