"""`windlass pbs drive` and `htcondor drive`: a reload on SIGHUP, signals, and jobs that stay held, against fakes."""

from __future__ import annotations

import os
import re
import signal
import threading

import pytest

from tests.engines.htcondor import fake_condor
from tests.engines.pbs import fake_pbs
from tests.engines.real_time import RealCondor, RealPbs
from windlass.agent.stop import Stop
from windlass.control import serve
from windlass.engines.batch import driver_lock
from windlass.engines.batch.holds import driver
from windlass.engines.htcondor.client import CondorCommands
from windlass.engines.pbs.client import PbsCommands

MINE = """
from windlass.order.site.view import Start

class Mine:
    name = "mine"

    def decide(self, view):
        return Start(tuple(view.waiting.job[:1].tolist()) if view.free == 4 else (), "mine {0}")
"""
PBS = ("pbs", fake_pbs.QUEUE, RealPbs, PbsCommands)
CONDOR = ("htcondor", fake_condor.QUEUE, RealCondor, CondorCommands)


class Bench:
    """A fake of a system that makes a call at the first command for which `when` holds."""

    def __init__(self, kind):
        self.name, self.queue, fake, _ = kind
        self.fake, self.when, self.call = fake([4]), lambda command: False, None
        self.away = ""

    def __call__(self, command, timeout):
        if self.call is not None and self.when(command):
            call, self.call = self.call, None
            call()
        return (1, "", self.away) if self.away else self.fake(command, timeout)


@pytest.fixture(params=[PBS, CONDOR], ids=["pbs", "htcondor"])
def bench(request, monkeypatch, tmp_path):
    found = Bench(request.param)
    monkeypatch.setattr(request.param[3], "__call__", found.__call__)
    monkeypatch.setattr(driver_lock, "_folder", lambda: tmp_path)
    monkeypatch.setattr(serve, "_POLL", 0.001)
    monkeypatch.setattr("os.isatty", lambda number: False)
    return found


def is_release(command):
    return command[0] in ("qrls", "condor_release")


@pytest.fixture
def drive(bench, windlass, tmp_path):
    def run(policy, *options):
        common = ("--queue", bench.queue, "--journal", str(tmp_path / "journal"), "--look", "0.02")
        status, out, err = windlass(bench.name, "drive", "--policies", f"order={policy}", *common, *options)
        assert out == ""
        return status, err.splitlines()

    return run


@pytest.mark.matrix(0.25)
@pytest.mark.parametrize("second", [MINE.format(2), "1 +"], ids=["another policy", "an error"])
def test_policies_are_read_again_on_sighup_while_jobs_stay_held(bench, drive, monkeypatch, tmp_path, second):
    file = tmp_path / "mine.py"
    file.write_text(MINE.format(1))
    for _ in range(3):
        bench.fake.submit(0.2, 4, 60.0)
    done, replaced, refused = threading.Event(), serve.Supervisor.replace, serve.describe_failure
    monkeypatch.setattr(
        serve.Supervisor, "replace", lambda self, engines: (done.set(), replaced(self, engines))
    )
    monkeypatch.setattr(serve, "describe_failure", lambda error: (done.set(), refused(error))[1])

    def again():
        file.write_text(second)
        os.kill(os.getpid(), signal.SIGHUP)
        # The reload is under way before this job can end.
        assert done.wait(60.0)

    bench.when, bench.call = is_release, again
    status, lines = drive(file, "--until-idle")
    assert status == 0
    version = 2 if second != "1 +" else 1
    reasons = [found[1] for line in lines if (found := re.search(r"start .*: (mine \d)", line))]
    assert reasons == ["mine 1", f"mine {version}", f"mine {version}"]
    assert len(bench.fake.ran) == 3
    text = "\n".join(lines)
    assert ("reloaded; waiting jobs stayed held: order=mine" in text) is (version == 2)
    assert ("waiting jobs stay held for the next driver" in text) is (version == 2)
    assert ("not reloaded, the driver goes on: " in text) is (version == 1)
    assert "given back" not in text


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_gives_the_queue_back(bench, drive, number, status):
    for _ in range(2):
        bench.fake.submit(1000.0, 4, 2000.0)
    bench.when, bench.call = is_release, lambda: os.kill(os.getpid(), number)
    found, lines = drive("fcfs")
    assert found == status
    assert lines[-1] == "windlass: interrupted; running jobs continue"
    assert "given back to" in lines[-2]


@pytest.mark.parametrize("keeps", [False, True])
def test_a_system_that_is_away_after_a_reload_leaves_a_line_on_held_jobs(bench, drive, monkeypatch, keeps):
    for _ in range(2):
        bench.fake.submit(1000.0, 4, 2000.0)
    monkeypatch.setattr(driver, "_GIVE_BACK_S", 0.0)
    part, stops = Stop.part, []

    def parted(self, **words):
        stops.append(part(self, **words))
        if len(stops) == 2:
            # The first driver has ended, and the next one finds that the system is away, until it is terminated.
            bench.away = "Connection refused"
            bench.when, bench.call = lambda command: True, lambda: os.kill(os.getpid(), signal.SIGTERM)
        return stops[-1]

    monkeypatch.setattr(Stop, "part", parted)
    bench.when, bench.call = is_release, lambda: os.kill(os.getpid(), signal.SIGHUP)
    status, lines = drive("fcfs", *(["--keep-held"] if keeps else []))
    by_hand = f"jobs may still be held; `windlass {bench.name} give-back` releases them"
    assert [by_hand in line for line in lines].count(True) == (0 if keeps else 1)
    assert status == (0 if keeps else 1)


@pytest.mark.parametrize("to", ["process", "thread"])
def test_a_second_signal_ends_the_wait_for_a_system_that_is_away(bench, drive, monkeypatch, to):
    """A signal that another thread receives does not wake the main thread, which runs its handler."""
    for _ in range(2):
        bench.fake.submit(1000.0, 4, 2000.0)
    part, wholes = Stop.part, []
    monkeypatch.setattr(Stop, "part", lambda self, **words: (part(self, **words), wholes.append(self))[0])

    def first():
        bench.away = "Connection refused"
        os.kill(os.getpid(), signal.SIGTERM)
        # Two signals that are pending at once are one.
        assert wholes[-1].wait(60.0)
        # The give-back lists the jobs.
        bench.when = lambda command: command[0] in ("qstat", "condor_q")
        bench.call = second

    def second():
        if to == "process":
            os.kill(os.getpid(), signal.SIGTERM)
        else:
            signal.pthread_kill(threading.get_ident(), signal.SIGTERM)

    bench.when, bench.call = is_release, first
    status, lines = drive("fcfs")
    text = "\n".join(lines)
    assert "does not answer, and a second signal ended the wait for it" in text, text
    assert status == 1
