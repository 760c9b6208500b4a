"""A fuzz case."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.nasty import corrupted


@dataclass(frozen=True, slots=True)
class Case:
    """A call of the library or a command, and whether it must be rejected.

    ``raises``: documented errors besides ``InputError``. ``names``: the error must contain one of these
    and must not be longer than a few lines of a terminal.
    """

    call: Callable[[], object] | None = None
    command: tuple[str, ...] = ()
    refuse: bool = False
    raises: tuple[type[BaseException], ...] = ()
    names: tuple[str, ...] = ()


def write_corrupted(folder: Path, rng: random.Random, text: str, name: str) -> Path:
    """Write a file with a corrupted text, which is sometimes compressed and then sometimes truncated."""
    data = corrupted(text, rng)
    file = folder / name
    if rng.random() < 0.1:
        data, file = gzip.compress(data), folder / f"{name}.gz"
        if rng.random() < 0.5:
            data = data[: rng.randint(0, len(data))]
    file.write_bytes(data)
    return file
