"""A Ray Serve deployment whose replicas have speeds that a file tells, and one HTTP server in front of it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ray
from ray import serve
from ray.serve.config import RequestRouterConfig


class Worker:
    """A replica: one request at a time, in the order they come, for as long as its work takes at this speed."""

    def __init__(self, speeds: str) -> None:
        self._speeds = Path(speeds)
        self._rank = int(serve.get_replica_context().rank.rank)
        self._turn = asyncio.Lock()

    async def __call__(self, request: Any) -> str:
        """Do the work that the query names."""
        async with self._turn:
            speed = json.loads(self._speeds.read_text())[self._rank]
            await asyncio.sleep(float(request.query_params["work"]) / speed)
        return str(self._rank)


def write_speeds(file: Path, speeds: list[float]) -> None:
    """Set the replicas' speeds, work/s, from the next request on; whole or not at all."""
    fresh = file.with_suffix(".new")
    fresh.write_text(json.dumps(speeds))
    os.replace(fresh, file)


def deploy(
    name: str, speeds: Path, replicas: int, max_ongoing: int, router: RequestRouterConfig | None
) -> None:
    """Start an application at /``name``; ``router`` None is Serve's own."""
    chosen = {} if router is None else {"request_router_config": router}
    deployment = serve.deployment(
        num_replicas=replicas,
        max_ongoing_requests=max_ongoing,
        ray_actor_options={"num_cpus": 0},
        **chosen,
    )(Worker)
    serve.run(deployment.bind(str(speeds)), name=name, route_prefix=f"/{name}")


@contextlib.contextmanager
def serving() -> Iterator[str]:
    """A private Ray with Serve; its HTTP address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = tempfile.TemporaryDirectory(prefix="wl", ignore_cleanup_errors=True)
    os.environ.setdefault("RAY_TMPDIR", folder.name)
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # Ray's workers are nice to others by default: on a machine with others, it is those that would be measured.
    os.environ.setdefault("RAY_worker_niceness", "0")
    source = str(Path(__file__).parents[1])
    paths = os.pathsep.join([source, os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    ray.init(
        address="local",
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        object_store_memory=150 * 2**20,
        runtime_env={"env_vars": {"PYTHONPATH": paths}},
    )
    try:
        serve.start(http_options={"host": "127.0.0.1", "port": port}, logging_config={"log_level": "ERROR"})
        yield f"http://127.0.0.1:{port}"
    finally:
        serve.shutdown()
        ray.shutdown()
        folder.cleanup()
