"""Agent: processor time of a step of the recorder and of the agent, on a machine with 300 additional processes."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from benchmarks.measure import Row
from windlass.admit import AdmitView, Forewarn
from windlass.engines.linux.measure import Meter
from windlass.engines.linux.telemetry.observer import Observer
from windlass.engines.linux.telemetry.source import Roots
from windlass.engines.linux.telemetry.tasks import TasksSource

_PROCESSES = 300
#: Budget of a step, s: one percent of a core at 1 Hz.
_BUDGET = 0.01
_STEPS = 20
_THREADS = """
import sys, threading
for _ in range(int(sys.argv[1])):
    threading.Thread(target=sys.stdin.read, daemon=True).start()
print("up", flush=True)
sys.stdin.read()
"""


def rows(repeats: int) -> list[Row]:
    """Return all comparisons of the suite."""
    found = []
    for threads in (1, 900):
        with sleepers(threads):
            what = f"{_PROCESSES} more processes and {threads} more threads"
            observer = Observer(time.monotonic, time.time)
            found.append(
                _row(
                    f"a step of all metrics, {what}", observer.observe, None, "1 % of a core at 1 Hz", repeats
                )
            )
            tasks, meter = TasksSource(Roots()), Meter(_all_processes, time.monotonic)
            found.append(
                _row(
                    f"waiting of all threads, {what}",
                    lambda tasks=tasks: tasks.read(1.0),  # type: ignore[misc]
                    meter.sample,
                    "reopening each file (the meter of jobs)",
                    repeats,
                )
            )
    node, rng = Forewarn(len(observer.names)), np.random.default_rng(1)

    def decide() -> None:
        node.decide(AdmitView(0.0, rng.normal(size=len(observer.names)), 0.5, 0.01))

    return [*found, _row("a decision of forewarn", decide, None, "1 % of a core at 1 Hz", repeats)]


@contextmanager
def sleepers(threads: int) -> Iterator[None]:
    """Run sleeping processes, and one more process with ``threads`` threads."""
    running = [subprocess.Popen(["sleep", "3600"]) for _ in range(_PROCESSES)]
    one = subprocess.Popen(
        [sys.executable, "-S", "-c", _THREADS, str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert one.stdout is not None
        one.stdout.readline()
        yield
    finally:
        for each in (*running, one):
            each.kill()
            each.communicate()


def _all_processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]


def _row(
    name: str, ours: Callable[[], object], peer: Callable[[], object] | None, peer_name: str, repeats: int
) -> Row:
    """Measure processor time of both sides in turn, s; without a peer, compare with the budget."""
    ours()
    pairs = [(_seconds(ours), _BUDGET if peer is None else _seconds(peer)) for _ in range(max(repeats, 3))]
    ratios = [theirs / own for own, theirs in pairs]
    return Row(
        name=name,
        ours=statistics.median(own for own, _ in pairs),
        peer=statistics.median(theirs for _, theirs in pairs),
        peer_name=peer_name,
        unit="CPU s a step",
        ratio=statistics.median(ratios),
        ratio_low=min(ratios),
        ratio_high=max(ratios),
    )


def _seconds(what: Callable[[], object]) -> float:
    begun = time.process_time()
    for _ in range(_STEPS):
        what()
    return (time.process_time() - begun) / _STEPS
