"""The last day, replayed: the same policy meets what happened, another one does not, and no job of the day is lost."""

from __future__ import annotations

import numpy as np
import pytest

import windlass.control.last_day as last_day_module
from tests.control.test_web import Elements, app_of, ask
from windlass.control.journal import (
    EngineStatus,
    EventRecord,
    JobKey,
    JournalReader,
    JournalWriter,
    ViewRecord,
)
from windlass.control.last_day import last_day, queues
from windlass.control.site_status import MOST_PAST, JobState, PastJob, QueueStatus, SiteStatus, status_text
from windlass.experiment.start_times.fidelity import replayed_past
from windlass.experiment.start_times.history import SiteHistory
from windlass.experiment.worlds.policy import PolicySpec
from windlass.io.traces import Workload
from windlass.model import InputError, JobTable
from windlass.order.site import POLICIES
from windlass.sim.site.replay import replay

DAY, CORES = 86_400.0, 16


def drawn(count=1_500, seed=1):
    """Return jobs over two days, and their starts and ends under a policy."""
    rng = np.random.default_rng(seed)
    submit = np.sort(rng.uniform(0, 2 * DAY, count))
    run = rng.exponential(700.0, count) + 1.0
    jobs = JobTable.of(submit, run=run, procs=rng.integers(1, 5, count), request=np.ceil(run * 3))
    done = replay(jobs, CORES, POLICIES.make("sjf", rng))
    return jobs, done.start, done.end


@pytest.fixture(scope="module")
def day():
    return drawn()


def test_a_replay_under_the_same_policy_meets_what_happened(day):
    jobs, start, end = day
    history = SiteHistory(Workload(jobs, CORES), start, end)
    for since in (0.0, 0.7 * DAY, DAY):
        found = replayed_past(history, since, 2 * DAY, PolicySpec(name="sjf"))
        inside = (jobs.submit > since) | (start >= since)
        both = inside & (start <= 2 * DAY)
        assert found.whole.jobs == both.sum()
        assert found.whole.recorded == pytest.approx((start - jobs.submit)[both].mean())
        assert found.whole.difference == pytest.approx(0.0, abs=1e-6)
        assert (found.only_recorded, found.only_replayed) == (0, 0)
        assert sum(each.jobs for each in found.hours) == found.whole.jobs
        other = replayed_past(history, since, 2 * DAY, PolicySpec(name="fcfs"))
        assert other.whole.difference > 60.0
        assert other.whole.recorded == pytest.approx(found.whole.recorded, rel=0.2)


def test_jobs_that_have_not_ended_run_as_requested_and_are_counted(day):
    jobs, start, end = day
    now = 1.5 * DAY
    unfinished = SiteHistory(
        Workload(jobs, CORES), np.where(start > now, np.inf, start), np.where(end > now, np.inf, end)
    )
    found = replayed_past(unfinished, 0.5 * DAY, now, PolicySpec(name="sjf"))
    begun = (start <= now) & (start >= 0.5 * DAY)
    assert found.whole.jobs + found.only_recorded == begun.sum()
    assert found.whole.difference < 60.0


def journal_of(path, day, now, every=1800.0, policy="sjf", engine="slurm"):
    """Write the views that an engine writes, up to a time."""
    jobs, start, end = day
    names = [str(job) for job in range(len(start))]
    with JournalWriter(path, view_every=0.0) as journal:
        for row, name in enumerate(names):
            if jobs.submit[row] <= now:
                journal.append(EventRecord(float(jobs.submit[row]), JobKey(engine, "a", name), "submitted"))
        at = 0.0
        while at < now:
            at = min(at + every, now)
            known = [row for row in range(len(start)) if jobs.submit[row] <= at]

            def state(row, since):
                return JobState(
                    names[row], "batch job", float(since), int(jobs.procs[row]), "", float(jobs.request[row])
                )

            running = tuple(state(row, start[row]) for row in known if start[row] <= at < end[row])
            waiting = tuple(state(row, jobs.submit[row]) for row in known if start[row] > at)
            ended = sorted((row for row in known if end[row] <= at), key=lambda row: end[row])
            past = tuple(
                PastJob(
                    *(float(column[row]) for column in (jobs.submit, start, end)),
                    int(jobs.procs[row]),
                    float(jobs.request[row]),
                )
                for row in ended[-MOST_PAST:]
            )
            free = CORES - sum(job.cores for job in running)
            queue = QueueStatus(policy, {}, free, past)
            status = SiteStatus(running, waiting, len(running), len(waiting), CORES, free, queue=queue)
            journal.append(ViewRecord(at, engine, "a", status_text(status)))
            journal.append(EngineStatus(engine, "running", at, "a drawn engine"))
            # Of several views in one transaction, only the last one is stored.
            journal.flush()


def test_the_last_day_of_a_journal_has_all_its_jobs_and_meets_what_happened(tmp_path, day, monkeypatch):
    # Each view lists many ended jobs, so that few of the 91 views are read.
    monkeypatch.setattr(last_day_module, "_MOST_VIEWS", 8)
    jobs, start, _ = day
    now = 1.9 * DAY
    journal_of(tmp_path / "journal.db", day, now)
    with JournalReader(tmp_path / "journal.db") as reader:
        found = last_day(reader, *queues(reader)[0])
        assert (found.complete, found.cores, found.fewest, found.most) == (True, CORES, CORES, CORES)
        since = now - DAY
        expected = ((jobs.submit > since) | (start >= since)) & (start <= now)
        assert found.replay.whole.jobs == expected.sum() > MOST_PAST
        # Jobs that still run are unknown but for their requests.
        assert found.replay.whole.difference < 60.0
        assert queues(reader) == [("slurm", "a")]
        assert ask(app_of(reader), "/last-day?site=b").status == 404
        with pytest.raises(InputError, match="no queue"):
            last_day(reader, "slurm", "b")
        text = ask(app_of(reader), "/last-day").text
        assert "in the replay under sjf with 16 processors" in text
        assert len(Elements(text).of("tr")) == 1 + sum(each.jobs > 0 for each in found.replay.hours)


def test_a_gap_in_the_journal_is_reported(tmp_path, day):
    # More jobs end between two views than one lists.
    journal_of(tmp_path / "journal.db", day, 1.9 * DAY, every=0.6 * DAY)
    with JournalReader(tmp_path / "journal.db") as reader:
        found = last_day(reader, *queues(reader)[0])
        assert not found.complete
        assert "Some jobs are missing" in ask(app_of(reader), "/last-day").text


def test_a_site_without_jobs_has_no_replay(tmp_path):
    empty = SiteStatus((), (), 0, 0, queue=QueueStatus("easy"))
    with JournalWriter(tmp_path / "journal.db") as journal:
        journal.append(ViewRecord(5.0, "slurm", "a", status_text(empty)))
        journal.append(ViewRecord(5.0, "demo", "b", status_text(SiteStatus((), (), 0, 0))))
    with JournalReader(tmp_path / "journal.db") as reader:
        found = last_day(reader, *queues(reader)[0])
        assert found.replay is None
        assert "No job was submitted" in ask(app_of(reader), "/last-day").text
