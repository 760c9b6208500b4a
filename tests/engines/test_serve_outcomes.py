"""How a request of Serve ended, by its answer."""

import asyncio
import pickle

import pytest

pytest.importorskip("ray.serve", reason="Ray Serve is not installed (the extra `ray`)")

from ray.exceptions import TaskCancelledError

from windlass.engines.serve.ejection import RequestOutcome
from windlass.engines.serve.outcomes import Outcomes, outcome_of, watch


def http(status):
    return pickle.dumps([{"type": "http.response.start", "status": status}, {"type": "http.response.body"}])


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("done", "SERVED"),
        (None, "SERVED"),
        (ValueError("no"), "FAILED"),
        (TaskCancelledError(), "DROPPED"),
        (asyncio.CancelledError(), "DROPPED"),
        (http(200), "SERVED"),
        (http(404), "SERVED"),
        (http(499), "SERVED"),
        (http(500), "FAILED"),
        (http(503), "FAILED"),
        (b"not a pickle", "SERVED"),
        (pickle.dumps("text"), "SERVED"),
        (pickle.dumps([1, {"status": "500"}, {}]), "SERVED"),
    ],
)
def test_errors_and_http_answers_from_500_on_are_failures(answer, outcome):
    assert outcome_of(answer) is RequestOutcome[outcome]


class Part:
    def _on_completed(self, call):
        call("part")


class Unary:
    _is_streaming = False

    def to_object_ref(self):
        return Part()


class Streaming:
    _is_streaming = True

    def to_object_ref_gen(self):
        return self

    def _get_next_ref_n(self, count):
        return [Part()] * count


@pytest.mark.parametrize("result", [Unary(), Streaming()])
def test_the_first_part_of_an_answer_is_watched(result):
    seen = []
    watch(result, seen.append)
    assert seen == ["part"]


@pytest.mark.parametrize("order", [("watched", "answered", "left"), ("watched", "left", "answered")])
def test_an_end_is_passed_on_once_with_its_outcome_in_either_order(order):
    ends = []
    outcomes = Outcomes(lambda *end: ends.append(end))
    for number, event in enumerate(order):
        assert not ends, order[:number]
        outcome = [RequestOutcome.DROPPED] if event == "answered" else []
        getattr(outcomes, event)("replica", "request", *outcome)
    assert ends == [("replica", "request", RequestOutcome.DROPPED)]
    assert not outcomes._unanswered
    assert not outcomes._answered


def test_a_request_rejected_by_one_replica_and_accepted_by_another_is_two():
    ends = []
    outcomes = Outcomes(lambda *end: ends.append(end))
    outcomes.watched("second", "request")
    outcomes.answered("second", "request", RequestOutcome.FAILED)
    # The end at the replica that rejected it arrives late.
    outcomes.left("first", "request")
    outcomes.left("second", "request")
    assert ends == [
        ("first", "request", RequestOutcome.SERVED),
        ("second", "request", RequestOutcome.FAILED),
    ]


def test_an_answer_of_a_request_that_is_not_watched_is_ignored():
    ends = []
    outcomes = Outcomes(lambda *end: ends.append(end))
    outcomes.answered("replica", "request", RequestOutcome.FAILED)
    outcomes.left("replica", "request")
    assert ends == [("replica", "request", RequestOutcome.SERVED)]
