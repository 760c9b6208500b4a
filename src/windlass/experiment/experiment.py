"""The run of a validated scenario: its checkpoints, the recorded schedule, and the verdict."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import yaml

from windlass.engines.targets import Executors
from windlass.engines.worker_pool import Crews, crews_on
from windlass.experiment.answer import MOST_CUT, answer_to
from windlass.experiment.checkpoint import RunCheckpoint, begin, files_of, resume
from windlass.experiment.judged import JudgedResults
from windlass.experiment.recorded import RecordedSchedules
from windlass.experiment.runner import LastWorkload, Progress, describe_live, run
from windlass.experiment.scenario import Scenario, make_scenario
from windlass.experiment.scenario.source import with_value
from windlass.experiment.uncut_run import UncutRun
from windlass.io import Claim, claim_folder
from windlass.jit import Compiling
from windlass.model import InputError
from windlass.model.errors import ParameterError, Remedy
from windlass.results import FILES, RECORDED, Results
from windlass.results.verdict import Requirement, check_names, parse_requirements

#: The key in a world's ``options`` of the field that stops jobs at their requested time.
_CUTTING = "--no-kill"

#: The reservation about one drawn workload.
_ONE_SEED = "The workload was drawn once, with one seed; others may differ (run several, as in --seeds 1-5)."


@dataclass(frozen=True, slots=True)
class Workers:
    """Processes or a Ray cluster that execute the runs of an experiment; the results do not depend on them.

    Parameters
    ----------
    jobs
        Number of processes on this machine.
    on
        A Ray cluster instead: ``ray`` for a private one, or ``ray:HOST:PORT`` for a running one.
    nodes
        Number of nodes of a private cluster.
    """

    jobs: int = 1
    on: str | None = None
    nodes: int = 1

    def crews(self, scenario: Scenario) -> Crews | None:
        """Return the worker pool on Ray, or None for processes; nothing is started yet."""
        return None if self.on is None else crews_on(self.on, self.nodes, sorted(files_of(scenario.as_run)))


@dataclass(frozen=True, slots=True)
class Folder:
    """The folder of an experiment's tables, and what to do if it exists.

    Parameters
    ----------
    path
        The folder. Finished runs are stored next to it until the experiment is complete.
    force
        Replace existing results in the folder.
    resume
        Continue an interrupted experiment: finished runs are not repeated.
    """

    path: Path
    force: bool = False
    resume: bool = False


class Experiment:
    """Runs every variant of a scenario with every seed, and judges the results.

    Parameters
    ----------
    scenario
        The validated scenario.
    by
        The metric that the verdict compares; by default the world's first.
    require
        Requirements on the winner, as in ``p99_wait<=1.1*fcfs, max_wait<2d``.
    workers
        Where the runs execute.
    live
        Live engines to run on, instead of the simulator.
    folder
        Where tables and checkpoints are written; None to write nothing.
    check
        If over 1 % of the work is cut off at the requested times, repeat without cutting jobs off, and report whether
        the verdict changes.

    Raises
    ------
    InputError
        ``by`` or ``require`` names a metric or a variant that the scenario does not have; nothing was run.

    Examples
    --------
    >>> from windlass.experiment.scenario import make_scenario
    >>> tree = {"workload": {"lublin": {"jobs": 40}}, "policies": {"order": ["fcfs", "easy"]}}
    >>> results = Experiment(make_scenario(tree), check=False).run()
    >>> results.table()["variant"].to_list()
    ['fcfs', 'easy']
    """

    def __init__(
        self,
        scenario: Scenario,
        *,
        by: str | None = None,
        require: str | None = None,
        workers: Workers | None = None,
        live: Executors | None = None,
        folder: Folder | None = None,
        check: bool = True,
    ) -> None:
        if not isinstance(scenario, Scenario):
            raise InputError(
                f"Experiment: {type(scenario).__name__} given, expected a scenario from make_scenario or load_scenario"
            )
        self.scenario, self._by, self._live = scenario, by, live
        self._workers = workers or Workers()
        self._folder, self._check = folder, check
        self._requirements = _requirements(scenario, by, require)
        self._checkpoint: RunCheckpoint | None = None

    def describe(self) -> tuple[str, ...]:
        """Return what :meth:`run` would do on live engines, one line each; nothing is started.

        Raises
        ------
        InputError
            The experiment runs in the simulator, or cannot run on the engines.
        """
        if self._live is None:
            raise ParameterError(
                "live", "the experiment runs in the simulator, expected engines to describe a run on"
            )
        try:
            return describe_live(self.scenario, self._live)
        finally:
            self._live.close()

    def run(
        self,
        progress: Callable[[Progress], None] | None = None,
        compiling: Callable[[Compiling], None] | None = None,
    ) -> JudgedResults:
        """Run all variants with all seeds, and judge the results.

        Parameters
        ----------
        progress
            Called at intervals with the progress.
        compiling
            Called while functions are compiled, on the first use on a machine.

        Raises
        ------
        InputError
            The workload cannot be read, a policy does not exist, or the folder cannot be written.
        """
        place = self._folder
        claim_it = (
            nullcontext() if place is None else claim_folder(place.path, "out", FILES, replace=place.force)
        )
        with claim_it as claim:
            if claim is not None and place is not None:
                self._checkpoint = _checkpoint(claim, self.scenario, place)
            crews = self._workers.crews(self.scenario)
            last = LastWorkload()
            uncut = self._without_cutting(compiling, last)
            try:
                results = run(
                    self.scenario,
                    self._workers.jobs,
                    progress,
                    self._live,
                    compiling,
                    self._checkpoint,
                    crews,
                    last,
                    uncut.observe,
                )
                if claim is not None:
                    claim.fill(results.save)
            except BaseException:
                uncut.cancel()
                raise
        try:
            answer = answer_to(
                results,
                self._by,
                self._requirements,
                lambda: uncut.results(progress),
                _reservation(self.scenario),
            )
        finally:
            uncut.cancel()
        return JudgedResults(results.scenario, results.as_run, results.variants, answer)

    def unfinished(self) -> tuple[int, int] | None:
        """Return the finished runs and all runs of an interrupted experiment, or None.

        Call it after :meth:`run` of this object. A checkpoint without a finished run is removed.
        """
        found = self._checkpoint
        if found is None or not found.folder.is_dir():
            return None
        count = found.count()
        if count == 0:
            found.discard()
            return None
        return count, len(self.scenario.variants) * len(self.scenario.seeds)

    def _without_cutting(self, compiling: Callable[[Compiling], None] | None, last: LastWorkload) -> UncutRun:
        """Return the run with no job stopped at its requested time; of nothing if the scenario sweeps that field."""
        wanted = self._check and self._live is None

        def runs(scenario: Scenario, progress: Callable[[Progress], None] | None) -> Results:
            crews = self._workers.crews(scenario)
            return run(scenario, self._workers.jobs, progress, compiling=compiling, crews=crews, last=last)

        here = self._workers.jobs == 1 and self._workers.crews(self.scenario) is None
        several = len(self.scenario.variants) > 1
        return UncutRun(
            lambda: without_cutting(self.scenario) if wanted else None,
            runs,
            MOST_CUT,
            ahead=None if wanted and here and several else False,
        )


def without_cutting(scenario: Scenario) -> Scenario | None:
    """Return a scenario in which no job is stopped at its requested time.

    None if its world does not stop jobs, or if the scenario itself sweeps that field.
    """
    field = scenario.world.setting.options.get(_CUTTING)
    if field is None:
        return None
    tree = with_value(yaml.safe_load(scenario.as_run), field.split("."), False)
    other = make_scenario(tree)
    same = [each.name for each in other.variants] == [each.name for each in scenario.variants]
    return other if same else None


def _requirements(scenario: Scenario, by: str | None, require: str | None) -> tuple[Requirement, ...]:
    """Parse the requirements and check the names in them, before any run."""
    names = [variant.name.removesuffix(f", {variant.point}") for variant in scenario.variants]
    if scenario.world.logged is not None:
        names.append(RECORDED)
    found = () if require is None else parse_requirements(require, names)
    check_names(scenario.world.metrics, by, found)
    for each in found:
        if each.variant == RECORDED and not RecordedSchedules(scenario).known():
            raise ParameterError(
                "require",
                f"{each.text!r}: the log has no start times, so there is no row {RECORDED!r}",
            )
    return found


def _checkpoint(claim: Claim, scenario: Scenario, folder: Folder) -> RunCheckpoint:
    """Return the checkpoint of finished runs: a new one, or that of an interrupted run."""
    if folder.resume:
        return resume(claim.partial, scenario.as_run)
    if claim.partial.is_dir() and not folder.force:
        raise ParameterError(
            "out",
            f"{claim.place} has an unfinished run",
            Remedy("resume", "continues it"),
            Remedy("force", "starts over"),
        )
    return begin(claim.partial, scenario.as_run)


def _reservation(scenario: Scenario) -> str:
    """Return what the workload leaves open: it was drawn once, or as the setting states."""
    seed, setting, key = scenario.seeds[0], scenario.variants[0].setting, scenario.world.workload_key
    drawn_once = len(scenario.seeds) == 1 and key(setting, seed) != key(setting, seed + 1)
    return _ONE_SEED if drawn_once else setting.reservation()
