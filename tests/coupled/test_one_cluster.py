"""All kinds of parts on common nodes: an independent validator accepts each log, and rejects corrupted ones."""

from __future__ import annotations

from hypothesis import given, settings

from tests.coupled.clusters import Shape, run
from tests.coupled.drawn_clusters import shapes
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
