"""The client of PBS's commands: refusals, retries, old lists, and the environment of its processes."""

import json
import os
import stat
import subprocess

import pytest

from tests.adversary.clock import BEGIN, VirtualClock
from tests.engines.pbs.fake_pbs import QUEUE, FakePbs
from windlass.engines.batch.holds.site import SystemAwayError
from windlass.engines.pbs.client import PbsClient, PbsCommands, refusals
from windlass.model import BatchError, InputError

NO_SERVER = (15010 & 255, "", "qstat: cannot connect to server pbs (errno=15010)\n")


def client_of(run, lines=None, patience=60.0):
    clock = VirtualClock()
    notify = (lambda line: None) if lines is None else lines.append
    return PbsClient(run, patience, 10.0, notify, clock.wait, clock.time, clock.time), clock


def answers(*given):
    left = list(given)
    return lambda command, timeout: left.pop(0) if len(left) > 1 else left[0]


def listed(time=BEGIN, **rows):
    return 0, json.dumps({"timestamp": int(time), "pbs_server": "pbs", "Jobs": rows}), ""


def test_each_refused_job_has_its_own_line():
    errors = "qrls: Unknown Job Id 5.pbs\nqrls: Unauthorized Request  7.pbs\n"
    assert refusals("qrls", ["5.pbs", "6.pbs", "7.pbs"], errors) == {
        "5.pbs": "Unknown Job Id 5.pbs",
        "7.pbs": "Unauthorized Request 7.pbs",
    }
    assert refusals("qrls", ["5.pbs"], "") == {"5.pbs": "qrls failed without a message"}


def test_a_line_without_a_job_is_about_all_jobs_without_a_line():
    errors = "qrls: Unknown Job Id 5.pbs\nqrls: End of File\n"
    assert refusals("qrls", ["5.pbs", "6.pbs"], errors) == {
        "5.pbs": "Unknown Job Id 5.pbs",
        "6.pbs": "qrls: End of File",
    }


def test_a_server_that_goes_away_between_two_jobs_is_tried_again():
    """The job that is gone has a line of its own, and the other one's line names no job."""
    away = (1, "", "qrls: Unknown Job Id 5.pbs\nqrls: cannot connect to server pbs (errno=15010)\n")
    commands = []
    given = [away, (1, "", "qrls: Unknown Job Id 5.pbs\n")]

    def run(command, timeout):
        commands.append(tuple(command))
        return given.pop(0)

    client, _ = client_of(run)
    assert client.release(["5.pbs", "6.pbs"]) == {"5.pbs": "Unknown Job Id 5.pbs"}
    assert commands == 2 * [("qrls", "-h", "o", "5.pbs", "6.pbs")]


def test_only_the_hold_o_is_set_and_lifted():
    commands = []

    def run(command, timeout):
        commands.append(tuple(command))
        return 0, "", ""

    client, _ = client_of(run)
    assert (client.release(["5.pbs", "6.pbs"]), client.hold(["5.pbs"])) == ({}, {})
    assert commands == [("qrls", "-h", "o", "5.pbs", "6.pbs"), ("qhold", "-h", "o", "5.pbs")]


def test_a_server_that_is_away_is_tried_again_and_reported_once():
    lines = []
    client, clock = client_of(answers(NO_SERVER, NO_SERVER, (0, "", ""), listed(BEGIN + 90)), lines)
    assert client.jobs().rows == {}
    assert [line.partition(":")[0] for line in lines] == [
        "PBS does not answer, trying again for 60 s",
        "PBS answers again",
    ]
    assert (client.contact.away, client.contact.outages) == (False, 1)
    assert client.contact.lost == pytest.approx(clock.now - BEGIN)


def test_an_empty_list_is_never_returned_for_a_server_that_stays_away():
    client, _ = client_of(answers(NO_SERVER))
    with pytest.raises(
        SystemAwayError, match=r"PBS does not answer after .* s: qstat: cannot connect to server"
    ):
        client.jobs()


def test_a_release_without_a_connection_is_tried_again():
    error = "qrls: cannot connect to server pbs (errno=15010)\n"
    client, _ = client_of(answers((15010 & 255, "", error), (0, "", "")))
    assert client.release(["5.pbs"]) == {}


def test_a_queue_is_looked_up_until_the_server_answers():
    client, _ = client_of(answers(NO_SERVER, (15018 & 255, "", "qstat: Unknown queue nope\n")))
    with pytest.raises(InputError, match="queue 'nope': qstat: Unknown queue nope; expected one that"):
        client.check_queue("nope")
    client, _ = client_of(answers((1, "", "qstat: Unauthorized Request\n")))
    with pytest.raises(BatchError, match="Unauthorized Request"):
        client.check_queue(QUEUE)
    client_of(FakePbs(VirtualClock(), [1]))[0].check_queue(QUEUE)


def test_a_timeout_is_no_answer():
    def run(command, timeout):
        raise subprocess.TimeoutExpired(command[0], timeout)

    client, _ = client_of(run)
    with pytest.raises(SystemAwayError, match="qstat did not answer within 10 s"):
        client.jobs()


def test_a_killed_command_and_one_without_room_for_its_process_are_no_answer():
    left = [(-9, "", ""), BlockingIOError(11, "Resource temporarily unavailable"), listed()]

    def run(command, timeout):
        answer = left.pop(0)
        if isinstance(answer, OSError):
            raise answer
        return answer

    lines = []
    client, _ = client_of(run, lines)
    assert client.jobs().rows == {}
    assert lines[0] == "PBS does not answer, trying again for 60 s: qstat was killed by signal 9"
    left[:] = [PermissionError(13, "Permission denied")]
    with pytest.raises(InputError, match="qstat: Permission denied; expected a program that may be run"):
        client.jobs()


def test_a_message_of_a_failed_command_is_short():
    with pytest.raises(BatchError) as raised:
        client_of(answers((1, "{\n" * 5000, "")))[0].jobs()
    assert len(str(raised.value)) <= 1000


def test_an_old_list_is_not_used():
    client, _ = client_of(answers(listed(BEGIN - 30), listed(BEGIN + 5, **{"5.pbs": {}})))
    assert list(client.jobs().rows) == ["5.pbs"]
    client, _ = client_of(answers(listed(BEGIN - 30)), patience=1.0)
    with pytest.raises(SystemAwayError, match=r"the list is 3. s old, expected a present one"):
        client.jobs()


def test_a_refusal_to_list_is_an_error_at_once():
    client, clock = client_of(answers((2, "", "qstat: Unauthorized Request \n")))
    with pytest.raises(BatchError, match="qstat: Unauthorized Request"):
        client.jobs()
    assert clock.now == BEGIN


def test_an_ended_job_is_read_from_the_history_if_there_is_one():
    for history in (True, False):
        pbs = FakePbs(VirtualClock(), [4], history=history)
        job = pbs.submit(5.0, queue=QUEUE, holds="")
        pbs.delete(job)
        client = PbsClient(pbs, wall=pbs.clock.time)
        found = client.ended(job)
        assert (found is not None and found.rows[job]["job_state"] == "F") is history
        assert client.ended("99.pbs") is None


def test_missing_commands_are_named(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="pbsnodes: not found; expected PBS's commands on the PATH"):
        PbsClient().nodes()


def test_processes_print_times_in_utc_for_the_given_configuration(monkeypatch, tmp_path):
    file = tmp_path / "qstat"
    line = '{"timestamp": 9e9, "pbs_server": "$PBS_CONF_FILE $TZ $LC_ALL", "Jobs": {"%": {}}}'
    file.write_bytes(b"#!/bin/sh\ncat <<END\n" + line.encode().replace(b"%", b"\377") + b"\nEND\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    found = PbsClient(PbsCommands(tmp_path / "pbs.conf"), patience=0.0).jobs()
    assert found.server == f"{tmp_path / 'pbs.conf'} UTC C.UTF-8"
    assert list(found.rows) == ["\ufffd"]
