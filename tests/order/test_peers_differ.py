"""The first job that two schedules start at different times, and which rule they differ in."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from benchmarks.batch import Case, mean_waits
from benchmarks.peers_accasim import read_starts, swf_lines, whole_seconds
from benchmarks.peers_differ import Difference, first_difference
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tests.oracles.workloads import CHECK, EASY_TIES, cases
from windlass.io.traces import read_trace, to_workload
from windlass.model import JobTable
from windlass.order.site.policies.easy import Easy
from windlass.order.site.policies.fcfs import Fcfs
from windlass.sim import replay

PROCESSORS = 4
#: The first holds three of four processors up to 10 s, and the second waits for all of them.
JOBS = JobTable.of(
    submit=[0, 1, 2, 2, 2.5], run=[8, 9, 3, 3, 2], procs=[3, 4, 1, 1, 1], request=[10, 9, 8, 9, 2]
)


def difference_of(
    ours: list[float], theirs: list[float], jobs: JobTable = JOBS, processors: int = PROCESSORS
):
    return first_difference(jobs, processors, np.array(ours, float), np.array(theirs, float), "Peer")


def test_one_schedule_has_no_difference():
    assert difference_of([0, 8, 2, 17, 5], [0, 8, 2, 17, 5]) is None
    assert difference_of([0, 8, 2, 17, math.nan], [0, 8, 2, 17, math.nan]) is None


def test_the_first_difference_is_by_start_and_then_by_submission():
    assert difference_of([0, 8, 2, 17, 5], [0, 9, 2, 18, 4]).job == 5
    assert difference_of([0, 8, 2, 17, 17], [0, 9, 2, 8, 17]).job == 2
    found = difference_of([0, 8, 2, 17, 17], [0, math.nan, 2, 17, 17])
    assert (found.job, found.ours, math.isnan(found.theirs)) == (2, 8, True)


@pytest.mark.parametrize(
    ("ours", "theirs", "job", "why"),
    [
        (
            [0, 8, 2, 17, 5],
            [0, 8, 17, 18, 5],
            3,
            "it would end at the very instant at which job 2 at the head can start, at 10 s; Peer leaves it waiting",
        ),
        (
            [0, 8, 17, 17, 2.5],
            [0, 8, 17, 17, 18],
            5,
            "it would end at 4.5 s, before job 2 at the head can start, at 10 s; Peer leaves it waiting",
        ),
        (
            [0, 8, 2, 17, 17],
            [0, 8, 17, 2, 17],
            3,
            "it would end at the very instant at which job 2 at the head can start, at 10 s; Peer starts job 4 instead",
        ),
        (
            [0, 8, 17, 18, 19],
            [0, 8, 17, 2, 19],
            4,
            "Peer lets it pass job 2 at the head, which it may delay: it would end at 11 s, after 10 s, and requests 1"
            " of 0 spare processors",
        ),
        (
            [0, 8, 2, 17, 5],
            [0, 10, 2, 19, 5],
            2,
            "it is next, and fits (4 of 4 idle processors); Peer waits until 10 s, the latest end of job 1",
        ),
        (
            [0, 8, 2, 17, 5],
            [0, 9, 2, 19, 5],
            2,
            "it is next, and fits (4 of 4 idle processors); Peer leaves it waiting",
        ),
        (
            [0, 8, 2, 17, 5],
            [0, math.nan, 2, 19, 5],
            2,
            "it is next, and fits (4 of 4 idle processors); Peer never starts it",
        ),
        (
            [0, 8, 2, 17, 5],
            [0, 17, 2, 8, 5],
            2,
            "Peer starts job 4 instead, which was submitted later",
        ),
        ([0, 8, 2, 17, 5], [0, 8, 1.5, 17, 5], 3, "Peer starts it before it is submitted, at 2 s"),
        (
            [0, 8, 2, 17, 5],
            [0, 5, 2, 17, 5],
            2,
            "Peer starts jobs on 5 processors, of which 1 are idle",
        ),
    ],
)
def test_the_differing_rule_is_found(ours, theirs, job, why):
    found = difference_of(ours, theirs)
    assert (found.job, found.why) == (job, why)


def test_a_different_order_of_simultaneous_submissions_is_explained():
    jobs = JobTable.of(submit=[0, 0], run=[5, 5], procs=[3, 2])
    assert (
        difference_of([0, 5], [5, 0], jobs).why
        == "Peer starts job 2 instead, which was submitted at the same instant"
    )


def test_rounded_times_are_detected():
    jobs = JobTable.of(submit=[0.25], run=[5], procs=[3])
    assert "Peer starts it at the next whole second" in difference_of([0.25], [1], jobs).why


def test_idle_processors_of_a_job_of_length_zero_are_explained():
    jobs = JobTable.of(submit=[0, 0], run=[0, 5], procs=[3, 3])
    assert difference_of([0, 0], [0, 7], jobs).why == (
        "it is next, and fits (3 of 4 idle processors); Peer leaves it waiting though job 1, of length 0, ends at that"
        " instant"
    )


def test_counting_all_simultaneous_ends_is_explained():
    """Two end at 10 s, and the head needs one of them: the other's two processors are spare if both are counted."""
    jobs = JobTable.of(submit=[0, 0, 1, 2], run=[10, 10, 5, 20], procs=[2, 1, 3, 2])
    found = difference_of([0, 0, 10, 15], [0, 0, 10, 2], jobs, 5)
    assert found.why == (
        "Peer counts all jobs that end when job 3 at the head can start, at 10 s: 2 spare processors; Windlass"
        " counts the first that suffice: 0"
    )


def test_a_difference_is_one_line():
    line = Difference(7, 1234567.5, math.nan, "so it is").line("Peer")
    assert line == "job 7 starts at 1234567.5 s by Windlass and never by Peer: so it is"


def lasting(jobs: JobTable) -> JobTable:
    """The same without jobs of no length, at whose instant there are several decisions."""
    return dataclasses.replace(jobs, run=np.where(jobs.run > 0, jobs.run, jobs.request))


@given(cases(zero_requests=False))
@example(EASY_TIES)
@CHECK
def test_backfilled_starts_are_explained_for_replays(case):
    jobs = lasting(case.jobs)
    ours, theirs = (replay(jobs, case.processors, policy).start for policy in (Fcfs(), Easy()))
    found = first_difference(jobs, case.processors, ours, theirs, "EASY")
    if found is None:
        assert ours.tolist() == theirs.tolist()
        return
    row = jobs.job.tolist().index(found.job)
    # Both schedules agree until the first backfilled job.
    assert theirs[row] < ours[row]
    assert np.minimum(ours, theirs)[ours != theirs].min() == theirs[row]
    assert "at the head can start" in found.why
    assert found.why.endswith("Windlass leaves it waiting")


@given(cases(), st.randoms())
@CHECK
def test_any_change_of_one_start_is_explained(case, random):
    jobs = case.jobs
    assume(len(jobs))
    start = replay(jobs, case.processors, Easy()).start
    other = start.copy()
    row = random.randrange(len(jobs))
    other[row] = random.choice([math.nan, start[row] + 1, start[row] + 7.5, max(0.0, start[row] - 1)])
    found = first_difference(jobs, case.processors, start, other, "Peer")
    assert (found is None) == (start[row] == other[row])
    if found is not None:
        assert found.job == jobs.job[row]
        assert found.why
        assert "\n" not in found.why


def test_mean_waits_omit_jobs_that_never_start():
    row = mean_waits(Case("two", JOBS, 4), "easy", np.array([0, 8, 2, 17, 5.0]), np.full(5, 9.0), "Peer")
    assert (row.ours, row.peer, row.name) == (4.9, 7.5, "mean wait easy, two")
    some = np.array([1.0, math.nan, math.nan, math.nan, math.nan])
    assert mean_waits(Case("two", JOBS, 4), "easy", np.zeros(5), some, "Peer").peer == 1


def test_the_jobs_are_written_as_swf_of_whole_seconds(tmp_path):
    whole = whole_seconds(JOBS)
    (tmp_path / "log.swf").write_text("".join(swf_lines(whole)))
    found = to_workload(read_trace(tmp_path / "log.swf"), PROCESSORS).jobs
    assert (found.submit - 86_400).tolist() == whole.submit.tolist() == [0, 1, 2, 2, 2]
    for column in ("run", "procs", "request"):
        assert getattr(found, column).tolist() == getattr(whole, column).tolist()
    assert np.isnan(read_starts("", 2)).all()
