"""Accounting of a real Slurm: the readers of its text and JSON agree with the controller and the jobs."""

import io
import re

import polars as pl
import pytest

from tests.engines.slurm.private import PATIENCE, private_slurm
from windlass.engines.slurm.accounting import accounting_missing
from windlass.engines.slurm.cluster import SlurmCluster
from windlass.engines.slurm.daemons import wait_until
from windlass.engines.slurm.log import read_log, write_log
from windlass.io.traces import read_trace

pytestmark = pytest.mark.slow

FIELDS = (
    "JobIDRaw,JobID,JobName,Submit,Start,End,ElapsedRaw,State,Timelimit,ReqCPUS,AllocCPUS,AllocTRES,ReqTRES,"
    "NNodes,User,Account,Partition,Cluster,QOS"
)
#: Jobs that end on their own: options, command, state, processors, limit (s).
JOBS = {
    "steps": (("-n2", "-t1"), "srun -n1 true; srun -n1 sleep 1", "COMPLETED", 2, 60),
    "bar|bar": (("-n1", "-t90"), "sleep 1", "COMPLETED", 1, 5400),
    "wide": (("-n8", "-t3"), "sleep 2", "COMPLETED", 8, 180),
    "fails": (("-n1", "-t1:00:00"), "exit 3", "FAILED", 1, 3600),
    "limitless": (("-n1", "-tUNLIMITED"), "sleep 1", "COMPLETED", 1, None),
    "day": (("-n3", "-t1-00:00:00"), "sleep 1", "COMPLETED", 3, 86_400),
    "late": (("-n1", "-t1"), "sleep 600", "TIMEOUT", 1, 60),
    "array": (("-n1", "-t2", "-a1-5%2"), "sleep 1", "COMPLETED", 1, 120),
}
#: Jobs that are cancelled or changed.
OTHERS = (("-n1", "-t5"), "sleep 1", "COMPLETED", 1, 300)


@pytest.fixture(scope="module")
def shell():
    if reason := accounting_missing():
        pytest.skip(reason)
    with private_slurm(nodes=4, cpus=2, accounting=True) as shell:
        yield shell


def submit(shell, name, options, command):
    words = ("sbatch", "--parsable", "--output=/dev/null", f"--job-name={name}", *options)
    return shell(*words, f"--wrap={command}")


def shown(shell, job):
    return shell("scontrol", "show", "job", "--oneliner", job)


def controller_fields(shell):
    """Return the controller's fields of jobs that ran, by their names in accounting."""
    found = {}
    for block in shell("scontrol", "show", "job", "--oneliner").splitlines():
        fields = dict(re.findall(r"(\w+)=(\S+)", block))
        name = fields["JobId"]
        if "ArrayTaskId" in fields:
            name = f"{fields['ArrayJobId']}_{fields['ArrayTaskId']}"
        found[name] = fields
    return found


@pytest.fixture(scope="module")
def ran(shell):
    """More than twenty jobs of all kinds, with the controller's fields after their ends."""
    shell("sacctmgr", "--immediate", "add", "account", "phys")
    numbers = {name: submit(shell, name, *job[:2]) for name, job in JOBS.items()}
    cancelled = submit(shell, "cancelled", ("-n1", "-t5"), "sleep 600")
    never = submit(shell, "never", ("-n1", "-t5", "-H"), "true")
    held = submit(shell, "held", ("-n1", "-t5", "-H"), "sleep 1")
    after = submit(shell, "after", ("-n1", "-t5", f"--dependency=afterany:{cancelled}"), "sleep 1")
    submit(shell, "waits", ("-n1", "-t5", "--begin=now+1day"), "true")
    shell("sbatch", "--parsable", "-n1", "-t5", "-a1-4", "-H", "--output=/dev/null", "--wrap=true")
    # A job cancelled within a second of its start counts as never run: times are whole seconds.
    assert wait_until(lambda: re.search(r"RunTime=\S+:0[2-9] ", shown(shell, cancelled)), PATIENCE)
    shell("scancel", cancelled, never)
    shell("scontrol", "release", held)
    numbers |= {"cancelled": cancelled, "held": held, "after": after}
    array = numbers.pop("array")
    numbers |= {f"array {task}": f"{array}_{task}" for task in range(1, 6)}

    def over():
        fields = controller_fields(shell)
        return all(
            each in fields and fields[each]["JobState"] in ("COMPLETED", "FAILED", "TIMEOUT", "CANCELLED")
            for each in numbers.values()
        )

    # A time limit is at least a minute, and Slurm checks it twice a minute.
    assert wait_until(over, 3 * PATIENCE), shell("squeue", "--states=all")
    return numbers, controller_fields(shell)


@pytest.fixture(scope="module")
def logs(shell, ran):
    """Both formats of sacct, once all ended jobs are recorded."""
    numbers, _ = ran
    options = ("--allusers", "--duplicates", "--starttime=2020-01-01")

    def text(*more):
        return shell("env", "TZ=UTC", "sacct", *options, *more)

    def booked():
        listed = text("-X", "--parsable2", "--noheader", "-o", "JobID,End").splitlines()
        ended = {line.partition("|")[0] for line in listed if not line.endswith("|Unknown")}
        return set(numbers.values()) <= ended

    assert wait_until(booked, PATIENCE), text()
    (shell.folder / "sacct.txt").write_text(text("--parsable2", "-o", FIELDS) + "\n")
    (shell.folder / "sacct.json").write_text(text("--json"))
    return tuple(read_trace(shell.folder / name) for name in ("sacct.txt", "sacct.json"))


def test_text_and_json_give_the_same_records(logs):
    text, json = (log.records.sort("job") for log in logs)
    assert text.select(sorted(text.columns)).equals(json.select(sorted(json.columns)))
    assert logs[0].processors == logs[1].processors
    assert any("steps of jobs" in note for note in logs[0].notes)


def test_records_have_the_requests_of_the_jobs(logs, ran):
    numbers, _ = ran
    found = {row["job_id"]: row for row in logs[0].records.iter_rows(named=True)}
    for name, number in numbers.items():
        row = found.pop(number)
        _, _, state, procs, limit = JOBS.get(name.partition(" ")[0], OTHERS)
        if name == "cancelled":
            state = "CANCELLED"
        assert (row["state"], row["procs_allocated"], row["request"]) == (state, procs, limit), name
        assert (row["partition"], row["cluster"], row["user"]) == ("share", "windlass", "root")
    # Jobs that never ran are absent: one held and cancelled, one of tomorrow, and a held array.
    assert not found


def test_times_and_waits_equal_the_controller_s(logs, ran):
    _, fields = ran
    records = logs[0].records
    times = [fields[job] for job in records["job_id"]]
    at = {
        each: pl.Series([one[each] for one in times]).str.to_datetime("%Y-%m-%dT%H:%M:%S").dt.epoch("s")
        for each in ("SubmitTime", "StartTime", "EndTime")
    }
    submit, start, end = at.values()
    assert records["submit"].to_list() == (submit - submit.min()).cast(float).to_list()
    assert records["wait"].to_list() == (start - submit).cast(float).to_list()
    assert records["run"].to_list() == (end - start).cast(float).to_list()
    assert records["procs_allocated"].to_list() == [int(one["NumCPUs"]) for one in times]
    assert records["state"].to_list() == [one["JobState"] for one in times]
    # At least these jobs waited: for a release and for another job.
    assert (records["wait"] > 0).sum() >= 2


def test_windlass_s_log_has_the_same_jobs(shell, logs):
    kept = read_log(shell.client)
    records = logs[0].records.sort("submit", "job")
    assert [job.job for job in kept.jobs] == records["job"].to_list()
    assert [job.start - job.submit for job in kept.jobs] == records["wait"].to_list()
    assert [job.end - job.start for job in kept.jobs] == records["run"].to_list()
    assert [job.request for job in kept.jobs] == records["request"].to_list()
    assert {"bar|bar"} <= {job.name for job in kept.jobs}
    table = io.StringIO()
    write_log(kept.jobs, table)
    assert len(table.getvalue().splitlines()) == 1 + len(records)


def test_accounting_runs_in_known_processes(shell):
    now = SlurmCluster.load(shell.cluster.folder)
    assert [daemon.name for daemon in now.daemons][:4] == ["munged", "mariadbd", "slurmdbd", "slurmctld"]
    assert now.gone == ()
    assert (shell.cluster.folder / "database").stat().st_mode & 0o77 == 0
