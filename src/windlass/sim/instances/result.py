"""What happened to instances and jobs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model.vectors import VectorJobs
from windlass.sim.instances.fleet import InstanceFleet

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]

#: Why an instance is gone, by its number in :class:`Launches`; the last stands for one that is not.
REASONS = ("idle", "failed", "interrupted", "")


@dataclass(frozen=True, slots=True, eq=False)
class Launches:
    """Instances in the order of their launches.

    Parameters
    ----------
    kind
        (l,) the place of their type among the fleet's.
    launched, ready, gone
        (l,) when, s; NaN for never.
    why
        (l,) why it is gone, a place in :data:`REASONS`.
    busy
        (l,) for how long it held a job, s.
    """

    kind: _Ints
    launched: _Floats
    ready: _Floats
    gone: _Floats
    why: _Ints
    busy: _Floats


@dataclass(frozen=True, slots=True, eq=False)
class Attempts:
    """On which instances jobs ran, a line for each instance: a job that was killed has further ones.

    Parameters
    ----------
    job, launch
        (a,) rows of the jobs, and of the launches.
    began, ended
        (a,) from when to when, s.
    """

    job: _Ints
    launch: _Ints
    began: _Floats
    ended: _Floats


@dataclass(frozen=True, slots=True, eq=False)
class Decisions:
    """What the autoscaler was shown and answered.

    Parameters
    ----------
    time
        (d,) when, s.
    needed
        (d, k) how many instances jobs needed, those that waited included, as fractions.
    totals
        (d, k) how many there should be.
    there
        (d, k) how many were up or starting before it.
    why
        Its reasons.
    """

    time: _Floats
    needed: _Floats
    totals: _Ints
    there: _Ints
    why: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Scaled:
    """A finished run.

    Parameters
    ----------
    jobs, fleet
        What ran, and where it could.
    shares
        (n,) the part of an instance that each job needs.
    begin, finish
        The first decision, and the end of the last job, s: instances are paid for until then.
    start, end
        (n,) of the attempt of each job that ended, s.
    lost
        How many attempts were killed.
    launches, attempts, decisions
        What happened.
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
        """(l,) for how long each instance is paid for, s: from its launch until it is gone, or all is over."""
        return (
            np.where(np.isnan(self.launches.gone), self.finish, self.launches.gone) - self.launches.launched
        )
