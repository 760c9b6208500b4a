"""The history of a job for instances: why it waited, launches meanwhile, the instance that it ran on, and its end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.experiment.worlds.cluster.explain.recorder import JobOfRun, JobRecorder
from windlass.experiment.worlds.cluster.explain.site_watch import SiteCores, SiteWatch
from windlass.experiment.worlds.cluster.results import ClusterRun
from windlass.report.units import counted, duration, number
from windlass.results.history import HistoryStep, JobHistory
from windlass.sim.instances.result import REASONS, Scaled
from windlass.sim.ledger import Ledger
from windlass.sim.part import Part

#: What the end of an instance was, by its reason.
_GONE: Mapping[str, str] = {
    "failed": "failed",
    "interrupted": "was interrupted",
    "idle": "ended",
    "": "lost its cores",
}


@dataclass(frozen=True, slots=True)
class _Run:
    """One wait of a job and the run that followed: when it was queued, began and ended, s, and its launches."""

    queued: float
    began: float
    ended: float
    launches: tuple[int, ...]


class VectorRecorder(JobRecorder):
    """Records the cores of the instances of a site while a job waits and runs."""

    def __init__(self, job: JobOfRun) -> None:
        super().__init__(job)
        self._watch: SiteWatch | None = None

    def last(self, ledger: Ledger, holders: Mapping[int, str]) -> Sequence[Part]:
        """Return the watch of the job's site."""
        job = self._job
        names = job.holder_names(holders)
        self._watch = SiteWatch(ledger, job.site_number(job.site), names, job.since, job.until)
        return (self._watch,)

    def history(self, done: ClusterRun) -> JobHistory:
        """Return the job's history."""
        job, watch = self._job, self._watch
        assert watch is not None  # The run is done.
        scaled = next(each.result for each in done.scaled if (each.load, each.site) == (job.load, job.site))
        row = int(np.flatnonzero(scaled.jobs.job == job.number)[0])
        runs, steps = list(_runs(scaled, row)), list[HistoryStep]()
        for place, run in enumerate(runs):
            steps += self._waited(run, row, scaled, watch)
            steps.append(self._started(run, scaled))
            steps.append(self._ended(run, place + 1 < len(runs), scaled))
        steps.sort(key=lambda step: step.at)
        return JobHistory(
            job.name,
            "vector job",
            job.since,
            tuple(self._about(row, runs, scaled)),
            tuple(steps),
            {"start_s": float(scaled.start[row]), "end_s": float(scaled.end[row])},
        )

    def _about(self, row: int, runs: Sequence[_Run], scaled: Scaled) -> Iterator[str]:
        job, cores = self._job, float(scaled.jobs.resources[row, 1])
        types = ", ".join(f"{kind.name} with {kind.cores:g} cores" for kind in scaled.fleet.types)
        request = f"{cores:g} core{'' if cores == 1.0 else 's'} of an instance of {job.site}"
        yield f"Job {job.name} requested {request} ({types}), where it stays until it ends."
        waits = sum(run.began - run.queued for run in runs)
        lost = f", lost its instance {counted(len(runs) - 1, 'time')}," if len(runs) > 1 else ""
        yield (
            f"It arrived {duration(job.since)} after the beginning, waited {duration(waits)}{lost} and ran for "
            f"{duration(runs[-1].ended - runs[-1].began)}."
        )

    def _waited(self, run: _Run, row: int, scaled: Scaled, watch: SiteWatch) -> Iterator[HistoryStep]:
        if run.began <= run.queued:
            return
        job, policy = self._job, self._job.policy("scale", self._job.site)
        cores = watch.cores(run.queued)
        free = _free(cores, job)
        starting = _starting(scaled, run.queued)
        ahead = _waiting(scaled, run.queued, row)
        most = sum(kind.most for kind in scaled.fleet.types)
        up = (
            f"{len(free)} of at most {counted(most, 'instance')} up, with {', '.join(map(str, free))} cores idle"
            if free
            else f"none of at most {counted(most, 'instance')} is up"
        )
        coming = f"{starting} starting" if starting else "none starting"
        queue = f"{counted(ahead, 'earlier job')} in the queue" if ahead else "no earlier job in the queue"
        yield HistoryStep(
            run.queued,
            "waits",
            f"{up}; {coming}; {queue}; cores of all nodes and instances of {job.site} are held by: {cores.text()}",
            figures={
                "free": free,
                "most": most,
                "starting": starting,
                "ahead": ahead,
                "held": dict(cores.held),
            },
        )
        yield from self._decisions(run, scaled, policy)
        for launch in run.launches:
            ready = float(scaled.launches.ready[launch])
            if run.queued < ready <= run.began:
                yield HistoryStep(
                    ready,
                    f"{_called(scaled, launch)} is ready",
                    f"{duration(ready - float(scaled.launches.launched[launch]))} after its launch",
                    figures={"launch": launch},
                )

    def _decisions(self, run: _Run, scaled: Scaled, policy: str) -> Iterator[HistoryStep]:
        """Return the autoscaler's decisions during the wait; those that launch nothing are minor."""
        log = scaled.decisions
        during = np.flatnonzero((log.time >= run.queued) & (log.time <= run.began))
        for place in during.tolist():
            at = float(log.time[place])
            launched = int((scaled.launches.launched == at).sum())
            texts = [
                f"{wanted} of {kind.name}, where {there} are up or starting and {number(float(needed))} are needed"
                for kind, wanted, there, needed in zip(
                    scaled.fleet.types,
                    log.totals[place].tolist(),
                    log.there[place].tolist(),
                    log.needed[place].tolist(),
                    strict=True,
                )
            ]
            then = (
                f"{counted(launched, 'launch')[:-1]}es"
                if launched > 1
                else "1 launch"
                if launched
                else "no launch"
            )
            yield HistoryStep(
                at,
                f"wants {', '.join(texts)}: {then}",
                "; ".join(dict.fromkeys(why for why in log.why[place] if why)),
                "scale",
                policy,
                {
                    "wanted": log.totals[place].tolist(),
                    "there": log.there[place].tolist(),
                    "needed": log.needed[place].tolist(),
                    "launched": launched,
                },
                minor=not launched,
            )

    def _started(self, run: _Run, scaled: Scaled) -> HistoryStep:
        texts = []
        for launch in run.launches:
            launched, ready = float(scaled.launches.launched[launch]), float(scaled.launches.ready[launch])
            when = f"{duration(run.began - launched)} before" if launched < run.began else "at this time"
            since = "just now" if ready == run.began else f"{duration(run.began - ready)} before"
            texts.append(f"it was launched {when}, and became ready {since}")
        names = " and ".join(_called(scaled, launch) for launch in run.launches)
        waited = "" if run.began > run.queued else " immediately"
        if not waited:
            log, first = scaled.launches, run.queued
            calls = int(((scaled.decisions.time >= first) & (scaled.decisions.time <= run.began)).sum())
            launched = int(((log.launched >= first) & (log.launched <= run.began)).sum())
            texts.insert(0, f"it has waited {duration(run.began - first)}")
            texts.append(
                f"meanwhile, {counted(calls, 'decision')} on scale launched {counted(launched, 'instance')}"
            )
        return HistoryStep(
            run.began,
            f"starts{waited} on {names}",
            "; ".join(texts),
            figures={
                "launches": list(run.launches),
                "launched_s": [float(scaled.launches.launched[launch]) for launch in run.launches],
                "ready_s": [float(scaled.launches.ready[launch]) for launch in run.launches],
            },
        )

    def _ended(self, run: _Run, lost: bool, scaled: Scaled) -> HistoryStep:
        ran = run.ended - run.began
        if not lost:
            return HistoryStep(run.ended, "ends", f"it ran {duration(ran)}", figures={"ran_s": ran})
        launch = next(
            (each for each in run.launches if scaled.launches.gone[each] == run.ended), run.launches[0]
        )
        why = REASONS[int(scaled.launches.why[launch])] if scaled.launches.gone[launch] == run.ended else ""
        return HistoryStep(
            run.ended,
            f"loses its instance after {duration(ran)}, and returns to the queue",
            f"{_called(scaled, launch)} {_GONE[why]}",
            figures={"ran_s": ran},
        )


def _runs(scaled: Scaled, row: int) -> Iterator[_Run]:
    """Return the runs of a job, in order of time."""
    attempts, queued = scaled.attempts, float(scaled.jobs.submit[row])
    own = np.flatnonzero(attempts.job == row)
    for began in np.unique(attempts.began[own]).tolist():
        some = own[attempts.began[own] == began]
        ended = float(attempts.ended[some].max())
        yield _Run(queued, began, ended, tuple(attempts.launch[some].tolist()))
        queued = ended


def _free(cores: SiteCores, job: JobOfRun) -> list[int]:
    """Return the idle cores of each instance that is up."""
    count = job.setting.sites[job.site].count
    up: NDArray[np.bool_] = cores.capacity[count:] > 0
    found: list[int] = cores.free[count:][up].tolist()
    return found


def _starting(scaled: Scaled, at: float) -> int:
    """Return the instances that are launched and not ready at the end of an instant, s."""
    log = scaled.launches
    return int(((log.launched <= at) & ~(log.ready <= at) & ~(log.gone <= at)).sum())


def _waiting(scaled: Scaled, at: float, row: int) -> int:
    """Return the jobs that were submitted before the job with this row and wait at the end of an instant, s."""
    submitted = np.flatnonzero(scaled.jobs.submit <= at)
    log, waiting = scaled.attempts, 0
    for other in submitted[submitted < row].tolist():
        own = log.job == other
        runs = own & (log.began <= at) & ~(log.ended <= at)
        waiting += not runs.any() and not scaled.end[other] <= at
    return waiting


def _called(scaled: Scaled, launch: int) -> str:
    kind: Any = scaled.fleet.types[int(scaled.launches.kind[launch])]
    return f"{kind.name} instance {launch + 1}"
