"""The thesis' two worked examples (section 4.2.2)."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.model.fleet import Fleet, FleetCase, FleetJobs, StageSpec
from windlass.place import map_stage, reduce_stage
from windlass.place.functions.whole import whole_map, whole_reduce
from windlass.place.policies.delay_scheduling import DelayScheduling
from windlass.place.policies.in_place import InPlace
from windlass.place.policies.tetrium import Tetrium
from windlass.sim.fleet import run_placed
from windlass_reproductions.criteria import at_most, exactly
from windlass_reproductions.reproduction import Row
from windlass_reproductions.tetrium.verdicts import is_as_printed

_Ints = NDArray[np.int64]
_Floats = NDArray[np.float64]

SLOTS, UP, DOWN = np.array([40, 10, 20]), np.array([5e9, 1e9, 2e9]), np.array([5e9, 1e9, 5e9])
HERE = np.array([200, 300, 500])
TASK_BYTES, MAP_S, REDUCERS, REDUCE_S, RATIO = 1e8, 2.0, 500, 1.0, 0.5
#: Tolerance for small numbers that are exact up to float64 rounding.
_EXACT = 1e-9


def moving_s(moved: NDArray[np.floating[Any]], up: _Floats, down: _Floats) -> float:
    """Return the time to transfer bytes (n, n) if only uplinks and downlinks limit it, s."""
    between = moved - np.diag(np.diag(moved))
    return float(max((between.sum(axis=1) / up).max(), (between.sum(axis=0) / down).max()))


def waves_s(counts: _Ints, slots: _Ints, task_s: float) -> float:
    """Return the time of whole tasks in whole waves, s."""
    return float((np.ceil(counts / slots) * task_s).max())


def job_s(flow: _Ints, reducers: _Ints) -> float:
    """Return the time of the example's job, s: transfer, maps, shuffle and reducers in sequence, in whole waves."""
    counts = flow.sum(axis=0)
    data = counts * TASK_BYTES * RATIO
    shuffle = np.outer(data, reducers / reducers.sum())
    moving = moving_s(flow * TASK_BYTES, UP, DOWN) + moving_s(shuffle, UP, DOWN)
    return moving + waves_s(counts, SLOTS, MAP_S) + waves_s(reducers, SLOTS, REDUCE_S)


def example_rows() -> list[Row]:
    """Return the rows of both examples."""
    return [*_first(), *_second()]


def _first() -> list[Row]:
    in_place = np.diag(HERE)
    iridium = reduce_stage(HERE * TASK_BYTES * RATIO, SLOTS, UP, DOWN, REDUCERS, 0.0)
    hub = np.zeros((3, 3), np.int64)
    hub[:, 0] = HERE
    plan = map_stage(HERE * TASK_BYTES, SLOTS, UP, DOWN, 1000, MAP_S)
    flow = whole_map(plan, HERE, UP)
    thesis = np.array([[200, 0, 0], [157, 143, 0], [214, 0, 286]])
    ahead = reduce_stage(flow.sum(axis=0) * TASK_BYTES * RATIO, SLOTS, UP, DOWN, REDUCERS, REDUCE_S)
    ours = job_s(flow, whole_reduce(ahead, REDUCERS))
    fleet = Fleet.of(SLOTS, UP, DOWN)
    stages = [
        StageSpec(MAP_S, tuple(HERE.tolist()), TASK_BYTES, ratio=RATIO),
        StageSpec(REDUCE_S, tasks=REDUCERS, parents=(0,)),
    ]
    case = FleetCase(fleet, FleetJobs.of([0.0], [stages]))
    simulated = float(run_placed(case, Tetrium()).end[0])
    thesis_s = job_s(thesis, np.array([286, 71, 143]))
    fractional = plan.stage_s + ahead.stage_s
    same = "the thesis' own plan: its shares in whole tasks"
    return [
        _row("Example 1, Iridium, s", 88.5, job_s(in_place, whole_reduce(iridium, REDUCERS)), 0.1),
        _row("Example 1, centralised, s", 93.0, job_s(hub, np.array([500, 0, 0])), 1.0),
        _row("Example 1, better approach, s", 59.83, thesis_s, 0.01, same),
        _row(
            "Example 1, map stage of that plan, s (15.7 + 30)",
            45.7,
            moving_s(thesis * TASK_BYTES, UP, DOWN) + waves_s(thesis.sum(axis=0), SLOTS, MAP_S),
            0.1,
            f"the program's optimum is {plan.stage_s:.4f} s: 571 tasks on 40 slots count as 28.57 s",
        ),
        Row.by("Example 1, our plan in whole waves, s", 59.83, ours, at_most(exactly(ours), 59.83, 0.01)),
        Row.by(
            "Example 1, forward, s",
            50.88,
            fractional,
            is_as_printed(fractional, 50.88, 0.01),
            note="not possible for this example: its map optimum (44.29 s) and 500 reducers of 1 s on 70 slots (7.14 s)"
            " exceed 50.88 s before any shuffle; the same for the joint optimum of 44.875 s",
        ),
        Row(
            "Example 1 simulated under Tetrium, with reads and computation overlapping, s",
            None,
            simulated,
            None,
            _others(case),
        ),
    ]


def _others(case: FleetCase) -> str:
    late = (f"{float(run_placed(case, DelayScheduling(wait)).end[0]):.2f} s" for wait in (0.0, 3.0, 5.0))
    alone = f"{float(run_placed(case, InPlace()).end[0]):.2f} s"
    return f"in-place simulated: {alone}; with delay scheduling at 0, 3, 5 s: {', '.join(late)}"


def _row(what: str, paper: float, ours: float, digit: float, note: str = "") -> Row:
    return Row.by(what, paper, ours, is_as_printed(ours, paper, digit), note)


def best_whole(here: _Ints, free: _Ints, link: float, task_bytes: float) -> tuple[float, _Ints]:
    """Return the least time of a stage of 1 s tasks in whole waves, s, and its placement, by trying all placements."""
    best, found = math.inf, here
    total = int(here.sum())
    for counts in itertools.product(range(total + 1), repeat=len(here) - 1):
        own = np.array([*counts, total - sum(counts)])
        if own[-1] < 0 or (own[free == 0] > 0).any():
            continue
        moved = max(float(np.maximum(here - own, 0).max()), float(np.maximum(own - here, 0).max()))
        seconds = moved * task_bytes / link + float(np.ceil(own / np.maximum(free, 1)).max())
        if seconds < best - 1e-12:
            best, found = seconds, own
    return best, found


def _second() -> list[Row]:
    """Return the rows of Example 2.

    A task reads 1 GB, because only then 4 tasks over 10 GB/s take the thesis' 0.4 s.
    """
    slots, link, size = np.array([3, 3, 3]), 10e9, 1e9
    small, large = np.array([0, 1, 2]), np.array([2, 4, 6])
    small_s, small_at = best_whole(small, slots, link, size)
    large_s, large_at = best_whole(large, slots - small_at, link, size)
    alone_s, alone_at = best_whole(large, slots, link, size)
    # The other order: in the thesis job 1 waits until job 2 ends and then moves all its tasks to site 1.
    moved_s = 0.3 + 1.0
    waiting_s, _ = best_whole(small, slots, link, size)
    return [
        _row(
            "Example 2, job 1 first, mean response, s",
            1.7,
            (small_s + large_s) / 2,
            _EXACT,
            f"job 2 then runs at {tuple(large_at.tolist())}, as in the thesis, {large_s:.2f} s; all placements tried",
        ),
        _row(
            "Example 2, job 2 first, mean response, s",
            2.65,
            (alone_s + alone_s + moved_s) / 2,
            _EXACT,
            f"job 2 alone: {tuple(alone_at.tolist())}, {alone_s:.0f} s; job 1 then moved to (3, 0, 0), as in the"
            f" thesis; in place it would take {waiting_s:.0f} s from then, a mean of"
            f" {(2 * alone_s + waiting_s) / 2:.2f} s",
        ),
    ]
