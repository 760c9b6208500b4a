"""A real Ray cluster with its own autoscaler: nodes exist before a repeating load, and are removed after it.

Time is counted in steps, and each step ends only when the cluster has fulfilled the requests: so the test checks
the outcome on a machine of any speed.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

ray = pytest.importorskip("ray", reason="needs the package ray")

import psutil  # noqa: E402

from tests.engines.elastic.test_engine import FakeClock  # noqa: E402
from windlass.engines.elastic.engine import LiveScale  # noqa: E402
from windlass.engines.ray.cluster import processes_of, remove_folder  # noqa: E402
from windlass.engines.ray.join import connect  # noqa: E402
from windlass.engines.ray.scale import connected  # noqa: E402
from windlass.engines.slurm.daemons import wait_until  # noqa: E402
from windlass.model.instances import InstanceType  # noqa: E402
from windlass.scale.monitor import Monitor  # noqa: E402
from windlass.scale.policies.predictive import Predictive  # noqa: E402

pytestmark = pytest.mark.slow
PATIENCE = 300.0
TYPES = (InstanceType("small", cores=2, launch=300.0, most=3),)
SEASON = 6
#: Required empty fields of a configuration.
_NO_LISTS = (
    "setup_commands",
    "initialization_commands",
    "head_setup_commands",
    "worker_setup_commands",
    "head_start_ray_commands",
    "worker_start_ray_commands",
    "cluster_synced_files",
    "rsync_exclude",
    "rsync_filter",
)
#: Steps of each season in which two nodes are busy.
BUSY = (0, 1)


def free_port() -> int:
    """Return a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def autoscaled(port: int) -> Iterator[Path]:
    """Run a cluster without workers whose autoscaler starts local raylets; yield its folder and end all."""
    from ray.autoscaler._private.fake_multi_node.node_provider import FAKE_HEAD_NODE_ID

    folder = Path(tempfile.mkdtemp(prefix="windlass-ray-", dir="/tmp"))
    address = f"127.0.0.1:{port}"
    config = {
        **{key: {} for key in ("auth", "file_mounts")},
        **{key: [] for key in _NO_LISTS},
        "file_mounts_sync_continuously": False,
        "cluster_name": "windlass",
        "max_workers": 4,
        "idle_timeout_minutes": 0.05,
        "upscaling_speed": 100.0,
        "provider": {
            "type": "external",
            "module": "tests.engines.ray_nodes.Nodes",
            "use_node_id_as_ip": True,
            "disable_node_updaters": True,
            "disable_launch_config_check": True,
            "launch_multiple": True,
            "head_node_id": FAKE_HEAD_NODE_ID,
            "gcs_address": address,
        },
        "head_node_type": "ray.head.default",
        "available_node_types": {
            "ray.head.default": {"resources": {"CPU": 0}, "node_config": {}, "max_workers": 0},
            "small": {
                "resources": {"CPU": 2, "object_store_memory": 100_000_000},
                "node_config": {},
                "min_workers": 0,
                "max_workers": 3,
            },
        },
    }
    file = folder / "autoscaler.json"
    file.write_text(json.dumps(config))
    environment = {
        **os.environ,
        "RAY_FAKE_CLUSTER": "1",
        "RAY_enable_autoscaler_v2": "1",
        "AUTOSCALER_UPDATE_INTERVAL_S": "1",
        "RAY_CLOUD_INSTANCE_ID": FAKE_HEAD_NODE_ID,
        "RAY_OVERRIDE_NODE_ID_FOR_TESTING": FAKE_HEAD_NODE_ID,
        # On Linux Ray replaces 127.0.0.1 by the own address. With this setting it behaves as elsewhere, where a
        # cluster is of one machine; nodes that the autoscaler starts then listen on loopback, too.
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
        "RAY_TMPDIR": str(folder),
        "PYTHONPATH": os.pathsep.join((str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", ""))),
    }
    command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", f"--port={port}"]
    command += ["--node-ip-address=127.0.0.1", f"--ray-client-server-port={free_port()}"]
    command += [f"--autoscaling-config={file}", "--num-cpus=0"]
    command += ["--object-store-memory=100000000", "--include-dashboard=false", f"--temp-dir={folder}"]
    try:
        for left in (2, 1, 0):
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE)
            if done.returncode == 0:
                break
            # Ray's timeout for the start of a node, which a busy machine may exceed.
            _end_all(str(folder))
            assert left, done.stderr
        yield folder
    finally:
        _end_all(str(folder))
        remove_folder(str(folder))


def _end_all(folder: str) -> None:
    """Kill all processes of a cluster, including those that its autoscaler starts meanwhile."""
    until = time.monotonic() + PATIENCE
    while found := [*processes_of(folder), *_with_folder(folder)]:
        for process in found:
            with suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(found, 5.0)
        assert time.monotonic() < until, f"not ended: {found}"


def _with_folder(folder: str) -> Iterator[psutil.Process]:
    """Yield processes with the folder in their environment: Ray's client server is one, and outlives others."""
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get("RAY_TMPDIR") == folder and process.pid != os.getpid():
                yield process


@contextmanager
def joined(port: int) -> Iterator[None]:
    """Connect this process to the cluster as a driver."""
    connect(f"127.0.0.1:{port}")
    try:
        yield
    finally:
        ray.shutdown()


class Load:
    """Tasks that keep whole nodes busy until they are released."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.file, self.tasks = folder, folder / "go", []

    def begin(self) -> None:
        @ray.remote(num_cpus=2, max_retries=0)
        def hold(file: str) -> None:
            import os
            import time

            while os.path.exists(file):
                time.sleep(0.05)

        self.file.touch()
        self.tasks = [hold.remote(str(self.file)) for _ in range(2)]

    def end(self) -> None:
        self.file.unlink(missing_ok=True)
        ray.get(self.tasks)
        self.tasks = []


def test_nodes_exist_before_a_repeating_load_and_are_removed_after_it(tmp_path):
    policy = Predictive("seasonal-naive", seasons=[300.0 * SEASON], ladder=[(0, 0)])
    clock = FakeClock(float("inf"))
    port = free_port()
    with (
        autoscaled(port),
        joined(port),
        connected(f"127.0.0.1:{port}", TYPES) as system,
        Monitor(tmp_path / "history.db", ["small"], period=300.0) as monitor,
    ):
        engine, load = LiveScale(system, monitor, clock, period=300.0), Load(tmp_path)
        before, after = [], []
        for step in range(3 * SEASON):
            at = step % SEASON
            if at == BUSY[0]:
                before.append(int(system.look().ready[0]))
                load.begin()
            if at in BUSY:
                assert wait_until(lambda: int(system.look().used[0]) == 2, PATIENCE)
            if at == BUSY[-1] + 1:
                load.end()
                assert wait_until(lambda: int(system.look().used[0]) == 0, PATIENCE)
            assert engine.wait() == "scale"
            totals = policy.decide(engine.view("scale"))
            engine.act("scale", totals)
            # Exactly the requested nodes: empty others are removed automatically.
            assert wait_until(
                lambda wanted=totals.counts[0]: int(system.look().ready[0]) == wanted, PATIENCE
            ), (step, totals)
            if at == SEASON - 3:
                after.append(int(system.look().ready[0]))
        assert before[0] == 0
        assert before[-1] == 2
        assert after == [0, 0, 0]
        load.end()
