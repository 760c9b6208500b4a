"""Samples of a driver over time, read from the kernel and from its metrics."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Sample:
    """The state of a driver at one time.

    Parameters
    ----------
    at
        Time since the begin, s.
    process
        Number of the driver's process, from 1.
    memory
        Its resident memory, bytes.
    cpu
        Processor time that it and its commands have used, s.
    poll
        Duration of the latest poll of Slurm, s.
    lag
        Time from a poll to the release of the jobs decided on it, s.
    waiting, running
        Jobs that wait and run.
    journal
        Size of the journal, bytes.
    """

    at: float
    process: int
    memory: int
    cpu: float
    poll: float
    lag: float
    waiting: int
    running: int
    journal: int


def resident(status: str) -> int:
    """Return the resident memory, bytes, in the text of ``/proc/PID/status``; 0 if it has none.

    >>> resident("Name: a\\nVmRSS:\\t    2 kB\\n")
    2048
    """
    found = re.search(r"^VmRSS:\s+(\d+) kB$", status, re.MULTILINE)
    return 1024 * int(found[1]) if found else 0


def used(stat: str, ticks: int) -> float:
    """Return the processor time, s, in the text of ``/proc/PID/stat``, with that of ended children.

    >>> used("7 (a b) S " + " ".join(["0"] * 10) + " 100 50 200 50 0", ticks=100)
    4.0
    """
    return sum(map(int, stat.rpartition(")")[2].split()[11:15])) / ticks


def values(text: str) -> dict[str, float]:
    """Return the values of metrics without labels, by name, in the text format of Prometheus."""
    return {
        name: float(value) for name, value in re.findall(r"^windlass_slurm_(\w+) (\S+)$", text, re.MULTILINE)
    }


def write(file: Path, samples: Iterable[Sample]) -> None:
    """Write a CSV file."""
    with file.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(field.name for field in fields(Sample))
        writer.writerows(astuple(each) for each in samples)


def read(file: Path) -> list[Sample]:
    """Read what :func:`write` has written."""
    with file.open(newline="") as lines:
        return [
            Sample(
                float(row["at"]),
                int(row["process"]),
                int(row["memory"]),
                *(float(row[name]) for name in ("cpu", "poll", "lag")),
                *(int(row[name]) for name in ("waiting", "running", "journal")),
            )
            for row in csv.DictReader(lines)
        ]
