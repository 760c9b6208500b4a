"""Accuracy of the simulator of a site: the same jobs and policies simulated and on a real Slurm."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from windlass.drive import drive
from windlass.engines.slurm.client import Client
from windlass.engines.slurm.cluster import SlurmCluster, down, up
from windlass.engines.slurm.commands import Commands
from windlass.engines.slurm.host import environment
from windlass.engines.slurm.journal import Journal
from windlass.engines.slurm.system import SlurmOptions, SlurmSystem
from windlass.model import BatchError, JobTable
from windlass.order.site import POLICIES, SitePolicy
from windlass.report.pictures import Line, Picture
from windlass_reproductions.reproduction import Notify, Reproduction, Row
from windlass_reproductions.sim_vs_live.delayed import delayed_releases
from windlass_reproductions.sim_vs_live.site_case import (
    Observed,
    longer,
    mixed_jobs,
    observe,
    simulate_releases,
    start_order,
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

    Jobs sleep, and all are submitted, held, before the driver starts. The releases of jobs are compared. A job occupies
    its processors longer than it runs: Slurm takes time to start it, and the driver to notice its end. The simulator
    accounts for this in two ways: with run times equal to how long the processors were occupied, so that only the
    policy is compared; and with the stated run times plus the mean latency of another run.

    The simulator does not model that a start is reported late, and that the end is predicted from then on. Therefore
    the same engine also runs in virtual time, with starts reported as late as on Slurm. If only this run has Slurm's
    order, the delay is the cause.
    """

    name = "sim-vs-live"
    title = "The simulator compared with real runs on Slurm"

    def reproduce(self, *, quick: bool, notify: Notify) -> Reproduction:
        """Run 200 jobs under each policy; ``quick`` runs 30."""
        count = 30 if quick else 200
        steps = ["calibration", *_POLICIES]
        policies = [POLICIES.make(name, np.random.default_rng(1)) for name in _POLICIES]
        jobs = mixed_jobs(count, _PROCESSORS, np.random.default_rng([1, 8]))
        for policy in policies:
            simulate_releases(jobs, _PROCESSORS, policy)  # compile now, as real jobs would wait for it
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
                "calibration: mean time from release until the end is noticed, minus the run time, s",
                None,
                latency,
                None,
            )
        ]
        for one in compared:
            rows += rows_of(one.policy, one.jobs, one.seen, latency)
        return Reproduction(tuple(rows), tuple(_picture(one, latency) for one in compared))


def _run(cluster: SlurmCluster, jobs: JobTable, policy: SitePolicy) -> Observed:
    """Submit jobs, held, and release them under a policy; return the observations of the run."""
    numbers = [
        _submit(cluster.folder, f"sleep {run}", procs, request)
        for run, procs, request in zip(
            jobs.run.tolist(), jobs.procs.tolist(), jobs.request.tolist(), strict=True
        )
    ]
    if numbers != sorted(numbers):
        raise BatchError(f"Slurm's job numbers are not in the order of submission: {numbers}")
    client = Client(Commands(cluster.conf), patience=60.0)
    with tempfile.TemporaryDirectory() as folder, Journal(Path(folder) / "journal") as journal:
        engine = observe(SlurmSystem(client, journal, SlurmOptions(until_idle=True)))
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
    return seen.occupied - jobs.run


def rows_of(policy: SitePolicy, jobs: JobTable, seen: Observed, latency: float) -> list[Row]:
    """Return rows that compare a policy's run on Slurm with simulations of it.

    Parameters
    ----------
    policy
        Policy of the run.
    jobs
        Jobs as submitted.
    seen
        Observations of the jobs.
    latency
        Mean time in another run for which jobs occupied their processors longer than they ran, s.
    """
    real = seen.released
    as_observed, stated, plain = (
        simulate_releases(table, _PROCESSORS, policy)
        for table in (seen.as_observed(jobs), longer(jobs, latency), jobs)
    )
    delayed = delayed_releases(jobs, seen, _PROCESSORS, policy)
    order, delayed_order = (
        same_order(start_order(jobs, real), start_order(jobs, times)) for times in (as_observed, delayed)
    )
    wait, own = float(real.mean()), _latency(jobs, seen)
    name = policy.name
    # The delayed run shows the cause only if it reproduces the real order.
    late = (
        "starts are reported late, which changes the predicted order of ends" if delayed_order.holds else ""
    )
    apart = (
        "the latency differs between jobs; with each job's own latency, the wait agrees"
        if delayed_order.holds
        else ""
    )
    return [
        Row.by(
            f"{name}: jobs at the same position in the order of starts (simulated, run times as observed)",
            order.jobs,
            order.same,
            order.judged,
            "; ".join(filter(None, (order.note, order.note and late))),
        ),
        _wait_row(
            f"{name}: mean wait, s (simulated, run times as observed; on Slurm)",
            wait,
            float(as_observed.mean()),
            late,
        ),
        Row.by(
            f"{name}: jobs at the same position (simulated, starts reported as late as on Slurm)",
            delayed_order.jobs,
            delayed_order.same,
            delayed_order.judged,
            delayed_order.note,
        ),
        _wait_row(
            f"{name}: mean wait, s (simulated, starts reported as late; on Slurm)",
            wait,
            float(delayed.mean()),
        ),
        _wait_row(
            f"{name}: mean wait, s (simulated, {latency:.2f} s added per job; on Slurm)",
            wait,
            float(stated.mean()),
            apart,
        ),
        Row(
            f"{name}: mean wait, s (simulated without latency; on Slurm)",
            round(float(plain.mean()), 3),
            round(wait, 3),
            None,
            f"the simulation is off by {float(plain.mean()) / wait - 1.0:+.1%}, as Slurm takes time to start a job and"
            f" the driver to notice its end: {own.mean():.2f} s per job in this run ({own.min():.2f} to"
            f" {own.max():.2f})",
        ),
        Row(f"{name}: from release to start, mean, s", None, round(float(seen.started.mean()), 3), None),
    ]


def _wait_row(what: str, real: float, simulated: float, cause: str = "") -> Row:
    judged = close(real, simulated)
    note = f"the simulation is off by {simulated / real - 1.0:+.2%}"
    if not judged.holds:
        note = f"{note}, more than {CLOSE:.0%}{cause and f': {cause}'}"
    return Row.by(what, round(simulated, 3), round(real, 3), judged, note)


def _picture(one: _Compared, latency: float) -> Picture:
    ranks = list(range(1, len(one.jobs) + 1))
    tables = (("with the mean latency", longer(one.jobs, latency)), ("without latency", one.jobs))
    real = Line("on Slurm", np.sort(one.seen.released).tolist(), ranks)
    lines = [
        Line(f"simulated {name}", np.sort(simulate_releases(jobs, _PROCESSORS, one.policy)).tolist(), ranks)
        for name, jobs in tables
    ]
    return Picture(
        one.policy.name,
        f"Jobs released under {one.policy.name}",
        "s",
        "jobs",
        (real, *lines),
        "The mean latency is that of another run.",
    )
