"""Runs a scenario: every variant with every seed, in one process or several, with the same results."""

from __future__ import annotations

import itertools
import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

from windlass.compiled import Compiling, prepare
from windlass.engines.targets import Executors
from windlass.model import InputError
from windlass.results import Outcome, Results, VariantResult
from windlass.scenario import Scenario
from windlass.worlds import LiveWorld, Setting, find_world, worlds


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is: ``done`` of ``total`` cells (a variant with a seed), a share of one counted in."""

    variant: str
    seed: int
    done: float
    total: int


def run(
    scenario: Scenario,
    jobs: int = 1,
    report: Callable[[Progress], None] | None = None,
    executors: Executors | None = None,
    compiling: Callable[[Compiling], None] | None = None,
) -> Results:
    """Run all of a scenario.

    Parameters
    ----------
    scenario
        What to run.
    jobs
        In how many processes; the results do not depend on it.
    report
        Told now and then how far it is.
    executors
        Run for real on these, one run after the other, instead of in the simulator; they are closed at the end.
    compiling
        Told how far compiling is, on the first use on a machine.

    Returns
    -------
    Results
        Variants in the order of the scenario, outcomes in the order of the seeds.

    Raises
    ------
    InputError
        The workload cannot be read, a policy does not exist, or the world does not run on a live engine.

    Examples
    --------
    >>> from windlass.scenario import make_scenario
    >>> scenario = make_scenario({"workload": {"lublin": {"jobs": 20}}, "policies": {"order": "easy"}})
    >>> run(scenario).variants[0].outcomes[0].metrics.jobs
    20
    """
    kernels = [kernel for variant in scenario.variants for kernel in scenario.world.kernels(variant.setting)]
    cells = _cells(scenario)
    # Read the first workload before compiling: a mistake in it should not have to wait.
    first = next(cells)
    prepare(kernels, compiling)
    tell = report or (lambda _: None)
    cells = itertools.chain([first], cells)
    if executors is not None:
        outcomes = dict(_live(scenario, cells, executors, tell))
    else:
        drive = _in_this_process if jobs == 1 else _in_processes
        outcomes = dict(drive(scenario, cells, jobs, tell))
    return Results(
        scenario=scenario.name,
        as_run=scenario.as_run,
        variants=tuple(
            VariantResult(
                name=variant.name,
                choices=scenario.world.choices(variant.setting),
                outcomes=tuple(outcomes[index, seed] for seed in scenario.seeds),
            )
            for index, variant in enumerate(scenario.variants)
        ),
    )


def describe_live(scenario: Scenario, executors: Executors) -> tuple[str, ...]:
    """What running a scenario for real would do, a line each; nothing is started.

    Raises
    ------
    InputError
        It could not be done.
    """
    live = _live_world(scenario)
    lines: list[str] = []
    for index, variant in enumerate(scenario.variants):
        described = live.describe(
            variant.setting, scenario.world.workload(variant.setting, scenario.seeds[0]), executors
        )
        lines += [line for line in described if index == 0 or line not in lines]
    names = "; ".join(variant.name for variant in scenario.variants)
    runs = len(scenario.variants) * len(scenario.seeds)
    return (*lines, f"{runs} runs, one after the other: {names}; seeds {', '.join(map(str, scenario.seeds))}")


def _live_world(scenario: Scenario) -> LiveWorld:
    live = scenario.world.live
    if live is None:
        able = ", ".join(world.name for world in worlds() if world.live is not None)
        raise InputError(f"--engine: world {scenario.world.name!r} runs in the simulator only; live: {able}")
    return live


def _live(
    scenario: Scenario, cells: Iterable[_Cell], executors: Executors, tell: Callable[[Progress], None]
) -> Iterator[tuple[tuple[int, int], Outcome]]:
    live, total = _live_world(scenario), len(scenario.variants) * len(scenario.seeds)
    try:
        for done, cell in enumerate(cells):
            name = scenario.variants[cell.index].name

            def inside(share: float, done: int = done, name: str = name, seed: int = cell.seed) -> None:
                tell(Progress(name, seed, done + share, total))

            inside(0.0)
            outcome = live.run(cell.setting, cell.seed, cell.workload, executors, inside)
            yield (cell.index, cell.seed), outcome
    finally:
        executors.close()


@dataclass(frozen=True, slots=True)
class _Cell:
    """One variant with one seed, and its workload."""

    index: int
    seed: int
    setting: Setting
    workload: Any


def _cells(scenario: Scenario) -> Iterator[_Cell]:
    """All cells; those that share a workload follow each other, so that one at a time is held."""
    keys = {
        (index, seed): scenario.world.workload_key(variant.setting, seed)
        for index, variant in enumerate(scenario.variants)
        for seed in scenario.seeds
    }
    for key in dict.fromkeys(keys.values()):
        workload = None
        for (index, seed), own in keys.items():
            if own == key:
                setting = scenario.variants[index].setting
                workload = workload or scenario.world.workload(setting, seed)
                yield _Cell(index, seed, setting, workload)


def _in_this_process(
    scenario: Scenario, cells: Iterable[_Cell], _jobs: int, tell: Callable[[Progress], None]
) -> Iterator[tuple[tuple[int, int], Outcome]]:
    total = len(scenario.variants) * len(scenario.seeds)
    for done, cell in enumerate(cells):
        name = scenario.variants[cell.index].name

        def inside(share: float, done: int = done, name: str = name, seed: int = cell.seed) -> None:
            tell(Progress(name, seed, done + share, total))

        inside(0.0)
        yield (cell.index, cell.seed), scenario.world.run(cell.setting, cell.seed, cell.workload, inside)
    tell(Progress("", 0, total, total))


def _in_processes(
    scenario: Scenario, cells: Iterable[_Cell], jobs: int, tell: Callable[[Progress], None]
) -> Iterator[tuple[tuple[int, int], Outcome]]:
    total = len(scenario.variants) * len(scenario.seeds)
    # A forked process would inherit the locks of the threads of polars and Numba.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=jobs, mp_context=context) as pool:
        pending: list[tuple[_Cell, Future[Outcome]]] = [
            (cell, pool.submit(_run_cell, scenario.world.name, cell)) for cell in cells
        ]
        for done, (cell, future) in enumerate(pending):
            tell(Progress(scenario.variants[cell.index].name, cell.seed, done, total))
            yield (cell.index, cell.seed), future.result()
    tell(Progress("", 0, total, total))


def _run_cell(world: str, cell: _Cell) -> Outcome:
    return find_world(world).run(cell.setting, cell.seed, cell.workload, lambda share: None)
