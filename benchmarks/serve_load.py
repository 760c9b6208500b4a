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


@dataclass(frozen=True, slots=True)
class Answers:
    """(n,) when each request was sent, s from the beginning; its response time, s; and whether it failed."""

    due: NDArray[np.float64]
    seconds: NDArray[np.float64]
    failed: NDArray[np.bool_]

    def since(self, begin: float) -> Answers:
        """Return the answers to requests sent from ``begin`` on, s."""
        later = self.due >= begin
        return Answers(self.due[later], self.seconds[later], self.failed[later])

    @property
    def served(self) -> NDArray[np.float64]:
        """Response times of the requests that did not fail, s."""
        return self.seconds[~self.failed]


async def send(
    address: str, stream: Stream, events: list[tuple[float, Callable[[], None]]], streamed: bool = False
) -> Answers:
    """Send a stream and run events at their times; return when each request was answered, to its last byte.

    Parameters
    ----------
    address
        URL of the application.
    stream
        Requests to send.
    events
        Times, s from the beginning, and functions to call then.
    streamed
        Whether answers are to be streamed.
    """
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=60)
    timeout = aiohttp.ClientTimeout(total=TIMEOUT_S)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
        begun = time.perf_counter() + 0.1

        async def one(due: float, work: float) -> tuple[float, bool]:
            await asyncio.sleep(begun + due - time.perf_counter())
            parameters = {"work": f"{work:.6f}"} | ({"stream": "1"} if streamed else {})
            try:
                async with session.get(address, params=parameters) as answer:
                    await answer.read()
                    failed = not answer.ok
            except (aiohttp.ClientError, TimeoutError):
                failed = True
            return time.perf_counter() - begun - due, failed

        async def event(due: float, act: Callable[[], None]) -> None:
            await asyncio.sleep(begun + due - time.perf_counter())
            act()

        requests = [
            one(due, work) for due, work in zip(stream.due.tolist(), stream.work.tolist(), strict=True)
        ]
        answers, _ = await asyncio.gather(
            asyncio.gather(*requests), asyncio.gather(*(event(due, act) for due, act in events))
        )
    return Answers(
        stream.due, np.array([each for each, _ in answers]), np.array([each for _, each in answers], np.bool_)
    )
