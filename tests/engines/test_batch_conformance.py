"""One suite for every batch system: its events, its starts, and runs under the order policies."""

import numpy as np
import pytest

from tests.engines.systems import SLOW, SYSTEMS
from windlass.drive import drive
from windlass.engines.batch.engine import LiveSite
from windlass.engines.batch.system import Cancelled, Capacity, Ended, NoMore, Started, Submitted
from windlass.model import JobTable, PolicyError
from windlass.order.site import POLICIES
from windlass.order.site.view import Start

CLOSE = 1e-6
PROCESSORS = 4
# A wide job between narrow ones, some submitted later; times that a real system can keep, and requests in whole
# minutes, as not all systems know seconds.
JOBS = JobTable.of(
    submit=[0.0, 0.0, 0.0, 0.3, 0.6],
    run=[0.6, 0.5, 0.2, 0.2, 0.3],
    procs=[3, 4, 1, 1, 2],
    request=[120.0, 120.0, 60.0, 120.0, 120.0],
    job=[11, 12, 13, 14, 15],
)


def marked(name):
    return pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name


@pytest.fixture(scope="module", params=[marked(name) for name in SYSTEMS])
def systems(request):
    with SYSTEMS[request.param]() as found:
        yield found


class Watched:
    """A system that records its events and requests with their times."""

    def __init__(self, system):
        self.system, self.reported, self.starts = system, [], []
        self.processors, self.now, self.describe = system.processors, system.now, system.describe
        self.close = system.close

    def poll(self, timeout):
        events = self.system.poll(timeout)
        self.reported += [(self.now(), event) for event in events]
        return events

    def start(self, jobs):
        self.starts.append((self.now(), tuple(jobs)))
        return self.system.start(jobs)

    def of(self, kind):
        return [(seen, event) for seen, event in self.reported if isinstance(event, kind)]

    def until(self, done, seconds=300.0):
        """Poll until a condition holds, or `seconds` have passed on the system's clock."""
        end = self.now() + seconds
        while not done(self) and self.now() < end:
            self.poll(min(0.1, end - self.now()))
        return self


def made(systems, jobs=JOBS, **mishaps):
    return Watched(systems.make(jobs, PROCESSORS, **mishaps))


def all_submitted(system):
    return len(system.of(Submitted)) == len(JOBS)


def test_every_job_is_reported_once_as_submitted(systems):
    system = made(systems).until(all_submitted)
    reported = {event.job: (seen, event) for seen, event in system.of(Submitted)}
    assert sorted(reported) == JOBS.job.tolist() == sorted(event.job for _, event in system.of(Submitted))
    for row, job in enumerate(JOBS.job.tolist()):
        seen, event = reported[job]
        assert (event.procs, event.request) == (JOBS.procs[row], JOBS.request[row])
        assert event.at <= seen + CLOSE
        assert -CLOSE <= event.at - JOBS.submit[row] - reported[11][1].at <= systems.late
    # The end of submissions, if reported, comes after the last job.
    kinds = [type(event) for _, event in system.until(lambda system: system.of(NoMore), 1.0).reported]
    assert NoMore not in kinds or kinds.index(NoMore) >= len(JOBS)
    system.close()


def test_no_job_runs_without_a_start(systems):
    system = made(systems).until(lambda system: False, 1.5 + systems.late)
    assert not system.of(Started)
    system.close()


def test_the_clock_advances_and_all_events_are_reported(systems):
    system = made(systems)
    times = [system.now()]
    for _ in range(5):
        system.poll(0.05)
        times.append(system.now())
    assert times == sorted(times)
    for _ in range(100):
        if not system.poll(0.0):
            break
    else:
        pytest.fail("poll(0) tells something for ever")
    system.close()


def test_started_jobs_run_in_order_for_their_duration(systems):
    system = made(systems).until(all_submitted)
    before = system.now()
    assert not system.start([13, 11])
    system.until(lambda system: len(system.of(Ended)) == 2)
    began = {event.job: event.at for _, event in system.of(Started)}
    ended = {event.job: event.at for _, event in system.of(Ended)}
    assert list(began) == [13, 11]
    assert began[13] <= began[11] + CLOSE
    for job, run in ((13, 0.2), (11, 0.6)):
        assert before - CLOSE <= began[job] <= before + systems.late
        assert run - CLOSE <= ended[job] - began[job] <= run + systems.late
    order = [(type(event), event.job) for _, event in system.reported if isinstance(event, Started | Ended)]
    for job in (11, 13):
        assert order.index((Started, job)) < order.index((Ended, job))
    assert all(event.at <= seen + CLOSE for seen, event in system.of(Started | Ended))
    system.close()


def test_a_job_that_cannot_be_started_is_named_and_the_others_run(systems):
    system = made(systems).until(all_submitted)
    refused = system.start([404, 13])
    assert list(refused) == [404]
    assert refused[404]
    assert [event.job for _, event in system.until(lambda system: system.of(Ended)).of(Started)] == [13]
    system.close()


def test_a_description_names_the_jobs_and_starts_nothing(systems):
    system = made(systems).until(all_submitted)
    description = system.describe([13, 11])
    assert "13" in description
    assert "11" in description
    assert not system.until(lambda system: False, 0.5 + systems.late).of(Started)
    system.close()


def test_closing_twice_is_no_error(systems):
    system = made(systems)
    system.close()
    system.close()


def test_a_job_cancelled_while_waiting_is_reported_and_cannot_be_started(systems):
    system = made(systems, cancels=[(0.5, 12)]).until(lambda system: system.of(Cancelled))
    ((_, event),) = system.of(Cancelled)
    assert event.job == 12
    assert event.at >= 0.5 - CLOSE
    system.start([12])
    system.until(lambda system: False, 1.0 + systems.late)
    assert not system.of(Started)
    system.close()


def test_a_job_cancelled_while_running_is_reported_once(systems):
    jobs = JobTable.of([0.0], [9.0], [1], [60.0], job=[12])
    system = made(systems, jobs, cancels=[(2.0, 12)]).until(lambda system: system.of(Submitted))
    system.start([12])
    system.until(lambda system: system.of(Cancelled)).until(lambda system: False, 10.0)
    assert [type(event) for _, event in system.of(Started | Ended | Cancelled)] == [Started, Cancelled]
    system.close()


def test_lost_and_returned_processors_are_reported(systems):
    system = made(systems, capacity=[(0.4, 2), (0.9, 4)]).until(lambda system: len(system.of(Capacity)) == 2)
    assert [event.processors for _, event in system.of(Capacity)] == [2, 4]
    system.close()


def driven(systems, policy, **mishaps):
    system, decisions = made(systems, **mishaps), []
    run = drive(LiveSite(system), {"order": policy}, lambda *logged: decisions.append(logged[1:]))
    return system, run, decisions


@pytest.mark.matrix
@pytest.mark.parametrize("name", POLICIES.names())
def test_every_job_runs_once_within_the_site_and_as_decided(systems, name):
    system, run, decisions = driven(systems, POLICIES.find(name)())
    assert sorted(run.job.tolist()) == JOBS.job.tolist()
    assert np.isfinite(run.start).all()
    assert not run.cancelled.any()
    assert (run.submit <= run.released + CLOSE).all()
    assert (run.released <= run.start + CLOSE).all()
    assert (run.start <= run.released + systems.late).all()
    wanted = JOBS.run[np.argsort(JOBS.job)][np.argsort(np.argsort(run.job))]
    assert (np.abs(run.end - run.start - wanted) <= systems.late).all()
    holds_no_more_than_there_is(run)
    decided = [answer.jobs for _, answer in decisions if answer.jobs]
    assert [jobs for _, jobs in system.starts] == decided
    assert run.decisions == len(decisions)
    for view, answer in decisions:
        procs = dict(zip(view.waiting.job.tolist(), view.waiting.procs.tolist(), strict=True))
        assert sum(procs[job] for job in answer.jobs) <= view.free


def holds_no_more_than_there_is(run):
    """Check that jobs between release and end fit the site; at equal times, ends come first."""
    steps = sorted(
        [(end, -procs) for end, procs in zip(run.end, run.procs, strict=True)]
        + [(released, procs) for released, procs in zip(run.released, run.procs, strict=True)]
    )
    assert max(np.cumsum([procs for _, procs in steps])) <= PROCESSORS


def test_a_narrow_job_is_backfilled_without_delaying_the_head(systems):
    _, run, _ = driven(systems, POLICIES.find("easy")())
    start = dict(zip(run.job.tolist(), run.start.tolist(), strict=True))
    assert start[13] < start[12]
    # Job 14 requests more time than the head's wait.
    assert start[12] <= start[14] + CLOSE
    assert [run.reasons[code] for code in run.why[run.job == 13]] != ["head of the queue"]


def test_jobs_submitted_first_go_first_under_fcfs(systems):
    _, run, _ = driven(systems, POLICIES.find("fcfs")())
    assert (np.diff(run.start[np.argsort(run.job)]) >= -CLOSE).all()


def test_an_invalid_answer_starts_no_job(systems):
    class Wrong:
        name = "wrong"

        def decide(self, view):
            return Start((11, 12))

    system = made(systems)
    with pytest.raises(PolicyError, match="policy 'wrong' started jobs that need more than the 4 idle"):
        drive(LiveSite(system), {"order": Wrong()})
    assert system.starts == []
