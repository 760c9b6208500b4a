"""Jobs of a live Slurm that people hold and release: what a driver does with them, and what is refused."""

from __future__ import annotations

import pytest

from tests.control.test_slurm_engine import Bench, _own_locks  # noqa: F401 - a fixture
from tests.engines.slurm.fake_commands import job
from tests.engines.slurm.strict import Strict
from windlass.control.journal import RowFilter
from windlass.control.slurm.job_actions import SlurmJobs
from windlass.drive import EngineStoppedError
from windlass.engines.slurm.client import Client
from windlass.model import BatchError, InputError


class Operated(Strict):
    """A Slurm whose commands are those of an operator, or of another user."""

    def __init__(self, operator=True):
        super().__init__()
        self.operator = operator

    def __call__(self, command, timeout):
        match command:
            case ["scontrol", "hold", number]:
                reason = "JobHeldAdmin" if self.operator else "JobHeldUser"
                kept = self.kept(self.rows[int(number)])
                self.rows[int(number)] = job(int(number), **(kept | {"state_reason": reason}))
                return 0, "", ""
        return super().__call__(command, timeout)


@pytest.fixture
def bench(tmp_path):
    found = Bench(tmp_path)
    found.slurm = Operated()
    return found


def started(bench):
    with bench.reader() as reader:
        rows = reader.events(RowFilter(topic="started")).rows
    return [row.job.id for row in reversed(rows)]


def jobs_of(slurm):
    return SlurmJobs(lambda: Client(slurm, 0.0))


def test_a_held_job_is_not_started_and_starts_once_it_is_unheld(bench):
    for number in (7, 8):
        bench.slurm.submit(number, 4, looks=3)
    jobs = jobs_of(bench.slurm)
    assert "no policy starts it" in jobs.preview("hold", "7")
    assert bench.slurm.rows[7]["state_reason"] == "JobHeldUser"
    assert jobs.carry_out("hold", "7") == "held"
    assert isinstance(bench.run(20), EngineStoppedError)
    assert started(bench) == ["8"]
    assert jobs.carry_out("unhold", "7") == "waits for the policy"
    assert isinstance(bench.run(20), EngineStoppedError)
    assert started(bench) == ["8", "7"]


def test_a_released_job_starts_before_the_policy_decides(bench):
    for number in (7, 8):
        bench.slurm.submit(number, 4, looks=3)
    assert jobs_of(bench.slurm).carry_out("release", "8") in ("released", "the job no longer waits")
    assert isinstance(bench.run(20), EngineStoppedError)
    # The driver itself has released only the other one.
    assert [act for act in bench.acts() if act[1] == "release"] == [("7", "release", "released")]
    assert started(bench) == ["8", "7"]


@pytest.mark.parametrize(
    ("action", "number", "fields", "why"),
    [
        ("hold", "9", {}, "no such job"),
        ("hold", "x", {}, "expected a job's number"),
        ("hold", "7", {"comment": ""}, "left to Slurm"),
        ("hold", "7", {"state_reason": "JobHeldAdmin"}, "by an administrator already"),
        ("unhold", "7", {}, "not held by an administrator"),
        ("release", "7", {"state_reason": "JobHeldAdmin"}, "undone first"),
    ],
)
def test_an_action_that_does_not_fit_the_job_sends_no_command(action, number, fields, why):
    slurm = Operated()
    slurm.rows[7] = job(7, cpus=1, node_count=1, **fields)
    slurm.left[7] = 5
    for call in (jobs_of(slurm).preview, jobs_of(slurm).carry_out):
        with pytest.raises(InputError, match=why):
            call(action, number)
    assert not [command for command in slurm.recorded if command[:2] != ("squeue", "--json")]


def test_a_user_that_is_no_operator_cannot_hold():
    slurm = Operated(operator=False)
    slurm.submit(7)
    with pytest.raises(BatchError, match="expected an operator"):
        jobs_of(slurm).carry_out("hold", "7")


def test_only_an_engine_that_acts_offers_actions(bench):
    assert bench.engine(acts=True).jobs.actions == ("hold", "unhold", "release")
    assert bench.engine(acts=False).jobs is None


def test_an_action_of_a_killed_process_is_looked_up_in_slurm(bench):
    bench.slurm.submit(7, 4)
    jobs = jobs_of(bench.slurm)
    done, not_done = (
        f"{each}, as found after a restart" for each in ("carried out", "failed: not carried out")
    )
    assert [jobs.found(action, "7") for action in ("hold", "unhold", "release")] == [not_done, done, not_done]
    jobs.carry_out("hold", "7")
    assert [jobs.found(action, "7") for action in ("hold", "unhold", "release")] == [done, not_done, not_done]
    jobs.carry_out("unhold", "7")
    jobs.carry_out("release", "7")
    assert [jobs.found(action, "7") for action in ("hold", "unhold", "release")] == [not_done, done, done]
    assert jobs.found("hold", "8") == "unknown: the process ended, and Slurm no longer lists the job"
