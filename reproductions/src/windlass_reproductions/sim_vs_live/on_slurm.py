"""How true is the simulator of a batch system's site? The same jobs and policies simulated, and for real on Slurm."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from windlass.drive import drive
from windlass.engines.slurm.client import Client, Commands
from windlass.engines.slurm.cluster import SlurmCluster, down, up
from windlass.engines.slurm.host import environment
from windlass.engines.slurm.journal import Journal
from windlass.engines.slurm.system import SlurmOptions, SlurmSystem
from windlass.model import BatchError, JobTable
from windlass.order.site import POLICIES, SitePolicy
from windlass.report.pictures import Line, Picture
from windlass_reproductions.reproduction import Notify, Reproduction, Row
from windlass_reproductions.sim_vs_live.as_told import let_go_as_told
from windlass_reproductions.sim_vs_live.site_case import (
    Observed,
    longer,
    mixed_jobs,
    simulated,
    start_order,
    watched,
)
from windlass_reproductions.sim_vs_live.verdicts import CLOSE, close, same_order

_NODES, _CPUS = 4, 2
_PROCESSORS = _NODES * _CPUS
_POLICIES = ("easy", "conservative")


@dataclass(frozen=True, slots=True)
class _Compared:
    policy: SitePolicy
    jobs: JobTable
    seen: Observed


class SimVsSlurm:
    """Each workload runs on a private Slurm of four nodes with two processors, and in the simulator.

    Jobs sleep; all are submitted, held, before the driver comes. What is compared is when a job is let go: Slurm takes
    its time from there to the start, and the driver to see the end, and for both a job's processors are taken. The
    simulator is told of that in two ways: each job as long as its processors were taken, which leaves the policy alone
    to be compared; and each job as long as it says, plus the mean latency of another run.

    One thing is left that no simulator knows: a job's start is heard of late, and its end is expected from then on. So
    the same engine runs in virtual time too, told of starts as late as on Slurm. Where only that gives Slurm's order,
    that is the cause.
    """

    name = "sim-vs-live"
    title = "The simulator beside real runs on Slurm"

    def reproduce(self, *, quick: bool, notify: Notify) -> Reproduction:
        """Run it: 30 jobs, or 200."""
        count = 30 if quick else 200
        steps = ["calibration", *_POLICIES]
        policies = [POLICIES.make(name, np.random.default_rng(1)) for name in _POLICIES]
        jobs = mixed_jobs(count, _PROCESSORS, np.random.default_rng([1, 8]))
        for policy in policies:
            simulated(jobs, _PROCESSORS, policy)  # compiles it; for real, jobs would wait for that
        folder = Path(tempfile.mkdtemp(prefix="wl"))
        try:
            cluster, _ = up(folder / "slurm", _NODES, _CPUS)
            try:
                notify(steps[0], 0.0)
                first = mixed_jobs(20 if quick else 40, _PROCESSORS, np.random.default_rng([2, 8]))
                latency = float(_latency(first, _run(cluster, first, policies[0])).mean())
                compared = []
                for at, policy in enumerate(policies, 1):
                    notify(policy.name, at / len(steps))
                    compared.append(_Compared(policy, jobs, _run(cluster, jobs, policy)))
            finally:
                down(cluster.folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        rows = [
            Row(
                "calibration: from release to the end's being seen, less the run, mean, s",
                None,
                latency,
                None,
            )
        ]
        for one in compared:
            rows += rows_of(one.policy, one.jobs, one.seen, latency)
        return Reproduction(tuple(rows), tuple(_picture(one, latency) for one in compared))


def _run(cluster: SlurmCluster, jobs: JobTable, policy: SitePolicy) -> Observed:
    """Submit the jobs, held, and have a policy start them."""
    numbers = [
        _submit(cluster.folder, f"sleep {run}", procs, request)
        for run, procs, request in zip(
            jobs.run.tolist(), jobs.procs.tolist(), jobs.request.tolist(), strict=True
        )
    ]
    if numbers != sorted(numbers):
        raise BatchError("Slurm numbers jobs in another order than they are submitted in")
    client = Client(Commands(cluster.conf), patience=60.0)
    with tempfile.TemporaryDirectory() as folder, Journal(Path(folder) / "journal") as journal:
        engine = watched(SlurmSystem(client, journal, SlurmOptions(until_idle=True)))
        run = drive(engine, {"order": policy})
    return engine.observed(run)


def _submit(folder: Path, command: str, procs: int, request: float) -> int:
    options = ("--parsable", "--hold", "--comment=windlass", "--output=/dev/null", f"--ntasks={procs}")
    words = ["sbatch", *options, f"--time={round(request / 60)}", f"--wrap={command}"]
    done = subprocess.run(
        words, env=environment(folder), capture_output=True, text=True, timeout=60, cwd=folder
    )
    if done.returncode != 0:
        raise BatchError(f"sbatch: {' '.join(done.stderr.split())}")
    return int(done.stdout)


def _latency(jobs: JobTable, seen: Observed) -> np.ndarray:
    return seen.held - jobs.run


def rows_of(policy: SitePolicy, jobs: JobTable, seen: Observed, latency: float) -> list[Row]:
    """What was seen of a policy's run beside what the simulator says of it.

    Parameters
    ----------
    policy
        Whose run it was.
    jobs
        As they were submitted.
    seen
        What was seen of them.
    latency
        By how much another run's jobs took their processors for longer than they ran, s.
    """
    real = seen.let_go
    as_seen, stated, plain = (
        simulated(table, _PROCESSORS, policy) for table in (seen.as_seen(jobs), longer(jobs, latency), jobs)
    )
    told = let_go_as_told(jobs, seen, _PROCESSORS, policy)
    order, as_told = (
        same_order(start_order(jobs, real), start_order(jobs, times)) for times in (as_seen, told)
    )
    wait, own = float(real.mean()), _latency(jobs, seen)
    name = policy.name
    # Why they part is said where it was shown, and not otherwise.
    late = "a start is heard of late, which changes who is expected to end first" if as_told.holds else ""
    apart = (
        "jobs do not all take the same, and with what each took the wait is right" if as_told.holds else ""
    )
    return [
        Row.by(
            f"{name}: jobs at the same place in the order of starts (runs as seen)",
            order.jobs,
            order.same,
            order.judged,
            "; ".join(filter(None, (order.note, order.note and late))),
        ),
        _wait_row(
            f"{name}: mean wait, s (simulated, runs as seen; on Slurm)", wait, float(as_seen.mean()), late
        ),
        Row.by(
            f"{name}: jobs at the same place, told of each start as late as on Slurm",
            as_told.jobs,
            as_told.same,
            as_told.judged,
            as_told.note,
        ),
        _wait_row(f"{name}: mean wait, s (simulated, told as late; on Slurm)", wait, float(told.mean())),
        _wait_row(
            f"{name}: mean wait, s (simulated, {latency:.2f} s a job; on Slurm)",
            wait,
            float(stated.mean()),
            apart,
        ),
        Row(
            f"{name}: mean wait, s (simulated without latency; on Slurm)",
            round(float(plain.mean()), 3),
            round(wait, 3),
            None,
            f"simulated is off by {float(plain.mean()) / wait - 1.0:+.1%}, by what Slurm takes to start a job and the"
            f" driver to see its end: {own.mean():.2f} s a job in this run, {own.min():.2f} to {own.max():.2f}",
        ),
        Row(f"{name}: from release to start, mean, s", None, round(float(seen.began.mean()), 3), None),
    ]


def _wait_row(what: str, real: float, told: float, cause: str = "") -> Row:
    judged = close(real, told)
    note = f"simulated is off by {told / real - 1.0:+.2%}"
    if not judged.holds:
        note = f"{note}, more than {CLOSE:.0%}{cause and f': {cause}'}"
    return Row.by(what, round(told, 3), round(real, 3), judged, note)


def _picture(one: _Compared, latency: float) -> Picture:
    ranks = list(range(1, len(one.jobs) + 1))
    told = (("with the stated latency", longer(one.jobs, latency)), ("without", one.jobs))
    real = Line("on Slurm", np.sort(one.seen.let_go).tolist(), ranks)
    lines = [
        Line(f"simulated {name}", np.sort(simulated(jobs, _PROCESSORS, one.policy)).tolist(), ranks)
        for name, jobs in told
    ]
    return Picture(
        one.policy.name,
        f"Jobs let go under {one.policy.name}",
        "s",
        "jobs",
        (real, *lines),
        "The stated latency is of another run.",
    )
