"""Whether an answer of Serve counts as a failure."""

import asyncio
import pickle

import pytest

pytest.importorskip("ray.serve", reason="Ray Serve is not installed (the extra `ray`)")

from ray.exceptions import TaskCancelledError

from windlass.engines.serve.outcomes import is_failure, watch


def http(status):
    return pickle.dumps([{"type": "http.response.start", "status": status}, {"type": "http.response.body"}])


@pytest.mark.parametrize(
    ("answer", "failed"),
    [
        ("done", False),
        (None, False),
        (ValueError("no"), True),
        (TaskCancelledError(), False),
        (asyncio.CancelledError(), False),
        (http(200), False),
        (http(404), False),
        (http(499), False),
        (http(500), True),
        (http(503), True),
        (b"not a pickle", False),
        (pickle.dumps("text"), False),
        (pickle.dumps([1, {"status": "500"}, {}]), False),
    ],
)
def test_errors_and_http_answers_from_500_on_are_failures(answer, failed):
    assert is_failure(answer) is failed


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
