"""Metrics of an agent or an aggregator for Prometheus. Needs the extra ``agent``."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from windlass.agent.signal_board import Board
from windlass.agent.web import Answered

#: Content type of Prometheus's text format.
CONTENT = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Gauge:
    """A value that can go up and down."""

    name: str
    documentation: str
    value: float


@dataclass(frozen=True, slots=True)
class Count:
    """A value that only goes up."""

    name: str
    documentation: str
    value: float


@dataclass(frozen=True, slots=True)
class LabelledMetric:
    """One value for each value of a label; counters with ``counts``, and gauges otherwise."""

    name: str
    documentation: str
    label: str
    values: tuple[tuple[str, float], ...]
    counts: bool = False


#: A metric on the page for Prometheus.
PrometheusMetric = Gauge | Count | LabelledMetric


class _Now(Collector):
    """A collector that reads the current values for each request."""

    def __init__(self, now: Callable[[], Iterable[PrometheusMetric]]) -> None:
        self._now = now

    def collect(self) -> Iterator[Metric]:
        for each in self._now():
            match each:
                case Gauge(name, documentation, value):
                    yield GaugeMetricFamily(f"windlass_{name}", documentation, value=value)
                case Count(name, documentation, value):
                    yield CounterMetricFamily(f"windlass_{name}", documentation, value=value)
                case LabelledMetric(name, documentation, label, values, counts):
                    kind = CounterMetricFamily if counts else GaugeMetricFamily
                    family = kind(f"windlass_{name}", documentation, labels=[label])
                    for key, value in values:
                        family.add_metric([key], value)
                    yield family

    def describe(self) -> Iterable[Metric]:
        return []


class Page:
    """The page for Prometheus.

    Parameters
    ----------
    now
        Returns the current metrics.

    Examples
    --------
    >>> print(Page(lambda: [Gauge("busy", "Share of cores.", 0.5)]).answer().body.decode().splitlines()[-1])
    windlass_busy 0.5
    """

    def __init__(self, now: Callable[[], Iterable[PrometheusMetric]]) -> None:
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(_Now(now))

    def answer(self) -> Answered:
        """Return the current page."""
        return Answered(200, generate_latest(self._registry), content=CONTENT)


def board_metrics(board: Board, names: tuple[str, ...]) -> Iterator[PrometheusMetric]:
    """Yield the metrics of an agent's board.

    Parameters
    ----------
    board
        The agent's board.
    names
        The names of the metrics.
    """
    answer, last = board.answer(), board.last
    yield Gauge("accepting", "1 if the node accepts tasks, 0 if not.", float(answer.accept))
    yield Gauge("weight_percent", "Percentage of its weight reported to HAProxy.", float(answer.percent))
    yield Gauge("step_age_seconds", "Time since the last step ended.", board.age)
    if last is None:
        return
    yield Gauge("score", "Rejection signal, which the policy compares with its threshold.", last.score)
    yield Gauge("busy", "Used share of all cores' time.", last.busy)
    yield Gauge("cpu_ready", "Time in which threads waited for a core, over all cores' time.", last.ready)
    yield Count("steps", "Measured steps.", last.steps)
    yield Count("rejected_steps", "Steps after which tasks were rejected.", last.rejected)
    yield Count("guarded_steps", "Steps after which only the guard rejected tasks.", last.guarded)
    yield LabelledMetric(
        "projection",
        "Projections of the last step on the leading directions.",
        "axis",
        _numbered(last.projections),
    )
    yield LabelledMetric(
        "singular_value", "Singular values of the leading directions.", "axis", _numbered(last.singular)
    )
    pairs = zip(names, map(float, last.metrics), strict=True)
    yield LabelledMetric(
        "metric",
        "Telemetry of the machine, by name.",
        "name",
        tuple(pair for pair in pairs if not math.isnan(pair[1])),
    )


def node_metrics(policy: str) -> Iterator[PrometheusMetric]:
    """Yield what stays the same while an agent runs.

    Parameters
    ----------
    policy
        Name of its policy.

    Examples
    --------
    >>> [each.name for each in node_metrics("rising")]
    ['cores', 'policy']
    """
    yield Gauge("cores", "Cores of the machine.", float(os.cpu_count() or 1))
    yield LabelledMetric("policy", "1 for the admission policy.", "name", ((policy, 1.0),))


def _numbered(values: Iterable[float]) -> tuple[tuple[str, float], ...]:
    return tuple((str(at), float(value)) for at, value in enumerate(values))
