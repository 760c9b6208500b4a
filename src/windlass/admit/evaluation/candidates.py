"""All that are compared: policies, each at a downtime."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from windlass.model.values import number

#: The trackers that Pronto can have, in the order of tables.
TRACKERS = ("fpca", "spirit", "directions", "power")
#: The alarm's forecasters, likewise.
FORECASTERS = ("naive", "smoothing", "arima", "svm")
#: Labels: of Windlass's own policy, and of the form of Pronto that is chosen on the telemetry before.
OURS, TUNED = "forewarn", "pronto, best on what came before"
#: Label of Windlass's own policy where it considers only the steps between spikes.
BETWEEN = "forewarn, between spikes"


class CandidateRole(enum.Enum):
    """The part of a candidate in an evaluation, which decides what it is compared with."""

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
    """A policy by the name that it has in tables, and the downtime that it was asked for; NaN where none can be."""

    label: str
    policy: str
    downtime: float
    parameters: Mapping[str, Any] = field(default_factory=dict)
    role: CandidateRole = CandidateRole.OTHER


def candidates(downtimes: Sequence[float], *, busy: bool, svm: bool = True) -> Iterator[PolicyCandidate]:
    """All that are compared: Pronto as printed, then at each downtime every tracker, ours, and every baseline.

    Parameters
    ----------
    downtimes
        Shares of steps, 0 to 1 and neither.
    busy
        Whether the use of cores is known, which ``utilisation`` asks for.
    svm
        Whether scikit-learn is there, which the forecaster ``svm`` asks for.

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
    """Those that came after the others, whose draws stay as they were.

    >>> [each.label for each in later([0.05])]
    ['forewarn, between spikes']
    """
    for downtime in downtimes:
        yield PolicyCandidate(
            BETWEEN, "forewarn", downtime, {"between": True, "downtime": downtime}, CandidateRole.OWN
        )
