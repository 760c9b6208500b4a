"""The history of a batch job: its waits and starts, other jobs that started meanwhile, outages, and its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from windlass.experiment.worlds.cluster.explain.attempts import JobAttempt, LoadAttempts
from windlass.experiment.worlds.cluster.explain.recorder import JobOfRun, JobRecorder
from windlass.experiment.worlds.cluster.explain.sharing import SharingNotes
from windlass.experiment.worlds.cluster.explain.site_watch import (
    SiteCores,
    SiteWatch,
    cores_of_wait,
    holders_text,
)
from windlass.experiment.worlds.cluster.policies import Decision
from windlass.experiment.worlds.cluster.results import ClusterRun
from windlass.report.units import counted, duration
from windlass.results.history import HistoryStep, JobHistory
from windlass.sim.ledger import Ledger
from windlass.sim.part import Part
from windlass.sim.site.result import Replay

_ORDER: Decision = "order"
#: Most jobs that a line names before it counts the others.
_NAMED = 4


class BatchRecorder(JobRecorder):
    """Records the cores of a batch job's site, the reasons for its starts, and the decisions on sharing."""

    def __init__(self, job: JobOfRun) -> None:
        super().__init__(job)
        self._part: Any = None
        self._watch: SiteWatch | None = None
        self._workload = next(each for each in job.arrivals.rigid if each.name == job.group).drawn.jobs
        jobs = self._workload.jobs
        self._row = int(np.flatnonzero(jobs.job == job.number)[0])
        #: The policy's reason for each start of the job, by time.
        self._why: dict[float, str] = {}
        self._sharing = SharingNotes(job, self._row, jobs)

    def before(self, kind: str, name: str, part: Any, ledger: Ledger) -> Sequence[Part]:
        """Take note of the part of the job's load."""
        if kind == "rigid" and name == self._job.group:
            self._part = part
        return ()

    def last(self, ledger: Ledger, holders: Mapping[int, str]) -> Sequence[Part]:
        """Return the watch of the job's site."""
        job = self._job
        site = job.site_number(job.site)
        self._watch = SiteWatch(
            ledger, site, job.holder_names(holders), job.since, job.until, self._note_start
        )
        return (self._watch,)

    def log(self, address: str, view: Any, answer: Any) -> None:
        """Take note of an answer of the policy that shares."""
        if address == f"share.{self._job.group}":
            self._sharing.note(view.now, answer, self._part)

    def _note_start(self, now: float) -> None:
        """Take note of the reason if the job has just started."""
        replay: Replay = self._part.result()
        if replay.start[self._row] == now:
            self._why[now] = replay.reasons[replay.why[self._row]]

    def history(self, done: ClusterRun) -> JobHistory:
        """Return the job's history."""
        job, watch = self._job, self._watch
        assert watch is not None  # The run is done.
        replay = next(each.result for each in done.rigid if (each.load, each.site) == (job.load, job.site))
        shared = [each.result for each in done.shared if (each.load, each.site) == (job.load, job.site)]
        attempts = LoadAttempts.of(replay)
        steps: list[HistoryStep] = []
        own = list(attempts.of_job(self._row))
        for attempt in own:
            steps += self._waited(attempt, attempts, replay, watch)
            if shared:
                steps += self._sharing.steps(attempt, shared[0], replay.jobs)
            steps.append(self._ended(attempt, replay, watch))
        steps.sort(key=lambda step: step.at)
        last = own[-1]
        return JobHistory(
            job.name,
            "job",
            job.since,
            tuple(self._about(own, replay)),
            tuple(steps),
            {"start_s": last.start, "end_s": last.end},
        )

    def _about(self, own: Sequence[JobAttempt], replay: Replay) -> Iterator[str]:
        job, jobs, row = self._job, replay.jobs, self._row
        last = own[-1]
        yield (
            f"Job {job.name} requested {counted(int(jobs.procs[row]), 'core')} of {job.site} for "
            f"{duration(float(jobs.request[row]))}. Each site has batch jobs of its own."
        )
        waits = sum(each.start - each.queued for each in own)
        text = f"It arrived {duration(job.since)} after the beginning, waited {duration(waits)}"
        if len(own) > 1:
            text += f" in total, lost its cores {_times(len(own) - 1)}, and then ran"
        else:
            text += " and ran"
        yield f"{text} for {duration(last.end - last.start)}."

    def _waited(
        self, attempt: JobAttempt, attempts: LoadAttempts, replay: Replay, watch: SiteWatch
    ) -> Iterator[HistoryStep]:
        """Return the steps of a wait up to the start."""
        policy, procs = self._job.policy(_ORDER, self._job.site), int(replay.jobs.procs[self._row])
        if attempt.start > attempt.queued:
            yield self._queued(attempt, attempts, replay, watch.cores(attempt.queued))
            yield from self._others(attempt, attempts, replay, watch)
            found = cores_of_wait(watch, attempt.queued, attempt.start, procs)
            length = attempt.start - attempt.queued
            yield HistoryStep(
                attempt.start,
                f"has waited {duration(length)}",
                f"{_enough(found.enough, length, procs)}; mean cores held meanwhile: {holders_text(found.held)}",
                figures={"waited_s": length, "enough_idle_s": found.enough, "mean_held": dict(found.held)},
            )
        yield self._started(attempt, attempts, replay, watch.cores(attempt.start), policy)

    def _queued(
        self, attempt: JobAttempt, attempts: LoadAttempts, replay: Replay, cores: SiteCores
    ) -> HistoryStep:
        procs, at = int(replay.jobs.procs[self._row]), attempt.queued
        ahead = attempts.ahead(attempts.waiting(at), at, self._row)
        wide, running = int(replay.jobs.procs[attempts.row[ahead]].sum()), len(attempts.running(at))
        few = "fewer than its" if cores.idle < procs else "which would be enough for its"
        text = f"{cores.idle} of {int(cores.capacity.sum())} cores stay idle, {few} {procs}"
        queue = f"{counted(len(ahead), 'earlier job')}, of {counted(wide, 'core')}, in the queue"
        queue = queue if len(ahead) else "no earlier job in the queue"
        return HistoryStep(
            at,
            "waits",
            f"{text}; held by: {cores.text()}; {counted(running, 'batch job')} running; {queue}",
            _ORDER,
            self._job.policy(_ORDER, self._job.site),
            {**cores.figures(), "procs": procs, "ahead": len(ahead), "ahead_cores": wide, "running": running},
        )

    def _others(
        self, attempt: JobAttempt, attempts: LoadAttempts, replay: Replay, watch: SiteWatch
    ) -> Iterator[HistoryStep]:
        """Return a step for each instant of the wait at which other jobs started, after that at which it began."""
        places = attempts.started(attempt.queued, attempt.start)
        ahead = set(attempts.ahead(places, attempt.queued, self._row).tolist())
        # A guest starts by a decision on sharing.
        decisions = np.array(
            [self._sharing.started(attempts.start[each], int(attempts.row[each])) for each in places]
        )
        keys = sorted(set(zip(attempts.start[places].tolist(), decisions.tolist(), strict=True)))
        for at, guests in keys:
            some = places[(attempts.start[places] == at) & (decisions == guests)].tolist()
            decision: Decision = "share" if guests else "order"
            texts, figures = [], {}
            for word, chosen in (
                ("earlier", [each for each in some if each in ahead]),
                ("later", [each for each in some if each not in ahead]),
            ):
                if chosen:
                    texts.append(f"{word} {self._jobs(chosen, attempts, replay)}")
                    figures[word] = [int(replay.jobs.job[attempts.row[each]]) for each in chosen]
            idle = watch.cores(at).idle
            yield HistoryStep(
                at,
                f"{' and '.join(texts)} {_start(len(some), guests)}",
                f"{counted(idle, 'core')} {'stays' if idle == 1 else 'stay'} idle",
                decision,
                self._job.policy(decision, self._job.site),
                {**figures, "idle": idle},
            )

    def _jobs(self, places: Sequence[int], attempts: LoadAttempts, replay: Replay) -> str:
        jobs, rows = replay.jobs, [int(attempts.row[each]) for each in places]
        # The run keeps the reason of a job's last start only.
        reasons = Counter(
            replay.reasons[replay.why[row]]
            for each, row in zip(places, rows, strict=True)
            if not (attempts.lost[each] or self._sharing.started(attempts.start[each], row))
        )
        named = ", ".join(
            f"{self._workload.name_of(row)} ({counted(int(jobs.procs[row]), 'core')})"
            for row in rows[:_NAMED]
        )
        more = f" and {len(rows) - _NAMED} more" if len(rows) > _NAMED else ""
        why = f" [{'; '.join(each for each in reasons if each)}]" if any(reasons) else ""
        return f"{'job' if len(rows) == 1 else 'jobs'} {named}{more}{why}"

    def _started(
        self, attempt: JobAttempt, attempts: LoadAttempts, replay: Replay, cores: SiteCores, policy: str
    ) -> HistoryStep:
        waiting = attempts.waiting(attempt.start)
        ahead = len(attempts.ahead(waiting, attempt.queued, self._row))
        guest = self._sharing.started(attempt.start, self._row)
        why = self._why.get(attempt.start) or ("" if attempt.lost else replay.reasons[replay.why[self._row]])
        # The step on sharing that follows has the reason of a guest's start.
        texts = [] if guest else [why or "the policy gives no reason"]
        if ahead:
            texts.append(
                f"ahead of {counted(ahead, 'earlier job')} that {'waits' if ahead == 1 else 'wait'} on"
            )
        texts.append(f"{counted(cores.idle, 'core')} {'stays' if cores.idle == 1 else 'stay'} idle")
        how = " as a guest" if guest else "" if attempt.start > attempt.queued else " immediately"
        return HistoryStep(
            attempt.start,
            f"starts{how}",
            "; ".join(texts),
            "share" if guest else _ORDER,
            self._job.policy("share", self._job.site) if guest else policy,
            {**cores.figures(), "reason": why, "overtakes": ahead},
        )

    def _ended(self, attempt: JobAttempt, replay: Replay, watch: SiteWatch) -> HistoryStep:
        jobs, row, ran = replay.jobs, self._row, attempt.end - attempt.start
        figures: dict[str, Any] = {"ran_s": ran}
        if not attempt.lost:
            run, request = float(jobs.run[row]), float(jobs.request[row])
            if self._job.setting.kill_at_walltime and run > request:
                return HistoryStep(
                    attempt.end,
                    "is stopped at its requested time",
                    f"it had run {duration(ran)}",
                    figures=figures,
                )
            slow = ran / run if run > 0.0 else 1.0
            why = f"it ran {duration(ran)}"
            if slow > 1.0 + 1e-6:
                why += f" for {duration(run)} of work, {slow:.2f} times as long as without sharing"
            return HistoryStep(attempt.end, "ends", why, figures={**figures, "run_s": run, "slowdown": slow})
        fell = _outage(watch.before(attempt.end), watch.cores(attempt.end), self._job)
        evicted = self._sharing.evicted(attempt.end)
        made_way = "as a guest, it made way for the memory of its host or for the head of the queue"
        why, decision = (evicted, "share") if evicted else (fell or made_way, "")
        return HistoryStep(
            attempt.end,
            f"loses its cores after {duration(ran)}, and returns to the end of the queue",
            why,
            decision,
            self._job.policy("share", self._job.site) if decision else "",
            figures,
        )


def _outage(before: SiteCores, after: SiteCores, job: JobOfRun) -> str:
    """Return which nodes and instances lost cores between two states; empty for none."""
    fell, count = np.flatnonzero(after.capacity < before.capacity).tolist(), job.setting.sites[job.site].count
    texts = [
        f"{'node' if row < count else 'instance'} {row} fell from {before.capacity[row]} to {after.capacity[row]} cores"
        for row in fell
    ]
    return "; ".join(texts[:_NAMED])


def _enough(enough: float, length: float, procs: int) -> str:
    """Return for how long enough cores were idle."""
    if enough <= 0.0:
        return f"fewer cores than its {procs} were idle all the time"
    kept = f"the policy kept the idle cores for other jobs for {duration(enough)}"
    if enough >= length:
        return f"at least {procs} cores were idle all the time, but the policy kept them for other jobs"
    return f"for {duration(length - enough)}, fewer cores than its {procs} were idle; {kept}"


def _start(count: int, guests: bool) -> str:
    """Return the verb for a number of jobs that start."""
    return ("starts" if count == 1 else "start") + (
        "" if not guests else " as a guest" if count == 1 else " as guests"
    )


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
