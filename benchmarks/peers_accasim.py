"""Replay of the same jobs by AccaSim, a simulator from PyPI.

AccaSim reads SWF with whole seconds, keeps its settings in globals and starts threads, so it runs in a process of its
own. Its last release is older than the supported Python versions, so no extra installs it.

Source: Galleguillos, Kiziltan, Netti and Soto, "AccaSim: a customizable workload management simulator for job
dispatching research in HPC systems", Cluster Computing 23, 2020.
"""

from __future__ import annotations

import collections
import importlib
import importlib.util
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from windlass.model import JobTable

#: AccaSim's classes for Windlass's policies.
_DISPATCHERS = {"fcfs": "FirstInFirstOut", "easy": "EASYBackfilling"}
#: Shift of all submissions, s: AccaSim takes a time of 0 for a clock that does not run yet.
_LATER = 86_400
_LOG, _SITE, _SCHEDULE = "log.swf", "site.json", "sched-log.swf"
_PATIENCE_S = 900.0


class PeerError(Exception):
    """AccaSim failed to complete its replay; the message is its last output."""


def missing() -> str:
    """Return a message on how to install AccaSim, or an empty text if it is installed."""
    found = importlib.util.find_spec("accasim") is not None
    return "" if found else "AccaSim is not installed, so no comparison with it; run: pip install accasim"


def whole_seconds(jobs: JobTable) -> JobTable:
    """Return the jobs in whole seconds, stopped at their requests; submissions are rounded down, run times up.

    >>> rounded = whole_seconds(JobTable.of(submit=[0.5], run=[9.1], procs=[1], request=[7.2]))
    >>> rounded.submit.tolist(), rounded.run.tolist(), rounded.request.tolist()
    ([0.0], [8.0], [8.0])
    """
    held = np.ceil(np.minimum(jobs.run, jobs.request))
    return JobTable(jobs.job, np.floor(jobs.submit), held, jobs.procs, np.ceil(jobs.request))


def starts(jobs: JobTable, processors: int, policy: str) -> NDArray[np.float64]:
    """Return the (n,) start of each job under AccaSim, s; NaN for jobs that never start.

    Parameters
    ----------
    jobs
        Jobs in whole seconds; see :func:`whole_seconds`.
    processors
        Processors of the site, which is a single node.
    policy
        ``fcfs`` or ``easy``.

    Raises
    ------
    PeerError
        AccaSim failed.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / _LOG).write_text("".join(swf_lines(jobs)), encoding="ascii")
        site = {"groups": {"all": {"core": processors, "mem": processors}}, "resources": {"all": 1}}
        more = {"equivalence": {"processor": {"core": 1}}, "start_time": 0}
        (folder / _SITE).write_text(json.dumps(site | more), encoding="ascii")
        command = [sys.executable, "-m", "benchmarks.peers_accasim", policy, name]
        try:
            done = subprocess.run(
                command,
                cwd=Path(__file__).parents[1],
                capture_output=True,
                text=True,
                stdin=subprocess.DEVNULL,
                timeout=_PATIENCE_S,
            )
        except subprocess.TimeoutExpired as error:
            raise PeerError(f"it did not end within {_PATIENCE_S:g} s") from error
        if done.returncode != 0:
            raise PeerError(next(reversed(done.stderr.split("\n")[:-1]), f"status {done.returncode}"))
        schedule = folder / _SCHEDULE
        return read_starts(schedule.read_text(encoding="ascii") if schedule.exists() else "", len(jobs))


def swf_lines(jobs: JobTable) -> Iterator[str]:
    """Yield the jobs as SWF lines for AccaSim: numbered by row, a day later, with a unit of memory per processor.

    >>> next(swf_lines(JobTable.of(submit=[5], run=[60], procs=[4], request=[90])))
    '1 86405 -1 60 4 -1 1 4 90 1 1 1 1 -1 1 -1 -1 -1\\n'
    """
    columns = (jobs.submit, jobs.run, jobs.procs, jobs.request)
    for number, row in enumerate(zip(*(column.tolist() for column in columns), strict=True), 1):
        submit, run, procs, request = map(int, row)
        yield (f"{number} {submit + _LATER} -1 {run} {procs} -1 1 {procs} {request} 1 1 1 1 -1 1 -1 -1 -1\n")


def read_starts(text: str, count: int) -> NDArray[np.float64]:
    """Return the (count,) starts, s, from AccaSim's output: lines ``number;start`` in the order of the ends.

    >>> read_starts("2;86407\\n1;86400\\n", 3).tolist()
    [0.0, 7.0, nan]
    """
    found = np.full(count, np.nan)
    for line in text.split():
        number, start = line.split(";")
        found[int(number) - 1] = float(start) - _LATER
    return found


def _replay(policy: str, folder: Path) -> None:
    # AccaSim imports this name from ``collections``, where it was until Python 3.9.
    vars(collections).setdefault("Mapping", Mapping)
    allocators = importlib.import_module("accasim.base.allocator_class")
    schedulers = importlib.import_module("accasim.base.scheduler_class")
    simulators = importlib.import_module("accasim.base.simulator_class")
    scheduler = getattr(schedulers, _DISPATCHERS[policy])(allocators.FirstFit())
    written = {
        "format": "{job_id};{start}",
        "attributes": {"job_id": ("id", "str"), "start": ("start_time", "str")},
    }
    simulators.Simulator(
        str(folder / _LOG),
        str(folder / _SITE),
        scheduler,
        scheduling_output=True,
        statistics_output=False,
        show_statistics=False,
        RESULTS_FOLDER_PATH=str(folder),
        SCHEDULE_OUTPUT=written,
    ).start_simulation()


if __name__ == "__main__":
    _replay(sys.argv[1], Path(sys.argv[2]))
