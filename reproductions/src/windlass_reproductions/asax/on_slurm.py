"""The mix on a real Slurm: real programs, processes and quotas on the cores of this machine."""

from __future__ import annotations

import math
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from windlass.engines.slurm.client import Client
from windlass.engines.slurm.cluster import SlurmCluster, down, up
from windlass.engines.slurm.commands import Commands
from windlass.engines.slurm.driver import drive_slurm
from windlass.engines.slurm.entries import Entry, Taking
from windlass.engines.slurm.host import environment
from windlass.engines.slurm.observer import Unobserved
from windlass.engines.slurm.settings import Driving
from windlass.engines.slurm.system import SlurmOptions
from windlass.model import BatchError, InputError
from windlass.order.site import POLICIES as ORDER
from windlass.share import POLICIES as SHARE
from windlass_reproductions.asax.slurm_results import PROGRAMS, MixRun, picture, rows_of, verdicts
from windlass_reproductions.reproduction import Notify, Reproduction, Row

_CPUS = 2
_POLICIES: dict[str, dict[str, Any]] = {
    "EASY": {},
    "static": {"static": {}},
    "ASAx": {"asax": {}},
    "pairs": {"pairs": {}},
}
#: Nominal seconds of the run that measures the pace of a program on this machine.
_TRIAL_S = 6.0
#: Memory that a program is given as its limit, MB.
_MEMORY_MB = 200
#: Memory that its job requests, MB.
_REQUESTED_MB = 500


class AsaxOnSlurm:
    """Jobs of four programs on a private Slurm of one node, under EASY, static, ASAx and pairs, on the same mixes.

    Each job requests both processors, as at sites that allocate whole nodes. A policy starts untrained in the first
    repeat, and keeps its learned state in later repeats.
    """

    name = "asax"
    title = "ASAx and others on a real Slurm: four programs on one node of two processors"

    def reproduce(self, *, quick: bool, notify: Notify) -> Reproduction:
        """Run twelve jobs three times under each policy; ``quick`` runs four jobs once."""
        times, repeats, long = (1, 1, 6.0) if quick else (3, 3, 12.0)
        found: dict[str, list[MixRun]] = {name: [] for name in _POLICIES}
        notify("pace of this machine", 0.0)
        paces = {program: pace(program) for program in PROGRAMS}
        seconds = {program: round(long / each, 1) for program, each in paces.items()}
        with private_slurm() as cluster:
            for repeat in range(repeats):
                for turn in range(len(_POLICIES)):
                    # Each repeat starts with another policy, so that drifts of the machine favour none.
                    number = (turn + repeat) % len(_POLICIES)
                    name = tuple(_POLICIES)[number]
                    notify(f"repeat {repeat + 1}, {name}", (repeat + turn / len(_POLICIES)) / repeats)
                    rng = np.random.default_rng([repeat, 13])
                    share = _share(_POLICIES[name], repeat)
                    found[name].append(run_mix(cluster, share, rng, times, seconds, number))
        notify("done", 1.0)
        shown = ", ".join(f"{program} {each:.2f}" for program, each in paces.items())
        what = f"seconds per nominal second of a program on one core here; each job has {long:g} s of work"
        return Reproduction(
            (Row(what, None, shown, None), *rows_of(found), *verdicts(found)), (picture(found),)
        )


def pace(program: str) -> float:
    """Measure how many seconds a nominal second of a program takes on one core of this machine.

    Without this scaling, jobs on a faster machine would be shorter at the same interval of decisions, and the results
    would be of another setting.

    Raises
    ------
    BatchError
        The program failed.
    """
    with tempfile.TemporaryDirectory() as folder:
        command, begin = _command(program, _TRIAL_S, cores=1), time.perf_counter()
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        elapsed = time.perf_counter() - begin
    if done.returncode:
        raise BatchError(f"{program} failed: {done.stderr.strip()}")
    return elapsed / _TRIAL_S


def _command(program: str, seconds: float, cores: int) -> list[str]:
    script = str(_workflows() / f"{program}.py")
    options = ("--seconds", f"{seconds:g}", "--cores", str(cores), "--memory", f"{_MEMORY_MB}MB")
    return [sys.executable, script, *options]


class PairObserver(Unobserved):
    """The jobs that took in a guest, and the guests, from the entries of a driver's journal."""

    def __init__(self) -> None:
        self.hosts: set[int] = set()
        self.guests: set[int] = set()

    def appended(self, entries: Sequence[Entry]) -> None:
        """Note the pairs among the entries."""
        taken = [each for each in entries if isinstance(each, Taking)]
        self.hosts.update(each.host for each in taken)
        self.guests.update(each.job for each in taken)


@contextmanager
def private_slurm() -> Iterator[SlurmCluster]:
    """Start a private Slurm of one node with two processors, and stop and remove it at the end."""
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
    """Submit jobs of all programs in random order, and drive Slurm until all have ended.

    Parameters
    ----------
    cluster
        A private Slurm.
    share
        Sharing policy; None if no job may share.
    rng
        Source of the order and of time limits.
    times
        Number of jobs of each program.
    seconds
        Nominal seconds of work of each program's jobs.
    learner
        Number of the journal to continue, and of the learned state of this policy next to it.

    Raises
    ------
    BatchError
        A submission failed, or jobs did not end.
    """
    folder = Path(tempfile.mkdtemp(prefix="mix", dir=cluster.folder))
    programs = [str(name) for name in rng.permutation(PROGRAMS * times)]
    client = Client(Commands(cluster.conf))
    used = _cpu_seconds()
    for number, program in enumerate(programs):
        _submit(cluster, folder, number, program, seconds[program], minutes=int(rng.integers(1, 4)))
    policies = {"order": ORDER.make("easy", rng)} | ({} if share is None else {"share": share})
    # The learned state is saved next to the journal, and the next run of this policy loads it.
    journal = cluster.folder / f"{'easy' if share is None else share.name}.{learner}"
    driving = Driving(policies, journal, SlurmOptions(until_idle=True), checkpoint=2.0)
    pairs = PairObserver()
    done = drive_slurm(client, driving, lambda line: None, observer=pairs)
    used = _cpu_seconds() - used
    if not np.isfinite(done.end).all():
        raise BatchError(f"jobs {done.job[~np.isfinite(done.end)].tolist()} have no recorded end")
    makespan = float(done.end.max() - done.submit.min())
    return MixRun(
        makespan,
        float((done.start - done.submit).mean()),
        100.0 * used / (_CPUS * makespan),
        done.end - done.start,
        np.isin(done.job, list(pairs.hosts - pairs.guests)),
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
        f"--mem={_REQUESTED_MB}M",
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
        raise BatchError(f"sbatch failed: {done.stderr.strip()}")


def _workflows() -> Path:
    """Return the folder of the programs, in the source repository."""
    folder = Path(__file__).parents[4] / "examples" / "workflows"
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; run from a checkout of Windlass' repository")
    return folder


def _cpu_seconds() -> float:
    """Return the core-seconds that all Slurm jobs of this host have used; NaN if no accounting group exists."""
    root = Path("/sys/fs/cgroup/cpuacct")
    files = [*root.glob("slurm*/cpuacct.usage")]
    return sum(int(file.read_text(encoding="ascii")) for file in files) / 1e9 if files else math.nan


def _checksum(file: Path) -> str:
    lines = file.read_text(encoding="utf-8").split("\n") if file.exists() else []
    return next((line for line in reversed(lines) if "checksum" in line), f"none: {os.fspath(file.name)}")


def _share(spec: dict[str, Any], number: int) -> Any:
    return next(
        (SHARE.make(name, np.random.default_rng([number, 17]), **options) for name, options in spec.items()),
        None,
    )
