"""An API server in this process, over real HTTP on loopback."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import kmock

from tests.engines.kubernetes.things import kubeconfig
from windlass.engines.kubernetes.server import ApiServer

_KINDS = {
    "v1/nodes": ("Node", False),
    "v1/pods": ("Pod", True),
    "v1/podtemplates": ("PodTemplate", True),
    "apps/v1/deployments": ("Deployment", True),
    "scheduling.k8s.io/v1/priorityclasses": ("PriorityClass", False),
}
_BUFFERS = {"autoscaling.x-k8s.io/v1beta1/capacitybuffers": ("CapacityBuffer", True)}


@contextmanager
def emulated(buffers: bool) -> Iterator[tuple[str, kmock.KubernetesEmulator]]:
    """The URL of a server, with CapacityBuffers or without, and the emulator."""
    ready, stop, box = threading.Event(), asyncio.Event(), []
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        async with kmock.KubernetesEmulator() as handler, kmock.Server(handler) as server:
            for name, (kind, namespaced) in {**_KINDS, **(_BUFFERS if buffers else {})}.items():
                handler.resources[name] = {"kind": kind, "namespaced": namespaced}
            box.append((str(server.url).rstrip("/"), handler))
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    try:
        assert ready.wait(180.0)
        yield box[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


def client(url: str, folder: Path) -> ApiServer:
    """Return a client of the server, from a kubeconfig file."""
    return ApiServer(str(kubeconfig(folder / "kubeconfig", url)))
