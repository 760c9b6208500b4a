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


ACCEPTED, ANSWERED, LEFT = "accepted", "answered", "left"


class Joined:
    """Outcomes, and the ends that they pass on."""

    def __init__(self):
        self.ends = []
        self.outcomes = Outcomes(lambda *end: self.ends.append(end))

    def see(self, event, replica="replica", outcome="FAILED"):
        more = [RequestOutcome[outcome]] if event == ANSWERED else []
        return getattr(self.outcomes, event)(replica, "request", *more)

    def kept(self):
        """Return the number of requests that are remembered."""
        of = self.outcomes
        return len(of._unanswered) + len(of._answered) + len(of._early)


@pytest.mark.parametrize(
    "order", [(ACCEPTED, ANSWERED, LEFT), (ACCEPTED, LEFT, ANSWERED), (LEFT, ACCEPTED, ANSWERED)]
)
def test_an_end_is_passed_on_once_with_its_outcome_in_any_order(order):
    joined = Joined()
    for event in order:
        assert not joined.ends, event
        found = joined.see(event)
        if event == ACCEPTED:
            assert found == (order[0] != LEFT)
    assert joined.ends == [("replica", "request", RequestOutcome.FAILED)]
    assert joined.kept() == 0


def test_a_request_rejected_by_one_replica_and_accepted_by_another_ends_once():
    joined = Joined()
    joined.see(ACCEPTED, "second")
    joined.see(ANSWERED, "second")
    # The end at the replica that rejected it arrives late.
    joined.see(LEFT, "first")
    assert joined.ends == []
    joined.see(LEFT, "second")
    assert joined.ends == [("second", "request", RequestOutcome.FAILED)]


def test_an_answer_of_a_request_that_was_not_accepted_is_ignored():
    joined = Joined()
    joined.see(ANSWERED)
    assert joined.kept() == 0
    assert joined.ends == []


def test_memory_is_bounded_for_requests_that_are_rejected():
    joined = Joined()
    for request in range(5000):
        joined.outcomes.left("replica", str(request))
    assert joined.kept() == 1024
    # The oldest are forgotten first.
    assert joined.outcomes.accepted("replica", "0")
    assert not joined.outcomes.accepted("replica", "4999")
