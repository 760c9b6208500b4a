"""``python -m benchmarks.control_viewers``: what 20 viewers of the pages cost the engine that decides.

An engine decides about a queue of 300 waiting jobs, and writes each decision with its act and the state of the site to
the journal. A viewer is notified of each change and fetches the page Now again, as a browser does. Slices without and
with viewers alternate: in the first, their process and that of the pages are stopped. Slices are short, since the speed
of a machine changes within seconds, and neighbouring slices are compared. A slice counts twice: by the 10 % quantile of
the processor time that the engine's thread takes for a decision, and by the mean, which other programs change, too.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from windlass.agent.options import Address
from windlass.agent.web import listening
from windlass.control.journal import (
    ActRecord,
    DecisionRecord,
    EngineStatus,
    JobKey,
    JournalWriter,
    ViewRecord,
)
from windlass.control.pages_process import PagesProcess
from windlass.control.site_status import JobState, SiteStatus, status_text
from windlass.order.site.policies.easy import Easy
from windlass.order.site.view import Running, SiteView, Waiting

VIEWERS, WAITING = 20, 300
#: A slice counts by its faster decisions, which other programs of the machine have not interrupted.
_QUANTILE = 0.1
#: Viewers: each waits for changes, and fetches the page at each.
CLIENTS = r"""
import asyncio, sys
port, count = int(sys.argv[1]), int(sys.argv[2])
fetched = 0

async def fetch():
    global fetched
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    page = await reader.read()
    fetched += b"</html>" in page
    writer.close()

async def viewer():
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    while line := await reader.readline():
        if line.startswith(b"event: change"):
            await fetch()

async def main():
    tasks = [asyncio.create_task(viewer()) for _ in range(count)]
    await fetch()
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    print(fetched, flush=True)
    for each in tasks:
        each.cancel()

asyncio.run(main())
"""


@dataclass(frozen=True, slots=True)
class Slice:
    """Of a slice: processor time of a decision (10 % quantile, mean), and the median until an act is on the disk, s."""

    decision: float
    mean: float
    act: float


class Engine:
    """Decides, and writes what it decides.

    Parameters
    ----------
    journal
        The journal.
    """

    def __init__(self, journal: JournalWriter) -> None:
        rng = np.random.default_rng(1)
        self._journal, self._policy, self._number = journal, Easy(), 0
        self._jobs = np.arange(WAITING)
        self._procs, self._request = rng.integers(1, 17, WAITING), rng.uniform(60.0, 7200.0, WAITING)
        waiting = tuple(
            JobState(str(job), "batch job", float(job), int(self._procs[job]), "3 jobs ahead", 60.0)
            for job in self._jobs
        )
        self._state = SiteStatus((), waiting, 0, WAITING, 64, 8)

    def slice(self, seconds: float) -> Slice:
        """Decide for a while."""
        spent, acts, end = list[float](), list[float](), time.monotonic() + seconds
        while time.monotonic() < end:
            began = time.thread_time()
            job = self._decide()
            spent.append(time.thread_time() - began)
            if self._number % 10 == 0 or not acts:
                at, now = time.perf_counter(), 1000.0 + self._number
                self._journal.intend(ActRecord(f"release {self._number}", now, job, "release"))
                acts.append(time.perf_counter() - at)
                self._journal.conclude(f"release {self._number}", now, "released")
            time.sleep(0.003)
        return Slice(float(np.quantile(spent, _QUANTILE)), statistics.fmean(spent), statistics.median(acts))

    def _decide(self) -> JobKey:
        self._number += 1
        now, job = 1000.0 + self._number, JobKey("bench", "site", str(self._number))
        view = SiteView(
            now,
            processors=64,
            free=8,
            waiting=Waiting.of(self._jobs, self._jobs.astype(float), self._procs, self._request),
            running=Running.of(np.array([10**6]), np.array([56]), np.array([now + 900.0])),
        )
        count = len(self._policy.decide(view).jobs)
        self._journal.append(DecisionRecord(now, job, "order", "easy", f"start {count}", "head of the queue"))
        self._journal.append(
            ViewRecord(now, "bench", "site", status_text(self._state)),
            EngineStatus("bench", "running", now),
        )
        return job


def measure(pairs: int, seconds: float) -> tuple[list[tuple[Slice, Slice]], int]:
    """Return pairs of slices without and with viewers, and the number of pages that they fetched."""
    with (
        tempfile.TemporaryDirectory() as folder,
        listening("pages", Address("127.0.0.1", 0)) as bound,
        JournalWriter(Path(folder) / "journal.db") as journal,
    ):
        journal.append(EngineStatus("bench", "running", 0.0, "an engine of a benchmark"))
        journal.flush()
        pages = PagesProcess(bound, journal.path, [], time.monotonic, print)
        words = [sys.executable, "-c", CLIENTS, str(bound.getsockname()[1]), str(VIEWERS)]
        clients = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert clients.stdin is not None
        assert clients.stdout is not None
        assert pages.pid is not None
        processes = (pages.pid, clients.pid)
        engine = Engine(journal)
        try:
            assert clients.stdout.readline() == "ready\n"
            engine.slice(seconds)
            found = []
            for number in range(pairs):
                both = dict[int, Slice]()
                # In every other pair, the viewers come first.
                signs = (signal.SIGSTOP, signal.SIGCONT)[:: -1 if number % 2 else 1]
                for sign in signs:
                    for process in processes:
                        os.kill(process, sign)
                    both[sign] = engine.slice(seconds)
                found.append((both[signal.SIGSTOP], both[signal.SIGCONT]))
            for process in processes:
                os.kill(process, signal.SIGCONT)
            clients.stdin.close()
            fetched = int(clients.stdout.readline())
        finally:
            for process in processes:
                os.kill(process, signal.SIGCONT)
            clients.kill()
            clients.wait()
            pages.close()
    return found, fetched


def main() -> None:
    """Print the times without and with viewers."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.control_viewers", description=__doc__)
    parser.add_argument("--pairs", type=int, default=300, help="pairs of slices (default 300)")
    parser.add_argument("--seconds", type=float, default=0.4, help="length of a slice, s (default 0.4)")
    given = parser.parse_args()
    pairs, fetched = measure(given.pairs, given.seconds)
    print(f"{VIEWERS} viewers fetched {fetched:,} pages in {given.pairs * given.seconds:.0f} s")
    for name, index in (("without", 0), ("with", 1)):
        times = sorted(1e6 * pair[index].decision for pair in pairs)
        acts = sorted(1e3 * pair[index].act for pair in pairs)
        print(
            f"{name:7} viewers: {times[0]:.1f} µs of processor time a decision (median {statistics.median(times):.1f}, "
            f"to {times[-1]:.1f}); an act is on the disk after {statistics.median(acts):.2f} ms ({acts[0]:.2f} to "
            f"{acts[-1]:.2f})"
        )
    least = min(each.decision for _, each in pairs) / min(each.decision for each, _ in pairs) - 1
    quantiles = [second.decision / first.decision - 1 for first, second in pairs]
    means = [second.mean / first.mean - 1 for first, second in pairs]
    print(f"slower by {median_of(quantiles)}, by the 10 % quantiles; by {median_of(means)}, by the means")
    print(f"slower by {least:+.2%} by the smallest quantiles")


def median_of(ratios: Sequence[float]) -> str:
    """Return the median of the pairs with its 95 % interval."""
    drawn = np.median(np.random.default_rng(1).choice(ratios, (10_000, len(ratios))), axis=1)
    low, high = np.quantile(drawn, (0.025, 0.975))
    return f"{np.median(ratios):+.2%} (95 % interval {low:+.2%} to {high:+.2%}) in the median of the pairs"


if __name__ == "__main__":
    main()
