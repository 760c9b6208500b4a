"""Policies on telemetry that is there: what each foresees of the onsets of spikes, at a downtime.

A policy runs through a node's telemetry step by step, as it would live. Steps in which it begins are not judged, and
what it is told of spikes is of before those that are.

- :mod:`~windlass.admit.evaluation.node`: a node's telemetry, and what a spike is on it.
- :mod:`~windlass.admit.evaluation.candidates`: who is compared.
- :mod:`~windlass.admit.evaluation.judging`: what a candidate foresees.
- :mod:`~windlass.admit.evaluation.variants`: the best Pronto of what came before.
- :mod:`~windlass.admit.evaluation.certainty`: how sure a recall, or a difference of two, is.
- :mod:`~windlass.admit.evaluation.recordings`: all candidates judged on recorded telemetry of machines.
- :mod:`~windlass.admit.evaluation.verdict`: whether a signal is ahead of another.
"""

from windlass.admit.evaluation.candidates import (
    BETWEEN,
    FORECASTERS,
    OURS,
    TRACKERS,
    TUNED,
    CandidateRole,
    PolicyCandidate,
    candidates,
    later,
)
from windlass.admit.evaluation.certainty import Intervals, SignalDifference, difference, intervals
from windlass.admit.evaluation.judging import (
    Judged,
    beside_best,
    beside_pronto,
    best_pronto,
    judge,
    judge_apart,
    signal,
)
from windlass.admit.evaluation.node import NodeTelemetry, level_of
from windlass.admit.evaluation.variants import tuned
from windlass.admit.evaluation.verdict import FEWEST, RULE, SAID, TOLERANCE, ahead

__all__ = [
    "BETWEEN",
    "FEWEST",
    "FORECASTERS",
    "OURS",
    "RULE",
    "SAID",
    "TOLERANCE",
    "TRACKERS",
    "TUNED",
    "CandidateRole",
    "Intervals",
    "Judged",
    "NodeTelemetry",
    "PolicyCandidate",
    "SignalDifference",
    "ahead",
    "beside_best",
    "beside_pronto",
    "best_pronto",
    "candidates",
    "difference",
    "intervals",
    "judge",
    "judge_apart",
    "later",
    "level_of",
    "signal",
    "tuned",
]
