"""The client of HTCondor: its output, and answers that are lost, old or no list."""

import contextlib
import json
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.adversary.clock import BEGIN, VirtualClock
from tests.engines.htcondor.fake_condor import (
    HELD,
    IDLE,
    OTHER_QUEUE,
    QUEUE,
    RUNNING,
    FakeCondor,
    FakeCondorJob,
    compiled,
)
from tests.engines.values import DIGITS, VALUES
from windlass.engines.batch.holds.site import SystemAwayError
from windlass.engines.htcondor.client import CondorClient, hold_condition, release_condition, these
from windlass.engines.htcondor.models import CondorJob
from windlass.engines.htcondor.reader import JOB_ATTRIBUTES, SLOT_ATTRIBUTES, decode_ads, read_job, read_slot
from windlass.engines.htcondor.site import CondorSite
from windlass.model import BatchError, InputError

JOB = {"clusterid": 12, "procid": 3, "jobstatus": 2, "qdate": 60}


def client_of(answers, clock=None, patience=60.0):
    clock, left = clock or VirtualClock(), list(answers)

    def run(command, timeout):
        return left.pop(0) if len(left) > 1 else left[0]

    return CondorClient(run, patience, 10.0, sleep=clock.wait, clock=clock.time, wall=clock.time)


@pytest.mark.parametrize(
    ("more", "procs", "request_s"),
    [
        ({"requestcpus": 2, "cpusprovisioned": 4}, 4, float("inf")),
        ({"requestcpus": 2, "cpusprovisioned": 4, "jobstatus": 1}, 2, float("inf")),
        ({"requestcpus": "/Expr(x)/", "cpusprovisioned": 4}, 4, float("inf")),
        ({"requestcpus": 1, "allowedjobduration": 90, "allowedexecuteduration": 60}, 1, 60.0),
        ({"requestcpus": 1, "maxruntime": 30}, 1, 30.0),
        ({"requestcpus": 1, "allowedjobduration": "/Expr(3600 * RequestCpus)/"}, 1, float("inf")),
        ({"requestcpus": 8, "jobuniverse": 7}, 0, float("inf")),
        ({}, 1, float("inf")),
    ],
)
def test_cpus_and_limits_of_a_job(more, procs, request_s):
    found = read_job({**JOB, **more})
    assert (found.procs, found.request) == (procs, request_s)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"requestcpus": 0}, "job 12.3: RequestCpus is 0, expected a whole number ≥ 1"),
        ({"requestcpus": True}, "job 12.3: RequestCpus is true, expected a whole number ≥ 1"),
        ({"qdate": None}, "job 12.3: QDate is missing, expected a whole number ≥ 0"),
        ({"jobstatus": "idle"}, 'job 12.3: JobStatus is "idle", expected a whole number ≥ 0'),
    ],
)
def test_an_invalid_attribute_is_named(more, message):
    with pytest.raises(InputError) as raised:
        read_job({**JOB, **more})
    assert str(raised.value) == message


def test_holds_of_users_and_of_htcondor_are_not_windlass_s():
    def job(code, subcode=0):
        return CondorJob("1.0", HELD, 0.0, 1, code=code, subcode=subcode)

    ours = [(code, subcode) for code in range(50) for subcode in (0, 9453) if job(code, subcode).held]
    assert ours == [(1, 9453), (15, 0), (15, 9453)]
    assert job(3).bars(5.0) == "it is held: code 3"
    assert job(15).bars(5.0) == ""


def test_a_queue_is_a_text_and_a_time_that_is_missing_is_unknown():
    assert read_job({**JOB, "windlassqueue": "5"}).queue == "5"
    assert read_job({**JOB, "windlassqueue": 5}).queue == ""
    idle = {**JOB, "jobstatus": 1}
    assert read_job(idle).obstacle(BEGIN) == ""
    assert read_job({**idle, "enteredcurrentstatus": 60}).obstacle(BEGIN) == "no slot took it within 600 s"


def test_queue_daemons_of_two_hosts_have_journals_of_their_own(monkeypatch):
    def identity(host, **more):
        monkeypatch.setattr("socket.gethostname", lambda: host)
        return CondorSite(CondorClient(**more), QUEUE).identity()

    names = [identity("a"), identity("b"), identity("a", schedd="s"), identity("b", schedd="s")]
    assert names == ["local:a:main", "local:b:main", "local:s:main", "local:s:main"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1]", "condor_q: the output is [1], expected a list of objects"),
        ('{"ClusterId": 1}', 'condor_q: the output is {"ClusterId": 1}, expected a list of objects'),
        ("[" * 100_000, "condor_q: the output is not valid JSON: it is nested too deeply"),
    ],
)
def test_output_that_is_no_list_is_named(text, message):
    with pytest.raises(BatchError) as raised:
        decode_ads(text, "condor_q")
    assert str(raised.value) == message


@given(
    st.dictionaries(st.sampled_from([name.lower() for name in JOB_ATTRIBUTES]), VALUES),
    st.dictionaries(st.sampled_from([name.lower() for name in SLOT_ATTRIBUTES]), VALUES),
)
def test_any_value_is_read_or_named(job, slot):
    with contextlib.suppress(InputError):
        found = read_job({**JOB, **job})
        assert 0 <= found.procs < 1 << 63
        assert found.request > 0.0
        assert found.rank >= (1, 0)
    with contextlib.suppress(InputError):
        assert 0 <= read_slot({"name": "a", **slot}).procs < 1 << 63


def test_a_number_without_end_leaves_the_other_jobs():
    one, other = decode_ads(f'[{{"RequestCpus": {DIGITS}}}, {{"RequestCpus": 4}}]', "condor_q")
    assert read_job({**JOB, **other}).procs == 4
    with pytest.raises(InputError, match=r"job 12\.3: RequestCpus is Infinity, expected a whole number ≥ 1"):
        read_job({**JOB, **one})


def test_a_list_that_was_cut_short_is_requested_again():
    whole = json.dumps([{"ClusterId": 1, "ProcId": 0}])
    assert client_of([(0, whole[:9], ""), (0, whole, "")]).jobs() == [{"clusterid": 1, "procid": 0}]


def test_an_answer_that_was_lost_is_no_empty_list():
    whole = json.dumps([{"ClusterId": 1, "ProcId": 0}])
    for read in (CondorClient.jobs, CondorClient.slots):
        assert len(read(client_of([(0, "", ""), (0, whole, "")]))) == 1
        assert read(client_of([(0, "", "")])) == []
    held = json.dumps([{**JOB, "JobStatus": HELD, "HoldReasonCode": 15}])
    client = client_of([(1, "", "Couldn't find/release all jobs"), (0, "", ""), (0, held, "")])
    assert client.release(QUEUE, ["12.3"]).keys() == {"12.3"}


@pytest.mark.parametrize(
    "message",
    [
        "-- Failed to fetch ads from: <10.0.0.1:9618> : s",
        "Can't find address for schedd s",
        "condor_q: SECMAN:2007:Failed to end classad message. TCP connection timed out",
    ],
)
def test_an_unreachable_queue_is_no_empty_queue(message):
    with pytest.raises(SystemAwayError, match="HTCondor does not answer after"):
        client_of([(1, "", message)]).jobs()


def test_an_old_list_is_requested_again():
    clock = VirtualClock()
    old, new = (json.dumps([{"ClusterId": 1, "ServerTime": int(BEGIN) - late}]) for late in (30, 0))
    assert client_of([(0, old, ""), (0, new, "")], clock).jobs()[0]["servertime"] == int(BEGIN)
    with pytest.raises(SystemAwayError, match=r"the list is .* s old, .* compare the clocks of both hosts"):
        client_of([(0, old, "")], VirtualClock()).jobs()


def test_a_release_whose_answer_was_lost_is_repeated_without_harm():
    clock = VirtualClock()
    fake, lost = FakeCondor(clock, [4]), []
    fake.submit(50.0)

    def run(command, timeout):
        answer = fake(command, timeout)
        if command[0] == "condor_release" and not lost:
            lost.append(command)
            return 1, "", "Failed to connect to schedd"
        return answer

    client = CondorClient(run, 60.0, 10.0, sleep=clock.wait, clock=clock.time, wall=clock.time)
    assert client.release(QUEUE, ["1.0"]) == {}
    assert fake.ran == ["1.0"]


def one_job(**more):
    return 0, json.dumps([{**JOB, **more}]), ""


def test_a_job_that_a_command_left_unchanged_has_a_reason():
    ours, theirs, runs = one_job(JobStatus=HELD, HoldReasonCode=15), one_job(JobStatus=HELD), one_job()
    done, refused = (0, "All jobs matching constraint (…) have been released", ""), (1, "", "\n")
    hint = "check that QUEUE_SUPER_USERS lists this user"
    assert client_of([done, ours]).release(QUEUE, ["12.3"]) == {
        "12.3": f"condor_release did not change it; {hint}"
    }
    assert client_of([refused, ours]).release(QUEUE, ["12.3"]) == {
        "12.3": f"condor_release ended with status 1; {hint}"
    }
    assert client_of([refused, runs]).hold(QUEUE, ["12.3"]) == {"12.3": "it has started"}
    assert client_of([refused, theirs]).hold(QUEUE, ["12.3"]) == {"12.3": "it is held: code 0"}


def test_a_history_that_takes_long_to_read_does_not_stop_the_driver():
    def run(command, timeout):
        raise subprocess.TimeoutExpired(command[0], timeout)

    clock = VirtualClock()
    client = CondorClient(run, 60.0, 10.0, sleep=clock.wait, clock=clock.time, wall=clock.time)
    assert client.ended("12.3") is None
    with pytest.raises(SystemAwayError, match="HTCondor does not answer after"):
        client_of([(1, "", "Failed to connect to schedd")]).ended("12.3")


IDENTIFIERS = [f"{cluster}.{process}" for cluster in (1, 11, 12) for process in (0, 1, 11)]


@given(
    st.sets(st.sampled_from(IDENTIFIERS), min_size=1),
    st.sampled_from([IDLE, RUNNING, HELD]),
    st.sampled_from([QUEUE, OTHER_QUEUE, None]),
    st.sampled_from([(1, 0), (1, 9453), (3, 9453), (15, 0), (16, 0)]),
)
def test_conditions_are_true_for_these_jobs_alone(jobs, status, queue, code):
    def matching(condition):
        test = compiled(f"{condition} && {these(jobs)}")
        rows = [FakeCondorJob(job, queue, 1.0, 1, 0.0, status=status) for job in IDENTIFIERS]
        for row in rows:
            row.code, row.subcode = code
        return {row.job for row in rows if test(row.ad(0.0))}

    ours = status == HELD and queue == QUEUE and code in ((1, 9453), (15, 0))
    assert matching(release_condition(QUEUE)) == (jobs if ours else set())
    assert matching(hold_condition(QUEUE)) == (jobs if status == IDLE and queue == QUEUE else set())


def test_many_jobs_are_released_by_commands_of_200():
    clock, sizes = VirtualClock(), []
    fake = FakeCondor(clock, [1000])
    jobs = [fake.submit(50.0) for _ in range(450)]

    def run(command, timeout):
        if command[0] == "condor_release":
            sizes.append(command[-1].count("ProcId"))
        return fake(command, timeout)

    client = CondorClient(run, sleep=clock.wait, clock=clock.time, wall=clock.time)
    assert client.release(QUEUE, jobs) == {}
    assert sizes == [200, 200, 50]
    assert len(fake.ran) == 450


def test_the_cpus_of_backfill_slots_count_once():
    slot = {"Name": "slot1@n1", "SlotType": "Partitionable", "State": "Unclaimed", "TotalSlotCpus": 8}
    claimed = {"SlotType": "Dynamic", "State": "Claimed", "Cpus": 3, "GlobalJobId": "another#1.0#5"}
    ads = [
        slot,
        {**slot, **claimed, "Name": "slot1_1@n1"},
        {**slot, "Name": "backfill2@n1", "BackfillSlot": True},
        {**slot, **claimed, "Name": "backfill2_1@n1", "BackfillSlot": True},
    ]
    client = CondorClient(lambda command, timeout: (0, json.dumps(ads), ""))
    found = CondorSite(client, QUEUE).capacity(pytest.fail)
    assert (found.up, found.nodes) == (5, {"slot1@n1": 8})


def test_slots_of_each_kind():
    slot = {"name": "slot1@n1", "state": "Unclaimed", "cpus": 2, "totalslotcpus": 8}
    assert read_slot({**slot, "slottype": "Partitionable"}).procs == 8
    dynamic = read_slot({**slot, "slottype": "Dynamic", "globaljobid": "s#1.0#5", "state": "Claimed"})
    assert (dynamic.procs, dynamic.dynamic, dynamic.schedd, dynamic.up) == (2, True, "s", True)
    assert read_slot({"name": "a", "cpus": 2}).procs == 2
    assert not read_slot({**slot, "state": "Owner"}).up
    assert not read_slot({**slot, "offline": True}).up
    with pytest.raises(InputError, match="slot a: TotalSlotCpus is missing, expected a whole number ≥ 0"):
        read_slot({"name": "a"})
