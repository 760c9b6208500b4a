"""What `qstat` and `pbsnodes` print, as jobs and vnodes; malformed output is one line with the field."""

import contextlib
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engines.values import DIGITS, VALUES
from windlass.engines.pbs.models import HoldPhase
from windlass.engines.pbs.output import decode_output
from windlass.engines.pbs.reader import chunks, instant, read_job, read_node, seconds
from windlass.model import BatchError, InputError

ROOT = {"timestamp": 1656686590, "pbs_version": "23.06.06", "pbs_server": "pbs"}
PLAIN = {
    "Job_Name": "fit",
    "Job_Owner": "ann@login",
    "job_state": "H",
    "queue": "windlass",
    "ctime": "Fri Jul  1 14:42:57 2022",
    "qtime": "Fri Jul  1 14:43:07 2022",
    "Hold_Types": "uo",
    "Resource_List": {"ncpus": 8, "select": "2:ncpus=4", "walltime": "01:30:00"},
}


def text_of(rows, key="Jobs"):
    return json.dumps({**ROOT, key: rows}, indent=8)


def test_a_job_is_read_with_its_request_holds_and_times():
    job = read_job("12.pbs", PLAIN)
    assert (job.procs, job.request, job.holds) == (8, 5400.0, {"u", "o"})
    assert (job.created, job.queued) == (1656686577.0, 1656686587.0)
    assert (job.phase, job.held, job.part) == (HoldPhase.WAITS, True, False)
    assert (job.owner.user, job.owner.account, job.owner.queue) == ("ann", "", "windlass")
    assert math.isnan(job.start)


def test_texts_that_are_numbers_are_read_alike():
    changed = {**PLAIN, "queue": 7, "euser": 1001, "Account_Name": "12", "run_count": "2", "project": "p"}
    changed["Resource_List"] = {"ncpus": "8", "walltime": 90}
    job = read_job("12.pbs", changed)
    assert (job.queue, job.owner.user, job.owner.account) == ("7", "1001", "12")
    assert (job.procs, job.request, job.runs) == (8, 90.0, 2)
    changed["Resource_List"] = {"ncpus": 8.0}
    assert (read_job("12.pbs", changed).procs, read_job("12.pbs", changed).request) == (8, math.inf)


def test_an_account_is_the_account_or_the_project_that_the_user_named():
    assert read_job("1.s", {**PLAIN, "project": "_pbs_project_default"}).owner.account == ""
    assert read_job("1.s", {**PLAIN, "project": "climate"}).owner.account == "climate"


@pytest.mark.parametrize(
    ("state", "phase"),
    [*((each, HoldPhase.WAITS) for each in "QHWT"), *((each, HoldPhase.RUNS) for each in "RESUB")]
    + [(each, HoldPhase.OVER) for each in "FMX"],
)
def test_each_state_has_a_phase(state, phase):
    assert read_job("1.s", {**PLAIN, "job_state": state}).phase is phase


def test_arrays_differ_from_their_subjobs():
    parent = read_job("12[].s", {**PLAIN, "Resource_List": {}})
    part = read_job("12[3].s", PLAIN)
    assert (parent.array, parent.part, parent.procs) == (True, True, 0)
    assert (part.array, part.part, part.procs) == (False, True, 8)


def test_a_running_job_without_a_request_has_the_cpus_of_its_vnodes():
    running = {**PLAIN, "job_state": "R", "exec_vnode": "(n1:ncpus=4:mem=8gb)+(n2:ncpus=2)"}
    running["Resource_List"] = {}
    job = read_job("12.pbs", running)
    assert (job.procs, job.vnodes) == (6, {"n1": 4, "n2": 2})
    assert (job.procs_on({"n1": 8}), job.procs_on({"n3": 8})) == (4, 0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ctime": None}, "job 12.pbs: ctime is null, expected a time such as"),
        ({"qtime": "later"}, 'job 12.pbs: qtime is "later", expected a time'),
        ({"job_state": "RUN"}, 'job 12.pbs: job_state is "RUN", expected a letter'),
        ({"Resource_List": {}}, "job 12.pbs: Resource_List.ncpus is missing, expected a whole number ≥ 1"),
        ({"Resource_List": {"ncpus": 0}}, "job 12.pbs: Resource_List.ncpus is 0, expected a whole number"),
        ({"Resource_List": {"ncpus": 1.5}}, "Resource_List.ncpus is 1.5"),
        ({"Resource_List": {"ncpus": True}}, "Resource_List.ncpus is true"),
        ({"Resource_List": 4}, "job 12.pbs: Resource_List is 4, expected an object"),
        (
            {"Resource_List": {"ncpus": 1, "walltime": "long"}},
            'Resource_List.walltime is "long", expected hours:minutes:seconds',
        ),
        ({"run_count": -1}, "job 12.pbs: run_count is -1, expected a whole number ≥ 0"),
    ],
)
def test_an_invalid_attribute_is_one_line_with_job_and_field(change, message):
    with pytest.raises(InputError) as raised:
        read_job("12.pbs", {**PLAIN, **change})
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_missing_attribute_is_named():
    with pytest.raises(InputError, match=r"job 12\.pbs: queue is missing, expected a text"):
        read_job("12.pbs", {name: value for name, value in PLAIN.items() if name != "queue"})


@pytest.mark.parametrize(
    ("state", "up"),
    [("free", True), ("job-busy", True), ("resv-exclusive,job-exclusive", True), ("busy", True)]
    + [(each, False) for each in ("down", "offline,job-busy", "free,Stale", "state-unknown,down", "sleep")],
)
def test_only_vnodes_that_may_start_jobs_are_up(state, up):
    assert read_node("n1", {"state": state, "resources_available": {"ncpus": 4}}).up is up


def test_a_vnode_that_never_reported_has_no_cpus():
    assert read_node("n1", {"state": "state-unknown,down"}).procs == 0
    with pytest.raises(InputError, match=r'vnode n1: resources_available.ncpus is "many", expected'):
        read_node("n1", {"state": "free", "resources_available": {"ncpus": "many"}})


def test_the_output_without_jobs_is_an_empty_list():
    assert decode_output(json.dumps(ROOT), "Jobs", "qstat").rows == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "qstat: it printed nothing, expected JSON"),
        ("[]", "qstat: the output is [], expected a JSON object"),
        ('{"Jobs": {}}', "qstat: timestamp is null, expected a number of seconds"),
        ('{"timestamp": 1, "Jobs": []}', "qstat: Jobs is [], expected an object"),
        ('{"timestamp": 1, "Jobs": {"12.pbs": 3}}', "qstat: 12.pbs is 3, expected an object"),
        ("[" * 100_000, "qstat: the output is not valid JSON"),
    ],
)
def test_unusable_output_is_one_line(text, message):
    with pytest.raises(BatchError) as raised:
        decode_output(text, "Jobs", "qstat")
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_output_that_was_cut_short_names_the_job():
    text = text_of({"12.pbs": PLAIN, "13.pbs": PLAIN})
    with pytest.raises(BatchError, match=r"qstat: the output is not valid JSON: 13.pbs: line \d+"):
        decode_output(text[:-60], "Jobs", "qstat")


@given(st.integers(0, 400))
def test_no_part_of_an_output_is_taken_for_a_whole_one(size):
    text = text_of({"12.pbs": PLAIN}).rstrip()
    if size < len(text):
        with pytest.raises(BatchError):
            decode_output(text[:size], "Jobs", "qstat")


#: Lines that releases before OpenPBS 22 print for variables and names of users.
BROKEN = [
    ('"FOO":005,', "{"),
    ('"FUNC":"() { echo \\"a\n}"', "{"),
    ('"QUOTE":"\\\'x\\\'"', "{"),
    ('"INNER":"say "hello""', "{"),
    ('"LAST":"x",', "{"),
]


@pytest.mark.parametrize("line", [line for line, _ in BROKEN])
def test_broken_variables_of_a_user_do_not_hide_the_jobs(line):
    text = (
        '{\n  "timestamp":5,\n  "Jobs":{\n    "12.pbs":{\n      "queue":"q",\n      "Variable_List":{\n'
        f"        {line}\n      }},\n"
        '      "job_state":"Q"\n    }\n  }\n}\n'
    )
    assert decode_output(text, "Jobs", "qstat").rows["12.pbs"]["job_state"] == "Q"


@pytest.mark.parametrize(
    ("line", "value"),
    [('"comment":"a\\\'b"', "a\\'b"), ('"comment":007', "007"), ('"comment":"a\tb"', "a\tb")],
)
def test_a_faulty_comment_is_repaired(line, value):
    text = f'{{"timestamp":5,"nodes":{{"n1":{{{line}}}}}}}'
    assert decode_output(text, "nodes", "pbsnodes").rows["n1"]["comment"] == value


def test_bytes_that_are_not_utf_8_leave_the_other_attributes():
    text = text_of({"12.pbs": {**PLAIN, "Job_Name": "f\udcff"}}).encode("utf-8", "replace").decode()
    assert read_job("12.pbs", decode_output(text, "Jobs", "qstat").rows["12.pbs"]).procs == 8


@pytest.mark.matrix(0)
@given(st.dictionaries(st.from_regex(r"[a-z][a-z0-9]{0,8}", fullmatch=True), st.integers(1, 512), min_size=1))
def test_chunks_are_read_back(cpus):
    assert chunks("+".join(f"({name}:ncpus={count}:mem=4gb)" for name, count in cpus.items())) == cpus


@given(st.integers(0, 10**7))
def test_durations_are_read_back(whole):
    assert seconds(f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}") == whole


def test_times_are_those_of_utc():
    assert instant("Thu Jan  1 00:00:00 1970") == 0.0
    with pytest.raises(ValueError, match="time data"):
        instant("1 January 1970")


@given(
    st.dictionaries(st.sampled_from([*PLAIN, "stime", "run_count", "Execution_Time", "exec_vnode"]), VALUES),
    st.dictionaries(st.sampled_from(["ncpus", "walltime"]), VALUES),
)
def test_any_value_is_read_or_named(changes, resources):
    for tree in ({**PLAIN, **changes}, {**PLAIN, "Resource_List": {"ncpus": 1, **resources}}):
        with contextlib.suppress(InputError):
            job = read_job("12.pbs", tree)
            assert 1 <= job.procs < 1 << 63
            assert job.request >= 0.0
    with contextlib.suppress(InputError):
        assert 0 <= read_node("n1", {"state": "free", "resources_available": resources}).procs < 1 << 63


def test_a_number_without_end_leaves_the_other_jobs():
    text = text_of({"12.pbs": PLAIN, "13.pbs": PLAIN}).replace('"ncpus": 8', f'"ncpus": {DIGITS}', 1)
    rows = decode_output(text, "Jobs", "qstat").rows
    assert read_job("13.pbs", rows["13.pbs"]).procs == 8
    with pytest.raises(
        InputError, match=r"job 12\.pbs: Resource_List\.ncpus is Infinity, expected a whole number"
    ):
        read_job("12.pbs", rows["12.pbs"])
    for time in (DIGITS, "1" + 400 * "0", "NaN"):
        with pytest.raises(BatchError, match=r"qstat: timestamp is .*, expected a number of seconds"):
            decode_output(f'{{"timestamp": {time}}}', "Jobs", "qstat")
