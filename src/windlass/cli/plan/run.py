"""``windlass plan run``: streaming queries on real nodes, measured and compared with the plan."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from windlass.cli.output import note, print_lines, print_tables, write_json
from windlass.cli.plan.measured import measured_table, tree_of
from windlass.cli.signals import stopped_by_signals
from windlass.cli.stderr_capture import errors_apart
from windlass.drive import drive
from windlass.engines.address import ray_head
from windlass.engines.streams.dry_run import planned_lines
from windlass.engines.streams.engine import LiveStreams
from windlass.engines.streams.executor import QueryFeed
from windlass.engines.streams.query_file import QueryFile
from windlass.engines.streams.result import StreamsRun
from windlass.model import InputError
from windlass.model.queries import Hierarchy
from windlass.plan import POLICIES, PlanPolicy
from windlass.plan.files import read_hierarchy, read_queries, read_recorded

if TYPE_CHECKING:
    from windlass.engines.ray.streams import RayStreams
    from windlass.engines.streams.video import Videos

ENGINES = ("ray",)


@dataclass(frozen=True, slots=True)
class Where:
    """The engine and the cluster that run the queries.

    Parameters
    ----------
    engine
        The name of the engine.
    address
        The address of a running cluster; None for a private one on this machine.
    nodes
        Raylets per parent cluster of a private Ray cluster.
    emulate
        Emulate the links between clusters.
    """

    engine: str
    address: str | None = None
    nodes: int = 1
    emulate: bool = True


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
    """Read queries and clusters, run the queries, and print the measurements."""
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

    feeds = QueryFile(queries, read, note)
    if dry_run:
        lines = planned_lines(feeds(0.0), hierarchy, chosen, where.address, where.nodes)
        print_lines([*lines, "Nothing was started."])
        return
    with stopped_by_signals(True), errors_apart("Ray"):
        _run(hierarchy, feeds, videos, chosen, where, seconds, as_json)


def _run(
    hierarchy: Hierarchy,
    feeds: QueryFile,
    videos: Videos,
    policy: PlanPolicy,
    where: Where,
    seconds: float,
    as_json: bool,
) -> None:
    engine = None
    try:
        # Ray prints warnings to standard output, which is for the results. The executor is closed on any error.
        with (
            contextlib.redirect_stdout(sys.stderr),
            contextlib.closing(_opened(hierarchy, videos, where)) as executor,
        ):
            engine = LiveStreams(hierarchy, feeds, executor, videos.score, seconds=seconds, notify=note)
            found = drive(engine, {POLICIES.key: policy})
    except KeyboardInterrupt:
        # A run without --seconds ends by Ctrl-C, so its measurements are printed then.
        if engine is not None:
            with contextlib.suppress(OSError):
                _show(engine.result(), as_json)
        raise
    _show(found, as_json)


def _videos() -> Videos:
    try:
        from windlass.engines.streams.video import Videos
    except ModuleNotFoundError as error:
        if error.name != "cv2":
            raise
        raise InputError("OpenCV is not installed; run: pip install 'windlass[vision]'") from error
    return Videos()


def _opened(hierarchy: Hierarchy, videos: Videos, where: Where) -> RayStreams:
    try:
        from windlass.engines.ray.streams import open_streams
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("windlass"):
            raise
        raise InputError("--engine: Ray is not installed; run: pip install 'windlass[ray]'") from error
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
        write_json(tree_of(found))
    else:
        print_tables(measured_table(found))
