"""The driver and the controller of a private Slurm, and what is done to them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np

from tests.engines.slurm.private import Shell
from tests.soak.samples import Sample, resident, used, values
from windlass.engines.slurm.cluster import SlurmCluster

_TICKS = os.sysconf("SC_CLK_TCK")


class DriverProcess:
    """``windlass slurm drive`` as a process, which is started again after it is killed.

    Parameters
    ----------
    shell
        The Slurm.
    folder
        For the journal and the output.
    look
        Polling interval, s.
    port
        Of the metrics.
    """

    def __init__(self, shell: Shell, folder: Path, look: float, port: int) -> None:
        self._shell, self._port, self._look = shell, port, look
        self.output, self.journal = folder / "driver.log", folder / "driver.journal"
        self.number = 0
        self.start()

    def start(self) -> None:
        """Start the next process."""
        self.number += 1
        words = ["--policies", "order=easy", "--look", str(self._look), "--metrics", str(self._port)]
        words += ["--journal", str(self.journal), "--conf", str(self._shell.cluster.conf), "--log", "json"]
        with self.output.open("a") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "windlass", "slurm", "drive", *words],
                stdout=out,
                stderr=subprocess.STDOUT,
                env=self._shell.environment,
            )

    def kill(self) -> None:
        """Kill it as a machine without memory does, and start the next one."""
        self.process.kill()
        self.process.wait()
        self.start()

    def end(self) -> int:
        """Terminate it; return its status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait()

    def sample(self, at: float) -> Sample | None:
        """Return its state; None while it starts."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/metrics", timeout=5.0) as answer:
                found = values(answer.read().decode())
            folder = Path(f"/proc/{self.process.pid}")
            memory, cpu = (
                resident((folder / "status").read_text()),
                used((folder / "stat").read_text(), _TICKS),
            )
        except (urllib.error.URLError, OSError):
            return None
        return Sample(
            at,
            self.number,
            memory,
            cpu,
            found["last_poll_seconds"],
            found["lag_seconds"],
            int(found["queue_jobs"]),
            int(found["running_jobs"]),
            self.journal.stat().st_size if self.journal.exists() else 0,
        )


class Controller:
    """Slurm's controller and nodes."""

    def __init__(self, shell: Shell, rng: np.random.Generator) -> None:
        self._shell, self._rng, self._drained = shell, rng, ""

    def stop(self) -> None:
        """End the controller, which saves its state."""
        SlurmCluster.load(self._shell.cluster.folder).stop("slurmctld")

    def start(self) -> None:
        """Start it again."""
        SlurmCluster.load(self._shell.cluster.folder).start("slurmctld")

    def pause(self) -> None:
        """Let it hang."""
        os.kill(self._pid(), signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on."""
        os.kill(self._pid(), signal.SIGCONT)

    def drain(self) -> None:
        """Drain a node; its jobs run to their end."""
        self._drained = f"w{self._rng.integers(1, self._shell.cluster.nodes + 1)}"
        self._shell("scontrol", "update", f"NodeName={self._drained}", "State=DRAIN", "Reason=soak")

    def undrain(self) -> None:
        """Return the node."""
        self._shell("scontrol", "update", f"NodeName={self._drained}", "State=RESUME")

    def _pid(self) -> int:
        daemons = SlurmCluster.load(self._shell.cluster.folder).daemons
        return next(each.pid for each in daemons if each.name == "slurmctld")
