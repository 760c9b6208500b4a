"""Predicted starts of a live Slurm: which jobs have one, how it is scored, and that it cannot stop the driver."""

from __future__ import annotations

import pytest

from tests.engines.slurm.fake_commands import free, job, jobs, node, nodes, over, running
from windlass.control.journal import JobKey, JournalReader, JournalWriter, RowFilter
from windlass.control.slurm import starts as module
from windlass.control.slurm.starts import LiveStarts
from windlass.engines.slurm.job_reader import JobReader
from windlass.engines.slurm.log import EndedJob
from windlass.engines.slurm.node_reader import read_nodes
from windlass.engines.slurm.observer import SlurmPoll
from windlass.experiment.worlds.policy import PolicySpec
from windlass.model import BatchError, InputError

EASY = PolicySpec(name="easy")
NODES = read_nodes(nodes(node("w1", cpus=4)))


def poll(now, *rows):
    reader = JobReader("squeue --json")
    reader.feed(jobs(*rows).encode())
    return SlurmPoll(now, reader.finish(), NODES, {})


def no_record():
    raise InputError("this Slurm keeps no record of ended jobs")


class Bench:
    """Predictions of one Slurm, with a journal and a clock that the test sets."""

    def __init__(self, folder):
        self.file, self.now = folder / "journal.db", 0.0

    def looks(self, *polls, past=no_record, order=EASY):
        """Pass polls on to a new process, each at its own time, and return the rows of each."""
        found = []
        with JournalWriter(self.file) as journal:
            journal.flush()
            with JournalReader(self.file) as reader:
                starts = LiveStarts(
                    lambda job: JobKey("slurm", "iowa", job), order, journal, reader, past, lambda: self.now
                )
            for each in polls:
                self.now = each.now
                found.append(starts.look(each))
                journal.append(*found[-1])
        return found

    def waiting(self):
        with JournalReader(self.file) as reader:
            return {row.job.id: row for row in reader.predictions.waiting("slurm")}

    def of(self, number):
        with JournalReader(self.file) as reader:
            return reader.predictions.of_job("slurm", str(number))

    def errors(self):
        with JournalReader(self.file) as reader:
            return [row.text for row in reader.events(RowFilter(topic="error")).rows]


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


WIDE = {"cpus": 4, "node_count": 1}


def test_a_waiting_job_starts_at_the_limit_of_the_running_one(bench):
    # The limit of the running job is 2 minutes from second 1010; no job has ended, so no run time is known.
    bench.looks(poll(1020.0, running(7, **WIDE), job(8, **WIDE, submit_time=1015)))
    (row,) = bench.waiting().values()
    assert (row.job, row.time, row.first) == (JobKey("slurm", "iowa", "8"), 1020.0, True)
    assert row.planned == 1130.0
    assert 1020.0 <= row.low <= row.median <= row.high <= 1130.0


def test_only_jobs_that_may_start_are_predicted(bench):
    rows = (
        running(7, **WIDE),
        job(8, **WIDE),
        job(9, **WIDE, comment=""),
        free(10, **WIDE, comment=""),
        job(11, **WIDE, state_reason="JobHeldAdmin"),
        job(12, cpus=9),
        job(13, **WIDE, dependency="afterok:7"),
        over(14, **WIDE),
    )
    bench.looks(poll(1020.0, *rows))
    assert set(bench.waiting()) == {"8", "10"}
    assert bench.errors() == []


def test_a_start_is_scored_and_a_cancelled_job_is_not(bench):
    rows = (job(8, **WIDE), job(9, **WIDE), job(10, **WIDE))
    bench.looks(
        poll(1020.0, running(7, **WIDE), *rows),
        poll(
            1100.0,
            running(8, **WIDE, start_time=1090),
            over(9, "CANCELLED", start_time=0, end_time=1095, nodes=""),
        ),
    )
    assert [row.started for number in (8, 9, 10) for row in bench.of(number)] == [1090.0, None, None]
    assert bench.waiting() == {}


def test_a_start_in_the_second_of_the_prediction_is_not_before_it(bench):
    bench.looks(
        poll(1020.7, running(7, **WIDE), job(8, **WIDE)),
        poll(1021.5, running(8, **WIDE, start_time=1020)),
    )
    assert [row.started for row in bench.of(8)] == [1020.7]


def test_a_job_is_predicted_again_after_five_minutes_and_by_the_next_process(bench):
    def waits(now):
        return poll(now, running(7, **WIDE, time_limit=600), job(8, **WIDE))

    bench.looks(waits(1020.0), waits(1030.0), waits(1031.0 + module.AGAIN))
    bench.looks(waits(1500.0), waits(1700.0))
    times = [(row.time, row.first) for row in reversed(bench.of(8))]
    assert times == [(1020.0, True), (1031.0 + module.AGAIN, False), (1700.0, False)]


def test_what_started_or_left_while_no_process_ran_is_found_by_the_next(bench):
    bench.looks(poll(1020.0, running(7, **WIDE), job(8, **WIDE), job(9, **WIDE)))
    bench.looks(poll(2000.0, over(8, **WIDE, start_time=1100, end_time=1200)))
    assert [row.started for number in (8, 9) for row in bench.of(number)] == [1100.0, None]
    assert bench.waiting() == {}


def ended(number):
    """Return a job that ran a minute on all processors, one after the other, with a limit of ten."""
    submit = 100 * number
    return EndedJob(number, submit, submit, submit + 60, 4, 600, "ann", "share", "COMPLETED", "a")


def test_finished_jobs_of_the_record_shorten_predictions_and_calibrate_them(bench, monkeypatch):
    monkeypatch.setattr(module, "_CHECKED", 10)
    past = [ended(number) for number in range(1, 100)]
    now = 100 * 100
    live = (
        running(900, **WIDE, time_limit=10, start_time=now - 1, submit_time=now - 1),
        job(901, **WIDE, time_limit=10, submit_time=now - 1),
    )
    bench.looks(poll(now, *live), past=lambda: past)
    (row,) = bench.waiting().values()
    assert row.planned == now + 599.0
    assert row.median < now + 120.0
    # The jobs of the record started at once, and calibrate other jobs that do.
    assert row.scored == 0
    bench.looks(poll(now + 1.0, job(902, **WIDE, time_limit=10, submit_time=now)), past=lambda: past)
    assert bench.waiting()["902"].scored >= 9


def test_jobs_that_end_are_the_past_of_a_cluster_without_a_record(bench):
    polls = []
    for number in range(60):
        now = 1000 + 70 * number
        times = {"submit_time": now - 1, "start_time": now - 1, "time_limit": 10}
        polls.append(poll(now, running(number + 1, **WIDE, **times)))
        polls.append(poll(now + 61, over(number + 1, **WIDE, **times, end_time=now + 59)))
    now = polls[-1].now + 100
    live = (
        running(900, **WIDE, time_limit=10, start_time=now - 1, submit_time=now - 1),
        job(901, **WIDE, time_limit=10, submit_time=now - 1),
    )
    bench.looks(*polls, poll(now, *live))
    (row,) = bench.waiting().values()
    assert row.median < now + 120.0 < row.planned


@pytest.mark.parametrize("error", [BatchError("Slurm does not answer"), RuntimeError("cannot be read")])
def test_earlier_jobs_that_cannot_be_read_are_one_error_and_are_not_used(bench, error):
    calls = []

    def past():
        calls.append(True)
        raise error

    waits = [poll(1020.0 + 2.0 * number, running(7, **WIDE), job(8, **WIDE)) for number in range(30)]
    bench.looks(*waits, past=past)
    assert bench.errors() == [f"earlier jobs are not used to predict starts: {type(error).__name__}: {error}"]
    assert (len(calls), set(bench.waiting())) == (1, {"8"})


def test_a_prediction_that_fails_is_one_error_and_is_tried_again(bench, monkeypatch):
    calls = []

    class Fails(module.StartPredictor):
        def waiting(self, at, checked=None):
            calls.append(at)
            if len(calls) < 4:
                raise RuntimeError("no replay")
            return super().waiting(at, checked)

    monkeypatch.setattr(module, "StartPredictor", Fails)
    waits = [poll(1020.0 + 2.0 * number, running(7, **WIDE), job(8, **WIDE)) for number in range(30)]
    bench.looks(*waits)
    assert bench.errors() == ["starts are not predicted: RuntimeError: no replay"]
    # Not at each of the polls, but after each pause.
    assert calls == [1020.0, 1030.0, 1040.0, 1050.0]
    assert set(bench.waiting()) == {"8"}
