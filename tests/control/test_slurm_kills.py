"""A control plane that is killed at drawn moments and restarted: no job is released twice, and nothing is lost.

A moment is before or after a command of Slurm, an entry of the driver's journal, or rows of the control plane's.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections import Counter

import pytest

from tests.control.moments import ROOT
from tests.engines.slurm.shims import Shims
from tests.kills import kills
from windlass.control.journal import JournalReader, RowFilter
from windlass.engines.batch.driver_lock import DriverLock

#: Forks a control plane for each line: the number of the moment at which it kills itself, or -1 to run until all jobs
#: have ended. Prints the status of each.
SERVER = """
import os, sys
from pathlib import Path
from tests.control.moments import left, stepped
from windlass.agent.stop import Stop
from windlass.control.journal import JournalWriter
from windlass.control.serve import ServeOptions, serve
from windlass.control.slurm import starts
from windlass.control.slurm.engine import SlurmEngine, SlurmSettings
from windlass.engines.slurm.commands import Commands
from windlass.engines.slurm.journal import Journal
from windlass.engines.slurm.system import SlurmOptions
from windlass.experiment.worlds.policy import PolicySpec

folder = Path(sys.argv[1])
# Predictions are of no interest here, and would be compiled.
starts._TICK = 3600.0

for owner, name in ((Journal, "append"), *((JournalWriter, name) for name in ("append", "intend_all", "conclude_all"))):
    setattr(owner, name, stepped(getattr(owner, name)))

def serve_until(moments):
    stop, run, left[0] = Stop(), stepped(Commands()), moments
    def command(words, timeout):
        found = run(words, timeout)
        if moments < 0 and words[0] == "squeue" and "PENDING" not in found[1] and "RUNNING" not in found[1]:
            stop.notify()
        return found
    settings = SlurmSettings(
        {"order": PolicySpec(name="fcfs")}, SlurmOptions(pace=0.001), book=folder / "book", accounting=False
    )
    engine = SlurmEngine(settings, acts=True, report=print, runner=command)
    serve([engine], ServeOptions(folder / "journal.db"), stop, lambda line: print(line, file=sys.stderr))

for line in sys.stdin:
    child = os.fork()
    if child == 0:
        try:
            serve_until(int(line))
        except BaseException as error:
            print(repr(error), file=sys.stderr)
            os._exit(1)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
#: Processes that are killed; the longest of them has this many moments.
KILLS, MOMENTS = kills(6), 70


class Server:
    """Control planes, one at a time."""

    def __init__(self, folder, environment):
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVER, str(folder)],
            cwd=ROOT,
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, moments):
        """Run a control plane, and return its exit status."""
        self.process.stdin.write(f"{moments}\n")
        self.process.stdin.flush()
        while not (line := self.process.stdout.readline().strip()).lstrip("-").isdecimal():
            assert line, "the server has ended"
        return int(line)

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        assert self.process.wait() == 0


@pytest.fixture
def slurm(tmp_path):
    shims = Shims(tmp_path / "slurm")
    yield shims
    lock = DriverLock("slurm", f"shims{os.getpid()}:here:1")
    lock.path.unlink()
    lock.close()


@pytest.mark.slow
def test_no_job_is_released_twice_and_nothing_is_lost(slurm, tmp_path):
    rng, server, killed = random.Random(7), Server(tmp_path, slurm.environment()), Counter()
    for _ in range(KILLS):
        slurm.submit(2)
        killed[server.run(rng.randrange(1, MOMENTS))] += 1
    assert set(killed) == {-signal.SIGKILL}
    assert server.run(-1) == 0
    server.close()
    jobs = [str(number) for number in range(1, 2 * KILLS + 1)]
    assert sorted(slurm.released()) == [int(job) for job in jobs]
    assert set(slurm.states().values()) == {"COMPLETED"}
    with JournalReader(tmp_path / "journal.db") as reader:
        assert reader.open_acts() == ()
        acts = reader.acts(limit=500).rows
        (seen,) = reader.engines()
        (view,) = reader.views()
        events = {job: reader.events(RowFilter(job=job)).rows for job in jobs}
        decided = {row.job.id for row in reader.decisions(limit=500).rows}
    done = Counter(
        act.job.id for act in acts if act.outcome in ("released", "carried out, as found after a restart")
    )
    assert done == dict.fromkeys(jobs, 1)
    # An act that was not carried out is followed by another one.
    assert all(act.action == "release" for act in acts)
    assert decided == set(jobs)
    for rows in events.values():
        assert sorted(row.kind for row in rows) == ["ended", "started", "submitted"]
    assert seen.status.state == "stopped"
    assert '"running_count":0,"waiting_count":0' in view.content
