"""The search for a site, one quantity at a time: each candidate is a replay of the fitted part."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.experiment.site_fit.accuracy import WaitAccuracy
from windlass.experiment.site_fit.evidence import Evidence, evidence_of
from windlass.experiment.site_fit.site_rules import SiteRules
from windlass.io.traces import Workload
from windlass.model import PolicyError

#: The fitted part is compared in this many blocks of equal numbers of jobs. Of each four, the one with the largest loss
#: does not count, because an outage or a holiday shall not decide.
_BLOCKS, _EPISODES = 8, 4
#: Jobs of a block, at least.
_FEWEST_OF_BLOCK = 20
#: Times that the search goes through all quantities.
_ROUNDS = 2
#: A candidate replaces the best one if it lowers the loss by this; another order than that of submission needs more,
#: because some order fits any episode a little better.
_GAIN, _GAIN_OF_ORDER = 0.03, 0.2
#: Usable processors as shares of the site's, tried with each order of the queue, and then around the best one.
_SHARES, _AROUND = (
    (1.0, 0.94, 0.88, 0.82, 0.76, 0.68, 0.6),
    (-0.04, -0.03, -0.02, -0.01, 0.01, 0.02, 0.03, 0.04),
)
_DAY_S = 86_400.0
#: The way of backfilling that plans all starts, and so takes no limits.
_PLANNED = "conservative"


@dataclass(frozen=True, slots=True)
class FitStep:
    """A quantity in the search, and what its best value gained.

    Parameters
    ----------
    quantity
        Its name.
    tried
        Candidates that were replayed.
    before, after
        Loss before and after: the mean of those of the blocks that count.
    """

    quantity: str
    tried: int
    before: float
    after: float


@dataclass(frozen=True, slots=True, eq=False)
class FittedModel:
    """The result of a search.

    Parameters
    ----------
    model
        The best site.
    steps
        The quantities in the order in which they were searched.
    """

    model: SiteRules
    steps: tuple[FitStep, ...]

    @property
    def replays(self) -> int:
        """Number of replays."""
        return sum(step.tried for step in self.steps)


def search(workload: Workload, progress: Callable[[int], None] | None = None) -> FittedModel:
    """Return the site whose replay is closest to the recorded waits of all jobs of a log.

    Parameters
    ----------
    workload
        The jobs of the fitted part, with their recorded waits.
    progress
        Called with the number of replays so far.

    Examples
    --------
    >>> from windlass.model import JobTable
    >>> jobs = JobTable.of(submit=900 * np.repeat(np.arange(4.0), 10), run=np.full(40, 90.0), procs=np.ones(40))
    >>> wait = SiteRules(2).waits(Workload(jobs, 3))
    >>> search(Workload(jobs, 3, wait=wait)).model.processors
    2
    """
    assert workload.wait is not None
    shown, replayed = evidence_of(workload), _Replays(workload, workload.wait, progress)
    best = SiteRules(workload.processors, latency=shown.latency)
    loss = replayed.loss(best)
    steps = [FitStep("latency", 1, loss, loss)]
    for _ in range(_ROUNDS):
        for quantity, candidates in _QUANTITIES:
            before, tried = loss, replayed.count
            for candidate in candidates(best, workload, shown):
                found = replayed.loss(candidate)
                same = (candidate.priority, candidate.backfill) == (best.priority, best.backfill)
                if found < loss - (_GAIN if same else _GAIN_OF_ORDER):
                    best, loss = candidate, found
            steps.append(FitStep(quantity, replayed.count - tried, before, loss))
    return FittedModel(best, tuple(steps))


class _Replays:
    """Replays of the fitted part; a site is replayed once."""

    def __init__(
        self, workload: Workload, recorded: NDArray[np.float64], progress: Callable[[int], None] | None
    ) -> None:
        self._workload, self._recorded, self._progress = workload, recorded, progress
        self._known: dict[str, float] = {}
        known = np.flatnonzero(np.isfinite(recorded))
        self._blocks = np.array_split(known, min(_BLOCKS, max(1, len(known) // _FEWEST_OF_BLOCK)))
        self.count = 0

    def loss(self, model: SiteRules) -> float:
        name = repr(model)
        if name not in self._known:
            self.count += 1
            try:
                waits = model.waits(self._workload)
                losses = [WaitAccuracy.of(self._recorded[rows], waits[rows]).loss for rows in self._blocks]
                counted = sorted(losses)[: len(losses) - len(losses) // _EPISODES]
                found = float(np.mean(counted))
            except PolicyError:
                # The site leaves a job waiting for ever.
                found = math.inf
            self._known[name] = found
            if self._progress is not None:
                self._progress(self.count)
        return self._known[name]


def _hours(best: SiteRules, workload: Workload, shown: Evidence) -> Iterator[SiteRules]:
    for each in shown.hours if best.backfill != _PLANNED else ():
        for drain in (True, False):
            yield best.with_limits(long=each.long, closed=each.closed, drain=drain)


def _jobs_per_user(best: SiteRules, workload: Workload, shown: Evidence) -> Iterator[SiteRules]:
    for value in (math.inf, *reversed(shown.jobs_per_user)) if best.backfill != _PLANNED else ():
        yield best.with_limits(jobs_per_user=value)


def _procs_per_user(best: SiteRules, workload: Workload, shown: Evidence) -> Iterator[SiteRules]:
    for value in (math.inf, *reversed(shown.procs_per_user)) if best.backfill != _PLANNED else ():
        yield best.with_limits(procs_per_user=value)


def _orders(best: SiteRules, workload: Workload, shown: Evidence) -> Iterator[SiteRules]:
    for name in ("fcfs", "sjf", "saf", "wfp3", "unicep"):
        yield dataclasses.replace(best, priority=name, backfill="easy")
    if not best.limits:
        yield dataclasses.replace(best, priority="fcfs", backfill=_PLANNED)
    yield dataclasses.replace(best, priority="fcfs", backfill="none")


def _factors(best: SiteRules, workload: Workload, shown: Evidence) -> Iterator[SiteRules]:
    plain = {
        "weight_age": 1000.0,
        "weight_fairshare": 0.0,
        "weight_job_size": 0.0,
        "max_age": 7 * _DAY_S,
        "fair_tree": False,
    }
    weights: list[dict[str, float | str]] = [
        {"weight_job_size": 1000.0},
        {"weight_job_size": 1000.0, "favor_small": True},
    ]
    if workload.of.user is not None:
        weights += [
            {"weight_fairshare": fair, "half_life": days * _DAY_S}
            for fair, days in ((300.0, 1.0), (300.0, 7.0), (3000.0, 7.0))
        ]
    ranked = _queues(workload)
    if ranked:
        weights += [{"weight_qos": weight, "qos": ranked} for weight in (300.0, 3000.0)]
    for each in weights:
        yield dataclasses.replace(best, priority={"multifactor": {**plain, **each}}, backfill="easy")


def _orders_and_processors(best: SiteRules, workload: Workload, shown: Evidence) -> Iterator[SiteRules]:
    # Fewer processors and another order have similar effects, so that neither is right without the other.
    for order in _orders(best, workload, shown):
        for share in _SHARES:
            if share == 1 or share * workload.processors > shown.needed:
                yield _of_share(order, share, workload)


def _processors(best: SiteRules, workload: Workload, shown: Evidence) -> Iterator[SiteRules]:
    share = best.processors / workload.processors
    for more in _AROUND:
        if share + more <= 1:
            yield _of_share(best, share + more, workload)


def _of_share(model: SiteRules, share: float, workload: Workload) -> SiteRules:
    return dataclasses.replace(model, processors=max(1, round(share * workload.processors)))


_QUANTITIES = (
    ("closed hours", _hours),
    ("order and processors", _orders_and_processors),
    ("priority by factors", _factors),
    ("processors", _processors),
    ("jobs per user", _jobs_per_user),
    ("processors per user", _procs_per_user),
)


def _queues(workload: Workload) -> str:
    """Return the priorities of queues, in the order of their mean waits; empty if there is one queue."""
    members, recorded = workload.of.queue or workload.of.partition, workload.wait
    if members is None or recorded is None or len(members.names) < 2:
        return ""
    known = (members.number >= 0) & np.isfinite(recorded)
    number = members.number[known]
    count = np.bincount(number, minlength=len(members.names))
    total = np.bincount(number, weights=recorded[known], minlength=len(members.names))
    mean = np.where(count > 0, total / np.maximum(count, 1), np.inf)
    rank = np.argsort(np.argsort(-mean, kind="stable"), kind="stable")
    return " ".join(
        f"{name}={place}"
        for name, place in zip(members.names, rank.tolist(), strict=True)
        # The parameter separates names by these signs.
        if not re.search(r"[\s,=]", name)
    )
