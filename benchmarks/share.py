"""Sharing: decisions a second, and what a co-scheduler costs a node on which a hundred jobs run.

The second is CPU time and not elapsed time: a checkpoint of a hundred real processes that sleep, each with a file of
its progress, read, written down in the book, shown to the policy and decided. The peer only reads CPU time and memory
of the same processes, by psutil.

The third is a driver of a private Slurm with a hundred jobs, where Slurm is installed: its own CPU time, that of the
commands by which it asks Slurm, and that of Slurm's controller, which answers. The peer is the same controller while
nobody asks.
"""

from __future__ import annotations

import math
import os
import shutil
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
from windlass.engines.linux.job_progress import JobProgress, read, report
from windlass.engines.linux.measure import Meter
from windlass.engines.slurm.cluster import SlurmCluster, down, up
from windlass.engines.slurm.daemons import wait_until
from windlass.engines.slurm.host import ask, environment, missing
from windlass.experiment.checks.share import drawn_view
from windlass.share import POLICIES, Candidate
from windlass.share.book import ShareBook
from windlass.share.usage import Reading

_HOSTS, _WAITING, _VIEWS = 100, 50, 20
_JOBS, _EVERY = 100, 5.0
#: On Slurm: between two looks, s; and how long CPU time is counted.
_LOOKS, _SECONDS = (0.25, 1.0), 20.0
#: How long jobs may take to start on a busy machine, s.
_PATIENCE_S = 300.0
_TICK = os.sysconf("SC_CLK_TCK")


def rows(repeats: int) -> list[Row]:
    """All comparisons of the suite."""
    return [*_decisions(repeats), _checkpoint(repeats), *_on_slurm()]


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
            report(file, JobProgress(1, 2, True, 5, 95))
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


def _on_slurm() -> Iterator[Row]:
    """Rows for each way of looking; none where Slurm is not installed."""
    if missing():
        return
    folder = Path(tempfile.mkdtemp(prefix="wl"))
    try:
        cluster, _ = up(folder / "s", 1, _JOBS)
        try:
            for _ in range(_JOBS):
                options = ("-H", "--comment=windlass share", "-n1", "-t60", "--mem=1M", "-o/dev/null")
                ask(cluster.folder, "sbatch", *options, "--wrap=sleep 3600")
            for look in _LOOKS:
                yield from _driven(cluster, look)
        finally:
            down(cluster.folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _driven(cluster: SlurmCluster, look: float) -> Iterator[Row]:
    """CPU time of a driver whose jobs all run, of the commands that it has run, and of the controller they ask."""
    controller = next(each.pid for each in cluster.daemons if each.name == "slurmctld")
    options = ("--policies", "order=easy,share=pairs", "--journal", str(cluster.folder / "journal"))
    driver = subprocess.Popen(
        [sys.executable, "-m", "windlass", "slurm", "drive", *options, "--look", str(look)],
        env=environment(cluster.folder),
        stderr=subprocess.DEVNULL,
    )
    try:
        if not wait_until(lambda: _running(cluster) == _JOBS, _PATIENCE_S):
            raise RuntimeError(f"of {_JOBS} jobs {_running(cluster)} run after {_PATIENCE_S:g} s")
        time.sleep(2.0 * _EVERY)
        before, begun = (*_ticks(driver.pid), _ticks(controller)[0]), time.monotonic()
        time.sleep(_SECONDS)
        after, seconds = (*_ticks(driver.pid), _ticks(controller)[0]), time.monotonic() - begun
    finally:
        driver.terminate()
        driver.wait()
    own, commands, asked = ((late - soon) / _TICK / seconds for soon, late in zip(before, after, strict=True))
    begun, unasked = time.monotonic(), _ticks(controller)[0]
    time.sleep(_SECONDS)
    rest = (_ticks(controller)[0] - unasked) / _TICK / (time.monotonic() - begun)
    for what, cores in (("the driver", own), ("its commands", commands), ("Slurm's controller", asked)):
        ratio = rest / cores if cores > 0.0 else math.inf
        name = f"{what}: {_JOBS} jobs on Slurm, asked every {look:g} s"
        yield Row(name, cores, rest, "the controller, unasked", "cores", ratio, ratio, ratio)


def _running(cluster: SlurmCluster) -> int:
    return len(ask(cluster.folder, "squeue", "--noheader", "--states=R", "--format=%A").split())


def _ticks(pid: int) -> tuple[int, int]:
    """CPU time of a process, and of those of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    own, others = (int(fields[at]) + int(fields[at + 1]) for at in (11, 13))
    return own, others
