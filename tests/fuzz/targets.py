"""What is fuzzed: readers, scenarios, options, policies, and what other commands read."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from tests.fuzz import addresses, commands, readers
from tests.fuzz.case import Case

#: What is tried, and how often among a hundred.
TARGETS: tuple[tuple[int, Callable[[random.Random, Path], Case]], ...] = (
    (22, readers.log),
    (3, commands.trace),
    (15, readers.table),
    (3, readers.parquet),
    (16, commands.read_scenario),
    (6, commands.run_scenario),
    (3, commands.options),
    (3, commands.refused_options),
    (3, commands.policy),
    (2, commands.policy_file),
    (8, readers.other_yaml),
    (4, commands.commands),
    (6, readers.kept_state),
    (6, readers.asked),
)

#: Cases from this number on are addresses; so those before are what they were before these came.
ADDRESSES_FROM = 2000


def case_of(seed: int, number: int, folder: Path) -> tuple[str, Case]:
    """The case of this number, and what it tries; its files are made in the folder, which is there and empty."""
    rng = random.Random(f"{seed}-{number}")
    if number >= ADDRESSES_FROM:
        return addresses.address.__name__, addresses.address(rng, folder)
    turn = number % sum(times for times, _ in TARGETS)
    for times, target in TARGETS:
        if turn < times:
            return target.__name__, target(rng, folder)
        turn -= times
    raise AssertionError("a turn beyond all targets")
