"""Every field of sacct as JSON, and each reason why a record is left out."""

import pytest

from tests.traces.test_log_columns import GIB, T, left, read, row
from windlass.model import InputError


def as_json(**changed):
    job = {
        "job_id": 7,
        "time": {"elapsed": 60, "submission": T, "start": T + 5, "end": T + 65, "limit": 90},
        "state": {"current": ["COMPLETED"]},
        "tres": {
            "allocated": [
                {"type": "cpu", "count": 4},
                {"type": "mem", "count": 1024},
                {"type": "gres", "name": "gpu", "count": 2},
            ],
            "requested": [{"type": "cpu", "count": 3}],
        },
        "required": {"CPUs": 5},
        "allocation_nodes": 2,
        **{"user": "ann", "account": "phys", "qos": "high", "partition": "batch", "cluster": "c1"},
    }
    return {**job, **changed}


JSON = {
    **{"job": 7, "submit": 0.0, "run": 60.0, "procs_allocated": 4, "procs_requested": 3, "request": 5400.0},
    **{"job_id": "7", "user": "ann", "group": "phys", "queue": "high", "partition": "batch", "cluster": "c1"},
    **{"state": "COMPLETED", "gpus": 2.0, "memory": GIB, "nodes": 2, "wait": 5.0},
}


def entries(*found):
    return [{"type": kind, "name": name, "count": count} for kind, name, count in found]


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({}, {}),
        ({"state": "COMPLETED"}, {}),
        ({"state": {"current": "COMPLETED"}}, {}),
        ({"state": {"current": []}}, {"state": None}),
        ({"tres": {"allocated": entries(("cpu", "", 4))}}, {"procs_requested": 5, "gpus": None, "memory": None}),
        (
            {"tres": {"requested": entries(("gres", "gpu", 1), ("mem", "", 512))}},
            {"procs_allocated": None, "procs_requested": 5, "gpus": 1.0, "memory": GIB / 2},
        ),
        (
            {"tres": {"allocated": entries(("gres", "gpu:a", 1), ("gres", "gpu:b", 2), ("node", "", 9))}},
            {"procs_allocated": None, "procs_requested": 5, "gpus": 3.0, "memory": None},
        ),
        (
            # Energy that is not known.
            {"tres": {"allocated": entries(("cpu", "", 4), ("energy", "", -2), ("mem", "", -2))}},
            {"procs_requested": 5, "gpus": None, "memory": None},
        ),
        (
            {"tres": {"allocated": entries(("gres", "gpu:a", 1), ("gres", "gpu", 7), ("gres", "nic", 5))}},
            {"procs_allocated": None, "procs_requested": 5, "gpus": 7.0, "memory": None},
        ),
        (
            {"tres": {"allocated": entries(("cpu", "", {"set": False, "number": 4}), ("cpu", "", None))}},
            {"procs_allocated": None, "procs_requested": 5, "gpus": None, "memory": None},
        ),
        ({"required": {"CPUs": None}, "tres": {}}, {
            **dict.fromkeys(("procs_allocated", "procs_requested", "gpus", "memory"))
        }),
        ({"array": {"job_id": 5, "task_id": {"number": 2}}}, {"job_id": "5_2"}),
        ({"array": {"job_id": 5, "task_id": 0}}, {"job_id": "5_0"}),
        ({"array": {"job_id": 5, "task_id": {"set": False, "number": 2}}}, {}),
        ({"array": {"job_id": 0, "task_id": 2}}, {}),
        ({"array": {"job_id": 5, "task": "1-2"}}, {}),
        ({"allocation_nodes": None, "user": "", "account": "", "qos": "", "partition": "", "cluster": ""},
         dict.fromkeys(("nodes", "user", "group", "queue", "partition", "cluster"))),
    ],
)  # fmt: skip
def test_each_field_of_sacct_json_is_read(tmp_path, changed, found):
    wanted = {name: value for name, value in {**JSON, **found}.items() if value is not None}
    assert row(read(tmp_path, "sacct-json", {"jobs": [as_json(**changed)]})) == wanted


def test_time_limits_of_sacct_json_are_parsed(tmp_path):
    for limit, request in (
        ({"set": True, "infinite": True, "number": 9}, None),
        ({"set": False, "number": 9}, None),
        ({"number": 9}, 540.0),
        (None, None),
        (0, 0.0),
    ):
        job = as_json(time={**as_json()["time"], "limit": limit})
        assert row(read(tmp_path, "sacct-json", [job])).get("request") == request


def test_unfinished_jobs_of_sacct_json_are_dropped(tmp_path):
    times = as_json()["time"]
    jobs = [
        as_json(),
        as_json(array={"job_id": 5, "task": "[1-3]"}),
        as_json(array={"job_id": 5, "task": "1-3"}, time={**times, "start": 0}),
        as_json(time={**times, "end": 0}),
        as_json(time={**times, "start": 0}),
        as_json(state="RUNNING"),
    ]
    trace = read(tmp_path, "sacct-json", {"jobs": jobs})
    assert len(trace) == 1
    assert left(trace) == [
        "3 records are of jobs that never ran and are left out",
        "2 records are of jobs that still run and are left out",
    ]
    late = as_json(time={**times, "end": T + 4})
    with pytest.raises(
        InputError, match=f"time.end is '{T + 4}', expected a time that is not before time.start"
    ):
        read(tmp_path, "sacct-json", {"jobs": [late]})
    assert len(read(tmp_path, "sacct-json", {"jobs": [as_json(time={**times, "end": T + 5})]})) == 1
    two = read(tmp_path, "sacct-json", {"jobs": [as_json(), as_json(job_id=8, cluster="c2")]})
    assert any(note.startswith("the log has jobs of 2 clusters") for note in two.notes)
    assert not any("clusters" in note for note in trace.notes)
