"""The run of a scenario without cutting jobs, which a second core may compute during the run with it."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable

from windlass.experiment.runner import Progress
from windlass.experiment.scenario import Scenario
from windlass.results import Outcome, Results

#: Runs a scenario, given what is called with its progress.
RunScenario = Callable[[Scenario, Callable[[Progress], None] | None], Results]


class _CancelledError(Exception):
    """The results are not needed any longer."""


class UncutRun:
    """Runs a scenario without cutting: in a thread from the first outcome on that shows cut work, or else on request.

    A thread is started only if no code runs in it that holds Python's global lock for long, or that a user wrote: all
    policies are compiled, and all variants have one workload.

    Parameters
    ----------
    make
        Returns the scenario without cutting, or None if there is none; called once, if it is needed.
    run
        Runs it.
    least
        The share of cut work above which the run is needed, 0 to 1.
    ahead
        Whether it may run in a thread; by default, if the machine has several cores.

    Examples
    --------
    >>> UncutRun(lambda: None, lambda scenario, progress: Results("", "", ()), 0.01).results() is None
    True
    """

    def __init__(
        self,
        make: Callable[[], Scenario | None],
        run: RunScenario,
        least: float,
        *,
        ahead: bool | None = None,
    ) -> None:
        self._make, self._run, self._least = make, run, least
        self._ahead = (os.cpu_count() or 1) > 1 if ahead is None else ahead
        self._thread: threading.Thread | None = None
        self._cancelled = threading.Event()
        self._found: Results | None = None
        self._error: BaseException | None = None

    @property
    def begun(self) -> bool:
        """Whether a thread has been started."""
        return self._thread is not None

    def observe(self, outcome: Outcome) -> None:
        """Start the thread if an outcome of the run with cutting shows that it is needed."""
        if not self._ahead or outcome.cut_share <= self._least:
            return
        self._ahead = False
        scenario = self._scenario
        if scenario is not None and _runs_in_threads(scenario):
            # A daemon, so that an interrupted command does not wait for it.
            self._thread = threading.Thread(
                target=self._compute, args=(scenario,), name="without cutting", daemon=True
            )
            self._thread.start()

    def results(self, progress: Callable[[Progress], None] | None = None) -> Results | None:
        """Return the results, when they are complete; None without a scenario.

        Raises
        ------
        InputError, PolicyError, TaskError
            As :func:`~windlass.experiment.runner.run`.
        """
        if self._thread is None:
            scenario = self._scenario
            return None if scenario is None else self._run(scenario, progress)
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._found

    def cancel(self) -> None:
        """End the thread soon, if there is one; its results are not needed."""
        self._cancelled.set()

    @functools.cached_property
    def _scenario(self) -> Scenario | None:
        return self._make()

    def _compute(self, scenario: Scenario) -> None:
        try:
            self._found = self._run(scenario, self._check)
        except _CancelledError:
            return
        except BaseException as error:
            self._error = error

    def _check(self, progress: Progress) -> None:
        if self._cancelled.is_set():
            raise _CancelledError


def _runs_in_threads(scenario: Scenario) -> bool:
    world, seeds = scenario.world, scenario.seeds
    keys = {world.workload_key(variant.setting, seed) for variant in scenario.variants for seed in seeds}
    return len(keys) == 1 and all(world.runs_in_threads(variant.setting) for variant in scenario.variants)
