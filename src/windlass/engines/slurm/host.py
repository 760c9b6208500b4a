"""What a private Slurm needs from its host: programs, free ports and cgroups."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
from collections.abc import Iterable
from pathlib import Path

_PROGRAMS = ("munged", "slurmctld", "slurmd", "scontrol", "squeue", "sinfo", "sbatch", "scancel")
_GROUPS = Path("/sys/fs/cgroup")


def missing() -> str:
    """Return an error message that names what Slurm needs and is missing; empty if nothing is."""
    absent = [name for name in _PROGRAMS if program(name) is None]
    if absent:
        return f"{', '.join(absent)}: not found; on Debian: apt-get install slurm-wlm munge"
    if os.geteuid() != 0:
        return "a private Slurm must be started as root, which cgroups require"
    if not (_GROUPS / "memory").is_dir():
        return f"{_GROUPS}/memory: not found; a private Slurm needs cgroups v1"
    return ""


def program(name: str) -> str | None:
    """Return the path of a program; None if it is not installed."""
    # Daemons are in folders that are not on the path of ordinary users.
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")


def environment(folder: Path) -> dict[str, str]:
    """Return the environment that makes Slurm's commands use the cluster of this folder."""
    return {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}


def ask(folder: Path, *command: str) -> str:
    """Return the output of one of Slurm's commands on this cluster; empty if it fails."""
    try:
        done = subprocess.run(command, env=environment(folder), capture_output=True, text=True, timeout=30)
    except subprocess.TimeoutExpired:
        return ""
    return done.stdout if done.returncode == 0 else ""


def free_ports(count: int) -> tuple[int, ...]:
    """Return this many free ports on 127.0.0.1."""
    with contextlib.ExitStack() as stack:
        found = []
        for _ in range(count):
            one = stack.enter_context(socket.socket())
            one.bind(("127.0.0.1", 0))
            found.append(one.getsockname()[1])
        return tuple(found)


def remove_groups(nodes: Iterable[str]) -> None:
    """Remove the empty cgroups of jobs that have ended on these nodes."""
    for node in nodes:
        for top in _GROUPS.glob(f"*/slurm_{node}"):
            for path, *_ in sorted(os.walk(top, topdown=False), key=lambda found: -len(found[0])):
                with contextlib.suppress(OSError):
                    Path(path).rmdir()
