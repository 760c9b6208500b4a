"""Logs of PBS, LSF, Kubernetes, Ray and published clusters: found by content, read, and never a traceback."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from windlass.io.traces import FORMATS, Trace, read_trace, to_workload
from windlass.io.traces.formats import Format
from windlass.model import InputError

PBS = """\
04/23/2024 12:00:00;Q;12.srv;queue=batch
04/23/2024 12:00:30;S;12.srv;user=ann group=phys jobname=a queue=batch ctime=1713873600 start=1713873630
04/23/2024 12:02:00;E;12.srv;user=ann group=phys account="big money" jobname=a queue=batch ctime=1713873600 \
qtime=1713873601 start=1713873630 end=1713873720 exec_host=n1/0*8+n2/0*8 Resource_List.nodes=2:ppn=8:gpus=1 \
Resource_List.mem=16gb Resource_List.walltime=01:00:00 Exit_status=0 resources_used.walltime=00:01:29
04/23/2024 12:03:00;E;13[2].srv;user=bob group=bio queue=long qtime=1713873610 start=1713873630 end=1713873780 \
exec_host=n1/0+n1/1+n3/4 Resource_List.select=1:ncpus=2:ngpus=1+1:ncpus=1 Resource_List.walltime=100:00:00
04/23/2024 12:03:01;E;13[].srv;user=bob queue=long ctime=1713873610 start=1713873630 end=1713873780
04/23/2024 12:03:02;S;14.srv;user=bob queue=long ctime=1713873610 start=1713873782
04/23/2024 12:03:03;E;15.srv;user=bob queue=long ctime=1713873612 start=1713873782 end=1713873783 \
exec_host=n1/0-3,6 Resource_List.ncpus=5
"""
_LSF = (
    '"JOB_FINISH" "10.1" {end} {job} 1000 33554438 {procs} 1714564800 0 0 {start} "ann" "normal" '
    '"" "" "" "m" "" "" "" "" "f" '
)
LSF = (
    _LSF.format(end=1714564865, job=7, procs=3, start=1714564805)
    + '1 "h1" 2 "2*h1" "h2" 64 60.0 "say ""hi"" to" "sleep 60" '
    + "-1 " * 19
    + '"" "proj" 0 3 "" "" 0 2048 0 "" "" "" "" 0 "" 0 "" -1 "/ann" "" "" "" 600 "" ""\n'
    + _LSF.format(end=1714564900, job=8, procs=1, start=0)
    + '0 0 32 0.0 "b" "x"\n'
    + _LSF.format(end=1714564900, job=9, procs=1, start=1714564890)
    + '0 1 "h1" 32 60.0 "b" "x"\n'
    + '"EVENT_ADRSV_FINISH" "10.1" 1714564900 1\n'
)


def pod(name: str, phase: str, requests: dict[str, str], **status: object) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "ml", "creationTimestamp": "2024-05-01T12:00:00Z",
                     "labels": {"queue": "q"}},
        "spec": {"activeDeadlineSeconds": 600, "containers": [{"name": "c", "resources": {"requests": requests}}] * 2},
        "status": {"phase": phase, **status},
    }  # fmt: skip


def terminated(start: str, finish: str) -> dict[str, object]:
    return {
        "state": {
            "terminated": {"startedAt": f"2024-05-01T12:{start}Z", "finishedAt": f"2024-05-01T12:{finish}Z"}
        }
    }


KUBECTL = json.dumps(
    {
        "apiVersion": "v1",
        "items": [
            pod("a", "Succeeded", {"cpu": "750m", "memory": "1.5Gi", "nvidia.com/gpu": "1"},
                containerStatuses=[terminated("00:05", "01:00"), terminated("00:07", "01:05")]),
            pod("b", "Running", {}, containerStatuses=[{"state": {"running": {}}}]),
            pod("c", "Pending", {}),
            pod("d", "Failed", {}, reason="Evicted"),
            {"kind": "Node", "metadata": {"name": "n"}},
        ],
        "kind": "List",
    },
    indent=1,
)  # fmt: skip
RAY = json.dumps(
    [
        {"type": "SUBMISSION", "submission_id": "raysubmit_1", "status": "SUCCEEDED", "start_time": 1714564800000,
         "end_time": 1714564860500, "metadata": {"user": "ann"}, "entrypoint_num_cpus": 1.5, "entrypoint_num_gpus": 2},
        {"type": "DRIVER", "submission_id": None, "job_id": "02", "status": "FAILED", "start_time": 1714564801000,
         "end_time": 1714564802000},
        {"submission_id": "raysubmit_3", "status": "RUNNING", "start_time": 1714564801000, "end_time": None},
        {"submission_id": "raysubmit_4", "status": "STOPPED", "start_time": None, "end_time": None},
    ]
)  # fmt: skip
SACCT_JSON = json.dumps(
    {"jobs": [
        {"account": "phys", "job_id": 7, "cluster": "c", "user": "ann", "partition": "batch", "qos": "normal",
         "array": {"job_id": 5, "task_id": {"set": True, "infinite": False, "number": 2}, "task": ""},
         "state": {"current": ["COMPLETED"], "reason": "None"}, "steps": [{}, {}],
         "time": {"elapsed": 60, "submission": 1714564800, "start": 1714564805, "end": 1714564865,
                  "limit": {"set": True, "infinite": False, "number": 90}},
         "tres": {"allocated": [{"type": "cpu", "name": "", "count": 4}, {"type": "mem", "name": "", "count": 1024},
                                {"type": "gres", "name": "gpu:a100", "count": 2}], "requested": []},
         "required": {"CPUs": 3}},
        {"job_id": 8, "state": "COMPLETED", "array": {"job_id": 0, "task_id": None}, "required": {"CPUs": 2},
         "time": {"elapsed": 1, "submission": 1714564801, "start": 1714564805, "end": 1714564806,
                  "limit": {"set": False, "infinite": True, "number": 0}}},
        {"job_id": 9, "state": {"current": "RUNNING"},
         "time": {"submission": 1714564800, "start": 1714564805, "end": 0}},
        {"job_id": 10, "state": {"current": ["CANCELLED"]},
         "time": {"elapsed": 0, "submission": 1714564800, "start": 0, "end": 1714564805}},
        {"job_id": 11, "state": {"current": ["PENDING"]}, "array": {"job_id": 11, "task": "1-5%2"},
         "time": {"submission": 1714564800}},
    ]}
)  # fmt: skip
PHILLY = json.dumps(
    [{"status": "Pass", "vc": "v", "jobid": "application_1", "submitted_time": "2017-10-09 07:00:00", "user": "u",
      "attempts": [{"start_time": "2017-10-09 07:01:00", "end_time": "2017-10-09 07:02:00",
                    "detail": [{"ip": "m1", "gpus": ["gpu0", "gpu1"]}, {"ip": "m2", "gpus": ["gpu0"]}]},
                   {"start_time": "2017-10-09 08:00:00", "end_time": "2017-10-09 08:00:30", "detail": []}]},
     {"status": "Killed", "vc": "v", "jobid": "application_2", "submitted_time": "2017-10-09 07:00:00", "attempts": []}]
)  # fmt: skip
HELIOS = """\
job_id,user,vc,jobname,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue
7,u1,vcA,j,8,32,1,COMPLETED,2020-04-01 00:00:00,2020-04-01 00:00:09,2020-04-01 01:00:09,3600,9
8,u2,vcA,j,0,32,1,COMPLETED,2020-04-01 00:00:00,2020-04-01 00:00:09,2020-04-01 01:00:09,3600,9
9,u2,vcA,j,1,32,1,CANCELLED,2020-04-01 00:00:00,None,2020-04-01 01:00:09,0,9
"""
OPENB = """\
name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time
p0,6500,1024,1,460,,LS,Running,5,90,7
p1,500,1,0,0,,BE,Pending,3,8,
"""
SACCT = """\
JobID|Submit|Start|End|Elapsed|Timelimit|AllocCPUS|State
7|2024-05-01T12:00:00|2024-05-01T12:00:05|2024-05-01T12:01:05|00:01:00|1-00:00:00|4|COMPLETED
7.batch|2024-05-01T12:00:05|2024-05-01T12:00:05|2024-05-01T12:01:05|00:01:00||4|COMPLETED
"""
TEXTS = {
    "sacct": SACCT, "sacct-json": SACCT_JSON, "pbs": PBS, "lsf": LSF, "kubectl": KUBECTL, "ray": RAY,
    "philly": PHILLY, "helios": HELIOS, "openb": OPENB,
}  # fmt: skip
#: (submit, wait, run, procs held, procs asked, request, gpus) of the jobs of each.
JOBS: dict[str, list[tuple[float | None, ...]]] = {
    "sacct": [(0, 5, 60, 4, None, 86_400, None)],
    "sacct-json": [(0, 5, 60, 4, 3, 5400, 2), (1, 4, 1, None, 2, None, None)],
    "pbs": [(0, 30, 89, 16, 16, 3600, 2), (10, 20, 150, 3, 3, 360_000, 1), (12, 170, 1, 5, 5, None, None)],
    "lsf": [(0, 5, 60, 3, 3, 600, None), (0, 90, 10, 1, 1, None, None)],
    "kubectl": [(0, 5, 60, None, 2, 600, 2)],
    "ray": [(0, 0, 60.5, None, 2, None, 2), (1, 0, 1, None, 1, None, None)],
    "philly": [(0, 60, 90, None, 3, None, 3)],
    "helios": [(0, 9, 3600, None, 8, None, 8)],
    "openb": [(5, 2, 83, None, 7, None, 0.46)],
}
LEFT = {
    "sacct": ["1 record is of a step"],
    "sacct-json": ["1 record is of a job that still runs", "2 records are of jobs that never ran"],
    "pbs": [
        "2 records are of something other",
        "1 record is of an array",
        "1 record is of a job that still runs",
    ],
    "lsf": ["1 record is of a job that never ran", "1 record is of something other"],
    "kubectl": [
        "1 record is of a job that still runs",
        "2 records are of jobs that never",
        "1 record is of something",
    ],
    "ray": ["1 record is of a job that still runs", "1 record is of a job that never ran"],
    "philly": ["1 record is of a job that never ran"],
    "helios": ["1 record is of a job without GPUs", "1 record is of a job that never ran"],
    "openb": ["1 record is of a job that never ran"],
}
BY_NAME = {known.name: known for known in FORMATS}


@pytest.mark.parametrize("suffix", [".txt", ".csv", ""])
@pytest.mark.parametrize("name", TEXTS)
def test_the_format_of_a_log_is_detected_from_its_content(tmp_path: Path, name: str, suffix: str) -> None:
    path = tmp_path / f"log{suffix}"
    path.write_text(TEXTS[name])
    trace = read_trace(path)
    columns = ("submit", "wait", "run", "procs_allocated", "procs_requested", "request", "gpus")
    found = trace.records.select(*(column for column in columns if column in trace.records.columns))
    wanted = JOBS[name] if "gpus" in trace.records.columns else [row[:-1] for row in JOBS[name]]
    assert found.rows() == wanted
    for why in LEFT[name]:
        assert sum(note.startswith(why) and note.endswith("left out") for note in trace.notes) == 1, why
    assert sum("left out" in note for note in trace.notes) == len(LEFT[name])
    assert len(to_workload(trace).jobs) == len(wanted)
    assert read_trace(path, format=name).records.equals(trace.records)


def test_users_groups_and_queues_are_in_the_records(tmp_path: Path) -> None:
    def first(name: str, *columns: str) -> tuple[object, ...]:
        (tmp_path / "log").write_text(TEXTS[name])
        return tuple(read_trace(tmp_path / "log").records.select(columns).row(0))

    assert first("pbs", "user", "group", "queue", "memory") == ("ann", "big money", "batch", 16 * 2.0**30)
    assert first("lsf", "user", "group", "queue", "state") == ("ann", "proj", "normal", "DONE")
    assert first("kubectl", "job_id", "group", "queue", "memory") == ("a", "ml", "q", 3 * 2.0**30)
    assert first("sacct-json", "job_id", "user", "group", "memory") == ("5_2", "ann", "phys", 2.0**30)


@pytest.mark.parametrize(
    ("name", "old", "new", "reason"),
    [
        ("pbs", "=01:00:00", "=long", "line 3: Resource_List.walltime is 'long', expected a duration such as"),
        ("pbs", ":ppn=8", ":ppn=x", "line 3: Resource_List.nodes, ppn is 'x', expected a whole number of 0 or more"),
        ("pbs", "04/23/2024 12:02:00;E", "04/23/2024 12:02:00 E", "line 3: the record is '04/23"),
        ("lsf", '"sleep 60"', '"sleep 60', "line 1: the record is truncated or wrongly quoted"),
        ("lsf", " 1714564805 ", " 1714564x ", "line 1: startTime is '1714564x', expected a whole number"),
        ("kubectl", "750m", "750q", "item 1: c, cpu is '750q', expected a quantity such as 500m, 2 or 1.5Gi"),
        ("kubectl", "12:00:05Z", "noon",
         "item 1: status.containerStatuses.0.state.terminated.startedAt is '2024-05-01Tnoon"),
        ("ray", "1714564860500", "1714564799999", "item 1: end_time is '1714564799999', expected a time that is not"),
        ("sacct-json", '"job_id": 7,', "", "item 1: job_id is missing"),
        ("sacct-json", '"elapsed": 60', '"elapsed": "x"', "item 1: time.elapsed is 'x', expected a valid number"),
        ("philly", "08:00:30", "07:59:59", "item 1: end_time is '2017-10-09 07:59:59', expected"),
        ("helios", ",8,32", ",many,32", "line 2: gpu_num is 'many', expected a whole number of 0 or more"),
        ("openb", "6500", "-1", "line 2: cpu_milli is '-1', expected a number of 0 or more"),
    ],
)  # fmt: skip
def test_a_bad_record_is_named_or_skipped(tmp_path: Path, name: str, old: str, new: str, reason: str) -> None:
    path = tmp_path / "log"
    path.write_text(TEXTS[name].replace(old, new, 1))
    with pytest.raises(InputError) as caught:
        read_trace(path, format=name)
    assert str(caught.value).startswith(f"{path}, {reason}")
    if len(JOBS[name]) > 1:
        assert len(read_trace(path, name, skip_bad_lines=True).bad_lines) == 1


@example(name="kubectl", cut=0, length=0, put="[" * 100_000, skip=False)
@example(name="sacct-json", cut=0, length=10**6, put='{"jobs": NaN}', skip=True)
@given(
    name=st.sampled_from(sorted(TEXTS)),
    cut=st.integers(0, 3000),
    length=st.integers(0, 40) | st.just(10**6),
    put=st.text('0123456789-:.|,;"[]{}=x \n+*_TZn\x00é', max_size=6),
    skip=st.booleans(),
)
def test_a_damaged_log_is_a_trace_or_a_one_line_error(
    tmp_path_factory: pytest.TempPathFactory,
    outcome: Callable[..., Trace | str],
    name: str,
    cut: int,
    length: int,
    put: str,
    skip: bool,
) -> None:
    text = TEXTS[name]
    at = cut % (len(text) + 1)
    path = tmp_path_factory.getbasetemp() / "fuzz"
    path.write_text(text[:at] + put + text[at + length :])
    known: Format = BY_NAME[name]
    for read in (known.read, lambda file, skip: read_trace(file, None, skip), _jobs(name)):
        found = outcome(read, path, skip)
        assert not isinstance(found, str) or "\n" not in found


def _jobs(name: str) -> Callable[[Path, bool], Trace]:
    def read(path: Path, skip: bool) -> Trace:
        trace = read_trace(path, name, skip)
        to_workload(trace)
        return trace

    return read


def test_the_real_openb_pods_are_read(real: Path) -> None:
    trace = read_trace(real / "gpu" / "openb_pod_list_default.csv")
    raw = (real / "gpu" / "openb_pod_list_default.csv").read_text().splitlines()[1:]
    assert len(trace) == sum(line.rpartition(",")[2] != "" for line in raw)
    assert len(to_workload(trace).jobs) == len(trace)


def test_a_damaged_archive_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "log.csv.gz"
    path.write_bytes(gzip.compress(SACCT.encode())[:-20])
    with pytest.raises(InputError, match=r"log.csv.gz: the gzip file is truncated, expected more bytes$"):
        read_trace(path, format="csv")
    path.write_text(SACCT)
    assert len(read_trace(path)) == len(read_trace(path, format="sacct"))
