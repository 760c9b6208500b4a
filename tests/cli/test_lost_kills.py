"""Commands are killed at random instants: the old or the new files are intact, and no process is left.

Set ``WINDLASS_KILLS=100`` for a thorough run, which prints how the commands ended.
"""

import os
import random
import signal
import subprocess
import time
from collections import Counter

import pytest

from tests.cli.writers import READERS, WRITERS, contents, prepared
from tests.disks import names
from tests.kills import PRINTED, kills
from tests.started import MARK, running

SIGNALS = ("SIGINT", "SIGTERM", "SIGKILL")
#: ``windlass run`` is killed this many times by each signal, the other commands by all signals together.
CASES = [
    (writer, signals)
    for writer in WRITERS
    for signals in ([(each,) for each in SIGNALS] if writer.name == "run" else [SIGNALS])
]
CASES += [(reader, SIGNALS) for reader in READERS]
#: Cases that are not left to the nightly tests: the others are alike, and take up to a minute each.
EVERY_DAY = ("run-SIGKILL", "list-SIGINT-SIGTERM-SIGKILL")
PARAMETERS = [
    pytest.param(writer, signals, id=name, marks=[] if name in EVERY_DAY else [pytest.mark.nightly])
    for writer, signals in CASES
    for name in ["-".join((writer.name, *signals))]
]
#: How many times each command is killed; half as many if it writes nothing.
KILLS = kills()
#: Killed processes are gone within this time (s) on a busy machine.
PATIENCE = 300.0


def default_interrupt():
    signal.signal(signal.SIGINT, signal.default_int_handler)


class Folder:
    """The folder of a writer, whose processes carry a mark in their environment."""

    def __init__(self, folder, writer):
        self.folder, self.writer, self.mark = folder, writer, f"{os.getpid()}-{folder.name}"
        self.environment = {**os.environ, MARK: self.mark}

    def start(self, *words):
        """Start the command as a process, with its standard error in a pipe."""
        return subprocess.Popen(
            [*self.writer.program, *words],
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env=self.environment,
            preexec_fn=default_interrupt,
        )

    def done(self, *words):
        """Run the command to its end; return how long that took (s) and the files that it wrote."""
        begun = time.monotonic()
        process = self.start(*words)
        message = process.communicate()[1]
        lasted = time.monotonic() - begun
        assert process.returncode == 0, message
        self.writer.check(self.folder)
        return lasted, self.found()

    def ended(self, name, share, lasts, *words):
        """Kill the command after a share of its duration; return its status, its message and the duration (s)."""
        begun = time.monotonic()
        process = self.start(*words)
        try:
            message = process.communicate(timeout=share * lasts)[1]
            lasts = time.monotonic() - begun
        except subprocess.TimeoutExpired:
            lasts *= max(1.0, share)
            process.send_signal(getattr(signal, name))
            message = process.communicate()[1]
        return process.returncode, message, lasts

    def found(self):
        """Return the contents of the files that are reproducible."""
        return [contents(self.folder / each) for each in self.writer.same]

    def clear(self):
        """Remove the files that the command does not overwrite."""
        for name, _ in () if self.writer.replaces else self.writer.files:
            (self.folder / name).unlink(missing_ok=True)

    def alone(self):
        """Wait until no process of the command is left."""
        until = time.monotonic() + PATIENCE
        while (still := running(self.mark)) and time.monotonic() < until:
            time.sleep(0.05)
        assert still == []


@pytest.mark.slow
@pytest.mark.parametrize(("writer", "signals"), PARAMETERS)
def test_a_killed_command_leaves_the_old_or_the_new_files(tmp_path, capsys, writer, signals):
    pytest.importorskip(writer.needs)
    pytest.importorskip("psutil")
    rng, ends = random.Random(f"{writer.name} {signals[0]}"), Counter()
    often = KILLS if writer.files else -(-KILLS // 2)
    prepared(tmp_path)
    here = Folder(tmp_path, writer)
    for words in writer.before:
        here.start(*words).communicate()
    base, changed = writer.words, (*writer.words, *writer.changed)
    lasts, old = here.done(*base)
    here.clear()
    _, new = here.done(*changed)
    there = names(tmp_path)
    assert writer.same == () or old != new
    for turn in range(often):
        here.clear()
        before, name = here.found(), signals[turn % len(signals)]
        # Imports take longest; most writes happen afterwards.
        share = rng.uniform(0.5, 1.1)
        status, message, lasts = here.ended(name, share, lasts, *(changed if turn % 2 else base))
        here.alone()
        if writer.replaces or all((tmp_path / each).exists() for each, _ in writer.files):
            writer.check(tmp_path)
        assert here.found() in (old, new)
        # Temporary files next to the results begin with a dot.
        assert {each for each in names(tmp_path) if not each.startswith(".")} <= there
        if name == "SIGINT" and status == 130:
            assert message.splitlines()[-1].startswith("windlass: interrupted")
        ends[name, status, "as before" if here.found() == before else "new"] += 1
    here.clear()
    assert here.done(*base)[1] == old
    if writer.name == "run":
        assert names(tmp_path) == there
    if PRINTED:
        with capsys.disabled():
            print(f"\n{writer.name}, ended {often} times:")
            for (name, status, what), times in sorted(ends.items(), key=str):
                print(f"  {name}, status {status}, {what}: {times}")
