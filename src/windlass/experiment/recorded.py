"""A log's recorded schedule, for comparison with the variants that replay the log: a row at each point of a sweep."""

from __future__ import annotations

from typing import Any

from windlass.experiment.scenario import Scenario
from windlass.results import RECORDED, Outcome, VariantResult


class RecordedSchedules:
    """Collects a log's recorded schedule from the workloads as they are read for a run.

    Parameters
    ----------
    scenario
        The scenario that is run.

    Examples
    --------
    >>> from windlass.experiment.scenario import make_scenario
    >>> RecordedSchedules(make_scenario({"workload": {"lublin": {"jobs": 2}}, "policies": {"order": "easy"}})).results()
    ()
    """

    def __init__(self, scenario: Scenario) -> None:
        self._scenario, self._logged = scenario, scenario.world.logged
        #: The first variant of each point; all variants of a point have the same jobs.
        self._first = {
            variant.point: index for index, variant in reversed(list(enumerate(scenario.variants)))
        }
        self._found: dict[tuple[int, int], Outcome | None] = {}
        self._own: dict[int, bool] = {}

    def collect(self, index: int, seed: int, workload: Any) -> None:
        """Collect the schedule of a variant's workload; the workload itself is not stored."""
        variant = self._scenario.variants[index]
        first = self._first[variant.point]
        if self._logged is None or (first, seed) in self._found:
            return
        self._found[first, seed] = self._logged.outcome(variant.setting, seed, workload)
        self._own[first] = self._logged.own(variant.setting, workload)

    def known(self) -> bool:
        """Return whether the log has a schedule; this reads the first workload."""
        return self._outcome(0, self._scenario.seeds[0]) is not None

    def results(self) -> tuple[VariantResult, ...]:
        """Return the recorded schedule at each point of the sweep; empty without a log or start times in it."""
        found = []
        for index in sorted(self._first.values()):
            variant = self._scenario.variants[index]
            outcomes = [self._outcome(index, seed) for seed in self._scenario.seeds]
            whole = [outcome for outcome in outcomes if outcome is not None]
            if self._logged is None or len(whole) < len(outcomes):
                continue
            name = f"{RECORDED}, {variant.point}" if variant.point else RECORDED
            choices = self._logged.choices(variant.setting)
            found.append(
                VariantResult(name, choices, tuple(whole), variant.point, variant.at, self._own[index], True)
            )
        return tuple(found)

    def _outcome(self, index: int, seed: int) -> Outcome | None:
        if self._logged is not None and (index, seed) not in self._found:
            setting = self._scenario.variants[index].setting
            # This run took the outcome from a checkpoint, without reading the workload.
            self.collect(index, seed, self._scenario.world.workload(setting, seed))
        return self._found.get((index, seed))
