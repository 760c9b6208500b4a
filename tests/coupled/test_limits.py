"""Limits of what a part may hold: EASY's and conservative backfilling's promises hold whatever it takes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.coupled.cases import Case, Tasks, drawn_tasks, jobs_of, workers
from tests.coupled.test_concerns import content
from tests.oracles.plain import Plain
from tests.oracles.workloads import CHECK
from windlass.drive import drive
from windlass.model import InputError, JobTable
from windlass.model.timetable import NodeTimetable
from windlass.order.site import POLICIES
from windlass.order.site.reservation import promises
from windlass.order.site.view import SiteView, Start
from windlass.sim.coupled import Coupled
from windlass.sim.ledger import Ledger
from windlass.sim.outages import Outages
from windlass.sim.part import Concerns, Quiet
from windlass.sim.site.part import SitePart


class Borrower(Quiet):
    """Takes some idle cores of a row at some instants, and returns them at others; the numbers are arbitrary."""

    def __init__(self, ledger: Ledger, changes: list[tuple[float, int, int]]) -> None:
        self.ledger, self.number, self.left = ledger, ledger.join(0, 1), sorted(changes)
        self.most_held = 0

    def concerns(self) -> Concerns:
        return Concerns()

    def horizon(self) -> float:
        return self.left[0][0] if self.left else np.inf

    def _change(self, now: float, *, takes: bool) -> None:
        later = []
        for time, row, cores in self.left:
            if time <= now and (cores > 0) == takes:
                self.ledger.hold(row % len(self.ledger.rows(0)), self.number, cores)
            else:
                later.append((time, row, cores))
        self.left = later
        self.most_held = max(self.most_held, int(self.ledger.nodes.held[:, self.number].sum()))

    def advance(self, until: float) -> float:
        self._change(until, takes=False)
        return until

    def decide(self, now: float) -> tuple[()]:
        self._change(now, takes=True)
        return ()


def run(
    cores: list[int], jobs: JobTable, changes: list[tuple[float, int, int]], name: str, most: int | None
) -> tuple[Any, dict[int, float], Borrower]:
    """Run jobs next to a borrower; return the schedule and each job's first promise."""
    ledger = Ledger([cores], parts=2)
    if most is not None:
        ledger.limit(0, 1, most)
    policy = POLICIES.find(name)()
    found: dict[int, float] = {}

    def log(decision: str, view: SiteView, answer: Start) -> None:
        for job, at in zip(view.waiting.job.tolist(), promises(policy, view, answer).tolist(), strict=True):
            if np.isfinite(at):
                found.setdefault(job, at)

    site = SitePart(jobs, Plain(policy), ledger, number=0)
    borrower = Borrower(ledger, changes)
    done = drive(Coupled([borrower, site], ledger), {"order": Plain(policy)}, log)[1]
    return done, found, borrower


@st.composite
def loads(draw: st.DrawFn) -> tuple[list[int], JobTable, list[tuple[float, int, int]], int]:
    """Draw nodes, jobs no wider than what the limit leaves, what the borrower does, and its limit."""
    cores = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    most = draw(st.integers(0, sum(cores) - 1))
    count = draw(st.integers(1, 12))
    columns = [
        draw(st.lists(each, min_size=count, max_size=count))
        for each in (st.integers(0, 3), st.integers(1, 9), st.integers(1, sum(cores) - most))
    ]
    gap, run_time, procs = (np.array(column) for column in columns)
    more = np.array(draw(st.lists(st.integers(0, 4), min_size=count, max_size=count)))
    jobs = JobTable.of(np.cumsum(gap), run_time, procs, run_time + more)
    change = st.tuples(st.integers(0, 40).map(float), st.integers(0, 3), st.integers(-4, 4))
    return cores, jobs, draw(st.lists(change, max_size=20)), most


@settings(CHECK, max_examples=150)
@given(drawn=loads(), name=st.sampled_from(["easy", "conservative"]))
def test_promises_hold_whatever_a_part_with_a_limit_takes(drawn: Any, name: str) -> None:
    cores, jobs, changes, most = drawn
    done, found, borrower = run(cores, jobs, changes, name, most)
    assert borrower.most_held <= most
    start = dict(zip(jobs.job.tolist(), done.start.tolist(), strict=True))
    late = {job: (at, start[job]) for job, at in found.items() if start[job] > at}
    assert late == {}


@pytest.mark.parametrize("name", ["easy", "conservative"])
def test_a_promise_expects_a_part_to_take_what_it_may(name: str) -> None:
    # At 4 s there would be three processors for the last job, if nothing took the one that is returned at 3 s.
    jobs = jobs_of((0, 3, 1), (0, 4, 2), (0, 10, 2), (1, 5, 3))
    done, found, _ = run([5], jobs, [(3.0, 0, 1), (30.0, 0, -1)], name, 2)
    assert done.start[3] <= found[4]
    assert found[4] >= 10.0


@pytest.mark.parametrize("name", ["easy", "conservative"])
@pytest.mark.parametrize("starts", [0.0, 1.0])
def test_no_job_takes_the_cores_that_a_part_may_take_when_the_head_starts(name: str, starts: float) -> None:
    # When the first job ends, there are six processors for the second one and for what the part may take. The
    # third job would run on two of them for long. The last two come as the first job starts, or after it.
    jobs = jobs_of((0, 10, 4), (starts, 10, 4), (starts, 90, 2))
    done, found, _ = run([6], jobs, [(10.0, 0, 2), (50.0, 0, -2)], name, 2)
    assert found[2] == 10.0
    assert done.start.tolist() == [0.0, 10.0, 20.0]


def test_without_a_limit_a_wide_job_is_promised_nothing_and_overtaken() -> None:
    # A job runs on two of four processors until 10 s. The borrower takes the others at 1 s, for a long time.
    rows = [(0, 10, 2), (2, 5, 4), *((3 + 4 * each, 8, 2) for each in range(20))]
    changes = [(1.0, 0, 2), (90.0, 0, -2)]
    without, _, _ = run([4], jobs_of(*rows), changes, "easy", None)
    assert without.start[1] >= 90.0
    with pytest.raises(
        InputError, match="job 2 needs 4 processors; other parts may hold 2 of the site's 4, so it may"
    ):
        run([4], jobs_of(*rows), changes, "easy", 2)
    # With no more than the limit leaves it is not overtaken for longer than the running job lasts.
    narrow = [(0, 10, 2), (2, 5, 2), *((3 + 4 * each, 8, 2) for each in range(20))]
    bounded, found, _ = run([4], jobs_of(*narrow), changes, "easy", 2)
    assert bounded.start[1] <= found[2] == 10.0


@st.composite
def kept_cases(draw: st.DrawFn) -> Case:
    """Draw nodes of two to four cores, jobs that fit if each node lacks one, and tasks."""
    cores = draw(st.lists(st.integers(2, 4), min_size=2, max_size=4))
    count = draw(st.integers(1, 12))
    columns = [
        draw(st.lists(each, min_size=count, max_size=count))
        for each in (st.integers(0, 3), st.integers(1, 9), st.integers(1, sum(cores) - len(cores)))
    ]
    gap, run_time, procs = (np.array(column) for column in columns)
    jobs = JobTable.of(np.cumsum(gap), run_time, procs, run_time + draw(st.integers(0, 3)))
    return Case(jobs, cores, NodeTimetable.none(), draw(drawn_tasks(cores, 1.0)))


@settings(CHECK, max_examples=60)
@given(case=kept_cases(), name=st.sampled_from(["fcfs", "easy", "conservative"]))
def test_jobs_run_on_nodes_of_which_tasks_keep_a_share_as_on_smaller_ones(case: Case, name: str) -> None:
    # A quarter of two to four cores is one core.
    small = [cores - 1 for cores in case.cores]
    assert case.tasks is not None
    found = []
    for kept in (True, False):
        # One node fails for a time, with its jobs.
        cores = list(case.cores) if kept else small
        ledger = Ledger([cores], parts=2)
        times = NodeTimetable.outage(0, 4.0, 9.0, cores=cores[0], kill=True)
        site = SitePart(case.jobs, POLICIES.find(name)(), ledger, record=True)
        tasks = [workers(case.tasks, ledger, keep=0.25)] if kept else []
        done = drive(Coupled([Outages(times, ledger), site, *tasks], ledger), {})
        found.append(content(replace(done[1], processors=0)))
        if kept:
            # Each node serves tasks with at least the kept core.
            speed = np.array(case.tasks.speeds) / np.array(case.cores)
            up = ledger.nodes.capacity > 0
            assert ledger.nodes.held[:, 1].tolist() == up.astype(int).tolist()
            assert (np.asarray(tasks[0].state.line["speed"])[up] >= speed[up] - 1e-12).all()
    assert found[0] == found[1]


def test_a_job_that_needs_kept_cores_is_refused() -> None:
    ledger = Ledger([[4, 4]], parts=2)
    workers(Tasks([0.0], [1.0], [1.0, 1.0]), ledger, keep=0.3)
    assert ledger.nodes.held[:, 0].tolist() == [2, 2]
    with pytest.raises(
        InputError, match="job 1 needs 5 processors; other parts may hold 4 of the site's 8, so it may"
    ):
        SitePart(jobs_of((0, 1, 5)), POLICIES.find("easy")(), ledger)


def test_a_part_takes_no_more_than_its_limit() -> None:
    ledger = Ledger([[4, 4], [8]], parts=2)
    ledger.limit(0, 1, 3)
    assert [ledger.hold(row, 1, 2) for row in (0, 1)] == [2, 1]
    assert ledger.hold(0, 1, -1) == 1
    assert ledger.hold(1, 1, 5) == 2
    # Other sites, and other parts, have no limit.
    assert (ledger.hold(2, 1, 8), ledger.hold(0, 0, 3)) == (8, 3)
    assert (ledger.left_by_others(0, 0), ledger.left_by_others(0, 1), ledger.left_by_others(1, 0)) == (
        5,
        8,
        8,
    )


@pytest.mark.parametrize(
    ("site", "part", "most", "message"),
    [
        (2, 0, 1, "site is 2, expected 0 to 1"),
        (0, 2, 1, "part is 2, expected one of the 2"),
        (0, 0, -1, "most is -1, expected at least 0"),
    ],
)
def test_an_impossible_limit_is_named(site: int, part: int, most: int, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Ledger([[4], [2]], parts=2).limit(site, part, most)
