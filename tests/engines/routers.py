"""Deployments of the tests, which Serve's processes import."""

import asyncio
import os

from ray import serve

from windlass.engines.serve.router import LearningRouter

SECONDS = 0.06


class BrokenRouter(LearningRouter):
    """A router whose policy raises at every call."""

    def _rank(self, speeds, candidates, request):
        raise RuntimeError("broken on purpose")

    def _end(self, speeds, replica_id, request):
        raise RuntimeError("broken on purpose")


class Worker:
    """One request at a time; the second replica takes a half, the third a quarter of the first's time."""

    def __init__(self):
        self._rank = int(serve.get_replica_context().rank.rank)
        self._turn = asyncio.Lock()
        self._probed = 0

    async def __call__(self, request=None):
        """Return the serving replica's rank."""
        async with self._turn:
            await asyncio.sleep(SECONDS / 2**self._rank)
        return f"{self._rank} {os.getpid()}"

    async def probe(self):
        """A benchmark request."""
        self._probed += 1
        await self()

    def probed(self):
        """Return the number of benchmark requests."""
        return self._probed
