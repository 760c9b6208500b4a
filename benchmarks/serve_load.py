"""Open-loop HTTP load: requests are sent at their times, whether or not earlier ones have ended."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

import aiohttp
import numpy as np
from numpy.typing import NDArray

from benchmarks.routers import drawn_work

TIMEOUT_S = 120


@dataclass(frozen=True, slots=True)
class Stream:
    """Requests: the times at which they are sent, s from the beginning, and their work."""

    due: NDArray[np.float64]
    work: NDArray[np.float64]

    @classmethod
    def poisson(cls, rate: float, seconds: float, rng: np.random.Generator, sizes: str) -> Stream:
        """Draw Poisson arrivals at ``rate`` for ``seconds``; :func:`benchmarks.routers.drawn_work` draws the work."""
        due = np.cumsum(rng.exponential(1 / rate, int(rate * seconds * 1.5) + 100))
        due = due[due < seconds]
        return cls(due, drawn_work(sizes, len(due), rng))


async def send(
    address: str, stream: Stream, events: list[tuple[float, Callable[[], None]]]
) -> NDArray[np.float64]:
    """Send a stream and run events at their times; return the response time of each request, s.

    Parameters
    ----------
    address
        URL of the application.
    stream
        Requests to send.
    events
        Times, s from the beginning, and functions to call then.

    Raises
    ------
    aiohttp.ClientError
        A request failed.
    """
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=60)
    timeout = aiohttp.ClientTimeout(total=TIMEOUT_S)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
        begun = time.perf_counter() + 0.1

        async def one(due: float, work: float) -> float:
            await asyncio.sleep(begun + due - time.perf_counter())
            async with session.get(address, params={"work": f"{work:.6f}"}) as answer:
                answer.raise_for_status()
                await answer.read()
            return time.perf_counter() - begun - due

        async def event(due: float, act: Callable[[], None]) -> None:
            await asyncio.sleep(begun + due - time.perf_counter())
            act()

        results = await asyncio.gather(
            *(one(due, work) for due, work in zip(stream.due.tolist(), stream.work.tolist(), strict=True)),
            *(event(due, act) for due, act in events),
        )
    return np.array(results[: len(stream.due)], np.float64)
