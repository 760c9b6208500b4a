"""Benchmark requests of Ray Serve: calls of a method that a deployment offers for it, to replicas that are idle."""

from __future__ import annotations

import asyncio
import logging
import uuid
import weakref
from typing import Protocol

import numpy as np
from ray.serve._private.common import ReplicaID, RequestMetadata
from ray.serve._private.constants import SERVE_LOGGER_NAME
from ray.serve.request_router import PendingRequest, RunningReplica

_log = logging.getLogger(SERVE_LOGGER_NAME)

#: The spare rate is looked at so often, s; gaps are memoryless, so that a longer one may be drawn anew.
_LOOK_S = 1.0
#: Failures in a row after which no more are sent.
_FAILURES = 5


class Sender(Protocol):
    """What a router does for benchmark requests."""

    def spare_rate(self) -> float:
        """Requests per second that could be served beyond those that come."""
        ...

    def idle_replica(self) -> RunningReplica | None:
        """One to send the next to; None where all have work."""
        ...

    def began(self, replica: ReplicaID, request: str, ongoing: int) -> None:
        """A replica accepted one, and has so many requests now."""
        ...

    def ended(self, replica: ReplicaID, request: str) -> None:
        """It is done."""
        ...


async def send_benchmarks(
    sender: weakref.ref[Sender], method: str, share: float, rng: np.random.Generator
) -> None:
    """Send them, at exponential gaps, for as long as the sender exists.

    Parameters
    ----------
    sender
        The router; not kept alive by this.
    method
        Called without arguments at the replica; does the work of a typical request and changes nothing.
    share
        Of the spare rate, as c₀ in the paper.
    rng
        Where gaps come from.

    Source
    ------
    Rosella, section on the performance learner: a Poisson stream of rate c₀(μ̄ − λ̂). Serve has no low-priority
    lane, so that they go to idle replicas only.
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
    try:
        await result.get_async()
    finally:
        router.ended(replica.replica_id, name)
