"""Steps of telemetry as arrays: when a step ends, and what the nodes measured and answered in each."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from windlass.jit.schema import Scalars, column, numba_type
from windlass.sim.handle import opening
from windlass.sim.telemetry.policy_call import DECIDE_AT
from windlass.sim.telemetry.pressure import CHANNELS


class TelemetrySettings(Scalars):
    """Settings that do not change.

    ``every``: duration of a step, s. ``ended``: address of the function that returns whether all tasks have ended.
    ``workers``, ``meter``, ``tasks``, ``binding``: addresses of the states of the workers, of the nodes' cores, of the
    unfinished tasks and of the answers. ``policy``: address of the policy's state; 0 for a policy outside of the loop.
    """

    every: float
    ended: int
    workers: int
    meter: int
    tasks: int
    binding: int
    policy: int


class TelemetryProgress(Scalars):
    """``steps``: steps that have ended. ``over``: whether all tasks had ended at the last instant."""

    steps: int
    over: int


class TelemetryRun(NamedTuple):
    """Steps of telemetry; ``steps`` is the axis of steps, with room for later ones.

    ``channels``: pressure, NaN for an absent node. ``rejects``: whether a node rejects all tasks after the step.
    ``counts``: tasks accepted, diverted, forced and refused until the end of the step. ``decide`` is the policy's
    function.
    """

    decide: Annotated[object, DECIDE_AT]
    settings: Annotated[NDArray[np.void], TelemetrySettings]
    progress: Annotated[NDArray[np.void], TelemetryProgress]
    channels: Annotated[NDArray[np.float64], column("steps", "nodes", len(CHANNELS))]
    rejects: Annotated[NDArray[np.bool_], column("steps", "nodes")]
    counts: Annotated[NDArray[np.int64], column("steps", 4)]


STATE_TYPE = numba_type(TelemetryRun)
opened = opening(STATE_TYPE)
