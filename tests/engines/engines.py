"""The engines of the conformance tests with one interface: a site may lose all its slots at a given time."""

import re
from contextlib import contextmanager, nullcontext
from pathlib import Path

import numpy as np
import pytest

from tests.engines.fake import FakeExecutor
from windlass.engines.live.engine import LiveFleet
from windlass.model.fleet import FleetCase
from windlass.model.timetable import SiteTimetable
from windlass.sim.coupled import SinglePart
from windlass.sim.fleet.part import PlacedFleet


def cluster_folders():
    """Return the folders of all private Ray clusters on this machine."""
    return set(Path("/tmp").glob("windlass-ray-*"))


class Sim:
    """The simulator; a lost site is a change to zero slots."""

    late = 1e-6

    def make(self, fleet, jobs, lost=None):
        timetable = SiteTimetable.none()
        if lost is not None:
            at, site = lost
            timetable = SiteTimetable(
                np.array([at]), np.array([site]), np.array([0]), fleet.up[[site]], fleet.down[[site]]
            )
        return SinglePart(PlacedFleet(FleetCase(fleet, jobs, timetable)))


class Fake:
    """The live engine in virtual time."""

    late = 1e-6

    def make(self, fleet, jobs, lost=None):
        deaths = [] if lost is None else [lost]
        return LiveFleet(fleet, jobs, FakeExecutor(fleet, deaths=deaths))


class Ray:
    """The live engine on private raylets; a lost site is a killed raylet."""

    late = 20.0

    def __init__(self):
        self.clusters = {}

    def cluster(self, fleet):
        from windlass.engines.ray.cluster import PrivateCluster

        key = fleet.names, tuple(fleet.slots.tolist())
        # A cluster that lost a node, or seemed to, cannot be used any more.
        if key not in self.clusters or not self.clusters[key].whole():
            self.close()
            self.clusters[key] = PrivateCluster(fleet)
        return self.clusters[key]

    def make(self, fleet, jobs, lost=None):
        from windlass.engines.ray.executor import RayExecutor

        cluster = self.cluster(fleet)
        executor = RayExecutor(fleet)
        engine = LiveFleet(fleet, jobs, executor)
        if lost is not None:
            # This cluster is not used again.
            self.clusters = {}
            engine = KillsASite(engine, cluster, fleet.names[lost[1]], lost[0])
        return engine

    def close(self):
        for cluster in self.clusters.values():
            cluster.close()
        self.clusters = {}


class KillsASite:
    """An engine that kills the raylet of a site at a given time."""

    def __init__(self, engine, cluster, site, at):
        self.engine, self.cluster, self.site, self.at = engine, cluster, site, at
        self.result, self.view, self.act = engine.result, engine.view, engine.act

    def wait(self):
        import threading

        if self.at is not None:
            self.engine.prepare()
            node = self.cluster.nodes[self.site][0]
            timer = threading.Timer(self.at, node.kill_raylet)
            timer.daemon = True
            timer.start()
            self.at = None
        return self.engine.wait()

    def close(self):
        self.engine.close()
        self.cluster.close()


@contextmanager
def ray_engines():
    pytest.importorskip("ray", reason="Ray is not installed: pip install '.[ray]'")
    engines = Ray()
    try:
        yield engines
    finally:
        engines.close()


def document_engines():
    """The engine of docs/add-an-engine.md, unchanged: threads, in real time."""
    document = Path(__file__).parents[2] / "docs" / "add-an-engine.md"
    text = document.read_text(encoding="utf-8").partition("\n## Drive a batch system")[0]
    executor, _, engine = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    found = {"LiveFleet": LiveFleet}
    for code in (executor, engine):
        exec(code, found)
    return nullcontext(found["Threads"]())


#: Context manager that yields each engine's maker …
ENGINES = {
    "sim": lambda: nullcontext(Sim()),
    "virtual": lambda: nullcontext(Fake()),
    "threads": document_engines,
    "ray": ray_engines,
}
#: … and which run in real time.
SLOW = {"threads", "ray"}
