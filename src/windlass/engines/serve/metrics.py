"""A request router's metrics, exported through Ray."""

from __future__ import annotations

from collections.abc import Callable

from ray.util import metrics

#: Interval between two exports of the estimates, s.
EVERY_S = 1.0


class RouterMetrics:
    """Estimates and fallbacks of one router; Prometheus sees the names with the prefix ``ray_``.

    ``windlass_replica_speed`` (requests per busy second), ``windlass_arrival_rate`` (requests per second, at this
    router), ``windlass_router_fallbacks`` (requests routed by Serve's own choice, by ``reason``).

    Parameters
    ----------
    app, deployment
        The application and deployment of the router.
    clock
        Returns the time, s.
    """

    def __init__(self, app: str, deployment: str, clock: Callable[[], float]) -> None:
        tags = {"application": app, "deployment": deployment}
        self._clock = clock
        self._due = clock()
        self._shown: set[str] = set()
        self._speed = metrics.Gauge(
            "windlass_replica_speed",
            description="Estimated requests per busy second of a replica; 0 once it is gone.",
            tag_keys=(*tags, "replica"),
        )
        self._arrivals = metrics.Gauge(
            "windlass_arrival_rate",
            description="Estimated requests per second at this router.",
            tag_keys=tuple(tags),
        )
        self._fallbacks = metrics.Counter(
            "windlass_router_fallbacks",
            description="Requests routed by Serve's own choice instead.",
            tag_keys=(*tags, "reason"),
        )
        for metric in (self._speed, self._arrivals, self._fallbacks):
            metric.set_default_tags(tags)

    def count_fallback(self, reason: str) -> None:
        """Count a request routed by Serve, because of ``loading``, ``unknown``, ``multiplexed`` or ``error``.

        With ``outcome``, it was routed here, but a failure would not have been noticed.
        """
        self._fallbacks.inc(tags={"reason": reason})

    def show(self, speeds: Callable[[], dict[str, float]], arrival_rate: Callable[[], float]) -> None:
        """Export the estimates, at most once a second."""
        now = self._clock()
        if now < self._due:
            return
        self._due = now + EVERY_S
        found = speeds()
        for gone in self._shown - found.keys():
            self._speed.set(0.0, tags={"replica": gone})
        for replica, speed in found.items():
            self._speed.set(speed, tags={"replica": replica})
        self._shown = set(found)
        self._arrivals.set(arrival_rate())
