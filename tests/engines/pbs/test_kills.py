"""`windlass pbs drive` as a process: killed while it releases jobs, and stopped by SIGTERM."""

from __future__ import annotations

import os
import signal
import time

import numpy as np
import pytest

from tests.engines.ends import PATIENCE, Ends
from tests.engines.pbs.fake_pbs import OTHER_QUEUE, QUEUE
from tests.engines.real_time import RealPbs
from tests.engines.shims import shims
from tests.engines.starts import PBS, Starts
from windlass.engines.batch.entries import Decided
from windlass.engines.batch.holds.entries import HeldAgain, HoldingAgain, Lifting
from windlass.engines.batch.holds.journal import HoldJournal, read_hold_journal

pytestmark = pytest.mark.slow
COUNT, KILLS = 60, 10


def test_a_driver_killed_10_times_releases_each_job_once_in_order(tmp_path):
    rng = np.random.default_rng(7)
    pbs, ends, journal, output = (
        RealPbs([4, 4]),
        Ends(rng, "qrls", "qstat"),
        tmp_path / "journal",
        tmp_path / "printed",
    )
    for _ in range(COUNT):
        pbs.submit(float(rng.uniform(0.2, 0.6)), int(rng.integers(1, 5)), 60.0)
    pbs.submit(1.0, 1, queue=OTHER_QUEUE, holds="o")
    pbs.submit(1.0, 1, holds="ou")
    output.touch()
    command = ["pbs", "drive", "--queue", QUEUE, "--policies", "order=fcfs", "--look", "0.05"]
    command += ["--journal", str(journal), "--keep-held"]
    with (
        shims(tmp_path, pbs, ends.before, ends.after) as environment,
        Starts(environment, PBS) as starts,
    ):
        for _ in range(KILLS):
            ends.arm()
            ends.pid = starts.start(command, output)
            assert starts.status() == -signal.SIGKILL, output.read_text()
        ends.how = ""
        before = len(pbs.ran)
        assert before < COUNT, "the kills came too late to matter"
        starts.start([*command, "--until-idle"], output)
        assert starts.status() == 0, output.read_text()
    assert "Traceback" not in output.read_text()
    wanted = [f"{number}.pbs" for number in range(1, COUNT + 1)]
    assert [each.job for each in pbs.log if each.by == "driver" and not each.held] == wanted
    assert sorted(pbs.ran) == sorted(wanted)
    assert [each for each in pbs.log if each.by == "driver" and each.held] == []
    entries = read_hold_journal(journal)
    decided = {job for entry in entries if isinstance(entry, Decided) for job in entry.jobs}
    assert {entry.job for entry in entries if isinstance(entry, Lifting)} == decided == set(wanted)
    assert not any(isinstance(entry, HoldingAgain | HeldAgain) for entry in entries)
    with HoldJournal(journal) as left:
        assert left.standing.under_way.keys() <= {wanted[-1]}


def test_sigterm_gives_the_queue_back_and_ends_with_0(tmp_path):
    pbs, output = RealPbs([4]), tmp_path / "printed"
    for _ in range(3):
        pbs.submit(60.0, 4, 100.0)
    command = ["pbs", "drive", "--queue", QUEUE, "--policies", "easy", "--look", "0.05"]
    command += ["--journal", str(tmp_path / "journal")]
    with shims(tmp_path, pbs) as environment, Starts(environment, PBS) as starts:
        pid = starts.start(command, output)
        end = time.monotonic() + PATIENCE
        while not pbs.ran and time.monotonic() < end:
            time.sleep(0.05)
        os.kill(pid, signal.SIGTERM)
        assert starts.status() == 0, output.read_text()
    assert pbs.ran == ["1.pbs"]
    assert all(not job.holds for job in pbs.jobs.values())
    assert "given back to PBS: 2.pbs, 3.pbs" in output.read_text()
