"""`windlass htcondor drive` and `give-back` against a fake in real time: output, options, and errors in one line."""

import json

import pytest

from tests.engines.htcondor.fake_condor import QUEUE
from tests.engines.real_time import RealCondor
from windlass.engines.batch import driver_lock
from windlass.engines.htcondor.client import CondorCommands

DRIVE = ("htcondor", "drive", "--policies", "order=easy", "--queue", QUEUE)


@pytest.fixture
def condor(monkeypatch, tmp_path):
    found = RealCondor([4])
    for run, cpus in ((0.3, 2), (0.3, 4), (0.3, 1)):
        found.submit(run, cpus, 60.0)
    monkeypatch.setattr(
        CondorCommands, "__call__", lambda commands, command, timeout: found(command, timeout)
    )
    monkeypatch.setattr(driver_lock, "_folder", lambda: tmp_path)
    return found


def test_a_dry_run_prints_the_first_decision_and_writes_nothing(windlass, condor, tmp_path):
    status, out, err = windlass(*DRIVE, "--dry-run", "--journal", str(tmp_path / "journal"))
    assert (status, err) == (0, "")
    assert out.splitlines() == [
        "1.0, 2 CPUs: head of the queue",
        "3.0, 1 CPU: backfilled, ends before the head can start",
        'condor_release -constraint \'JobStatus == 5 && WindlassQueue == "main" && (HoldReasonCode == 15 || '
        "(HoldReasonCode == 1 && HoldReasonSubCode == 9453)) && ((ClusterId == 1 && (ProcId == 0)) || "
        "(ClusterId == 3 && (ProcId == 0)))'",
        "Nothing was changed.",
    ]
    assert not (tmp_path / "journal").exists()
    assert [each for each in condor.log if each.by == "driver"] == []


def test_a_driver_runs_until_no_job_is_left(windlass, condor, tmp_path):
    options = (
        "--journal",
        str(tmp_path / "j" / "journal"),
        "--look",
        "0.05",
        "--until-idle",
        "--log",
        "json",
    )
    status, out, err = windlass(*DRIVE, *options)
    assert (status, out) == (0, "")
    lines = [json.loads(line) for line in err.splitlines()]
    assert [line["jobs"] for line in lines if line["event"] == "start"] == [["1.0", "3.0"], ["2.0"]]
    assert condor.ran == ["1.0", "3.0", "2.0"]
    assert (tmp_path / "j" / "journal").exists()


def test_a_give_back_releases_what_waits(windlass, condor, tmp_path):
    options = ("--queue", QUEUE, "--journal", str(tmp_path / "journal"))
    assert windlass("htcondor", "give-back", *options)[:2] == (0, "released: 1.0, 2.0, 3.0\n")
    assert windlass("htcondor", "give-back", *options)[:2] == (0, "no job is held for Windlass\n")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--dry-run", "--until-idle"), "--until-idle"),
        (("--look", "0"), "--look"),
        (("--patience", "nan"), "--patience is nan, expected"),
        (("--patience", "-1"), "--patience is -1.0, expected"),
        (
            ("--policies", "share=pairs"),
            "decision 'share' cannot be driven on HTCondor, expected one of order",
        ),
        (("--metrics", "here"), "--metrics"),
        (("--queue", "a b"), "--queue: 'a b': expected letters, digits, dots, hyphens and underscores"),
    ],
)
def test_wrong_options_are_one_line(windlass, condor, options, message):
    status, out, err = windlass(*DRIVE, *options)
    assert (status, out, len(err.splitlines())) == (2, "", 1)
    assert message in err
    assert [each for each in condor.log if each.by == "driver"] == []


def test_the_queue_daemon_and_the_pool_are_named_in_the_commands(windlass, monkeypatch):
    seen = []

    def answer(commands, command, timeout):
        seen.append(command[:5])
        return 0, "", ""

    monkeypatch.setattr(CondorCommands, "__call__", answer)
    status, _, err = windlass(*DRIVE, "--dry-run", "--schedd", "s1", "--pool", "cm")
    assert (status, err) == (2, "windlass: no slot is in the pool; see condor_status\n")
    # A list without slots is requested twice.
    assert seen == [("condor_status", "-pool", "cm", "-json", "-attributes")] * 2
    assert windlass("htcondor", "give-back", "--queue", QUEUE, "--schedd", "s1")[0] == 0
    assert seen[2] == ("condor_q", "-name", "s1", "-allusers", "-json")
