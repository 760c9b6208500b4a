"""Policies that compare one number of each node with a threshold, fixed or at a percentile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from windlass.admit.lib.spike_gate import IN_SPIKE, SpikeGate
from windlass.admit.lib.subspace import Floats
from windlass.admit.lib.thresholds import Threshold
from windlass.admit.site import NO_LIMIT, AdmitSiteView, Reads, SiteAdmission
from windlass.admit.view import Admission, AdmitView

#: Origins of a node's last answer: the number was never known, the node was in a spike, or the number was compared.
_NEVER, _SPIKE, _COMPARED = range(3)
_PRESENT = np.ones(1, np.bool_)


@dataclass(frozen=True, slots=True, eq=False)
class _Reasons(Sequence[str]):
    """The reasons of nodes, formatted when they are read."""

    gauge: str
    origin: NDArray[np.int64]
    value: Floats
    level: Floats
    high: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.origin)

    def __getitem__(self, node: Any) -> Any:
        if self.origin[node] == _NEVER:
            return f"{self.gauge} was never measured"
        if self.origin[node] == _SPIKE:
            return IN_SPIKE
        side = "above" if self.high[node] else "below"
        return f"{self.gauge} is {self.value[node]:.3g}, {side} {self.level[node]:.3g}"


class ThresholdPolicy:
    """Rejects while a number of the view is high; while the number is unknown, the last answer holds.

    A policy of one node is a row of a policy of many.

    Parameters
    ----------
    threshold, downtime
        See :class:`~windlass.admit.lib.thresholds.Threshold`.
    gate
        If given, the policy never rejects while the gate is closed; of as many nodes.
    nodes
        Number of nodes, which decide independently.
    """

    gauge: ClassVar[str]
    reads: ClassVar[Reads] = Reads(metrics=False, tasks=False)

    def __init__(
        self, threshold: float, downtime: float | None, gate: SpikeGate | None = None, nodes: int = 1
    ) -> None:
        self.threshold, self.gate = Threshold(nodes, threshold, downtime), gate
        self._last = _Reasons(
            self.gauge,
            np.full(nodes, _NEVER),
            np.full(nodes, np.nan),
            np.full(nodes, np.nan),
            np.zeros(nodes, np.bool_),
        )

    def decide(self, view: AdmitView) -> Admission:
        """Decide by the number."""
        last = self._step(np.array([view.busy]), np.array([view.ready]), _PRESENT)
        return Admission(bool(last.high[0]), last[0], float(last.value[0]))

    def decide_all(self, view: AdmitSiteView) -> SiteAdmission:
        """Decide by the number of each node."""
        last = self._step(view.busy, view.ready, view.present)
        return SiteAdmission(last.high, np.full(len(last), NO_LIMIT), last.value, last)

    def read(self, busy: Floats, ready: Floats) -> Floats:
        """Return (n,) the number of each node; NaN if unknown."""
        raise NotImplementedError

    def _step(self, busy: Floats, ready: Floats, present: NDArray[np.bool_]) -> _Reasons:
        values, last = self.read(busy, ready), self._last
        judged = present & ~np.isnan(values)
        origin = np.where(judged, _COMPARED, last.origin)
        changed = judged
        if self.gate is not None:
            resting = self.gate.closed(ready) & present
            self.threshold.rest(values, resting)
            judged = judged & ~resting
            origin, changed = np.where(resting, _SPIKE, origin), judged | resting
        level = self.threshold.level
        high = self.threshold.above(values, judged)
        self._last = _Reasons(
            self.gauge,
            origin,
            np.where(changed, values, last.value),
            np.where(judged, level, last.level),
            np.where(changed, high, last.high),
        )
        return self._last
