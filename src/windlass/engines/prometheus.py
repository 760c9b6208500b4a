"""Metrics of a driver for Prometheus, and its health for probes, over HTTP. Needs the extra ``agent``."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

from windlass.engines.loop_health import LoopHealth
from windlass.model.errors import ParameterError

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment


@dataclass(frozen=True, slots=True)
class DriverMetric:
    """A metric: its name without prefix and suffix, its documentation, and whether it only goes up."""

    name: str
    documentation: str
    counts: bool = False


@dataclass(frozen=True, slots=True)
class MetricSource:
    """The metrics of one driver.

    Parameters
    ----------
    prefix
        The beginning of each name.
    metrics
        The metrics.
    values
        Returns the present value of each, at a Unix time, s.
    health
        Whether the driver's loop makes progress.
    """

    prefix: str
    metrics: tuple[DriverMetric, ...]
    values: Callable[[float], Sequence[float]]
    health: LoopHealth


class MetricsServer:
    """An HTTP server with metrics, until it is closed. It runs in a thread of its own.

    ``/healthz`` has 200 while the driver's loop makes progress, else 503 and the reason; other paths have the metrics.

    Parameters
    ----------
    source
        The metrics.
    host, port
        The IP address and port to listen on; port 0 for any free port.
    clock
        Returns the Unix time, s.

    Raises
    ------
    ParameterError
        The extra ``agent`` is not installed, or the address cannot be listened on.
    """

    def __init__(
        self, source: MetricSource, host: str, port: int, clock: Callable[[], float] = time.time
    ) -> None:
        try:
            from prometheus_client import CollectorRegistry, make_wsgi_app, start_http_server
            from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
            from prometheus_client.registry import Collector
        except ImportError as error:
            raise ParameterError(
                "metrics", "needs prometheus-client: pip install 'windlass[agent]'"
            ) from error

        class Now(Collector):
            """Reads the present values for each request."""

            def collect(self) -> Iterator[Metric]:
                for metric, value in zip(source.metrics, source.values(clock()), strict=True):
                    kind: Any = CounterMetricFamily if metric.counts else GaugeMetricFamily
                    yield kind(f"{source.prefix}{metric.name}", metric.documentation, value=value)

            def describe(self) -> Iterable[Metric]:
                return []

        registry = CollectorRegistry(auto_describe=False)
        registry.register(Now())
        try:
            self._server, self._thread = start_http_server(port, host, registry)
        except OSError as error:
            raise ParameterError(
                "metrics", f"cannot listen at {host}, port {port}: {error.strerror}"
            ) from error
        self._server.set_app(_with_health(make_wsgi_app(registry), source.health))
        self.port = int(self._server.server_port)

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> MetricsServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _with_health(app: WSGIApplication, health: LoopHealth) -> WSGIApplication:
    """Return an application that answers ``/healthz``, and passes other requests to ``app``."""

    def answer(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        if environ["PATH_INFO"] != "/healthz":
            return app(environ, start)
        problem = health.problem()
        status = "503 Service Unavailable" if problem else "200 OK"
        start(status, [("Content-Type", "text/plain; charset=utf-8")])
        return [f"{problem or 'ok'}\n".encode()]

    return answer
