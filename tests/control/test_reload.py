"""Other engines while the control plane runs: what they take over, and what is given back."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import pytest

from tests.control.test_slurm_engine import Bench, _own_locks  # noqa: F401 (a fixture that is used by itself)
from tests.engines.slurm.shims import Shims
from windlass.agent.stop import Stop
from windlass.control.engine import EngineStoppedError
from windlass.control.journal import JournalReader, RowFilter
from windlass.control.serve import Reload, ServeOptions, serve
from windlass.experiment.worlds.policy import PolicySpec
from windlass.model import InputError

PATIENCE = 60.0


@pytest.fixture
def bench(tmp_path):
    found = Bench(tmp_path)
    # The first job takes all processors for as long as the test runs; the others wait.
    found.slurm.submit(7, 4, looks=10**6)
    for job, minutes in ((8, 50), (9, 5)):
        found.slurm.submit(job, 4, looks=1, time_limit={"set": True, "infinite": False, "number": minutes})
    return found


def run(bench, first, read, polls=6, then=lambda: None):
    """Serve an engine, request a reload after some polls, and stop some polls after it was handled."""
    stop, lines = Stop(), bench.lines
    reload = Reload(read)

    def report(line):
        lines.append(line)
        if line.startswith(("reloaded", "not reloaded")):
            then()
            bench.slurm.at[bench.slurm.looks + polls] = stop.notify
            # An engine that drives nothing polls nothing.
            threading.Timer(2.0, stop.notify).start()

    bench.slurm.at[polls] = reload.requested.set
    serve([first], ServeOptions(bench.folder / "journal.db"), stop, report, reload=reload)


def answers(bench):
    with JournalReader(bench.folder / "journal.db") as reader:
        return [(row.policy, row.job.id) for row in reversed(reader.decisions(RowFilter()).rows)]


def test_the_next_engine_takes_over_the_jobs_that_wait(bench):
    held = []

    def read():
        # Slurm starts nothing on its own between the two engines.
        held.append(bench.slurm.states())
        return [bench.engine(policy=PolicySpec(name="sjf"))]

    def end_first():
        bench.slurm.left[7] = 2

    run(bench, bench.engine(), read, polls=20, then=end_first)
    assert held == [{7: "RUNNING", 8: "held", 9: "held"}]
    assert answers(bench) == [("fcfs", "7"), ("sjf", "9"), ("sjf", "8")]
    assert "waiting jobs stay held for the next driver" in " ".join(bench.lines)
    # The book of the two drivers is one: each job was released once.
    assert [action for job, action, _ in bench.acts() if job == "8"] == ["release"]


@pytest.mark.slow
@pytest.mark.parametrize("other", [{"partition": "long"}, {"conf": "other.conf"}])
def test_an_engine_of_another_scope_takes_nothing_over(bench, other, tmp_path):
    class Elsewhere:
        name, about, now = "slurm", "another partition", 0.0
        scope = ("slurm", *other.items())

        def prepare(self, compiling=None):
            pass

        def run(self, journal, stop):
            stop.wait(PATIENCE)
            raise EngineStoppedError("stopped on request")

    run(bench, bench.engine(), lambda: [Elsewhere()])
    assert bench.slurm.states() == {7: "RUNNING", 8: "PENDING", 9: "PENDING"}


def test_engines_go_on_if_the_file_cannot_be_used(bench):
    def read():
        raise InputError("cluster.yaml: engines.0.policies.order: no policy 'eazy'")

    seen = []
    bench.slurm.at[9] = lambda: seen.append(bench.slurm.states())
    run(bench, bench.engine(), read)
    assert seen == [{7: "RUNNING", 8: "held", 9: "held"}]
    assert [line for line in bench.lines if line.startswith("not reloaded")] == [
        "not reloaded, the engines go on: cluster.yaml: engines.0.policies.order: no policy 'eazy'"
    ]
    assert "reloaded" not in bench.lines


def test_a_stop_during_a_reload_gives_the_queue_back(bench):
    stop = Stop()

    def read():
        stop.notify()
        return [bench.engine(policy=PolicySpec(name="sjf"))]

    reload = Reload(read)
    bench.slurm.at[6] = reload.requested.set
    serve(
        [bench.engine()], ServeOptions(bench.folder / "journal.db"), stop, bench.lines.append, reload=reload
    )
    assert bench.slurm.states() == {7: "RUNNING", 8: "PENDING", 9: "PENDING"}


def test_a_stop_after_the_old_engine_ended_is_obeyed_by_the_new_one(bench):
    stop = Stop()

    def report(line):
        bench.lines.append(line)
        # The old engine has handed over, and the new one has not begun.
        if line == "slurm: stopped":
            stop.notify()

    reload = Reload(lambda: [bench.engine(policy=PolicySpec(name="sjf"))])
    bench.slurm.at[6] = reload.requested.set
    serve([bench.engine()], ServeOptions(bench.folder / "journal.db"), stop, report, reload=reload)
    assert "waiting jobs stay held for the next driver" in " ".join(bench.lines)
    assert bench.slurm.states() == {7: "RUNNING", 8: "PENDING", 9: "PENDING"}


def test_parts_of_a_stop_are_stopped_alone_or_together():
    stop = Stop()
    one, other = stop.part(), stop.part()
    one.notify(hands_over=True)
    assert (one.requested, one.hands_over, other.requested, stop.requested) == (True, True, False, False)
    stop.notify()
    assert (one.hands_over, other.requested, other.hands_over) == (False, True, False)
    assert stop.part().requested
    late = Stop()
    late.notify()
    late.notify(hands_over=True)
    assert not late.hands_over


@pytest.mark.slow
@pytest.mark.parametrize("edit", ["engines: [{engine: slurm, policies: {order: sjf}}]", "engines: ["])
def test_sighup_reads_the_file_again(tmp_path, edit):
    slurm = Shims(tmp_path / "slurm")
    file = tmp_path / "cluster.yaml"
    file.write_text("engines: [{engine: slurm, policies: {order: easy}}]")
    words = [sys.executable, "-m", "windlass", "serve", str(file), "--listen", "127.0.0.1:0"]
    words += ["--journal", str(tmp_path / "control.db")]
    environment = {**os.environ, **slurm.environment(), "XDG_STATE_HOME": str(tmp_path)}
    process = subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment
    )
    try:
        lines = []
        for line in process.stderr:
            lines.append(line)
            if "pages: " in line:
                # The handler is there before the line.
                file.write_text(edit)
                process.send_signal(signal.SIGHUP)
            if "reloaded" in line:
                break
        assert ("not reloaded, the engines go on" in lines[-1]) == edit.endswith("["), lines
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
