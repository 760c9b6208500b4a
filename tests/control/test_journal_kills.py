"""A killed writer loses nothing that was acknowledged, and the next writer goes on."""

from __future__ import annotations

import random
import signal
import subprocess
import sys

import pytest

from tests.kills import kills
from windlass.control.journal import JobKey, JournalReader, JournalWriter
from windlass.control.journal.records import ActRecord

#: Appends, flushes, intends and concludes, and prints each acknowledged number.
WRITER = """
import os, sys
from pathlib import Path
from windlass.control.journal import *
job = JobKey("demo", "iowa", "1")
with JournalWriter(Path(sys.argv[1]), retention=Retention(rows=10**6)) as journal:
    for number in range(int(sys.argv[2]), 10**9):
        journal.append(*(DecisionRecord(number, job, "order", "easy", "start", f"{number}.{row}") for row in range(3)))
        if number % 3 == 0:
            journal.flush()
        elif number % 3 == 1:
            journal.intend(ActRecord(f"act {number}", number, job, "release"))
        else:
            journal.conclude(f"act {number - 1}", number, "released")
        os.write(1, b"%d\\n" % number)
"""


@pytest.mark.matrix
@pytest.mark.parametrize("seed", range(kills(4)))
def test_what_was_acknowledged_survives_sigkill(tmp_path, seed):
    rng, file, number = random.Random(seed), tmp_path / "journal.db", 0
    for _ in range(2):
        last = killed_writer(file, number, rng.randrange(1, 200), rng.random() < 0.5)
        with JournalReader(file) as reader:
            rows = reader.decisions(limit=500).rows
            # A decision after the last acknowledged one may be there or not, but never a part of one transaction.
            assert {f"{last}.{row}" for row in range(3)} <= {each.reason for each in rows}
            assert [int(each.time) for each in rows] == sorted(
                (int(each.time) for each in rows), reverse=True
            )
            acts = {act.key: act.outcome for act in reader.acts(limit=500).rows}
            for each in range(max(number, last - 400), last + 1):
                if each % 3 == 1:
                    assert f"act {each}" in acts
                    if each + 1 <= last:
                        assert acts[f"act {each}"] == "released"
        number = last + 10
    with JournalWriter(file) as journal:
        assert journal.intend(ActRecord("new", 0.0, JobKey("demo"), "release"))


def killed_writer(file, first: int, lines: int, at_once: bool) -> int:
    """Start a writer, kill it after it has acknowledged this many numbers, and return the last of them."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(file), str(first)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    last = first
    for _ in range(lines):
        last = int(process.stdout.readline())
    process.send_signal(signal.SIGKILL)
    if not at_once:
        # Numbers that the writer printed before the signal came are acknowledged too.
        for line in process.stdout.read().split("\n")[:-1]:
            last = int(line)
    process.stdout.close()
    assert process.wait() == -signal.SIGKILL
    return last
