"""Runs all plans on a clip, each shared step once where memory allows. Needs OpenCV (the extra ``vision``).

Plans are run one after the other. Each asks its last step for its outputs, which asks the step before, up to the clip.
An output that others will ask for too is kept where it is worth it (:mod:`~windlass.plan.profile.cache`); one that was
not kept is made again. So the answers do not depend on the budget, and only CPU time does.
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
    """A plan as it was measured: what it is for a planner, and the tracks it found in the frames it looked at."""

    plan: QueryPlan
    tracks: Tracks

    def same_answers(self, other: Profiled) -> bool:
        """Whether another run gave the same tracks, accuracy and bytes, to the last bit; CPU seconds may differ."""
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
    """All plans, and what it took to measure them.

    Parameters
    ----------
    plans
        In the pipeline's order.
    seconds
        CPU seconds that all took together, with all that measuring takes.
    apart
        CPU seconds of the plans' components, added up plan by plan.
    outputs, outputs_apart
        How many times a step was given a frame; and how many times if each plan were run by itself.
    most_held
        Bytes in the cache when it was fullest.
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
    tell: Callable[[int, int], None] = lambda done, of: None,
) -> PlanProfile:
    """Run plans on a clip.

    OpenCV has one thread meanwhile: all that is measured is in this one, and no sum depends on the machine's cores.

    Parameters
    ----------
    plans
        Of :func:`~windlass.plan.profile.pipeline.read_pipeline`.
    clip, truth
        What they look at, and what they should find.
    cache
        Bytes of outputs to keep, at most.
    clock
        CPU seconds of this thread.
    tell
        Called with how many plans are done, of how many.

    Raises
    ------
    InputError
        The clip cannot be read to its end, or a detector cannot work on frames of this size.
    """
    run = _Run(tree_of(plans, clip.frames), clip, cache, clock)
    began = clock()
    found: dict[int, Profiled] = {}
    with _one_thread():
        for number in run.tree.order:
            found[number] = run.plan(number, plans[number], truth)
            tell(len(found), len(plans))
    taken = clock() - began
    steps = [sum(not node.same for node in run.tree.path(number)) for number in range(len(plans))]
    wanted = [-(-clip.frames // plan.every) for plan in plans]
    return PlanProfile(
        tuple(found[number] for number in range(len(plans))),
        taken,
        sum(part.cores * clip.seconds for each in found.values() for part in each.plan.components),
        run.outputs,
        sum(own * looked for own, looked in zip(steps, wanted, strict=True)),
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
class _Asked:
    """Which samplings an output is made for: its own while it is to be kept, and else those of who asks for it."""

    everys: set[int]
    asker: _Asked | None = None

    def wants(self, index: int) -> bool:
        """Whether one of the samplings looks at this frame."""
        asked = self
        while not asked.everys and asked.asker is not None:
            asked = asked.asker
        return any(index % every == 0 for every in asked.everys)


class _Run:
    """The tree's outputs, made or kept."""

    def __init__(self, tree: PlanTree, clip: ClipInfo, budget: float, clock: Callable[[], float]) -> None:
        self.tree, self.clip = tree, clip
        self.cache: Cache[int, tuple[int, Any]] = Cache(budget, lambda place: self._uses(tree.nodes[place]))
        self.outputs = 0
        self._clock = clock
        self._unpacking = 0.0

    def plan(self, number: int, plan: TrackerPlan, truth: Tracks) -> Profiled:
        """Run one plan."""
        seen: list[tuple[int, FrameTracks]] = list(
            self._made_by(self.tree.leaf(number), _Asked({plan.every}))
        )
        for node in self.tree.path(number):
            node.left -= 1
            if not node.left:
                self.cache.drop(node.place)
        tracks = Tracks(
            np.repeat([index for index, _ in seen], [len(each.track) for _, each in seen]).astype(np.int64),
            np.concatenate([each.track for _, each in seen]),
            np.concatenate([each.boxes for _, each in seen]),
        )
        accuracy = f1(tracks.held(plan.every, self.clip.frames), truth)
        stretches = zip(plan.parts, self.tree.parts[number], strict=True)
        components = tuple(self._component(part.name, nodes, plan.every) for part, nodes in stretches)
        return Profiled(QueryPlan(accuracy, components), tracks)

    def _component(self, name: str, nodes: tuple[PlanTreeNode, ...], every: int) -> Component:
        seconds = sum(float(node.seconds[::every].sum()) for node in nodes)
        # Each frame depends on those before: all are unpacked, whichever are looked at.
        seconds += self._unpacking if nodes[0].parent is None else 0.0
        sent = int(nodes[-1].sent[::every].sum())
        return Component(name, seconds / self.clip.seconds, sent / self.clip.seconds)

    def _made_by(self, node: PlanTreeNode, asker: _Asked) -> Iterator[tuple[int, Any]]:
        """The outputs of a step with their frames' indices, of those asked for at least: kept, or made now."""
        if self.cache.has(node.place):
            kept = self.cache.read(node.place)
            try:
                yield from kept
            finally:
                self.cache.release(node.place)
            return
        node.made = True
        keep = not node.same and self._uses(node) > 0
        # If it is kept, whoever asks later is to find all frames that they need.
        asked = _Asked(set(node.everys) if keep else set(), asker)
        if keep:
            self.cache.begin(node.place)
        began = self._clock()
        for index, value, seconds in self._steps(node, asked):
            taken = self._clock() - began
            self.outputs += not node.same
            if not node.known[index]:
                node.known[index], node.seconds[index] = True, seconds
                if node.sends and node.step is not None:
                    node.sent[index] = node.step.sent(value)
            if keep:
                size = value.nbytes + 150 if node.step is None else node.step.size(value)
                keep = self.cache.add(node.place, (index, value), size, taken)
                if not keep:
                    asked.everys.clear()
            yield index, value
            began = self._clock()
        if keep:
            self.cache.end(node.place)

    def _steps(self, node: PlanTreeNode, asked: _Asked) -> Iterator[tuple[int, Any, float]]:
        """The outputs of a step as they are made, each with its own CPU seconds."""
        if node.step is None or node.parent is None:
            self._unpacking = 0.0
            for taken in frames(self.clip, asked.wants, self._clock):
                self._unpacking += taken.unpacking
                if taken.image is not None:
                    yield taken.index, taken.image, taken.converting
            return
        run = node.step.start(self.clip)
        for index, value in self._made_by(node.parent, asked):
            if asked.wants(index):
                began = self._clock()
                made = run(index, value)
                yield index, made, self._clock() - began

    def _uses(self, node: PlanTreeNode) -> int:
        """How often the outputs of a step will still be asked for."""
        return sum(self._asks(child) for child in node.children)

    def _asks(self, child: PlanTreeNode) -> int:
        if not child.left or self.cache.keeps(child.place):
            return 0
        # What was made and not kept is made again for each who asks for it.
        return self._uses(child) if child.made or child.same else 1
