"""Streaming queries on tiers of clusters."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from windlass.experiment.worlds import Setting, World
from windlass.experiment.worlds.composition import QUERIES, Composition, composed, without
from windlass.experiment.worlds.contents import Contents, content_of
from windlass.experiment.worlds.video.clusters import hierarchy_of, timetable_of
from windlass.experiment.worlds.video.simulation import VideoCase, run_video
from windlass.experiment.worlds.video.spec import VideoSetting
from windlass.experiment.worlds.video.streams import QuerySchedule, streams_of
from windlass.jit import Kernel
from windlass.jit.compiled import functions_of
from windlass.plan import POLICIES as PLAN
from windlass.policy.registry import Registry
from windlass.results import Choice, Outcome, Series
from windlass.results.metrics.video import VideoMetrics, video_metrics
from windlass.sim.instants.loop import KERNELS as COMMON_KERNELS
from windlass.sim.queries.part import QueriesPart
from windlass.sim.queries.result import Streamed

#: A minute, s.
_MINUTE = 60.0

#: Name of the site of the private cluster.
_PRIVATE = "private"


class Video(World):
    """The world of streaming queries.

    Examples
    --------
    >>> setting = VideoSetting.model_validate({
    ...     "cluster": {"cameras": 4}, "policies": {"plan": "fair"},
    ...     "workload": {"begin": 4, "seconds": 600, "drawn": {"kinds": ["counter"]}}})
    >>> world = Video()
    >>> found = world.run(setting, 1, world.workload(setting, 1), lambda share: None).metrics
    >>> found.queries >= 4, 0.3 < found.accuracy < 0.9
    (True, True)
    """

    name = "video"
    summary = (
        "streaming queries on cameras, private clusters and a cloud, where queries, cores and links change"
    )
    setting: type[Setting] = VideoSetting
    decisions: tuple[Registry, ...] = (PLAN,)
    metrics: type[VideoMetrics] = VideoMetrics

    def composition(
        self, tree: Mapping[str, Any], settings: Sequence[VideoSetting], seed: int
    ) -> Composition:
        """Return one site with cameras, and a cloud, with queries, whose components use fractions of cores."""
        if missing := next(filter(None, map(_missing, settings)), ""):
            return Composition(None, missing)
        tiers, queries = tree["cluster"], without(tree["workload"], "seconds")
        names = ("restart", "notice", "buffer", "deadline", "catch_up", "merge", "drops")
        queries |= {name: tree[name] for name in names if name in tree}
        queries["changes"] = [
            each | {"cluster": each["cluster"].replace("camera-", f"{_PRIVATE}-")} for each in tree["changes"]
        ]
        cameras = {"count": tiers["cameras"], "cores": tiers["camera_cores"], "up": tiers["camera_up"]}
        return composed(
            tree,
            {_PRIVATE: {"processors": tiers["private_cores"], "cameras": cameras}},
            {QUERIES: {"queries": {**queries, "patience": 0.0, "fractions": True}}},
            {QUERIES: 0, f"drops.{QUERIES}": 2, f"plan.{QUERIES}": 3},
            seconds=tree["workload"]["seconds"],
            cloud={"cores": tiers["cloud_cores"], "up": tiers["private_up"]},
        )

    def choices(self, setting: VideoSetting) -> tuple[Choice, ...]:
        """Return the planning policy."""
        return (setting.policies.plan.choice(PLAN),)

    def kernels(self, setting: VideoSetting) -> tuple[Kernel, ...]:
        """Return the kernels of the part and the policy; the policy is made to validate its parameters."""
        planner = setting.policies.plan.make(PLAN, np.random.default_rng(0))
        return (*COMMON_KERNELS, *QueriesPart.kernels, *functions_of(planner))

    def workload_key(self, setting: VideoSetting, seed: int) -> Hashable:
        """Return a key with the seed, as starts and ends are random even if plans are read."""
        return setting.workload, setting.cluster, seed

    def workload(self, setting: VideoSetting, seed: int) -> QuerySchedule:
        """Generate or read the queries."""
        return streams_of(setting.workload, hierarchy_of(setting.cluster), seed)

    def contents(self, workload: QuerySchedule) -> Contents:
        """Return the number of queries and their starts."""
        return Contents((content_of("query", workload.stays.arrive),))

    def run(
        self, setting: VideoSetting, seed: int, workload: QuerySchedule, progress: Callable[[float], None]
    ) -> Outcome:
        """Simulate the queries."""
        tiers = hierarchy_of(setting.cluster)
        rng = np.random.default_rng([seed, 2])
        until = float(workload.stays.leave.max())
        timetable = timetable_of(tiers, setting.changes, setting.drops, until, rng)
        case = VideoCase(tiers, workload, timetable, setting.terms(), setting.merge)
        planner = setting.policies.plan.make(PLAN, np.random.default_rng([seed, 3]))
        done = run_video(case, planner, progress)
        return Outcome(
            seed=seed,
            metrics=video_metrics(done, setting.workload.frames),
            jobs=_table(done, workload, setting.workload.frames),
            processors=round(sum(cluster.cores for cluster in tiers.clusters)),
            series=_over_time(done),
        )


def _missing(setting: VideoSetting) -> str:
    """Return what a cluster lacks; empty if it lacks nothing."""
    own = setting.cluster
    if own.file is not None or setting.workload.file is not None:
        return "clusters and queries of files"
    whole = all(cores == int(cores) for cores in (own.camera_cores, own.private_cores, own.cloud_cores))
    return "" if whole and own.private_cores and own.cloud_cores else "clusters without whole cores"


def _table(done: Streamed, streams: QuerySchedule, frames: float) -> pl.DataFrame:
    """Return a row per query."""
    length = done.stays.leave - done.stays.arrive
    return pl.DataFrame(
        {
            "kind": ["query"] * len(length),
            "query": [query.name for query in streams.queries],
            "camera": [query.camera for query in streams.queries],
            "arrive_s": done.stays.arrive,
            "leave_s": done.stays.leave,
            "accuracy": done.accurate / np.where(length > 0.0, length, 1.0),
            "changes": done.switches,
            "silent_s": done.silent,
            "frames": length * frames,
            "lost_frames": done.lost * frames,
            "late_frames": done.late * frames,
        }
    )


def _over_time(done: Streamed) -> tuple[Series, ...]:
    """Return mean accuracy, changes, number of queries, held cores and sent bytes over time."""
    course = done.course
    return (
        Series("accuracy", course.time, course.results / np.maximum(course.there, 1), percent=True),
        *_changes(done),
        Series("queries", course.time, course.there.astype(np.float64)),
        Series("cores held", course.time, course.held.sum(axis=1)),
        Series("kilobytes a second sent", course.time, course.sent.sum(axis=1) / 1e3),
    )


def _changes(done: Streamed) -> tuple[Series, ...]:
    """Return the changes to another configuration, or to none, in each minute; none for a run without time."""
    begin, end = float(done.course.time[0]), float(done.course.time[-1])
    if end <= begin:
        return ()
    # Equal parts of about a minute: a short last one could have many changes a minute.
    minutes = np.linspace(begin, end, max(round((end - begin) / _MINUTE), 1) + 1)
    times = np.array([each.time for each in done.answers])
    changed = np.array(
        [int(((each.before >= 0) & (each.choice != each.before)).sum()) for each in done.answers]
    )
    found, _ = np.histogram(times, minutes, weights=changed)
    return (Series("changes a minute", minutes, found * (_MINUTE / np.diff(minutes))),)
