"""Metrics and tables of a run of the world ``cluster``, computed again in plain Python from what was recorded."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from tests.oracles.cluster_world import WorldLog

#: Relative tolerance of means.
CLOSE = 1e-9


def violations(log: WorldLog) -> list[str]:
    """Return the metrics, columns and samples that differ from the log, one sentence each."""
    metrics = log.outcome.metrics
    found = []
    for name, expected in expected_metrics(log).items():
        value = float(getattr(metrics, name))
        if not _same(value, expected):
            found.append(f"{name} is {value!r}, expected {expected!r}")
    return [*found, *_tables(log), *_samples(log)]


def _same(value: float, expected: float) -> bool:
    if math.isnan(expected) or math.isnan(value):
        return math.isnan(expected) and math.isnan(value)
    return abs(value - expected) <= CLOSE * (1.0 + abs(expected))


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


def expected_metrics(log: WorldLog) -> dict[str, float]:
    """Return the expected metrics by name."""
    done = log.done
    waits, responses, staged = list[float](), list[float](), list[float]()
    for each in done.rigid:
        waits += (each.result.start - each.result.jobs.submit).tolist()
    for each in done.tasks:
        responses += [value for value in each.result.response.tolist() if not math.isnan(value)]
    for each in done.staged:
        staged += (each.result.end - each.result.jobs.submit).tolist()
    vectors = [
        value for each in done.scaled for value in (each.result.start - each.result.jobs.submit).tolist()
    ]
    stream = math.fsum(
        value
        for each in done.queries
        for value in (each.result.stays.leave - each.result.stays.arrive).tolist()
    )
    accurate = math.fsum(value for each in done.queries for value in each.result.accurate.tolist())
    found = {
        "mean_job_wait_s": _mean(waits),
        "mean_task_response_s": _mean(responses),
        "mean_staged_response_s": _mean(staged),
        "mean_vector_wait_s": _mean(vectors),
        "query_accuracy": accurate / stream if stream else math.nan,
        "query_core_hours": _core_hours(log),
        "used_share": _used_share(log),
        "admit_downtime": _downtime(log),
        "jobs": len(waits),
        "tasks": sum(len(each.drawn.work) for each in log.arrivals.tasks),
        "staged_jobs": len(staged),
        "vector_jobs": len(vectors),
        "queries": sum(len(each.result.stays) for each in done.queries),
    }
    if done.rigid:
        found["lost_attempts"] = sum(len(each.result.lost) for each in done.rigid)
    if done.shared:
        found["guests"] = sum(len(set(each.result.guest.tolist())) for each in done.shared)
    if done.staged:
        found["sent_gb"] = sum(math.fsum(each.result.flows[:, 2].tolist()) for each in done.staged) / 1e9
    if done.observed:
        found["refused_tasks"] = sum(
            math.isnan(end) for each in done.tasks for end in each.result.response.tolist()
        )
        found["spilled_tasks"] = sum(site >= 0 for each in done.tasks for site in each.result.site.tolist())
    return found


def _core_hours(log: WorldLog) -> float:
    if not log.done.queries:
        return math.nan
    found = 0.0
    for each in log.done.queries:
        times = each.result.course.time.tolist()
        for at, cores in enumerate(each.result.course.held.tolist()):
            found += (times[at + 1] - times[at]) * math.fsum(cores)
    return found / 3600.0


def _used_share(log: WorldLog) -> float:
    samples = log.done.samples[0].result
    held, capacity = (sum(map(sum, table.tolist())) for table in (samples.held, samples.capacity))
    return held / max(capacity, 1)


def _downtime(log: WorldLog) -> float:
    steps = rejected = 0
    for each in log.done.observed:
        for channels, rejects in zip(
            each.result.channels.tolist(), each.result.rejects.tolist(), strict=True
        ):
            steps += sum(not math.isnan(of_node[0]) for of_node in channels)
            rejected += sum(rejects)
    return rejected / steps if steps else math.nan


def _samples(log: WorldLog) -> Iterator[str]:
    """Samples are taken each ``sample`` seconds, and are states of the ledger then."""
    samples = log.done.samples[0].result
    count = math.ceil(log.setting.seconds / log.setting.sample)
    if samples.time.tolist() != [at * log.setting.sample for at in range(count)]:
        yield f"samples are at {samples.time.tolist()[:3]} s, expected each {log.setting.sample:g} s"
        return
    states = list(log.snapshots)
    first = 0
    for now, held, capacity in zip(
        samples.time.tolist(), samples.held.tolist(), samples.capacity.tolist(), strict=True
    ):
        while first + 1 < len(states) and states[first + 1].time < now:
            first += 1
        last = first
        while last + 1 < len(states) and states[last + 1].time == now:
            last += 1
        if (held, capacity) not in [_sampled(log, state) for state in states[first : last + 1]]:
            yield f"at {now:g} s, the sample is {held} of {capacity} cores"


def _sampled(log: WorldLog, state: Any) -> tuple[list[int], list[int]]:
    rows = log.rows[: len(log.sites)]
    held = [sum(sum(state.held[row]) for row in each) for each in rows]
    return held, [sum(state.capacity[row] for row in each) for each in rows]


def _tables(log: WorldLog) -> Iterator[str]:
    """The table has a row for each job and query, with its times, and for each of the sampled tasks."""
    table, done = log.outcome.jobs, log.done
    all_tasks = sum(len(each.result.submit) for each in done.tasks)
    every = max(1, -(-all_tasks // log.setting.keep_tasks))
    expected: dict[tuple[str, str, str], list[tuple[float, float]]] = {}
    for kind, results in (("job", done.rigid), ("staged job", done.staged), ("vector job", done.scaled)):
        for each in results:
            columns = each.result.jobs.submit.tolist(), each.result.end.tolist()
            expected[kind, each.load, each.site] = list(zip(*columns, strict=True))
    for each in done.queries:
        columns = each.result.stays.arrive.tolist(), each.result.stays.leave.tolist()
        expected["query", each.load, each.site] = list(zip(*columns, strict=True))
    for each in done.tasks:
        submit, response = each.result.submit.tolist(), each.result.response.tolist()
        ends = [at + taken for at, taken in zip(submit, response, strict=True)]
        expected["task", each.load, each.site] = list(zip(submit, ends, strict=True))[::every]
    expected = {key: times for key, times in expected.items() if times}
    seen: dict[tuple[str, str, str], list[tuple[float, float]]] = {}
    names = ("kind", "load", "site", "submit_s", "end_s")
    for kind, load, site, submit, end in table.select(names).rows():
        seen.setdefault((kind, load, site), []).append((submit, math.nan if end is None else end))
    for key in {*seen, *expected}:
        rows, wanted = seen.get(key, []), expected.get(key, [])
        if len(rows) != len(wanted) or any(
            not (_same(a, c) and _same(b, d)) for (a, b), (c, d) in zip(rows, wanted, strict=True)
        ):
            yield f"the table's rows of {' '.join(filter(None, key))} differ from the log"
