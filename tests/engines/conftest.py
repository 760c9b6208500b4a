"""One private Ray for the tests of the live engines, gone without a trace afterwards."""

import os
import socket
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def serve_address():
    """Serve on a private Ray; its HTTP address. When it ends, no process of it may be left."""
    pytest.importorskip("ray", reason="Ray is not installed (the extra `ray`)")
    serve = pytest.importorskip("ray.serve", reason="Ray Serve is not installed (the extra `ray`)")
    import psutil

    from windlass.engines import ray_cluster
    from windlass.sim.geo_place_workload import WideArea

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    root = Path(__file__).parents[2]
    paths = os.pathsep.join([str(root / "src"), str(root), os.environ.get("PYTHONPATH", "")])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_worker_niceness", "0")
        # Replicas are started by raylets, which have the environment of this moment.
        patch.setenv("PYTHONPATH", paths.rstrip(os.pathsep))
        cluster = ray_cluster.PrivateCluster(WideArea.of([2], [1e6], [1e6]))
    started = []
    try:
        serve.start(
            proxy_location="HeadOnly",
            http_options={"host": "127.0.0.1", "port": port},
            logging_config={"log_level": "ERROR"},
        )
        started = [child for child in psutil.Process().children(recursive=True) if child.pid not in before]
        assert started
        yield f"http://127.0.0.1:{port}"
    finally:
        serve.shutdown()
        started += [
            child
            for child in psutil.Process().children(recursive=True)
            if child.pid not in before and child not in started
        ]
        cluster.close()
    _, alive = psutil.wait_procs(started, timeout=20)
    assert alive == [], f"left behind: {alive}"
