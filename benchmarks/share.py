"""Sharing: decisions per second, and the cost of a co-scheduler on a node with a hundred jobs.

The cost is CPU time of a checkpoint: a hundred sleeping processes, each with a progress file, are measured and
recorded, and the policy decides. The peer only reads CPU time and memory of the same processes, with psutil.

If Slurm is installed, the third part is a driver of a private Slurm with a hundred jobs: the CPU time of the driver, of
the commands with which it polls Slurm, and of Slurm's controller. The peer is the same controller without polls.
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
#: On Slurm: polling intervals, s, and the time over which CPU time is counted, s.
_INTERVALS, _SECONDS = (0.25, 1.0), 20.0
#: Longest time for the start of all jobs on a busy machine, s.
_PATIENCE_S = 300.0
_TICK = os.sysconf("SC_CLK_TCK")


def rows(repeats: int) -> list[Row]:
    """Return all comparisons of the suite."""
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
            f"{name}: decisions on {_HOSTS} allocations and {_WAITING} waiting jobs",
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
                usage, progress = meter.sample(), read(file).progress
                assert progress is not None
                readings[pid] = Reading(
                    now,
                    usage.cpu,
                    usage.peak,
                    progress.stage,
                    progress.parallel,
                    progress.done,
                    progress.left,
                    usage.waited,
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
    """Yield rows for each polling interval; none if Slurm is not installed."""
    if missing():
        return
    folder = Path(tempfile.mkdtemp(prefix="wl"))
    try:
        cluster, _ = up(folder / "s", 1, _JOBS)
        try:
            for _ in range(_JOBS):
                options = ("-H", "--comment=windlass share", "-n1", "-t60", "--mem=1M", "-o/dev/null")
                ask(cluster.folder, "sbatch", *options, "--wrap=sleep 3600")
            for interval in _INTERVALS:
                yield from _driven(cluster, interval)
        finally:
            down(cluster.folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _driven(cluster: SlurmCluster, interval: float) -> Iterator[Row]:
    """Measure the CPU time of a driver whose jobs all run, of its commands, and of the controller that they poll."""
    controller = next(each.pid for each in cluster.daemons if each.name == "slurmctld")
    options = ("--policies", "order=easy,share=pairs", "--journal", str(cluster.folder / "journal"))
    driver = subprocess.Popen(
        [sys.executable, "-m", "windlass", "slurm", "drive", *options, "--look", str(interval)],
        env=environment(cluster.folder),
        stderr=subprocess.DEVNULL,
    )
    try:
        if not wait_until(lambda: _running(cluster) == _JOBS, _PATIENCE_S):
            raise RuntimeError(
                f"{_running(cluster)} of {_JOBS} jobs run after {_PATIENCE_S:g} s, expected all"
            )
        time.sleep(2.0 * _EVERY)
        before, begun = (*_ticks(driver.pid), _ticks(controller)[0]), time.monotonic()
        time.sleep(_SECONDS)
        after, seconds = (*_ticks(driver.pid), _ticks(controller)[0]), time.monotonic() - begun
    finally:
        driver.terminate()
        driver.wait()
    own, commands, polled = (
        (late - soon) / _TICK / seconds for soon, late in zip(before, after, strict=True)
    )
    begun, idle = time.monotonic(), _ticks(controller)[0]
    time.sleep(_SECONDS)
    rest = (_ticks(controller)[0] - idle) / _TICK / (time.monotonic() - begun)
    for what, cores in (("the driver", own), ("its commands", commands), ("Slurm's controller", polled)):
        ratio = rest / cores if cores > 0.0 else math.inf
        name = f"{what}: {_JOBS} jobs on Slurm, polled every {interval:g} s"
        yield Row(name, cores, rest, "the controller without polls", "cores", ratio, ratio, ratio)


def _running(cluster: SlurmCluster) -> int:
    return len(ask(cluster.folder, "squeue", "--noheader", "--states=R", "--format=%A").split())


def _ticks(pid: int) -> tuple[int, int]:
    """Return the CPU time of a process, and of its ended children, in clock ticks."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    own, others = (int(fields[at]) + int(fields[at + 1]) for at in (11, 13))
    return own, others
