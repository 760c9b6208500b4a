"""All engines under one `windlass serve`, read in Chromium: Slurm, Ray, Kubernetes and an agent at once."""

from __future__ import annotations

import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="Ray is not installed (the extra `ray`)")
pytest.importorskip("kubernetes", reason="needs the package kubernetes")

from tests.control.test_serve import started, url_of
from tests.engines.browser import PATIENCE, VISIBLE, Page, chromium
from tests.engines.kubernetes.between import Between
from tests.engines.kubernetes.cluster import NODES, TYPES, Cluster
from tests.engines.kubernetes.served import served_here
from tests.engines.kubernetes.things import kubeconfig
from tests.engines.linux.agent.test_real import RUN, Process
from tests.engines.slurm.private import Shell, private_slurm
from tests.engines.test_ray_scale_live import Load, autoscaled, free_port, joined
from windlass.control.journal import JournalReader, RowFilter
from windlass.engines.slurm.models import Phase

pytestmark = pytest.mark.slow

ENGINES = ("slurm", "kubernetes", "ray", "agents")
CLUSTER = """
journal: journal.db
engines:
- engine: slurm
  policies: {{order: ./stops.py}}
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

{base}


class Breaks(Base):
    name = "breaks"

    def decide(self, view):
        if Path({file!r}).exists():
            raise RuntimeError("the policy of this test breaks")
        return super().decide(view)
"""
REACTIVE = "from windlass.scale.policies.reactive import Reactive as Base"
FCFS = "from windlass.order.site.policies.fcfs import Fcfs as Base"
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


@dataclass(frozen=True)
class Scene:
    """All engines under one command, and two pages of it."""

    folder: Path
    shell: Shell
    pods: Cluster
    load: Load
    url: str
    now: Page
    other: Page

    def on(self, path: str, *patterns: str, script: str = VISIBLE) -> None:
        """Go to a page, and wait until it matches."""
        self.other.go(f"{self.url}/{path}")
        for each in patterns:
            self.other.until(each, script)

    def act(self, action: str, engine: str) -> None:
        """Run an action as an operator does."""
        words = ("act", action, str(self.folder / "journal.db"), engine, "--reason", "test")
        done = subprocess.run([sys.executable, "-m", "windlass", *words], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def a_job_appears_is_explained_and_has_an_interval(scene: Scene, one: Switch, two: Switch) -> tuple[int, int]:
    first = scene.shell.submit(one.command, procs=4, minutes=30)
    scene.now.until(rf"Running jobs.*\b{first}\b.*head of the queue")
    second = scene.shell.submit(two.command, procs=4, minutes=30)
    scene.now.until(rf"Waiting jobs.*\b{second}\b.*first in the queue; needs 4 cores, 0 idle")
    scene.on("when?engine=slurm", rf"90 % interval.*\b{second}\b.* to ")
    return first, second


def autoscalers_decide_and_their_machines_appear(scene: Scene) -> None:
    scene.pods.submit(3)
    scene.load.begin()
    scene.on("decisions?engine=kubernetes", r"scale\s+breaks\s+1 × small")
    scene.on("decisions?engine=ray", r"scale\s+reactive\s+2 × small")
    with following(scene.pods):
        scene.on(
            "machines",
            r"kubernetes: cluster\s+Machines up\s+1 of 1.*small-\d+\s+up\s+3 of 4",
            r"ray: \S+\s+Machines up\s+2 of 2",
            script=MACHINES,
        )


def drained_nodes_show_and_one_whose_agent_rejects_tasks(scene: Scene, where: str, closed: Path) -> None:
    scene.shell("scontrol", "update", "NodeName=w2", "State=DRAIN", "Reason=test")
    (each,) = scene.pods.nodes()
    name = each["metadata"]["name"]
    scene.pods.server.send("PATCH", f"{NODES}/{name}", {"spec": {"unschedulable": True}})
    scene.on(
        "machines",
        r"slurm: .*w2\s+drained",
        rf"kubernetes: cluster.*{name}\s+drained\s+3 of 4",
        rf"agents\s+Machines.*{where}\s+accepting.*the node is open",
        script=MACHINES,
    )
    closed.touch()
    # The page is not requested again.
    scene.other.until(rf"agents\s+Machines.*{where}\s+rejecting.*the node is closed", MACHINES)
    scene.on("decisions?engine=agents", r"admit\s+closes\s+reject tasks\s+the node is closed")
    scene.shell("scontrol", "update", "NodeName=w2", "State=RESUME")
    scene.on("machines", r"slurm: \S+\s+Machines up\s+2 of 2", script=MACHINES)


def a_policy_of_kubernetes_fails_alone(scene: Scene, broken: Path, third: Switch) -> tuple[int, int]:
    broken.touch()
    scene.on("health", r"kubernetes\s+failed.*the policy of this test breaks")
    running = scene.shell.submit(third.command, procs=4, minutes=30)
    scene.now.until(rf"Running jobs.*\b{running}\b.*head of the queue")
    waiting = scene.shell.submit("true", procs=4, minutes=30)
    scene.now.until(rf"Waiting jobs.*\b{waiting}\b.*first in the queue")
    scene.load.end()
    scene.on("decisions?engine=ray", r"scale\s+reactive\s+0 × small")
    scene.on("health", *(rf"\b{engine}\s+running" for engine in ("agents", "ray", "slurm")))
    broken.unlink()
    scene.act("resume", "kubernetes")
    scene.on("health", r"kubernetes\s+running")
    return running, waiting


def a_policy_of_slurm_fails_alone(scene: Scene, broken: Path, waiting: int) -> int:
    broken.touch()
    # What waits is decided about at the next change of the queue.
    given_back = scene.shell.submit("true", procs=4, minutes=30)
    scene.on("health", r"slurm\s+failed.*the policy of this test breaks")
    # This Slurm shares cores, so that a job that is given back starts at once.
    scene.shell.until(lambda rows: waiting not in rows or not rows[waiting].held)
    # That of Kubernetes decides again, as its file is another one.
    scene.pods.submit(6)
    scene.on("decisions?engine=kubernetes", r"scale\s+breaks\s+1 × large")
    scene.on("health", *(rf"\b{engine}\s+running" for engine in ("agents", "kubernetes", "ray")))
    broken.unlink()
    scene.act("resume", "slurm")
    scene.on("health", r"slurm\s+running")
    return given_back


def test_all_engines_are_shown_and_a_failing_one_stops_alone(tmp_path):
    scaling, ordering, closed = (tmp_path / name for name in ("scaling", "ordering", "closed"))
    port = free_port()
    (tmp_path / "kubernetes.yaml").write_text(TYPES)
    (tmp_path / "ray.yaml").write_text(RAY_TYPES)
    (tmp_path / "breaks.py").write_text(BREAKS.format(file=str(scaling), base=REACTIVE))
    (tmp_path / "stops.py").write_text(BREAKS.format(file=str(ordering), base=FCFS))
    (tmp_path / "closes.py").write_text(CLOSES.format(file=str(closed)))
    file = tmp_path / "cluster.yaml"
    one, two, three = (Switch(tmp_path / name) for name in ("one", "two", "three"))
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
        with started("serve", str(file), "--act", "--listen", "127.0.0.1:0") as process:
            url = url_of(process)
            now, other = browser.page(url), browser.page(url)
            scene = Scene(tmp_path, shell, served.cluster, Load(tmp_path), url, now, other)
            scene.on("health", *(rf"\b{engine}\s+running\b" for engine in ENGINES))
            first, second = a_job_appears_is_explained_and_has_an_interval(scene, one, two)
            autoscalers_decide_and_their_machines_appear(scene)
            drained_nodes_show_and_one_whose_agent_rejects_tasks(scene, where, closed)
            one.end()
            now.until(rf"Running jobs.*\b{second}\b.*head of the queue")
            two.end()
            scene.on(
                f"decisions?engine=slurm&job={second}", r"order\s+breaks\s+start.*ended.*started.*submitted"
            )
            third, fourth = a_policy_of_kubernetes_fails_alone(scene, scaling, three)
            fifth = a_policy_of_slurm_fails_alone(scene, ordering, fourth)
            held = shell.submit("true", procs=4, minutes=30)
            now.until(rf"Waiting jobs.*\b{held}\b.*first in the queue")
            assert browser.messages == []
            requested = served.cluster.requested()
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE) == 0
        # The queue of Slurm is given back, and the requests of Kubernetes stay.
        assert not shell.rows()[held].held
        assert served.cluster.requested() == requested
        three.end()
        jobs = (third, fourth, fifth, held)
        shell.until(lambda rows: all(rows[job].phase is Phase.OVER for job in jobs if job in rows))
    with JournalReader(tmp_path / "journal.db") as reader:
        for job in (first, second):
            events = reader.events(RowFilter(engine="slurm", job=str(job))).rows
            assert [each.kind for each in reversed(events)] == ["submitted", "started", "ended"]
        prediction = reader.predictions.of_job("slurm", str(second))[-1]
        assert prediction.first
        assert prediction.started is not None
        assert reader.open_acts() == ()
        errors = reader.events(RowFilter(topic="error")).rows
        assert [each.job.engine for each in reversed(errors)] == ["kubernetes", "slurm"]
        states = {each.status.engine: each.status.state for each in reader.engines()}
        assert states == dict.fromkeys(ENGINES, "stopped")
