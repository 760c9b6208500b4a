"""The numbers of a journal in the text format of Prometheus. Needs the extra ``agent``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from windlass.agent.prometheus import CONTENT
from windlass.control.journal import JournalReader
from windlass.control.journal.reader import SeenStatus
from windlass.control.summary import EngineSummary, summaries

__all__ = ["CONTENT", "JournalMetric", "journal_metrics", "metrics_text"]


@dataclass(frozen=True, slots=True)
class JournalMetric:
    """A metric with its values.

    Parameters
    ----------
    name
        Its name, without the prefix ``windlass_`` and, for a counter, without ``_total``.
    documentation
        One line on what it counts.
    labels
        Names of its labels.
    values
        Values of the labels, and the value.
    counts
        Whether it only grows.
    """

    name: str
    documentation: str
    labels: tuple[str, ...]
    values: tuple[tuple[tuple[str, ...], float], ...]
    counts: bool = False


def journal_metrics(reader: JournalReader, wall: float) -> Iterator[JournalMetric]:
    """Yield the metrics of a journal.

    Parameters
    ----------
    reader
        The journal.
    wall
        Time of the wall clock, s since 1970.

    Raises
    ------
    InputError
        The journal cannot be read.
    """
    found = summaries(reader)
    yield from _engines([each.seen for each in found], wall)
    yield from _jobs(found)
    totals = reader.totals
    yield JournalMetric(
        "journal_rows_written",
        "Rows written to the journal so far.",
        ("table",),
        tuple(((table,), float(count)) for table, count in totals.written()),
        counts=True,
    )
    yield JournalMetric(
        "decisions",
        "Decisions in the journal; old ones are deleted.",
        ("engine", "site", "decision"),
        tuple(((each.engine, each.site, each.topic), float(each.count)) for each in totals.decisions()),
    )
    yield JournalMetric(
        "errors",
        "Errors in the journal that engines reported; old ones are deleted.",
        ("engine", "site"),
        tuple(((each.engine, each.site), float(each.count)) for each in totals.errors()),
    )
    open_acts = [act.job.engine for act in reader.open_acts()]
    yield JournalMetric(
        "open_acts",
        "Acts without an outcome.",
        ("engine",),
        tuple(((each.name,), float(open_acts.count(each.name))) for each in found),
    )
    yield from _predictions(reader, found)


def metrics_text(reader: JournalReader, wall: float) -> bytes:
    """Return the metrics of a journal as Prometheus reads them; parameters as of :func:`journal_metrics`."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Listed(journal_metrics(reader, wall)))
    return generate_latest(registry)


class _Listed(Collector):
    """Metrics that were collected before."""

    def __init__(self, metrics: Iterable[JournalMetric]) -> None:
        self._metrics = tuple(metrics)

    def collect(self) -> Iterator[Metric]:
        for each in self._metrics:
            kind = CounterMetricFamily if each.counts else GaugeMetricFamily
            family = kind(f"windlass_{each.name}", each.documentation, labels=each.labels)
            for labels, value in each.values:
                family.add_metric(labels, value)
            yield family

    def describe(self) -> Iterable[Metric]:
        return []


def _engines(seen: list[SeenStatus], wall: float) -> Iterator[JournalMetric]:
    states = tuple(((each.status.engine, each.status.state), 1.0) for each in seen)
    yield JournalMetric("engine_state", "The state of the engine, always 1.", ("engine", "state"), states)
    lags = tuple(((each.status.engine,), max(0.0, wall - each.recorded)) for each in seen)
    yield JournalMetric("engine_lag_seconds", "Time since the engine last wrote.", ("engine",), lags)
    clocks = tuple(((each.status.engine,), each.status.time) for each in seen)
    yield JournalMetric("engine_clock_seconds", "Time of the engine's clock.", ("engine",), clocks)


def _jobs(found: Iterable[EngineSummary]) -> Iterator[JournalMetric]:
    sites = [(each.name, site, status) for each in found for site, status in each.statuses]
    jobs = (
        (
            ((engine, site, "running"), float(status.running_count)),
            ((engine, site, "waiting"), float(status.waiting_count)),
        )
        for engine, site, status in sites
        # An agent does not know the tasks of its machine.
        if status.accepting is None
    )
    yield JournalMetric(
        "jobs",
        "Jobs that run and that wait.",
        ("engine", "site", "state"),
        tuple(pair for pairs in jobs for pair in pairs),
    )
    cores = (
        (
            ((engine, site, "held"), float(status.cores - status.idle)),
            ((engine, site, "idle"), float(status.idle)),
        )
        for engine, site, status in sites
        if status.cores
    )
    yield JournalMetric(
        "cores",
        "Cores that loads hold, and idle ones.",
        ("engine", "site", "state"),
        tuple(pair for pairs in cores for pair in pairs),
    )


def _predictions(reader: JournalReader, found: Iterable[EngineSummary]) -> Iterator[JournalMetric]:
    scores = [
        ((each.name, site), reader.predictions.score(each.name, site))
        for each in found
        for site in each.sites
    ]
    known = [(labels, score) for labels, score in scores if score.scored]
    for name, documentation, values in (
        (
            "predictions_scored",
            "Predictions of starts that were scored, the latest 1,000 at most.",
            [float(score.scored) for _, score in known],
        ),
        (
            "prediction_coverage_ratio",
            "Share of their intervals that contained the start.",
            [score.contained / score.scored for _, score in known],
        ),
        (
            "prediction_width_seconds",
            "Median width of their intervals.",
            [score.median_width for _, score in known],
        ),
        (
            "prediction_error_seconds",
            "Mean absolute error of the predicted starts.",
            [score.mean_error for _, score in known],
        ),
    ):
        pairs = zip((labels for labels, _ in known), values, strict=True)
        yield JournalMetric(name, documentation, ("engine", "site"), tuple(pairs))
