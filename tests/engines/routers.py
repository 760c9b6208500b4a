"""What the tests deploy; Serve's processes import it."""

import asyncio
import os

from ray import serve

from windlass.engines.serve.router import LearningRouter

SECONDS = 0.06


class BrokenRouter(LearningRouter):
    """Its policy raises at every turn once it is loaded."""

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
        """Who served it."""
        async with self._turn:
            await asyncio.sleep(SECONDS / 2**self._rank)
        return f"{self._rank} {os.getpid()}"

    async def probe(self):
        """A benchmark request."""
        self._probed += 1
        await self()

    def probed(self):
        """How many of them came."""
        return self._probed
