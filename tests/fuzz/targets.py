"""The targets of the fuzz test: readers, scenarios, options, policies and other commands."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from tests.fuzz import addresses, commands, readers
from tests.fuzz.case import Case

#: Targets with their weights, which sum to 100.
TARGETS: tuple[tuple[int, Callable[[random.Random, Path], Case]], ...] = (
    (22, readers.log),
    (3, commands.trace),
    (15, readers.table),
    (3, readers.parquet),
    (16, commands.read_scenario),
    (6, commands.run_scenario),
    (3, commands.options),
    (3, commands.invalid_options),
    (3, commands.policy),
    (2, commands.policy_file),
    (8, readers.other_yaml),
    (4, commands.commands),
    (6, readers.saved_state),
    (6, readers.option_values),
)

#: Cases from this number on are addresses.
ADDRESSES_FROM = 2000


def case_of(seed: int, number: int, folder: Path) -> tuple[str, Case]:
    """Return the name of the target and the case of a number, and create its files in an existing empty folder."""
    rng = random.Random(f"{seed}-{number}")
    if number >= ADDRESSES_FROM:
        return addresses.address.__name__, addresses.address(rng, folder)
    turn = number % sum(weight for weight, _ in TARGETS)
    for weight, target in TARGETS:
        if turn < weight:
            return target.__name__, target(rng, folder)
        turn -= weight
    raise AssertionError("a turn beyond all targets")
