"""Slurm's accounting as sacct prints it: each line below is an oddity that some site's log has."""

from __future__ import annotations

from pathlib import Path

import pytest

from windlass.io.traces import Trace, read_trace, to_workload
from windlass.io.traces.logs.sacct import read_sacct
from windlass.model import InputError

NAMES = (
    "State|JobID|JobIDRaw|JobName|Cluster|Partition|User|Account|QOS|Submit|Start|End|Elapsed|Timelimit|ReqCPUS"
    "|AllocCPUS|NNodes|ReqMem|ReqTRES|AllocTRES"
)
N = "2024-05-01T12"
#: Lines as sacct prints them, each with what comes of it: (job, submit, wait, run, request, procs held, procs asked)
#: in s from 12:00:00, or a word for why it is left out.
LINES: list[tuple[str, object]] = [
    (f"COMPLETED|1|1|a|c1|batch|ann|phys|normal|{N}:00:00|{N}:00:10|{N}:01:10|00:01:00|01:00:00|4|4|1|4G||",
     (1, 0, 10, 60, 3600, 4, 4)),
    (f"COMPLETED|1.batch|1.batch|batch|c1|||phys||{N}:00:10|{N}:00:10|{N}:01:10|00:01:00||4|4|1|||cpu=4", "step"),
    (f"COMPLETED|1.extern|1.extern|extern|c1|||phys||{N}:00:10|{N}:00:10|{N}:01:10|00:01:00||4|4|1|||", "step"),
    (f"COMPLETED|1.0|1.0|hostname|c1|||phys||{N}:00:10|{N}:00:10|{N}:01:10|00:01:00||4|4|1|||", "step"),
    (f"CANCELLED by 1000|2|2|b|c1|batch|bob|bio|normal|{N}:00:01|{N}:00:02|{N}:00:32|00:00:30|1-00:00:00|2|2|1|||",
     (2, 1, 1, 30, 86400, 2, 2)),
    (f"CANCELLED by 1000|3|3|b|c1|batch|bob|bio|normal|{N}:00:01|None|{N}:00:32|00:00:00|01:00:00|2|0|1|||", "never"),
    (f"CANCELLED by 0|4|4|b|c1|batch|bob|bio|normal|{N}:00:01|Unknown|Unknown|00:00:00|01:00:00|2|0|1|||", "never"),
    (f"CANCELLED|5|5|b|c1|batch|bob|bio||{N}:00:01|{N}:00:09|{N}:00:09|00:00:00|01:00:00|2|2|1|||", "never"),
    (f"PENDING|6|6|b|c1|batch|bob|bio|normal|{N}:00:01|Unknown|Unknown|00:00:00|01:00:00|2|0|1|||", "never"),
    (f"PENDING|7_[1-5%2]|7|b|c1|batch|bob|bio|normal|{N}:00:01|Unknown|Unknown|00:00:00|01:00:00|2|0|1|||", "never"),
    (f"PENDING|7_[9,12-...]|7|b|c1|batch|bob|bio|normal|{N}:00:01|Unknown|Unknown|00:00:00|01:00:00|2|0|1|||", "never"),
    (f"COMPLETED|7_4|71|b|c1|batch|bob|bio|normal|{N}:00:02|{N}:00:02|{N}:00:03|00:00:01|UNLIMITED|1|1|1|||",
     (71, 2, 0, 1, None, 1, 1)),
    (f"FAILED|7_5|72|b|c1|batch|bob|bio|normal|{N}:00:02|{N}:00:04|{N}:00:05|00:00:01|Partition_Limit|1|1|1|||",
     (72, 2, 2, 1, None, 1, 1)),
    (f"COMPLETED|7_5.batch|72.batch|b|c1|||bio||{N}:00:04|{N}:00:04|{N}:00:05|00:00:01||1|1|1|||", "step"),
    (f"RUNNING|8|8|b|c1|batch|eve|bio|normal|{N}:00:03|{N}:00:04|Unknown|00:10:00|01:00:00|1|1|1|||", "runs"),
    (f"SUSPENDED|9|9|b|c1|batch|eve|bio|normal|{N}:00:03|{N}:00:04|Unknown|00:10:00|01:00:00|1|1|1|||", "runs"),
    (f"COMPLETING|10|10|b|c1|batch|eve|bio|normal|{N}:00:03|{N}:00:04|Unknown|00:10:00|1:00|1|1|1|||", "runs"),
    (f"TIMEOUT|11|11|b|c1|batch|eve|bio|normal|{N}:00:04|{N}:00:04|{N}:01:19|01:15|01:00|1|1|1|||",
     (11, 4, 0, 75, 60, 1, 1)),
    (f"OUT_OF_MEMORY|12|12|b|c1|batch|eve|bio|normal|{N}:00:05|{N}:00:05|{N}:00:06|00:00:01.250|90|1|2|1|||",
     (12, 5, 0, 1.25, 5400, 2, 1)),
    (f"NODE_FAIL|13|13|b|c1|batch|eve|bio|normal|{N}:00:06|{N}:00:07|2024-05-03T12:00:07|2-00:00:00|3-00:00:00|8|8|2|||",
     (13, 6, 1, 172800, 259200, 8, 8)),
    (f"NODE_FAIL|14|14|b|c1|batch|eve|bio|normal|{N}:00:06|{N}:00:07|{N}:00:07|00:00:00|01:00:00|8|0|2|||", "never"),
    (f"PREEMPTED|15|15|b|c1|batch|eve|bio|low|{N}:00:06|{N}:00:07|{N}:00:17|00:00:10|01:00:00|8|8|2|||",
     (15, 6, 1, 10, 3600, 8, 8)),
    (f"REQUEUED|16|16|b|c1|batch|eve|bio|low|{N}:00:06|{N}:00:07|{N}:00:17|00:00:10|01:00:00|8|8|2|||",
     (16, 6, 1, 10, 3600, 8, 8)),
    (f"BOOT_FAIL|17|17|b|c1|batch|eve|bio|low|{N}:00:06|{N}:00:07|{N}:00:17|00:00:00|01:00:00|8|0|2|||", "never"),
    (f"DEADLINE|18|18|b|c1|batch|eve|bio|low|{N}:00:06|None|{N}:00:17|00:00:00|01:00:00|8|0|2|||", "never"),
    (f"REVOKED|19|19|b|c1|batch|eve|bio|low|{N}:00:06|Unknown|Unknown|00:00:00|01:00:00|8|0|2|||", "elsewhere"),
    (f"COMPLETED|20|20|a|b|c|c1|batch|eve|bio|low|{N}:00:06|{N}:00:06|{N}:00:08|00:00:02|00:05:00|1|1|1|||",
     (20, 6, 0, 2, 300, 1, 1)),
    (f"COMPLETED|21+0|21|h|c1|batch|eve|bio|low|{N}:00:07|{N}:00:08|{N}:00:10|00:00:02|00:05:00|2|2|1|||",
     (21, 7, 1, 2, 300, 2, 2)),
    (f"COMPLETED|21+1|22|h|c1|batch|eve|bio|low|{N}:00:07|{N}:00:08|{N}:00:10|00:00:02|00:05:00|3|3|1|||",
     (22, 7, 1, 2, 300, 3, 3)),
    (f"COMPLETED|21+1.0|22.0|h|c1|||bio||{N}:00:08|{N}:00:08|{N}:00:10|00:00:02||3|3|1|||", "step"),
    (f"COMPLETED|23|23|zero|c1|batch|eve|bio|low|{N}:00:08|{N}:00:09|{N}:00:09|00:00:00|00:05:00|3|3|1|||",
     (23, 8, 1, 0, 300, 3, 3)),
    (f"PENDING|26|26|wide|c1|batch|eve|bio|low|{N}:00:08|Unknown|Unknown|00:00:00|00:03:00|20|20|1|||cpu=20", "never"),
    (f"CONFIGURING|27|27|b|c1|batch|eve|bio|low|{N}:00:08|Unknown|Unknown|00:00:00|00:03:00|2|0|1|||", "never"),
    (f"REQUEUE_HOLD|28|28|b|c1|batch|eve|bio|low|{N}:00:08|Unknown|Unknown|00:00:00|00:03:00|2|0|1|||", "never"),
    (f"SPECIAL_EXIT|29|29|b|c1|batch|eve|bio|low|{N}:00:08|Unknown|Unknown|00:00:00|00:03:00|2|0|1|||", "never"),
    (f"RESV_DEL_HOLD|30|30|b|c1|batch|eve|bio|low|{N}:00:08|Unknown|Unknown|00:00:00|00:03:00|2|0|1|||", "never"),
    (f"RESIZING|31|31|b|c1|batch|eve|bio|low|{N}:00:08|{N}:00:09|Unknown|00:10:00|00:30:00|2|2|1|||", "runs"),
    (f"SIGNALING|32|32|b|c1|batch|eve|bio|low|{N}:00:08|{N}:00:09|Unknown|00:10:00|00:30:00|2|2|1|||", "runs"),
    (f"STAGE_OUT|33|33|b|c1|batch|eve|bio|low|{N}:00:08|{N}:00:09|Unknown|00:10:00|00:30:00|2|2|1|||", "runs"),
    (f"STOPPED|34|34|b|c1|batch|eve|bio|low|{N}:00:08|{N}:00:09|Unknown|00:10:00|00:30:00|2|2|1|||", "runs"),
    (f"CANCELLED+|35|35|b|c1|batch|eve|bio|low|{N}:00:08|{N}:00:09|{N}:00:19|00:00:10|INFINITE|2|2|1|||",
     (35, 8, 1, 10, None, 2, 2)),
    (f"COMPLETED|24|24|g|c2|gpu|zoë|ml|low|{N}:00:09|{N}:00:09|{N}:00:10|00:00:01|00:05:00|16||1|4Gn"
     "|cpu=16,gres/gpu=2,mem=64G|billing=16,cpu=16,gres/gpu:a100=2,gres/gpu=2,mem=64G", (24, 9, 0, 1, 300, 16, 16)),
    (f"COMPLETED|25|25|g|c2|gpu|zoë|ml|low|{N}:00:10|{N}:00:10|{N}:00:11|00:00:01|00:05:00||16|1|2Gc"
     "||billing=16,gres/gpu:a100=1,gres/gpu:v100=2", (25, 10, 0, 1, 300, 16, None)),
]  # fmt: skip


def write(folder: Path, *lines: str, names: str = NAMES, end: str = "\n") -> Path:
    path = folder / "sacct.txt"
    path.write_text(end.join([names, *lines]) + end, encoding="utf-8")
    return path


def rows(trace: Trace) -> list[tuple[object, ...]]:
    return trace.records.select(
        "job", "submit", "wait", "run", "request", "procs_allocated", "procs_requested"
    ).rows()


@pytest.fixture
def trace(tmp_path: Path) -> Trace:
    return read_trace(write(tmp_path, *(line for line, _ in LINES)))


def test_each_job_of_30_unusual_lines_is_read(trace: Trace) -> None:
    assert len(LINES) >= 30
    assert rows(trace) == [tuple(kept) for _, kept in LINES if isinstance(kept, tuple)]


def test_dropped_records_are_counted(trace: Trace) -> None:
    why = [kept for _, kept in LINES if isinstance(kept, str)]
    assert f"{why.count('step')} records are of steps of jobs and are left out" in trace.notes
    assert f"{why.count('never')} records are of jobs that never ran and are left out" in trace.notes
    assert f"{why.count('runs')} records are of jobs that still run and are left out" in trace.notes
    assert "1 record is of a job that another cluster started and is left out" in trace.notes
    assert "2 jobs have no time limit of their own (UNLIMITED or Partition_Limit)" in trace.notes
    assert "times count from 2024-05-01T12:00:00, the first submission" in trace.notes
    assert sum(note.startswith("the log has jobs of 2 clusters") for note in trace.notes) == 1
    workload = to_workload(trace)
    assert len(workload.jobs) == sum(isinstance(kept, tuple) for _, kept in LINES)


def test_users_accounts_partitions_gpus_and_memory_are_read(trace: Trace) -> None:
    last = trace.records.tail(2).select(
        "user", "group", "queue", "partition", "cluster", "gpus", "memory", "job_id"
    )
    assert last.rows() == [
        ("zoë", "ml", "low", "gpu", "c2", 2.0, 64 * 2.0**30, "24"),
        ("zoë", "ml", "low", "gpu", "c2", 3.0, 32 * 2.0**30, "25"),
    ]
    first = trace.records.row(0, named=True)
    assert (first["memory"], first["gpus"], first["state"]) == (4 * 2.0**30, None, "COMPLETED")
    workload = to_workload(trace, where="cluster = 'c1' AND user != 'eve'")
    assert workload.users is not None
    assert workload.users.tolist() == [1, 2, 2, 2]


def test_processors_are_the_peak_in_use(tmp_path: Path) -> None:
    names = "JobID|Submit|Start|End|AllocCPUS|ReqCPUS"
    day = "2024-05-01T12:00:"
    lines = (
        f"1|{day}00|{day}00|{day}10|4|1",
        f"2|{day}00|{day}05|{day}15|3|1",
        f"3|{day}00|{day}10|{day}20|4|6",
    )
    trace = read_sacct(write(tmp_path, *lines, names=names))
    assert trace.processors == 7
    assert to_workload(trace, 9).processors == 9


@pytest.mark.parametrize("end", ["\n", "\r\n", "|\n"])
def test_columns_in_any_order_and_any_line_end_are_read(tmp_path: Path, end: str) -> None:
    names = "User|ElapsedRaw|TimelimitRaw|NCPUS|Start|Submit|JobIDRaw"
    lines = (
        "ann|60|30|4|2024-05-01T10:00:05Z|2024-05-01T12:00:00+02:00|7",
        "|60|UNLIMITED|4|1714557605|1714557600|8",
    )
    trace = read_trace(write(tmp_path, *lines, names=names, end=end))
    assert trace.records.select("job", "submit", "wait", "run", "request", "user").rows() == [
        (7, 0.0, 5.0, 60.0, 1800.0, "ann"),
        (8, 0.0, 5.0, 60.0, None, None),
    ]
    assert not any("zone" in note for note in trace.notes)


GOOD = f"COMPLETED|1|{N}:00:00|{N}:00:10|{N}:01:10|00:01:00|01:00:00|4|cpu=4"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (f"{N}:01:10", "soon", "End is 'soon', expected a time such as 2024-05-01T12:00:00"),
        (
            f"{N}:01:10",
            f"{N}:00:09",
            f"End is '{N}:00:09', expected a time that is not before Start",
        ),
        (f"{N}:00:00", "Unknown", "Submit is '', expected a time such as 2024-05-01T12:00:00"),
        ("00:01:00", "1:2:3:4", "Elapsed is '1:2:3:4', expected a duration such as 01:02:03 or 1-02:03:04"),
        (
            "00:01:00",
            "-00:01:00",
            "Elapsed is '-00:01:00', expected a duration such as 01:02:03 or 1-02:03:04",
        ),
        ("01:00:00", "ages", "Timelimit is 'ages', expected a duration such as 01:02:03 or 1-02:03:04"),
        ("|4|", "|4.5|", "AllocCPUS is '4.5', expected a whole number of 0 or more"),
        ("cpu=4", "cpu=many", "AllocTRES is 'many', expected a whole number of 0 or more"),
        ("cpu=4", "cpu", "AllocTRES is 'cpu', expected resources such as cpu=16,mem=64G"),
        ("|1|", "|one|", "JobID is 'one', expected a job such as 123, 123_4 or 123.batch"),
        ("|cpu=4", "", "8 fields, expected 9"),
        ("cpu=4", "cpu=4|a", "10 fields, expected 9"),
    ],
)
def test_a_bad_line_is_named_or_skipped_and_listed(tmp_path: Path, old: str, new: str, reason: str) -> None:
    names = "State|JobID|Submit|Start|End|Elapsed|Timelimit|AllocCPUS|AllocTRES"
    path = write(tmp_path, GOOD, "", GOOD.replace(old, new, 1), names=names)
    with pytest.raises(InputError) as caught:
        read_trace(path)
    assert str(caught.value) == f"{path}, line 4: {reason}"
    trace = read_trace(path, skip_bad_lines=True)
    assert [(bad.line, bad.reason) for bad in trace.bad_lines] == [(4, reason)]
    assert trace.notes[0] == "1 bad line is left out: line 4"
    assert len(trace) == 1


@pytest.mark.parametrize("lacking", ["JobID", "Submit", "AllocCPUS"])
def test_a_missing_column_is_named(tmp_path: Path, lacking: str) -> None:
    names = "JobID|Submit|Elapsed|AllocCPUS".replace(lacking, "Other")
    with pytest.raises(InputError, match=rf"sacct\.txt: no column '{lacking}'.*, found '"):
        read_trace(write(tmp_path, names=names), format="sacct")


def test_a_log_without_jobs_that_ran_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path, *(line for line, kept in LINES if kept == "never"))
    with pytest.raises(InputError, match=r"no jobs that ran: \d+ records are of jobs that never ran"):
        read_trace(path)


@pytest.mark.parametrize("state", ["CANCELLED by 1000", "NODE_FAIL", "FAILED"])
def test_a_job_that_ended_early_ran_from_its_start_to_its_end(tmp_path: Path, state: str) -> None:
    names = "JobID|State|Submit|Start|End|ReqCPUS"
    lines = (
        f"1|{state}|{N}:00:00|{N}:00:10|{N}:01:10|4",
        f"2|{state}|{N}:00:00|{N}:00:10|{N}:00:10|4",
        f"3|COMPLETED|{N}:00:00|{N}:00:10|{N}:00:11|4",
    )
    trace = read_sacct(write(tmp_path, *lines, names=names))
    assert trace.records.select("job", "run").rows() == [(1, 60.0), (3, 1.0)]
    assert "1 record is of a job that never ran and is left out" in trace.notes
