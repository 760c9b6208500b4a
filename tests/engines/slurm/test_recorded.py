"""Recorded outputs of real clusters, release by release, read as a plain walk over their JSON reads them.

The recordings lie outside of the repository: the folder that WINDLASS_TRACES names has them in ``slurm/<release>``.
"""

import json
import math
import os
import re
from pathlib import Path

import pytest

from windlass.engines.slurm.job_reader import JobReader, read_jobs
from windlass.engines.slurm.models import Phase
from windlass.engines.slurm.node_reader import lists_groups, read_nodes
from windlass.engines.slurm.release import installation_hint
from windlass.io.traces import read_trace
from windlass.model import BatchError, InputError

TRACES = Path(os.environ.get("WINDLASS_TRACES", Path(__file__).parents[4] / "shared" / "traces"))
FILES = sorted((TRACES / "slurm").glob("[0-9]*/*.json"))
#: Its authors joined a job of 21.08 and one of a later release; both can be read.
TREES = {file: json.loads(file.read_text()) for file in FILES}
JOBS = [
    file for file, tree in TREES.items() if "jobs" in tree and not file.name.startswith(("slurmdb", "sacct"))
]
ACCOUNTS = [file for file in TREES if file.name.startswith(("slurmdb-job", "sacct"))]
NODES = [file for file, tree in TREES.items() if {"nodes", "sinfo"} & set(tree)]

pytestmark = pytest.mark.skipif(not FILES, reason="recorded outputs of Slurm are absent: WINDLASS_TRACES")


def name(file):
    return f"{file.parent.name}/{file.stem}"


def plain(value, unset=0):
    """Return a number of any spelling."""
    if isinstance(value, dict):
        return unset if value["infinite"] or not value["set"] else value["number"]
    return unset if value is None else value


def words(value):
    return [value] if isinstance(value, str) else value


@pytest.mark.parametrize("file", JOBS, ids=name)
def test_recorded_jobs_are_read(file):
    tree = TREES[file]
    if not tree["jobs"]:
        (error, *_) = tree["errors"]
        with pytest.raises(BatchError, match=re.escape(error["error"])):
            read_jobs(file.read_bytes())
        return
    rows = read_jobs(file.read_bytes())
    expected = sorted(tree["jobs"], key=lambda job: job["job_id"])
    assert [row.job for row in rows] == [job["job_id"] for job in expected]
    for row, job in zip(rows, expected, strict=True):
        base, *flags = words(job["job_state"])
        assert row.state == (flags or [base])[0]
        assert (row.name, row.user, row.partition) == (job["name"], job["user_name"], job["partition"])
        assert (row.account, row.qos) == (job["account"], job["qos"])
        assert (row.reason, row.nodes, row.restarts) == (
            job["state_reason"],
            job["nodes"],
            job["restart_cnt"],
        )
        assert row.limit == 60 * plain(job["time_limit"], math.inf)
        assert (row.submit, row.start, row.end) == tuple(
            plain(job[f"{field}_time"]) for field in ("submit", "start", "end")
        )
        waits = base == "PENDING"
        assert (row.phase is Phase.WAITS, row.phase is Phase.RUNS) == (waits, base == "RUNNING")
        assert row.held == (waits and plain(job["priority"], 1) == 0) == job.get("hold", row.held)
        assert row.barred == (row.held and job["state_reason"] == "JobHeldAdmin")
        assert row.many == (plain(job["array_job_id"]) != 0)
        allocated = job["tres_alloc_str"] if row.phase is Phase.RUNS else ""
        assert row.procs == (
            int(re.findall(r"\bcpu=(\d+)", allocated)[0]) if allocated else plain(job["cpus"])
        )
        nodes = (job.get("job_resources") or {}).get("nodes")
        if isinstance(nodes, dict):
            assert row.procs == sum(node["cpus"]["count"] for node in nodes["allocation"])
        memory = (
            plain(job["memory_per_node"]) * plain(job["node_count"])
            or plain(job["memory_per_cpu"]) * row.procs
        )
        assert row.memory == memory * 2**20


@pytest.mark.parametrize("file", JOBS, ids=name)
@pytest.mark.parametrize("size", [1000, 50_000])
def test_recorded_jobs_are_read_in_parts(file, size):
    text = file.read_bytes()
    if TREES[file]["jobs"]:
        reader = JobReader(piece=size)
        for start in range(0, len(text), size):
            reader.feed(text[start : start + size])
        assert reader.finish() == read_jobs(text)


@pytest.mark.parametrize("file", NODES, ids=name)
def test_recorded_nodes_are_read(file):
    tree = TREES[file]
    rows = {row.name: row for row in read_nodes(file.read_bytes())}
    assert lists_groups(file.read_text()) == ("sinfo" in tree)
    if "sinfo" in tree:
        listed = [
            (
                node,
                row["node"]["state"],
                row["cpus"]["total"] / row["nodes"]["total"],
                row["partition"]["name"],
            )
            for row in tree["sinfo"]
            for node in row["nodes"]["nodes"]
        ]
    else:
        listed = [
            (node["name"], words(node["state"]) + node.get("state_flags", []), node["cpus"], partition)
            for node in tree["nodes"]
            for partition in node["partitions"] or [None]
        ]
        assert {row.name: row.host for row in rows.values()} == {
            node["name"]: node["hostname"] for node in tree["nodes"]
        }
        assert {row.name: row.memory for row in rows.values()} == {
            node["name"]: node["real_memory"] << 20 for node in tree["nodes"]
        }
    assert set(rows) == {node for node, *_ in listed}
    for node, states, procs, partition in listed:
        assert rows[node].procs == procs
        assert partition is None or partition in rows[node].partitions
        states = {state.upper() for state in states}
        closed = states & {"DOWN", "DRAIN", "NOT_RESPONDING", "INVALID_REG", "POWER_DOWN"}
        assert rows[node].up == (not closed), states
    partitions = {name: sorted(each[3] for each in listed if each[0] == name and each[3]) for name in rows}
    assert {row.name: sorted(row.partitions) for row in rows.values()} == partitions


@pytest.mark.parametrize("file", ACCOUNTS, ids=name)
def test_recorded_accounting_is_read(file):
    over = [
        job
        for job in TREES[file]["jobs"]
        if job["time"]["end"] and words(job["state"]["current"])[0] not in ("PENDING", "RUNNING")
    ]
    ran = [job for job in over if job["time"]["start"] and (job["time"]["elapsed"] or cpus(job))]
    if not ran:
        with pytest.raises(InputError, match="no jobs that ran"):
            read_trace(file, "sacct-json")
        return
    records = read_trace(file, "sacct-json").records
    assert records["job"].to_list() == [job["job_id"] for job in ran]
    first = min(job["time"]["submission"] for job in ran)
    assert records["submit"].to_list() == [job["time"]["submission"] - first for job in ran]
    assert records["run"].to_list() == [job["time"]["elapsed"] for job in ran]
    assert records["procs_allocated"].to_list() == [cpus(job) for job in ran]
    assert records["state"].to_list() == [words(job["state"]["current"])[0] for job in ran]
    limits = [plain(job["time"]["limit"], None) for job in ran]
    if any(limits):
        assert records["request"].to_list() == [None if each is None else 60.0 * each for each in limits]


def cpus(job):
    return next((each["count"] for each in job["tres"]["allocated"] if each["type"] == "cpu"), None)


def test_every_release_has_recorded_jobs_and_nodes():
    releases = {"21.08", "22.05", "23.02", "23.11", "24.05", "24.11", "25.05", "25.11", "26.05"}
    for files in (JOBS, NODES, ACCOUNTS):
        assert {file.parent.name for file in files} == releases


def test_the_recorded_error_of_a_missing_plugin_says_what_to_install():
    (file,) = (TRACES / "slurm").glob("*/squeue-json-no-plugin.stderr.txt")
    hint = installation_hint(("squeue", "--json"), file.read_text())
    assert hint.startswith("squeue --json: Slurm's plugin serializer/json is not installed; install")
