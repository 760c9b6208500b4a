"""Invalid input to nodes, views and answers is rejected with a one-line error that names it."""

from __future__ import annotations

import numpy as np
import pytest

from windlass.admit import Admission, AdmissionFleet, AdmitView, Pronto
from windlass.admit.compiled import CurrentAnswers
from windlass.model import InputError, PolicyError

VIEW = {"now": 0.0, "metrics": np.zeros(2)}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Pronto(5, rank=6), "rank is 6, expected at most the 5 metrics"),
        (lambda: Pronto(5, tracker="pca"), "tracker is 'pca'"),
        (lambda: Pronto(5, weights="none"), "weights is 'none', expected one of raw, unit, equal"),
        (lambda: Pronto(5, signal="sum"), "signal is 'sum'"),
        (lambda: Pronto(5, signs="up"), "signs is 'up', expected one of load, printed"),
        (lambda: Pronto(5, lag=1), "lag is 1"),
        (lambda: Pronto(5, beta=2.0), "beta is 2.0"),
        (lambda: Pronto(5, downtime=1.0), "downtime is 1.0"),
        (lambda: Pronto(5, memory=1.0), "memory is 1.0"),
        (lambda: Pronto(5, clip=0.0), "clip is 0.0"),
        (lambda: Pronto(5, threshold=np.nan), "threshold is nan"),
        (lambda: Pronto(5, rank="many"), "rank: expected a whole number, found 'many'"),
        (lambda: Pronto(5).observe(np.zeros(4)), r"metrics have shape \(4,\), expected \(5,\)"),
        (lambda: AdmissionFleet(0, 5), "nodes is 0"),
        (lambda: AdmissionFleet(2, 5, ranks=3), "there is no parameter ranks, expected one of rank, block"),
        (
            lambda: AdmissionFleet(2, 5).observe(np.zeros((3, 5))),
            r"metrics have shape \(3, 5\), expected \(2, 5\)",
        ),
        (lambda: AdmissionFleet(2, 5).start(2, np.eye(5)[:, :1], np.ones(1)), "node is 2, expected 0 to 1"),
        (lambda: Pronto(5).start(np.eye(4)[:, :1], np.ones(1)), "is of 4 metrics, expected 5"),
        (lambda: AdmitView(**{**VIEW, "now": np.nan}), "now is nan"),
        (lambda: AdmitView(**VIEW, busy=1.5), "busy is 1.5"),
        (lambda: AdmitView(**VIEW, ready=-1.0), "ready is -1.0"),
        (lambda: AdmitView(0.0, np.zeros((2, 2))), r"metrics have shape \(2, 2\)"),
        (lambda: CurrentAnswers(0), "nodes is 0"),
        (lambda: CurrentAnswers(2).accept(2, 0.0), "node is 2, expected 0 to 1"),
        (lambda: CurrentAnswers(2).accept(0, np.inf), "now is inf"),
        (lambda: CurrentAnswers(2).notify(np.zeros(3, np.bool_)), r"rejects have shape \(3,\)"),
    ],
)
def test_invalid_input_is_named_in_the_error(make, message):
    with pytest.raises(InputError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_an_invalid_answer_is_rejected():
    view = AdmitView(0.0, np.zeros(1))
    with pytest.raises(PolicyError, match="reject is 1, expected True or False"):
        Admission(1, "why").check(view)
    with pytest.raises(PolicyError, match="has no reason"):
        Admission(True, "").check(view)
