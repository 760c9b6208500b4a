"""Evaluation of admission policies on recorded telemetry: recall of spike onsets at a given downtime.

A policy runs through a node's telemetry step by step, as it would live. The warm-up steps are not judged, and
the definition of a spike that a policy receives comes from them.

- :mod:`~windlass.admit.evaluation.node`: a node's telemetry with its definition of a spike.
- :mod:`~windlass.admit.evaluation.candidates`: the policies compared.
- :mod:`~windlass.admit.evaluation.judging`: recall of a candidate.
- :mod:`~windlass.admit.evaluation.variants`: the best variant of Pronto on earlier telemetry.
- :mod:`~windlass.admit.evaluation.certainty`: confidence intervals of a recall and of a difference of two.
- :mod:`~windlass.admit.evaluation.recordings`: all candidates judged on recorded telemetry of machines.
- :mod:`~windlass.admit.evaluation.verdict`: the comparison of two signals.
"""

from windlass.admit.evaluation.candidates import (
    BETWEEN,
    FORECASTERS,
    TRACKERS,
    TUNED,
    CandidateRole,
    PolicyCandidate,
    between_spikes,
    candidates,
)
from windlass.admit.evaluation.certainty import Intervals, SignalDifference, difference, intervals
from windlass.admit.evaluation.judging import (
    Judged,
    against_best,
    against_pronto,
    best_pronto,
    judge,
    judge_apart,
    signal,
)
from windlass.admit.evaluation.node import NodeTelemetry, level_of
from windlass.admit.evaluation.variants import tuned
from windlass.admit.evaluation.verdict import FEWEST, RULE, TOLERANCE, VERDICTS, ahead

__all__ = [
    "BETWEEN",
    "FEWEST",
    "FORECASTERS",
    "RULE",
    "TOLERANCE",
    "TRACKERS",
    "TUNED",
    "VERDICTS",
    "CandidateRole",
    "Intervals",
    "Judged",
    "NodeTelemetry",
    "PolicyCandidate",
    "SignalDifference",
    "against_best",
    "against_pronto",
    "ahead",
    "best_pronto",
    "between_spikes",
    "candidates",
    "difference",
    "intervals",
    "judge",
    "judge_apart",
    "level_of",
    "signal",
    "tuned",
]
