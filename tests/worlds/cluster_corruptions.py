"""Corruptions of the log of a run of the world ``cluster``, each with the sentence by which it should be rejected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from tests.oracles.cluster_world import WorldLog

#: Large enough for a tolerance of a billionth of any total, and small compared with what is measured.
_LITTLE = 1e-3


class WorldControl(NamedTuple):
    """A corruption, and part of a violation that it must cause."""

    message: str
    corrupt: Callable[[WorldLog], WorldLog]


def _edited(values: Any, at: Any, change: Callable[[Any], Any]) -> Any:
    copy = np.array(values)
    copy[at] = change(copy[at])
    return copy


def _result(log: WorldLog, kind: str, change: Callable[[Any], Any]) -> WorldLog:
    """Return a log in which the first result of a kind that ``change`` accepts is changed."""
    results = list(getattr(log.done, kind))
    results[0] = replace(results[0], result=change(results[0].result))
    done = replace(log.done, **{kind: results})
    return replace(log, done=done)


def _column(
    kind: str, name: str, change: Callable[[Any], Any], at: Any = 0
) -> Callable[[WorldLog], WorldLog]:
    return lambda log: _result(
        log, kind, lambda done: replace(done, **{name: _edited(getattr(done, name), at, change)})
    )


def _within(
    kind: str, table: str, name: str, change: Callable[[Any], Any], at: Any = 0
) -> Callable[[WorldLog], WorldLog]:
    """Return a corruption of a column of a table within a result."""

    def corrupted(done: Any) -> Any:
        inner = getattr(done, table)
        return replace(done, **{table: replace(inner, **{name: _edited(getattr(inner, name), at, change)})})

    return lambda log: _result(log, kind, corrupted)


def metric(name: str) -> Callable[[WorldLog], WorldLog]:
    """Return a corruption of a metric by a millionth."""

    def corrupt(log: WorldLog) -> WorldLog:
        metrics: Any = log.outcome.metrics
        value = getattr(metrics, name)
        other = 7.0 if np.isnan(value) else value * (1.0 + 1e-6) + 1e-6
        return replace(log, outcome=replace(log.outcome, metrics=replace(metrics, **{name: other})))

    return corrupt


def _table(change: Callable[[pl.DataFrame], pl.DataFrame]) -> Callable[[WorldLog], WorldLog]:
    return lambda log: replace(log, outcome=replace(log.outcome, jobs=change(log.outcome.jobs)))


def _more_held(kind: str) -> Callable[[WorldLog], WorldLog]:
    """Let a part of jobs hold one more core until the next change, the first time that it holds any."""

    def corrupt(log: WorldLog) -> WorldLog:
        part = log.numbers[kind][0]
        assert part is not None
        times = [each.time for each in log.snapshots]
        at = next(
            at
            for at, each in enumerate(log.snapshots)
            if any(parts[part] for parts in each.held) and at + 1 < len(times) and times[at + 1] > each.time
        )
        each = log.snapshots[at]
        held = [list(parts) for parts in each.held]
        held[0][part] += 1
        changed = each._replace(held=tuple(map(tuple, held)), idle=(each.idle[0] - 1, *each.idle[1:]))
        return replace(log, snapshots=(*log.snapshots[:at], changed, *log.snapshots[at + 1 :]))

    return corrupt


def _site(name: str, **changes: Any) -> Callable[[WorldLog], WorldLog]:
    def corrupt(log: WorldLog) -> WorldLog:
        sites = {**log.setting.sites, name: log.setting.sites[name].model_copy(update=changes)}
        return replace(log, setting=log.setting.model_copy(update={"sites": sites}))

    return corrupt


def _without_rows(log: WorldLog) -> WorldLog:
    """Instances of the first site are up for longer in the ledger than their launches report."""
    name = log.sites[0]
    first = log.rows[0].start + log.setting.sites[name].count
    changed = [
        each._replace(capacity=(*each.capacity[:first], 0, *each.capacity[first + 1 :]))
        for each in log.snapshots
    ]
    return replace(log, snapshots=tuple(changed))


def _late_gone(log: WorldLog) -> WorldLog:
    def change(done: Any) -> Any:
        at = int(np.flatnonzero(~np.isnan(done.launches.gone) & ~np.isnan(done.launches.ready))[0])
        gone = _edited(done.launches.gone, at, lambda time: time + _LITTLE)
        return replace(done, launches=replace(done.launches, gone=gone))

    return _result(log, "scaled", change)


def _scaled_rows(name: str, by: float) -> Callable[[WorldLog], WorldLog]:
    return lambda log: _result(
        log, "staged", lambda run: replace(run, **{name: getattr(run, name) * np.array(by)})
    )


def _more_bytes(log: WorldLog) -> WorldLog:
    return _result(
        log, "staged", lambda run: replace(run, flows=_edited(run.flows, (0, 2), lambda n: n + 1e3))
    )


def _faster_links(log: WorldLog) -> WorldLog:
    def change(run: Any) -> Any:
        at = int(np.argmax(run.rates[:, 3]))
        return replace(run, rates=_edited(run.rates, (at, 3), lambda rate: 10 * run.fleet.up.max()))

    return _result(log, "staged", change)


def _answers(change: Callable[[tuple[Any, ...]], tuple[Any, ...]]) -> Callable[[WorldLog], WorldLog]:
    return lambda log: _result(log, "queries", lambda done: replace(done, answers=change(done.answers)))


def _other_query(answers: tuple[Any, ...]) -> tuple[Any, ...]:
    at = next(at for at, each in enumerate(answers) if len(each.query))
    return (*answers[:at], replace(answers[at], query=answers[at].query + 1), *answers[at + 1 :])


def _other_start(answers: tuple[Any, ...]) -> tuple[Any, ...]:
    at = next(at for at, each in enumerate(answers) if len(each.query))
    return (*answers[:at], replace(answers[at], before=answers[at].before + 1), *answers[at + 1 :])


def _one_more_refused(log: WorldLog) -> WorldLog:
    return _result(log, "tasks", lambda done: replace(done, refusals=done.refusals + 1))


def _other_answers(log: WorldLog) -> WorldLog:
    """Nodes that accepted have rejected, and the other way round, wherever some node accepted."""

    def change(done: Any) -> Any:
        some = done.rejects.any(axis=1) & ~done.rejects.all(axis=1)
        return replace(done, rejects=np.where(some[:, None], ~done.rejects, done.rejects))

    return _result(log, "observed", change)


def _on_other_row(log: WorldLog) -> WorldLog:
    return _result(log, "staged", lambda run: replace(run, row=_edited(run.row, 0, lambda row: row ^ 1)))


def _busy(log: WorldLog) -> tuple[int, int]:
    """Return an interval of the timeline of queries in which a cluster sends, and the cluster."""
    sent = log.done.queries[0].result.course.sent
    at, cluster = np.argwhere(sent > 0.0)[0]
    return int(at), int(cluster)


def _more_sent(log: WorldLog) -> WorldLog:
    return _within("queries", "course", "sent", lambda rate: rate * 1.01, _busy(log))(log)


def _drop_last(table: pl.DataFrame) -> pl.DataFrame:
    return table.slice(0, table.height - 1)


def _later_end(table: pl.DataFrame) -> pl.DataFrame:
    first = pl.int_range(pl.len()) == 0
    return table.with_columns(
        pl.when(first).then(pl.col("end_s") + _LITTLE).otherwise(pl.col("end_s")).alias("end_s")
    )


#: Corruptions of the log of the variant with all decisions, without sharing.
CONTROLS = {
    "job that never ends": WorldControl(
        "23 of 24 jobs have ended", _column("rigid", "end", lambda _: np.nan)
    ),
    "refused task that ran": WorldControl("1 were refused", _one_more_refused),
    "task of a staged job on another row": WorldControl("cores of row", _on_other_row),
    "task of a staged job before its job": WorldControl(
        "began before its job was submitted", _column("staged", "begun", lambda _: -1.0)
    ),
    "answers of nodes": WorldControl(", which rejects", _other_answers),
    "more cores held by jobs": WorldControl("jobs of iowa: cores are held", _more_held("rigid")),
    "more cores held by staged jobs": WorldControl("etl: cores are held", _more_held("staged")),
    "more cores held by vector jobs": WorldControl(
        "vector jobs of iowa: cores are held", _more_held("scaled")
    ),
    "more work of jobs": WorldControl(
        "jobs of iowa: ", _column("rigid", "end", lambda end: end + _LITTLE, 3)
    ),
    "more work of tasks": WorldControl(
        "tasks of iowa: ", _column("tasks", "response", lambda time: time + _LITTLE, 3)
    ),
    "less work of tasks": WorldControl(
        "of the work was done", _column("tasks", "start", lambda time: time + _LITTLE, 3)
    ),
    "more work of vector jobs": WorldControl(
        "vector jobs of iowa: ", _column("scaled", "end", lambda end: end + _LITTLE)
    ),
    "more work of staged jobs": WorldControl(
        "etl: tasks computed for", _column("staged", "computed", lambda end: end + _LITTLE)
    ),
    "more bytes of a read": WorldControl("bytes to", _more_bytes),
    "more bytes of jobs": WorldControl("etl: jobs sent", _scaled_rows("sent", 1.000001)),
    "rate above a link": WorldControl("is over its capacity", _faster_links),
    "more bytes of queries": WorldControl("bytes to its parent", _more_sent),
    "better stream": WorldControl(
        "are accurate", _column("queries", "accurate", lambda time: time + _LITTLE)
    ),
    "stream served": WorldControl("are served", _column("queries", "served", lambda time: time + _LITTLE)),
    "stream lost": WorldControl("are lost", _column("queries", "lost", lambda time: time + _LITTLE)),
    "silent stream": WorldControl("are silent", _column("queries", "silent", lambda time: time + _LITTLE)),
    "planner without an answer": WorldControl(
        "the planner has not answered", _answers(lambda each: each[1:])
    ),
    "answer for another query": WorldControl("the answer is for queries", _answers(_other_query)),
    "answer from another state": WorldControl("has configuration", _answers(_other_start)),
    "cost": WorldControl("the cost is", metric("cost_usd")),
    "price": WorldControl(
        "by launches and ends", _within("scaled", "launches", "launched", lambda at: at - 1.0)
    ),
    "instance that ends later": WorldControl("instances of iowa have cores", _late_gone),
    "instance without cores": WorldControl("instances of iowa have cores", _without_rows),
    "row of the table missing": WorldControl("the table's rows of task", _table(_drop_last)),
    "end in the table": WorldControl("the table's rows of job", _table(_later_end)),
    "sample": WorldControl("the sample is", _column("samples", "capacity", lambda row: row + 1, 3)),
    "time of samples": WorldControl("samples are at", _column("samples", "time", lambda at: at + 1.0, 3)),
}
#: Corruptions of the log of the variant with sharing.
OF_SHARING = {
    "memory of a host": WorldControl("bytes are not there", _site("iowa", memory_per_core=1.0)),
    "cores of pairs": WorldControl("jobs of iowa: cores are held", _more_held("rigid")),
}
