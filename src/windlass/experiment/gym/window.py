"""What an agent sees of a site's queue, and the actions that it may take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model.values import whole
from windlass.order.site.view import SiteView, Start

#: Columns of the observation of a job: 1 for a job and 0 for an empty place; its wait and its requested time on a
#: logarithmic scale; its processors and the processors that would be left, as shares of the site.
JOB_COLUMNS = ("present", "wait", "request", "procs", "left")
#: Times ahead for which the observation has the processors that would be idle, s.
AHEAD_S = (0.0, 600.0, 3600.0, 14_400.0, 86_400.0)
_WEEK_S = 604_800.0

Observation = dict[str, NDArray[np.float32]]
Mask = NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class OrderWindow:
    """The first jobs of a queue, as arrays of a fixed size.

    Parameters
    ----------
    places
        Number of jobs that an agent sees, k. Jobs further back are counted only.

    Examples
    --------
    >>> from windlass.order.site.view import Running, Waiting
    >>> view = SiteView(now=60.0, processors=8, free=3,
    ...     waiting=Waiting.of(job=[7, 8], submit=[0, 0], procs=[4, 2], request=[60, 60]),
    ...     running=Running.of(job=[3], procs=[5], expected_end=[500]))
    >>> window = OrderWindow(3)
    >>> window.mask(view, ()).tolist()
    [0, 1, 0, 1]
    >>> window.observe(view, ())["site"].tolist()[:3]
    [0.375, 1.0, 1.0]
    """

    places: int = 32

    def __post_init__(self) -> None:
        whole("window", self.places, 1)

    @property
    def wait(self) -> int:
        """The action after which time goes on."""
        return self.places

    def rows(self, view: SiteView, chosen: Sequence[int]) -> NDArray[np.int64]:
        """Return the positions in the queue of the jobs in the window: the first that are not chosen yet."""
        left = np.ones(len(view.waiting.job), bool)
        left[list(chosen)] = False
        return np.flatnonzero(left)[: self.places]

    def free(self, view: SiteView, chosen: Sequence[int]) -> int:
        """Return the processors that are idle once the chosen jobs have started."""
        return int(view.free - view.waiting.procs[list(chosen)].sum())

    def mask(self, view: SiteView, chosen: Sequence[int]) -> Mask:
        """Return (k + 1) which actions are allowed: a job that fits, and waiting.

        Waiting is not allowed on a site without a running job on which a job fits: time would not go on.

        Parameters
        ----------
        view
            The site.
        chosen
            Positions in the queue of the jobs that are chosen at this instant.
        """
        rows, free = self.rows(view, chosen), self.free(view, chosen)
        allowed = np.zeros(self.places + 1, np.int8)
        allowed[: len(rows)] = view.waiting.procs[rows] <= free
        idle = len(view.running.job) == 0 and not chosen
        allowed[self.places] = not (idle and allowed.any())
        return allowed

    def observe(self, view: SiteView, chosen: Sequence[int]) -> Observation:
        """Return the observation: ``jobs`` (k, 5) and ``site`` (6), all between 0 and 1.

        ``site`` has the share of processors that will be idle at each of five times ahead, if running jobs take as long
        as they requested and nothing starts; then the length of the queue on a logarithmic scale.
        """
        waiting, rows, free = view.waiting, self.rows(view, chosen), self.free(view, chosen)
        size = max(view.processors, 1)
        jobs = np.zeros((self.places, len(JOB_COLUMNS)), np.float32)
        procs = waiting.procs[rows]
        jobs[: len(rows)] = np.column_stack(
            [
                np.ones(len(rows)),
                _share_of_week(view.now - waiting.submit[rows]),
                _share_of_week(waiting.request[rows]),
                np.clip(procs / size, 0.0, 1.0),
                np.clip((free - procs) / size, 0.0, 1.0),
            ]
        )
        ends = view.running.expected_end
        idle = [free + view.running.procs[ends <= view.now + ahead].sum() * (ahead > 0) for ahead in AHEAD_S]
        queue = np.log1p(len(waiting.job) - len(chosen)) / np.log1p(1e6)
        site = np.array([*(each / size for each in idle), queue], np.float32)
        return {"jobs": jobs, "site": np.clip(site, 0.0, 1.0)}

    def start(self, view: SiteView, chosen: Sequence[int], why: str) -> Start:
        """Return the answer that starts the chosen jobs."""
        return Start(tuple(int(view.waiting.job[row]) for row in chosen), why)


def _share_of_week(seconds: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.clip(np.log1p(np.maximum(seconds, 0.0)) / np.log1p(_WEEK_S), 0.0, 1.0))
