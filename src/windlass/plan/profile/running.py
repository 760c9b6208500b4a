"""Execution of all plans on a clip, with each shared step run once if memory allows. Needs OpenCV (extra ``vision``).

Plans run one after the other. Each requests the outputs of its last step, which requests those of the step
before, up to the clip. An output that other plans will request too is cached if it is worth it
(:mod:`~windlass.plan.profile.cache`); otherwise it is computed again. Therefore only CPU time depends on the
budget of the cache, and results do not.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from windlass.model.queries import Component, QueryPlan
from windlass.plan.profile.cache import Cache
from windlass.plan.profile.clip import frames
from windlass.plan.profile.clipinfo import ClipInfo
from windlass.plan.profile.pipeline import TrackerPlan
from windlass.plan.profile.steps.step import FrameTracks
from windlass.plan.profile.tracks import Tracks, f1
from windlass.plan.profile.tree import PlanTree, PlanTreeNode, tree_of


@dataclass(frozen=True, slots=True)
class Profiled:
    """A measured plan: its form for a planner, and the tracks found in the frames it analysed."""

    plan: QueryPlan
    tracks: Tracks

    def same_answers(self, other: Profiled) -> bool:
        """Return whether another run gave identical tracks, accuracy and bytes; CPU seconds may differ."""
        parts = [[(part.name, part.output) for part in each.plan.components] for each in (self, other)]
        mine, theirs = self.tracks, other.tracks
        return (
            self.plan.accuracy == other.plan.accuracy
            and parts[0] == parts[1]
            and np.array_equal(mine.frame, theirs.frame)
            and np.array_equal(mine.track, theirs.track)
            and np.array_equal(mine.boxes, theirs.boxes)
        )


@dataclass(frozen=True, slots=True)
class PlanProfile:
    """All measured plans, and the cost of measuring them.

    Parameters
    ----------
    plans
        In the pipeline's order.
    seconds
        CPU seconds of the whole measurement.
    apart
        CPU seconds of the plans' components, added up plan by plan.
    outputs, outputs_apart
        Number of frames processed by steps, and the number if each plan ran alone.
    most_held
        Largest size of the cache, bytes.
    """

    plans: tuple[Profiled, ...]
    seconds: float
    apart: float
    outputs: int
    outputs_apart: int
    most_held: int


def profile(
    plans: Sequence[TrackerPlan],
    clip: ClipInfo,
    truth: Tracks,
    cache: float,
    clock: Callable[[], float] = time.thread_time,
    notify: Callable[[int, int], None] = lambda done, of: None,
) -> PlanProfile:
    """Run plans on a clip and measure them.

    OpenCV is limited to one thread meanwhile, so that all CPU time is in this thread and sums do not depend
    on the number of cores.

    Parameters
    ----------
    plans
        Plans of :func:`~windlass.plan.profile.pipeline.read_pipeline`.
    clip, truth
        The clip and its true tracks.
    cache
        Maximum size of cached outputs, bytes.
    clock
        Returns the CPU time of this thread, s.
    notify
        Progress callback, called with the number of finished plans and the total.

    Raises
    ------
    InputError
        The clip cannot be read to its end, or a detector does not accept frames of this size.
    """
    run = _Run(tree_of(plans, clip.frames), clip, cache, clock)
    began = clock()
    found: dict[int, Profiled] = {}
    with _one_thread():
        for number in run.tree.order:
            found[number] = run.plan(number, plans[number], truth)
            notify(len(found), len(plans))
    elapsed = clock() - began
    steps = [sum(not node.same for node in run.tree.path(number)) for number in range(len(plans))]
    wanted = [-(-clip.frames // plan.every) for plan in plans]
    return PlanProfile(
        tuple(found[number] for number in range(len(plans))),
        elapsed,
        sum(part.cores * clip.seconds for each in found.values() for part in each.plan.components),
        run.outputs,
        sum(own * analysed for own, analysed in zip(steps, wanted, strict=True)),
        run.cache.most_held,
    )


@contextmanager
def _one_thread() -> Iterator[None]:
    before = cv2.getNumThreads()
    cv2.setNumThreads(1)
    try:
        yield
    finally:
        cv2.setNumThreads(before)


@dataclass(slots=True)
class _Sampling:
    """Samplings for which an output is made: its own while it is to be cached, else those of the requesting step."""

    everys: set[int]
    requester: _Sampling | None = None

    def wants(self, index: int) -> bool:
        """Return whether one of the samplings uses this frame."""
        sampling = self
        while not sampling.everys and sampling.requester is not None:
            sampling = sampling.requester
        return any(index % every == 0 for every in sampling.everys)


class _Run:
    """One execution of the tree, with cached outputs."""

    def __init__(self, tree: PlanTree, clip: ClipInfo, budget: float, clock: Callable[[], float]) -> None:
        self.tree, self.clip = tree, clip
        self.cache: Cache[int, tuple[int, Any]] = Cache(budget, lambda place: self._uses(tree.nodes[place]))
        self.outputs = 0
        self._clock = clock
        self._unpacking = 0.0

    def plan(self, number: int, plan: TrackerPlan, truth: Tracks) -> Profiled:
        """Run one plan."""
        outputs: list[tuple[int, FrameTracks]] = list(
            self._made_by(self.tree.leaf(number), _Sampling({plan.every}))
        )
        for node in self.tree.path(number):
            node.left -= 1
            if not node.left:
                self.cache.drop(node.place)
        tracks = Tracks(
            np.repeat([index for index, _ in outputs], [len(each.track) for _, each in outputs]).astype(
                np.int64
            ),
            np.concatenate([each.track for _, each in outputs]),
            np.concatenate([each.boxes for _, each in outputs]),
        )
        accuracy = f1(tracks.held(plan.every, self.clip.frames), truth)
        stretches = zip(plan.parts, self.tree.parts[number], strict=True)
        components = tuple(self._component(part.name, nodes, plan.every) for part, nodes in stretches)
        return Profiled(QueryPlan(accuracy, components), tracks)

    def _component(self, name: str, nodes: tuple[PlanTreeNode, ...], every: int) -> Component:
        seconds = sum(float(node.seconds[::every].sum()) for node in nodes)
        # All frames are unpacked, because each depends on the ones before it.
        seconds += self._unpacking if nodes[0].parent is None else 0.0
        sent = int(nodes[-1].sent[::every].sum())
        return Component(name, seconds / self.clip.seconds, sent / self.clip.seconds)

    def _made_by(self, node: PlanTreeNode, requester: _Sampling) -> Iterator[tuple[int, Any]]:
        """Yield a step's outputs with their frame indices, at least the requested ones: cached, or computed now."""
        if self.cache.has(node.place):
            kept = self.cache.read(node.place)
            try:
                yield from kept
            finally:
                self.cache.release(node.place)
            return
        node.made = True
        keep = not node.same and self._uses(node) > 0
        # A cached output has to contain all frames that later plans need.
        sampling = _Sampling(set(node.everys) if keep else set(), requester)
        if keep:
            self.cache.begin(node.place)
        began = self._clock()
        for index, value, seconds in self._steps(node, sampling):
            elapsed = self._clock() - began
            self.outputs += not node.same
            if not node.known[index]:
                node.known[index], node.seconds[index] = True, seconds
                if node.sends and node.step is not None:
                    node.sent[index] = node.step.sent(value)
            if keep:
                size = value.nbytes + 150 if node.step is None else node.step.size(value)
                keep = self.cache.add(node.place, (index, value), size, elapsed)
                if not keep:
                    sampling.everys.clear()
            yield index, value
            began = self._clock()
        if keep:
            self.cache.end(node.place)

    def _steps(self, node: PlanTreeNode, sampling: _Sampling) -> Iterator[tuple[int, Any, float]]:
        """Yield a step's outputs as they are made, each with its own CPU seconds."""
        if node.step is None or node.parent is None:
            self._unpacking = 0.0
            for frame in frames(self.clip, sampling.wants, self._clock):
                self._unpacking += frame.unpacking
                if frame.image is not None:
                    yield frame.index, frame.image, frame.converting
            return
        run = node.step.start(self.clip)
        for index, value in self._made_by(node.parent, sampling):
            if sampling.wants(index):
                began = self._clock()
                made = run(index, value)
                yield index, made, self._clock() - began

    def _uses(self, node: PlanTreeNode) -> int:
        """Return the number of future requests of a step's outputs."""
        return sum(self._requests_of(child) for child in node.children)

    def _requests_of(self, child: PlanTreeNode) -> int:
        """Return the number of times that a child will still request the outputs of the step above it."""
        if not child.left or self.cache.keeps(child.place):
            return 0
        # An output that was made but not cached is made again for each request.
        return self._uses(child) if child.made or child.same else 1
