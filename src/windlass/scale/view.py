"""The view that autoscalers read, and the answer that they return."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model import PolicyError
from windlass.model.instances import InstanceType

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Demands:
    """Resource requests of n jobs, as columns.

    Parameters
    ----------
    resources
        (n, 3) in the order of :data:`~windlass.model.instances.RESOURCES`.
    since
        (n,) when each job started, or was submitted if it waits, s.
    walltime
        (n,) time limit of each job, s; infinity if it has none.
    """

    resources: _Floats
    since: _Floats
    walltime: _Floats

    def __len__(self) -> int:
        return len(self.since)

    @staticmethod
    def none() -> Demands:
        """Return the requests of no job."""
        return Demands(np.empty((0, 3)), np.empty(0), np.empty(0))


@dataclass(frozen=True, slots=True, eq=False)
class ScaleView:
    """Instances, running and waiting jobs, and past demand; k types, smallest first.

    Parameters
    ----------
    now
        Current time, s.
    period
        Seconds from one decision to the next, and from one row of the history to the next.
    types
        Available instance types.
    ready, coming, used
        (k,) number of instances that are up, that are starting, and that are up and hold a job.
    running, waiting
        Requests of the jobs; waiting jobs in queue order.
    history
        (t, k) number of instances of each type that jobs needed, in fractions, one row a period. The last row
        is the current demand; at a poll it is that of the last decision.
    look
        Seconds between two polls; None if the policy is called only once a period.
    due
        True if a period is over. False at a poll: waiting jobs are served, and plans stay unchanged.
    """

    now: float
    period: float
    types: tuple[InstanceType, ...]
    ready: _Ints
    coming: _Ints
    used: _Ints
    running: Demands
    waiting: Demands
    history: _Floats
    look: float | None = None
    due: bool = True

    def notice(self) -> float:
        """Return the longest time until a new waiting job is noticed, s."""
        return self.period if self.look is None else min(self.look, self.period)


@dataclass(frozen=True, slots=True)
class Totals:
    """How many instances of each type there should be, including those that hold jobs.

    An engine launches missing instances. It never stops an instance that holds a job: if there are more than
    the total, it removes idle ones after the configured idle time.

    Parameters
    ----------
    counts
        (k,) in the order of the view's types.
    why
        One reason for each type.

    Examples
    --------
    >>> view = ScaleView(
    ...     0.0, 300.0, (InstanceType("small", cores=4, most=2),), *(np.zeros(1, np.int64),) * 3,
    ...     Demands.none(), Demands.none(), np.zeros((1, 1)),
    ... )
    >>> Totals((3,), ("needed soon",)).check(view)
    Traceback (most recent call last):
    windlass.model.errors.PolicyError: small: 3 instances, expected a whole number from 0 to 2
    """

    counts: tuple[int, ...]
    why: tuple[str, ...]

    def check(self, view: ScaleView) -> None:
        """Raise unless an engine can apply these totals.

        Raises
        ------
        PolicyError
            Not one number and one reason for each type, or a number out of bounds.
        """
        if len(self.counts) != len(view.types) or len(self.why) != len(view.types):
            raise PolicyError(
                f"{len(self.counts)} totals and {len(self.why)} reasons, expected {len(view.types)} of each"
            )
        for kind, count, why in zip(view.types, self.counts, self.why, strict=True):
            if type(count) is not int or not 0 <= count <= kind.most:
                raise PolicyError(
                    f"{kind.name}: {count!r} instances, expected a whole number from 0 to {kind.most}"
                )
            if not why:
                raise PolicyError(f"{kind.name}: no reason is given")
