"""Every field of logs of Kubernetes, Ray and Philly, and why a record is left out."""

import pytest

from tests.traces.test_log_columns import T, left, read, row
from windlass.io.traces.logs.json_items import read_items
from windlass.model import InputError


def at(second, minute=0):
    return f"2024-05-01T12:{minute:02}:{second:02}Z"


def state(start=None, finish=None):
    return {"state": {"terminated": {"startedAt": start, "finishedAt": finish}}}


def pod(**changed):
    found = {
        "metadata": {"name": "a", "namespace": "ml", "creationTimestamp": at(0)},
        "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]},
        "status": {"phase": "Succeeded", "containerStatuses": [state(at(5), at(5, 1))]},
    }
    for path, value in changed.items():
        place, _, name = path.partition("_")
        found[place] = {**found[place], name: value}
    return found


def demand(*containers, init=()):
    return {
        "spec_containers": [{"resources": each} for each in containers],
        "spec_initContainers": [{"resources": each} for each in init],
    }


POD = {
    **{"submit": 0.0, "run": 60.0, "procs_requested": 1, "job_id": "a", "group": "ml", "state": "Succeeded"},
    "wait": 5.0,
}


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({}, {}),
        ({"status_phase": "Failed"}, {"state": "Failed"}),
        ({"spec_activeDeadlineSeconds": 90}, {"request": 90.0}),
        ({"metadata_namespace": None}, {"group": None}),
        ({"metadata_labels": {"user": "ann", "owner": "bob", "queue": "q"}}, {"user": "ann", "queue": "q"}),
        ({"metadata_annotations": {"owner": "bob", "app.kubernetes.io/created-by": "x"}}, {"user": "bob"}),
        ({"metadata_annotations": {"app.kubernetes.io/created-by": "x"}}, {"user": "x"}),
        ({"metadata_annotations": {"user": "eve"}, "metadata_labels": {"user": "ann"}}, {"user": "ann"}),
        ({"metadata_labels": {"kueue.x-k8s.io/queue-name": "k", "volcano.sh/queue-name": "v", "queue": "q"}},
         {"queue": "k"}),
        ({"metadata_labels": {"volcano.sh/queue-name": "v", "queue": "q"}}, {"queue": "v"}),
        (demand({"requests": {"cpu": "1001m"}}), {"procs_requested": 2}),
        (demand({}), {}),
        (demand({"limits": {"cpu": "3", "memory": "1Ki"}, "requests": {"cpu": "2"}}),
         {"procs_requested": 2, "memory": 1024.0}),
        (demand({"requests": {"cpu": "2", "memory": "3M"}}, {"requests": {"cpu": "1", "nvidia.com/gpu": "2"}}),
         {"procs_requested": 3, "memory": 3e6, "gpus": 2.0}),
        (demand({"requests": {"cpu": "1", "memory": "1G"}}, {"requests": {"cpu": "1"}},
                init=({"requests": {"cpu": "9"}}, {"requests": {"memory": "2G", "amd.com/gpu": "1"}})),
         {"procs_requested": 9, "memory": 2e9, "gpus": 1.0}),
        ({"status_containerStatuses": [state(at(9), at(40)), {"state": {}}, state(at(5), at(30))]}, {"run": 35.0}),
        ({"status_initContainerStatuses": [state(at(3), at(4))]}, {"run": 62.0, "wait": 3.0}),
        ({"status_containerStatuses": [state(at(5), at(5))]}, {"run": 0.0}),
    ],
)  # fmt: skip
def test_each_field_of_a_pod_is_read(tmp_path, changed, found):
    wanted = {name: value for name, value in {**POD, **found}.items() if value is not None}
    trace = read(tmp_path, "kubectl", {"items": [pod(**changed)]})
    assert row(trace) == wanted
    assert trace.notes[-1] == "cores of pods are rounded up to whole processors, at least 1"


def test_unfinished_pods_are_dropped(tmp_path):
    items = [
        pod(),
        *(pod(status_phase=phase) for phase in ("Running", "Unknown", "Pending")),
        pod(status_containerStatuses=[]),
        pod(status_containerStatuses=[state(at(5), None)]),
        pod(status_containerStatuses=[state(None, at(5))]),
        {"kind": "Service"},
    ]
    trace = read(tmp_path, "kubectl", items)
    assert len(trace) == 1
    assert left(trace) == [
        "2 records are of jobs that still run and are left out",
        "4 records are of jobs that never ran and are left out",
        "1 record is of something other than a pod and is left out",
    ]
    with pytest.raises(InputError, match="finishedAt is '2024-05-01T12:00:04"):
        read(tmp_path, "kubectl", [pod(status_containerStatuses=[state(at(5), at(4))])])


@pytest.mark.parametrize(
    ("text", "amount"),
    [("5n", 5e-9), ("5u", 5e-6), ("5m", 5e-3), ("5", 5.0), ("5k", 5e3), ("5M", 5e6), ("5G", 5e9), ("5T", 5e12),
     ("5P", 5e15), ("5E", 5e18), ("5Ki", 5 * 2**10), ("5Mi", 5 * 2**20), ("5Gi", 5 * 2**30), ("5Ti", 5 * 2**40),
     ("5Pi", 5 * 2**50), ("5Ei", 5 * 2**60), ("1e3", 1e3), ("0.5", 0.5)],
)  # fmt: skip
def test_kubernetes_quantities_are_parsed(tmp_path, text, amount):
    trace = read(tmp_path, "kubectl", [pod(**demand({"requests": {"memory": text}}))])
    assert row(trace)["memory"] == pytest.approx(amount)


@pytest.mark.parametrize("text", ["-1", "5mi", "5X", "", "1e30", "many"])
def test_invalid_quantities_are_rejected(tmp_path, text):
    with pytest.raises(InputError, match=r"container, memory is .*, expected a quantity such as 500m"):
        read(tmp_path, "kubectl", [pod(**demand({"requests": {"memory": text}}))])


def ray(**changed):
    return {
        **{"submission_id": "s", "job_id": "j", "status": "FAILED", "start_time": T * 1000},
        **{"end_time": T * 1000 + 2500, "entrypoint_num_cpus": 2.5, "entrypoint_num_gpus": 0.5},
        **{"entrypoint_memory": 77, "metadata": {"user": "ann"}, **changed},
    }


RAY = {
    **{
        "submit": 0.0,
        "run": 2.5,
        "procs_requested": 3,
        "job_id": "s",
        "user": "ann",
        "state": "FAILED",
        "gpus": 0.5,
    },
    **{"memory": 77.0, "wait": 0.0},
}


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({}, {}),
        ({"submission_id": None}, {"job_id": "j"}),
        ({"metadata": None}, {"user": None}),
        ({"entrypoint_num_cpus": None}, {"procs_requested": 1}),
        ({"entrypoint_num_cpus": 0}, {"procs_requested": 1}),
        ({"entrypoint_num_cpus": 2}, {"procs_requested": 2}),
        ({"entrypoint_num_gpus": None, "entrypoint_memory": None}, {"gpus": None, "memory": None}),
        ({"end_time": T * 1000}, {"run": 0.0}),
    ],
)
def test_each_field_of_a_ray_job_is_read(tmp_path, changed, found):
    wanted = {name: value for name, value in {**RAY, **found}.items() if value is not None}
    trace = read(tmp_path, "ray", {"result": [ray(**changed)]})
    assert row(trace) == wanted
    assert trace.notes[-1].startswith("submissions are the starts of jobs, as Ray has no job queue")


def test_unfinished_ray_jobs_are_dropped(tmp_path):
    jobs = [
        *(ray(), ray(status="PENDING"), ray(status="RUNNING"), ray(start_time=None)),
        *(ray(end_time=None), ray(start_time=0)),
    ]
    trace = read(tmp_path, "ray", {"jobs": jobs})
    assert left(trace) == [
        "4 records are of jobs that never ran and are left out",
        "1 record is of a job that still runs and is left out",
    ]
    with pytest.raises(InputError, match="end_time is '1', expected a time that is not before start_time"):
        read(tmp_path, "ray", [ray(start_time=2, end_time=1)])


def attempt(start, end, *gpus):
    return {"start_time": start, "end_time": end, "detail": [{"gpus": ["g"] * count} for count in gpus]}


DAY = "2017-10-09"


def philly(*attempts, **changed):
    return {
        **{"jobid": "a", "submitted_time": f"{DAY} 07:00:00 PDT", "status": "Pass", "vc": "v", "user": "u"},
        **{"attempts": list(attempts), **changed},
    }


def test_attempts_of_philly_jobs_are_combined(tmp_path):
    first = attempt(f"{DAY} 07:01:00 PDT", f"{DAY} 07:02:00 PDT", 2, 1)
    jobs = [
        philly(first, attempt(None, f"{DAY} 09:00:00"), attempt(f"{DAY} 08:00:00", f"{DAY} 08:00:30", 2)),
        philly(attempt(f"{DAY} 07:01:00", "None", 1), first),
        philly(first, attempt(f"{DAY} 08:00:00", None)),
        philly(first, attempt(f"{DAY} 08:00:00", "N/A")),
        philly(attempt("", f"{DAY} 08:00:00")),
        philly(),
        philly(attempt(f"{DAY} 07:00:00", f"{DAY} 07:00:00"), status=""),
    ]
    trace = read(tmp_path, "philly", jobs)
    names = ("submit", "wait", "run", "procs_requested", "gpus", "job_id", "user", "queue", "state")
    assert trace.records.select(names).rows() == [
        (0.0, 60.0, 90.0, 3, 3.0, "a", "u", "v", "Pass"),
        (0.0, 60.0, 60.0, 3, 3.0, "a", "u", "v", "Pass"),
        (0.0, 0.0, 0.0, None, 0.0, "a", "u", "v", None),
    ]
    assert left(trace) == [
        "2 records are of jobs that still run and are left out",
        "2 records are of jobs that never ran and are left out",
    ]
    assert trace.notes[-1] == "a processor is a GPU"
    with pytest.raises(InputError, match="submitted_time is 'soon', expected a time"):
        read(tmp_path, "philly", [philly(first, submitted_time="soon")])


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_non_standard_json_numbers_are_rejected(tmp_path, word):
    path = tmp_path / "log.json"
    path.write_text(f'{{"items": [], "other": {word}}}')
    with pytest.raises(InputError, match=f"log.json: cannot be read as JSON: {word} is not a JSON number$"):
        read_items(path, "items")
