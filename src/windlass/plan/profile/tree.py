"""All plans as one tree of steps, in which plans share their common beginning. Needs OpenCV (the extra ``vision``).

A step that processes each frame independently is shared by plans of all samplings. From the first step with
state on, each sampling has its own steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError
from windlass.plan.profile.pipeline import TrackerPlan
from windlass.plan.profile.steps.step import PipelineStep


@dataclass(slots=True, eq=False)
class PlanTreeNode:
    """A step of one or more plans, after the steps above it.

    Parameters
    ----------
    place
        Its index in the tree.
    frames
        Number of frames of the clip.
    step
        The step; None for the root, which reads the clip.
    parent
        The node above; None for the root.
    sends
        Whether it is the last step of a component.
    everys
        Samplings of the plans that contain it.
    left
        Number of these plans that are still to run.
    made
        Whether its outputs, or some of them, were made before.
    known, seconds, sent
        (frames,) whether a frame's output was made, and the CPU seconds and sent bytes of the first time.
    """

    place: int
    frames: int
    step: PipelineStep | None
    parent: PlanTreeNode | None
    sends: bool = False
    everys: set[int] = field(default_factory=set)
    left: int = 0
    made: bool = False
    children: list[PlanTreeNode] = field(default_factory=list)
    known: NDArray[np.bool_] = field(init=False)
    seconds: NDArray[np.float64] = field(init=False)
    sent: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        self.known = np.zeros(self.frames, dtype=np.bool_)
        self.seconds, self.sent = np.zeros(self.frames), np.zeros(self.frames, dtype=np.int64)

    @property
    def same(self) -> bool:
        """Whether it returns its input unchanged."""
        return self.step is not None and self.step.same


@dataclass(frozen=True, slots=True)
class PlanTree:
    """All nodes, the root first; for each plan its nodes by component; and plans in the order of their leaves."""

    nodes: tuple[PlanTreeNode, ...]
    parts: tuple[tuple[tuple[PlanTreeNode, ...], ...], ...]
    order: tuple[int, ...]

    def leaf(self, plan: int) -> PlanTreeNode:
        """Return the last node of a plan."""
        return self.parts[plan][-1][-1]

    def path(self, plan: int) -> tuple[PlanTreeNode, ...]:
        """Return all nodes of a plan, the root first."""
        return tuple(node for part in self.parts[plan] for node in part)


def tree_of(plans: Sequence[TrackerPlan], frames: int) -> PlanTree:
    """Build the tree of plans.

    Parameters
    ----------
    plans
        One or more different plans.
    frames
        Number of frames of the clip.

    Raises
    ------
    InputError
        There is no plan, or two are equal.
    """
    if not plans:
        raise InputError("no plans given, expected one or more")
    root = PlanTreeNode(0, frames, None, None)
    nodes, known = [root], dict[tuple[int, PipelineStep, int | None], PlanTreeNode]()
    parts: list[tuple[tuple[PlanTreeNode, ...], ...]] = []
    leaves: dict[int, int] = {}
    for number, plan in enumerate(plans):
        at, own, every = root, list[tuple[PlanTreeNode, ...]](), None
        for component in plan.parts:
            # The root, which reads the clip, belongs to the first component.
            stretch: list[PlanTreeNode] = [] if own else [root]
            for step in component.steps:
                every = every if step.alone else plan.every
                key = (at.place, step, every)
                if key not in known:
                    made = PlanTreeNode(len(nodes), frames, step, at)
                    known[key] = made
                    nodes.append(made)
                    at.children.append(made)
                at = known[key]
                stretch.append(at)
            at.sends = True
            own.append(tuple(stretch))
        if at.place in leaves:
            raise InputError(f"plans {leaves[at.place]} and {number} are equal: {plan.label}")
        leaves[at.place] = number
        parts.append(tuple(own))
        for node in (node for stretch_ in own for node in stretch_):
            node.everys.add(plan.every)
            node.left += 1
    order: list[int] = []
    _visit(root, leaves, order)
    return PlanTree(tuple(nodes), tuple(parts), tuple(order))


def _visit(node: PlanTreeNode, leaves: dict[int, int], order: list[int]) -> None:
    """Append plans to ``order`` depth first, so that outputs can be dropped as early as possible."""
    if node.place in leaves:
        order.append(leaves[node.place])
    for child in node.children:
        _visit(child, leaves, order)
