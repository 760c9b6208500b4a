"""The fit of a log's site on one part of the log, and its judgement on the rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.experiment.site_fit.accuracy import WaitAccuracy
from windlass.experiment.site_fit.evidence import Evidence, evidence_of
from windlass.experiment.site_fit.gaps import LogGaps, gaps_of
from windlass.experiment.site_fit.search import FitStep, search
from windlass.experiment.site_fit.site_rules import SiteRules
from windlass.io.traces import Workload
from windlass.model import InputError
from windlass.report.units import counted

#: Relative error of the mean wait that counts as close.
TOLERANCE = 0.15
#: Jobs in each part, at least; and jobs that are fitted, at most: the last ones of the first part.
_FEWEST, _MOST = 50, 15_000
#: Parts of the judged jobs whose errors are reported on their own.
_QUARTERS = 4


@dataclass(frozen=True, slots=True, eq=False)
class CalibratedSite:
    """A site fitted on the first part of a log, and its replays of both parts.

    Parameters
    ----------
    workload, part, rest
        The log's jobs, those that were fitted, and those that were judged.
    model
        The fitted site.
    steps
        The search.
    fitted, judged
        Waits of the fitted jobs and of the rest, recorded and replayed.
    plain_fitted, plain_judged
        The same for EASY on all processors, which nothing was fitted to.
    shown, shown_later
        What the recorded schedule of the first part shows, and that of the rest; the fit uses the first.
    gaps
        What waits in the rest show that a replay cannot follow.
    quarters
        The first submission, s, and the waits of the fitted site, in each quarter of the jobs of the rest.
    """

    workload: Workload
    part: Workload
    rest: Workload
    model: SiteRules
    steps: tuple[FitStep, ...]
    fitted: WaitAccuracy
    judged: WaitAccuracy
    plain_fitted: WaitAccuracy
    plain_judged: WaitAccuracy
    shown: Evidence
    shown_later: Evidence
    gaps: LogGaps
    quarters: tuple[tuple[float, WaitAccuracy], ...]

    @property
    def close(self) -> bool:
        """Whether the mean wait of the rest is within the tolerance of the recorded one."""
        return abs(self.judged.mean_error) <= TOLERANCE

    @property
    def replays(self) -> int:
        """Replays of the search."""
        return sum(step.tried for step in self.steps)


def calibrate(
    workload: Workload, share: float = 0.5, progress: Callable[[int], None] | None = None
) -> CalibratedSite:
    """Fit what a log does not state about its site, and judge the fit on the jobs that it did not use.

    The search replays the first part of the log alone, of a long one the last 15,000 jobs. Then the whole log is
    replayed once on the fitted site, and once under EASY on all processors.

    Parameters
    ----------
    workload
        The log's jobs, with recorded waits.
    share
        Share of the jobs, in order of submission, on which the site is fitted.
    progress
        Called with the number of replays so far.

    Raises
    ------
    InputError
        The log has no waits, or a part has fewer than 50 jobs with a wait.

    Examples
    --------
    >>> from windlass.model import JobTable
    >>> jobs = JobTable.of(submit=900 * np.repeat(np.arange(20.0), 10), run=np.full(200, 90.0), procs=np.ones(200))
    >>> wait = SiteRules(2).waits(Workload(jobs, 3))
    >>> found = calibrate(Workload(jobs, 3, wait=wait))
    >>> found.model.processors, found.close
    (2, True)
    """
    if not 0 < share < 1:
        raise InputError(f"share is {share}, expected a number above 0 and below 1")
    if workload.wait is None:
        raise InputError(
            "the log has no waits or start times, expected a log with them; without them, nothing shows how its site"
            " ordered the queue"
        )
    wait, count = workload.wait, round(share * len(workload.jobs))
    first, rest = np.arange(max(0, count - _MOST), count), np.arange(count, len(workload.jobs))
    for name, rows in (("fitted", first), ("judged", rest)):
        known = int(np.isfinite(wait[rows]).sum())
        if known < _FEWEST:
            raise InputError(
                f"the {name} part has {counted(known, 'job')} with a wait, expected at least {_FEWEST}"
            )
    part = workload.take(first)
    found = search(part, progress)
    model, plain = found.model, SiteRules(workload.processors)
    replayed, by_easy = model.waits(workload), plain.waits(workload)

    def accuracy(waits: NDArray[np.float64], rows: NDArray[np.int64]) -> WaitAccuracy:
        return WaitAccuracy.of(wait[rows], waits[rows])

    later = workload.take(rest)
    return CalibratedSite(
        workload=workload,
        part=part,
        rest=later,
        model=model,
        steps=found.steps,
        fitted=accuracy(replayed, first),
        judged=accuracy(replayed, rest),
        plain_fitted=accuracy(by_easy, first),
        plain_judged=accuracy(by_easy, rest),
        shown=evidence_of(part),
        shown_later=evidence_of(later),
        gaps=gaps_of(workload, replayed, rest, model),
        quarters=tuple(
            (float(workload.jobs.submit[rows[0]]), accuracy(replayed, rows))
            for rows in np.array_split(rest, _QUARTERS)
        ),
    )
