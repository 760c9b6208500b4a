"""How often Slurm is polled, for what, and what a driver knows about its polls."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engines.slurm.fake_commands import (
    NOBODY_THERE,
    FakeCommands,
    free,
    job,
    jobs,
    node,
    nodes,
    over,
    running,
)
from tests.engines.slurm.test_system import TWO, Bench
from windlass.engines.batch.polling import REST
from windlass.engines.batch.status import Contact
from windlass.engines.slurm.client import AwayError, Client
from windlass.engines.slurm.journal import Unwritten
from windlass.engines.slurm.system import SlurmOptions, SlurmSystem


class EnoughPollsError(Exception):
    """The run is long enough."""


class Timed:
    """A Slurm whose ``squeue`` takes some time, on a clock that advances during commands and sleeps."""

    def __init__(self, took, pace, *answers, most):
        self.most = most
        self.now, self.took, self.polls, self.answers = 1000.0, list(took), [], list(answers)
        client = Client(self, 1e6, 1.0, sleep=self.sleep, clock=lambda: self.now)
        self.system = SlurmSystem(
            client,
            NoJournal(),
            SlurmOptions(pace=pace),
            clock=lambda: self.now,
            sleep=self.sleep,
        )

    def sleep(self, seconds):
        self.now += seconds

    def __call__(self, command, timeout):
        if command[0] == "sinfo":
            return 0, TWO, ""
        if len(self.polls) == self.most:
            raise EnoughPollsError
        began = self.now
        self.now += self.took[min(len(self.polls), len(self.took) - 1)]
        self.polls.append((began, self.now))
        return 0, self.answers.pop(0) if self.answers else jobs(job(7)), ""


class NoJournal(Unwritten):
    def __init__(self):
        from pathlib import Path

        super().__init__(Path("none"))


@given(st.lists(st.floats(0.0, 30.0), min_size=2, max_size=6), st.floats(0.01, 5.0))
def test_a_pause_is_four_times_the_poll_before_and_at_least_the_interval(took, pace):
    bench = Timed(took, pace, most=len(took))
    bench.system.poll(0.0)
    with pytest.raises(EnoughPollsError):
        bench.system.poll(1e6)
    for (began, ended), (after, _) in zip(bench.polls, bench.polls[1:], strict=False):
        assert after - ended == pytest.approx(max(pace, REST * (ended - began)))


def test_the_time_without_an_answer_does_not_count_as_a_poll_s():
    bench = Timed([1.0], 0.25, NOBODY_THERE, NOBODY_THERE, jobs(job(7)), most=4)
    bench.system.poll(0.0)
    status = bench.system.status
    # Two tries without an answer and their delays of 0.5 s and 1 s are lost; the third took a second.
    assert (status.last_poll_seconds, status.contact) == (1.0, Contact(False, 3.5, 1))
    with pytest.raises(EnoughPollsError):
        bench.system.poll(1000.0)
    assert bench.polls[3][0] - bench.polls[2][1] == pytest.approx(4.0)
    assert (status.polls, status.poll_seconds, status.polled) == (2, 2.0, bench.polls[3][1])


def test_the_state_of_the_connection_is_known_while_slurm_does_not_answer():
    seen, contact, now = [], Contact(), [0.0]

    def sleep(seconds):
        now[0] += seconds
        seen.append((contact.away, contact.outages))

    fake = FakeCommands(squeue=[NOBODY_THERE, NOBODY_THERE, jobs(), NOBODY_THERE])
    client = Client(fake, 10.0, 1.0, sleep=sleep, clock=lambda: now[0], contact=contact)
    client.jobs()
    assert seen == [(True, 1)] * 2
    assert contact == Contact(False, 1.5, 1)
    with pytest.raises(AwayError):
        client.jobs()
    assert (contact.away, contact.outages) == (True, 2)
    # A refusal is an answer.
    fake.answers["scontrol"] = (1, "", "Access/permission denied")
    assert client.release([7])
    assert contact.away is False


def test_only_jobs_of_the_partition_are_requested(tmp_path):
    found = Bench(tmp_path, squeue=jobs(job(7)), options=SlurmOptions(partition="share"))
    found.poll()
    assert found.fake.commands_with("--json") == [
        ("--json",),
        ("--json", "--all", "--states=all", "--partition=share"),
        ("--json",),
    ]
    assert [command[0] for command in found.fake.recorded] == ["sinfo", "squeue", "sinfo"]


def test_the_status_counts_jobs_of_windlass(tmp_path):
    wide = job(9, cpus=5)
    rows = jobs(job(7), job(8), running(3), running(4, comment=""), free(5, comment=""), over(6), wide)
    found = Bench(tmp_path, squeue=[rows, jobs(job(7), job(8))], scontrol_release=(1, "", "denied for job 8"))
    found.poll()
    status = found.system.status
    assert (status.waiting, status.running, status.stuck, status.processors) == (2, 1, 1, 4)
    found.system.start([7, 8])
    # Slurm lists both as held after a release that failed.
    assert (status.started, status.refusals) == (0, 2)
    found.fake.answers["scontrol release"] = ""
    found.system.start([7])
    assert (status.started, status.refusals) == (1, 2)


def test_nodes_that_fail_or_return_are_reported_within_one_poll(tmp_path):
    def site(**states):
        return nodes(*(node(name, state, cpus=2) for name, state in states.items()))

    steps = [
        site(w1="idle", w2="idle"), site(w1="idle", w2="idle"), site(w1="idle", w2="down"),
        site(w1="idle", w2="idle", w3="idle"), site(w1="down", w2="idle", w4="idle"),
    ]  # fmt: skip
    found = Bench(tmp_path, squeue=jobs(), sinfo=steps)
    lines = []
    for _ in range(4):
        found.poll()
        found.sleep(2.0)
        lines.append(tuple(found.lines))
        found.lines.clear()
    assert lines == [
        (),
        ("capacity fell from 4 to 2 processors: w2 not available",),
        ("capacity rose from 2 to 6 processors: w2, w3 available",),
        ("capacity fell from 6 to 4 processors: w1, w3 not available; w4 available",),
    ]
    assert (found.system.status.capacity_falls, found.system.status.processors) == (2, 4)
