"""Random jobs, and what their users do to them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.engines.slurm.private import Shell

#: Mean run time (s), most processors of a job, and the offered load as a share of the cluster.
RUN, MOST, LOAD = 15.0, 8, 0.6
#: Jobs of a burst.
BURST = 15


class Load:
    """Jobs that write down when they begin and end.

    Parameters
    ----------
    shell
        The Slurm; its controller must answer.
    processors
        Processors of the cluster.
    rng
        The random generator.
    """

    def __init__(self, shell: Shell, processors: int, rng: np.random.Generator) -> None:
        self._shell, self._rng = shell, rng
        self.record: Path = shell.folder / "record"
        self.record.touch()
        #: Mean time between submissions, s.
        self.gap = RUN * (1 + MOST) / 2 / (LOAD * processors)
        self.submitted: list[int] = []
        self.cancelled: list[int] = []

    def submit(self) -> None:
        """Submit a job."""
        run, procs = min(float(self._rng.exponential(RUN)), 4 * RUN), int(self._rng.integers(1, MOST + 1))
        line = f"$SLURM_JOB_ID ${{SLURM_RESTART_COUNT:-0}} >> {self.record}"
        command = f"echo begin {line}; sleep {run:.1f}; echo end {line}"
        self.submitted.append(self._shell.submit(command, procs=procs, minutes=2))

    def burst(self) -> None:
        """Submit many jobs at once."""
        for _ in range(BURST):
            self.submit()

    def cancel(self) -> None:
        """Cancel a job that has not ended, as its user does."""
        _, ended = self._runs()
        if waiting := sorted({*self.submitted} - ended - {*self.cancelled}):
            self.cancelled.append(int(self._rng.choice(waiting)))
            self._shell("scancel", "--quiet", str(self.cancelled[-1]))

    def requeue(self) -> None:
        """Requeue a running job, as its user does; it may end just before."""
        begun, ended = self._runs()
        if running := sorted(begun - ended - {*self.cancelled}):
            self._shell("bash", "-c", f"scontrol requeue {self._rng.choice(running)} || true")

    def left(self) -> bool:
        """Return whether Slurm lists jobs that have not ended."""
        return self._shell("squeue", "--noheader", "--format=%A") != ""

    def _runs(self) -> tuple[set[int], set[int]]:
        words = [line.split() for line in self.record.read_text().splitlines()]
        begun, ended = ({int(job) for word, job, _ in words if word == which} for which in ("begin", "end"))
        return begun, ended
