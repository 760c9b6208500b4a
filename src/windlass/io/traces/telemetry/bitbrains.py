"""Reader of Bitbrains' virtual machines (GWA-T-12): a line every five minutes, fields separated by ";" and a tab."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from windlass.io.traces.files import read_text
from windlass.io.traces.telemetry.series import Telemetry
from windlass.model import InputError

#: The first field of the first line; despite this name its values are in seconds.
_TIME = "Timestamp [ms]"


def read_bitbrains(path: Path) -> Telemetry:
    """Read a virtual machine's file; the first field is the time, all others are metrics.

    Parameters
    ----------
    path
        The file, plain or ``.gz``.

    Raises
    ------
    InputError
        The file cannot be read, has another first line, or a line has a wrong number of fields, a value that is not a
        number of 0 or more, or a time before that of the previous line; names file, line and field.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "1.csv"
    >>> _ = path.write_text("Timestamp [ms];\\tCPU cores;\\tCPU usage [%]\\n0;\\t2;\\t12.5\\n300;\\t2;\\t80\\n")
    >>> machine = read_bitbrains(path)
    >>> machine.names, machine.of("CPU usage [%]").tolist(), machine.step
    (('CPU cores', 'CPU usage [%]'), [12.5, 80.0], 300.0)
    """
    lines = [(number, line) for number, line in enumerate(read_text(path).split("\n"), 1) if line.strip()]
    if not lines:
        raise InputError(f"{path}: no line with names, expected a first line that begins with {_TIME!r}")
    names = _fields(lines[0][1])
    if names[0] != _TIME or len(names) < 2:
        raise InputError(
            f"{path}, line {lines[0][0]}: begins with {names[0]!r}, expected {_TIME!r} and metrics"
        )
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"{path}, line {lines[0][0]}: field {twice!r} appears twice")
    rows = [_fields(line) for _, line in lines[1:]]
    for (number, _), fields in zip(lines[1:], rows, strict=True):
        if len(fields) != len(names):
            raise InputError(f"{path}, line {number}: {len(fields)} fields, expected {len(names)}")
    if not rows:
        raise InputError(f"{path}: no lines below the names, expected measurements")
    columns = zip(names, zip(*rows, strict=True), strict=True)
    numbers = [number for number, _ in lines[1:]]
    values = np.stack([_column(path, name, column, numbers) for name, column in columns], axis=1)
    late = np.flatnonzero(np.diff(values[:, 0]) < 0)
    if len(late):
        row = int(late[0]) + 1
        raise InputError(
            f"{path}, line {numbers[row]}: {_TIME} is {values[row, 0]:g}, expected at least {values[row - 1, 0]:g}"
        )
    return Telemetry(str(path), values[:, 0], tuple(names[1:]), values[:, 1:])


def _fields(line: str) -> list[str]:
    return [field.strip() for field in line.split(";")]


def _column(path: Path, name: str, texts: tuple[str, ...], lines: list[int]) -> NDArray[np.float64]:
    try:
        found = np.array(texts, np.str_).astype(np.float64)
        bad = np.flatnonzero(~((found >= 0) & np.isfinite(found)))
    except ValueError:
        found, bad = np.zeros(0), np.array([row for row, text in enumerate(texts) if not _is_number(text)])
    if len(bad):
        row = int(bad[0])
        raise InputError(
            f"{path}, line {lines[row]}: {name} is {texts[row]!r}, expected a number of 0 or more"
        )
    return found


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)) and float(text) >= 0)
    except ValueError:
        return False
