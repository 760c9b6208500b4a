"""Ends a private cluster with the process that started it, however that ends.

The kernel ends raylets with their driver, but not what raylets started: Ray's own agents outlive them by a minute or
more. So a small process is started before the cluster, with a pipe as its standard input. When the pipe closes it kills
all that has a file of the cluster's folder open, which nobody else has, and removes the folder. Ray's processes change
their titles, and with these their environment, so neither tells whose they are.
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

#: What is being started while its parent dies is found at the next look.
_LOOKS, _APART_S = 5, 0.2


def watch(folder: str) -> subprocess.Popen[bytes]:
    """Start the process; close its standard input when the cluster is no more, and wait for it."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", __name__, folder],
        stdin=subprocess.PIPE,
        start_new_session=True,
        env=os.environ | {"PYTHONPATH": import_path()},
    )


def import_path() -> str:
    """What ``PYTHONPATH`` must be for a process that is to find this Windlass, wherever it is started."""
    package = Path(__file__).parents[3]
    return os.pathsep.join([str(package), *filter(None, [os.environ.get("PYTHONPATH")])])


def orphans(folder: str) -> list[psutil.Process]:
    """Processes that have a file of this folder open: all of Ray's, as each writes a log there."""
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
