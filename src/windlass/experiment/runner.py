"""Runs a scenario: every variant with every seed, in one process or several, with the same results."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from dataclasses import dataclass
from typing import Any

from windlass.engines.targets import Executors
from windlass.engines.worker_pool import Crew, Crews, processes
from windlass.experiment.checkpoint import RunCheckpoint
from windlass.experiment.recorded import RecordedSchedules
from windlass.experiment.scenario import Scenario
from windlass.experiment.worlds import LiveWorld, Setting, find_world, worlds
from windlass.jit import Compiling, prepare
from windlass.model import PolicyError, TaskError
from windlass.model.errors import ParameterError
from windlass.policy.user_code import describe_failure
from windlass.results import Outcome, Results, VariantResult

#: Cells in flight per worker: enough to keep workers busy, few enough to hold their workloads in memory.
_AHEAD = 2


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a run: ``done`` of ``total`` cells (a variant with a seed), with a share of the current one."""

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
    checkpoint: RunCheckpoint | None = None,
    crews: Crews | None = None,
    last: LastWorkload | None = None,
    observe: Callable[[Outcome], None] | None = None,
) -> Results:
    """Run all variants of a scenario with all seeds.

    Parameters
    ----------
    scenario
        The scenario.
    jobs
        Number of processes; the results do not depend on it.
    report
        Called at intervals with the progress.
    executors
        Run on these live engines, one run after the other, instead of in the simulator; they are closed at the end.
    compiling
        Called with the progress of compilation, on the first use on a machine.
    checkpoint
        The checkpoint to which each completed cell is added; cells in it are not run again.
    crews
        Starts the workers that run the cells; by default ``jobs`` processes. The results do not depend on it.
    last
        The last workload of an earlier run, which is not read again, and then that of this run.
    observe
        Called with each outcome as it is computed.

    Returns
    -------
    Results
        Variants in the order of the scenario, outcomes in the order of the seeds. For each point of the sweep, the
        log's recorded schedule follows, if the log has start times.

    Raises
    ------
    InputError
        The workload cannot be read, a policy does not exist, or the world does not run on a live engine.
    TaskError
        A worker process died while it ran a cell.

    Examples
    --------
    >>> from windlass.experiment.scenario import make_scenario
    >>> scenario = make_scenario({"workload": {"lublin": {"jobs": 20}}, "policies": {"order": "easy"}})
    >>> run(scenario).variants[0].outcomes[0].metrics.jobs
    20
    """
    kernels = [kernel for variant in scenario.variants for kernel in scenario.world.kernels(variant.setting)]
    outcomes, logs = _known(scenario, checkpoint), RecordedSchedules(scenario)
    cells = _cells(scenario, frozenset(outcomes), logs, last or LastWorkload())
    # The first workload is read before compilation, so that an error in it is reported at once.
    first = list(itertools.islice(cells, 1))
    if first:
        prepare(kernels, compiling)
    notify = report or (lambda _: None)
    numbered = enumerate(itertools.chain(first, cells), len(outcomes))
    if executors is not None:
        done = _live(scenario, numbered, executors, notify)
    elif not first or (crews is None and jobs == 1):
        done = _in_this_process(scenario, numbered, notify)
    else:
        done = _by_workers(scenario, numbered, crews or functools.partial(processes, jobs), notify)
    for (index, seed), outcome in done:
        outcomes[index, seed] = outcome
        if observe is not None:
            observe(outcome)
        if checkpoint is not None:
            checkpoint.add(index, outcome)
    variants = [
        VariantResult(
            name=variant.name,
            choices=scenario.world.choices(variant.setting),
            outcomes=tuple(outcomes[index, seed] for seed in scenario.seeds),
            point=variant.point,
            at=variant.at,
            bound=any(choice.bound for choice in scenario.world.choices(variant.setting)),
        )
        for index, variant in enumerate(scenario.variants)
    ]
    return Results(scenario.name, scenario.as_run, (*variants, *logs.results()))


def _known(scenario: Scenario, checkpoint: RunCheckpoint | None) -> dict[tuple[int, int], Outcome]:
    """Return the cells that an earlier run of the same scenario completed."""
    if checkpoint is None:
        return {}
    cells = itertools.product(range(len(scenario.variants)), scenario.seeds)
    return {
        (index, seed): checkpoint.get(index, seed) for index, seed in cells if checkpoint.has(index, seed)
    }


def describe_live(scenario: Scenario, executors: Executors) -> tuple[str, ...]:
    """Describe in lines what a live run of a scenario would do, without starting anything.

    Raises
    ------
    InputError
        The scenario cannot run on a live engine.
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
        raise ParameterError(
            "live",
            f"world {scenario.world.name!r} runs in the simulator only, expected one of the worlds {able}",
        )
    return live


def _live(
    scenario: Scenario, cells: _Numbered, executors: Executors, notify: Callable[[Progress], None]
) -> Iterator[tuple[tuple[int, int], Outcome]]:
    live, total = _live_world(scenario), len(scenario.variants) * len(scenario.seeds)
    try:
        for done, cell in cells:
            name = scenario.variants[cell.index].name

            def inside(share: float, done: int = done, name: str = name, seed: int = cell.seed) -> None:
                notify(Progress(name, seed, done + share, total))

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


#: Cells, each with the number of cells before it.
_Numbered = Iterable[tuple[int, _Cell]]


class LastWorkload:
    """The workload that was read or drawn last, and its key: a second run of the same log does not read it again.

    Examples
    --------
    >>> last = LastWorkload()
    >>> last.get("a", lambda: [1]), last.get("a", lambda: [2]), last.get("b", lambda: [3])
    ([1], [1], [3])
    """

    def __init__(self) -> None:
        self._key: Hashable = None
        self._workload: Any = None

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Return the workload of a key; one of another key is dropped before it is made."""
        if self._workload is None or self._key != key:
            self._workload = None
            self._workload, self._key = make(), key
        return self._workload


def _cells(
    scenario: Scenario, known: frozenset[tuple[int, int]], logs: RecordedSchedules, last: LastWorkload
) -> Iterator[_Cell]:
    """Yield all cells but the known, ordered by workload, so that one workload at a time is in memory.

    Each workload is passed to `logs`.
    """
    keys = {
        (index, seed): scenario.world.workload_key(variant.setting, seed)
        for index, variant in enumerate(scenario.variants)
        for seed in scenario.seeds
        if (index, seed) not in known
    }
    for key in dict.fromkeys(keys.values()):
        for (index, seed), own in keys.items():
            if own == key:
                setting = scenario.variants[index].setting
                workload = last.get(key, functools.partial(scenario.world.workload, setting, seed))
                logs.collect(index, seed, workload)
                yield _Cell(index, seed, setting, workload)


def _in_this_process(
    scenario: Scenario, cells: _Numbered, notify: Callable[[Progress], None]
) -> Iterator[tuple[tuple[int, int], Outcome]]:
    total = len(scenario.variants) * len(scenario.seeds)
    for done, cell in cells:
        name = scenario.variants[cell.index].name

        def inside(share: float, done: int = done, name: str = name, seed: int = cell.seed) -> None:
            notify(Progress(name, seed, done + share, total))

        inside(0.0)
        yield (cell.index, cell.seed), scenario.world.run(cell.setting, cell.seed, cell.workload, inside)
    notify(Progress("", 0, total, total))


def _by_workers(
    scenario: Scenario, cells: _Numbered, crews: Crews, notify: Callable[[Progress], None]
) -> Iterator[tuple[tuple[int, int], Outcome]]:
    total = len(scenario.variants) * len(scenario.seeds)
    with crews() as pool:
        running: dict[Future[Outcome], _Cell] = {}
        submitted = _submissions(scenario, cells, pool)
        done = total
        while True:
            for number, cell, future in itertools.islice(
                submitted, max(0, _AHEAD * pool.size() - len(running))
            ):
                running[future] = cell
                done = min(done, number)
            if not running:
                break
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                cell = running.pop(future)
                notify(Progress(scenario.variants[cell.index].name, cell.seed, done, total))
                try:
                    outcome = future.result()
                except BrokenExecutor as error:
                    raise _lost(scenario, [cell, *running.values()], error) from error
                yield (cell.index, cell.seed), outcome
                done += 1
    notify(Progress("", 0, total, total))


def _submissions(
    scenario: Scenario, cells: _Numbered, pool: Crew
) -> Iterator[tuple[int, _Cell, Future[Outcome]]]:
    """Submit cells to a worker pool as results are consumed, and share each workload once."""
    workload = shared = None
    for number, cell in cells:
        if shared is None or cell.workload is not workload:
            workload, shared = cell.workload, pool.share(cell.workload)
        yield number, cell, pool.submit(_run_cell, scenario.world.name, cell.setting, cell.seed, shared)


def _lost(scenario: Scenario, cells: Iterable[_Cell], error: BrokenExecutor) -> TaskError:
    """Return the error for a worker's death, which names the cells that were running."""
    names = [repr(f"{scenario.variants[cell.index].name}, seed {cell.seed}") for cell in cells]
    shown = " or ".join(names[:4]) + (" or …" if len(names) > 4 else "")
    return TaskError(f"worker process died (killed or out of memory) while running {shown}: {error}")


def _run_cell(world: str, setting: Setting, seed: int, workload: Any) -> Outcome:
    try:
        return find_world(world).run(setting, seed, workload, lambda share: None)
    except BaseException as error:
        # A policy's exception may have a class that only this process can import, and tracebacks are not pickled.
        message = describe_failure(error)
        if message is None:
            raise
        raise PolicyError(message) from None
