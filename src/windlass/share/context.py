"""Constructor arguments that an engine offers to a co-scheduling policy."""

from __future__ import annotations

from dataclasses import dataclass

from windlass.policy.context import Context
from windlass.share.interference import PairSpeeds


@dataclass(frozen=True, slots=True)
class ShareContext(Context):
    """Constructor arguments: the true speeds of co-scheduled jobs; None except in the simulator.

    Parameters
    ----------
    rng
        See :class:`~windlass.policy.context.Context`.
    speeds
        Returns the speeds of a pair of jobs.
    """

    speeds: PairSpeeds | None = None
