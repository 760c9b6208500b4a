"""The candidates of an evaluation: policies, each at a downtime."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from windlass.model.values import number

#: Trackers of Pronto, in the order of tables.
TRACKERS = ("fpca", "spirit", "directions", "power")
#: Forecasters of the alarm, in the order of tables.
FORECASTERS = ("naive", "smoothing", "arima", "svm")
#: Label of the variant of Pronto chosen on earlier telemetry.
TUNED = "pronto, best on earlier telemetry"
#: What the label of a candidate ends with that considers only the steps between spikes.
BETWEEN = ", between spikes"


class CandidateRole(enum.Enum):
    """The role of a candidate in an evaluation, which determines what it is compared with."""

    #: A plain policy that every other is compared with.
    BASELINE = "baseline"
    #: A form of Pronto, the published policy.
    PRONTO = "pronto"
    #: A form of Windlass's own policy.
    OWN = "own"
    #: Any other, compared with the baselines and with Pronto.
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class PolicyCandidate:
    """A policy with its label in tables and its requested downtime; NaN if it takes none."""

    label: str
    policy: str
    downtime: float
    parameters: Mapping[str, Any] = field(default_factory=dict)
    role: CandidateRole = CandidateRole.OTHER


def candidates(downtimes: Sequence[float], *, busy: bool, svm: bool = True) -> Iterator[PolicyCandidate]:
    """Yield Pronto as printed, then at each downtime every policy, first at all steps and then between spikes.

    Parameters
    ----------
    downtimes
        Shares of steps, above 0 and below 1.
    busy
        Whether the utilisation of cores is known, which ``utilisation`` needs.
    svm
        Whether scikit-learn is installed, which the forecaster ``svm`` needs.

    Examples
    --------
    >>> [each.label for each in candidates([0.05], busy=True)][3:7]
    ['pronto power, as printed', 'random', 'random, between spikes', 'utilisation']
    """
    for tracker in TRACKERS:
        label = f"pronto {tracker}, as printed"
        yield PolicyCandidate(label, "pronto", np.nan, {"tracker": tracker}, CandidateRole.PRONTO)
    for downtime in downtimes:
        number("downtime", downtime, 0.0, 1.0, open_below=True)
        for each in _at(downtime, busy=busy, svm=svm):
            yield each
            yield between_spikes(each)


def between_spikes(candidate: PolicyCandidate) -> PolicyCandidate:
    """Return a candidate that considers only the steps between spikes.

    >>> between_spikes(PolicyCandidate("ready", "ready", 0.05)).label
    'ready, between spikes'
    """
    return replace(
        candidate,
        label=candidate.label + BETWEEN,
        parameters={**candidate.parameters, "between": True},
    )


def _at(downtime: float, *, busy: bool, svm: bool) -> Iterator[PolicyCandidate]:
    """Yield the candidates of one downtime that consider all steps."""
    baseline, pronto, own = CandidateRole.BASELINE, CandidateRole.PRONTO, CandidateRole.OWN
    at = {"downtime": downtime}
    yield PolicyCandidate("random", "random", downtime, at, baseline)
    if busy:
        yield PolicyCandidate("utilisation", "utilisation", downtime, at, baseline)
    yield PolicyCandidate("ready", "ready", downtime, at, baseline)
    for forecaster in FORECASTERS if svm else FORECASTERS[:-1]:
        alarm = {"forecaster": forecaster, "series": "values", **at}
        yield PolicyCandidate(f"alarm {forecaster}", "alarm", downtime, alarm, baseline)
    scores = {"signal": "scores", "forget": 0.99, **at}
    for tracker in TRACKERS:
        yield PolicyCandidate(
            f"pronto {tracker}, z-scores", "pronto", downtime, {"tracker": tracker, **scores}, pronto
        )
    equal = {"weights": "equal", **scores}
    yield PolicyCandidate("pronto fpca, z-scores, equal weights", "pronto", downtime, equal, pronto)
    yield PolicyCandidate("forewarn", "forewarn", downtime, at, own)
    yield PolicyCandidate("rising", "rising", downtime, {"between": False, **at}, own)
