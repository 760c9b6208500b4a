"""Fills memory with numbers, then adds and multiplies them. Sequential, then parallel; nearly all of cores and memory.

The numbers lie in memory that all processes share. Each block of them is one task's alone, so no order of tasks
matters.
"""

from __future__ import annotations

import mmap
from functools import partial
from pathlib import Path

import common
import numpy as np

#: Bytes of a block, and of Python and numpy themselves, for each process.
BLOCK, ITSELF = 2 * 2**20, 25 * 10**6
#: Of the memory that it was given, what it fills.
FILLS = 0.95
#: Additions and multiplications of all numbers of a block in one task, and its nominal seconds.
ROUNDS, SECONDS = 200, 0.034


def block_of(memory: mmap.mmap, number: int) -> np.ndarray:
    """The numbers of one block."""
    return np.frombuffer(memory, np.float64, BLOCK // 8, number * BLOCK)


def work(memory: mmap.mmap, blocks: int, task: int) -> bytes:
    """Add to a block and multiply it, in place."""
    numbers = block_of(memory, task % blocks)
    for at in range(ROUNDS):
        numbers *= 0.999
        numbers += 0.001 * at
    return np.array([numbers.sum(), numbers.min(), numbers.max()]).tobytes()


def run(given: common.Options, told: Path | None, folder: Path) -> common.Checksum:
    """Both stages; the checksum is of sums by task, and of all numbers at the end."""
    blocks = max(4, int(given.memory * FILLS - ITSELF) // BLOCK)
    tasks = given.count(SECONDS)
    stages = common.Stages(told, [blocks, tasks])
    checksum = common.Checksum()
    memory = mmap.mmap(-1, blocks * BLOCK)
    stages.begin(parallel=False)
    for number in stages.each(range(blocks)):
        block_of(memory, number)[:] = np.random.default_rng([given.seed, number]).random(BLOCK // 8)
    stages.begin(parallel=True)
    # Turn by turn over all blocks: two tasks with the same block are never at work at once.
    for first in range(0, tasks, blocks):
        turn = range(first, min(tasks, first + blocks))
        for result in stages.each(common.spread(partial(work, memory, blocks), turn, given.cores)):
            checksum.add(result)
    for number in range(blocks):
        checksum.add(block_of(memory, number))
    return checksum


if __name__ == "__main__":
    common.main("synthetic", __doc__ or "", run)
