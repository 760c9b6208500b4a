"""The history of a short task: which sites rejected it, where it went, how long it waited there, and its end."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from windlass.experiment.worlds.cluster.draw import Arrivals
from windlass.experiment.worlds.cluster.explain.recorder import JobOfRun, JobRecorder
from windlass.experiment.worlds.cluster.explain.worker_watch import NodesSeen, WorkerWatch
from windlass.experiment.worlds.cluster.loads.tasks import ShortTasks
from windlass.experiment.worlds.cluster.outcome import tasks_per_row
from windlass.experiment.worlds.cluster.results import ClusterRun
from windlass.report.units import counted, duration, number
from windlass.results.history import HistoryStep, JobHistory
from windlass.sim.ledger import Ledger
from windlass.sim.part import Part
from windlass.sim.workers.result import Dispatched


@dataclass(frozen=True, slots=True, eq=False)
class _Try:
    """A site at which a task may arrive: the time, s, the site, and the nodes before and after the arrival."""

    at: float
    site: str
    before: WorkerWatch
    after: WorkerWatch


class TaskRecorder(JobRecorder):
    """Records the nodes of each site at the instant at which a short task may arrive there.

    A job's tasks arrive together, and each is explained.
    """

    def __init__(self, job: JobOfRun) -> None:
        super().__init__(job)
        self._own: Arrivals[ShortTasks] = next(each for each in job.arrivals.tasks if each.name == job.group)
        self._times = dict(self._arrivals())
        self._telemetry: dict[str, Any] = {}
        self._late: dict[str, bool] = {}
        self._tries: dict[str, _Try] = {}

    def _arrivals(self) -> Iterator[tuple[str, float]]:
        """Return the sites at which the tasks may arrive, each with the time, s, in their order."""
        job, telemetry, at = self._job, self._job.setting.telemetry, self._job.since
        yield job.site, at
        if telemetry.full == "spill" and job.policy("admit", job.site):
            for each in job.arrivals.tasks:
                if each.load == job.load and each.site != job.site:
                    at += telemetry.delay
                    yield each.site, at

    def before(self, kind: str, name: str, part: Any, ledger: Ledger) -> Sequence[Part]:
        """Return a watch of the nodes of a site at which the tasks may arrive."""
        load, _, site = name.partition("@")
        if load != self._job.load or site not in self._times:
            return ()
        if kind == "observed":
            self._telemetry[site] = part
        if kind != "tasks":
            return ()
        at, telemetry = self._times[site], self._telemetry.get(site)
        watches = WorkerWatch(part, telemetry, at), WorkerWatch(part, telemetry, at)
        self._late[site] = part.binds_late
        self._tries[site] = _Try(at, site, *watches)
        return watches[:1]

    def last(self, ledger: Ledger, holders: Mapping[int, str]) -> Sequence[Part]:
        """Return the watches after the arrival."""
        return [each.after for each in self._tries.values()]

    def history(self, done: ClusterRun) -> JobHistory:
        """Return the history of the tasks of the job."""
        job, per_job = self._job, self._own.drawn.per_job
        result = next(each.result for each in done.tasks if (each.load, each.site) == (job.load, job.site))
        first = (job.number - 1) * per_job
        tasks = range(first, first + per_job)
        steps: list[HistoryStep] = []
        for task in tasks:
            of = f"task {task - first + 1}: " if per_job > 1 else ""
            steps += self._steps(task, of, result, done)
        steps.sort(key=lambda step: step.at)
        every = tasks_per_row(job.setting, done)
        shown = -(-first // every) * every
        return JobHistory(
            job.name,
            "task",
            job.since,
            tuple(self._about(tasks, result)),
            tuple(steps),
            {"start_s": float(result.start[shown]), "end_s": float(result.end[shown])},
        )

    def _about(self, tasks: range, result: Dispatched) -> Iterator[str]:
        job, site = self._job, self._job.setting.sites[self._job.site]
        what = "is one task" if len(tasks) == 1 else f"has {len(tasks)} tasks"
        work, speed = self._own.drawn.work[list(tasks)], float(site.speeds()[: site.count].mean())
        alone = f"{duration(float(work.max()) / speed)} on an idle node of mean speed"
        yield (
            f"Job {job.name} {what} of {', '.join(number(each) for each in work.tolist())} units of work, "
            f"{'' if len(tasks) == 1 else 'at most '}{alone}."
        )
        ends = result.end[list(tasks)]
        arrived = f"It arrived {duration(job.since)} after the beginning"
        if np.isnan(ends).any():
            lost = int(np.isnan(ends).sum())
            yield f"{arrived}, and {'did not run' if len(tasks) == 1 else f'{lost} of its tasks did not run'}."
        else:
            yield f"{arrived}, and its response took {duration(float(ends.max()) - job.since)}."

    def _steps(self, task: int, of: str, result: Dispatched, done: ClusterRun) -> Iterator[HistoryStep]:
        """Return the steps of one task."""
        tries = list(self._times)
        refused = math.isnan(float(result.response[task]))
        # The number of the site that ran it, among those at which it was tried.
        last = len(tries) if refused else 1 + int(result.site[task]) if len(result.site) else 0
        for place, name in enumerate(tries[: last + 1]):
            each = self._tries[name]
            rejected = place < last
            if self._job.policy("admit", name):
                yield self._admitted(each, of, rejected, place + 1 < len(tries), done)
            elif rejected:
                # Without a policy of its own a site rejects only what it cannot take.
                yield HistoryStep(each.at, f"{of}{name} does not take it", figures={"site": name})
            if not rejected:
                yield from self._ran(each, of, task, result)

    def _admitted(self, each: _Try, of: str, rejected: bool, more: bool, done: ClusterRun) -> HistoryStep:
        """Return the step of the nodes' answers at a site."""
        seen, busy = each.before.seen, self._busy(each, done)
        up, accepting = int(seen.present.sum()), int(seen.accepting.sum())
        figures: dict[str, Any] = {"site": each.site, "nodes": up, "accepting": accepting, **busy}
        spill = self._job.setting.telemetry.full == "spill"
        if rejected:
            what = f"{of}all {up} nodes of {each.site} reject it"
            delay = duration(self._job.setting.telemetry.delay)
            then = (
                f"it goes to the next site, {delay} later" if more else "no site is left, and it does not run"
            )
            then = then if spill else "it does not run"
        elif accepting:
            accept = "accepts" if accepting == 1 else "accept"
            what, then = f"{of}{accepting} of {counted(up, 'node')} of {each.site} {accept} tasks", ""
        else:
            what, then = f"{of}all {up} nodes of {each.site} reject tasks", "one of them gets it nevertheless"
        texts = [then] if then else []
        if busy:
            low, high = (f"{100.0 * busy[name]:.3g} %" for name in ("busy_least", "busy_most"))
            share = low if low == high else f"{low} to {high}"
            texts.append(f"in the last step, its nodes were busy for {share} of the time")
        return HistoryStep(
            each.at, what, "; ".join(texts), "admit", self._job.policy("admit", each.site), figures
        )

    def _busy(self, each: _Try, done: ClusterRun) -> dict[str, float]:
        """Return the least and the largest share of the last step in which nodes were busy; nothing if unknown."""
        of = (self._job.load, each.site)
        observed = next((one.result for one in done.observed if (one.load, one.site) == of), None)
        if observed is None:
            return {}
        step = int(each.at / observed.every) - 1
        if not 0 <= step < len(observed.channels):
            return {}
        busy = observed.of("busy")[step]
        known = busy[~np.isnan(busy)]
        return {"busy_least": float(known.min()), "busy_most": float(known.max())} if len(known) else {}

    def _ran(self, each: _Try, of: str, task: int, result: Dispatched) -> Iterator[HistoryStep]:
        """Return the steps from the arrival at the site that ran the task to its end."""
        seen, policy = each.before.seen, self._job.policy("dispatch", each.site)
        worker, start, end = int(result.worker[task]), float(result.start[task]), float(result.end[task])
        node = self._node(each.site, worker)
        here = int(seen.tasks[worker])
        figures: dict[str, Any] = {"site": each.site, "node": worker, "tasks": here, "waiting": seen.waiting}
        state = _state(seen)
        if self._late[each.site]:
            queue = f"behind {counted(seen.waiting, 'task')} that {'waits' if seen.waiting == 1 else 'wait'}"
            if start > each.at:
                what = f"{of}waits until a node of {each.site} takes it, {queue if seen.waiting else 'first in line'}"
                yield HistoryStep(each.at, what, state, "dispatch", policy, figures)
        else:
            grew = np.flatnonzero(each.after.seen.tasks > seen.tasks)
            first = worker if worker in grew or not len(grew) else int(grew[0])
            yield HistoryStep(
                each.at,
                f"{of}goes to {self._node(each.site, first)}, which had {counted(int(seen.tasks[first]), 'task')}",
                state,
                "dispatch",
                policy,
                figures,
            )
            if first != worker:
                yield HistoryStep(
                    start,
                    f"{of}had moved to {node}, as {self._node(each.site, first)} went down",
                    figures=figures,
                )
        speed = f"{number(float(seen.speed[worker]))} of {number(float(seen.base[worker]))} work/s"
        waited = start - each.at
        why = "" if waited <= 0.0 else f"it had waited {duration(waited)} at {each.site}"
        parts = [text for text in (why, f"{node} ran at {speed} when it arrived") if text]
        late = self._late[each.site]
        yield HistoryStep(
            start, f"{of}starts on {node}", "; ".join(parts), "dispatch" if late else "", policy if late else "",
            {**figures, "waited_s": waited, "speed": float(seen.speed[worker])},
        )  # fmt: skip
        yield HistoryStep(end, f"{of}ends", f"it ran {duration(end - start)}", figures={"ran_s": end - start})

    def _node(self, site: str, worker: int) -> str:
        kind = "node" if worker < self._job.setting.sites[site].count else "instance"
        return f"{kind} {worker} of {site}"


def _state(seen: NodesSeen) -> str:
    """Return the tasks at the nodes that are up, as text."""
    tasks = seen.tasks[seen.present]
    if not len(tasks):
        return "no node is up"
    free = int((tasks == 0).sum())
    return f"{free} of {len(tasks)} nodes had no task, the others {_range(tasks[tasks > 0])}"


def _range(tasks: Any) -> str:
    if not len(tasks):
        return "none"
    low, high = int(tasks.min()), int(tasks.max())
    return counted(low, "task") if low == high else f"{low} to {high} tasks"
