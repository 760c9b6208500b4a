"""Reading of telemetry in any known format, by the suffix of its file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from windlass.io.traces.telemetry.bitbrains import read_bitbrains
from windlass.io.traces.telemetry.recorded import read_recorded
from windlass.io.traces.telemetry.series import Telemetry
from windlass.io.traces.telemetry.smd import read_smd
from windlass.model import InputError


def _smd(path: Path) -> Telemetry:
    """Read both parts of a machine, one after the other."""
    machine = read_smd(path)
    both = np.concatenate([machine.train.values, machine.test.values])
    time = np.concatenate(
        [machine.train.time, machine.train.time[-1] + machine.train.step + machine.test.time]
    )
    return Telemetry(str(path), time, machine.train.names, both)


#: Readers by suffix.
FORMATS: dict[str, Callable[[Path], Telemetry]] = {
    ".parquet": read_recorded,
    ".npz": _smd,
    ".csv": read_bitbrains,
    ".csv.gz": read_bitbrains,
}


def read_telemetry(path: Path) -> Telemetry:
    """Read a file in any known format; the two parts of an SMD machine follow each other.

    Raises
    ------
    InputError
        The suffix is unknown, or the reader of the format fails.

    Examples
    --------
    >>> read_telemetry(Path("a.txt"))
    Traceback (most recent call last):
    windlass.model.errors.InputError: a.txt: unknown format, expected a name that ends in .parquet, .npz, .csv, .csv.gz
    """
    name = path.name.lower()
    for suffix, reader in FORMATS.items():
        if name.endswith(suffix):
            return reader(path)
    raise InputError(f"{path}: unknown format, expected a name that ends in {', '.join(FORMATS)}")
