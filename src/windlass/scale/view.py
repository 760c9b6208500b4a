"""What an autoscaler sees, and what it answers."""

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
    """What n jobs ask for, as columns.

    Parameters
    ----------
    resources
        (n, 3) in the order of :data:`~windlass.model.instances.RESOURCES`.
    since
        (n,) when each started, or was submitted where it waits, s.
    walltime
        (n,) how long each says that it runs at most, s; infinity where it does not say.
    """

    resources: _Floats
    since: _Floats
    walltime: _Floats

    def __len__(self) -> int:
        return len(self.since)

    @staticmethod
    def none() -> Demands:
        """Of no job."""
        return Demands(np.empty((0, 3)), np.empty(0), np.empty(0))


@dataclass(frozen=True, slots=True, eq=False)
class ScaleView:
    """Instances, the jobs on them and those that wait, and what was needed so far; k types, smallest first.

    Parameters
    ----------
    now
        The instant, s.
    period
        Seconds from one decision to the next, and from one row of the history to the next.
    types
        Which instances can be had.
    ready, coming, used
        (k,) how many are up, are starting, and of those that are up hold a job.
    running, waiting
        What jobs ask for; those that wait in the order of the queue.
    history
        (t, k) how many of each type jobs needed, in fractions, a row a period; the last row is of now, and at a look of
        the last decision.
    look
        Seconds from one look to the next; None where the policy is asked once a period and never in between.
    due
        Whether a period is over. Else this is a look: who waits is served, and plans are as they were.
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
        """How long it takes at most until somebody who waits is seen, s."""
        return self.period if self.look is None else min(self.look, self.period)


@dataclass(frozen=True, slots=True)
class Totals:
    """How many instances of each type there should be, those that hold jobs included.

    An engine starts what is missing. It never stops one that holds a job: where the total is less than there are, it
    takes away those that are idle, as slowly as it is set up to.

    Parameters
    ----------
    counts
        (k,) in the order of the view's types.
    why
        A reason each.

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
        """Raise unless an engine can carry this out.

        Raises
        ------
        PolicyError
            There is not one number and one reason for each type, or a number is out of bounds.
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
