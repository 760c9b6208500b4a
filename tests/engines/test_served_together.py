"""All engines under one `windlass serve`, read in Chromium: Slurm, Ray, Kubernetes and an agent at once."""

from __future__ import annotations

import shlex
import signal
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="Ray is not installed (the extra `ray`)")
pytest.importorskip("kubernetes", reason="needs the package kubernetes")

from tests.control.test_serve import started, url_of
from tests.engines.browser import PATIENCE, chromium
from tests.engines.kubernetes.between import Between
from tests.engines.kubernetes.cluster import NODES, TYPES, Cluster
from tests.engines.kubernetes.served import served_here
from tests.engines.kubernetes.things import kubeconfig
from tests.engines.linux.agent.test_real import RUN, Process
from tests.engines.slurm.private import private_slurm
from tests.engines.test_ray_scale_live import Load, autoscaled, free_port, joined
from windlass.control.journal import JournalReader, RowFilter
from windlass.engines.slurm.models import Phase

pytestmark = pytest.mark.slow

CLUSTER = """
journal: journal.db
engines:
- engine: slurm
  policies: {{order: fcfs}}
  conf: {conf}
  book: book
- engine: kubernetes
  types: kubernetes.yaml
  policy: ./breaks.py
  period: 0.5
  kubeconfig: config
  history: kubernetes.db
- engine: ray
  types: ray.yaml
  policy: {{reactive: {{unneeded: 1}}}}
  period: 0.5
  address: 127.0.0.1:{port}
  history: ray.db
- engine: agents
  addresses: ['{agent}']
  period: 0.5
"""
#: The text of the page Machines, with its tables open.
MACHINES = """
for (const each of document.querySelectorAll("details")) each.open = true;
document.getElementById("main").innerText
"""
#: Decides as the policy that it extends, until a file is there.
BREAKS = """
from pathlib import Path

from windlass.scale.policies.reactive import Reactive


class Breaks(Reactive):
    name = "breaks"

    def decide(self, view):
        if Path({file!r}).exists():
            raise RuntimeError("the policy of this test breaks")
        return super().decide(view)
"""
#: Rejects tasks while a file is there.
CLOSES = """
from pathlib import Path

from windlass.admit.view import Admission


class Closes:
    name = "closes"

    def decide(self, view):
        reject = Path({file!r}).exists()
        return Admission(reject, "the node is closed" if reject else "the node is open", float(reject))
"""
RAY_TYPES = "types: [{name: small, cores: 2, most: 3, launch: 1.0}]"


class Switch:
    """A file whose removal ends a job."""

    def __init__(self, file: Path) -> None:
        self.file = file
        file.touch()
        self.command = f"while [ -e {shlex.quote(str(file))} ]; do sleep 0.1; done"

    def end(self) -> None:
        self.file.unlink()


@contextmanager
def following(pods: Cluster) -> Iterator[None]:
    """Let the cluster's own scheduler and autoscaler work meanwhile."""
    over = threading.Event()

    def follow() -> None:
        while not over.wait(0.1):
            pods.follow()

    thread = threading.Thread(target=follow, name="kubernetes")
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextmanager
def agent(policy: Path) -> Iterator[Process]:
    """Run a node agent, without a guard, so that the policy alone decides."""
    running = Process(*RUN, "--policy", str(policy), "--guard", "0")
    try:
        yield running
    finally:
        assert running.end() == 0
        running.process.stderr.close()


def test_all_engines_are_shown_and_a_failing_one_stops_alone(tmp_path):
    broken, closed, port = tmp_path / "broken", tmp_path / "closed", free_port()
    (tmp_path / "kubernetes.yaml").write_text(TYPES)
    (tmp_path / "ray.yaml").write_text(RAY_TYPES)
    (tmp_path / "breaks.py").write_text(BREAKS.format(file=str(broken)))
    (tmp_path / "closes.py").write_text(CLOSES.format(file=str(closed)))
    file = tmp_path / "cluster.yaml"
    with (
        private_slurm(nodes=2, cpus=2) as shell,
        served_here(tmp_path) as served,
        closing(Between(served.upstream)) as between,
        autoscaled(port),
        joined(port),
        agent(tmp_path / "closes.py") as node,
        chromium(tmp_path / "profile") as browser,
    ):
        where = f"{node.address.host}:{node.address.port}"
        kubeconfig(tmp_path / "config", between.url, served.token)
        file.write_text(CLUSTER.format(conf=shell.cluster.conf, port=port, agent=where))
        pods, load = served.cluster, Load(tmp_path)
        with started("serve", str(file), "--act", "--listen", "127.0.0.1:0") as process:
            url = url_of(process)
            now, other = browser.page(url), browser.page(f"{url}/health")
            for engine in ("slurm", "kubernetes", "ray", "agents"):
                other.until(rf"\b{engine}\s+running\b")

            # A job of Slurm appears, is explained, and has an interval.
            first, second = Switch(tmp_path / "first"), Switch(tmp_path / "second")
            one = shell.submit(first.command, procs=4, minutes=30)
            now.until(rf"Running jobs.*\b{one}\b.*head of the queue")
            two = shell.submit(second.command, procs=4, minutes=30)
            now.until(rf"Waiting jobs.*\b{two}\b.*first in the queue; needs 4 cores, 0 idle")
            other.go(f"{url}/when?engine=slurm")
            other.until(rf"90 % interval.*\b{two}\b.* to ")

            # Pods and tasks wait: both autoscalers decide, and their machines appear.
            pods.submit(3)
            load.begin()
            other.go(f"{url}/decisions?engine=kubernetes")
            other.until(r"scale\s+breaks\s+1 × small")
            other.go(f"{url}/decisions?engine=ray")
            other.until(r"scale\s+reactive\s+2 × small")
            other.go(f"{url}/machines")

            with following(pods):
                other.until(r"kubernetes: cluster\s+Machines up\s+1 of 1.*small-\d+\s+up\s+3 of 4", MACHINES)
                other.until(r"ray: \S+\s+Machines up\s+2 of 2", MACHINES)

            # Drained nodes show, and a node whose agent rejects tasks.
            shell("scontrol", "update", "NodeName=w2", "State=DRAIN", "Reason=test")
            other.until(r"slurm: .*w2\s+drained", MACHINES)
            (each,) = pods.nodes()
            name = each["metadata"]["name"]
            pods.server.send("PATCH", f"{NODES}/{name}", {"spec": {"unschedulable": True}})
            other.until(rf"kubernetes: cluster.*{name}\s+drained\s+3 of 4", MACHINES)
            other.until(rf"agents\s+Machines.*{where}\s+accepting.*the node is open", MACHINES)
            closed.touch()
            other.until(rf"agents\s+Machines.*{where}\s+rejecting.*the node is closed", MACHINES)
            other.go(f"{url}/decisions?engine=agents")
            other.until(r"admit\s+\S*closes\S*\s+reject tasks\s+the node is closed")
            other.go(f"{url}/machines")
            shell("scontrol", "update", "NodeName=w2", "State=RESUME")
            other.until(r"slurm: \S+\s+Machines up\s+2 of 2", MACHINES)

            # It starts and ends.
            first.end()
            now.until(rf"Running jobs.*\b{two}\b.*head of the queue")
            second.end()
            other.go(f"{url}/decisions?engine=slurm&job={two}")
            other.until(r"order\s+fcfs\s+start.*ended.*started.*submitted")

            # A policy raises: its engine fails alone.
            broken.touch()
            other.go(f"{url}/health")
            other.until(r"kubernetes\s+failed.*the policy of this test breaks")
            third = Switch(tmp_path / "third")
            three = shell.submit(third.command, procs=4, minutes=30)
            now.until(rf"Running jobs.*\b{three}\b.*head of the queue")
            four = shell.submit("true", procs=4, minutes=30)
            now.until(rf"Waiting jobs.*\b{four}\b.*first in the queue")
            load.end()
            other.go(f"{url}/decisions?engine=ray")
            other.until(r"scale\s+reactive\s+0 × small")
            other.go(f"{url}/health")
            other.until(r"slurm\s+running.*kubernetes\s+failed.*ray\s+running|ray\s+running.*slurm\s+running")
            assert browser.messages == []
            requested = pods.requested()
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE) == 0
        # The queue of Slurm is given back, and the requests of Kubernetes stay as they are.
        assert not shell.rows()[four].held
        assert pods.requested() == requested
        third.end()
        shell.until(lambda rows: all(rows[job].phase is Phase.OVER for job in (three, four) if job in rows))
    with JournalReader(tmp_path / "journal.db") as reader:
        for job in (one, two):
            events = reader.events(RowFilter(engine="slurm", job=str(job))).rows
            assert [each.kind for each in reversed(events)] == ["submitted", "started", "ended"]
        prediction = reader.predictions.of_job("slurm", str(two))[-1]
        assert prediction.first
        assert prediction.started is not None
        assert reader.open_acts() == ()
        (error,) = reader.events(RowFilter(topic="error")).rows
        assert error.job.engine == "kubernetes"
        states = {each.status.engine: each.status.state for each in reader.engines()}
        assert states == {"slurm": "stopped", "kubernetes": "failed", "ray": "stopped", "agents": "stopped"}
