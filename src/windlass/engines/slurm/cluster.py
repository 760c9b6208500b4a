"""A private Slurm on this host: start, inspect and stop it. Only its own processes are ever stopped."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import socket
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from windlass.engines.slurm.accounting import DAEMONS, Accounting, accounting_missing
from windlass.engines.slurm.config import CGROUP_CONF, CLUSTER, ClusterPlan
from windlass.engines.slurm.daemons import Daemon, launch, wait_until
from windlass.engines.slurm.host import ask, environment, free_ports, missing, program, remove_groups
from windlass.io import write_bytes, write_text
from windlass.model import BatchError, InputError

_STATE = "windlass.json"
#: Timeout for the start of a daemon or node on a busy machine, s.
_PATIENCE_S = 120.0
#: Daemons that others need until they have ended; they are stopped last, in this order.
_LAST = (*reversed(DAEMONS), "munged")


@dataclass(frozen=True, slots=True)
class SlurmCluster:
    """A private Slurm, running or stopped.

    Parameters
    ----------
    folder
        The folder of its files.
    nodes, cpus
        The number of nodes, and of processors per node.
    daemons
        The daemons started for it, in this order.
    accounting
        True if it has a slurmdbd, so that ``sacct`` works.
    """

    folder: Path
    nodes: int
    cpus: int
    daemons: tuple[Daemon, ...]
    accounting: bool = False

    @property
    def conf(self) -> Path:
        """The value of ``SLURM_CONF`` that makes Slurm's commands use this cluster."""
        return self.folder / "slurm.conf"

    @property
    def export(self) -> str:
        """The shell command that sets ``SLURM_CONF``."""
        return f"export SLURM_CONF={self.conf}"

    @property
    def gone(self) -> tuple[str, ...]:
        """The names of the daemons that have ended."""
        return tuple(daemon.name for daemon in self.daemons if not daemon.alive)

    def save(self) -> None:
        """Write the cluster's state file atomically."""
        text = json.dumps({**asdict(self), "folder": str(self.folder)}, indent=1)
        write_text(text, self.folder / _STATE)

    @classmethod
    def load(cls, folder: Path) -> SlurmCluster | None:
        """Return the cluster recorded in a folder; None if there is no record.

        Raises
        ------
        InputError
            The state file is corrupt.
        """
        file = folder / _STATE
        if not file.exists():
            return None
        try:
            tree = json.loads(file.read_text(encoding="utf-8"))
            daemons = tuple(Daemon(**daemon) for daemon in tree["daemons"])
            # down() kills these processes, so a damaged file must not name others.
            if not all(type(each.pid) is type(each.began) is int and each.pid > 0 for each in daemons):
                raise ValueError("pid and began of a daemon must be positive whole numbers")
            return cls(folder, int(tree["nodes"]), int(tree["cpus"]), daemons, tree.get("accounting") is True)
        except (OSError, ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
            raise InputError(
                f"{file}: cannot be read: {error}; expected what `windlass slurm up` writes"
            ) from error

    def stop(self, name: str) -> None:
        """Stop one daemon, such as ``slurmctld``, with enough time to save its state."""
        for daemon in self.daemons:
            if daemon.name == name:
                daemon.end(_PATIENCE_S)

    def start(self, name: str) -> SlurmCluster:
        """Restart a stopped daemon from its saved state; return the updated cluster."""
        fresh = _launch(self.folder, name)
        now = replace(self, daemons=(*(one for one in self.daemons if one.name != name), fresh))
        now.save()
        return now


def up(folder: Path, nodes: int, cpus: int, accounting: bool = False) -> tuple[SlurmCluster, bool]:
    """Run a private Slurm in a folder, and wait until its nodes are idle.

    A running cluster is left alone. If all daemons died without ``down``, the cluster is restarted with the jobs in
    its queue.

    Parameters
    ----------
    folder
        The folder of all its files; created if missing.
    nodes, cpus
        The number of nodes, and of processors per node.
    accounting
        True to run a slurmdbd, which ``sacct`` reads.

    Returns
    -------
    The cluster, and whether this call started it.

    Raises
    ------
    InputError
        Slurm is not installed, the folder has other files, or its cluster has other sizes or runs only in part.
    BatchError
        A daemon does not start; the message has its output.
    """
    if reason := missing() or (accounting_missing() if accounting else ""):
        raise InputError(reason)
    folder = folder.absolute()
    plan = _plan(folder, nodes, cpus, accounting)
    known = SlurmCluster.load(folder)
    if known is None and folder.exists() and any(folder.iterdir()):
        raise InputError(f"--dir: {folder} is not empty, and `windlass slurm up` did not make it")
    left = known is not None and bool(known.daemons)
    if known is not None and left and (known.nodes, known.cpus) != (nodes, cpus):
        raise InputError(
            f"--dir: {folder} has {known.nodes} nodes of {known.cpus} CPUs;"
            " to change them, run `windlass slurm down` first"
        )
    if known is not None and left and known.accounting != accounting:
        has = "has accounting" if known.accounting else "has no accounting"
        raise InputError(f"--accounting: {folder} {has}; to change it, run `windlass slurm down` first")
    if known is not None and len(known.gone) < len(known.daemons):
        if known.gone:
            raise InputError(
                f"{', '.join(known.gone)} of {folder} has ended; run `windlass slurm down` first"
            )
        return known, False
    with _alone(folder):
        return _bring_up(plan, keep=left), True


def _bring_up(plan: ClusterPlan, keep: bool) -> SlurmCluster:
    folder = plan.folder
    cluster = SlurmCluster(folder, plan.nodes, plan.cpus, (), plan.accounting_port is not None)
    cluster.save()
    for name in ("munge", "state", "spool", *(f"spool/{node}" for node in plan.names)):
        (folder / name).mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    write_text(plan.slurm_conf(), plan.conf)
    write_text(CGROUP_CONF, folder / "cgroup.conf")
    _make_key(folder / "munge" / "key")
    books = Accounting(folder)
    keeping = () if plan.accounting_port is None else DAEMONS
    try:
        if plan.accounting_port is not None:
            books.prepare(plan.accounting_port)
        for name in ("munged", *keeping, "slurmctld", *(f"slurmd {node}" for node in plan.names)):
            cluster = replace(cluster, daemons=(*cluster.daemons, _launch(folder, name, fresh=not keep)))
            cluster.save()
            if name in DAEMONS:
                books.settle(cluster.daemons[-1], CLUSTER)
        if not wait_until(lambda: _idle_nodes(folder) == plan.nodes, _PATIENCE_S):
            raise BatchError(
                f"{folder}: nodes are not idle after {_PATIENCE_S:g} s; see {folder}/slurmctld.log"
            )
    except BaseException:
        if cluster.daemons:
            down(folder)
        raise
    return cluster


def down(folder: Path) -> tuple[str, ...]:
    """Cancel the jobs of a private Slurm and stop its daemons; its logs stay.

    Returns
    -------
    A line for each job or daemon that was stopped.

    Raises
    ------
    InputError
        The folder has no cluster that ``up`` started.
    BatchError
        A daemon does not end.
    """
    folder = folder.absolute()
    cluster = SlurmCluster.load(folder)
    if cluster is None or not cluster.daemons:
        raise InputError(f"--dir: {folder}: no cluster of `windlass slurm up` runs here; nothing was stopped")
    stopped = _cancel_jobs(cluster)
    for daemon in sorted(
        cluster.daemons, key=lambda daemon: _LAST.index(daemon.name) if daemon.name in _LAST else -1
    ):
        if daemon.end():
            stopped.append(f"stopped {daemon.name} (process {daemon.pid})")
    remove_groups(daemon.name.removeprefix("slurmd ") for daemon in cluster.daemons if " " in daemon.name)
    for name in ("state", "spool", "munge", "database"):
        shutil.rmtree(folder / name, ignore_errors=True)
    for file in (*folder.glob("slurm*.pid"), folder / "slurmdbd.conf"):
        file.unlink(missing_ok=True)
    replace(cluster, daemons=()).save()
    return tuple(stopped)


def _cancel_jobs(cluster: SlurmCluster) -> list[str]:
    """Cancel all jobs while Slurm still runs: only Slurm can end their processes."""
    if (
        any(daemon.name == "slurmctld" and daemon.alive for daemon in cluster.daemons)
        and "munged" not in cluster.gone
    ):
        jobs = ask(cluster.folder, "squeue", "--noheader", "--format=%A").split()
        if jobs:
            ask(cluster.folder, "scancel", "--full", *jobs)
            wait_until(lambda: not ask(cluster.folder, "squeue", "--noheader", "--format=%A").split(), 40.0)
            return [f"cancelled {len(jobs)} jobs"]
    return []


def _plan(folder: Path, nodes: int, cpus: int, accounting: bool) -> ClusterPlan:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // max(nodes, 1)
    first, second, *others = free_ports(max(nodes, 0) + 2)
    host = socket.gethostname().partition(".")[0]
    books = second if accounting else None
    return ClusterPlan(folder, host, nodes, cpus, memory, first, tuple(others), books)


def _make_key(file: Path) -> None:
    # A killed start may have left an empty key, which Munge would refuse.
    if not file.exists() or file.stat().st_size == 0:
        file.touch(mode=0o600)
        # The new file keeps the permissions of the empty one, which only its owner can read.
        write_bytes(os.urandom(128), file)


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold a lock on the folder, so that only one process starts its cluster."""
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise InputError(f"--dir: another process is starting the cluster in {folder}") from error
    finally:
        os.close(handle)


def _launch(folder: Path, name: str, fresh: bool = False) -> Daemon:
    """Start a daemon by its name; ``fresh`` makes the controller discard its saved state."""
    if name in DAEMONS:
        return Accounting(folder).launch(name)
    kind, _, node = name.partition(" ")
    munge = folder / "munge"
    files = ("socket", "key", "pid", "log", "seed")
    options = [
        f"--{file}-file={munge / file}" if file != "socket" else f"--socket={munge / file}" for file in files
    ]
    if kind == "munged":
        (munge / "socket").unlink(missing_ok=True)
    arguments = {
        "munged": ["--force", *options],
        "slurmctld": ["-c"] if fresh else [],
        "slurmd": ["-N", node],
    }[kind]
    pid_file = {"munged": munge / "pid", "slurmctld": folder / "slurmctld.pid"}.get(
        kind, folder / f"slurmd-{node}.pid"
    )
    return launch(name, [program(kind) or kind, *arguments], pid_file, environment(folder))


def _idle_nodes(folder: Path) -> int:
    states = ask(folder, "sinfo", "--noheader", "--Node", "--format=%T").split()
    return sum(state in ("idle", "allocated", "mixed") for state in states)
