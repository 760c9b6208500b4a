"""How well a golden plan's labels replace true tracks, on a clip that has both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau

from windlass.plan.profile.comparison import cores, front
from windlass.plan.profile.tracks import f1

if TYPE_CHECKING:  # these need OpenCV
    from windlass.plan.profile.clipinfo import ClipInfo
    from windlass.plan.profile.pipeline import TrackerPlan
    from windlass.plan.profile.running import PlanProfile
    from windlass.plan.profile.tracks import Tracks


@dataclass(frozen=True, slots=True)
class GoldenAgreement:
    """A golden plan compared with true tracks.

    Parameters
    ----------
    label
        The golden plan.
    accuracy
        Accuracy of the golden plan's tracks.
    correlation
        Kendall's tau-b of the plans' accuracies with either labels: 1 for the same order of the plans. None if all
        plans are equally accurate by one of them, such as by the labels of a plan that finds no object.
    mean_loss, largest_loss
        Accuracy lost by the choice with the golden plan's labels, over the budgets of cores at which the best plan
        changes.
    """

    label: str
    accuracy: float
    correlation: float | None
    mean_loss: float
    largest_loss: float


def losses(
    accuracy: NDArray[np.float64],
    labelled: NDArray[np.float64],
    needs: NDArray[np.float64],
    budgets: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the accuracy lost at each budget if the plan is chosen by labelled accuracies.

    Parameters
    ----------
    accuracy, labelled
        (p,) accuracy of each plan with true tracks, and with other labels.
    needs
        (p,) cores of each plan.
    budgets
        (b,) cores that a plan may need, each at least the fewest of a plan.

    >>> accuracy, labelled, needs = np.array([0.25, 0.75, 0.5]), np.array([0.5, 0.5, 0.75]), np.array([1.0, 2.0, 3.0])
    >>> losses(accuracy, labelled, needs, needs).tolist()
    [0.0, 0.5, 0.25]
    """
    lost = np.empty(len(budgets))
    for place, budget in enumerate(budgets):
        fits = np.flatnonzero(needs <= budget)
        lost[place] = accuracy[fits].max() - accuracy[fits[np.argmax(labelled[fits])]]
    return lost


def agreement(
    golden: TrackerPlan,
    labels: Tracks,
    truth: Tracks,
    plans: tuple[TrackerPlan, ...],
    found: PlanProfile,
    clip: ClipInfo,
) -> GoldenAgreement:
    """Compare the labels of a golden plan with true tracks.

    Parameters
    ----------
    golden, labels
        The golden plan, and its tracks, from :func:`~windlass.plan.profile.golden.tracks_of`.
    truth, clip
        The clip and its true tracks.
    plans, found
        The plans of the pipeline, and their profile with the true tracks.
    """
    measured = [each.plan for each in found.plans]
    accuracy = np.array([plan.accuracy for plan in measured])
    if len(labels):
        held = [
            each.tracks.held(plan.every, clip.frames) for plan, each in zip(plans, found.plans, strict=True)
        ]
        labelled = np.array([f1(tracks, labels) for tracks in held])
    else:
        # A plan that finds nothing either would agree in full.
        labelled = np.zeros(len(plans))
    needs = np.array([cores(plan) for plan in measured])
    lost = losses(accuracy, labelled, needs, needs[front(measured)])
    differ = np.ptp(accuracy) > 0 and np.ptp(labelled) > 0
    correlation = float(kendalltau(accuracy, labelled).statistic) if differ else None
    return GoldenAgreement(
        golden.label, f1(labels, truth), correlation, float(lost.mean()), float(lost.max())
    )
