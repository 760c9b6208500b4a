"""A raylet that is lost while the executor starts a process in each slot."""

import threading

import pytest

pytest.importorskip("ray", reason="Ray is not installed: pip install '.[ray]'")
import psutil

from tests.engines.engines import ray_engines
from windlass.drive import drive
from windlass.engines.live.engine import LiveFleet
from windlass.engines.slurm.daemons import wait_until
from windlass.model.fleet import Fleet, FleetJobs, StageSpec
from windlass.place.policies.in_place import InPlace

pytestmark = pytest.mark.slow


def warming():
    """Return the processes that hold a slot."""
    return [
        child
        for child in psutil.Process().children(recursive=True)
        if "ray::warm_up" in " ".join(child.cmdline())
    ]


def test_a_raylet_lost_during_the_warm_up_is_survived(monkeypatch):
    from windlass.engines.ray import executor

    monkeypatch.setattr(executor, "_WARM_S", 10.0)
    fleet = Fleet.of([2, 1, 1], [1e7] * 3, [1e7] * 3, names=("a", "b", "c"))
    # No data is at the site that is lost.
    jobs = FleetJobs.of([0.0], [[StageSpec(0.1, here=(4, 2, 0)), StageSpec(0.1, tasks=2, parents=(0,))]])
    with ray_engines() as engines:
        cluster = engines.cluster(fleet)
        killed = []

        def kill():
            if wait_until(lambda: len(warming()) == 4, 60.0):
                cluster.nodes["c"][0].kill_raylet()
                killed.append("c")

        killer = threading.Thread(target=kill)
        killer.start()
        made = executor.RayExecutor(fleet)
        killer.join()
        assert killed == ["c"]
        engines.clusters = {}
        try:
            run = drive(LiveFleet(fleet, jobs, made), {"place": InPlace()})
        finally:
            cluster.close()
    workers = {each.number: each.site for each in made.workers}
    assert {workers[number] for number in run.worker.tolist()} == {0, 1}
