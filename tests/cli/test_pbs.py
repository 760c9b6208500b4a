"""`windlass pbs drive` and `give-back` against a fake PBS in real time: output, options, and errors in one line."""

import json

import pytest

from tests.engines.pbs.fake_pbs import QUEUE
from tests.engines.real_time import RealPbs
from windlass.engines.batch import driver_lock
from windlass.engines.pbs.client import PbsCommands

DRIVE = ("pbs", "drive", "--policies", "order=easy", "--queue", QUEUE)


@pytest.fixture
def pbs(monkeypatch, tmp_path):
    found = RealPbs([4])
    for run, cpus in ((0.3, 2), (0.3, 4), (0.3, 1)):
        found.submit(run, cpus, 60.0)
    monkeypatch.setattr(PbsCommands, "__call__", lambda commands, command, timeout: found(command, timeout))
    monkeypatch.setattr(driver_lock, "_folder", lambda: tmp_path)
    return found


def test_a_dry_run_prints_the_first_decision_and_writes_nothing(windlass, pbs, tmp_path):
    status, out, err = windlass(*DRIVE, "--dry-run", "--journal", str(tmp_path / "journal"))
    assert (status, err) == (0, "")
    assert out.splitlines() == [
        "1.pbs, 2 CPUs: head of the queue",
        "3.pbs, 1 CPU: backfilled, ends before the head can start",
        "qrls -h o 1.pbs 3.pbs",
        "Nothing was changed.",
    ]
    assert not (tmp_path / "journal").exists()
    assert [each for each in pbs.log if each.by == "driver"] == []


def test_a_driver_runs_until_no_job_is_left(windlass, pbs, tmp_path):
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
    assert [line["jobs"] for line in lines if line["event"] == "start"] == [["1.pbs", "3.pbs"], ["2.pbs"]]
    assert pbs.ran == ["1.pbs", "3.pbs", "2.pbs"]
    assert (tmp_path / "j" / "journal").exists()


def test_a_give_back_releases_what_waits(windlass, pbs, tmp_path):
    options = ("--queue", QUEUE, "--journal", str(tmp_path / "journal"))
    assert windlass("pbs", "give-back", *options)[:2] == (0, "released: 1.pbs, 2.pbs, 3.pbs\n")
    assert windlass("pbs", "give-back", *options)[:2] == (0, "no job is held for Windlass\n")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--dry-run", "--until-idle"), "--until-idle"),
        (("--look", "0"), "--look"),
        (("--patience", "nan"), "--patience is nan, expected"),
        (("--patience", "-1"), "--patience is -1.0, expected"),
        (("--conf", "nowhere"), "--conf: nowhere: no such file"),
        (("--policies", "share=pairs"), "decision 'share' cannot be driven on PBS, expected one of order"),
        (("--metrics", "here"), "--metrics"),
        (("--queue", "nope"), "queue 'nope': qstat: Unknown queue nope; expected one that qstat -Q lists"),
    ],
)
def test_wrong_options_are_one_line(windlass, pbs, options, message):
    status, out, err = windlass(*DRIVE, *options)
    assert (status, out, len(err.splitlines())) == (2, "", 1)
    assert message in err
    assert [each for each in pbs.log if each.by == "driver"] == []


def test_a_give_back_of_an_unknown_queue_is_refused(windlass, pbs):
    status, out, err = windlass("pbs", "give-back", "--queue", "nope")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "queue 'nope': qstat: Unknown queue nope" in err


def test_a_queue_without_vnodes_is_one_line(windlass, pbs):
    pbs.vnode_queues["n1"] = "other"
    status, _, err = windlass(*DRIVE, "--dry-run")
    assert status == 2
    assert err == f"windlass: --queue: no vnode may run jobs of queue '{QUEUE}'; see pbsnodes -a\n"
