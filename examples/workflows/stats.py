"""Compute statistics of a household's electric power: mostly waits for messages; uses about 26 % of its cores.

Measurements, one per minute, are written into files (sequential). Then a hub reads blocks and sends one to each
process, one process per core. Processes pass their sums on in a ring until each has those of all (parallel). The hub
computes the bounds of a histogram from the blocks (sequential), and blocks pass through the processes once more, for
histograms (parallel). Every message takes some time, as over a network. All sums are of whole numbers, so their order
does not change them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path

import common
import numpy as np

#: Minutes in a block, lags of an autocorrelation, bars of a histogram.
BLOCK, LAGS, BARS = 20_000, 240, 256
#: Seconds that a message takes, and that a disk takes for the file of a block.
MESSAGE, DISK = 0.0045, 0.0015
#: Nominal seconds for one block, all stages together.
SECONDS = 0.035

Work = Callable[[np.ndarray], np.ndarray]


def write(path: Path, seed: int, number: int) -> None:
    """Write a file of measurements in whole watts: a daily cycle, and random devices."""
    time.sleep(DISK)
    rng = np.random.default_rng([seed, number])
    minute = np.arange(BLOCK) + number * BLOCK
    watts = 300 + 250 * np.sin(minute * (2 * np.pi / 1440)) + rng.gamma(2.0, 180.0, BLOCK)
    with path.open("wb") as file:
        file.write(watts.astype(np.int32).tobytes())
        file.flush()
        os.fsync(file.fileno())


def read(folder: Path, number: int) -> np.ndarray:
    """Read the measurements of a block."""
    time.sleep(DISK)
    return np.frombuffer((folder / f"block{number}").read_bytes(), np.int32)


def sums(block: np.ndarray) -> np.ndarray:
    """Return the count, the sums of values and squares, the minimum, and the lagged sums of products."""
    small = block.astype(np.int64) - 500
    lagged = [int((small[lag:] * small[: len(small) - lag]).sum()) for lag in range(1, LAGS)]
    return np.array([len(block), small.sum(), (small**2).sum(), block.min(initial=0), *lagged], np.int64)


def shape(low: int, wide: int, block: np.ndarray) -> np.ndarray:
    """Return a histogram, and the number of upward crossings of each bar's lower bound."""
    bars = np.bincount(np.clip((block - low) // wide, 0, BARS - 1), minlength=BARS)
    above = [
        np.count_nonzero((block[:-1] <= low + at * wide) & (block[1:] > low + at * wide))
        for at in range(BARS)
    ]
    return np.concatenate([bars, above]).astype(np.int64)


def rank(work: Work, size: int, left: Connection, right: Connection, hub: Connection) -> None:
    """Run one process of the ring: receive a block, pass its sums round, and send its own sums and those of all."""
    while True:
        block = hub.recv()
        time.sleep(MESSAGE)
        own = work(block)
        total, passed = own.copy(), own
        for _ in range(size - 1):
            right.send(passed)
            passed = left.recv()
            time.sleep(MESSAGE)
            total += passed
        hub.send((own, total))
        time.sleep(MESSAGE)


def ring(work: Work, folder: Path, blocks: int, size: int, step: Callable[[], None]) -> np.ndarray:
    """Return the sums of each block; a round has one block for each process."""
    ends = [Pipe(duplex=False) for _ in range(size)]
    ranks = [partial(rank, work, size, ends[at][0], ends[(at + 1) % size][1]) for at in range(size)]
    found = []
    with common.processes(ranks) as hubs:
        for first in range(0, blocks, size):
            turn = [read(folder, number) for number in range(first, min(blocks, first + size))]
            nothing = [turn[0][:0]] * (size - len(turn))
            for hub, block in zip(hubs, [*turn, *nothing], strict=True):
                hub.send(block)
            answers = common.answers(hubs)
            expected = np.sum([own for own, _ in answers], axis=0)
            if any((total != expected).any() for _, total in answers):
                raise SystemExit("stats: the sums that the ring returned are not those of its processes")
            for own, _ in answers[: len(turn)]:
                found.append(own)
                step()
    return np.array(found)


def run(options: common.Options, progress: Path | None, folder: Path) -> common.Checksum:
    """Run all stages; return the checksum of the sums and histograms of all blocks."""
    count = options.count(SECONDS)
    stages = common.Stages(progress, [count] * 4)
    stages.begin(parallel=False)
    for number in stages.each(range(count)):
        write(folder / f"block{number}", options.seed, number)
    stages.begin(parallel=True)
    found = ring(sums, folder, count, options.cores, stages.step)
    stages.begin(parallel=False)
    bounds = [
        np.quantile(read(folder, number), [0.01, 0.99], method="lower")
        for number in stages.each(range(count))
    ]
    low, high = (int(each) for each in np.median(bounds, axis=0))
    stages.begin(parallel=True)
    shapes = ring(
        partial(shape, low, max(1, (high - low) // BARS)), folder, count, options.cores, stages.step
    )
    checksum = common.Checksum()
    checksum.add(found)
    checksum.add(shapes)
    return checksum


if __name__ == "__main__":
    common.main("stats", __doc__ or "", run)
