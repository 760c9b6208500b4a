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

    def _end(self, speeds, replica_id, request, *outcome):
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


class Hanging(Worker):
    """As a worker, but the replica of rank 1 never answers."""

    async def __call__(self, request=None):
        """Return the serving replica's rank, or nothing for ever."""
        if self._rank == 1:
            await asyncio.Event().wait()
        return await super().__call__(request)


class Failing(Worker):
    """As a worker, but the replica of rank 1 raises: at once, or after as long as the slowest one takes."""

    def __init__(self, seconds=0.0):
        super().__init__()
        self._seconds = seconds

    async def __call__(self, request=None):
        """Return the serving replica's rank, or raise."""
        if self._rank == 1:
            await asyncio.sleep(self._seconds)
            raise ValueError("failed on purpose")
        return await super().__call__(request)
