"""Sharing: decisions a second, and what a co-scheduler costs a node on which a hundred jobs run.

The second is CPU time and not elapsed time: a checkpoint of a hundred real processes that sleep, each with a file of
its progress, read, written down in the book, shown to the policy and decided. The peer only reads CPU time and memory
of the same processes, by psutil.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import numpy as np
import psutil

from benchmarks.measure import Row, compare_rates
from windlass.checks.share import drawn_view
from windlass.engines.linux.measure import Meter
from windlass.engines.linux.progress import Progress, read, report
from windlass.share import POLICIES, Candidate
from windlass.share.book import ShareBook
from windlass.share.meter import Reading

_HOSTS, _WAITING, _VIEWS = 100, 50, 20
_JOBS, _EVERY = 100, 5.0


def rows(repeats: int) -> list[Row]:
    """All comparisons of the suite."""
    return [*_decisions(repeats), _checkpoint(repeats)]


def _decisions(repeats: int) -> Iterator[Row]:
    rng = np.random.default_rng(1)
    views = [drawn_view(rng, _HOSTS, _WAITING) for _ in range(_VIEWS)]

    def run(name: str) -> None:
        policy = POLICIES.make(name, np.random.default_rng(2))
        for view in views:
            policy.decide(view)

    for name in ("asax", "pairs", "oracle"):
        yield compare_rates(
            f"{name}: decisions on {_HOSTS} allocations and {_WAITING} jobs that wait",
            lambda name=name: run(name),  # type: ignore[misc]
            lambda: run("always"),
            "always, 30 %",
            amount=_VIEWS,
            unit="decisions/s",
            repeats=repeats,
        )


@contextmanager
def _sleepers() -> Iterator[list[int]]:
    processes = [
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"]) for _ in range(_JOBS)
    ]
    try:
        yield [process.pid for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _checkpoint(repeats: int) -> Row:
    with _sleepers() as pids, tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / str(pid) for pid in pids]
        for file in files:
            report(file, Progress(1, 2, True, 5, 95))
        meters = [Meter(lambda pid=pid: [pid], time.monotonic) for pid in pids]  # type: ignore[misc]
        book, policy = ShareBook(), POLICIES.make("pairs", np.random.default_rng(1))
        for pid in pids:
            book.started(Candidate(pid, "sleeper", 2, 1e9, 3600.0), 0.0, 8e9)
        waiting = [Candidate(10**7 + number, "sleeper", 2, 1e9, 3600.0) for number in range(_WAITING)]
        peers = [psutil.Process(pid) for pid in pids]
        now = 0.0

        def ours() -> None:
            nonlocal now
            now += _EVERY
            readings = {}
            for pid, meter, file in zip(pids, meters, files, strict=True):
                usage, said = meter.sample(), read(file).progress
                assert said is not None
                readings[pid] = Reading(
                    now, usage.cpu, usage.peak, said.stage, said.parallel, said.done, said.left, usage.waited
                )
            book.read(readings)
            policy.decide(book.view(now, waiting))

        def theirs() -> None:
            for process in peers:
                process.cpu_times(), process.memory_info()

        ours()
        pairs = [(_cpu(ours), _cpu(theirs)) for _ in range(max(5, repeats))]
        ratios = [other / own for own, other in pairs]
        return Row(
            f"share of a core, {_JOBS} jobs measured and a decision every {_EVERY:g} s",
            median(own for own, _ in pairs) / _EVERY,
            median(other for _, other in pairs) / _EVERY,
            "psutil, reading alone",
            "cores",
            median(ratios),
            min(ratios),
            max(ratios),
        )


def _cpu(what: object) -> float:
    begun = time.process_time()
    what()  # type: ignore[operator]
    return time.process_time() - begun
