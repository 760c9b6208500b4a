"""Constructor arguments that an engine offers to an admission policy."""

from __future__ import annotations

from dataclasses import dataclass

from windlass.policy.context import Context


@dataclass(frozen=True, slots=True)
class AdmitContext(Context):
    """A node's telemetry; in an evaluation, also the definition of a spike.

    Only ``windlass admit evaluate`` sets ``spike``, ``within`` and ``apart``.

    Parameters
    ----------
    rng
        See :class:`~windlass.policy.context.Context`.
    dim
        Number of metrics of the node's telemetry.
    spike
        Smallest CPU Ready of a spike, a share of time.
    within
        Steps within which the onset of a spike must be predicted.
    apart
        Steps without a spike that an onset requires before it.
    nodes
        Number of nodes of a site, for a policy that decides for all of them at once.
    """

    dim: int | None = None
    spike: float | None = None
    within: int | None = None
    apart: int | None = None
    nodes: int | None = None
