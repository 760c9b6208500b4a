"""`windlass htcondor drive` as a process: killed while it releases jobs, and stopped by SIGTERM."""

from __future__ import annotations

import os
import signal
import time

import numpy as np
import pytest

from tests.engines.ends import PATIENCE, Ends
from tests.engines.htcondor.fake_condor import HELD, OTHER_QUEUE, QUEUE
from tests.engines.real_time import RealCondor
from tests.engines.shims import HTCONDOR as PROGRAMS
from tests.engines.shims import shims
from tests.engines.starts import HTCONDOR, Starts
from windlass.engines.batch.entries import Decided
from windlass.engines.batch.holds.entries import HeldAgain, HoldingAgain, Lifting
from windlass.engines.batch.holds.journal import HoldJournal, read_hold_journal

pytestmark = pytest.mark.slow
COUNT, KILLS = 60, 10


def test_a_driver_killed_10_times_releases_each_job_once_in_order(tmp_path):
    rng = np.random.default_rng(7)
    condor, ends = RealCondor([4, 4]), Ends(rng, "condor_release", "condor_q")
    journal, output = tmp_path / "journal", tmp_path / "printed"
    for _ in range(COUNT):
        condor.submit(float(rng.uniform(0.2, 0.6)), int(rng.integers(1, 5)), 60.0)
    condor.submit(1.0, 1, queue=OTHER_QUEUE)
    condor.hold(condor.submit(1.0, 1))
    output.touch()
    command = ["htcondor", "drive", "--queue", QUEUE, "--policies", "order=fcfs", "--look", "0.05"]
    command += ["--journal", str(journal), "--keep-held"]
    with (
        shims(tmp_path, condor, ends.before, ends.after, PROGRAMS) as environment,
        Starts(environment, HTCONDOR) as starts,
    ):
        for _ in range(KILLS):
            ends.arm()
            ends.pid = starts.start(command, output)
            assert starts.status() == -signal.SIGKILL, output.read_text()
        ends.how = ""
        before = len(condor.ran)
        assert before < COUNT, "the kills came too late to matter"
        starts.start([*command, "--until-idle"], output)
        assert starts.status() == 0, output.read_text()
    assert "Traceback" not in output.read_text()
    wanted = [f"{number}.0" for number in range(1, COUNT + 1)]
    assert [each.job for each in condor.log if each.by == "driver" and not each.held] == wanted
    assert sorted(condor.ran) == sorted(wanted)
    assert [each for each in condor.log if each.by == "driver" and each.held] == []
    entries = read_hold_journal(journal)
    decided = {job for entry in entries if isinstance(entry, Decided) for job in entry.jobs}
    assert {entry.job for entry in entries if isinstance(entry, Lifting)} == decided == set(wanted)
    assert not any(isinstance(entry, HoldingAgain | HeldAgain) for entry in entries)
    with HoldJournal(journal) as left:
        assert left.standing.under_way.keys() <= {wanted[-1]}


def test_sigterm_gives_the_queue_back_and_ends_with_0(tmp_path):
    condor, output = RealCondor([4]), tmp_path / "printed"
    for _ in range(3):
        condor.submit(60.0, 4, 100.0)
    command = ["htcondor", "drive", "--queue", QUEUE, "--policies", "easy", "--look", "0.05"]
    command += ["--journal", str(tmp_path / "journal")]
    with shims(tmp_path, condor, programs=PROGRAMS) as environment, Starts(environment, HTCONDOR) as starts:
        pid = starts.start(command, output)
        end = time.monotonic() + PATIENCE
        while not condor.ran and time.monotonic() < end:
            time.sleep(0.05)
        os.kill(pid, signal.SIGTERM)
        assert starts.status() == 0, output.read_text()
    assert condor.ran == ["1.0"]
    assert all(job.status != HELD for job in condor.jobs.values())
    assert "given back to HTCondor: 2.0, 3.0" in output.read_text()
