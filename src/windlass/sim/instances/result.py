"""Launches, attempts and decisions of a finished run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model.vectors import VectorJobs
from windlass.sim.instances.fleet import InstanceFleet

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]

#: Names of the numbers in ``Launches.why``; the last one, at -1, is for an instance that has not ended.
REASONS = ("idle", "failed", "interrupted", "")


@dataclass(frozen=True, slots=True, eq=False)
class Launches:
    """Instances in the order of their launches.

    Parameters
    ----------
    kind
        (l,) index of the instance's type in the fleet.
    launched, ready, gone
        (l,) times of the launch, of readiness and of the end, s; NaN for never.
    why
        (l,) reason for the end, an index into :data:`REASONS`.
    busy
        (l,) time for which the instance had jobs, s.
    """

    kind: _Ints
    launched: _Floats
    ready: _Floats
    gone: _Floats
    why: _Ints
    busy: _Floats


@dataclass(frozen=True, slots=True, eq=False)
class Attempts:
    """Attempts of jobs, one row per attempt and instance; a killed job has several attempts.

    Parameters
    ----------
    job, launch
        (a,) row of the job, and row of the instance in :class:`Launches`.
    began, ended
        (a,) start and end of the attempt, s.
    """

    job: _Ints
    launch: _Ints
    began: _Floats
    ended: _Floats


@dataclass(frozen=True, slots=True, eq=False)
class Decisions:
    """The autoscaler's decisions, at periods and polls.

    Parameters
    ----------
    time
        (d,) time of the decision, s.
    needed
        (d, k) instances that running and waiting jobs needed, as fractions.
    totals
        (d, k) instances wanted from then on.
    there
        (d, k) instances that were up or starting.
    why
        The policy's reason for each type's total.
    """

    time: _Floats
    needed: _Floats
    totals: _Ints
    there: _Ints
    why: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Scaled:
    """Result of a finished run.

    Parameters
    ----------
    jobs, fleet
        Jobs and instance types of the run.
    shares
        (n,) share of an instance that each job needs.
    begin, finish
        Time of the first decision, and end of the last job, s; remaining instances are paid for until then.
    start, end
        (n,) start and end of each job's successful attempt, s.
    lost
        Number of killed attempts.
    launches, attempts, decisions
        Logs of the run.
    """

    jobs: VectorJobs
    fleet: InstanceFleet
    shares: _Floats
    begin: float
    finish: float
    start: _Floats
    end: _Floats
    lost: int
    launches: Launches
    attempts: Attempts
    decisions: Decisions

    def paid(self) -> _Floats:
        """Return the paid time of each instance, (l,) s: from its launch to its end, or to the end of the run."""
        return (
            np.where(np.isnan(self.launches.gone), self.finish, self.launches.gone) - self.launches.launched
        )
