"""One private Ray for the tests of the live engines, gone without a trace afterwards."""

import os
import socket
import tempfile
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def serve_address():
    """Serve on a private Ray; its HTTP address. When it ends, no process of it may be left."""
    ray = pytest.importorskip("ray", reason="Ray is not installed (the extra `ray`)")
    serve = pytest.importorskip("ray.serve", reason="Ray Serve is not installed (the extra `ray`)")
    psutil = pytest.importorskip("psutil", reason="psutil comes with Ray")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    os.environ.setdefault("RAY_TMPDIR", tempfile.mkdtemp(prefix="wl"))
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_worker_niceness", "0")
    source = str(Path(__file__).parents[2] / "src")
    paths = os.pathsep.join([source, str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
    ray.init(
        address="local",
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        object_store_memory=150 * 2**20,
        runtime_env={"env_vars": {"PYTHONPATH": paths.rstrip(os.pathsep)}},
    )
    serve.start(http_options={"host": "127.0.0.1", "port": port}, logging_config={"log_level": "ERROR"})
    started = [child for child in psutil.Process().children(recursive=True) if child.pid not in before]
    assert started
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        serve.shutdown()
        started += [
            child
            for child in psutil.Process().children(recursive=True)
            if child.pid not in before and child not in started
        ]
        ray.shutdown()
    _, alive = psutil.wait_procs(started, timeout=20)
    assert alive == [], f"left behind: {alive}"
