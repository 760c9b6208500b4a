"""Policies that compare one number of each node with a threshold, fixed or at a percentile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from windlass.admit.compiled import deciding
from windlass.admit.lib.spike_gate import IN_SPIKE, GateState, SpikeGate, is_closed
from windlass.admit.lib.subspace import Floats
from windlass.admit.lib.thresholds import Threshold, ThresholdState, add_rest, is_high
from windlass.admit.site import NO_LIMIT, AdmitSiteView, Reads, SiteAdmission
from windlass.admit.view import Admission, AdmitView
from windlass.jit import Kernel, inlined
from windlass.jit.schema import column
from windlass.model import InputError

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


class ThresholdRule(NamedTuple):
    """State of a policy of n nodes, and its last answers."""

    by_busy: int  # 1 if the number is ``busy``, 0 if it is ``ready``
    rise: float  # weight of the increase of the number since the last known step
    gated: int  # 1 if the gate is used
    threshold: ThresholdState
    gate: GateState
    before: Annotated[Floats, column("nodes")]  # number of the last known step; below 0 before the first
    origin: Annotated[NDArray[np.int64], column("nodes")]
    value: Annotated[Floats, column("nodes")]  # the number that was compared last, or that came in a spike
    level: Annotated[Floats, column("nodes")]  # what it was compared with
    high: Annotated[NDArray[np.bool_], column("nodes")]


@inlined
def _read(rule, node, busy, ready):
    """Return the number of a node, with its weighted increase; NaN if unknown."""
    now = busy if rule.by_busy != 0 else ready
    if np.isnan(now):
        return now
    grown = 0.0 if rule.before[node] < 0.0 else max(now - rule.before[node], 0.0)
    rule.before[node] = now
    return now + rule.rise * grown


def _decide(rule, busy, ready, present, limits):
    for node in range(len(present)):
        value = _read(rule, node, busy[node], ready[node])
        resting = rule.gated != 0 and is_closed(rule.gate, node, ready[node]) and present[node]
        if resting:
            add_rest(rule.threshold, node)
            rule.origin[node], rule.value[node], rule.high[node] = _SPIKE, value, False
        elif present[node] and not np.isnan(value):
            rule.origin[node], rule.value[node] = _COMPARED, value
            rule.level[node] = rule.threshold.level[node]
            rule.high[node] = is_high(rule.threshold, node, value)
        limits[node] = 0 if rule.high[node] else NO_LIMIT
    return 0


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
    rise
        Weight of the increase of the number since the last known step.
    """

    gauge: ClassVar[str]
    #: Whether the number is the utilisation instead of CPU Ready.
    by_busy: ClassVar[bool] = False
    reads: ClassVar[Reads] = Reads(metrics=False, tasks=False)
    deciding: ClassVar[Kernel] = deciding(_decide, ThresholdRule)

    def __init__(
        self,
        threshold: float,
        downtime: float | None,
        gate: SpikeGate | None = None,
        nodes: int = 1,
        rise: float = 0.0,
    ) -> None:
        self.threshold, self.gate = Threshold(nodes, threshold, downtime), gate
        self._rule = ThresholdRule(
            int(self.by_busy),
            rise,
            int(gate is not None),
            self.threshold.state,
            (SpikeGate(0) if gate is None else gate).state,
            np.full(nodes, -1.0),
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

    def state_of(self, nodes: int) -> ThresholdRule:
        """Return the state of the compiled function."""
        known = len(self._rule.high)
        if nodes != known:
            raise InputError(
                f"{type(self).__name__} is for {known} nodes, expected {nodes}; pass nodes={nodes}"
            )
        return self._rule

    def _step(self, busy: Floats, ready: Floats, present: NDArray[np.bool_]) -> _Reasons:
        rule, count = self.state_of(len(present)), len(present)
        numbers = np.ascontiguousarray(busy, np.float64), np.ascontiguousarray(ready, np.float64)
        self.deciding.entry()(rule, *numbers, present, np.empty(count, np.int64))
        # The next step changes the arrays of the rule.
        return _Reasons(
            self.gauge, rule.origin.copy(), rule.value.copy(), rule.level.copy(), rule.high.copy()
        )
