"""``windlass slurm drive`` runs the engine of ``windlass serve``, alone: reloads, its end, and what it reports."""

from __future__ import annotations

import os
import signal
from types import SimpleNamespace

import pytest

from tests.engines.slurm.fake_commands import NOBODY_THERE
from tests.engines.slurm.strict import Strict
from windlass.agent.stop import Stop
from windlass.cli.error_handling import status_of
from windlass.cli.slurm_engine import run_slurm
from windlass.cli.slurm_policies import policy_specs
from windlass.control import serve
from windlass.control.slurm.engine import SlurmEngine, SlurmSettings
from windlass.engines.batch import driver_lock
from windlass.engines.slurm import driver
from windlass.engines.slurm.client import AwayError, Client
from windlass.engines.slurm.daemons import wait_until
from windlass.engines.slurm.entries import GivenBack
from windlass.engines.slurm.journal import read_journal
from windlass.engines.slurm.system import SlurmOptions
from windlass.model import BatchError
from windlass.policy.user_code import contain_policies

MINE = """
from windlass.order.site.view import Start

class Mine:
    name = "mine"

    def decide(self, view):
        {0}
        return Start(tuple(view.waiting.job[:1].tolist()) if view.free == 4 else (), "mine {1}")
"""


EXITS = """
class Mine:
    name = "mine"

    def __init__(self):
        raise SystemExit(0)

    def decide(self, view):
        raise AssertionError
"""


@pytest.fixture(autouse=True)
def _own_locks(tmp_path, monkeypatch):
    monkeypatch.setattr(driver_lock, "_folder", lambda: tmp_path)
    monkeypatch.setattr(driver, "detect_groups", lambda name: SimpleNamespace(release_all=lambda: None))
    monkeypatch.setattr(serve, "_POLL", 0.001)


class Bench:
    """A strict Slurm, and what the command reports."""

    def __init__(self, folder):
        self.slurm, self.lines, self.folder, self.reload = Strict(), [], folder, None

    def drive(self, text, runner=None, *, until_idle=True, patience=0.0, **words):
        """Run the command's engine."""
        options = SlurmOptions(pace=0.0, until_idle=until_idle)

        def read():
            return SlurmSettings(
                policy_specs(text), options, patience=patience, book=self.folder / "book", gives_up=True
            )

        client = Client(runner or self.slurm, patience=patience, notify=self.lines.append)
        run_slurm(read, client, self.lines.append, None, **words)


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("second", "line"),
    [
        (MINE.format("pass", 2), "reloaded; waiting jobs stayed held: order=mine"),
        ("1 +", "not reloaded, the driver goes on: {file}, line 1: cannot be imported"),
        (None, "not reloaded, the driver goes on: policies.order: {file}: no such file"),
        (EXITS, "not reloaded, the driver goes on: policy 'mine' ({file}, line 6) exits (status 0)"),
    ],
)
def test_policies_are_read_again_on_sighup_while_jobs_stay_held(bench, monkeypatch, second, line):
    file = bench.folder / "mine.py"
    for number in (7, 8, 9):
        bench.slurm.submit(number, 4, looks=4)
    file.write_text(MINE.format("pass", 1))
    monkeypatch.setattr("os.isatty", lambda number: False)

    parts, part = [], Stop.part
    monkeypatch.setattr(Stop, "part", lambda self, **words: parts.append(part(self, **words)) or parts[-1])

    def again():
        file.unlink() if second is None else file.write_text(second)
        os.kill(os.getpid(), signal.SIGHUP)
        # The reload is complete, or refused, before the next decision.
        assert wait_until(lambda: parts[0].requested or bench.lines[-1].startswith("not reloaded"), 60.0)

    bench.slurm.at[4] = again
    bench.drive(f"order={file}")
    assert bench.slurm.changes() == [("release", "7"), ("release", "8"), ("release", "9")]
    assert next(each for each in bench.lines if "reloaded" in each).startswith(line.format(file=file))
    reasons = [each.partition(": ")[2] for each in bench.lines if each.startswith("start")]
    version = 2 if line.startswith("reloaded") else 1
    assert reasons == ["mine 1 (2 wait)", f"mine {version} (1 wait)", f"mine {version} (0 wait)"]
    # No driver gave the queue back.
    assert not [each for each in read_journal(bench.folder / "book") if isinstance(each, GivenBack)]


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGTERM, 0), (signal.SIGINT, 130), (signal.SIGHUP, 130)]
)
def test_a_signal_gives_the_queue_back(bench, monkeypatch, capsys, number, status):
    # On a terminal, SIGHUP means that it was closed.
    monkeypatch.setattr("os.isatty", lambda number: True)
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    try:
        for job in (7, 8):
            bench.slurm.submit(job, 4, looks=10**9)
        bench.slurm.at[6] = lambda: os.kill(os.getpid(), number)
        with pytest.raises(SystemExit) as ended:
            bench.drive("fcfs", until_idle=False)
    finally:
        signal.signal(signal.SIGHUP, before)
    assert ended.value.code == status
    assert bench.slurm.states() == {7: "RUNNING", 8: "PENDING"}
    assert capsys.readouterr().err == "windlass: interrupted; running jobs continue\n"
    assert bench.lines[-1] == "given back to Slurm: 8"


def test_a_slurm_that_stays_away_ends_the_command(bench, monkeypatch):
    monkeypatch.setattr(driver, "_GIVE_BACK_S", 0.0)
    bench.slurm.submit(7, 9)
    away = []
    bench.slurm.at[3] = lambda: away.append(True)

    def run(command, timeout):
        return (0, NOBODY_THERE, "") if away and command[0] == "squeue" else bench.slurm(command, timeout)

    with pytest.raises(AwayError):
        bench.drive("fcfs", run, until_idle=False)


@pytest.mark.parametrize("number", [None, signal.SIGTERM])
def test_a_slurm_that_stays_away_after_a_reload_leaves_a_line_on_held_jobs(bench, monkeypatch, number):
    for job in (7, 8, 9):
        bench.slurm.submit(job, 4, looks=10**9)
    monkeypatch.setattr("os.isatty", lambda number: False)
    bench.slurm.at[6] = lambda: os.kill(os.getpid(), signal.SIGHUP)
    killed = []

    def run(command, timeout):
        if not [line for line in bench.lines if "stay held for the next driver" in line]:
            return bench.slurm(command, timeout)
        if number is not None and not killed:
            killed.append(os.kill(os.getpid(), number))
        return 1, "", "Unable to contact slurm controller (connect failure)"

    ended = AwayError if number is None else SystemExit
    with pytest.raises(ended) as raised:
        bench.drive("fcfs", run, until_idle=False, patience=0.0 if number is None else 60.0)
    assert number is None or raised.value.code == 1
    assert bench.slurm.states() == {7: "RUNNING", 8: "held", 9: "held"}
    assert "jobs may still be held; `windlass slurm give-back` releases them" in bench.lines


def test_a_stop_while_slurm_is_away_after_a_reload_is_a_failure_of_serve(bench):
    for job in (7, 8):
        bench.slurm.submit(job, 4, looks=10**9)
    stop, reload = Stop(), serve.Reload(lambda: [engine()])

    def run(command, timeout):
        if not [line for line in bench.lines if "stay held for the next driver" in line]:
            return bench.slurm(command, timeout)
        stop.notify()
        return 1, "", "Unable to contact slurm controller (connect failure)"

    def engine():
        settings = SlurmSettings(
            policy_specs("fcfs"), SlurmOptions(pace=0.0), patience=0.0, book=bench.folder / "b"
        )
        return SlurmEngine(settings, acts=True, report=bench.lines.append, runner=run)

    bench.slurm.at[6] = reload.requested.set
    with pytest.raises(BatchError, match="stopped, and jobs may still be held; `windlass slurm give-back`"):
        serve.serve_alone(engine(), stop, bench.lines.append, reload)
    assert "jobs may still be held; `windlass slurm give-back` releases them" in bench.lines


@pytest.mark.parametrize("line", ["raise SystemExit(0)", "import os; os._exit(0)"])
def test_a_policy_that_exits_is_the_error_of_the_command(bench, capsys, line):
    file = bench.folder / "mine.py"
    file.write_text(MINE.format(line, 1))
    bench.slurm.submit(7)
    with contain_policies(), pytest.raises(SystemExit) as raised:
        bench.drive(f"order={file}")
    assert status_of(raised.value) == 2
    assert f"policy 'mine' ({file}, line 8) " in capsys.readouterr().err
    assert bench.slurm.states() == {7: "PENDING"}
    assert bench.lines[-1] == "given back to Slurm: 7"


def test_a_policy_that_raises_is_the_error_of_the_command(bench):
    file = bench.folder / "mine.py"
    file.write_text(MINE.format("raise ValueError('no')", 1))
    bench.slurm.submit(7)
    with pytest.raises(ValueError, match="no"):
        bench.drive(f"order={file}")
    assert bench.slurm.states() == {7: "PENDING"}
