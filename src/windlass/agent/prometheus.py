"""What an agent or an aggregator shows to Prometheus. Needs the extra ``agent``."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from windlass.agent.signal_board import Board
from windlass.agent.web import Answered

#: Of the text that Prometheus reads.
CONTENT = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Gauge:
    """One number that is as it is now."""

    name: str
    says: str
    value: float


@dataclass(frozen=True, slots=True)
class Count:
    """One number that only grows."""

    name: str
    says: str
    value: float


@dataclass(frozen=True, slots=True)
class Many:
    """Numbers that differ by a label; ``counts`` where they only grow."""

    name: str
    says: str
    label: str
    values: tuple[tuple[str, float], ...]
    counts: bool = False


Shown = Gauge | Count | Many


class _Now(Collector):
    """Asked anew with each request."""

    def __init__(self, now: Callable[[], Iterable[Shown]]) -> None:
        self._now = now

    def collect(self) -> Iterator[Metric]:
        for each in self._now():
            match each:
                case Gauge(name, says, value):
                    yield GaugeMetricFamily(f"windlass_{name}", says, value=value)
                case Count(name, says, value):
                    yield CounterMetricFamily(f"windlass_{name}", says, value=value)
                case Many(name, says, label, values, counts):
                    kind = CounterMetricFamily if counts else GaugeMetricFamily
                    family = kind(f"windlass_{name}", says, labels=[label])
                    for key, value in values:
                        family.add_metric([key], value)
                    yield family

    def describe(self) -> Iterable[Metric]:
        return []


class Page:
    """The page that Prometheus reads.

    Parameters
    ----------
    now
        What there is to show.

    Examples
    --------
    >>> print(Page(lambda: [Gauge("busy", "Share of cores.", 0.5)]).answer().body.decode().splitlines()[-1])
    windlass_busy 0.5
    """

    def __init__(self, now: Callable[[], Iterable[Shown]]) -> None:
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(_Now(now))

    def answer(self) -> Answered:
        """The page now."""
        return Answered(200, generate_latest(self._registry), content=CONTENT)


def shown_of(board: Board, names: tuple[str, ...]) -> Iterator[Shown]:
    """What an agent's board shows.

    Parameters
    ----------
    board
        The agent's.
    names
        Of the metrics.
    """
    answer, last = board.answer(), board.last
    yield Gauge("accepting", "1 where the node takes tasks, 0 where it does not.", float(answer.accept))
    yield Gauge("weight_percent", "Share of its usual weight that HAProxy is told.", float(answer.percent))
    yield Gauge("step_age_seconds", "Since the last step ended.", board.age)
    if last is None:
        return
    yield Gauge("score", "The rejection signal: what the policy holds against its threshold.", last.score)
    yield Gauge("busy", "Share of all cores' time that was used.", last.busy)
    yield Gauge("cpu_ready", "Time in which tasks waited for a core, over all cores' time.", last.ready)
    yield Count("steps", "Steps that were measured.", last.steps)
    yield Count("rejected_steps", "Steps after which tasks were rejected.", last.rejected)
    yield Count("guarded_steps", "Those of them where the guard alone did.", last.guarded)
    yield Many(
        "projection", "Of the last step on the leading directions.", "axis", _numbered(last.projections)
    )
    yield Many("singular_value", "Of the leading directions.", "axis", _numbered(last.singular))
    pairs = zip(names, map(float, last.metrics), strict=True)
    yield Many(
        "metric",
        "What was measured, by name.",
        "name",
        tuple(pair for pair in pairs if not math.isnan(pair[1])),
    )


def _numbered(values: Iterable[float]) -> tuple[tuple[str, float], ...]:
    return tuple((str(at), float(value)) for at, value in enumerate(values))
