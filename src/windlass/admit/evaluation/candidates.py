"""The candidates of an evaluation: policies, each at a downtime."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from windlass.model.values import number

#: Trackers of Pronto, in the order of tables.
TRACKERS = ("fpca", "spirit", "directions", "power")
#: Forecasters of the alarm, in the order of tables.
FORECASTERS = ("naive", "smoothing", "arima", "svm")
#: Labels of Windlass's own policy, and of the variant of Pronto chosen on earlier telemetry.
OURS, TUNED = "forewarn", "pronto, best on earlier telemetry"
#: Label of Windlass's own policy where it considers only the steps between spikes.
BETWEEN = "forewarn, between spikes"


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
    """Yield Pronto as printed, then at each downtime every tracker, Windlass's policy and every baseline.

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
    >>> [each.label for each in candidates([0.05], busy=True)][3:6]
    ['pronto power, as printed', 'random', 'utilisation']
    """
    baseline, pronto, own = CandidateRole.BASELINE, CandidateRole.PRONTO, CandidateRole.OWN
    for tracker in TRACKERS:
        yield PolicyCandidate(f"pronto {tracker}, as printed", "pronto", np.nan, {"tracker": tracker}, pronto)
    for downtime in downtimes:
        number("downtime", downtime, 0.0, 1.0, open_below=True)
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


def later(downtimes: Sequence[float]) -> Iterator[PolicyCandidate]:
    """Yield candidates added later; they come last so that the random streams of the others do not change.

    >>> [each.label for each in later([0.05])]
    ['forewarn, between spikes']
    """
    for downtime in downtimes:
        yield PolicyCandidate(
            BETWEEN, "forewarn", downtime, {"between": True, "downtime": downtime}, CandidateRole.OWN
        )
