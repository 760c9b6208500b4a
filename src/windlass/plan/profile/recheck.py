"""Whether a profile still holds on a new clip, from its most accurate plans alone. Needs OpenCV (extra ``vision``).

If the scene changes, such as from day to night, the accuracies of a profile no longer hold. A full profile runs all
plans; this check runs only those that a planner would choose where cores are scarce.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from windlass.model import InputError
from windlass.model.queries import QueryPlan
from windlass.plan.profile.clipinfo import ClipInfo
from windlass.plan.profile.comparison import front
from windlass.plan.profile.pipeline import TrackerPlan
from windlass.plan.profile.running import profile
from windlass.plan.profile.tracks import Tracks


@dataclass(frozen=True, slots=True)
class Recheck:
    """Accuracies of the plans of a profile's front: then and now.

    Parameters
    ----------
    labels
        Names of the plans' components.
    before, now
        Accuracy in the profile, and on the new clip.
    seconds
        CPU seconds of the check.
    """

    labels: tuple[str, ...]
    before: tuple[float, ...]
    now: tuple[float, ...]
    seconds: float

    @property
    def largest(self) -> float:
        """The largest difference of any plan.

        >>> Recheck(("a", "b"), (0.5, 0.75), (0.625, 0.5), 1.0).largest
        0.25
        """
        return max(abs(now - before) for before, now in zip(self.before, self.now, strict=True))


def recheck(
    known: Sequence[QueryPlan], plans: Sequence[TrackerPlan], clip: ClipInfo, truth: Tracks, cache: float
) -> Recheck:
    """Run the front of a profile on a clip.

    Parameters
    ----------
    known
        The plans of the profile.
    plans
        The plans of the pipeline that was profiled.
    clip, truth
        The new clip with its tracks, true ones or those of a golden plan.
    cache
        Maximum size of cached outputs, bytes.

    Raises
    ------
    InputError
        A plan of the front is not a plan of the pipeline, or the clip cannot be read.
    """
    by_label = {plan.label: plan for plan in plans}
    chosen = [known[at] for at in front(known)]
    labels = tuple(", ".join(part.name for part in plan.components) for plan in chosen)
    for label in labels:
        if label not in by_label:
            raise InputError(f"plan {label!r} of the profile is not a plan of the pipeline; profile it anew")
    found = profile([by_label[label] for label in labels], clip, truth, cache)
    return Recheck(
        labels,
        tuple(plan.accuracy for plan in chosen),
        tuple(each.plan.accuracy for each in found.plans),
        found.seconds,
    )
