"""A process that has imported the command's modules, and forks the command repeatedly.

``python -m tests.engines.starts MODULE …`` imports these, and reads a line for each process: JSON with the words of the
command, and its output file. It prints the new process's id, and then, after the end of the process, its
status.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import traceback
from pathlib import Path
from typing import Self

from windlass.cli import command

#: What `windlass k8s autoscale` and `windlass ray autoscale` import as they run.
SCALING = (
    "scipy.signal",
    "scipy.stats",
    "windlass.cli.scaling",
    "windlass.engines.elastic.engine",
    "windlass.engines.elastic.types",
    "windlass.control.scaling.engine",
    "windlass.control.serve",
    "windlass.scale.monitor",
    "windlass.scale.policies.predictive",
    "windlass.experiment.worlds.policy",
)
KUBERNETES = (
    "kubernetes.client",
    "kubernetes.config",
    "urllib3",
    "windlass.engines.kubernetes.system",
    *SCALING,
)
#: What `windlass k8s drive` and `windlass k8s give-back` import.
JOBS = (
    "kubernetes.client",
    "kubernetes.config",
    "urllib3",
    "windlass.cli.app",
    "windlass.engines.kubernetes.jobs.driver",
    "windlass.order.site",
    "windlass.share",
)
RAY = ("ray.autoscaler.v2.sdk", "windlass.engines.ray.scale", *SCALING)
#: What `windlass agent run` and `windlass agent aggregate` import.
AGENT = ("uvicorn", "windlass.cli.app", "windlass.agent.agent")
#: What `windlass slurm drive` and `windlass slurm give-back` import.
SLURM = (
    "windlass.cli.app",
    "windlass.cli.slurm_engine",
    "windlass.control.serve",
    "windlass.control.slurm.engine",
    "windlass.engines.slurm.driver",
    "windlass.order.site",
    "windlass.share",
)
#: What `windlass pbs drive` and `windlass pbs give-back` import.
PBS = (
    "windlass.cli.app",
    "windlass.engines.batch.holds.driver",
    "windlass.engines.pbs.site",
    "windlass.order.site",
)
#: What `windlass htcondor drive` and `windlass htcondor give-back` import.
HTCONDOR = (
    "windlass.cli.app",
    "windlass.engines.batch.holds.driver",
    "windlass.engines.htcondor.site",
    "windlass.order.site",
)
_ENDS = (signal.SIGINT, signal.SIGTERM)
#: Timeout (s) after which a process is killed.
_LONGEST_S = 900.0


class Starts:
    """Fast starts of ``windlass``, one at a time."""

    def __init__(self, environment: dict[str, str], modules: tuple[str, ...]) -> None:
        command = [sys.executable, "-m", "tests.engines.starts", *modules]
        self._process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._started = 0

    def start(self, words: list[str], output: Path) -> int:
        """Start a new process and return its id."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([words, str(output)]) + "\n")
        self._process.stdin.flush()
        self._started = self._answer()
        return self._started

    def status(self) -> int:
        """Wait for its end and return its status as in :class:`subprocess.Popen`; kill it after the timeout."""
        stuck = threading.Timer(_LONGEST_S, os.kill, (self._started, signal.SIGKILL))
        stuck.start()
        try:
            found = self._answer()
        finally:
            stuck.cancel()
        self._started = 0
        return found

    def _answer(self) -> int:
        assert self._process.stdout is not None
        return int(self._process.stdout.readline())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # A process that still runs is a child of the process ended here, and would outlive it.
        if self._started:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._started, signal.SIGKILL)
        self._process.kill()
        self._process.wait()


def _serve() -> None:
    for name in sys.argv[1:]:
        __import__(name)
    for line in sys.stdin:
        words, output = json.loads(line)
        # A signal before the command handles signals is deferred.
        signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)
        child = os.fork()
        if child == 0:
            _become(words, output)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDS)
        print(child, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _become(words: list[str], output: str) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(file, 1)
    os.dup2(file, 2)
    sys.argv = ["windlass", *words]
    status = 1
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDS)
        command()
    except SystemExit as stop:
        status = int(stop.code or 0)
    except KeyboardInterrupt:
        print("windlass: interrupted", file=sys.stderr)
        status = 130
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(status)


if __name__ == "__main__":
    _serve()
