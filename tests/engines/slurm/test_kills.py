"""`windlass slurm drive` and `give-back`, ended at random instants: whom they let go is in the journal, which is whole.

Slurm's commands are small programs here; what a real one does meanwhile is in `test_real.py` and `test_shares.py`.
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
from windlass.engines.slurm.daemons import wait_until
from windlass.engines.slurm.entries import GivenBack, Releasing
from windlass.engines.slurm.journal import Journal, read_journal
from windlass.engines.slurm.lock import DriverLock

pytestmark = pytest.mark.slow
PATIENCE = 300.0
#: How often they are ended, by each of these in turn; WINDLASS_KILLS asks for more, and has it printed how.
KILLS = kills()
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
#: Each fifth is one that gives back: it ends by itself, if it is not ended before.
BACK = 5


@pytest.fixture
def slurm(tmp_path):
    shims = Shims(tmp_path / "slurm")
    yield shims
    lock = DriverLock(f"shims{os.getpid()}:here:1")
    lock.path.unlink()
    lock.close()


def promised(path):
    """Whom a journal says to be let go."""
    found = set()
    for entry in read_journal(path) if path.exists() else ():
        if isinstance(entry, Releasing):
            found.add(entry.job)
        elif isinstance(entry, GivenBack):
            found.update(entry.jobs)
    return found


class Driver:
    """A driver that is started again and again."""

    def __init__(self, starts, slurm, folder):
        self.starts, self.slurm, self.said = starts, slurm, folder / "said"
        self.journal, self.ends = folder / "journal", Counter()
        #: Who may have been let go by one that gives back, and writes nothing.
        self.given = set()
        self.said.touch()

    def start(self, *words):
        """Its id; it writes to this journal."""
        return self.starts.start(["slurm", *words, "--journal", str(self.journal)], self.said)

    def end(self, name, pid, by):
        """Its status, and what it said."""
        with contextlib.suppress(*([ProcessLookupError] if name == "give-back" else [])):
            # One that gives back may have ended before.
            os.kill(pid, by)
        status, said = self.starts.status(), self.said.read_text()
        self.said.write_text("")
        # Until it has begun, a request to terminate ends it as it ends any program.
        usual = {signal.SIGKILL: -by, signal.SIGTERM: -by, signal.SIGINT: 130}[by]
        assert status in (
            usual,
            130 if by != signal.SIGKILL else usual,
            *([0] if name == "give-back" else []),
        ), said
        assert "Traceback" not in said
        if status == 130:
            assert said.splitlines()[-1].startswith("windlass: interrupted"), said
        self.ends[name, by.name, status] += 1
        return status, said


DRIVE = ("drive", "--policies", "order=fcfs", "--look", "0.02")


def one_more(driver, number, rng):
    """A driver is started and ended."""
    slurm, by = driver.slurm, SIGNALS[number % len(SIGNALS)]
    slurm.submit(2)
    before = slurm.released()
    if number % BACK == BACK - 1:
        content = driver.journal.read_bytes()
        driver.given |= {job for job, state in slurm.states().items() if state == "held"}
        pid = driver.start("give-back")
        time.sleep(float(rng.uniform(0.0, 0.6)))
        driver.end("give-back", pid, by)
        assert driver.journal.read_bytes() == content
        return
    pid = driver.start(*DRIVE)
    if number % 3:
        # However long it takes to begin, most are to be at work.
        assert wait_until(lambda: slurm.released() != before, PATIENCE), driver.said.read_text()
    time.sleep(float(rng.uniform(0.0, 0.4)))
    _, said = driver.end("drive", pid, by)
    assert set(slurm.released()[len(before) :]) <= promised(driver.journal) | driver.given
    if "running jobs continue" in said:
        assert "held" not in slurm.states().values()


def test_whom_a_driver_lets_go_is_written_before_whenever_it_is_ended(slurm, tmp_path, capsys):
    rng = np.random.default_rng(18)
    with Starts({**environment(), **slurm.environment()}, SLURM) as starts:
        driver = Driver(starts, slurm, tmp_path)
        for number in range(KILLS):
            one_more(driver, number, rng)
        driver.start(*DRIVE, "--until-idle")
        assert starts.status() == 0, driver.said.read_text()
    assert set(slurm.states().values()) == {"COMPLETED"}
    assert len(slurm.states()) == 2 * KILLS
    with Journal(driver.journal) as journal:
        assert (journal.torn, dict(journal.under_way)) == ("", {})
    assert {each.name for each in tmp_path.iterdir()} == {"slurm", "said", "journal"}
    if PRINTED:
        with capsys.disabled():
            print(f"\nslurm, ended {KILLS} times, {len(set(slurm.released()))} jobs let go:")
            for (name, by, status), times in sorted(driver.ends.items()):
                print(f"  {name}, {by}, status {status}: {times}")
