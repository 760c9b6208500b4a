"""The history of a staged job: for each stage, where its input was, where its tasks ran, and what they fetched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.experiment.worlds.cluster.explain.recorder import JobOfRun, JobRecorder
from windlass.experiment.worlds.cluster.explain.stage_data import data_at, fetched_in_place, parents_of
from windlass.experiment.worlds.cluster.results import ClusterRun
from windlass.report.units import counted, duration
from windlass.results.history import HistoryStep, JobHistory
from windlass.sim.fleet.result import FleetRun
from windlass.sim.ledger import Ledger
from windlass.sim.part import Part

#: Most pairs of sites that a line names.
_NAMED = 4


class StagedRecorder(JobRecorder):
    """Records the placements of a staged job's tasks, with their reasons and the idle cores at that time."""

    def __init__(self, job: JobOfRun) -> None:
        super().__init__(job)
        self._part: Any = None
        #: By stage: the policy's reasons for the tasks that it started.
        self._reasons: dict[int, Counter[str]] = {}
        #: By stage: idle cores of each site when tasks of it waited for the first time.
        self._free: dict[int, list[int]] = {}
        #: By stage: calls of the policy that started no task of it while some waited.
        self._vain: Counter[int] = Counter()

    def before(self, kind: str, name: str, part: Any, ledger: Ledger) -> Sequence[Part]:
        """Take note of the part of the job's load."""
        if kind == "staged" and name == self._job.group:
            self._part = part
        return ()

    def log(self, address: str, view: Any, answer: Any) -> None:
        """Take note of a placement of the job's tasks."""
        if address != f"place.{self._job.group}":
            return
        own = np.flatnonzero(view.ready.job == self._job.number - 1).tolist()
        for row in own:
            stage = int(self._part.viewed_stages[row])
            self._free.setdefault(stage, view.sites.free.tolist())
            mine = np.flatnonzero(answer.starts[:, 0] == row).tolist()
            self._vain[stage] += not mine
            for place in mine:
                why = answer.reasons[int(answer.why[place])]
                self._reasons.setdefault(stage, Counter())[why] += int(answer.starts[place, 3])

    def history(self, done: ClusterRun) -> JobHistory:
        """Return the job's history."""
        job = self._job
        result = next(each.result for each in done.staged if each.load == job.load)
        row, jobs = job.number - 1, result.jobs
        stages = range(int(jobs.stage0[row]), int(jobs.stage0[row + 1]))
        steps = [step for stage in stages for step in self._steps(stage, stages, result)]
        steps += self._losses(stages, result)
        steps.sort(key=lambda step: step.at)
        end = float(result.end[row])
        return JobHistory(
            job.name,
            "staged job",
            job.since,
            tuple(self._about(row, stages, result)),
            tuple(steps),
            {"start_s": float(result.start[row]), "end_s": end, "sent_bytes": float(result.sent[row])},
        )

    def _about(self, row: int, stages: range, result: FleetRun) -> Iterator[str]:
        job, jobs = self._job, result.jobs
        tasks = int(jobs.tasks[stages.start : stages.stop].sum())
        yield (
            f"Job {job.name} has {counted(tasks, 'task')} in {counted(len(stages), 'stage')}, which may run at "
            f"{', '.join(result.fleet.names)}."
        )
        yield (
            f"It arrived {duration(job.since)} after the beginning, its first task started "
            f"{duration(float(result.start[row]) - job.since)} later, and it ended after "
            f"{duration(float(result.end[row]) - job.since)}; it sent {bytes_text(float(result.sent[row]))} between "
            "sites."
        )

    def _steps(self, stage: int, stages: range, result: FleetRun) -> Iterator[HistoryStep]:
        """Return the steps of one stage: it becomes ready, its tasks start, and it ends."""
        jobs, names = result.jobs, result.fleet.names
        tasks = slice(int(jobs.first[stage]), int(jobs.first[stage + 1]))
        count, data = int(jobs.tasks[stage]), data_at(result, stage)
        called = f"stage {stage - stages.start + 1}"
        ended = [
            float(result.computed[jobs.first[p] : jobs.first[p + 1]].max()) for p in parents_of(result, stage)
        ]
        ready = max([self._job.since, *ended])
        begun, sites = result.begun[tasks], np.bincount(result.site[tasks], minlength=len(names))
        lies = sites_text(names, data, bytes_text) if data.any() else "no input"
        yield HistoryStep(
            ready,
            f"{called} is ready: {counted(count, 'task')}",
            f"its {'shuffled data' if jobs.shuffles[stage] else 'input'}: {lies}",
            figures={"stage": stage - stages.start + 1, "tasks": count, "bytes_at": data.tolist()},
        )
        yield self._placed(stage, called, ready, data, sites, begun, result)
        end = float(result.computed[tasks].max())
        yield HistoryStep(end, f"{called} ends", f"it took {duration(end - ready)} since it was ready")

    def _placed(
        self,
        stage: int,
        called: str,
        ready: float,
        data: Any,
        sites: NDArray[np.int64],
        begun: Any,
        result: FleetRun,
    ) -> HistoryStep:
        """Return the step of the start of a stage's tasks."""
        names, jobs = result.fleet.names, result.jobs
        first, last = float(begun.min()), float(begun.max())
        links = _links(stage, result)
        fetched = sum(links.values())
        if jobs.shuffles[stage]:
            apart = fetched_in_place(data)
            in_place = f"in proportion to the data, tasks would have fetched {bytes_text(apart)}"
        else:
            apart, here = 0.0, jobs.here(len(names))[stage]
            in_place = f"in place, all would have run where their input is: {sites_text(names, here)}"
            if sites.tolist() == here.tolist():
                in_place = "all run where their input is"
        texts = []
        if stage in self._reasons:
            texts += [f"{counted(count, 'task')}: {why}" for why, count in self._reasons[stage].most_common()]
        if first > ready:
            texts.append(f"the first one waited {duration(first - ready)}")
        if last > first:
            texts.append(f"the last one started {duration(last - first)} later")
        if stage in self._free:
            texts.append(f"cores idle at first: {sites_text(names, self._free[stage], zeros=True)}")
        texts += [_fetched(names, links), in_place]
        decision, policy = self._decider()
        return HistoryStep(
            first,
            f"tasks of {called} start: {sites_text(names, sites)}",
            "; ".join(texts),
            decision,
            policy,
            {
                "stage_tasks_at": sites.tolist(),
                "first_s": first,
                "last_s": last,
                "fetched": {f"{names[a]} to {names[b]}": size for (a, b), size in links.items()},
                "fetched_bytes": fetched,
                "in_place_bytes": apart,
                "calls_without_start": self._vain[stage],
            },
        )

    def _decider(self) -> tuple[str, str]:
        """Return the decision that started the tasks, and its policy."""
        order = self._job.setting.chosen().order.staged
        return ("place", self._job.policy("place")) if order is None else ("order", order.name)

    def _losses(self, stages: range, result: FleetRun) -> Iterator[HistoryStep]:
        """Return a step for each instant at which tasks lost their cores at a site."""
        jobs = result.jobs
        first, end = int(jobs.first[stages.start]), int(jobs.first[stages.stop])
        own = result.lost[(result.lost[:, 0] >= first) & (result.lost[:, 0] < end)]
        for at, site in sorted({(float(line[4]), int(line[1])) for line in own}):
            count = int(((own[:, 4] == at) & (own[:, 1] == site)).sum())
            they = ("loses its core", "it runs") if count == 1 else ("lose their cores", "they run")
            yield HistoryStep(
                at,
                f"{counted(count, 'task')} at {result.fleet.names[site]} {they[0]}",
                f"{they[1]} again from the beginning",
                figures={"lost": count},
            )


def _links(stage: int, result: FleetRun) -> dict[tuple[int, int], float]:
    """Return the bytes that a stage fetched over each pair of sites, the most first."""
    flows, found = result.flows, dict[tuple[int, int], float]()
    for _, _, size, source, site, _ in flows[flows[:, 5] == stage].tolist():
        pair = int(source), int(site)
        found[pair] = found.get(pair, 0.0) + size
    return dict(sorted(found.items(), key=lambda each: -each[1]))


def _fetched(names: Sequence[str], links: Mapping[tuple[int, int], float]) -> str:
    """Return the bytes fetched over the pairs of sites with the most."""
    if not links:
        return "they fetched nothing"
    sizes = list(links.items())
    over = ", ".join(f"{bytes_text(size)} {names[a]} to {names[b]}" for (a, b), size in sizes[:_NAMED])
    rest = sum(size for _, size in sizes[_NAMED:])
    more = f", {bytes_text(rest)} over {len(sizes) - _NAMED} more" if rest else ""
    return f"they fetched {bytes_text(sum(links.values()))}: {over}{more}"


def sites_text(
    names: Sequence[str], values: Sequence[Any] | NDArray[Any], write: Any = str, zeros: bool = False
) -> str:
    """Return numbers by site, without those that are 0 unless wanted.

    >>> sites_text(["iowa", "oslo"], [3, 0]), sites_text(["iowa", "oslo"], [3, 0], zeros=True)
    ('3 at iowa', '3 at iowa, 0 at oslo')
    """
    pairs = zip(names, values, strict=True)
    return ", ".join(f"{write(value)} at {name}" for name, value in pairs if zeros or value)


def bytes_text(amount: float) -> str:
    """Return an amount with its unit.

    >>> bytes_text(1.25e9), bytes_text(300.0)
    ('1.25 GB', '300 B')
    """
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if amount >= size:
            return f"{amount / size:.3g} {unit}"
    return f"{amount:.3g} B"
