"""Stops a private cluster when the process that started it ends or is killed.

The kernel ends raylets with their driver, but not the processes that raylets started: Ray's own agents survive for a
minute or more. A small process is therefore started before the cluster, with a pipe as its standard input. When the
pipe closes, it kills all processes that have a file in the cluster's folder open, and removes the folder. Ray's
processes overwrite their titles, and with these their environment, so that neither identifies the cluster.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil

#: Number of searches and their interval, s: later ones find processes that were starting when their parent died.
_LOOKS, _APART_S = 5, 0.2


def watch(folder: str) -> subprocess.Popen[bytes]:
    """Start the process; close its standard input once the cluster is stopped, and wait for it."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", __name__, folder],
        stdin=subprocess.PIPE,
        start_new_session=True,
        env=os.environ | {"PYTHONPATH": import_path()},
    )


def import_path() -> str:
    """Return a ``PYTHONPATH`` with which a process finds this Windlass, wherever it is started."""
    package = Path(__file__).parents[3]
    return os.pathsep.join([str(package), *filter(None, [os.environ.get("PYTHONPATH")])])


def orphans(folder: str) -> list[psutil.Process]:
    """Return the processes with an open file in this folder; all of Ray's have one, as each writes a log there."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if any(file.path.startswith(f"{folder}{os.sep}") for file in process.open_files()):
                found.append(process)
    return found


def _main(folder: str) -> None:
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    sys.stdin.buffer.read()
    for _ in range(_LOOKS):
        for process in orphans(folder):
            with contextlib.suppress(psutil.Error):
                process.kill()
        time.sleep(_APART_S)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    _main(sys.argv[1])
