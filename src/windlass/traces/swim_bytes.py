"""Bytes of Hadoop jobs, as the SWIM project publishes them: one job a line, tab separated.

``id  submit (s)  gap (s)  map input  shuffle  reduce output`` (bytes).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError


@dataclass(frozen=True, slots=True)
class SwimBytes:
    """Jobs as columns (n,): when submitted, s; bytes read by maps, moved by the shuffle, written by reducers."""

    submit: NDArray[np.float64]
    map_input: NDArray[np.float64]
    shuffle: NDArray[np.float64]
    output: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.submit)


def read_swim_bytes(file: Path) -> SwimBytes:
    """Read a log.

    Raises
    ------
    InputError
        The file cannot be read, or a line is not six fields with numbers of 0 or more; names the line.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "log.tsv"
    >>> _ = path.write_text(chr(9).join(["job0", "9", "9", "1762", "0", "14347"]) + chr(10))
    >>> read_swim_bytes(path).map_input.tolist()
    [1762.0]
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: not UTF-8 text") from error
    rows = np.empty((len(lines), 4))
    for number, line in enumerate(lines, start=1):
        fields = line.split("\t")
        if len(fields) != 6:
            raise InputError(f"{file}, line {number}: {len(fields)} fields, expected 6")
        try:
            rows[number - 1] = [float(fields[place]) for place in (1, 3, 4, 5)]
        except ValueError as error:
            raise InputError(f"{file}, line {number}: {error}") from error
        if not (rows[number - 1] >= 0).all():
            raise InputError(f"{file}, line {number}: a value is negative or not a number")
    if not len(rows):
        raise InputError(f"{file}: has no jobs")
    rows = rows[np.argsort(rows[:, 0], kind="stable")]
    submit, map_input, shuffle, output = (np.ascontiguousarray(column) for column in rows.T)
    return SwimBytes(submit, map_input, shuffle, output)
