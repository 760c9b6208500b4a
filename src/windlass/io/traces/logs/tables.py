"""Reading of published CSV logs."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from pathlib import Path

from windlass.io.traces.columns import quote
from windlass.io.traces.fields import UnreadableError
from windlass.io.traces.files import read_text, stem
from windlass.io.traces.logs.record import LoggedJob, LogReading, Omission, trace_of
from windlass.io.traces.logs.rows import Row
from windlass.io.traces.trace import BadLine, Trace
from windlass.model import InputError
from windlass.model.nearest import did_you_mean


def names_columns(head: str, needed: Sequence[str]) -> bool:
    """Return whether the first line of a file names all of these columns.

    >>> names_columns("a, b,c\\n1,2,3", ("a", "b")), names_columns("a,c", ("a", "b"))
    (True, False)
    """
    return set(needed) <= {name.strip() for name in head.lstrip().partition("\n")[0].split(",")}


def read_csv_log(
    path: Path,
    needed: Sequence[str],
    job: Callable[[Row], LoggedJob | Omission],
    skip_bad_lines: bool,
    notes: Sequence[str] = (),
) -> Trace:
    """Read the trace of a CSV file with column names in the first line.

    Parameters
    ----------
    path
        The file, plain or ``.gz``.
    needed
        Required columns.
    job
        Converts a row; raises :class:`~windlass.io.traces.fields.UnreadableError` for an invalid one.
    skip_bad_lines
        Whether to continue without lines that cannot be read.
    notes
        Further notes for the user.

    Raises
    ------
    InputError
        The file cannot be read, a column is missing, a line is bad and ``skip_bad_lines`` is False, or no job ran.
    """
    lines = csv.reader(io.StringIO(read_text(path), newline=""))
    reading = LogReading()
    names: list[str] = []
    try:
        for cells in lines:
            if not any(cell.strip() for cell in cells):
                continue
            if not names:
                names = [name.strip() for name in cells]
                _check(path, names, needed)
                places = {name: place for place, name in reversed(list(enumerate(names)))}
                continue
            try:
                if len(cells) != len(names):
                    raise UnreadableError(
                        f"{len(cells)} field{'s' * (len(cells) != 1)}, expected {len(names)}"
                    )
                reading.take(job(Row(places, cells)))
            except UnreadableError as error:
                reading.bad.append(BadLine(lines.line_num, str(error)))
    except csv.Error as error:
        raise InputError(f"{path}, line {lines.line_num}: cannot be read as CSV: {error}") from error
    return trace_of(str(path), stem(path), reading, skip_bad_lines, notes=notes, zone=None)


def _check(path: Path, names: Sequence[str], needed: Sequence[str]) -> None:
    for name in needed:
        if name not in names:
            hint = did_you_mean(name, names)
            raise InputError(f"{path}: no column {name!r}, found {', '.join(map(quote, names))}{hint}")
