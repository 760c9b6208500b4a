"""Fill memory with numbers, then add and multiply them. Sequential, then parallel; uses nearly all cores and memory.

The numbers are in memory that all processes share. No two concurrent tasks use the same block, so the order of tasks
does not matter.
"""

from __future__ import annotations

import mmap
from functools import partial
from pathlib import Path

import common
import numpy as np

#: Bytes of a block, and of Python and NumPy in each process.
BLOCK, ITSELF = 2 * 2**20, 25 * 10**6
#: Share of the allocated memory that it fills.
FILLS = 0.95
#: Additions and multiplications of all numbers of a block in one task, and its nominal seconds.
ROUNDS, SECONDS = 200, 0.034


def block_of(memory: mmap.mmap, number: int) -> np.ndarray:
    """Return the numbers of one block."""
    return np.frombuffer(memory, np.float64, BLOCK // 8, number * BLOCK)


def work(memory: mmap.mmap, blocks: int, task: int) -> bytes:
    """Add to a block and multiply it, in place."""
    numbers = block_of(memory, task % blocks)
    for at in range(ROUNDS):
        numbers *= 0.999
        numbers += 0.001 * at
    return np.array([numbers.sum(), numbers.min(), numbers.max()]).tobytes()


def run(options: common.Options, progress: Path | None, folder: Path) -> common.Checksum:
    """Run both stages; return the checksum of the sums of each task, and of all numbers at the end."""
    blocks = max(4, int(options.memory * FILLS - ITSELF) // BLOCK)
    tasks = options.count(SECONDS)
    stages = common.Stages(progress, [blocks, tasks])
    checksum = common.Checksum()
    memory = mmap.mmap(-1, blocks * BLOCK)
    stages.begin(parallel=False)
    for number in stages.each(range(blocks)):
        block_of(memory, number)[:] = np.random.default_rng([options.seed, number]).random(BLOCK // 8)
    stages.begin(parallel=True)
    # One pass over all blocks at a time, so that two tasks with the same block never run at once.
    for first in range(0, tasks, blocks):
        turn = range(first, min(tasks, first + blocks))
        for result in stages.each(common.spread(partial(work, memory, blocks), turn, options.cores)):
            checksum.add(result)
    for number in range(blocks):
        checksum.add(block_of(memory, number))
    return checksum


if __name__ == "__main__":
    common.main("synthetic", __doc__ or "", run)
