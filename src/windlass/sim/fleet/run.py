"""Simulation of jobs over a fleet under one policy."""

from __future__ import annotations

from collections.abc import Callable

from windlass.drive import Decider, drive
from windlass.jit import Kernel
from windlass.model.fleet import FleetCase
from windlass.order.fleet import POLICIES as ORDER
from windlass.order.fleet import FleetPolicy
from windlass.order.fleet.compiled import in_loop
from windlass.place import POLICIES as PLACE
from windlass.place.view import Placement, PlaceView
from windlass.sim.coupled import SinglePart
from windlass.sim.fleet.answer import COMMIT
from windlass.sim.fleet.durations import Estimates
from windlass.sim.fleet.loop import RUN
from windlass.sim.fleet.part import OrderedFleet, PlacedFleet
from windlass.sim.fleet.result import FleetRun
from windlass.sim.fleet.waiting import WAITING
from windlass.sim.instants.loop import KERNELS as COMMON_KERNELS


def place_kernels() -> tuple[Kernel, ...]:
    """Return the compiled functions that a run under placements needs, except the policy's."""
    none = in_loop(None)
    return *COMMON_KERNELS, RUN, COMMIT, WAITING, none.select, none.refine


def order_kernels(policy: FleetPolicy) -> tuple[Kernel, ...]:
    """Return the compiled functions that a run under a standing order needs."""
    compiled = in_loop(policy)
    return *COMMON_KERNELS, compiled.select, compiled.refine, RUN


def run_placed(
    case: FleetCase,
    policy: Decider[PlaceView, Placement],
    *,
    look_every: float = 0.0,
    decide_every: float = 0.0,
    estimates: Estimates = "true",
    log: bool = False,
    progress: Callable[[float], None] | None = None,
) -> FleetRun:
    """Simulate jobs under a placement policy; the parameters are those of :class:`PlacedFleet`.

    Raises
    ------
    PolicyError
        The policy's answer cannot be carried out, or it leaves tasks waiting for ever.

    Examples
    --------
    >>> from windlass.model.fleet import Fleet, FleetJobs, StageSpec, fixed_table
    >>> from windlass.place.policies.in_place import InPlace
    >>> fleet = Fleet.of(slots=[40, 10, 20], up=[5e9, 1e9, 2e9], down=[5e9, 1e9, 5e9])
    >>> jobs = FleetJobs.of([0.0], [[StageSpec(2.0, here=(200, 300, 500), task_bytes=1e8)]])
    >>> run_placed(FleetCase(fleet, jobs), InPlace()).end.tolist()
    [60.0]
    """
    part = PlacedFleet(
        case,
        look_every=look_every,
        decide_every=decide_every,
        estimates=estimates,
        log=log,
        progress=progress,
    )
    run: FleetRun = drive(SinglePart(part), {PLACE.key: policy})
    return run


def run_ordered(
    case: FleetCase,
    policy: FleetPolicy,
    *,
    by_seconds: bool = False,
    look_every: float = 0.0,
    log: bool = False,
    progress: Callable[[float], None] | None = None,
) -> FleetRun:
    """Simulate jobs under a policy that orders them; the parameters are those of :class:`OrderedFleet`.

    Raises
    ------
    PolicyError
        The policy's answer is not an order of the jobs.

    Examples
    --------
    >>> from windlass.model.fleet import Fleet, FleetJobs, fixed_table
    >>> from windlass.order.fleet.policies.swag import Swag
    >>> jobs = fixed_table([0, 0, 0], [[1, 10, 1], [3, 8, 0], [7, 0, 6]], [1.0] * 36)
    >>> run_ordered(FleetCase(Fleet.of(slots=[1, 1, 1]), jobs), Swag()).end.tolist()
    [18.0, 10.0, 7.0]
    """
    part = OrderedFleet(
        case, in_loop(policy), by_seconds=by_seconds, look_every=look_every, log=log, progress=progress
    )
    run: FleetRun = drive(SinglePart(part), {ORDER.key: policy})
    return run
