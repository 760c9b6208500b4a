"""Components of a video pipeline as a segment's work, and the score of a playing. Needs OpenCV (extra ``vision``).

A component that decodes reads the clip on its own node, so the file must exist there. If that node is not at the
camera, links carry as many bytes as the clip's own stream has. Outputs of components are sent between segments
unchanged and without loss; on a link they count as many bytes as the profiler states.
"""

from __future__ import annotations

import dataclasses
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
from windlass.plan.profile.clip import ClipFrame, Image, about, frames
from windlass.plan.profile.clipinfo import ClipInfo
from windlass.plan.profile.tracks import Tracks, f1, read_truth


@dataclass(frozen=True, slots=True)
class VideoStages:
    """Components of a tracker.

    Parameters
    ----------
    clip
        The clip.
    parts
        At least one component, in order.
    every
        Interval of processed frames.
    reads
        True if the first component decodes.
    """

    clip: ClipInfo
    parts: tuple[pipelines.PlanComponent, ...]
    every: int
    reads: bool

    def start(self) -> Run:
        """Start a playing, as the profiler starts a clip."""
        runs = [step.start(self.clip) for part in self.parts for step in part.steps]
        reader = _Reader(self.clip) if self.reads else None

        def run(place: int, value: Any) -> Any:
            made = value if reader is None else reader.image(place)
            for each in runs:
                made = each(place, made)
            return made

        return run

    def sent(self, value: Any) -> int:
        """Return the size of an output as the profiler counts it, bytes."""
        return self.parts[-1].steps[-1].sent(value)


class _Reader:
    """A clip that is read in order; skipped frames are decoded, too, as later ones depend on them."""

    def __init__(self, clip: ClipInfo) -> None:
        self._place = -1
        self._taken: Iterator[ClipFrame] = frames(clip, lambda index: index == self._place, time.thread_time)

    def image(self, place: int) -> Image:
        self._place = place
        for taken in self._taken:
            if taken.index == place:
                assert taken.image is not None
                return taken.image
        raise InputError(f"frame {place} cannot be read")


class Videos:
    """The clips of queries, with their ground truth and the pipelines of their plans.

    Files are kept in memory once read, as removed queries may still have frames in flight.
    """

    def __init__(self) -> None:
        self._trackers: dict[Query, tuple[pipelines.TrackerPlan, ...]] = {}
        self._clips: dict[Path, ClipInfo] = {}
        self._truth: dict[Query, Tracks] = {}

    def feeds(self, queries: Sequence[Query], recorded: Sequence[QueryRecording]) -> tuple[QueryFeed, ...]:
        """Return the feeds of queries.

        Parameters
        ----------
        queries
            As read from their file. A ``source`` of 0 is replaced by the rate of the clip's own stream.
        recorded
            (queries,) the files of the clip, the truth and the pipeline of each.

        Raises
        ------
        InputError
            A file cannot be read, or a query has a plan that its pipeline lacks; the message names query and file.
        """
        return tuple(self._feed(query, files) for query, files in zip(queries, recorded, strict=True))

    def _feed(self, query: Query, files: QueryRecording) -> QueryFeed:
        if files.clip not in self._clips:
            self._clips[files.clip] = about(files.clip)
        clip = self._clips[files.clip]
        source = query.source or files.clip.stat().st_size * clip.rate / clip.frames
        query = dataclasses.replace(query, source=source)
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
        """Return the components of a plan from one index to another (exclusive); if none, the camera's stream."""
        tracker = self._trackers[feed.query][plan]
        if first == last:
            return Passing(tracker.every, round(feed.query.source / feed.rate * tracker.every))
        return VideoStages(self._clips[Path(feed.clip)], tracker.parts[first:last], tracker.every, first == 0)

    def score(self, feed: QueryFeed, found: Mapping[int, Frame]) -> float:
        """Return F1 of a playing, as the profiler does: boxes remain until the next processed frame."""
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
