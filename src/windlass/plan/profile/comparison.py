"""Comparison of the plans of a profile: the most accurate for their cores, and each plan run separately."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from windlass.model.queries import QueryPlan

if TYPE_CHECKING:  # these need OpenCV
    from windlass.plan.profile.clipinfo import ClipInfo
    from windlass.plan.profile.pipeline import TrackerPlan
    from windlass.plan.profile.running import PlanProfile
    from windlass.plan.profile.tracks import Tracks


@dataclass(frozen=True, slots=True)
class SinglePlanRuns:
    """Every plan run separately.

    Parameters
    ----------
    seconds
        CPU seconds of all plans.
    differ
        Number of plans whose results differ from those of the common run.
    """

    seconds: float
    differ: int


def front(plans: Sequence[QueryPlan]) -> list[int]:
    """Return the indices of the plans that no other plan matches in accuracy with fewer cores, ordered by cores.

    >>> from windlass.model.queries import Component
    >>> some = ((0.5, 2), (0.5, 1), (0.4, 1.5))
    >>> front([QueryPlan(accuracy, (Component("a", cores, 0.0),)) for accuracy, cores in some])
    [1]
    """
    order = sorted(range(len(plans)), key=lambda place: (cores(plans[place]), -plans[place].accuracy))
    found: list[int] = []
    for place in order:
        if not found or plans[place].accuracy > plans[found[-1]].accuracy:
            found.append(place)
    return found


def cores(plan: QueryPlan) -> float:
    """Return the CPU seconds of all components per second of stream."""
    return sum(part.cores for part in plan.components)


def run_alone(
    plans: Sequence[TrackerPlan],
    clip: ClipInfo,
    truth: Tracks,
    together: PlanProfile,
    progress: Callable[[int, int], None],
) -> SinglePlanRuns:
    """Run each plan separately and compare its results with those of the common run.

    Parameters
    ----------
    plans
        The plans of the pipeline.
    clip, truth
        The clip and its true tracks.
    together
        The profile of the common run.
    progress
        Called with the number of finished plans and of all plans.
    """
    from windlass.plan.profile.running import profile

    seconds, differ = 0.0, 0
    for number, (plan, before) in enumerate(zip(plans, together.plans, strict=True)):
        own = profile([plan], clip, truth, 0.0)
        seconds += own.seconds
        differ += not own.plans[0].same_answers(before)
        progress(number + 1, len(plans))
    return SinglePlanRuns(seconds, differ)
