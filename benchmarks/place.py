"""Placement of one stage compared with HiGHS, and decisions over many jobs."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from benchmarks.measure import Row, compare_rates
from windlass.jit import prepare
from windlass.place import map_stage, reduce_stage
from windlass.place.functions.oracle import map_model, map_stage_highs, reduce_model, reduce_stage_highs
from windlass.place.policies.tetrium import Tetrium
from windlass_reproductions.tetrium.paper import busy_view

_SITES, _TASKS, _TASK_S = 50, 2000, 2.0
_AT_ONCE = 20
#: The thesis' time for Gurobi on its machine, s per decision over 100 jobs (section 4.6.2).
_THESIS_100_JOBS = 2.0


def rows(repeats: int) -> list[Row]:
    """Return all comparisons of the suite."""
    found: list[Row] = []
    data, slots, up, down = _stage()
    for name, ours, theirs, model in (
        ("map", map_stage, map_stage_highs, map_model),
        ("reduce", reduce_stage, reduce_stage_highs, reduce_model),
    ):
        for label, budget in (("", None), (", WAN budget", _budget(name, data))):
            arguments = (data, slots, up, down, _TASKS, _TASK_S, budget)
            _check(ours(*arguments).stage_s, theirs(*arguments).stage_s, name)
            rate = _against(f"{name} placement, {_SITES} sites{label}", repeats, ours, arguments)
            found.append(rate("HiGHS, model building counted", lambda: theirs(*arguments)))  # noqa: B023
            built, cost = model(data, slots, up, down, _TASKS * _TASK_S, budget)
            given: dict[str, Any] = built.arguments(cost)
            found.append(rate("HiGHS' solve", lambda: linprog(**given, bounds=(0, None), method="highs")))  # noqa: B023
    return [*found, *(_jobs(count, repeats) for count in (50, 100))]


def _stage() -> tuple[NDArray[np.float64], ...]:
    rng = np.random.default_rng(1)
    up, down = 100 * 20 ** rng.random((2, _SITES)) * 1e6 / 8
    return rng.lognormal(0, 1, _SITES) * 1e9, np.floor(25 * 200 ** rng.random(_SITES)), up, down


def _budget(name: str, data: NDArray[np.float64]) -> float:
    """Return a WAN budget a tenth of the way from the fewest bytes to all of them."""
    least = 0.0 if name == "map" else float(data.sum() - data.max())
    return least + 0.1 * (float(data.sum()) - least)


def _check(ours: float, theirs: float, name: str) -> None:
    if abs(ours - theirs) > 1e-9 * theirs:
        raise AssertionError(f"{name}: ours takes {ours} s, HiGHS' optimum is {theirs} s")


def _against(
    name: str, repeats: int, ours: Callable[..., object], arguments: tuple[Any, ...]
) -> Callable[[str, Callable[[], object]], Row]:
    def compare(peer_name: str, peer: Callable[[], object]) -> Row:
        def own() -> None:
            for _ in range(_AT_ONCE):
                ours(*arguments)

        def other() -> None:
            for _ in range(_AT_ONCE):
                peer()

        return compare_rates(
            name, own, other, peer_name, amount=_AT_ONCE, unit="placements/s", repeats=repeats
        )

    return compare


def _jobs(count: int, repeats: int) -> Row:
    """Compare jobs ordered and placed per second with the thesis' figure for its own machine."""
    view, policy = busy_view(count, _SITES), Tetrium()
    prepare([Tetrium.place])
    seconds = []
    for _ in range(max(repeats, 3) + 1):
        begun = time.perf_counter()
        policy.decide(view)
        seconds.append(time.perf_counter() - begun)
    ours = count / float(np.median(seconds[1:]))
    peer = count / (_THESIS_100_JOBS if count == 100 else 0.95)
    spread = [count / value / peer for value in seconds[1:]]
    name = f"{count} jobs ordered and placed, {_SITES} sites"
    return Row(
        name,
        ours,
        peer,
        "the thesis' prototype (Gurobi, its machine)",
        "jobs/s",
        ours / peer,
        min(spread),
        max(spread),
    )
