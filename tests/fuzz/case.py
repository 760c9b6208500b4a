"""One try."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.nasty import spoiled


@dataclass(frozen=True, slots=True)
class Case:
    """One try: either a call of the library or a command, and whether it must be refused.

    ``raises``: errors that the library says it raises here besides ``InputError``. ``names``: a line that refuses it
    has one of these, and is no longer than a few lines of a terminal.
    """

    call: Callable[[], object] | None = None
    command: tuple[str, ...] = ()
    refuse: bool = False
    raises: tuple[type[BaseException], ...] = ()
    names: tuple[str, ...] = ()


def written(folder: Path, rng: random.Random, text: str, name: str) -> Path:
    """A file with a spoiled text, now and then packed, and then now and then cut."""
    data = spoiled(text, rng)
    file = folder / name
    if rng.random() < 0.1:
        data, file = gzip.compress(data), folder / f"{name}.gz"
        if rng.random() < 0.5:
            data = data[: rng.randint(0, len(data))]
    file.write_bytes(data)
    return file
