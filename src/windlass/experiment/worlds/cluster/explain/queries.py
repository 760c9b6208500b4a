"""The history of a streaming query: its configurations, the reasons for their changes, and its results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.experiment.worlds.cluster.explain.recorder import JobOfRun, JobRecorder
from windlass.experiment.worlds.cluster.explain.staged import bytes_text
from windlass.experiment.worlds.cluster.results import ClusterRun
from windlass.plan.view import Plan, PlanView, QueryOptions
from windlass.report.units import counted, duration, share
from windlass.results.history import HistoryStep, JobHistory
from windlass.sim.queries.result import Streamed

_Floats = NDArray[np.float64]
_CORES = "cores"


@dataclass(frozen=True, slots=True, eq=False)
class _Call:
    """One call of the planner while the query is there.

    ``before`` and ``choice`` are its configurations, ``total`` is the (L,) demand of all queries, ``others`` their
    number without it.
    """

    at: float
    options: QueryOptions
    before: int
    choice: int
    why: str
    resources: tuple[str, ...]
    capacity: _Floats
    total: _Floats
    others: int


class QueryRecorder(JobRecorder):
    """Records the planner's calls while a query is there."""

    def __init__(self, job: JobOfRun) -> None:
        super().__init__(job)
        self._row = job.number - 1
        self._calls: list[_Call] = []

    def log(self, address: str, view: Any, answer: Any) -> None:
        """Take note of a call of the planner."""
        if address == f"plan.{self._job.group}":
            self._note(view, answer)

    def _note(self, view: PlanView, answer: Plan) -> None:
        for place, options in enumerate(view.queries):
            if options.query == self._row:
                self._calls.append(
                    _Call(
                        view.now,
                        options,
                        options.current,
                        answer.choices[place],
                        answer.why[place],
                        view.resources,
                        view.capacity,
                        answer.demand(view),
                        len(view.queries) - 1,
                    )
                )

    def history(self, done: ClusterRun) -> JobHistory:
        """Return the query's history."""
        job, row = self._job, self._row
        result = next(each.result for each in done.queries if each.load == job.load)
        arrive, leave = float(result.stays.arrive[row]), float(result.stays.leave[row])
        steps = [HistoryStep(arrive, "arrives", f"it stays for {duration(leave - arrive)}")]
        steps += [self._planned(place, call) for place, call in enumerate(self._calls)]
        steps.append(_left(row, leave, result))
        return JobHistory(
            job.name,
            "query",
            arrive,
            tuple(self._about(row, result)),
            tuple(steps),
            {"end_s": leave, "accuracy": _accuracy(row, result)},
        )

    def _about(self, row: int, result: Streamed) -> Iterator[str]:
        arrive = float(result.stays.arrive[row])
        length = float(result.stays.leave[row]) - arrive
        if self._calls:
            options = self._calls[0].options
            found = f"{counted(len(options), 'configuration')}, with accuracies up to {options.accuracy.max():.3f}"
            yield f"Query {self._job.name} ({options.name}) could run in {found}."
        changes = sum(call.choice != call.before for call in self._calls)
        yield (
            f"It arrived {duration(arrive)} after the beginning and left {duration(length)} later. Meanwhile the "
            f"planner was called {counted(len(self._calls), 'time')}, and gave it "
            f"{counted(changes, 'new configuration')}."
        )

    def _planned(self, place: int, call: _Call) -> HistoryStep:
        """Return the step of a call of the planner; one that changes nothing for the query is minor."""
        policy, figures = self._job.policy("plan"), _figures(call)
        if call.choice < 0:
            what = "gets no configuration, and does not run"
        else:
            label = call.options.label(call.choice)
            word = "keeps" if call.choice == call.before else "gets" if call.before < 0 else "changes to"
            what = f"{word} {label}, accuracy {call.options.accuracy[call.choice]:.3f}"
            if label in call.why:
                # The policy's reason names the configuration.
                what = f"{word} {'its' if word == 'keeps' else 'a' if word == 'gets' else 'another'} configuration"
        minor = call.choice == call.before and place > 0
        return HistoryStep(call.at, what, "; ".join(_why(call)), "plan", policy, figures, minor)


def _why(call: _Call) -> Iterator[str]:
    yield call.why
    own = np.zeros(len(call.resources)) if call.choice < 0 else call.options.demand[call.choice]
    # Of a query that does not run, the resources that its configurations would need.
    some = call.options.compact.uses if call.choice < 0 else np.flatnonzero(own)
    for place in some.tolist():
        cluster, _, kind = call.resources[place].rpartition(".")
        if not np.isfinite(call.capacity[place]):
            continue
        total, there = (_amount(float(each), kind) for each in (call.total[place], call.capacity[place]))
        needs = f"needs {_amount(float(own[place]), kind)}" if own[place] > 0.0 else "would need some"
        yield f"it {needs} at {cluster}, where all queries need {total}, and {there} are available"


def _amount(value: float, kind: str) -> str:
    return f"{value:.3g} {kind}" if kind == _CORES else f"{bytes_text(value)}/s of the {kind}link"


def _figures(call: _Call) -> dict[str, Any]:
    names = call.resources
    own = np.zeros(len(names)) if call.choice < 0 else call.options.demand[call.choice]
    return {
        "before": call.before,
        "choice": call.choice,
        "needs": {names[place]: float(own[place]) for place in np.flatnonzero(own)},
        "all_need": {names[place]: float(call.total[place]) for place in call.options.compact.uses.tolist()},
        "available": {
            names[place]: float(call.capacity[place]) for place in call.options.compact.uses.tolist()
        },
        "other_queries": call.others,
    }


def _accuracy(row: int, result: Streamed) -> float:
    length = float(result.stays.leave[row] - result.stays.arrive[row])
    return float(result.accurate[row]) / length if length > 0.0 else float("nan")


def _left(row: int, leave: float, result: Streamed) -> HistoryStep:
    """Return the step of the end of a query's stay, with the results of its stream."""
    length = leave - float(result.stays.arrive[row])
    served, late, lost, silent = (
        float(each[row]) for each in (result.served, result.late, result.lost, result.silent)
    )
    why = (
        f"{share(served, length)} of its stream had results, {share(late, length)} late; {share(lost, length)} was "
        f"lost; its components did not run for {duration(silent)}; mean accuracy {_accuracy(row, result):.3f}"
    )
    figures = {
        "served_s": served,
        "late_s": late,
        "lost_s": lost,
        "silent_s": silent,
        "switches": int(result.switches[row]),
    }
    return HistoryStep(leave, "leaves", why, figures=figures)
