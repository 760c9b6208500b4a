"""A gate of policies that consider only the steps between spikes of CPU Ready."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.admit.lib.saved import Part
from windlass.admit.lib.subspace import Floats
from windlass.admit.lib.thresholds import THRESHOLD_FIELDS, Threshold, ThresholdState, is_high
from windlass.jit import Kernel, inlined
from windlass.jit.schema import column, numba_type
from windlass.model import InputError
from windlass.model.values import number

#: Gain of a level that is a share of the steps: it should not follow each burst, as the threshold on scores does.
_SLOW_GAIN = 0.01
#: The reason of a gated policy while its node is in a spike.
IN_SPIKE = "CPU Ready is in a spike, in which this policy never rejects"


def spike_threshold(nodes: int, spike: float | None, share: float) -> Threshold:
    """Return what separates spikes of CPU Ready from other values: a level, or a share of the steps seen so far.

    Parameters
    ----------
    nodes
        Number of nodes, each with a threshold.
    spike
        Smallest CPU Ready of a spike; None if unknown.
    share
        If ``spike`` is None, the highest values are spikes: this share of the steps.

    Examples
    --------
    >>> spike_threshold(1, 0.5, 0.05).above(np.array([0.5])).tolist()
    [True]
    """
    if spike is None:
        return Threshold(nodes, 0.0, share, gain=_SLOW_GAIN)
    return Threshold(nodes, number("spike", spike, 0.0, open_below=True))


class GateState(NamedTuple):
    """Whether each of n nodes is in a spike, and what separates spikes from other values."""

    threshold: ThresholdState
    in_spike: Annotated[NDArray[np.bool_], column("nodes")]


@inlined
def is_closed(gate, node, ready):
    """Return whether a node is in a spike, from its CPU Ready; where that is NaN, as before."""
    if not np.isnan(ready):
        is_high(gate.threshold, node, ready)
        gate.in_spike[node] = ready > 0.0 and ready >= gate.threshold.level[node]
    return gate.in_spike[node]


def _close(gate, ready):
    for node in range(len(ready)):
        is_closed(gate, node, ready[node])
    return 0


CLOSE = Kernel(_close, types.int64(numba_type(GateState), types.float64[::1]), allocates=False)


class SpikeGate:
    """Whether a node is in a spike of CPU Ready: its tasks wait already, and a warning comes too late.

    A gated policy does not reject in a spike, so that its downtime is left for the steps between spikes.

    Source: Windlass.

    Parameters
    ----------
    nodes, spike, share
        See :func:`spike_threshold`.

    Raises
    ------
    InputError
        A parameter is out of bounds.

    Examples
    --------
    >>> gate = SpikeGate(nodes=2, spike=0.5)
    >>> gate.closed(np.array([0.4, 0.5])).tolist(), gate.closed(np.array([0.6, np.nan])).tolist()
    ([False, True], [True, True])
    """

    def __init__(self, nodes: int = 1, spike: float | None = None, share: float = 0.05) -> None:
        self.threshold = spike_threshold(nodes, spike, share)
        #: What compiled code reads and changes.
        self.state = GateState(self.threshold.state, np.zeros(nodes, np.bool_))

    @property
    def in_spike(self) -> NDArray[np.bool_]:
        """(n,) which nodes are in a spike."""
        return self.state.in_spike

    @in_spike.setter
    def in_spike(self, values: NDArray[np.bool_]) -> None:
        self.state.in_spike[:] = values

    def closed(self, ready: Floats) -> NDArray[np.bool_]:
        """Return (n,) which nodes are in a spike, from CPU Ready of the step that has ended; where NaN, as before.

        Raises
        ------
        InputError
            Not one value for each node.
        """
        if len(ready) != len(self.in_spike):
            raise InputError(
                f"ready has {len(ready)} values, expected one for each of {len(self.in_spike)} nodes"
            )
        CLOSE.entry()(self.state, np.ascontiguousarray(ready, np.float64))
        return self.in_spike.copy()

    def closed_now(self, ready: float) -> bool:
        """Return whether the only node is in a spike."""
        return bool(self.closed(np.array([ready]))[0])

    def parts(self) -> list[Part]:
        """Return the attributes that are saved."""
        return [("gate", self, ("in_spike",)), ("spike", self.threshold, THRESHOLD_FIELDS)]


def gate_of(between: bool, spike: float | None, share: float, nodes: int = 1) -> SpikeGate | None:
    """Return the gate of a policy with these parameters; None if it considers all steps.

    >>> gate_of(False, None, 0.05) is None
    True
    """
    return SpikeGate(nodes, spike, share) if between else None
