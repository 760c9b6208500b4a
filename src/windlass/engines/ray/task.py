"""What runs on Ray's workers. Standard library and Ray only: this module travels to workers by value."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import ray

from windlass.engines.live.wan import Links
from windlass.engines.live.work import Work


class Wan:
    """An actor that lets bytes pass no faster than emulated links do."""

    def __init__(self, links: Links) -> None:
        self._links = links

    async def carry(self, source: int, site: int, size: int) -> None:
        """Return when so many bytes have passed from a site to another."""
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
        """Bytes/s up and down at each site."""
        return self._links.in_use(time.monotonic())


def run_task(work: Work, site: int, reads: list[tuple[int, int, list[Any]]], wan: Any) -> Any:
    """Read, then work: times of the machine's clock (began, had read, had computed, s), sizes, then the parts.

    ``reads`` has site, bytes and object references of each source. References inside a list are not fetched by
    Ray beforehand: here they are pulled, by Ray itself, while the emulated links let the bytes pass.
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
    """An actor at a node that loads data there, and moves data there; threads of one process, not a process each."""

    def run(self, work: Work, site: int, reads: list[tuple[int, int, list[Any]]], wan: Any) -> Any:
        """As a task does."""
        return run_task(work, site, reads, wan)


def warm_up(seconds: float) -> None:
    """Hold a slot for a moment, so that each slot has a process before it is needed."""
    time.sleep(seconds)
