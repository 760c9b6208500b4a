"""What an engine offers to the constructor of a co-scheduling policy."""

from __future__ import annotations

from dataclasses import dataclass

from windlass.policy.context import Context
from windlass.share.interference import PairSpeeds


@dataclass(frozen=True, slots=True)
class ShareContext(Context):
    """How fast jobs are together, which a simulator knows.

    Parameters
    ----------
    rng
        See :class:`~windlass.policy.context.Context`.
    speeds
        Speeds of each pair of jobs.
    """

    speeds: PairSpeeds | None = None
