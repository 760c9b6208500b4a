"""The SWIM format: MapReduce jobs of a real cluster, with the amounts of data that they read, shuffle and write.

Each line is a job with six fields, separated by tabs: name, submission (s), gap since the previous job (s), and bytes
of map input, shuffle and reduce output.

The format: Y. Chen, A. Ganapathi, R. Griffith, R. Katz, "The case for evaluating
MapReduce performance using workload suites", MASCOTS 2011; https://github.com/SWIMProjectUCB/SWIM.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import polars as pl

from windlass.io.traces.columns import refuse_or_note
from windlass.io.traces.files import read_text, stem
from windlass.io.traces.trace import BadLine
from windlass.model import InputError

_NUMBERS = ("submit", "gap", "map_input", "shuffle", "output")


@dataclass(frozen=True, slots=True, eq=False)
class SwimLog:
    """The jobs of a SWIM file, in its order.

    Parameters
    ----------
    name
        Name of the log in messages.
    records
        Columns ``job`` (name), ``submit`` and ``gap`` (s), ``map_input``, ``shuffle`` and ``output`` (bytes).
    notes, bad_lines
        Notes on skipped lines, and these lines.
    """

    name: str
    records: pl.DataFrame
    notes: tuple[str, ...] = ()
    bad_lines: tuple[BadLine, ...] = ()


def read_swim(path: str | PathLike[str], skip_bad_lines: bool = False) -> SwimLog:
    """Read a SWIM file, plain or ``.gz``.

    Parameters
    ----------
    path
        The file.
    skip_bad_lines
        Whether to continue without the lines that cannot be read, and list them in ``bad_lines``.

    Raises
    ------
    InputError
        The file cannot be read, has no jobs, or has a bad line and ``skip_bad_lines`` is False.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "tiny.tsv"
    >>> _ = path.write_text("job0\\t9\\t9\\t1762\\t0\\t14347\\n")
    >>> read_swim(path).records.row(0)
    ('job0', 9.0, 9.0, 1762.0, 0.0, 14347.0)
    """
    file = Path(path)
    good: list[tuple[str, ...]] = []
    values: list[list[float]] = []
    bad: list[BadLine] = []
    for number, line in enumerate(read_text(file).split("\n"), start=1):
        fields = line.strip("\r").split("\t")
        if fields == [""]:
            continue
        if len(fields) != 1 + len(_NUMBERS):
            bad.append(
                BadLine(number, f"{len(fields)} fields, expected {1 + len(_NUMBERS)} separated by tabs")
            )
            continue
        try:
            values.append([_amount(*pair) for pair in zip(_NUMBERS, fields[1:], strict=True)])
            good.append((fields[0],))
        except ValueError as error:
            bad.append(BadLine(number, str(error)))
    notes = refuse_or_note(str(file), bad, skip_bad_lines)
    if not good:
        raise InputError(f"{file}: no jobs, expected lines of {1 + len(_NUMBERS)} fields")
    columns = {name: [row[index] for row in values] for index, name in enumerate(_NUMBERS)}
    records = pl.DataFrame({"job": [name for (name,) in good], **columns})
    return SwimLog(stem(file), records, notes, tuple(bad))


def _amount(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise ValueError(f"{name} {text!r} is not a number of 0 or more")
    return value
