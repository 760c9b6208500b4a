"""A part that only adds stops at any instants changes no result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.coupled.cases import Case, Tasks, cases, run, workers
from tests.oracles.plain import Plain
from tests.oracles.workloads import CHECK, busy
from windlass.drive import drive
from windlass.model.timetable import WorkerTimetable
from windlass.order.site import POLICIES
from windlass.sim import Replay, replay
from windlass.sim.coupled import Coupled
from windlass.sim.ledger import Ledger
from windlass.sim.part import Quiet
from windlass.sim.site.part import SitePart

_NAMES = ("fcfs", "easy", "sjf", "conservative")
_SPEEDS = [1.0, 1.0, 2.0, 0.5, 6.0]


class Chop(Quiet):
    """Stops all parts at given instants, and checks that they advance to the common horizon."""

    def __init__(self, instants: Sequence[float]) -> None:
        self._left = sorted({float(each) for each in instants}, reverse=True)
        self._reached = -np.inf

    def horizon(self) -> float:
        return self._left[-1] if self._left else np.inf

    def advance(self, until: float) -> float:
        while self._left and self._left[-1] <= until:
            self._left.pop()
        assert until >= self._reached
        self._reached = until
        return until

    def alter(self, now: float) -> None:
        assert now == self._reached


def bits(result: Any) -> list[Any]:
    """Return all fields of a result, for exact comparison."""
    values = [getattr(result, each.name) for each in fields(result)]
    return [value.tobytes() if isinstance(value, np.ndarray) else value for value in values]


def test_the_chopping_part_stops_at_its_instants() -> None:
    chop = Chop([3.0, 1.0, 3.0])
    assert (chop.horizon(), chop.advance(1.0), chop.horizon(), chop.advance(9.0)) == (1.0, 1.0, 3.0, 9.0)
    assert chop.horizon() == np.inf


def run_site_with_stops(
    case: Any, policy: Any, instants: Sequence[float], *, watched: bool, last: bool
) -> Replay:
    """The jobs of a pooled site, stopped at instants, or at all of its own where its rows are watched."""
    ledger = Ledger([[case.processors]], parts=1)
    parts = [Chop(instants), SitePart(case.jobs, policy, ledger)]
    if watched:
        ledger.watch(0)
    results = drive(Coupled(parts[::-1] if last else parts, ledger), {"order": policy})
    return next(result for result in results if isinstance(result, Replay))


@pytest.mark.matrix
@pytest.mark.parametrize("name", _NAMES)
@pytest.mark.parametrize("watched", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_additional_stops_do_not_change_jobs(name: str, watched: bool, seed: int) -> None:
    case = busy(seed, whole=seed != 2)
    whole = replay(*case, POLICIES.find(name)())
    rng = np.random.default_rng(seed)
    own = rng.choice(np.concatenate((whole.start, whole.end, case.jobs.submit)), 200)
    instants = [*own.tolist(), *np.nextafter(own, np.inf)[:50].tolist(), *rng.uniform(0, whole.end.max(), 50)]
    for hidden in (False, True):
        policy = POLICIES.find(name)()
        policy = Plain(policy) if hidden else policy
        chopped = run_site_with_stops(case, policy, instants, watched=watched, last=hidden)
        assert [chopped.start.tobytes(), chopped.end.tobytes()] == [
            whole.start.tobytes(),
            whole.end.tobytes(),
        ]
        why = [chopped.reasons[code] for code in chopped.why]
        assert why == [whole.reasons[code] for code in whole.why]


def instants_of(case: Case) -> list[float]:
    times = [*case.jobs.submit.tolist(), *case.outages.time.tolist(), 0.5, 2.0, 2.5, 7.0]
    return times + [time + length for time, length in zip(times, case.jobs.run.tolist(), strict=False)]


@CHECK
@given(case=cases(with_tasks=False, outages=False), name=st.sampled_from(_NAMES))
def test_additional_stops_do_not_change_random_jobs(case: Case, name: str) -> None:
    whole = run(case, name).replay
    assert bits(run(case, name, also=[Chop(instants_of(case))]).replay)[1:] == bits(whole)[1:]


def shaky(until: float) -> WorkerTimetable:
    """Speeds change and fall to nothing, and workers fail and return, some at instants that tie with arrivals."""
    rng = np.random.default_rng(8)
    times = np.sort(rng.uniform(0, until, 40))
    return (
        WorkerTimetable.speeds(times, rng.integers(0, 5, 40), rng.choice([0.5, 1.0, 3.0], 40))
        + WorkerTimetable.failure(4, until * 0.2, until * 0.5)
        + WorkerTimetable.failure(0, until * 0.3, until * 0.4)
        + WorkerTimetable.speeds([until * 0.55, until * 0.6], [2, 2], [0.0, 2.0])
    )


_WORLDS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "ppot": ("ppot", {}, {}),
    "ppot, old queues": ("ppot", {}, {"probe_delay": 0.4, "schedulers": 3, "samples": 20}),
    "jsq": ("jsq", {}, {"samples": 20}),
    "sed, failures": ("sed", {}, {"shaky": True}),
    "rosella": ("rosella", {}, {"samples": 20}),
    "rosella, three that fail and see late": (
        "rosella",
        {},
        {"shaky": True, "schedulers": 3, "probe_delay": 0.3, "samples": 20},
    ),
    "rosella, sizes hidden": ("rosella", {}, {"shaky": True, "sizes_known": False, "schedulers": 2}),
    "ucb": ("ucb", {}, {"shaky": True}),
    "sparrow": ("sparrow", {}, {"tasks_per_job": 4, "shaky": True}),
    "sparrow, old queues": ("sparrow", {}, {"tasks_per_job": 4, "schedulers": 2, "probe_delay": 0.2}),
}


def run_dispatch(world: str, instants: Sequence[float] | None, *, whole_seconds: bool) -> Any:
    policy, options, changed = _WORLDS[world]
    changed = dict(changed)
    rng = np.random.default_rng(3)
    per_job = changed.get("tasks_per_job", 1)
    submit = np.repeat(np.cumsum(rng.exponential(1 / 7, 1200 // per_job) * per_job), per_job)
    work = rng.exponential(1.0, len(submit)) + 1e-9
    if whole_seconds:
        submit, work = np.floor(submit * 4) / 4, np.ceil(work * 4) / 4
    if changed.pop("shaky", False):
        changed["timetable"] = shaky(float(submit[-1]))
    tasks = Tasks(submit.tolist(), work.tolist(), _SPEEDS)
    part = workers(tasks, None, policy=policy, options=options, **changed)
    parts = [part] if instants is None else [Chop(instants), part]
    return drive(Coupled(parts), {})[-1]


@pytest.mark.parametrize("whole_seconds", [False, True], ids=["", "ties"])
@pytest.mark.parametrize("world", _WORLDS)
def test_additional_stops_do_not_change_tasks(world: str, whole_seconds: bool) -> None:
    whole = run_dispatch(world, None, whole_seconds=whole_seconds)
    rng = np.random.default_rng(5)
    own = rng.choice(np.concatenate((whole.submit, whole.start, whole.end)), 400)
    times = shaky(float(whole.submit[-1])).time
    instants = [*own, *np.nextafter(own, np.inf)[:100], *rng.uniform(0, whole.end.max(), 100), *times]
    assert bits(run_dispatch(world, instants, whole_seconds=whole_seconds)) == bits(whole)
    # The tasks ran, and Rosella sent benchmark tasks.
    assert whole.response.min() > 0
    assert ("rosella" not in world) or whole.benchmarks > 0


@pytest.mark.parametrize("world", ["rosella", "sparrow, old queues"])
def test_stopping_for_reports_changes_nothing(world: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = run_dispatch(world, None, whole_seconds=True)
    monkeypatch.setattr("windlass.sim.workers.part._STEPS_BETWEEN_REPORTS", 50)
    assert bits(run_dispatch(world, [1.0, 2.0, 7.25], whole_seconds=True)) == bits(whole)
