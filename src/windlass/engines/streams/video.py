"""Components of a video pipeline as a chain's stages, and how right a playing is. Needs OpenCV (the extra ``vision``).

A part that decodes reads the clip where it runs, so the file must be there. Where that is not at the camera, what the
camera sends passes the links as so many bytes as the clip's own stream has. What components hand on goes from part to
part as it is, so that nothing is lost by it; over a link it counts as many bytes as the profiler says.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from windlass.engines.streams.executor import Frame, QueryFeed
from windlass.engines.streams.part import Passing, Run, Stages
from windlass.model import InputError
from windlass.model.queries import Query
from windlass.plan.files import QueryRecording
from windlass.plan.profile import pipeline as pipelines
from windlass.plan.profile.clip import Image, Taken, about, frames
from windlass.plan.profile.clipinfo import ClipInfo
from windlass.plan.profile.tracks import Tracks, f1, read_truth


@dataclass(frozen=True, slots=True)
class VideoStages:
    """Parts of a tracker.

    Parameters
    ----------
    clip
        What is played.
    parts
        One at least, in order.
    every
        Each so many-th frame is looked at.
    reads
        Whether the first of them decodes.
    """

    clip: ClipInfo
    parts: tuple[pipelines.PlanComponent, ...]
    every: int
    reads: bool

    def start(self) -> Run:
        """Begin a playing, as the profiler begins a clip."""
        runs = [step.start(self.clip) for part in self.parts for step in part.steps]
        reader = _Reader(self.clip) if self.reads else None

        def run(place: int, value: Any) -> Any:
            made = value if reader is None else reader.image(place)
            for each in runs:
                made = each(place, made)
            return made

        return run

    def sent(self, value: Any) -> int:
        """Bytes, as the profiler counts them."""
        return self.parts[-1].steps[-1].sent(value)


class _Reader:
    """A clip, from which frames are taken in order; those in between are unpacked, as each depends on those before."""

    def __init__(self, clip: ClipInfo) -> None:
        self._place = -1
        self._taken: Iterator[Taken] = frames(clip, lambda index: index == self._place, time.thread_time)

    def image(self, place: int) -> Image:
        self._place = place
        for taken in self._taken:
            if taken.index == place:
                assert taken.image is not None
                return taken.image
        raise InputError(f"frame {place} cannot be read")


class Videos:
    """The clips that queries are run on, with what is true of them and the pipelines whose plans they have.

    It keeps what it has read: queries that go may still have frames on the way.
    """

    def __init__(self) -> None:
        self._trackers: dict[Query, tuple[pipelines.TrackerPlan, ...]] = {}
        self._clips: dict[Path, ClipInfo] = {}
        self._truth: dict[Query, Tracks] = {}

    def feeds(self, queries: Sequence[Query], recorded: Sequence[QueryRecording]) -> tuple[QueryFeed, ...]:
        """What is to be run for queries.

        Parameters
        ----------
        queries
            As their file says. Where ``source`` is 0 it is that of the clip's own stream.
        recorded
            (queries,) where the clip, the truth and the pipeline of each are.

        Raises
        ------
        InputError
            A file cannot be read, or a query has a plan that its pipeline has not; names query and file.
        """
        return tuple(self._feed(query, files) for query, files in zip(queries, recorded, strict=True))

    def _feed(self, query: Query, files: QueryRecording) -> QueryFeed:
        if files.clip not in self._clips:
            self._clips[files.clip] = about(files.clip)
        clip = self._clips[files.clip]
        source = query.source or files.clip.stat().st_size * clip.rate / clip.frames
        query = Query(query.name, query.camera, query.plans, source)
        known = {
            tuple(part.name for part in tracker.parts): tracker
            for tracker in pipelines.read_pipeline(files.pipeline).plans
        }
        found = []
        for plan in query.plans:
            names = tuple(component.name for component in plan.components)
            if names not in known:
                raise InputError(
                    f"query {query.name}: {files.pipeline} has no plan {', '.join(names)!r}, which its profile has"
                )
            found.append(known[names])
        self._trackers[query] = tuple(found)
        self._truth[query] = read_truth(files.truth, clip)
        return QueryFeed(query, clip.rate, clip.frames, str(files.clip))

    def stages(self, feed: QueryFeed, plan: int, first: int, last: int) -> Stages:
        """The components of a plan from one to another (exclusive); none of them: what the camera sends."""
        tracker = self._trackers[feed.query][plan]
        if first == last:
            return Passing(tracker.every, round(feed.query.source / feed.rate * tracker.every))
        return VideoStages(self._clips[Path(feed.clip)], tracker.parts[first:last], tracker.every, first == 0)

    def score(self, feed: QueryFeed, found: Mapping[int, Frame]) -> float:
        """F1 of what was found in a playing, as the profiler has it: a box stands until the next frame is looked at."""
        rows = [
            (place + ahead, frame.found.track, frame.found.boxes)
            for place, frame in sorted(found.items())
            for ahead in range(frame.covers)
        ]
        counts = [len(track) for _, track, _ in rows]
        tracks = Tracks(
            np.repeat(np.array([place for place, _, _ in rows], dtype=np.int64), counts),
            np.concatenate([np.empty(0, np.int64), *(track for _, track, _ in rows)]),
            np.concatenate([np.empty((0, 4)), *(boxes for _, _, boxes in rows)]),
        )
        return f1(tracks, self._truth[feed.query])
