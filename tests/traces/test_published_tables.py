"""Tables of Google, Alibaba, Marconi100 and Fugaku: invented rows under the published names of columns."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import polars as pl
import pytest

from windlass.io.traces import read_trace, to_workload
from windlass.io.traces.formats import format_of
from windlass.model import InputError

BEGIN = datetime(2021, 4, 1, 0, 0, 4, tzinfo=UTC)

FDATA = """
jid usr jnam cnumr cnumat cnumut nnumr adt qdt schedsdt deldt ec elpl sdt edt nnuma idle_time_ave nnumu perf1 perf2
perf3 perf4 perf5 perf6 mszl pri econ avgpcon minpcon maxpcon msza mmszu uctmut sctmut usctmut jobenv_req freq_req
freq_alloc flops mbwidth opint pclass embedding duration
"""
PM100 = """
cores_alloc_layout cores_allocated cores_per_task derived_ec eligible_time end_time group_id job_id job_state nodes
num_cores_req num_cores_alloc num_gpus_req num_gpus_alloc num_nodes_req num_nodes_alloc mem_req mem_alloc num_tasks
partition power_flags priority qos req_nodes run_time shared start_time state_reason submit_time threads_per_core
time_limit user_id power_consumption
"""


def fdata(dates: str = "%Y-%m-%d %H:%M:%S") -> pl.DataFrame:
    def at(seconds: float) -> str:
        return (BEGIN + timedelta(seconds=seconds)).strftime(dates)

    rows = [
        ("j_a", "u1", 5, 65, 4, 3600.0),
        ("j_b", "u2", 0, 30, 384, 86_400.0),
        ("j_c", "u1", 9, 10, 1, 60.0),
    ]
    known = {
        "jid": [row[0] for row in rows],
        "usr": [row[1] for row in rows],
        "adt": [at(row[2]) for row in rows],
        "sdt": [at(row[3]) for row in rows],
        "edt": [at(row[3] + 600) for row in rows],
        "duration": [600.0] * 3,
        "nnumr": [row[4] for row in rows],
        "nnuma": [row[4] for row in rows],
        "cnumr": [48 * row[4] for row in rows],
        "elpl": [row[5] for row in rows],
        "exit state": ["completed", "failed", "completed"],
    }
    return pl.DataFrame({name: known.get(name, [1.0] * 3) for name in [*FDATA.split(), "exit state"]})


def pm100(cores: str = "cores") -> pl.DataFrame:
    starts = [BEGIN + timedelta(seconds=seconds) for seconds in (5, 70)]
    known = {
        "job_id": [11, 12],
        "submit_time": [BEGIN, BEGIN + timedelta(seconds=60)],
        "start_time": starts,
        "end_time": [start + timedelta(seconds=600) for start in starts],
        "run_time": [600, 600],
        "num_cores_req": [128, 4],
        "num_cores_alloc": [128, 8],
        "num_gpus_alloc": [4, 1],
        "time_limit": ["60", "INFINITE"],
        "user_id": [7, 8],
        "group_id": [1, 1],
        "qos": ["q0", "q1"],
        "partition": ["p", "p"],
        "job_state": ["COMPLETED", "FAILED"],
    }
    table = pl.DataFrame({name: known.get(name, ["1"] * 2) for name in PM100.split()})
    return table.rename(
        {name: name.replace("_cores_", f"_{cores}_") for name in table.columns if "_cores_" in name}
    )


def saved(tmp_path, table: pl.DataFrame, kind: str):
    path = tmp_path / f"jobs.{kind}"
    if kind == "parquet":
        table.write_parquet(path)
    elif kind == "csv":
        table.write_csv(path)
    elif kind == "tsv":
        table.write_csv(path, separator="\t")
    else:
        table.write_ndjson(path)
    return path


@pytest.mark.parametrize("kind", ["parquet", "csv", "tsv", "jsonl"])
@pytest.mark.parametrize("dates", ["%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M:%S+00:00", "%Y-%m-%dT%H:%M:%SZ"])
def test_jobs_of_fugaku(tmp_path, kind, dates):
    path = saved(tmp_path, fdata(dates), kind)
    assert format_of(path) == "fdata"
    trace = read_trace(path)
    names = (
        "job_id",
        "submit",
        "wait",
        "run",
        "procs_requested",
        "procs_allocated",
        "request",
        "user",
        "exit state",
    )
    assert trace.records.select(names).rows() == [
        ("j_a", 5.0, 60.0, 600.0, 4, 4, 3600.0, "u1", "completed"),
        ("j_b", 0.0, 30.0, 600.0, 384, 384, 86_400.0, "u2", "failed"),
        ("j_c", 9.0, 1.0, 600.0, 1, 1, 60.0, "u1", "completed"),
    ]
    assert (trace.processors, trace.peak) == (389, True)
    zone = "Z" if dates.endswith(("+00:00", "Z")) else ""
    assert trace.notes[0] == f"times count from 2021-04-01T00:00:04{zone}, the first submission"
    assert "a processor is a node" in trace.notes
    assert to_workload(trace, where="\"exit state\" = 'failed'").name_of(0) == "j_b"


@pytest.mark.parametrize("cores", ["cores", "cpus"])
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_jobs_of_marconi100(tmp_path, cores, kind):
    path = saved(tmp_path, pm100(cores), kind)
    assert format_of(path) == "pm100"
    trace = read_trace(path)
    names = (
        "job",
        "submit",
        "wait",
        "run",
        "procs_requested",
        "procs_allocated",
        "request",
        "gpus",
        "partition",
    )
    assert trace.records.select(names).rows() == [
        (11, 0.0, 5.0, 600.0, 128, 128, 3600.0, 4, "p"),
        (12, 60.0, 10.0, 600.0, 4, 8, None, 1, "p"),
    ]
    assert to_workload(trace).of.queue.names == ("q0", "q1")
    assert to_workload(trace).users.tolist() == [7, 8]


PAI_TASK = "job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,plan_gpu,gpu_type\n"
PAI_INSTANCE = "job_name,task_name,inst_name,worker_name,inst_id,status,start_time,end_time,machine\n"


def test_tasks_of_alibaba(tmp_path):
    path = tmp_path / "pai_task_table.csv"
    path.write_text(
        PAI_TASK
        + "a,ps,1.0,Terminated,1739162.0,1739200.0,600.0,29.296875,,\n"
        + "a,worker,3.0,Failed,1739170.0,1739190.0,650.0,2.0,50.0,MISC\n"
        + "b,tensorflow,,Running,1739300.0,,,,,T4\n"
    )
    assert format_of(path) == "pai-tasks"
    trace = read_trace(path)
    names = ("job_id", "submit", "wait", "run", "procs_requested", "gpus", "memory", "status")
    assert trace.records.select(names).rows() == [
        ("a/ps", 1739162.0, 0.0, 38.0, 6, None, 29.296875 * 2**30, "Terminated"),
        ("a/worker", 1739170.0, 0.0, 20.0, 20, 1.5, 6.0 * 2**30, "Failed"),
        ("b/tensorflow", 1739300.0, 0.0, None, 1, None, None, "Running"),
    ]
    assert trace.processors == 26
    assert len(to_workload(trace).jobs) == 2
    path.write_text(PAI_TASK + "a,ps,1.0,Terminated,1,2,many,1,,\n")
    with pytest.raises(
        InputError, match=r"line 2: plan_cpu is 'many', expected a whole number of 0 or more$"
    ):
        read_trace(path)


def test_instances_of_alibaba(tmp_path):
    path = tmp_path / "pai_instance_table.csv"
    path.write_text(PAI_INSTANCE + "a,worker,i0,w0,id,Terminated,2081336.0,2083889.0,m1\n")
    assert format_of(path) == "pai-instances"
    trace = read_trace(path)
    assert trace.records.select("job_id", "run", "procs_requested").rows() == [("a/worker/i0", 2553.0, 1)]
    assert "the table has no requests of instances: each counts as 1 processor" in trace.notes


#: Time (s), event, collection, index, type of the collection, CPUs.
EVENTS = [
    (0, 0, 1, 0, 0, 0.5),
    (0, 3, 1, 0, 0, 0.5),
    (10, 0, 2, 0, 0, 0.101),
    (12, 1, 2, 0, 0, 0.101),
    (15, 3, 2, 0, 0, 0.101),
    (20, 0, 2, 1, 0, 0.02),
    (25, 4, 2, 0, 0, 0.101),
    (40, 3, 2, 0, 0, 0.101),
    (45, 10, 2, 0, 0, 0.101),
    (60, 6, 2, 0, 0, 0.101),
    (61, 0, 3, 0, 1, 0.7),
    (62, 3, 2, 1, 0, 0.02),
    (63, 0, 2, 2, 0, None),
]
KINDS = ("SUBMIT", "QUEUE", "ENABLE", "SCHEDULE", "EVICT", "FAIL", "FINISH", "KILL", "LOST", "UPDATE_PENDING")


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "names"])
def test_tasks_of_google(tmp_path, kind):
    items = [
        {
            "time": 1_000_000 * at,
            "type": (*KINDS, "UPDATE_RUNNING")[event] if kind == "names" else event,
            "collection_id": collection,
            "scheduling_class": 2,
            "collection_type": ("JOB", "ALLOC_SET")[owner] if kind == "names" else owner,
            "priority": 200,
            "instance_index": index,
            "machine_id": 0,
            "resource_request": {"cpus": cpus, "memory": 0.1},
        }
        for at, event, collection, index, owner, cpus in EVENTS
    ]
    path = tmp_path / f"instance_events.{kind}"
    if kind in ("jsonl", "names"):
        path.write_text("".join(json.dumps(item) + "\n" for item in items))
    elif kind == "parquet":
        pl.DataFrame(items).write_parquet(path)
    else:
        flat = [{**item, "resource_request.cpus": item["resource_request"]["cpus"]} for item in items]
        pl.DataFrame(flat).drop("resource_request").write_csv(path)
    assert format_of(path) == "google"
    trace = read_trace(path)
    names = ("job_id", "submit", "wait", "run", "procs_requested", "queue")
    assert [(*row[:5], str(row[5])) for row in trace.records.select(names).rows()] == [
        ("2/0", 10.0, 5.0, 30.0, 11, "2"),
        ("2/1", 20.0, 42.0, None, 2, "2"),
        ("2/2", 63.0, None, None, 1, "2"),
    ]
    assert "1 instances were submitted before the trace and are left out" in trace.notes
    assert "1 instances of alloc sets are left out" in trace.notes
    assert "1 tasks started more than once; their run time is that of all attempts" in trace.notes
    assert len(to_workload(trace).jobs) == 1


def test_an_unknown_event_of_google_is_refused(tmp_path):
    path = tmp_path / "instance_events.csv"
    path.write_text("time,type,collection_id,instance_index\n1,0,1,0\n2,BEGIN,1,0\n")
    with pytest.raises(
        InputError, match=r"line 3: type is 'BEGIN', expected an event such as 3 or SCHEDULE$"
    ):
        read_trace(path)


@pytest.mark.parametrize("missing", ["adt", "nnumr"])
def test_a_table_without_a_needed_column_is_no_such_table(tmp_path, missing):
    path = saved(tmp_path, fdata().drop(missing), "parquet")
    assert format_of(path) == "parquet"
    with pytest.raises(InputError, match=f"no column '{missing}', found "):
        read_trace(path, format="fdata")


def test_rows_of_parquet_are_named_in_errors(tmp_path):
    table = fdata().with_columns(elpl=pl.Series([60.0, -1.0, 60.0]))
    expected = "a number of 0 or more; the cell of an unknown value is empty"
    with pytest.raises(InputError, match=rf"row 2: elpl is '-1.0', expected {expected}$"):
        read_trace(saved(tmp_path, table, "parquet"))
