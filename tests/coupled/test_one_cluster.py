"""All kinds of parts on common nodes: an independent validator accepts each log, and rejects corrupted ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from tests.coupled.clusters import Shape, run
from tests.coupled.controls import FORCED, FULL, GATED, PROMISED
from tests.coupled.corruptions import OF_ALL_KINDS, OF_FORCED, OF_GATED, OF_PROMISES, Control
from tests.coupled.drawn_clusters import shapes
from tests.oracles.cluster import ClusterLog
from tests.oracles.cluster_loads import violations
from tests.oracles.workloads import CHECK


@settings(CHECK, max_examples=150)
@given(shape=shapes())
def test_a_cluster_of_any_parts_is_valid(shape: Shape) -> None:
    assert violations(run(shape)) == []


@settings(CHECK, max_examples=100)
@given(shape=shapes(promised=True))
def test_promises_to_jobs_hold_next_to_parts_with_limits(shape: Shape) -> None:
    log = run(shape)
    assert all(batch.bound is not None for batch in log.batch)
    assert violations(log) == []


@settings(CHECK, max_examples=60)
@given(shape=shapes())
def test_a_cluster_runs_as_if_all_parts_were_called_at_each_instant(shape: Shape) -> None:
    one, other = (_columns(run(replace(shape, all_called=called))) for called in (False, True))
    for (name, values), (_, expected) in zip(one.items(), other.items(), strict=True):
        # Streams are summed over more intervals if more parts are called.
        assert values == pytest.approx(expected, abs=1e-9, nan_ok=True), name


def _columns(log: ClusterLog) -> dict[str, list[float]]:
    """Return what happened to all jobs, tasks, instances and queries."""
    tables: dict[str, Any] = {f"batch {each.part}": each.replay for each in log.batch}
    names = {f"batch {each.part}": ("start", "end", "lost", "lost_start", "lost_end") for each in log.batch}
    if log.tasks is not None:
        tables["tasks"], names["tasks"] = log.tasks.done, ("start", "end", "worker")
    if log.instances is not None:
        done = log.instances.done
        tables["vectors"], names["vectors"] = done, ("start", "end")
        tables["launches"], names["launches"] = done.launches, ("kind", "launched", "ready", "gone", "why")
    if log.streams is not None:
        tables["streams"], names["streams"] = log.streams.done, ("accurate", "served", "lost", "silent")
    found = {
        f"{of} {name}": getattr(table, name).tolist() for of, table in tables.items() for name in names[of]
    }
    if log.instances is not None and log.tasks is None:
        # The end of short tasks is noticed when instances are polled, or at an instant of another part.
        found["paid"] = log.instances.done.paid().tolist()
    return found


@pytest.fixture(scope="module")
def logs() -> list[ClusterLog]:
    return [run(FULL), run(PROMISED), run(GATED), run(FORCED)]


def test_the_controls_have_all_that_is_checked(logs: list[ClusterLog]) -> None:
    full, promised, gated, _ = logs
    assert [violations(log) for log in logs] == [[], [], [], []]
    jobs, sharing = full.batch
    assert len(jobs.replay.lost) > 0
    assert len(sharing.shared.host) > 0
    assert any(each.over(0) for each in full.snapshots)
    assert full.tasks is not None
    assert full.tasks.done.moved > 0
    assert full.instances is not None
    assert len(full.instances.done.launches.kind) > 0
    assert gated.staged is not None
    assert len(gated.staged.run.flows) > 0
    assert gated.tasks is not None
    assert gated.tasks.done.refusals > 0
    assert [batch.bound for batch in (jobs, sharing, *promised.batch)] == [None, None, 4]


@pytest.mark.parametrize("name", OF_ALL_KINDS)
def test_a_corrupted_log_is_rejected(name: str, logs: list[ClusterLog]) -> None:
    _rejects(OF_ALL_KINDS[name], logs[0])


@pytest.mark.parametrize("name", OF_PROMISES)
def test_a_log_of_a_broken_promise_is_rejected(name: str, logs: list[ClusterLog]) -> None:
    _rejects(OF_PROMISES[name], logs[1])


@pytest.mark.parametrize("name", OF_GATED)
def test_a_corrupted_log_of_staged_jobs_or_answers_is_rejected(name: str, logs: list[ClusterLog]) -> None:
    _rejects(OF_GATED[name], logs[2])


@pytest.mark.parametrize("name", OF_FORCED)
def test_a_log_of_a_task_that_its_node_rejects_is_rejected(name: str, logs: list[ClusterLog]) -> None:
    _rejects(OF_FORCED[name], logs[3])


def _rejects(control: Control, log: ClusterLog) -> None:
    found = violations(control.corrupt(log))
    assert any(control.message in line for line in found), found
