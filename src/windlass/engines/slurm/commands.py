"""Slurm's commands as processes."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from windlass.engines.batch.commands import run_command
from windlass.engines.slurm.streaming import stream_command


@runtime_checkable
class StreamingRunner(Protocol):
    """A runner that can also pass a command's output on as it arrives."""

    def stream(
        self, command: Sequence[str], timeout: float, take: Callable[[bytes], None]
    ) -> tuple[int, str]:
        """Run a command; return its exit status and standard error."""
        ...


@dataclass(frozen=True, slots=True)
class Commands:
    """Runs Slurm's commands as processes.

    Parameters
    ----------
    conf
        Path of ``slurm.conf``; None for the one that the environment or the system selects.
    """

    conf: Path | None = None

    def __call__(self, command: Sequence[str], timeout: float) -> tuple[int, str, str]:
        """Run a command."""
        return run_command(command, self._environment(), timeout)

    def stream(
        self, command: Sequence[str], timeout: float, take: Callable[[bytes], None]
    ) -> tuple[int, str]:
        """Run a command and pass its output on as it arrives; see :func:`stream_command`."""
        return stream_command(command, self._environment(), timeout, take)

    def _environment(self) -> dict[str, str]:
        # Settings of the user's own listings would hide jobs and nodes.
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("SQUEUE_", "SINFO_"))
        }
        kept |= {"LC_ALL": "C.UTF-8", "SLURM_JSON": "compact"}
        return kept if self.conf is None else {**kept, "SLURM_CONF": str(self.conf)}
