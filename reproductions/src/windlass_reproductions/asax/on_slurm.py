"""The mix on a real Slurm: real programs, real processes, real quotas, on this machine's own cores."""

from __future__ import annotations

import math
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from windlass.engines.slurm.client import Client, Commands
from windlass.engines.slurm.cluster import SlurmCluster, down, up
from windlass.engines.slurm.driver import drive_slurm
from windlass.engines.slurm.host import environment
from windlass.engines.slurm.settings import Driving
from windlass.engines.slurm.system import SlurmOptions
from windlass.model import BatchError, InputError
from windlass.order.site import POLICIES as ORDER
from windlass.share import POLICIES as SHARE
from windlass_reproductions.asax.beside import PROGRAMS, MixRun, picture, rows_of, verdicts
from windlass_reproductions.reproduction import Notify, Reproduction, Row

_CPUS = 2
_POLICIES: dict[str, dict[str, Any]] = {
    "EASY": {},
    "static": {"static": {}},
    "ASAx": {"asax": {}},
    "pairs": {"pairs": {}},
}
#: How many nominal seconds a program is tried with, to see how long they take here.
_TRIED_S = 6.0
#: Bytes that a job asks for, and that its program is told to keep to.
_MEMORY_MB = 200
_ASKED_MB = 500


class AsaxOnSlurm:
    """Jobs of four programs on a private Slurm of one node, under EASY, static, ASAx and ours, each on the same mixes.

    Each job asks for both processors, as sites give whole nodes. A policy begins with nothing learned in the first
    repeat, and goes on with what it has learned in the others.
    """

    name = "asax"
    title = "ASAx and others on a real Slurm: four programs on one node of two processors"

    def reproduce(self, *, quick: bool, notify: Notify) -> Reproduction:
        """Twelve jobs three times under each policy; ``quick`` has four jobs, once."""
        times, repeats, long = (1, 1, 6.0) if quick else (3, 3, 12.0)
        found: dict[str, list[MixRun]] = {name: [] for name in _POLICIES}
        notify("how fast this machine is", 0.0)
        paces = {program: pace(program) for program in PROGRAMS}
        seconds = {program: round(long / each, 1) for program, each in paces.items()}
        with private_slurm() as cluster:
            for repeat in range(repeats):
                for turn in range(len(_POLICIES)):
                    # Another policy begins each repeat: what a machine does over time favours none.
                    number = (turn + repeat) % len(_POLICIES)
                    name = tuple(_POLICIES)[number]
                    notify(f"repeat {repeat + 1}, {name}", (repeat + turn / len(_POLICIES)) / repeats)
                    rng = np.random.default_rng([repeat, 13])
                    share = _share(_POLICIES[name], repeat)
                    found[name].append(run_mix(cluster, share, rng, times, seconds, number))
        notify("done", 1.0)
        shown = ", ".join(f"{program} {each:.2f}" for program, each in paces.items())
        what = f"s for a nominal second of a program on one core here; each job is given {long:g} s of work"
        return Reproduction(
            (Row(what, None, shown, None), *rows_of(found), *verdicts(found)), (picture(found),)
        )


def pace(program: str) -> float:
    """Seconds that a nominal second of a program takes on one core of this machine.

    On a machine that is three times as fast, jobs would otherwise be a third as long beside the same clock of
    decisions, and what came out would be of another setting.

    Raises
    ------
    BatchError
        It did not end as it should.
    """
    with tempfile.TemporaryDirectory() as folder:
        command, begun = _command(program, _TRIED_S, cores=1), time.perf_counter()
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        taken = time.perf_counter() - begun
    if done.returncode:
        raise BatchError(f"{program}: {done.stderr.strip()}")
    return taken / _TRIED_S


def _command(program: str, seconds: float, cores: int) -> list[str]:
    script = str(_workflows() / f"{program}.py")
    options = ("--seconds", f"{seconds:g}", "--cores", str(cores), "--memory", f"{_MEMORY_MB}MB")
    return [sys.executable, script, *options]


@contextmanager
def private_slurm() -> Iterator[SlurmCluster]:
    """A Slurm of one node of two processors, for as long as this lasts."""
    folder = Path(tempfile.mkdtemp(prefix="wl"))
    try:
        cluster, _ = up(folder / "slurm", 1, _CPUS)
        try:
            yield cluster
        finally:
            down(folder / "slurm")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run_mix(
    cluster: SlurmCluster,
    share: Any,
    rng: np.random.Generator,
    times: int,
    seconds: Mapping[str, float],
    learner: int = 0,
) -> MixRun:
    """Submit jobs of all programs, so many times, in an order that is drawn, and drive them to their end.

    Parameters
    ----------
    cluster
        A private Slurm.
    share
        A co-scheduler; None for nobody who shares.
    rng
        Of the order, and of time limits.
    times
        Jobs of each program.
    seconds
        How many nominal ones each has to do.
    learner
        Which journal is gone on with, and with it what this policy has learned.
    """
    folder = Path(tempfile.mkdtemp(prefix="mix", dir=cluster.folder))
    programs = [str(name) for name in rng.permutation(PROGRAMS * times)]
    client = Client(Commands(cluster.conf))
    used = _cpu_seconds()
    for number, program in enumerate(programs):
        _submit(cluster, folder, number, program, seconds[program], minutes=int(rng.integers(1, 4)))
    policies = {"order": ORDER.make("easy", rng)} | ({} if share is None else {"share": share})
    # What was learned lies beside the journal, and the next run of this policy goes on with it.
    journal = cluster.folder / f"{'easy' if share is None else share.name}.{learner}"
    driving = Driving(policies, journal, SlurmOptions(until_idle=True), checkpoint=2.0)
    done = drive_slurm(client, driving, lambda line: None)
    used = _cpu_seconds() - used
    if not np.isfinite(done.end).all():
        raise BatchError(f"jobs {done.job[~np.isfinite(done.end)].tolist()} never ended")
    makespan = float(done.end.max() - done.submit.min())
    return MixRun(
        makespan,
        float((done.start - done.submit).mean()),
        100.0 * used / (_CPUS * makespan),
        done.end - done.start,
        tuple(programs),
        tuple(_checksum(folder / f"{number}.out") for number in range(len(programs))),
    )


def _submit(
    cluster: SlurmCluster, folder: Path, number: int, program: str, seconds: float, minutes: int
) -> None:
    run = f"exec {shlex.join(_command(program, seconds, _CPUS))}"
    command = [
        "sbatch",
        "-H",
        "--comment=windlass share restart",
        f"--job-name={program}",
        f"--ntasks={_CPUS}",
        f"--mem={_ASKED_MB}M",
        f"--time={minutes}",
        f"--output={folder / f'{number}.out'}",
        f"--wrap=export WINDLASS_PROGRESS={folder / f'{number}.progress'}; {run}",
    ]
    done = subprocess.run(
        command,
        env=environment(cluster.folder),
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise BatchError(f"sbatch: {done.stderr.strip()}")


def _workflows() -> Path:
    """The folder of the programs, which lies beside the source."""
    folder = Path(__file__).parents[4] / "examples" / "workflows"
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; run this where Windlass' source is")
    return folder


def _cpu_seconds() -> float:
    """Core-seconds that all jobs of Slurm on this host have used."""
    root = Path("/sys/fs/cgroup/cpuacct")
    files = [*root.glob("slurm*/cpuacct.usage")]
    return sum(int(file.read_text(encoding="ascii")) for file in files) / 1e9 if files else math.nan


def _checksum(file: Path) -> str:
    lines = file.read_text(encoding="utf-8").split("\n") if file.exists() else []
    return next((line for line in reversed(lines) if "checksum" in line), f"none: {os.fspath(file.name)}")


def _share(spec: dict[str, Any], number: int) -> Any:
    return next(
        (SHARE.make(name, np.random.default_rng([number, 17]), **told) for name, told in spec.items()), None
    )
