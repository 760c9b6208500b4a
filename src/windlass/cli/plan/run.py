"""``windlass plan run``: streaming queries on real nodes, as planned, and measured against the plan."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from windlass.cli.plan.measured import measured_table, tree_of
from windlass.cli.signals import stopped_by_signals
from windlass.cli.stderr_capture import errors_apart
from windlass.cli.terminal import terminal
from windlass.drive import drive
from windlass.engines.address import ray_head
from windlass.engines.streams.book import StreamBook
from windlass.engines.streams.engine import LiveStreams
from windlass.engines.streams.executor import QueryFeed, StreamNode
from windlass.engines.streams.result import StreamsRun
from windlass.model import InputError
from windlass.model.queries import Hierarchy
from windlass.model.text import printable
from windlass.plan import POLICIES, PlanPolicy
from windlass.plan.files import read_hierarchy, read_queries, read_recorded

if TYPE_CHECKING:
    from windlass.engines.ray.streams import RayStreams
    from windlass.engines.streams.video import Videos

ENGINES = ("ray",)


@dataclass(frozen=True, slots=True)
class Where:
    """On what queries run.

    Parameters
    ----------
    engine
        Its name.
    address
        Of a cluster that somebody runs; None for a private one on this machine.
    nodes
        Raylets of each cluster of a private one that has others below it.
    emulate
        Whether links are emulated.
    """

    engine: str
    address: str | None = None
    nodes: int = 1
    emulate: bool = True


class QueryFile:
    """The queries of a file, read again when it has changed.

    Parameters
    ----------
    path
        The file.
    read
        Reads it.
    tell
        Told of a file that cannot be used; what was read before stands.
    """

    def __init__(
        self, path: Path, read: Callable[[], tuple[QueryFeed, ...]], tell: Callable[[str], None]
    ) -> None:
        self._path, self._read, self._tell = path, read, tell
        self._changed = self._stamp()
        self._feeds = read()

    def __call__(self, now: float) -> Sequence[QueryFeed]:
        """The queries that are asked for."""
        stamp = self._stamp()
        if stamp != self._changed:
            self._changed = stamp
            try:
                self._feeds = self._read()
            except InputError as error:
                self._tell(f"{error}; the queries stay as they were")
        return self._feeds

    def _stamp(self) -> tuple[int, int]:
        try:
            found = self._path.stat()
        except OSError:
            return 0, 0
        return found.st_mtime_ns, found.st_size


def run_command(
    queries: Path,
    cluster: Path,
    policy: str,
    where: Where,
    *,
    seconds: float,
    seed: int,
    as_json: bool,
    dry_run: bool,
) -> None:
    """Read, run, print."""
    if where.engine not in ENGINES:
        raise InputError(f"--engine: unknown engine {where.engine!r}, expected {', '.join(ENGINES)}")
    if where.address is not None:
        ray_head("--address", where.address)
    chosen: PlanPolicy = POLICIES.make(policy, np.random.default_rng(seed))
    hierarchy = read_hierarchy(cluster)
    videos = _videos()

    def read() -> tuple[QueryFeed, ...]:
        feeds = videos.feeds(read_queries(queries), read_recorded(queries))
        for feed in feeds:
            _known_camera(feed, hierarchy, queries)
        return feeds

    asked = QueryFile(queries, read, _say)
    if dry_run:
        print("\n".join(map(printable, planned(asked(0.0), hierarchy, chosen, where))))
        print("Nothing was started.")
        return
    with stopped_by_signals(True), errors_apart("Ray"):
        _run(hierarchy, asked, videos, chosen, where, seconds, as_json)


def _run(
    hierarchy: Hierarchy,
    asked: QueryFile,
    videos: Videos,
    policy: PlanPolicy,
    where: Where,
    seconds: float,
    as_json: bool,
) -> None:
    engine = None
    try:
        # Ray prints warnings to standard output, where the results go. And whatever happens before the loop has the
        # engine, the executor is closed.
        with (
            contextlib.redirect_stdout(sys.stderr),
            contextlib.closing(_opened(hierarchy, videos, where)) as executor,
        ):
            engine = LiveStreams(hierarchy, asked, executor, videos.score, seconds=seconds, tell=_say)
            found = drive(engine, {POLICIES.key: policy})
    except KeyboardInterrupt:
        # Who runs queries until he has seen enough wants to know what was measured.
        if engine is not None:
            with contextlib.suppress(OSError):
                _show(engine.result(), as_json)
        raise
    _show(found, as_json)


def planned(feeds: Sequence[QueryFeed], hierarchy: Hierarchy, policy: PlanPolicy, where: Where) -> list[str]:
    """What would be started, and what would run where, a line each."""
    lines = []
    if where.address is None:
        parents = {cluster.parent for cluster in hierarchy.clusters}
        lines.append("would start a private Ray cluster on this machine: a head, and of each cluster")
        lines.extend(
            f"  {each.name}: {where.nodes if each.name in parents else 1} raylet(s), {each.cores:g} cores"
            for each in hierarchy.clusters
        )
    else:
        lines.append(f"would use the Ray cluster at {where.address}; nothing of it is started or stopped")
    nodes = [StreamNode(at, at, one.cores, one.name) for at, one in enumerate(hierarchy.clusters)]
    book = StreamBook(hierarchy, nodes)
    for feed in feeds:
        book.come(feed, 0.0)
    view, asked = book.view(0.0)
    answer = policy.decide(view)
    answer.check(view)
    book.choose(asked, answer)
    return [*lines, *(f"would run {entry.says}" for entry in book.entries)]


def _videos() -> Videos:
    try:
        from windlass.engines.streams.video import Videos
    except ModuleNotFoundError as error:
        if error.name != "cv2":
            raise
        raise InputError("OpenCV is not installed: pip install 'windlass[vision]'") from error
    return Videos()


def _opened(hierarchy: Hierarchy, videos: Videos, where: Where) -> RayStreams:
    try:
        from windlass.engines.ray.streams import open_streams
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("windlass"):
            raise
        raise InputError("--engine: Ray is not installed: pip install 'windlass[ray]'") from error
    return open_streams(
        hierarchy, videos.stages, address=where.address, nodes=where.nodes, emulate=where.emulate
    )


def _known_camera(feed: QueryFeed, hierarchy: Hierarchy, file: Path) -> None:
    try:
        hierarchy.path(feed.query.camera)
    except InputError as error:
        raise InputError(f"{file}: query {feed.query.name}: camera: {error}") from error


def _show(found: StreamsRun, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json.dumps(tree_of(found), allow_nan=False) + "\n")
    else:
        terminal().print(measured_table(found))


def _say(line: str) -> None:
    print(printable(line), file=sys.stderr, flush=True)
