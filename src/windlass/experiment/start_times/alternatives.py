"""What if: starts of the waiting jobs under other policies or sizes, compared in the same draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from windlass.experiment.start_times.history import SiteHistory
from windlass.experiment.start_times.replays import drawn_futures, draws_for, starts_in
from windlass.experiment.start_times.start_check import DRAWS
from windlass.experiment.worlds.policy import PolicySpec
from windlass.model import InputError
from windlass.order.site import POLICIES

#: The most alternatives of one question.
MOST_ALTERNATIVES = 12
#: Starts are differences of times, so that they are compared to a microsecond.
_EXACT_S = 1e-6


@dataclass(frozen=True, slots=True)
class Alternative:
    """A policy and a number of processors, from an instant on.

    Parameters
    ----------
    policy
        The policy that orders the queue.
    processors
        Processors of the site.

    Raises
    ------
    InputError
        There is no processor.
    """

    policy: PolicySpec
    processors: int

    def __post_init__(self) -> None:
        if self.processors < 1:
            raise InputError(f"processors is {self.processors}, expected at least 1")

    @property
    def name(self) -> str:
        """The policy and the processors, such as ``easy, 100 processors``."""
        return f"{self.policy.choice(POLICIES).label}, {self.processors:,} processors"


@dataclass(frozen=True, slots=True)
class DrawnValue:
    """A value over replays: its mean, and the interval between the 5 % and the 95 % quantiles.

    >>> DrawnValue.of(np.array([1.0, 2.0, 3.0])).mean
    2.0
    """

    low: float
    mean: float
    high: float

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> DrawnValue:
        """Return the summary of (draws,) values; NaN without any."""
        if not len(values):
            return cls(np.nan, np.nan, np.nan)
        low, high = np.quantile(values, (0.05, 0.95)).tolist()
        return cls(low, float(values.mean()), high)


@dataclass(frozen=True, slots=True, eq=False)
class AlternativeStarts:
    """Starts of the waiting jobs under an alternative.

    Parameters
    ----------
    alternative
        The policy and the processors.
    starts
        (w, draws) s; infinite for a job that is wider than the site.
    """

    alternative: Alternative
    starts: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class WhatIf:
    """Starts of the waiting jobs under the present policy and under alternatives, in the same drawn futures.

    Parameters
    ----------
    at
        The instant, s.
    jobs
        (w,) names of the waiting jobs, in order of submission.
    running
        Number of running jobs.
    present
        Under the present policy and processors.
    others
        Under each alternative.
    arrivals
        Whether the futures have jobs that arrive later.
    """

    at: float
    jobs: tuple[str, ...]
    running: int
    present: AlternativeStarts
    others: tuple[AlternativeStarts, ...]
    arrivals: bool = True

    def never(self, found: AlternativeStarts) -> int:
        """Return the number of jobs that never start."""
        return int((~np.isfinite(found.starts).all(axis=1)).sum())

    def wait(self, found: AlternativeStarts) -> DrawnValue:
        """Return the mean remaining wait of the jobs that start, s."""
        return DrawnValue.of(self._mean(found, self._common(found)) - self.at)

    def change(self, found: AlternativeStarts) -> DrawnValue:
        """Return the change of the mean wait with respect to the present, s; over jobs that start in both."""
        both = self._common(found)
        return DrawnValue.of(self._mean(found, both) - self._mean(self.present, both))

    def sooner_and_later(self, found: AlternativeStarts) -> tuple[int, int]:
        """Return how many jobs start sooner, and how many later than now, by the means over the draws."""
        change = found.starts.mean(axis=1) - self.present.starts.mean(axis=1)
        return int((change < -_EXACT_S).sum()), int((change > _EXACT_S).sum())

    def table(self) -> pl.DataFrame:
        """Return a row per alternative, the present one first: waits and changes with intervals, s."""
        rows = []
        for each in (self.present, *self.others):
            wait, change = self.wait(each), self.change(each)
            sooner, later = self.sooner_and_later(each)
            rows.append(
                (
                    *(each.alternative.policy.choice(POLICIES).label, each.alternative.processors),
                    *(wait.mean, wait.low, wait.high, change.mean, change.low, change.high),
                    *(sooner, later, self.never(each)),
                )
            )
        names = ["policy", "processors"]
        names += [f"{what}_{part}s" for what in ("wait", "change") for part in ("", "low_", "high_")]
        return pl.DataFrame(rows, schema=[*names, "sooner", "later", "never"], orient="row")

    def by_job(self) -> pl.DataFrame:
        """Return a row per waiting job: its mean remaining wait at present and under each alternative, s."""
        return pl.DataFrame(
            {
                "job": pl.Series(self.jobs, dtype=pl.String),
                **{
                    f"{number}: {each.alternative.name}": each.starts.mean(axis=1) - self.at
                    for number, each in enumerate((self.present, *self.others))
                },
            }
        )

    def _common(self, found: AlternativeStarts) -> NDArray[np.bool_]:
        starts = np.concatenate([found.starts, self.present.starts], axis=1)
        both: NDArray[np.bool_] = np.isfinite(starts).all(axis=1)
        return both

    @staticmethod
    def _mean(found: AlternativeStarts, rows: NDArray[np.bool_]) -> NDArray[np.float64]:
        chosen = found.starts[rows]
        return chosen.mean(axis=0) if len(chosen) else np.empty(0)


def alternatives_of(
    present: PolicySpec, processors: int, policies: Sequence[PolicySpec], sizes: Sequence[int]
) -> list[Alternative]:
    """Return each policy with the present processors, and the present policy with each other number of processors.

    Examples
    --------
    >>> [each.name for each in alternatives_of(PolicySpec(name="easy"), 4, [PolicySpec(name="sjf")], [8])]
    ['sjf, 4 processors', 'easy, 8 processors']
    """
    return [
        *(Alternative(policy, processors) for policy in policies),
        *(Alternative(present, size) for size in sizes),
    ]


def compare_alternatives(
    history: SiteHistory,
    at: float,
    present: PolicySpec,
    alternatives: Sequence[Alternative],
    *,
    draws: int = DRAWS,
    seed: int = 1,
    arrivals: bool = True,
    progress: Callable[[int], None] | None = None,
) -> WhatIf:
    """Replay a site from its state at an instant, under the present policy and under alternatives.

    All of them see the same drawn run times and arrivals, so that their differences are due to them alone.

    Parameters
    ----------
    history
        The site's jobs; those submitted after ``at`` are not used.
    at
        The instant, s.
    present
        The policy at present.
    alternatives
        What is compared with it, at most 12.
    draws
        Number of futures; a long queue has fewer.
    seed
        Seed of the draws.
    arrivals
        Whether jobs arrive later, as on earlier days; False for a history that does not have all jobs of these days.
    progress
        Called with the number of replays so far.

    Raises
    ------
    InputError
        ``at`` is not finite, there are too many alternatives, or a policy does not exist.

    Examples
    --------
    >>> from windlass.io.traces import Workload
    >>> from windlass.model import JobTable
    >>> jobs = JobTable.of(submit=[0, 1, 2], run=[10, 30, 5], procs=[4, 4, 4])
    >>> history = SiteHistory(Workload(jobs, 4), np.array([0.0, np.inf, np.inf]), np.full(3, np.inf))
    >>> easy, sjf = PolicySpec(name="easy"), Alternative(PolicySpec(name="sjf"), 4)
    >>> found = compare_alternatives(history, 3.0, easy, [sjf])
    >>> found.present.starts[:, 0].tolist(), found.others[0].starts[:, 0].tolist()
    ([10.0, 40.0], [15.0, 10.0])
    >>> found.change(found.others[0]).mean
    -12.5
    """
    if not np.isfinite(at):
        raise InputError(f"at is {at} s, expected a finite time")
    if len(alternatives) > MOST_ALTERNATIVES:
        raise InputError(f"{len(alternatives)} alternatives, expected at most {MOST_ALTERNATIVES}")
    state = history.at(at)
    rng = np.random.default_rng(seed)
    futures = list(drawn_futures(history, state, draws_for(state, draws), rng, arrivals=arrivals))
    held = int(history.workload.jobs.procs[state.running].sum())
    now = Alternative(present, max(history.workload.processors, held))
    count, found = 0, []
    for each in (now, *alternatives):
        starts = np.empty((len(state.waiting), len(futures)))
        for draw, future in enumerate(futures):
            policy = each.policy.make(POLICIES, np.random.default_rng([seed, draw]))
            if len(state.waiting):
                starts[:, draw] = starts_in(history, state, future, policy, each.processors)
            count += 1
            if progress is not None:
                progress(count)
        found.append(AlternativeStarts(each, starts))
    names = tuple(history.workload.name_of(row) for row in state.waiting.tolist())
    return WhatIf(at, names, len(state.running), found[0], tuple(found[1:]), arrivals)
