"""What an engine offers to the constructor of an admission policy."""

from __future__ import annotations

from dataclasses import dataclass

from windlass.policy.context import Context


@dataclass(frozen=True, slots=True)
class AdmitContext(Context):
    """A node, and in an evaluation what is to be foreseen.

    Parameters
    ----------
    rng
        See :class:`~windlass.policy.context.Context`.
    dim
        Number of metrics of the node's telemetry.
    spike
        CPU Ready from which on a step is a spike.
    within
        Steps by which the onset of a spike is to be foreseen.
    apart
        Steps without a spike ahead of an onset.
    """

    dim: int | None = None
    spike: float | None = None
    within: int | None = None
    apart: int | None = None
