"""Metrics of a driver for Prometheus. Needs the extra ``agent``."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Any

from windlass.engines.slurm.status import DriverStatus
from windlass.model import InputError

#: Name, documentation, and whether it only goes up, of each value of :func:`metric_values`.
_METRICS = (
    ("decisions", "Decisions of the order policy.", True),
    ("started_jobs", "Jobs that decisions released.", True),
    ("refusals", "Releases that Slurm refused.", True),
    ("queue_jobs", "Jobs of Windlass that wait and can start.", False),
    ("running_jobs", "Jobs of Windlass that run.", False),
    ("stuck_jobs", "Jobs of Windlass that cannot start unless something is changed.", False),
    ("processors", "Processors of nodes that are up.", False),
    ("capacity_falls", "How often the processors of nodes that are up became fewer.", True),
    ("polls", "Polls of Slurm.", True),
    ("poll_seconds", "Time that polls of Slurm took, s.", True),
    ("last_poll_seconds", "Time that the last poll of Slurm took, s.", False),
    ("poll_age_seconds", "Time since the last poll of Slurm, s.", False),
    ("lag_seconds", "Time from the poll before the last decision until its jobs were released, s.", False),
    ("unreachable", "1 if Slurm does not answer, 0 if it does.", False),
    ("outages", "How often Slurm stopped to answer.", True),
    ("unreachable_seconds", "Time for which Slurm did not answer, in outages that ended, s.", True),
)


def metric_values(status: DriverStatus, now: float) -> tuple[float, ...]:
    """Return the values of all metrics at the Unix time ``now`` (s), in the order of their list."""
    contact = status.contact
    return (
        status.decisions,
        status.started,
        status.refusals,
        status.waiting,
        status.running,
        status.stuck,
        status.processors,
        status.capacity_falls,
        status.polls,
        status.poll_seconds,
        status.last_poll_seconds,
        math.nan if math.isnan(status.polled) else max(0.0, now - status.polled),
        status.lag,
        float(contact.away),
        contact.outages,
        contact.lost,
    )


class MetricsServer:
    """An HTTP server with the metrics of a driver, until it is closed. It runs in a thread of its own.

    Parameters
    ----------
    status
        The driver's state.
    host, port
        The IP address and port to listen on; port 0 for any free port.
    clock
        Returns the Unix time, s.

    Raises
    ------
    InputError
        The extra ``agent`` is not installed, or the address cannot be listened on.
    """

    def __init__(
        self, status: DriverStatus, host: str, port: int, clock: Callable[[], float] = time.time
    ) -> None:
        try:
            from prometheus_client import CollectorRegistry, start_http_server
            from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
            from prometheus_client.registry import Collector
        except ImportError as error:
            raise InputError("--metrics: needs prometheus-client: pip install 'windlass[agent]'") from error

        class Now(Collector):
            """Reads the present values for each request."""

            def collect(self) -> Iterator[Metric]:
                values = metric_values(status, clock())
                for (name, documentation, counts), value in zip(_METRICS, values, strict=True):
                    kind: Any = CounterMetricFamily if counts else GaugeMetricFamily
                    yield kind(f"windlass_slurm_{name}", documentation, value=value)

            def describe(self) -> Iterable[Metric]:
                return []

        registry = CollectorRegistry(auto_describe=False)
        registry.register(Now())
        try:
            self._server, self._thread = start_http_server(port, host, registry)
        except OSError as error:
            raise InputError(f"--metrics: cannot listen at {host}, port {port}: {error.strerror}") from error
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
