"""Runs a scenario: every variant with every seed, in one process or several, with the same results."""

from __future__ import annotations

import itertools
import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

from windlass.compiled import prepare
from windlass.results import Outcome, Results, VariantResult
from windlass.scenario import Scenario
from windlass.worlds import Setting, find_world


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is: ``done`` of ``total`` cells (a variant with a seed), a share of one counted in."""

    variant: str
    seed: int
    done: float
    total: int


def run(scenario: Scenario, jobs: int = 1, report: Callable[[Progress], None] | None = None) -> Results:
    """Run all of a scenario.

    Parameters
    ----------
    scenario
        What to run.
    jobs
        In how many processes; the results do not depend on it.
    report
        Told now and then how far it is.

    Returns
    -------
    Results
        Variants in the order of the scenario, outcomes in the order of the seeds.

    Raises
    ------
    InputError
        The workload cannot be read, or a policy does not exist.

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
    prepare(dict.fromkeys(kernels))
    tell = report or (lambda _: None)
    drive = _in_this_process if jobs == 1 else _in_processes
    outcomes = dict(drive(scenario, itertools.chain([first], cells), jobs, tell))
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
