"""Tasks that all nodes of a site reject and that go to another site: against an event loop over dictionaries."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.coupled.cases import Tasks, workers
from windlass.admit import Admission, AdmitView
from windlass.dispatch.compiled import CompiledDispatch, choosing
from windlass.dispatch.state import WORKERS, is_present, make_state
from windlass.drive import drive
from windlass.experiment.dispatching import make_policy
from windlass.model import InputError
from windlass.model.timetable import NodeTimetable
from windlass.sim.coupled import Coupled
from windlass.sim.ledger import Ledger
from windlass.sim.outages import Outages
from windlass.sim.part import Concerns, Part, Quiet
from windlass.sim.telemetry.answers import NO_LIMIT
from windlass.sim.telemetry.binding import Binding
from windlass.sim.telemetry.gate import gate
from windlass.sim.telemetry.metrics import Metrics, read_model
from windlass.sim.telemetry.part import TelemetryPart
from windlass.sim.telemetry.result import Observed
from windlass.sim.telemetry.site_policy import AdmitSitePolicy
from windlass.sim.workers.guests import Spill
from windlass.sim.workers.part import WorkersPart
from windlass.sim.workers.result import Dispatched
from windlass.sim.workers.state import WorkersProgress


def _shortest(lengths, ints, floats):
    found = -1
    for worker in range(ints[WORKERS]):
        if is_present(ints, worker) and (found < 0 or lengths[worker] < lengths[found]):
            found = worker
    return found


class Shortest(CompiledDispatch):
    """Chooses the first of the workers with the fewest tasks."""

    name = "shortest"
    choosing = choosing(_shortest)

    def __init__(self, workers: int) -> None:
        self.ints, self.floats = make_state(workers, None)


class Limiting(Quiet):
    """Sets the nodes' limits at given times."""

    def __init__(self, part: WorkersPart, answers: list[tuple[float, list[int]]]) -> None:
        self.part, self.binding, self.answers = part, Binding(part), list(answers)

    def concerns(self) -> Concerns:
        return Concerns(parts=(self.part,))

    def horizon(self) -> float:
        return self.answers[0][0] if self.answers else np.inf

    def decide(self, now: float) -> tuple[()]:
        while self.answers and now >= self.answers[0][0]:
            self.binding.answer(np.array(self.answers.pop(0)[1]), now)
        return ()


def plain(sites: list[dict[str, Any]]) -> list[dict[int, tuple[float, float, int, int]]]:
    """Return (start, end, site, worker) of each task of each site that ran, event by event."""
    events: list[Any] = []
    state = [
        {"limits": [NO_LIMIT] * len(site["speeds"]), "queues": [[] for _ in site["speeds"]]} for site in sites
    ]
    found: list[dict[int, Any]] = [{} for _ in sites]
    for number, site in enumerate(sites):
        for own, time in enumerate(site["submit"]):
            heapq.heappush(events, (time, 2, number, number, own, -1))
        for place, (time, limits) in enumerate(site["answers"]):
            heapq.heappush(events, (time, 1, number, place, 0, limits))

    def begin(at: int, worker: int, now: float) -> None:
        home, own = state[at]["queues"][worker][0]
        end = now + sites[home]["work"][own] / sites[at]["speeds"][worker]
        found[home][own] = (now, end, at, worker)
        heapq.heappush(events, (end, 0, at, worker, 0, 0))

    while events:
        now, kind, at, first, own, last = heapq.heappop(events)
        queues, limits = state[at]["queues"], state[at]["limits"]
        if kind == 0:
            queues[first].pop(0)
            if queues[first]:
                begin(at, first, now)
        elif kind == 1:
            state[at]["limits"] = last
        else:
            accepting = [k for k, queue in enumerate(queues) if len(queue) < limits[k]]
            to = sites[first]["to"]
            if accepting:
                worker = min(accepting, key=lambda k: (len(queues[k]), k))
                queues[worker].append((first, own))
                if len(queues[worker]) == 1:
                    begin(at, worker, now)
            elif last + 1 < len(to):
                # Own tasks of an instant precede guests, which are in the order of their homes.
                event = (now + sites[first]["delay"], 3, to[last + 1], first, own, last + 1)
                heapq.heappush(events, event)
    return found


def run(sites: list[dict[str, Any]], *, all_parts: bool = False) -> list[Any]:
    """Return the results of all sites."""
    parts = [
        workers(
            Tasks(site["submit"], site["work"], site["speeds"]),
            None,
            policy=gate(Shortest(len(site["speeds"])), "refuse"),
        )
        for site in sites
    ]
    for part, site in zip(parts, sites, strict=True):
        if site["to"]:
            part.spill(Spill(tuple(parts[place] for place in site["to"]), site["delay"]))
    limiting: list[Any] = [
        Limiting(part, site["answers"]) for part, site in zip(parts, sites, strict=True) if site["answers"]
    ]
    also = [Quiet()] if all_parts else []
    return drive(Coupled([*limiting, *parts, *also]), {})[len(limiting) : len(limiting) + len(parts)]


@st.composite
def drawn(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Return sites; times are multiples of a quarter of a second, so that events of several sites coincide."""
    count = draw(st.integers(2, 3))
    quarter = st.integers(0, 40).map(lambda each: each / 4)
    sites = []
    for number in range(count):
        nodes, tasks = draw(st.integers(1, 3)), draw(st.integers(1, 12))
        others = [each for each in range(count) if each != number]
        to = draw(st.permutations(others))[: draw(st.integers(0, len(others)))]
        limits = st.lists(st.sampled_from([0, 0, 1, 2, NO_LIMIT]), min_size=nodes, max_size=nodes)
        times = sorted(draw(st.sets(quarter, max_size=5)))
        sites.append(
            {
                "speeds": draw(st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=nodes, max_size=nodes)),
                "submit": sorted(draw(st.lists(quarter, min_size=tasks, max_size=tasks))),
                "work": draw(
                    st.lists(st.integers(1, 8).map(lambda each: each / 4), min_size=tasks, max_size=tasks)
                ),
                "answers": [(time, draw(limits)) for time in times],
                "to": to,
                "delay": draw(st.sampled_from([0.25, 0.5, 0.75, 2.0])),
            }
        )
    return sites


@given(sites=drawn(), all_parts=st.booleans())
@settings(max_examples=200, deadline=None)
@example(
    sites=[
        {"speeds": [0.5], "submit": [0.0], "work": [0.25], "answers": [], "to": [], "delay": 0.25},
        *(
            {
                "speeds": [0.5],
                "submit": [0.0],
                "work": [0.25],
                "answers": [(0.0, [0])],
                "to": [0],
                "delay": 0.25,
            }
            for _ in range(2)
        ),
    ],
    all_parts=False,
)
def test_spilled_tasks_run_as_in_the_plain_version(sites: list[dict[str, Any]], all_parts: bool) -> None:
    results = zip(sites, run(sites, all_parts=all_parts), plain(sites), strict=True)
    for number, (site, done, ran) in enumerate(results):
        tasks = range(len(site["submit"]))
        start, end, _, worker = (
            [ran[task][field] if task in ran else (np.nan, np.nan, -1, -1)[field] for task in tasks]
            for field in range(4)
        )
        np.testing.assert_allclose(done.start, start, atol=1e-12)
        np.testing.assert_allclose(done.response, np.array(end) - np.array(site["submit"]), atol=1e-12)
        assert done.worker.tolist() == worker
        assert done.submit.tolist() == site["submit"]
        assert done.refused.tolist() == [task not in ran for task in tasks]
        assert done.refusals == len(site["submit"]) - len(ran)
        if len(done.site):
            here = [
                site["to"].index(ran[task][2]) if task in ran and ran[task][2] != number else -1
                for task in tasks
            ]
            assert done.site.tolist() == here
            assert done.spilled == sum(place >= 0 for place in here)


class Answers:
    """Rejects at random, and limits at random."""

    name = "answers"

    def __init__(self, node: int) -> None:
        self.rng = np.random.default_rng([3, node])

    def decide(self, view: AdmitView) -> Admission:
        limit = int(self.rng.integers(1, 4)) if self.rng.random() < 0.5 else None
        return Admission(bool(self.rng.random() < 0.7), "drawn", limit=limit)


@pytest.mark.matrix
@pytest.mark.parametrize("dispatch", ["jsq", "least-outstanding", "rosella", "pull"])
@pytest.mark.parametrize("schedulers", [1, 2])
def test_sites_with_telemetry_and_failures_spill_to_each_other(dispatch: str, schedulers: int) -> None:
    made: list[tuple[list[WorkersPart], list[TelemetryPart]]] = []
    rng = np.random.default_rng(5)
    drawn = [
        Tasks(np.sort(rng.uniform(0, 60, 120)).tolist(), rng.exponential(1.0, 120).tolist(), [1.0] * 3)
        for _ in range(3)
    ]

    def make() -> tuple[list[Part], Ledger, dict[str, Any]]:
        ledger = Ledger([[4] * 3] * 3, parts=0)
        away = NodeTimetable.outage(0, 20.0, 30.0, cores=4, kill=True)
        for node in range(3):
            away += NodeTimetable.outage(node, 40.5, 44.0, cores=4, kill=True)
        parts = [
            workers(
                tasks,
                ledger,
                site=site,
                policy=gate(make_policy(dispatch, np.ones(3), np.random.default_rng(site)), "refuse"),
                schedulers=schedulers,
                probe_delay=0.3 * (schedulers - 1),
            )
            for site, tasks in enumerate(drawn)
        ]
        parts[0].spill(Spill((parts[1], parts[2]), 0.4))
        parts[1].spill(Spill((parts[0],), 0.7))
        telemetry = []
        for site, part in enumerate(parts):
            metrics = Metrics(read_model(), 3, np.random.default_rng(2))
            telemetry.append(TelemetryPart(part, metrics, ledger, site=site))
        made.append((parts, telemetry))
        policies = [AdmitSitePolicy([Answers(10 * site + node) for node in range(3)]) for site in range(3)]
        named = {f"admit@{site}": policy for site, policy in enumerate(policies)}
        return [Outages(away, ledger), *telemetry, *parts], ledger, named

    results = []
    for all_parts in (False, True):
        parts, ledger, named = make()
        names = ["", *(f"@{site}" for site in range(3)), *[""] * 3]
        if all_parts:
            parts, names = [*parts, Quiet()], [*names, ""]
        results.append(drive(Coupled(parts, ledger, names), named)[1:7])
    for one, other in zip(*results, strict=True):
        if isinstance(one, Dispatched):
            assert one.response.tobytes() == other.response.tobytes()
            assert one.site.tobytes() == other.site.tobytes()
        else:
            assert one.channels.tobytes() == other.channels.tobytes()
            assert one.tasks == other.tasks
    done = [each for each in results[0] if isinstance(each, Dispatched)]
    observed = [each for each in results[0] if isinstance(each, Observed)]
    assert done[0].spilled > 0 < done[1].spilled
    # Each task ran once, at one of the sites, or was refused by all that it was sent to.
    for site, each in enumerate(done):
        ran = ~each.refused
        assert np.array_equal(each.worker >= 0, ran)
        assert (each.start[ran] >= each.submit[ran]).all()
        delay = (0.4, 0.7, np.inf)[site]
        later = each.site >= 0
        assert (each.start - each.submit)[later].min(initial=np.inf) >= delay - 1e-9
        assert each.refusals == each.refused.sum() == 120 - ran.sum()
    received = [(done[1].site == 0).sum(), (done[0].site == 0).sum(), (done[0].site == 1).sum()]
    for site, (parts_of, _) in enumerate(zip(made[0][0], observed, strict=True)):
        progress = WorkersProgress.of(parts_of.state.progress)
        assert progress.completed == progress.expected == progress.arrived
        assert progress.guests >= received[site]
        # Nothing happens twice at one place at one time: the telemetry counted all answers.
        counted = observed[site].tasks
        assert counted.accepted + counted.rejected >= progress.arrived


def test_a_spilled_task_is_refused_where_its_last_target_is_full() -> None:
    sites = [
        {
            "speeds": [1.0],
            "submit": [0.0, 1.0, 2.0],
            "work": [5.0, 1.0, 1.0],
            "to": to,
            "delay": 0.5,
            "answers": [],
        }
        for to in ([1, 2], [0], [])
    ]
    for site, submit in zip(sites[1:], ([0.0], [9.0]), strict=True):
        site.update(submit=submit, work=[4.0])
    for site in sites:
        site["answers"] = [(0.0, [1])]
    first, second, third = run(sites)
    # The second task finds the second site busy and runs at the third one; there the last task finds the second.
    assert first.start.tolist()[:2] == [0.0, 2.0]
    assert first.site.tolist() == [-1, 1, 1]
    assert first.start[2] == 3.0
    assert (first.spilled, first.refusals, second.spilled, third.refusals) == (2, 0, 0, 0)


def test_mistakes_are_named() -> None:
    def part(policy: Any = "jsq") -> WorkersPart:
        return workers(Tasks([0.0], [1.0], [1.0, 1.0]), None, policy=policy)

    one, other = part(), part()
    with pytest.raises(InputError, match="expected at least one, and none twice"):
        Spill((), 1.0)
    with pytest.raises(InputError, match="expected at least one, and none twice"):
        Spill((one, one), 1.0)
    with pytest.raises(InputError, match="delay is 0"):
        Spill((one,), 0.0)
    with pytest.raises(InputError, match="expected targets other than the part, set once"):
        one.spill(Spill((one,), 1.0))
    with pytest.raises(InputError, match="has reservations or is not compiled"):
        one.spill(Spill((part("sparrow"),), 1.0))
    one.spill(Spill((other,), 1.0))
    with pytest.raises(InputError, match="set once"):
        one.spill(Spill((other,), 1.0))


def test_a_part_ends_only_with_those_that_may_spill_to_it() -> None:
    one, other = (
        workers(Tasks(submit, [0.5] * len(submit), [1.0]), None, policy=gate(Shortest(1), "refuse"))
        for submit in ([0.0, 5.0], [0.0])
    )
    one.spill(Spill((other,), 1.0))
    other.advance(2.0)
    progress = WorkersProgress.of(other.state.progress)
    assert (progress.completed, progress.expected, other.ended()) == (1, 1, False)
    one.advance(10.0)
    assert one.ended()
    assert other.ended()
