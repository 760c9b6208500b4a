"""Benchmark requests of Ray Serve: calls of a deployment's benchmark method, sent to idle replicas."""

from __future__ import annotations

import asyncio
import logging
import uuid
import weakref
from typing import Protocol

import numpy as np
from ray.serve._private.common import RequestMetadata
from ray.serve.request_router import PendingRequest, ReplicaID, RunningReplica

from windlass.engines.serve.ejection import RequestOutcome

#: Serve's logger, as its documentation names it.
_log = logging.getLogger("ray.serve")

#: Polling interval of the spare rate, s; gaps are memoryless, so a longer one may be drawn again.
_LOOK_S = 1.0
#: Failures in a row after which no more requests are sent.
_FAILURES = 5


class Sender(Protocol):
    """The methods of a router that benchmark requests need."""

    def spare_rate(self) -> float:
        """Return the requests per second that could be served in addition to the arriving ones."""
        ...

    def idle_replica(self) -> RunningReplica | None:
        """Return a replica for the next request; None if all are busy."""
        ...

    def began(self, replica: ReplicaID, request: str, ongoing: int) -> None:
        """Record that a replica accepted a request, and has ``ongoing`` requests now."""
        ...

    def ended(self, replica: ReplicaID, request: str, outcome: RequestOutcome) -> None:
        """Record how a request ended."""
        ...


async def send_benchmarks(
    sender: weakref.ref[Sender], method: str, share: float, rng: np.random.Generator
) -> None:
    """Send benchmark requests at exponential gaps, for as long as the sender exists.

    Parameters
    ----------
    sender
        The router; the weak reference does not keep it alive.
    method
        Called without arguments at the replica; it does the work of a typical request and changes nothing.
    share
        Share of the spare rate, c₀ in the paper.
    rng
        The random generator of gaps.

    Source
    ------
    Rosella, section on the performance learner: a Poisson stream of rate c₀(μ̄ − λ̂). Serve has no low-priority
    lane, so requests are only sent to idle replicas.
    """
    failures = 0
    while failures < _FAILURES:
        router = sender()
        if router is None:
            return
        rate = share * router.spare_rate()
        gap = float(rng.exponential(1.0 / rate)) if rate > 0 else np.inf
        del router
        await asyncio.sleep(min(gap, _LOOK_S))
        router = sender()
        replica = None if router is None or gap > _LOOK_S else router.idle_replica()
        if router is None or replica is None:
            continue
        try:
            await _send(router, replica, method)
            failures = 0
        except Exception as error:
            failures += 1
            _log.warning("benchmark request %s of %s failed: %s", method, replica.replica_id, error)
    _log.error("%s benchmark requests failed in a row; no more are sent", _FAILURES)


async def _send(router: Sender, replica: RunningReplica, method: str) -> None:
    name = f"windlass-benchmark-{uuid.uuid4()}"
    metadata = RequestMetadata(request_id=name, internal_request_id=name, call_method=method)
    result = replica.try_send_request(PendingRequest([], {}, metadata), with_rejection=True)
    queue = await result.get_rejection_response()
    if not queue.accepted:
        result.cancel()
        return
    router.began(replica.replica_id, name, queue.num_ongoing_requests)
    # The time of a failure is not that of a request. Nor is it the replica's fault if the method does not exist.
    outcome = RequestOutcome.DROPPED
    try:
        await result.get_async()
        outcome = RequestOutcome.SERVED
    finally:
        router.ended(replica.replica_id, name, outcome)
