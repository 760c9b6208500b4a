"""AccaSim, a simulator that others wrote and that installs from PyPI, replays the same jobs.

It reads SWF with whole seconds, keeps its settings in globals and starts threads, so it runs in a process of its own.
Its last release is older than the Python of today, and is asked for by nobody but who has it: no extra names it.

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

#: Its classes for our policies.
_DISPATCHERS = {"fcfs": "FirstInFirstOut", "easy": "EASYBackfilling"}
#: It takes a clock of 0 for one that does not run yet, so that jobs come a day later, s.
_LATER = 86_400
_LOG, _SITE, _SCHEDULE = "log.swf", "site.json", "sched-log.swf"
_PATIENCE_S = 900.0


class PeerError(Exception):
    """The peer did not bring its replay to an end; says what it said last."""


def missing() -> str:
    """What to install for it, in a line; empty where it is there."""
    found = importlib.util.find_spec("accasim") is not None
    return "" if found else "AccaSim is not installed, and is left out: pip install accasim"


def whole_seconds(jobs: JobTable) -> JobTable:
    """The jobs with whole seconds, stopped at their requests: submitted a little earlier, running a little longer.

    >>> rounded = whole_seconds(JobTable.of(submit=[0.5], run=[9.1], procs=[1], request=[7.2]))
    >>> rounded.submit.tolist(), rounded.run.tolist(), rounded.request.tolist()
    ([0.0], [8.0], [8.0])
    """
    held = np.ceil(np.minimum(jobs.run, jobs.request))
    return JobTable(jobs.job, np.floor(jobs.submit), held, jobs.procs, np.ceil(jobs.request))


def starts(jobs: JobTable, processors: int, policy: str) -> NDArray[np.float64]:
    """When each job starts there, (n,) s; NaN for one that never did.

    Parameters
    ----------
    jobs
        With whole seconds, see :func:`whole_seconds`.
    processors
        Of the site, which is one node: jobs have no places here either.
    policy
        ``fcfs`` or ``easy``.

    Raises
    ------
    PeerError
        It failed.
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
    """The jobs as it reads them: numbered by row, a day later, each processor with a unit of memory.

    >>> next(swf_lines(JobTable.of(submit=[5], run=[60], procs=[4], request=[90])))
    '1 86405 -1 60 4 -1 1 4 90 1 1 1 1 -1 1 -1 -1 -1\\n'
    """
    columns = (jobs.submit, jobs.run, jobs.procs, jobs.request)
    for number, row in enumerate(zip(*(column.tolist() for column in columns), strict=True), 1):
        submit, run, procs, request = map(int, row)
        yield (f"{number} {submit + _LATER} -1 {run} {procs} -1 1 {procs} {request} 1 1 1 1 -1 1 -1 -1 -1\n")


def read_starts(text: str, count: int) -> NDArray[np.float64]:
    """(count,) s of what it wrote: ``number;start`` a line, in the order in which jobs ended.

    >>> read_starts("2;86407\\n1;86400\\n", 3).tolist()
    [0.0, 7.0, nan]
    """
    found = np.full(count, np.nan)
    for line in text.split():
        number, start = line.split(";")
        found[int(number) - 1] = float(start) - _LATER
    return found


def _replay(policy: str, folder: Path) -> None:
    # The name stood there until Python 3.9, and it is imported from there.
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
