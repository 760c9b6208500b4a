"""A request router for Ray Serve that learns the speeds of replicas.

This module is the interface to Serve. Decisions are made by :class:`windlass.engines.serve.replicas.Replicas` and, in
it, by a dispatch policy of the simulator.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from ray.serve._private.request_router.pow_2_router import PowerOfTwoChoicesRequestRouter
from ray.serve.config import RequestRouterConfig
from ray.serve.request_router import PendingRequest, ReplicaID, RunningReplica

from windlass.engines.serve.benchmarks import send_benchmarks
from windlass.engines.serve.calls import try_out
from windlass.engines.serve.ejection import RequestOutcome
from windlass.engines.serve.metrics import RouterMetrics
from windlass.engines.serve.options import RouterOptions
from windlass.engines.serve.outcomes import Outcomes, outcome_of, watch
from windlass.engines.serve.replicas import Replicas
from windlass.model import InputError

_log = logging.getLogger("ray.serve")
_Answer = TypeVar("_Answer")
_LONGEST_WAIT_S = 0.25


class LearningRouter(PowerOfTwoChoicesRequestRouter):  # type: ignore[misc]
    """Sends each request to the replica with the earliest expected end, from learned speeds.

    Serve creates a router in each proxy and in each handle; they do not coordinate. Each learns from its own requests,
    and knows of other routers' requests from the queue lengths that replicas report when they accept a request.

    Serve's power of two choices, the base class, routes instead:

    - while the policy is being loaded (two seconds; half a minute on the first use on a machine, to compile it), and
      until a replica is known;
    - requests for a multiplexed model, for which a replica that has the model loaded is more important;
    - a request for which the policy raises an error; the first such error is logged.

    Locality, that is whether a replica is on the same node, is ignored.

    Parameters
    ----------
    request_router_kwargs
        The options of :class:`windlass.engines.serve.options.RouterOptions`. With an invalid one, Serve's own choice
        routes everything and the log has the reason; :func:`rosella` raises an error at once instead.
    """

    def initialize_state(self, **options: Any) -> None:
        """Called by Serve with ``request_router_kwargs``, on its event loop; the slow part runs in a thread."""
        self._speeds: Replicas[ReplicaID] | None = None
        self._newest_request = 0.0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._outcomes: Outcomes[ReplicaID] = Outcomes(self._guarded_end)
        self._has_failed = False
        self._benchmarks: Callable[[], asyncio.Task[None]] | None = None
        self._metrics = RouterMetrics(self.app_name, self._deployment_id.name, time.monotonic)
        try:
            checked = RouterOptions.of(options)
        except InputError as error:
            # An exception here would leave Serve without a router, and every request without an answer.
            _log.error("LearningRouter of %s: %s; Serve's own choice is used", self._deployment_id, error)
            return
        threading.Thread(target=self._load, args=(checked,), name="windlass-load", daemon=True).start()

    def _load(self, options: RouterOptions) -> None:
        try:
            rng = np.random.default_rng(options.seed)
            replicas: Replicas[ReplicaID] = Replicas(
                lambda workers: options.policy(workers, rng),
                clock=time.monotonic,
                rng=rng,
                at_once=options.at_once,
                explore_share=options.explore_share,
                window=options.window,
            )
            try_out(options.policy(2, rng))
            if options.benchmark is not None:
                method, share = options.benchmark, options.benchmark_share
                gaps = rng.spawn(1)[0]
                self._benchmarks = lambda: asyncio.create_task(
                    send_benchmarks(weakref.ref(self), method, share, gaps)
                )
            self._speeds = replicas
        except Exception:
            _log.exception("LearningRouter could not load its policy; Serve's own choice is used")

    async def choose_replicas(
        self, candidate_replicas: list[RunningReplica], pending_request: PendingRequest | None = None
    ) -> list[list[RunningReplica]]:
        """Return the replicas to try in turn: the policy's choice, then others that are worth it.

        If it is better to wait until a replica has room, this waits, as Serve would call again only after up to half a
        second. This router does not notice the end of other routers' requests, so Serve sometimes probes full replicas.
        """
        if self._benchmarks is not None:
            # This is the event loop on which Serve sends requests. A reference is kept, as the loop does not keep
            # tasks.
            self._benchmarking, self._benchmarks = self._benchmarks(), None
        ranked = self._ranked(candidate_replicas, pending_request)
        has_waited = ranked == []
        if has_waited:
            await self._room()
            ranked = self._ranked(candidate_replicas, pending_request)
        if ranked is None:
            built_in: list[list[RunningReplica]] = await super().choose_replicas(
                candidate_replicas, pending_request
            )
            return built_in
        if pending_request is not None:
            # Serve may wait up to half a second before its next call, or not at all: after a wait here, not at all.
            pending_request.routing_context.should_backoff = not has_waited
        return [[replica] for replica in ranked] or [self._full(candidate_replicas)]

    def _ranked(
        self, candidates: list[RunningReplica], request: PendingRequest | None
    ) -> list[RunningReplica] | None:
        """Return the replicas to try, an empty list to wait, or None to leave the choice to Serve."""
        if self._speeds is None:
            self._metrics.count_fallback("loading")
            return None
        return self._guarded(lambda speeds: self._rank(speeds, candidates, request))

    def _rank(
        self, speeds: Replicas[ReplicaID], candidates: list[RunningReplica], request: PendingRequest | None
    ) -> list[RunningReplica] | None:
        found = {replica.replica_id: replica for replica in candidates}
        speeds.members(found)
        # Serve calls again for a rejected request, and handles requests in the order of their creation.
        if request is not None and request.created_at > self._newest_request:
            self._newest_request = request.created_at
            speeds.arrived()
        multiplexed = request is not None and request.metadata.multiplexed_model_id
        seen = {one: self.replica_queue_len_cache.get(one) for one in found}
        limits = {one: replica.max_ongoing_requests for one, replica in found.items()}
        ranked = None if multiplexed else speeds.rank(seen, limits)
        if ranked is None:
            self._metrics.count_fallback("multiplexed" if multiplexed else "unknown")
            return None
        return [found[one] for one in ranked]

    def _full(self, candidates: list[RunningReplica]) -> list[RunningReplica]:
        """Return the replicas without room as far as known here; Serve probes them before it sends a request.

        What is known may have changed meanwhile. An ejected replica is not among them: Serve would prefer it, as it is
        idle.
        """
        allowed = self._guarded(lambda speeds: speeds.allowed()) or set()
        found = [one for one in candidates if one.replica_id in allowed] or candidates
        lengths = self.replica_queue_len_cache
        full = [one for one in found if (lengths.get(one.replica_id) or 0) >= one.max_ongoing_requests]
        return full or found

    async def _room(self) -> None:
        """Wait until a request of this router has left a replica, for at most a quarter of a second."""
        left: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(left)
        try:
            await asyncio.wait_for(left, _LONGEST_WAIT_S)
        except TimeoutError:
            pass
        finally:
            if left in self._waiting:
                self._waiting.remove(left)

    def decrement_queue_len_cache(self, replica_id: ReplicaID) -> None:
        """Record a free place at a replica, and let one waiting request continue."""
        super().decrement_queue_len_cache(replica_id)
        while self._waiting:
            left = self._waiting.popleft()
            if not left.done():
                left.set_result(None)
                return

    def on_request_routed(self, pending_request: PendingRequest, replica_id: ReplicaID, result: Any) -> None:
        """Record that a replica accepted the request."""
        request = pending_request.metadata.internal_request_id
        # Serve has just cached the queue length that the replica reported.
        length = self.replica_queue_len_cache.get(replica_id)
        if self._outcomes.accepted(replica_id, request):
            self._guarded(lambda speeds: speeds.sent(replica_id, request, length))
        self._watch(replica_id, request, result)

    def _watch(self, replica: ReplicaID, request: str, result: Any) -> None:
        """Look at the first part of an answer, as Serve does not pass the outcome of a request to a router."""
        loop = asyncio.get_running_loop()

        def look(answer: object) -> None:
            # Called from another thread.
            loop.call_soon_threadsafe(self._outcomes.answered, replica, request, outcome_of(answer))

        try:
            watch(result, look)
        except Exception:
            # Another transport, or another version of Serve: failures are not noticed.
            self._metrics.count_fallback("outcome")
            self._outcomes.answered(replica, request, RequestOutcome.SERVED)

    def on_request_completed(self, replica_id: ReplicaID, internal_request_id: str) -> None:
        """Record that a request left a replica, or was rejected by it."""
        self._outcomes.left(replica_id, internal_request_id)

    def _guarded_end(self, replica: ReplicaID, request: str, outcome: RequestOutcome) -> None:
        self._guarded(lambda speeds: self._end(speeds, replica, request, outcome))

    def _end(
        self,
        speeds: Replicas[ReplicaID],
        replica_id: ReplicaID,
        request: str,
        outcome: RequestOutcome,
    ) -> None:
        speeds.ended(replica_id, request, outcome)
        self._metrics.show(lambda: _named(speeds.speeds), lambda: speeds.arrival_rate)

    def spare_rate(self) -> float:
        """Return the requests per second that replicas could serve in addition to the arriving ones."""
        return self._guarded(lambda speeds: speeds.spare_rate) or 0.0

    def idle_replica(self) -> RunningReplica | None:
        """Return an idle replica as far as known here, or None."""
        length = self.replica_queue_len_cache.get
        one = self._guarded(lambda speeds: speeds.idle({one: length(one) for one in self.curr_replicas}))
        return None if one is None else self.curr_replicas.get(one)

    def began(self, replica: ReplicaID, request: str, ongoing: int) -> None:
        """Record an accepted benchmark request."""
        self.on_new_queue_len_info(replica, ongoing)
        self._guarded(lambda speeds: speeds.sent(replica, request, ongoing))

    def ended(self, replica: ReplicaID, request: str, outcome: RequestOutcome) -> None:
        """Record the end of a benchmark request."""
        self.decrement_queue_len_cache(replica)
        self._guarded_end(replica, request, outcome)

    def _guarded(self, act: Callable[[Replicas[ReplicaID]], _Answer]) -> _Answer | None:
        """Call a function; return None on an error, as an error of the policy must not fail a request."""
        if self._speeds is None:
            return None
        try:
            return act(self._speeds)
        except Exception:
            self._metrics.count_fallback("error")
            if not self._has_failed:
                self._has_failed = True
                _log.exception(
                    "LearningRouter failed; Serve's own choice is used (logged once, counted each time)"
                )
            return None


def _named(speeds: dict[ReplicaID, float]) -> dict[str, float]:
    return {one.unique_id: speed for one, speed in speeds.items()}


def router(dispatch: str, **options: Any) -> RequestRouterConfig:
    """Return Serve's configuration for this router under a dispatch policy of the simulator, with validated options.

    Parameters
    ----------
    dispatch
        The name of the policy; see :class:`windlass.engines.serve.options.RouterOptions`.
    options
        The other options there.

    Raises
    ------
    InputError
        An option is unknown, or a value is out of bounds.

    Examples
    --------
    >>> router("prequal").request_router_kwargs
    {'dispatch': 'prequal'}
    """
    return _config({"dispatch": dispatch, **options})


def rosella(**options: Any) -> RequestRouterConfig:
    """Return Serve's configuration for this router under Rosella's rule, with validated options.

    Eight replicas are drawn by learned speed, and the one with the least expected wait is taken.

    Parameters
    ----------
    options
        Those of :class:`windlass.engines.serve.options.RouterOptions`.

    Raises
    ------
    InputError
        An option is unknown, or a value is out of bounds.

    Examples
    --------
    >>> rosella(probes=2).request_router_kwargs
    {'dispatch': 'rosella', 'probes': 2}
    """
    return router("rosella", **options)


def pull(**options: Any) -> RequestRouterConfig:
    """Return Serve's configuration for this router under its default, the rule of pulling workers, bound at once.

    Each request goes to the replica of all with the earliest expected end. Serve binds a request on arrival, so
    requests do not wait at the router for a replica to pull them, as they do in the simulator.

    Parameters
    ----------
    options
        Those of :class:`windlass.engines.serve.options.RouterOptions` but ``dispatch``, ``probes`` and ``by``.

    Raises
    ------
    InputError
        An option is unknown, or a value is out of bounds.

    Examples
    --------
    >>> pull(window=32).request_router_kwargs
    {'window': 32}
    """
    return _config(options)


def _config(options: dict[str, Any]) -> RequestRouterConfig:
    RouterOptions.of(options)
    return RequestRouterConfig(
        request_router_class=f"{LearningRouter.__module__}.{LearningRouter.__name__}",
        request_router_kwargs=options,
    )
