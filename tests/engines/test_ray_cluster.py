"""Private clusters when Ray does not start; test_ray_run checks that they leave nothing behind."""

import pytest

pytest.importorskip("ray", reason="Ray is not installed: pip install '.[ray]'")

from tests.engines.engines import cluster_folders
from windlass.engines.ray import cluster as ray_cluster
from windlass.engines.ray.cluster import PrivateCluster
from windlass.model import InputError
from windlass.model.fleet import Fleet

pytestmark = pytest.mark.slow

AREA = Fleet.of([1, 2], [1e6, 1e6], [1e6, 1e6])


@pytest.fixture
def ray_that_fails(monkeypatch):
    """A fake Ray whose first starts raise given errors; returns the created and the joined clusters."""
    made, joined = [], []

    def use(*errors):
        left = list(errors)

        class Cluster:
            address = "127.0.0.1:1"

            def __init__(self, **_):
                made.append(self)
                self.nodes, self.stopped = 0, False

            def add_node(self, **_):
                self.nodes += 1
                if self.nodes == 2 and left:
                    raise left.pop(0)

            def shutdown(self):
                self.stopped = True

        monkeypatch.setattr(ray_cluster, "Cluster", Cluster)
        monkeypatch.setattr(ray_cluster, "join", joined.append)
        return made, joined

    return use


def test_a_failed_start_is_retried_from_scratch(ray_that_fails, caplog):
    before = cluster_folders()
    made, joined = ray_that_fails(Exception("The node timed out.\nMore."), RuntimeError())
    cluster = PrivateCluster(AREA)
    assert [one.stopped for one in made] == [True, True, False]
    assert joined == ["127.0.0.1:1"]
    assert len(cluster_folders() - before) == 1
    assert caplog.messages == [
        "Ray did not start; trying again: The node timed out.",
        "Ray did not start; trying again: RuntimeError()",
    ]
    cluster.close()
    cluster.close()
    assert made[-1].stopped
    assert cluster_folders() == before


def test_the_error_of_a_ray_that_never_starts_is_one_line(ray_that_fails):
    before = cluster_folders()
    made, joined = ray_that_fails(*[Exception("The node timed out.\nMore.")] * 3)
    with pytest.raises(
        InputError, match=r"^engine: Ray does not start on this machine: The node timed out\.$"
    ):
        PrivateCluster(AREA)
    assert [one.stopped for one in made] == [True] * 3
    assert joined == []
    assert cluster_folders() == before


def test_an_interrupted_start_is_not_retried(ray_that_fails):
    before = cluster_folders()
    made, _ = ray_that_fails(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        PrivateCluster(AREA)
    assert [one.stopped for one in made] == [True]
    assert cluster_folders() == before
