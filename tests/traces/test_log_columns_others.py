"""Every column of logs of PBS and LSF and of published tables, and why a record is left out."""

import pytest

from tests.traces.test_log_columns import GIB, T, left, read, row
from windlass.model import InputError


def pbs(tmp_path, changed, job="12.srv", kind="E", before=""):
    fields = {
        **{"user": "ann", "group": "staff", "account": "phys", "queue": "batch", "ctime": T, "qtime": T + 2},
        **{"start": T + 5, "end": T + 65, "exec_host": "n1/0*4+n2/1", "Exit_status": 271},
        **{
            "Resource_List.ncpus": 6,
            "Resource_List.procs": 7,
            "Resource_List.select": "2:ncpus=4:ngpus=1+ncpus=1",
        },
        **{"Resource_List.nodes": "3:ppn=2:gpus=2+n9", "Resource_List.ngpus": 5, "Resource_List.mem": "2gb"},
        **{
            "Resource_List.nodect": 2,
            "Resource_List.walltime": "01:00:00",
            "resources_used.walltime": "00:01:01",
        },
        **changed,
    }
    text = " ".join(f"{name}={value}" for name, value in fields.items() if value is not None)
    return read(tmp_path, "pbs", f"{before}04/23/2024 12:02:00;{kind};{job};{text}\n")


PBS = {
    **{"job": 12, "submit": 0.0, "run": 61.0, "procs_allocated": 5, "procs_requested": 9, "request": 3600.0},
    **{"job_id": "12.srv", "user": "ann", "group": "phys", "queue": "batch", "state": "271", "gpus": 5.0},
    **{"memory": 2 * GIB, "nodes": 2, "wait": 5.0},
}
LIST = "Resource_List"


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({}, {}),
        ({"ctime": None}, {"wait": 3.0}),
        ({"resources_used.walltime": None}, {"run": 60.0}),
        ({"resources_used.walltime": None, "end": T + 5}, {"run": 0.0}),
        ({"account": None}, {"group": "staff"}),
        ({"account": '"big money"'}, {"group": "big money"}),
        ({f"{LIST}.ncpus": "1"}, {}),
        ({f"{LIST}.ncpus": "12"}, {"procs_requested": 12}),
        ({f"{LIST}.procs": "13"}, {"procs_requested": 13}),
        # As Torque writes nodes=…:ppn=… beside the server's default of one processor.
        ({f"{LIST}.ncpus": "1", f"{LIST}.procs": None, f"{LIST}.select": None}, {"procs_requested": 7}),
        ({f"{LIST}.procs": None, f"{LIST}.select": None, f"{LIST}.nodes": None}, {"procs_requested": 6}),
        ({f"{LIST}.ngpus": None}, {"gpus": 2.0}),
        ({f"{LIST}.ngpus": None, f"{LIST}.select": None}, {"gpus": 6.0, "procs_requested": 7}),
        ({f"{LIST}.ngpus": None, f"{LIST}.select": None, f"{LIST}.nodes": None}, {"gpus": None, "procs_requested": 7}),
        ({f"{LIST}.mem": "512"}, {"memory": 512.0}),
        ({f"{LIST}.mem": None}, {"memory": None}),
        ({"exec_host": "n1/0+n1/1+n3/4"}, {"procs_allocated": 3}),
        ({"exec_host": "n1/0-3,6+n2/2-2"}, {"procs_allocated": 6}),
        ({"exec_host": "n1/0*0"}, {"procs_allocated": None}),
        ({"exec_host": None, "Exit_status": None, f"{LIST}.nodect": None, f"{LIST}.walltime": None},
         dict.fromkeys(("procs_allocated", "state", "nodes", "request"))),
    ],
)  # fmt: skip
def test_each_field_of_pbs_is_read(tmp_path, changed, found):
    wanted = {name: value for name, value in {**PBS, **found}.items() if value is not None}
    assert row(pbs(tmp_path, changed)) == wanted


def test_pbs_job_ids_are_parsed(tmp_path):
    for job, number in (
        ("12.srv", 12),
        ("12[3].srv", None),
        ("9" * 17 + ".s", None),
        ("9" * 16, int("9" * 16)),
    ):
        found = row(pbs(tmp_path, {}, job=job))
        assert (found.get("job"), found["job_id"]) == (number, job)
    with pytest.raises(InputError, match=r"the job is 'x\.srv', expected one such as 12\.server"):
        pbs(tmp_path, {}, job="x.srv")
    for changed, message in (
        ({"ctime": None, "qtime": None}, "ctime is missing, expected the time of submission"),
        ({"resources_used.walltime": None, "end": None}, "resources_used.walltime is missing"),
        ({"resources_used.walltime": None, "start": None}, "resources_used.walltime is missing"),
        (
            {"resources_used.walltime": None, "end": T + 4},
            f"end is '{T + 4}', expected a time that is not before",
        ),
    ):
        with pytest.raises(InputError, match=message):
            pbs(tmp_path, changed)


def test_other_events_of_pbs_are_counted(tmp_path):
    def event(kind, job):
        return f"04/23/2024 12:00:00;{kind};{job}.srv;queue=batch\n"

    trace = pbs(tmp_path, {}, before=event("S", 12) + event("Q", 13) + event("S", 14) + event("S", 15))
    assert left(trace) == [
        "2 records are of something other than the end of a job and are left out",
        "2 records are of jobs that still run and are left out",
    ]
    for kind in "RDA":
        over = pbs(tmp_path, {}, before=event("S", 14) + event(kind, 14))
        assert left(over) == ["2 records are of something other than the end of a job and are left out"]
    running = pbs(tmp_path, {}, before=event("S", 14))
    assert left(running) == ["1 record is of a job that still runs and is left out"]


USAGE = "-1 " * 19


def lsf(tmp_path, *, asked="0", hosts='2 "3*h1" "h2"', behind='"" "proj" 0 3 "" "" 7', status=64, **changed):
    values = {
        "end": T + 65,
        "job": 9,
        "procs": 3,
        "submit": T,
        "start": T + 5,
        "kind": "JOB_FINISH",
        **changed,
    }
    text = (
        '"{kind}" "10.1" {end} {job} 1000 33554438 {procs} {submit} 0 0 {start} "ann" "normal" '
        '"" "" "" "m" "" "" "" "" "f" '.format(**values)
    )
    return read(tmp_path, "lsf", f'{text}{asked} {hosts} {status} 60.0 "name" "sleep 60" {USAGE}{behind}\n')


LSF = {
    **{
        "submit": 0.0,
        "run": 60.0,
        "procs_allocated": 4,
        "procs_requested": 3,
        "job_id": "9[7]",
        "user": "ann",
    },
    **{"group": "proj", "queue": "normal", "state": "DONE", "wait": 5.0},
}
#: From the fields behind the usage on: the estimate of the run time is the sixteenth behind the index.
LATE = '"" "proj" 0 3 "" "" 0 2048 0 "" "" "" "" 0 "" 0 "" -1 "/ann" "" "" ""'


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({}, {}),
        ({"behind": f"{LATE} 600"}, {"job": 9, "job_id": "9", "request": 600.0}),
        ({"behind": f"{LATE} -1"}, {"job": 9, "job_id": "9"}),
        ({"behind": f"{LATE} 0"}, {"job": 9, "job_id": "9"}),
        ({"behind": '""'}, {"job": 9, "job_id": "9", "group": None}),
        ({"behind": '"" ""'}, {"job": 9, "job_id": "9", "group": None}),
        ({"asked": '2 "h1" "h2"'}, {}),
        ({"hosts": '1 "h2"'}, {"procs_allocated": 1}),
        ({"hosts": "0"}, {"procs_allocated": None}),
        ({"status": 32}, {"state": "EXIT"}),
        ({"status": 16}, {"state": "16"}),
        ({"procs": 0}, {"procs_requested": None}),
        ({"end": T + 5}, {"run": 0.0}),
    ],
)
def test_each_field_of_lsf_is_read(tmp_path, changed, found):
    wanted = {name: value for name, value in {**LSF, **found}.items() if value is not None}
    assert row(lsf(tmp_path, **changed)) == wanted


def test_truncated_and_other_lsf_records_are_rejected(tmp_path):
    with pytest.raises(
        InputError, match=f"event time is '{T + 4}', expected a time that is not before startTime"
    ):
        lsf(tmp_path, end=T + 4)
    with pytest.raises(InputError, match="the record is 'job_finish', expected JOB_FINISH"):
        lsf(tmp_path, kind="job_finish")
    with pytest.raises(
        InputError, match="no jobs that ran: 1 record is of something other than the end of a job"
    ):
        lsf(tmp_path, kind="JOB_RESIZE")
    with pytest.raises(InputError, match="no jobs that ran: 1 record is of a job that never ran"):
        lsf(tmp_path, start=0)
    whole = '"JOB_FINISH" "10.1" 1 9 1000 0 3 0 0 0 1 "ann" "normal" "" "" "" "m" "" "" "" "" "f" 0 2 "h1"'
    with pytest.raises(InputError, match="execHosts is missing, the record ends after 25 fields"):
        read(tmp_path, "lsf", f"{whole}\n")
    with pytest.raises(InputError, match="numAskedHosts is missing, the record ends after 22 fields"):
        read(tmp_path, "lsf", whole.partition(' 0 2 "h1"')[0] + "\n")


HELIOS = "job_id,user,vc,gpu_num,node_num,state,submit_time,start_time,end_time"


def test_each_column_of_helios_is_read(tmp_path):
    day = "2020-04-01"
    rows = [
        f"7,u1,vcA,8,2,FAILED,{day} 00:00:01,{day} 00:00:09,{day} 01:00:09",
        f"x7,,,1,,,{day} 00:00:01,{day} 00:00:09,{day} 00:00:09",
        f"9,u,v,1,1,s,{day} 00:00:01,{day} 00:00:09,None",
        f"9,u,v,1,1,s,{day} 00:00:01,,{day} 00:00:09",
        f"9,u,v,0,1,s,{day} 00:00:01,{day} 00:00:09,{day} 00:00:10",
    ]
    trace = read(tmp_path, "helios", "\n".join([HELIOS, *rows]) + "\n")
    names = (
        "job",
        "job_id",
        "submit",
        "wait",
        "run",
        "procs_requested",
        "gpus",
        "nodes",
        "user",
        "queue",
        "state",
    )
    assert trace.records.select(names).rows() == [
        (7, "7", 0.0, 8.0, 3600.0, 8, 8.0, 2, "u1", "vcA", "FAILED"),
        (None, "x7", 0.0, 8.0, 0.0, 1, 1.0, None, None, None, None),
    ]
    assert left(trace) == [
        "1 record is of a job that still runs and is left out",
        "1 record is of a job that never ran and is left out",
        "1 record is of a job without GPUs and is left out",
    ]
    for cells, message in (
        (f"7,u,v,,1,s,{day},{day},{day}", "line 2: gpu_num is missing"),
        (f"7,u,v,1,1,s,,{day},{day}", "line 2: submit_time is missing"),
        (
            f"7,u,v,1,1,s,{day},{day} 01:00:00,{day}",
            "line 2: end_time is '2020-04-01', expected a time that is not",
        ),
        ("7", "line 2: 1 field, expected 9"),
    ):
        with pytest.raises(InputError, match=message):
            read(tmp_path, "helios", f"{HELIOS}\n{cells}\n")
    with pytest.raises(InputError, match="no column 'end_time', found"):
        read(tmp_path, "helios", HELIOS.removesuffix(",end_time") + "\n7,u,v,1,1,s,1,2\n")


OPENB = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,qos,pod_phase,creation_time,deletion_time,scheduled_time"


def test_each_column_of_openb_is_read(tmp_path):
    rows = [
        "p0,6000,1024,2,500,LS,Running,5,90,7",
        "p1,0,,,,,,3,8,8",
        "p2,6001,0,1,1000,BE,Failed,3,8,4",
        "p3,1,1,1,1,BE,Failed,3,,4",
        "p4,1,1,1,1,BE,Failed,3,9,",
    ]
    trace = read(tmp_path, "openb", "\n".join([OPENB, *rows]) + "\n")
    names = ("job_id", "submit", "wait", "run", "procs_requested", "gpus", "memory", "queue", "state")
    assert trace.records.select(names).rows() == [
        ("p0", 5.0, 2.0, 83.0, 6, 1.0, GIB, "LS", "Running"),
        ("p1", 3.0, 5.0, 0.0, 1, 0.0, None, None, None),
        ("p2", 3.0, 1.0, 4.0, 7, 1.0, 0.0, "BE", "Failed"),
    ]
    assert left(trace) == ["2 records are of jobs that never ran and are left out"]
    for cells, message in (
        ("p,,1,1,1,LS,x,1,2,1", "cpu_milli is missing"),
        ("p,1,1,1,1,LS,x,,2,1", "creation_time is missing"),
        ("p,1,1,1,1,LS,x,1,2,3", "deletion_time is '2', expected at least scheduled_time"),
    ):
        with pytest.raises(InputError, match=message):
            read(tmp_path, "openb", f"{OPENB}\n{cells}\n")
