"""Runs a scenario: every variant with every seed, in one process or several, with the same results."""

from __future__ import annotations

import itertools
import multiprocessing
import multiprocessing.connection
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any

from windlass.as_it_was import AsItWas
from windlass.compiled import Compiling, prepare
from windlass.engines.targets import Executors
from windlass.foreign import blamed, refuse_to_leave
from windlass.kept import Kept
from windlass.model import InputError, PolicyError
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
    kept: Kept | None = None,
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
    kept
        Where each cell is kept as it ends; those that are there are not run again.

    Returns
    -------
    Results
        Variants in the order of the scenario, outcomes in the order of the seeds. At the end, at each point of the
        sweep, a log as it was, where it says when its jobs started.

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
    outcomes, logs = _known(scenario, kept), AsItWas(scenario)
    cells = _cells(scenario, frozenset(outcomes), logs)
    # Read the first workload before compiling: a mistake in it should not have to wait.
    first = list(itertools.islice(cells, 1))
    if first:
        prepare(kernels, compiling)
    tell = report or (lambda _: None)
    numbered = enumerate(itertools.chain(first, cells), len(outcomes))
    if executors is not None:
        done = _live(scenario, numbered, executors, tell)
    else:
        drive = _in_this_process if jobs == 1 else _in_processes
        done = drive(scenario, numbered, jobs, tell)
    for (index, seed), outcome in done:
        outcomes[index, seed] = outcome
        if kept is not None:
            kept.add(index, outcome)
    variants = [
        VariantResult(
            name=variant.name,
            choices=scenario.world.choices(variant.setting),
            outcomes=tuple(outcomes[index, seed] for seed in scenario.seeds),
            point=variant.point,
            at=variant.at,
        )
        for index, variant in enumerate(scenario.variants)
    ]
    return Results(scenario.name, scenario.as_run, (*variants, *logs.results()))


def _known(scenario: Scenario, kept: Kept | None) -> dict[tuple[int, int], Outcome]:
    """What an earlier run of the same scenario has done."""
    if kept is None:
        return {}
    cells = itertools.product(range(len(scenario.variants)), scenario.seeds)
    return {(index, seed): kept.get(index, seed) for index, seed in cells if kept.has(index, seed)}


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
    scenario: Scenario, cells: _Numbered, executors: Executors, tell: Callable[[Progress], None]
) -> Iterator[tuple[tuple[int, int], Outcome]]:
    live, total = _live_world(scenario), len(scenario.variants) * len(scenario.seeds)
    try:
        for done, cell in cells:
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


#: Cells, each after the number of those that come before it.
_Numbered = Iterable[tuple[int, _Cell]]


def _cells(scenario: Scenario, known: frozenset[tuple[int, int]], logs: AsItWas) -> Iterator[_Cell]:
    """All cells but the known; those that share a workload follow each other, so that one at a time is held.

    Each workload is shown to `logs`.
    """
    keys = {
        (index, seed): scenario.world.workload_key(variant.setting, seed)
        for index, variant in enumerate(scenario.variants)
        for seed in scenario.seeds
        if (index, seed) not in known
    }
    for key in dict.fromkeys(keys.values()):
        workload = None
        for (index, seed), own in keys.items():
            if own == key:
                setting = scenario.variants[index].setting
                workload = workload or scenario.world.workload(setting, seed)
                logs.see(index, seed, workload)
                yield _Cell(index, seed, setting, workload)


def _in_this_process(
    scenario: Scenario, cells: _Numbered, _jobs: int, tell: Callable[[Progress], None]
) -> Iterator[tuple[tuple[int, int], Outcome]]:
    total = len(scenario.variants) * len(scenario.seeds)
    for done, cell in cells:
        name = scenario.variants[cell.index].name

        def inside(share: float, done: int = done, name: str = name, seed: int = cell.seed) -> None:
            tell(Progress(name, seed, done + share, total))

        inside(0.0)
        yield (cell.index, cell.seed), scenario.world.run(cell.setting, cell.seed, cell.workload, inside)
    tell(Progress("", 0, total, total))


def _in_processes(
    scenario: Scenario, cells: _Numbered, jobs: int, tell: Callable[[Progress], None]
) -> Iterator[tuple[tuple[int, int], Outcome]]:
    total = len(scenario.variants) * len(scenario.seeds)
    jobs = min(jobs, total)
    # A forked process would inherit the locks of the threads of polars and Numba.
    context = multiprocessing.get_context("spawn")
    # For each process the number of its cell, and 0 while it has none.
    at_work = context.RawArray("q", jobs)
    places = context.Value("q", 0)
    with ProcessPoolExecutor(jobs, context, _begin_process, (at_work, places)) as pool:
        pending: dict[Future[Outcome], _Cell] = {}
        named: dict[int, str] = {}
        first = total
        for number, cell in cells:
            first = min(first, number)
            named[number + 1] = f"{scenario.variants[cell.index].name}, seed {cell.seed}"
            pending[pool.submit(_run_cell, scenario.world.name, cell, number + 1)] = cell
        try:
            for done, future in enumerate(as_completed(pending), first):
                cell = pending.pop(future)
                tell(Progress(scenario.variants[cell.index].name, cell.seed, done, total))
                yield (cell.index, cell.seed), future.result()
        except BrokenProcessPool as error:
            began = " or ".join(f"{named[number]!r}" for number in at_work if number) or "no variant"
            raise PolicyError(
                f"a process of --jobs ended without a word (killed, or out of memory) while it ran {began}"
            ) from error
        except BaseException:
            # Nobody waits for cells that have not begun.
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    tell(Progress("", 0, total, total))


@dataclass(frozen=True, slots=True)
class _Told:
    """Where a process of the pool says which cell it is at."""

    at_work: Any
    place: int

    def at(self, number: int) -> None:
        self.at_work[self.place] = number


#: What the initializer of a process leaves for the functions that run there; there is no other way between the two.
_TOLD: list[_Told] = []


def _begin_process(at_work: Any, places: Any) -> None:
    _end_with_parent()
    refuse_to_leave()
    with places.get_lock():
        _TOLD.append(_Told(at_work, places.value))
        places.value += 1


def _end_with_parent() -> None:
    """Have a worker end when who started it is gone, however that ended."""
    parent = multiprocessing.parent_process()

    def wait() -> None:
        if parent is not None:
            multiprocessing.connection.wait([parent.sentinel])
            os._exit(1)

    threading.Thread(target=wait, name="end with parent", daemon=True).start()


def _run_cell(world: str, cell: _Cell, number: int) -> Outcome:
    _TOLD[0].at(number)
    try:
        return find_world(world).run(cell.setting, cell.seed, cell.workload, lambda share: None)
    except BaseException as error:
        # What a policy raises may be of a class that only this process knows, and tracebacks do not travel.
        said = blamed(error)
        if said is None:
            raise
        raise PolicyError(said) from None
    finally:
        _TOLD[0].at(0)
