"""`windlass slurm drive` and `give-back`, ended at random times: each release is in a complete journal.

Slurm's commands are shell scripts here; a real Slurm is tested in `test_real.py` and `test_shares.py`.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections import Counter

import numpy as np
import pytest

from tests.engines.kubernetes.served import environment
from tests.engines.slurm.shims import Shims
from tests.engines.starts import SLURM, Starts
from tests.kills import PRINTED, kills
from windlass.engines.batch.driver_lock import DriverLock
from windlass.engines.slurm.daemons import wait_until
from windlass.engines.slurm.entries import GivenBack, Releasing
from windlass.engines.slurm.journal import Journal, read_journal

pytestmark = pytest.mark.slow
PATIENCE = 300.0
#: Number of ends, by each signal in turn; WINDLASS_KILLS sets more, and prints them.
KILLS = kills()
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
#: Each fifth run is a give-back, which ends on its own if it is not ended before.
BACK = 5


@pytest.fixture
def slurm(tmp_path):
    shims = Shims(tmp_path / "slurm")
    yield shims
    lock = DriverLock("slurm", f"shims{os.getpid()}:here:1")
    lock.path.unlink()
    lock.close()


def promised(path):
    """Return the released jobs of a journal."""
    found = set()
    for entry in read_journal(path) if path.exists() else ():
        if isinstance(entry, Releasing):
            found.add(entry.job)
        elif isinstance(entry, GivenBack):
            found.update(entry.jobs)
    return found


class Driver:
    """A driver that is restarted repeatedly."""

    def __init__(self, starts, slurm, folder):
        self.starts, self.slurm, self.output = starts, slurm, folder / "said"
        self.journal, self.ends = folder / "journal", Counter()
        self.output.touch()

    def start(self, *words):
        """Start it with this journal and return its process id."""
        return self.starts.start(["slurm", *words, "--journal", str(self.journal)], self.output)

    def end(self, name, pid, by):
        """Return its status and its output."""
        with contextlib.suppress(*([ProcessLookupError] if name == "give-back" else [])):
            # A give-back may have ended before.
            os.kill(pid, by)
        status, output = self.starts.status(), self.output.read_text()
        self.output.write_text("")
        # Before it has started, SIGTERM ends it like any program.
        usual = {signal.SIGKILL: (-by,), signal.SIGTERM: (-by, 0, 130), signal.SIGINT: (130,)}[by]
        assert status in (*usual, *([0] if name == "give-back" else [])), output
        assert "Traceback" not in output
        if status == 130 or (name == "drive" and status == 0):
            assert output.splitlines()[-1].startswith("windlass: interrupted"), output
        self.ends[name, by.name, status] += 1
        return status, output


DRIVE = ("drive", "--policies", "order=fcfs", "--look", "0.02")


def one_more(driver, number, rng):
    """Start a driver and end it."""
    slurm, by = driver.slurm, SIGNALS[number % len(SIGNALS)]
    slurm.submit(2)
    before = slurm.released()
    if number % BACK == BACK - 1:
        pid = driver.start("give-back")
        time.sleep(float(rng.uniform(0.0, 0.6)))
        driver.end("give-back", pid, by)
        assert set(slurm.released()[len(before) :]) <= promised(driver.journal)
        return
    pid = driver.start(*DRIVE)
    if number % 3:
        # Most runs are ended only after they have started work.
        assert wait_until(lambda: slurm.released() != before, PATIENCE), driver.output.read_text()
    time.sleep(float(rng.uniform(0.0, 0.4)))
    _, output = driver.end("drive", pid, by)
    assert set(slurm.released()[len(before) :]) <= promised(driver.journal)
    if "running jobs continue" in output:
        assert "held" not in slurm.states().values()


def test_releases_are_journalled_first_whenever_the_driver_is_ended(slurm, tmp_path, capsys):
    rng = np.random.default_rng(18)
    with Starts({**environment(), **slurm.environment()}, SLURM) as starts:
        driver = Driver(starts, slurm, tmp_path)
        for number in range(KILLS):
            one_more(driver, number, rng)
        driver.start(*DRIVE, "--until-idle")
        assert starts.status() == 0, driver.output.read_text()
    assert set(slurm.states().values()) == {"COMPLETED"}
    assert len(slurm.states()) == 2 * KILLS
    with Journal(driver.journal) as journal:
        assert (journal.notices, dict(journal.under_way)) == ((), {})
    assert {each.name for each in tmp_path.iterdir()} == {"slurm", "said", "journal", "journal.lock"}
    if PRINTED:
        with capsys.disabled():
            print(f"\nslurm, ended {KILLS} times, {len(set(slurm.released()))} jobs let go:")
            for (name, by, status), times in sorted(driver.ends.items()):
                print(f"  {name}, {by}, status {status}: {times}")
