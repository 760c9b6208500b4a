"""Every column of sacct, every fallback between columns, and each reason why a record is left out."""

import json

import pytest

from windlass.io.traces import read_trace
from windlass.io.traces.fields import UnreadableError
from windlass.io.traces.logs.record import NEVER_RAN, STILL_RUNS
from windlass.io.traces.logs.slurm_job import (
    ELSEWHERE,
    TrackableResources,
    elapsed,
    limit,
    omission_of,
    requested_memory,
    resources,
    several_clusters,
)
from windlass.model import InputError

T = 1_714_564_800
GIB = 2.0**30


def read(tmp_path, name, text):
    path = tmp_path / "log"
    path.write_text(text if isinstance(text, str) else json.dumps(text))
    return read_trace(path, name)


def row(trace, number=0):
    """A record by name, without what is not known."""
    return {name: value for name, value in trace.records.row(number, named=True).items() if value is not None}


def left(trace):
    return [note for note in trace.notes if note.endswith("left out")]


SACCT = {
    "JobID": "7",
    "JobIDRaw": "9",
    "Submit": f"{T}",
    "Start": f"{T + 5}",
    "End": f"{T + 65}",
    "ElapsedRaw": "61",
    "Elapsed": "00:01:02",
    "State": "CANCELLED by 5",
    "TimelimitRaw": "2",
    "Timelimit": "00:03:00",
    "ReqCPUS": "3",
    "AllocCPUS": "4",
    "NCPUS": "5",
    "ReqTRES": "cpu=6,mem=1G,gres/gpu=1",
    "AllocTRES": "cpu=8,mem=2G,gres/gpu=2",
    "ReqMem": "3G",
    "NNodes": "2",
    "User": "ann",
    "Account": "phys",
    "Group": "staff",
    "QOS": "high",
    "Partition": "batch",
    "Cluster": "c1",
}
BOTH = {
    "job": 9,
    "submit": 0.0,
    "run": 61.0,
    "procs_allocated": 4,
    "procs_requested": 3,
    "request": 120.0,
    "job_id": "7",
    "user": "ann",
    "group": "phys",
    "queue": "high",
    "partition": "batch",
    "cluster": "c1",
    "state": "CANCELLED",
    "gpus": 2.0,
    "memory": 2 * GIB,
    "nodes": 2,
    "wait": 5.0,
}


def sacct(tmp_path, **changed):
    cells = {**SACCT, **changed}
    cells = {name: cell for name, cell in cells.items() if cell is not None}
    return read(tmp_path, "sacct", "|".join(cells) + "\n" + "|".join(cells.values()) + "\n")


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({}, {}),
        ({"JobIDRaw": None}, {"job": 7}),
        ({"JobIDRaw": "9x"}, {"job": 7}),
        ({"JobIDRaw": "9" * 17}, {"job": 7}),
        ({"JobIDRaw": "9" * 16}, {"job": int("9" * 16)}),
        ({"JobID": None}, {"job_id": "9"}),
        ({"JobID": "7_3", "JobIDRaw": None}, {"job": 7, "job_id": "7_3"}),
        ({"JobID": "7+1"}, {"job_id": "7+1"}),
        ({"ElapsedRaw": None}, {"run": 62.0}),
        ({"ElapsedRaw": ""}, {"run": 62.0}),
        ({"ElapsedRaw": None, "Elapsed": None}, {"run": 60.0}),
        ({"Start": None}, {"wait": None}),
        ({"TimelimitRaw": None}, {"request": 180.0}),
        ({"TimelimitRaw": "UNLIMITED"}, {"request": None}),
        ({"TimelimitRaw": "Partition_Limit"}, {"request": None}),
        ({"ReqCPUS": None}, {"procs_requested": 6}),
        ({"ReqCPUS": "0"}, {"procs_requested": 6}),
        ({"AllocCPUS": None}, {"procs_allocated": 5}),
        ({"AllocCPUS": None, "NCPUS": None}, {"procs_allocated": 8}),
        ({"AllocTRES": None}, {"gpus": 1.0, "memory": GIB}),
        ({"AllocTRES": "", "ReqTRES": ""}, {"gpus": None, "memory": 3 * GIB}),
        ({"AllocTRES": "", "ReqTRES": "", "ReqMem": "3Gc"}, {"gpus": None, "memory": 9 * GIB}),
        ({"AllocTRES": "", "ReqTRES": "", "ReqMem": "3Gc", "ReqCPUS": None}, {"memory": 12 * GIB, "gpus": None,
                                                                            "procs_requested": None}),
        ({"AllocTRES": "", "ReqTRES": "", "ReqMem": "3Gn"}, {"gpus": None, "memory": 6 * GIB}),
        ({"AllocTRES": "gres/gpu=0"}, {"gpus": 0.0, "memory": GIB}),
        ({"Account": None}, {"group": "staff"}),
        ({"State": ""}, {"state": None}),
        ({"User": "(null)", "QOS": "None", "Partition": "Unknown", "Cluster": " "},
         {"user": None, "queue": None, "partition": None, "cluster": None}),
        ({"NNodes": None}, {"nodes": None}),
    ],
)  # fmt: skip
def test_each_column_of_sacct_is_read(tmp_path, changed, found):
    wanted = {name: value for name, value in {**BOTH, **found}.items() if value is not None}
    assert row(sacct(tmp_path, **changed)) == wanted


def test_sacct_jobs_of_length_zero_and_early_starts_are_clamped(tmp_path):
    assert (
        row(sacct(tmp_path, End=f"{T + 5}", ElapsedRaw=None, Elapsed=None, State="COMPLETED"))["run"] == 0.0
    )
    # A clock that is behind puts no start ahead of the submission.
    assert row(sacct(tmp_path, Start=f"{T - 1}"))["wait"] == 0.0


def test_required_columns_of_sacct(tmp_path):
    for gone, message in (
        ({"JobID": None, "JobIDRaw": None}, "no column 'JobID' (or JobIDRaw)"),
        ({"Submit": None}, "no column 'Submit', found"),
        ({"ElapsedRaw": None, "Elapsed": None, "End": None}, "no column 'Elapsed' (or ElapsedRaw, End)"),
        ({"ElapsedRaw": None, "Elapsed": None, "Start": None}, "no column 'Start' (or ElapsedRaw, Elapsed)"),
        (
            dict.fromkeys(("AllocCPUS", "NCPUS", "ReqCPUS", "AllocTRES", "ReqTRES")),
            "no column 'AllocCPUS' (or NCPUS, ReqCPUS, AllocTRES, ReqTRES)",
        ),
    ):
        with pytest.raises(InputError) as caught:
            sacct(tmp_path, **gone)
        assert message in str(caught.value)


def test_a_single_free_text_column_may_contain_the_separator(tmp_path):
    text = "JobID|JobName|Submit|Elapsed|NCPUS\n7|a|b|c|100|60|2\n"
    assert row(read(tmp_path, "sacct", text))["run"] == 60.0
    text = "JobID|JobName|Comment|Submit|Elapsed|NCPUS\n7|a|b|c|100|60|2\n"
    with pytest.raises(InputError, match="7 fields, expected 6"):
        read(tmp_path, "sacct", text)
    with pytest.raises(InputError, match=r"line 2: 1 field, expected 6"):
        read(tmp_path, "sacct", text.split("\n")[0] + "\n7\n")


def test_a_note_reports_times_without_a_zone(tmp_path):
    note = "times have no time zone and are used unchanged, also across daylight saving changes"
    assert note in sacct(tmp_path, Submit="2024-05-01T11:00:00").notes
    for zoned in ("2024-05-01T11:00:00Z", "2024-05-01T13:00:00+02:00", "2024-05-01T13:00:00+0200", f"{T}"):
        assert note not in sacct(tmp_path, Submit=zoned).notes


@pytest.mark.parametrize(
    ("state", "start", "end", "run", "cpus", "why"),
    [
        ("COMPLETED", 1.0, 2.0, 1.0, 1, None),
        ("COMPLETED", None, 2.0, 1.0, 1, NEVER_RAN),
        ("COMPLETED", 1.0, None, None, 1, STILL_RUNS),
        ("COMPLETED", 1.0, None, 5.0, 1, None),
        ("COMPLETED", 1.0, 1.0, 0.0, 0, None),
        ("", 1.0, 2.0, 1.0, 1, None),
        ("REVOKED", 1.0, 2.0, 1.0, 1, ELSEWHERE),
        ("pending", 1.0, 2.0, 1.0, 1, NEVER_RAN),
        ("RUNNING", 1.0, 2.0, 1.0, 1, STILL_RUNS),
        ("CANCELLED+", 1.0, 2.0, 0.0, 4, NEVER_RAN),
        ("CANCELLED by 7", 1.0, 2.0, 1.0, 4, None),
        ("FAILED", 1.0, 1.0, 0.0, 0, NEVER_RAN),
        ("FAILED", 1.0, 1.0, 0.0, 4, None),
        ("FAILED", 1.0, 1.0, None, None, NEVER_RAN),
        ("TIMEOUT", 1.0, 1.0, 0.0, 0, None),
        *(
            (state, 1.0, 2.0, 0.0, 0, NEVER_RAN)
            for state in ("DEADLINE", "BOOT_FAIL", "NODE_FAIL", "REQUEUED")
        ),
    ],
)
def test_omissions_by_slurm_state(state, start, end, run, cpus, why):
    assert omission_of(state, start, end, run, cpus) is why


def test_slurm_resources_and_durations_are_parsed():
    assert resources("f", None) == TrackableResources(None, None, None)
    assert resources("f", "cpu=2,gres/gpu=5,gres/gpu:a=1,mem=3M") == TrackableResources(2, 5.0, 3 * 2.0**20)
    assert resources("f", "gres/gpu:a=1,gres/gpu:b=2").gpus == 3.0
    assert resources("f", "gres/gpu=0,gres/gpu:a=1").gpus == 0.0
    assert resources("f", "billing=9,gres/nic=4,").gpus is None
    with pytest.raises(UnreadableError, match="f is 'cpu', expected resources"):
        resources("f", "cpu")
    assert elapsed("f", "03:04.5") == 184.5
    assert elapsed("f", "01:02:03") == 3723.0
    assert (limit("f", None), limit("f", "infinite"), limit("f", "02:00")) == (None, None, 120.0)
    assert limit("f", "3") == 180.0
    assert requested_memory("f", None, 2, 3) is None
    assert [requested_memory("f", text, 2, 3) for text in ("4M", "4Mc", "4Mn", "0")] == [
        *(4 * 2.0**20, 8 * 2.0**20, 12 * 2.0**20, None)
    ]
    assert requested_memory("f", "4Mn", 2, None) is None
    assert several_clusters({"b", "a", "c"}).startswith(
        "the log has jobs of 3 clusters; where \"cluster = 'a'\""
    )
