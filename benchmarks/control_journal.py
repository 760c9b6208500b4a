"""``python -m benchmarks.control_journal``: the time that each page of the control plane takes on a large journal.

The journal is drawn row by row in SQLite: three engines with four sites each, jobs with several decisions and events.
Each page is requested from the application, without HTTP. The smallest processor time of several requests is printed,
and the largest one, and what takes longer than the limit ends the command with status 1.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import sqlite3
import sys
import tempfile
import time
import zlib
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

from windlass.control.journal import EngineStatus, JournalReader, JournalWriter, ViewRecord
from windlass.control.site_status import JobState, MachineState, PastJob, QueueStatus, SiteStatus, status_text
from windlass.control.web.access import PageAccess
from windlass.control.web.app import PagesApp

ENGINES, SITES = ("kth", "oslo", "iowa"), ("a", "b", "c", "d")
#: Share of each table in the rows.
SHARES = {"decisions": 0.4, "events": 0.4, "predictions": 0.1, "acts": 0.08, "views": 0.02}
#: Pages, with filters that match much, little and nothing.
TARGETS = (
    "/",
    "/?rows=500",
    "/when",
    "/when?engine=kth&job=17",
    "/what-if",
    "/last-day",
    "/decisions",
    "/decisions?rows=500",
    "/decisions?before=100000&rows=500",
    "/decisions?engine=kth&site=a&decision=order",
    "/decisions?site=none",
    "/decisions?job=17",
    "/decisions?job=none",
    "/decisions?decision=scale",
    "/machines",
    "/actions",
    "/health",
    "/metrics",
)
#: Time that a page may take, s.
LIMIT = 0.1


def draw(path: Path, rows: int) -> None:
    """Write a journal of so many rows in all tables."""
    with JournalWriter(path) as journal:
        for engine in ENGINES:
            journal.append(EngineStatus(engine, "running", 1.8e9, "a drawn engine"))
            journal.append(*(ViewRecord(1.8e9, engine, site, status_text(_status())) for site in SITES))
    with sqlite3.connect(path) as file:
        file.execute("pragma synchronous = off")
        topics = ("order", "share", "scale", "submitted", "started", "ended", "error", "start")
        file.executemany(
            "insert or ignore into scopes (engine, site, topic) values (?, ?, ?)",
            [(engine, site, topic) for engine in ENGINES for site in SITES for topic in topics],
        )
        numbers: dict[tuple[str, int], int] = {
            (topic, place): int(scope)
            for topic in topics
            for place, (scope,) in enumerate(
                file.execute("select scope from scopes where topic = ?", (topic,))
            )
        }
        count = {table: int(rows * share) for table, share in SHARES.items()}

        def scope(number: int, some: tuple[str, ...]) -> int:
            return numbers[some[number % len(some)], number // 7 % (len(ENGINES) * len(SITES))]

        file.executemany(
            "insert into decisions (recorded, time, scope, job, policy, answer, reason) values (?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    1.7e9 + each,
                    1.7e9 + each,
                    scope(each, topics[:2]),
                    str(each // 3),
                    "easy",
                    "start",
                    "head of the queue",
                )
                for each in range(count["decisions"])
            ),
        )
        file.executemany(
            "insert into events (recorded, time, scope, job, text) values (?, ?, ?, ?, ?)",
            (
                (
                    1.7e9 + each,
                    1.7e9 + each,
                    scope(each, topics[3:6]),
                    str(each // 3),
                    "user ann: requests 4 cores",
                )
                for each in range(count["events"])
            ),
        )
        file.executemany(
            "insert into predictions (recorded, time, scope, job, low, median, high, planned, level, scored, first, "
            "open, started) values (?, ?, ?, ?, ?, ?, ?, ?, 0.9, 100, ?, ?, ?)",
            (
                (
                    at,
                    at,
                    scope(each, ("start",)),
                    str(each // 5),
                    at,
                    at + 60,
                    at + 600,
                    at + 900,
                    each % 5 == 0,
                    recent,
                    start,
                )
                for each in range(count["predictions"])
                for at in (1.7e9 + each,)
                for recent in (each > count["predictions"] - 5_000,)
                for start in (None if recent else at + 30,)
            ),
        )
        file.executemany(
            "insert into acts (recorded, time, engine, site, job, key, action, outcome) "
            "values (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    1.7e9 + each,
                    1.7e9 + each,
                    ENGINES[each % 3],
                    "a",
                    str(each),
                    f"k{each}",
                    "release",
                    "released",
                )
                for each in range(count["acts"])
            ),
        )
        content = zlib.compress(status_text(SiteStatus((), (), 0, 0, queue=QueueStatus("easy"))).encode())
        file.executemany(
            "insert into views (recorded, time, engine, site, digest, content) values (?, ?, ?, ?, ?, ?)",
            (
                (1.7e9 + 60 * each, 1.7e9 + 60 * each, ENGINES[each % 3], "a", b"", content)
                for each in range(count["views"])
            ),
        )
        for table in ("decisions", "events"):
            file.execute(
                f"update scopes set {table} = (select count(*) from {table} where {table}.scope = scopes.scope)"
            )
    file.close()


def _status() -> SiteStatus:
    jobs = tuple(
        JobState(str(each), "batch job", 1.79e9 + each, 4, "4 jobs ahead", 3600.0) for each in range(300)
    )
    past = tuple(PastJob(1.79e9, 1.79e9 + 60, 1.79e9 + 600 + each, 4, 3600.0) for each in range(300))
    machines = tuple(MachineState(f"n{each}", "up", 64, 0) for each in range(300))
    queue = QueueStatus("easy", {}, 0, past)
    return SiteStatus(jobs, jobs, 300, 900, 19_200, 0, (), machines, "", queue)


async def _status_of(app: PagesApp, target: str) -> int:
    path, _, query = target.partition("?")
    status = [0]

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            status[0] = int(str(message["status"]))

    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "query_string": query.encode(),
        "headers": [(b"host", b"localhost")],
    }
    await app(scope, receive, send)
    return status[0]


def measure(path: Path, repeats: int) -> list[tuple[str, float, float]]:
    """Return the smallest and the largest processor time of each page, s."""
    found = []
    with JournalReader(path) as reader:
        app = PagesApp(reader, PageAccess(None), time.time, time.monotonic)
        # As the process of the pages does.
        gc.collect()
        gc.freeze()
        for target in TARGETS:
            times = []
            for _ in range(repeats):
                began = time.process_time()
                status = asyncio.run(_status_of(app, target))
                times.append(time.process_time() - began)
                if status != 200:
                    raise RuntimeError(f"{target}: status {status}")
            found.append((target, min(times), max(times)))
    return found


def main() -> None:
    """Draw a journal, or take one that was drawn, and print the times."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.control_journal", description=__doc__)
    parser.add_argument(
        "--rows", type=int, default=10_000_000, help="rows in all tables (default 10,000,000)"
    )
    parser.add_argument("--repeats", type=int, default=5, help="requests of each page (default 5)")
    parser.add_argument("--keep", type=Path, help="file of the journal; drawn if it does not exist, and kept")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = given.keep or Path(folder) / "journal.db"
        if not path.exists():
            draw(path, given.rows)
        with JournalReader(path) as reader:
            print(", ".join(f"{name} {count:,}" for name, count in reader.counts()))
        found = measure(path, given.repeats)
    for target, least, most in found:
        print(f"{target:45} {1e3 * least:8.1f} ms  (to {1e3 * most:.1f} ms)")
    slow = [target for target, least, _ in found if least > LIMIT]
    if slow:
        sys.exit(f"over {1e3 * LIMIT:g} ms: {', '.join(slow)}")


if __name__ == "__main__":
    main()
