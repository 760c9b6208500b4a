"""Admission by CPU Ready and its rise: Windlass's own policy for a node that learns nothing."""

from __future__ import annotations

from typing import ClassVar, Self

from windlass.admit.lib.saved import Part, opened, pack, restore
from windlass.admit.lib.spike_gate import gate_of
from windlass.admit.lib.subspace import Floats
from windlass.admit.lib.threshold_policy import ThresholdPolicy
from windlass.admit.lib.thresholds import THRESHOLD_FIELDS
from windlass.model import InputError
from windlass.model.values import number, whole


class Rising(ThresholdPolicy):
    """Rejects while CPU Ready plus its last increase is high, between spikes.

    CPU Ready that grows from step to step precedes a spike more often than the same value that falls.

    Source: Windlass.

    Parameters
    ----------
    dim
        Number of metrics of the node, which a saved state records.
    downtime
        Share of steps at which the node may reject; the threshold moves to it.
    rise
        Weight of the increase since the last step. At 0 the policy is ``ready``.
    between
        Whether to consider only the steps between spikes of CPU Ready: the policy then never rejects during a spike.
    spike, share
        What a spike is for ``between``: the smallest CPU Ready, or if that is None, the highest values of this share
        of the steps.
    nodes
        Number of nodes, which decide independently in one call of ``decide_all``.

    Raises
    ------
    InputError
        A parameter is out of bounds.

    Examples
    --------
    >>> import numpy as np
    >>> from windlass.admit import AdmitView
    >>> policy = Rising(downtime=0.2, spike=0.5)
    >>> views = (AdmitView(0.0, np.zeros(2), ready=each) for each in (0.0, 0.01, 0.02, 0.2, 0.9))
    >>> [policy.decide(view).reject for view in views]
    [False, True, True, True, False]
    """

    name: ClassVar[str] = "rising"
    gauge: ClassVar[str] = "CPU Ready with its rise"
    kind: ClassVar[str] = "windlass.admit.rising"

    def __init__(
        self,
        dim: int = 1,
        downtime: float = 0.05,
        rise: float = 1.0,
        between: bool = True,
        spike: float | None = None,
        share: float = 0.05,
        nodes: int = 1,
    ) -> None:
        gate, weight = gate_of(between, spike, share, nodes), number("rise", rise, 0.0)
        super().__init__(0.0, downtime, gate, nodes, weight)
        self.dim = whole("dim", dim, 1)
        self.settings = {
            "dim": dim, "downtime": downtime, "rise": rise, "between": between, "spike": spike, "share": share,
            "nodes": nodes,
        }  # fmt: skip

    @property
    def before(self) -> Floats:
        """(nodes,) CPU Ready of the last known step; below 0 before the first, as a saved state has no NaN."""
        return self._rule.before

    @before.setter
    def before(self, values: Floats) -> None:
        self._rule.before[:] = values

    def save(self) -> bytes:
        """Return the thresholds as bytes."""
        return pack(self.kind, dict(self.settings), self._parts())

    @classmethod
    def load(cls, data: bytes) -> Self:
        """Return a policy from the bytes of :meth:`save`; raise an InputError of one line for anything else."""
        header, arrays = opened(data, cls.kind)
        try:
            found = cls(**header.settings)
        except TypeError as error:
            raise InputError(f"saved state: settings: {error}") from error
        restore(header, arrays, found._parts())
        return found

    def _parts(self) -> list[Part]:
        gate = [] if self.gate is None else self.gate.parts()
        return [("node", self, ("before",)), ("threshold", self.threshold, THRESHOLD_FIELDS), *gate]
