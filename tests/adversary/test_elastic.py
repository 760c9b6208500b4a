"""The autoscaler against the adversary: its objects settle, and it writes to no node, no pod, and nothing of others."""

import pytest

from tests.adversary.elastic import FAULTS, Fault, Job, Plan, draw, run
from tests.adversary.search import search

QUICK, SLOW, NIGHTLY = 120, 500, 4_000


@pytest.mark.matrix(0)
def test_the_requests_settle_and_others_objects_are_kept(tmp_path):
    found = search(range(QUICK), tmp_path, "elastic")
    assert found.seed is None, found.describe()
    assert set(found.injected) == set(FAULTS)


@pytest.mark.nightly
@pytest.mark.slow
def test_more_seeds(tmp_path):
    found = search(range(QUICK, SLOW), tmp_path, "elastic")
    assert found.seed is None, found.describe()


@pytest.mark.nightly
@pytest.mark.slow
def test_many_seeds(tmp_path):
    found = search(range(SLOW, NIGHTLY), tmp_path, "elastic")
    assert found.seed is None, found.describe()


def test_a_seed_gives_the_same_run_again():
    one, other = run(draw(5)), run(draw(5))
    assert one.injected
    assert (one.cluster.written, one.polls) == (other.cluster.written, other.polls)


def test_nodes_start_for_jobs_and_are_removed_when_idle():
    done = run(Plan(0, True, 0, (Job(1, 10.0, 6, 200.0),), ()))
    assert done.problems == []
    assert done.cluster.removed
    assert set(done.cluster.removed).isdisjoint(done.cluster.nodes)


def test_templates_are_deleted_when_buffers_are_no_longer_supported():
    # Found by the adversary: they stayed until `windlass k8s remove`.
    done = run(Plan(19, True, 1, (Job(1, 10.0, 1, 60.0),), (Fault("buffers", 300.0),)))
    assert done.problems == []
    assert done.cluster.of("PodTemplate") == {}
    assert set(done.cluster.of("Deployment")) == {"web", "windlass-small", "windlass-large"}
