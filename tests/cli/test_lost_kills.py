"""Commands are ended at random instants: what was there is whole or what is new is, and no process is left.

``WINDLASS_KILLS=100`` for as many as there should be once in a while; then it is printed how they ended.
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
from tests.started import MARK, left

SIGNALS = ("SIGINT", "SIGTERM", "SIGKILL")
#: ``windlass run`` is ended by each signal so often, and the others by all of them.
CASES = [
    (writer, signals)
    for writer in WRITERS
    for signals in ([(each,) for each in SIGNALS] if writer.name == "run" else [SIGNALS])
]
CASES += [(reader, SIGNALS) for reader in READERS]
NAMES = ["-".join((writer.name, *signals)) for writer, signals in CASES]
#: How often each is ended; half as often where nothing is written.
KILLS = kills()
#: What has ended is gone within this time on a machine with other work, s.
PATIENCE = 300.0


def default_interrupt():
    signal.signal(signal.SIGINT, signal.default_int_handler)


class Folder:
    """Where a writer writes, by processes that carry a mark."""

    def __init__(self, folder, writer):
        self.folder, self.writer, self.mark = folder, writer, f"{os.getpid()}-{folder.name}"
        self.environment = {**os.environ, MARK: self.mark}

    def start(self, *words):
        """A process of the command, whose standard error is kept."""
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
        """Run it to its end; how long that took, s, and what it wrote."""
        begun = time.monotonic()
        process = self.start(*words)
        said = process.communicate()[1]
        lasted = time.monotonic() - begun
        assert process.returncode == 0, said
        self.writer.check(self.folder)
        return lasted, self.found()

    def ended(self, name, share, lasts, *words):
        """Its status and what it said, where it is ended after a share of what it lasts; and what that is by now, s."""
        begun = time.monotonic()
        process = self.start(*words)
        try:
            said = process.communicate(timeout=share * lasts)[1]
            lasts = time.monotonic() - begun
        except subprocess.TimeoutExpired:
            lasts *= max(1.0, share)
            process.send_signal(getattr(signal, name))
            said = process.communicate()[1]
        return process.returncode, said, lasts

    def found(self):
        """What of its files is the same with the same words."""
        return [contents(self.folder / each) for each in self.writer.same]

    def clear(self):
        """Have nothing of what would not be written over."""
        for name, _ in () if self.writer.replaces else self.writer.files:
            (self.folder / name).unlink(missing_ok=True)

    def alone(self):
        """Wait until nothing that was started is left."""
        until = time.monotonic() + PATIENCE
        while (still := left(self.mark)) and time.monotonic() < until:
            time.sleep(0.05)
        assert still == []


@pytest.mark.slow
@pytest.mark.parametrize(("writer", "signals"), CASES, ids=NAMES)
def test_files_are_those_of_before_or_of_now_whenever_a_command_is_ended(tmp_path, capsys, writer, signals):
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
        # What takes longest is to import; most of what is interesting comes after.
        share = rng.uniform(0.5, 1.1)
        status, said, lasts = here.ended(name, share, lasts, *(changed if turn % 2 else base))
        here.alone()
        if writer.replaces or all((tmp_path / each).exists() for each, _ in writer.files):
            writer.check(tmp_path)
        assert here.found() in (old, new)
        # What is beside results of ours begins with a dot.
        assert {each for each in names(tmp_path) if not each.startswith(".")} <= there
        if name == "SIGINT" and status == 130:
            assert said.splitlines()[-1].startswith("windlass: interrupted")
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
