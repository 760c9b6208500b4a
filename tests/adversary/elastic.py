"""The adversary of the autoscaler: a cluster in virtual time whose API server fails while the driver is killed."""

import copy
import itertools
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from tests.adversary.clock import BEGIN, VirtualClock
from tests.engines.kubernetes.strict import Strict
from tests.engines.kubernetes.things import node, pod
from windlass.drive import drive
from windlass.engines.elastic.engine import LiveScale
from windlass.engines.elastic.system import ClusterError
from windlass.engines.kubernetes.server import refusal
from windlass.engines.kubernetes.system import KubernetesScale
from windlass.model.instances import InstanceType
from windlass.scale.policies.buffer import Buffer

TYPES = (
    InstanceType("small", cores=4, memory=16e9, most=10),
    InstanceType("large", cores=8, memory=32e9, most=3),
)
#: Faults of a request: lost before or after it is carried out, an earlier answer, or a refusal.
REQUESTS = ("lost", "unanswered", "stale", "refused")
#: The driver is killed before or after a write.
KILLS = ("killed before", "killed after")
#: At a time: an object is resized or deleted by a user, support of buffers is installed or removed, a node is away.
OTHERS = ("resized", "deleted", "buffers", "node away")
FAULTS = (*REQUESTS, *KILLS, *OTHERS)
#: When faults and arrivals end; time between decisions, until a node is ready, and until an idle one is removed, s.
QUIET_S, PERIOD_S, STARTS_S, IDLE_S = 1200.0, 60.0, 40.0, 90.0
#: Decisions without a write after which the cluster counts as settled, and the most that it may take.
STILL, MOST_DECISIONS = 3, 60
_CORES = {kind.name: kind.cores for kind in TYPES}
_COMPARED = ("Deployment", "CapacityBuffer", "PodTemplate")


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault at the number of a request, at that of a write, or at a time, s."""

    kind: str
    at: float
    size: float = 0.0


@dataclass(frozen=True, slots=True)
class Job:
    """A pod: its arrival and duration, s, and its cores."""

    number: int
    submit: float
    cores: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Plan:
    """A run: `buffers` tells whether the server supports CapacityBuffers at its beginning."""

    seed: int
    buffers: bool
    spare: int
    jobs: tuple[Job, ...]
    faults: tuple[Fault, ...]
    actions: tuple[Fault, ...] = ()

    def without(self, part):
        """Return the plan without a fault or a job."""
        return replace(
            self,
            faults=tuple(each for each in self.faults if each is not part),
            jobs=tuple(each for each in self.jobs if each is not part),
        )


def draw(seed):
    """Return the plan of a seed."""
    rng = np.random.default_rng(seed)

    def below(limit):
        return int(rng.integers(limit))

    jobs = tuple(
        Job(number, round(float(rng.random()) * 900.0, 1), 1 + below(8), float(30 + below(400)))
        for number in range(1, 2 + below(8))
    )
    faults = []
    for _ in range(below(14)):
        group = (REQUESTS, REQUESTS, KILLS, OTHERS)[below(4)]
        at = {
            REQUESTS: below(180),
            KILLS: below(24),
            OTHERS: round(float(rng.random()) * QUIET_S, 1),
        }[group]
        faults.append(Fault(group[below(len(group))], at, int(rng.integers(100)) / 100.0))
    return Plan(seed, below(2) == 0, below(3), jobs, tuple(faults))


class Killed(BaseException):
    """The driver's process was killed."""


class History:
    """Past demand, which a restarted driver reads again."""

    def __init__(self):
        self._rows = []

    def add(self, at, counts):
        self._rows.append(counts)

    def rows(self, at):
        return np.array(self._rows).reshape(len(self._rows), len(TYPES))


class Cluster(Strict):
    """The strict server of the other tests, with nodes that an autoscaler of the cluster's own starts and removes."""

    def __init__(self, clock, version):
        super().__init__(version)
        self.clock, self.nodes, self.pods, self._idle = clock, {}, {}, {}
        self._number = itertools.count(1)
        self._seconds, self.removed = {}, []
        self.put(
            "deployments", {"metadata": {"name": "web", "namespace": "windlass"}, "spec": {"replicas": 4}}
        )

    def get(self, path):
        if path.startswith("/api/v1/nodes"):
            return {"items": copy.deepcopy(list(self.nodes.values()))}
        if path.startswith("/api/v1/pods"):
            return {"items": copy.deepcopy(list(self.pods.values()))}
        return super().get(path)

    def arrive(self, job):
        name = f"job-{job.number}"
        self.pods[name], self._seconds[name] = pod(name, str(job.cores)), job.seconds
        self._bind()

    def tick(self):
        """Do what the cluster's own autoscaler and scheduler do every 10 s."""
        for kind in TYPES:
            mine = [name for name, each in self.nodes.items() if name.startswith(kind.name)]
            used = {each["spec"].get("nodeName") for each in self.pods.values()}
            idle = [name for name in mine if name not in used]
            wanted = self._spare(kind.name) + (kind is TYPES[-1]) * sum(
                "nodeName" not in each["spec"] for each in self.pods.values()
            )
            for _ in range(min(wanted - len(idle), kind.most - len(mine))):
                self._launch(kind.name)
            for name in idle[wanted:]:
                if self.clock.now - self._idle.setdefault(name, self.clock.now) >= IDLE_S:
                    del self.nodes[name]
                    self.removed.append(name)
            self._idle = {
                name: at for name, at in self._idle.items() if name in self.nodes and name not in used
            }
        self._bind()
        self.clock.at(self.clock.now + 10.0, self.tick)

    def _spare(self, name):
        found = [*self.of("Deployment").items(), *self.of("CapacityBuffer").items()]
        return max((tree["spec"]["replicas"] for at, tree in found if at == f"windlass-{name}"), default=0)

    def _launch(self, kind):
        name = f"{kind}-{next(self._number)}"
        self.nodes[name] = node(name, kind, ready=False)
        self.clock.at(self.clock.now + STARTS_S, lambda: self.set_ready(name, True))

    def set_ready(self, name, ready):
        if name in self.nodes:
            self.nodes[name] = node(name, name.partition("-")[0], ready)

    def _bind(self):
        for name, each in self.pods.items():
            if "nodeName" not in each["spec"]:
                cores = int(each["spec"]["containers"][0]["resources"]["requests"]["cpu"])
                host = next((host for host in self.nodes if self._room(host) >= cores), None)
                if host is not None:
                    each["spec"]["nodeName"] = host
                    self.clock.at(
                        self.clock.now + self._seconds[name], lambda name=name: self.pods.pop(name, None)
                    )

    def _room(self, host):
        if self.nodes[host]["status"]["conditions"][0]["status"] != "True":
            return 0
        taken = sum(
            int(each["spec"]["containers"][0]["resources"]["requests"]["cpu"])
            for each in self.pods.values()
            if each["spec"].get("nodeName") == host
        )
        return _CORES[host.partition("-")[0]] - taken


class World:
    """A run of a plan: its API server, and the drivers."""

    def __init__(self, plan):
        self.plan, self.clock = plan, VirtualClock()
        self.cluster = Cluster(self.clock, "v1beta1" if plan.buffers else "")
        self.problems, self.injected, self.drivers, self.polls = [], Counter(), 0, 0
        self.history, self.requests, self.writes = History(), 0, 0
        self._quiet = self._dead = self._over = False
        self._still, self._decisions, self._last = 0, 0, {}
        self._by_request = {each.at: each for each in plan.faults if each.kind in REQUESTS}
        self._by_write = {each.at: each for each in plan.faults if each.kind in KILLS}
        for each in plan.jobs:
            self.clock.at(BEGIN + each.submit, lambda each=each: self.cluster.arrive(each))
        for each in plan.faults:
            if each.kind in OTHERS:
                self.clock.at(BEGIN + each.at, lambda each=each: self._strike(each))
        self.clock.at(BEGIN, self.cluster.tick)
        self.clock.at(BEGIN + QUIET_S, self._end_faults)

    def _strike(self, fault):
        self.injected[fault.kind] += 1
        cluster = self.cluster
        ours = [path for path in cluster.objects if "/windlass-" in path]
        match fault.kind:
            case "resized":
                for path in ours:
                    if "replicas" in cluster.objects[path].get("spec", {}):
                        cluster.objects[path]["spec"]["replicas"] = 7
            case "deleted" if ours:
                del cluster.objects[ours[int(fault.size * len(ours))]]
            case "buffers" if cluster.version:
                cluster.objects = {
                    at: each for at, each in cluster.objects.items() if "capacitybuffers" not in at
                }
                cluster.version = ""
            case "buffers":
                cluster.version = "v1beta1"
            case "node away" if cluster.nodes:
                name = sorted(cluster.nodes)[int(fault.size * len(cluster.nodes))]
                cluster.set_ready(name, False)
                self.clock.at(self.clock.now + 100.0, lambda: cluster.set_ready(name, True))

    def _end_faults(self):
        self._quiet = True
        self._by_request.clear()
        self._by_write.clear()

    # -- the server and the clock of the driver

    def get(self, path):
        self._request(path)
        fault = self._fault(path)
        if fault == "stale" and path in self._last:
            return copy.deepcopy(self._last[path])
        self._last[path] = self.cluster.get(path)
        if fault == "unanswered":
            raise ClusterError(f"GET {path}: no answer")
        return copy.deepcopy(self._last[path])

    def send(self, method, path, body=None):
        self._request(path)
        if "windlass" not in path.rpartition("/")[2] and method != "POST":
            self.problems.append(f"others' objects: {method} {path}")
        kill = self._by_write.pop(self.writes, None)
        self.writes += 1
        self._still = 0
        if kill is not None:
            self.injected[kill.kind] += 1
        if kill is not None and kill.kind == "killed before":
            self._die()
        fault = self._fault(path)
        answer = self.cluster.send(method, path, body)
        if kill is not None:
            self._die()
        if fault == "unanswered":
            raise ClusterError(f"{method} {path}: no answer")
        return answer

    def _request(self, path):
        self._alive()
        self.requests += 1
        self.clock.wait(0.05)

    def _fault(self, path):
        fault = self._by_request.pop(self.requests, None)
        if fault is None:
            return ""
        self.injected[fault.kind] += 1
        if fault.kind == "lost":
            self.clock.wait(5.0)
            raise ClusterError(f"{path}: no connection")
        if fault.kind == "refused":
            raise refusal(500, "GET", path, b'{"message": "etcdserver: request timed out"}')
        return fault.kind

    def now(self):
        return self.clock.now

    def sleep(self, seconds):
        self._alive()
        self.clock.wait(seconds)
        self.polls += 1
        if self._quiet and not self.cluster.pods and seconds > 1.0:
            self._decisions += 1
            self._still += 1
            if self._decisions > MOST_DECISIONS:
                self.problems.append(f"not settled after {MOST_DECISIONS} decisions without faults")
            if self._still > STILL or self.problems:
                self._over = True
                return False
        return True

    def _die(self):
        self._dead = True
        raise Killed

    def _alive(self):
        if self._dead:
            raise Killed

    # -- the life of drivers

    def _drive(self, server=None):
        self._dead, self.drivers = False, self.drivers + 1
        server = server or self
        system = KubernetesScale(server, TYPES, now=self.now)
        engine = LiveScale(system, self.history, self, period=PERIOD_S)
        try:
            drive(engine, {"scale": Buffer(spare=self.plan.spare, share=0.5)})
        except Killed:
            return
        except Exception as error:
            self.problems.append(f"the driver failed: {type(error).__name__}: {error}")

    def run(self):
        """Run the plan; return the problems."""
        while not self._over and not self.problems and self.drivers < 50:
            self._drive()
            self.clock.wait(5.0)
        if self.problems:
            return self.problems
        before = self.writes
        self._still = self._decisions = 0
        self._drive()
        if self.writes != before:
            self.problems.append("a fresh driver writes")
        if self.cluster.of("Deployment").get("web", {}).get("spec") != {"replicas": 4}:
            self.problems.append("others' objects: web was changed")
        wanted = self._wanted()
        there = {kind: _ours(self.cluster.of(kind)) for kind in _COMPARED}
        if there != wanted:
            self.problems.append(f"not reconciled: {there}, a fresh driver requests {wanted}")
        return self.problems

    def _wanted(self):
        """Return what a driver requests that finds no object of Windlass's."""
        empty = Cluster(self.clock, self.cluster.version)
        empty.nodes, empty.pods = self.cluster.nodes, self.cluster.pods
        system = KubernetesScale(empty, TYPES, now=self.now)
        engine = LiveScale(system, self.history, _Once(self), period=PERIOD_S)
        drive(engine, {"scale": Buffer(spare=self.plan.spare, share=0.5)})
        return {kind: _ours(empty.of(kind)) for kind in _COMPARED}


class _Once:
    """A clock that ends a run after its first decision."""

    def __init__(self, world):
        self._world, self._left = world, 1

    def now(self):
        return self._world.now()

    def sleep(self, seconds):
        self._left -= 1
        return self._left >= 0


def _ours(objects):
    """Return the sizes of Windlass's objects; None for those without a size."""
    return {
        name: tree.get("spec", {}).get("replicas")
        for name, tree in objects.items()
        if name.startswith("windlass-")
    }


def run(plan, folder=None):
    """Run a plan; return the world afterwards."""
    world = World(plan)
    world.run()
    return world
