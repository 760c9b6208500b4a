"""How a benchmark request of Serve ends: served ones are learned from, failed ones neither count nor eject."""

import asyncio
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("ray.serve", reason="Ray Serve is not installed (the extra `ray`)")

from windlass.engines.serve.benchmarks import send_benchmarks
from windlass.engines.serve.ejection import RequestOutcome

_ENOUGH = 20


class Answer:
    """The answer of a replica that accepts, and then fails or not."""

    def __init__(self, error):
        self.error = error

    async def get_rejection_response(self):
        return SimpleNamespace(accepted=True, num_ongoing_requests=1)

    async def get_async(self):
        if self.error is not None:
            raise self.error


class Router:
    """Records how requests end; the replica is always idle."""

    def __init__(self, error):
        self.outcomes = []
        self.replica = SimpleNamespace(replica_id="one", try_send_request=lambda *_, **__: Answer(error))

    def spare_rate(self):
        return 1e6

    def idle_replica(self):
        return self.replica

    def began(self, replica, request, ongoing):
        assert (replica, ongoing) == ("one", 1)

    def ended(self, replica, request, outcome):
        self.outcomes.append(outcome)


def outcomes(error):
    """Send until there are enough outcomes, or sending ends by itself."""
    router = Router(error)

    def sender():
        return router if len(router.outcomes) < _ENOUGH else None

    asyncio.run(send_benchmarks(sender, "probe", 1.0, np.random.default_rng(1)))
    return router.outcomes


def test_a_served_benchmark_request_is_learned_from():
    assert outcomes(None) == [RequestOutcome.SERVED] * _ENOUGH


def test_five_failed_benchmark_requests_end_the_sending_and_are_not_learned_from():
    assert outcomes(RuntimeError("no such method")) == [RequestOutcome.DROPPED] * 5
