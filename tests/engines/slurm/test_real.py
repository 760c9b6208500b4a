"""A driver on a real Slurm: order of starts, other users' jobs, and jobs after kills."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from tests.engines.slurm.private import PATIENCE, private_slurm
from windlass.engines.slurm.cluster import SlurmCluster
from windlass.engines.slurm.daemons import wait_until
from windlass.engines.slurm.driver import drive_slurm
from windlass.engines.slurm.entries import Began, Decided, Releasing
from windlass.engines.slurm.journal import read_journal
from windlass.engines.slurm.models import Phase
from windlass.engines.slurm.settings import Driving
from windlass.engines.slurm.system import SlurmOptions
from windlass.model import InputError
from windlass.order.site.policies.fcfs import Fcfs
from windlass.order.site.view import Start

pytestmark = pytest.mark.slow
PROCESSORS = 8


@pytest.fixture(scope="module")
def slurm():
    with private_slurm(nodes=4, cpus=2) as shell:
        yield shell


@pytest.fixture
def shell(slurm):
    slurm.clear()
    yield slurm
    slurm.clear()


class Runs:
    """Jobs that record their starts and ends."""

    def __init__(self, shell, tmp_path):
        self.shell, self.file, self.jobs = shell, tmp_path / "runs", []
        self.file.touch()

    def submit(self, seconds, procs=1, **options):
        script = f"echo b $SLURM_JOB_ID >> {self.file}; sleep {seconds}; echo e $SLURM_JOB_ID >> {self.file}"
        self.jobs.append(self.shell.submit(script, procs=procs, **options))
        return self.jobs[-1]

    def lines(self, kind):
        words = (line.split() for line in self.file.read_text().splitlines())
        return [int(job) for what, job in words if what == kind]

    def begun(self, rows):
        """True if any job has started; a short one may be over before a busy machine polls."""
        return any(rows[job].phase in (Phase.RUNS, Phase.OVER) for job in self.jobs)

    def end(self):
        """Check that all jobs have ended, each once."""
        self.shell.until(lambda rows: all(rows[job].phase is Phase.OVER for job in self.jobs))
        assert sorted(self.lines("b")) == sorted(self.jobs) == sorted(self.lines("e"))
        assert {self.shell.rows()[job].state for job in self.jobs} == {"COMPLETED"}


@pytest.fixture
def runs(shell, tmp_path):
    return Runs(shell, tmp_path)


class Driver:
    """``windlass slurm drive`` as a separate process."""

    def __init__(self, shell, tmp_path, *options, policy="easy"):
        self.journal, self.output = tmp_path / "journal", tmp_path / "said"
        command = [sys.executable, "-m", "windlass", "slurm", "drive", "--policies", f"order={policy}"]
        with open(self.output, "a") as output:
            self.process = subprocess.Popen(
                [*command, "--journal", str(self.journal), *options],
                env=shell.environment,
                stderr=output,
                stdout=output,
            )

    def end(self, by=None):
        if by is not None:
            self.process.send_signal(by)
        return self.process.wait(PATIENCE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


class LastFirst:
    """A policy that starts the latest job first, one at a time."""

    name = "last-first"

    def decide(self, view):
        idle = view.free == view.processors
        return Start(tuple(view.waiting.job[-1:].tolist()) if idle else (), "came last")


def driven(shell, tmp_path, policy, **options):
    driving = Driving({"order": policy}, tmp_path / "journal", SlurmOptions(until_idle=True, **options))
    return drive_slurm(shell.client, driving, lambda line: None)


def test_jobs_start_in_the_policy_s_order_and_the_journal_has_the_reasons(shell, runs, tmp_path):
    jobs = [runs.submit(0.1) for _ in range(4)]
    run = driven(shell, tmp_path, LastFirst())
    runs.end()
    assert runs.lines("b") == jobs[::-1]
    assert run.job[np.argsort(run.released)].tolist() == jobs[::-1]
    entries = read_journal(tmp_path / "journal")
    decided = [entry for entry in entries if isinstance(entry, Decided)]
    assert [(entry.policy, entry.jobs, entry.why) for entry in decided] == [
        ("last-first", (str(job),), ("came last",)) for job in jobs[::-1]
    ]
    order = [type(entry) for entry in entries if isinstance(entry, Decided | Releasing | Began)]
    assert order == [Decided, Releasing, Began] * 4


def test_jobs_released_together_start_in_the_order_of_the_answer(shell, tmp_path):
    class Backwards:
        name = "backwards"

        def decide(self, view):
            return Start(tuple(view.waiting.job[::-1].tolist()))

    for _ in range(PROCESSORS):
        shell.submit("sleep 1")
    held = sorted(shell.rows())[-PROCESSORS:]
    driven(shell, tmp_path, Backwards())
    started = [
        int(line.partition("JobId=")[2].split()[0])
        for line in (shell.cluster.folder / "slurmctld.log").read_text().splitlines()
        if "JobId=" in line and (" Allocate JobId=" in line or "Started JobId=" in line)
    ]
    assert [job for job in started if job in held] == held[::-1]


def test_jobs_of_other_users_are_unchanged(shell, runs, tmp_path):
    held = shell.submit("sleep 1", "--hold", ours=False)
    named = shell.submit("sleep 1", "--hold", "--comment=mine", ours=False)
    array = int(
        shell("sbatch", "--parsable", "--hold", "--comment=windlass", "--array=1-2", "--wrap=sleep 1")
    )
    runs.submit(0.1, ours=False)
    before = {job: shell.rows()[job] for job in (held, named, array)}
    runs.submit(0.1, procs=PROCESSORS)
    driven(shell, tmp_path, Fcfs())
    runs.end()
    assert {job: shell.rows()[job] for job in before} == before


def test_a_job_that_needs_a_drained_node_waits_until_it_is_back(shell, runs, tmp_path):
    shell("scontrol", "update", "NodeName=w[2-4]", "State=DRAIN", "Reason=test")
    wide, narrow = runs.submit(0.1, procs=4, minutes=2), runs.submit(0.1, procs=2, minutes=1)
    with Driver(shell, tmp_path, "--until-idle", policy="sjf") as driver:
        shell.until(lambda rows: rows[narrow].phase is Phase.OVER)
        assert shell.rows()[wide].held
        shell("scontrol", "update", "NodeName=w[2-4]", "State=RESUME")
        assert driver.end() == 0
    runs.end()


def test_a_requeued_job_is_held_again_and_ends(shell, tmp_path):
    first = shell.submit("sleep 20")
    with Driver(shell, tmp_path, "--until-idle") as driver:
        shell.until(lambda rows: rows[first].state == "RUNNING")
        shell("scontrol", "requeue", str(first))
        assert driver.end() == 0
    row = shell.rows()[first]
    assert (row.state, row.restarts) == ("COMPLETED", 1)
    assert "it was requeued" in (tmp_path / "said").read_text()


def test_a_job_with_a_dependency_delays_no_other(shell, runs, tmp_path):
    other = shell.submit("sleep 4", ours=False)
    options = ("--hold", "--comment=windlass", f"--dependency=afterany:{other}")
    after = int(shell("sbatch", "--parsable", "--ntasks=7", "--time=1", *options, "--wrap=true"))
    runs.submit(0.1, procs=7)
    driven(shell, tmp_path, Fcfs())
    runs.end()
    rows = shell.rows()
    assert rows[after].state == "COMPLETED"
    assert rows[after].start >= rows[other].end


def test_a_controller_that_stops_and_comes_back_loses_nothing(shell, runs, tmp_path):
    for at in range(8):
        runs.submit(2, procs=1 + at % 4)
    with Driver(shell, tmp_path, "--until-idle") as driver:
        shell.until(lambda rows: runs.begun(rows))
        cluster = SlurmCluster.load(shell.cluster.folder)
        cluster.stop("slurmctld")
        try:
            assert wait_until(lambda: "does not answer" in driver.output.read_text(), PATIENCE)
        finally:
            cluster.start("slurmctld")
        assert driver.end() == 0
    assert "answers again" in driver.output.read_text()
    runs.end()


def test_a_driver_killed_at_any_time_and_restarted_loses_no_job(shell, runs, tmp_path):
    rng = np.random.default_rng(7)
    for _ in range(24):
        runs.submit(float(rng.uniform(0.1, 1.5)), procs=int(rng.integers(1, PROCESSORS + 1)))
    for _ in range(20):
        with Driver(shell, tmp_path) as driver:
            # Some kills are before its start, and some between a decision and its release.
            wait_until(lambda driver=driver: driver.process.poll() is not None, float(rng.uniform(0.1, 4.0)))
            assert driver.end(signal.SIGKILL) == -signal.SIGKILL, driver.output.read_text()
    with Driver(shell, tmp_path, "--until-idle") as driver:
        assert driver.end() == 0
    runs.end()


def test_a_terminated_driver_gives_the_queue_back(shell, runs, tmp_path):
    for _ in range(6):
        runs.submit(1, procs=PROCESSORS)
    with Driver(shell, tmp_path) as driver:
        shell.until(lambda rows: runs.begun(rows))
        assert driver.end(signal.SIGTERM) == 0
    assert not any(shell.rows()[job].held for job in runs.jobs)
    assert "given back to Slurm" in driver.output.read_text()
    runs.end()


def test_with_keep_held_jobs_stay_held_until_give_back(shell, runs, tmp_path):
    for _ in range(3):
        runs.submit(60, procs=PROCESSORS)  # longer than a busy machine takes to poll and to end
    with Driver(shell, tmp_path, "--keep-held") as driver:
        shell.until(lambda rows: runs.begun(rows))
        assert driver.end(signal.SIGINT) == 130
    assert sum(shell.rows()[job].held for job in runs.jobs) == 2
    command = [sys.executable, "-m", "windlass", "slurm", "give-back"]
    output = subprocess.run(command, env=shell.environment, capture_output=True, text=True, check=True)
    assert output.stdout.startswith("released: ")
    shell.until(lambda rows: not any(rows[job].held for job in runs.jobs))
    shell.clear()


def test_a_policy_that_fails_gives_the_queue_back(shell, runs, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "from windlass.order.site.view import Start\n\nclass Mine:\n    name = 'mine'\n\n"
        "    def decide(self, view):\n        return Start((404,))\n"
    )
    runs.submit(0.1)
    with Driver(shell, tmp_path, policy=file) as driver:
        assert driver.end() == 2
    last = driver.output.read_text().splitlines()[-1]
    assert last.startswith(f"windlass: policy 'mine' ({file}, line 6) started a job that does not wait")
    runs.end()


def test_a_second_driver_is_rejected(shell, runs, tmp_path):
    runs.submit(0.1)
    driving = Driving({"order": Fcfs()}, tmp_path / "other", SlurmOptions(until_idle=True))
    with Driver(shell, tmp_path) as driver:
        runs.end()
        with pytest.raises(
            InputError, match=rf"another driver \(process {driver.process.pid}\) drives this cluster"
        ):
            drive_slurm(shell.client, driving, lambda line: None)
        driver.end(signal.SIGTERM)
    assert not (tmp_path / "other").exists()


def windlass(shell, *arguments):
    command = [sys.executable, "-m", "windlass", *arguments]
    return subprocess.run(command, env=shell.environment, capture_output=True, text=True, check=True).stdout


def test_a_dry_run_prints_the_next_starts_and_changes_nothing(shell, tmp_path):
    first, second = shell.submit("sleep 1", procs=5), shell.submit("sleep 1", procs=4)
    before = shell.rows()
    journal = tmp_path / "journal"
    output = windlass(
        shell, "slurm", "drive", "--policies", "order=fcfs", "--dry-run", "--journal", str(journal)
    )
    assert output.splitlines() == [
        f"job {first}, 5 processors: head of the queue",
        f"scontrol release {first}",
        "Nothing was changed.",
    ]
    # Slurm no longer lists jobs that ended five minutes ago.
    rows = shell.rows()
    assert {first, second} <= set(rows) <= set(before)
    assert rows == {job: before[job] for job in rows}
    assert rows[second].held
    assert not journal.exists()


def test_the_log_runs_in_the_simulator(shell, runs, tmp_path):
    for procs in (3, 8, 1):
        runs.submit(1, procs=procs, minutes=procs)
    driven(shell, tmp_path, Fcfs())
    runs.end()
    log = tmp_path / "log.csv"
    windlass(shell, "slurm", "log", "--out", str(log))
    mine = f"job >= {runs.jobs[0]}"
    options = (
        "--policies",
        "fcfs",
        "--where",
        mine,
        "--procs",
        str(PROCESSORS),
        "--json",
        "--out",
        str(tmp_path / "out"),
    )
    results = json.loads(windlass(shell, "run", str(log), *options))
    # The log has starts, so that its own schedule is compared too.
    assert [each["name"] for each in results["variants"]] == ["fcfs", "recorded"]
    lines = log.read_text().splitlines()
    found = [dict(zip(lines[0].split(","), line.split(","), strict=True)) for line in lines[1:]]
    rows = {int(row["job"]): row for row in found}
    assert [(int(rows[job]["procs"]), int(rows[job]["request"])) for job in runs.jobs] == [
        (3, 180),
        (8, 480),
        (1, 60),
    ]
    assert all(int(rows[job]["run"]) >= 1 for job in runs.jobs)


def test_a_private_slurm_restarts_with_its_queue_after_its_daemons_died():
    from windlass.engines.slurm.cluster import up

    with private_slurm(nodes=1, cpus=1) as shell:
        folder = shell.cluster.folder
        waits = shell.submit("true")
        with pytest.raises(InputError, match="run `windlass slurm down` first"):
            up(folder, 2, 1)
        assert up(folder, 1, 1)[1] is False
        state = folder / "state" / "job_state"
        # The controller saves its state periodically: one killed before that has lost the job.
        assert wait_until(lambda: state.exists() and b"windlass" in state.read_bytes(), PATIENCE)
        for daemon in shell.cluster.daemons:
            os.kill(daemon.pid, signal.SIGKILL)
        assert wait_until(lambda: len(shell.cluster.gone) == 3, PATIENCE)
        cluster, started = up(folder, 1, 1)
        assert started
        assert len(cluster.daemons) == 3
        assert shell.rows()[waits].held
