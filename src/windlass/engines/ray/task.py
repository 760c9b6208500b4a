"""Code that runs on Ray's workers. Standard library and Ray only: this module is sent to workers by value."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import ray

from windlass.engines.live.wan import Links
from windlass.engines.live.work import Work


class Wan:
    """An actor that delays transfers to the rates of emulated links."""

    def __init__(self, links: Links) -> None:
        self._links = links

    async def carry(self, source: int, site: int, size: int) -> None:
        """Return once ``size`` bytes have passed from one site to another."""
        left = float(size)
        self._links.open(source, site)
        try:
            while left > 0.0:
                portion = min(self._links.portion(source, site), left)
                now = time.monotonic()
                until = self._links.take(now, source, site, portion)
                left -= portion
                await asyncio.sleep(max(until - now, 0.0))
        finally:
            self._links.close(source, site)

    async def in_use(self) -> tuple[list[float], list[float]]:
        """Return the bytes/s up and down at each site."""
        return self._links.in_use(time.monotonic())


def run_task(work: Work, site: int, reads: list[tuple[int, int, list[Any]]], wan: Any) -> Any:
    """Read, then work; return a report (started, had read, had computed, s; sizes), then the parts.

    ``reads`` has site, bytes and object references of each source. Ray does not fetch references inside a list before
    the call: they are fetched here, while the emulated links pass the bytes. Times are of the machine's clock.
    """
    began = time.time()
    passing = [
        wan.carry.remote(source, site, size)
        for source, size, _ in reads
        if wan is not None and source != site and size > 0
    ]
    inputs = ray.get([reference for _, _, references in reads for reference in references])
    ray.get(passing)
    had_read = time.time()
    parts = work.run(inputs)
    report = (began, had_read, time.time(), tuple(len(part) for part in parts))
    return (report, *parts) if parts else report


class DataMover:
    """An actor on a node that loads data there and moves data to it, with threads of a single process."""

    def run(self, work: Work, site: int, reads: list[tuple[int, int, list[Any]]], wan: Any) -> Any:
        """Run like a task."""
        return run_task(work, site, reads, wan)


def warm_up(seconds: float) -> None:
    """Hold a slot for a moment, so that each slot has a process before it is needed."""
    time.sleep(seconds)
