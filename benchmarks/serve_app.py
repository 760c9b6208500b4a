"""A Ray Serve deployment whose replicas read their speeds and failures from a file, behind one HTTP server."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any

from ray import serve
from ray.serve.config import RequestRouterConfig
from ray.serve.handle import DeploymentHandle
from starlette.responses import StreamingResponse

from windlass.engines.ray.cluster import PrivateCluster, environment
from windlass.model.fleet import Fleet

#: Parts of a streamed answer.
_PARTS = 4


class Worker:
    """A replica that serves one request at a time, in order of arrival, at its speed, or fails after a while."""

    def __init__(self, state: str) -> None:
        self._state = Path(state)
        self._rank = int(serve.get_replica_context().rank.rank)
        self._turn = asyncio.Lock()

    async def __call__(self, request: Any) -> str | StreamingResponse:
        """Do the work that the query parameter gives; in parts if the answer is to be streamed."""
        amount = float(request.query_params["work"])
        if "stream" in request.query_params:
            return StreamingResponse(self.parts(amount), media_type="text/plain")
        return await self.work(amount)

    async def work(self, amount: float) -> str:
        """Do ``amount`` of work."""
        return "".join([part async for part in self.parts(amount, 1)])

    async def parts(self, amount: float, count: int = _PARTS) -> AsyncIterator[str]:
        """Do ``amount`` of work in equal parts."""
        async with self._turn:
            speed, fails_after = json.loads(self._state.read_text())[self._rank]
            if fails_after is not None:
                await asyncio.sleep(fails_after)
                raise RuntimeError("this replica fails")
            for _ in range(count):
                await asyncio.sleep(amount / speed / count)
                yield str(self._rank)


class Front:
    """Forwards each request to a worker; each replica has its own router, as several proxies do."""

    def __init__(self, workers: DeploymentHandle[Any]) -> None:
        self._workers = workers

    async def __call__(self, request: Any) -> str:
        """Forward the work that the query parameter gives."""
        return str(await self._workers.work.remote(float(request.query_params["work"])))


def write_state(file: Path, speeds: Sequence[float], fails_after: float | None = None) -> None:
    """Set the state of the replicas from the next request on; the file is replaced atomically.

    Parameters
    ----------
    file
        The file that they read.
    speeds
        Their speeds, work/s.
    fails_after
        Seconds after which each request of the first replica fails; None if it serves them.
    """
    states = [(speed, None if rank else fails_after) for rank, speed in enumerate(speeds)]
    fresh = file.with_suffix(".new")
    fresh.write_text(json.dumps(states))
    os.replace(fresh, file)


def deploy(
    name: str,
    state: Path,
    replicas: int,
    max_ongoing: int,
    router: RequestRouterConfig | None,
    proxies: int = 1,
) -> None:
    """Start an application at /``name`` with ``proxies`` routers; ``router`` None means Serve's own."""
    chosen = {} if router is None else {"request_router_config": router}
    deployment = serve.deployment(
        num_replicas=replicas,
        max_ongoing_requests=max_ongoing,
        ray_actor_options={"num_cpus": 0},
        **chosen,
    )(Worker)
    app = deployment.bind(str(state))
    if proxies > 1:
        options = {"max_ongoing_requests": 1000, "ray_actor_options": {"num_cpus": 0}}
        app = serve.deployment(num_replicas=proxies, **options)(Front).bind(app)
    serve.run(app, name=name, route_prefix=f"/{name}")


@contextlib.contextmanager
def serving() -> Iterator[str]:
    """Start a private Ray with Serve, and yield its HTTP address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    root = Path(__file__).parents[1]
    paths = os.pathsep.join([str(root / "src"), str(root), os.environ.get("PYTHONPATH", "")])
    # By default Ray's workers run at low priority, so other load on the machine would distort the times.
    with environment(
        RAY_USAGE_STATS_ENABLED="0", RAY_worker_niceness="0", PYTHONPATH=paths.rstrip(os.pathsep)
    ):
        cluster = PrivateCluster(Fleet.of([2], [1e6], [1e6]))
    try:
        serve.start(
            proxy_location="HeadOnly",
            http_options={"host": "127.0.0.1", "port": port},
            logging_config={"log_level": "ERROR"},
        )
        yield f"http://127.0.0.1:{port}"
    finally:
        serve.shutdown()
        cluster.close()
