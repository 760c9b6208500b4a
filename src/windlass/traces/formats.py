"""Which formats there are, and which one a file is in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from windlass.model import InputError
from windlass.traces.files import check_is_file
from windlass.traces.swf import read_swf
from windlass.traces.table import read_csv, read_parquet
from windlass.traces.trace import Trace


@dataclass(frozen=True, slots=True)
class Format:
    """A format that can be read.

    Parameters
    ----------
    name
        How to ask for it.
    suffixes
        Names of files that end so are taken to be in it.
    summary
        What it is, in a sentence.
    read
        Its reader, of a path and whether to skip bad lines.
    """

    name: str
    suffixes: tuple[str, ...]
    summary: str
    read: Callable[[Path, bool], Trace]


FORMATS = (
    Format(
        "swf",
        (".swf", ".swf.gz"),
        "Standard Workload Format 2.2, the 18 columns of the Parallel Workloads Archive",
        read_swf,
    ),
    Format(
        "csv",
        (".csv", ".csv.gz"),
        "A table with columns submit, run and procs, and if known request and job",
        read_csv,
    ),
    Format("parquet", (".parquet",), "The same table as Parquet", read_parquet),
)


def read_trace(
    path: str | PathLike[str],
    format: str | None = None,  # noqa: A002 - what a caller would call it
    skip_bad_lines: bool = False,
) -> Trace:
    """Read a log in any of :data:`FORMATS`.

    Parameters
    ----------
    path
        The file.
    format
        The name of its format; by default its suffix tells.
    skip_bad_lines
        Whether to go on without the lines that cannot be read, and list them in ``bad_lines``.

    Returns
    -------
    Trace
        The records as they stand in the file; :func:`to_workload` makes jobs of them.

    Raises
    ------
    InputError
        There is no such file or format, the suffix is unknown, or the reader finds fault with the file.

    Examples
    --------
    >>> read_trace("jobs.txt")
    Traceback (most recent call last):
    windlass.model.errors.InputError: jobs.txt: no such file
    """
    file = Path(path)
    check_is_file(file)
    chosen = _by_suffix(file) if format is None else _by_name(format)
    return chosen.read(file, skip_bad_lines)


def _by_name(name: str) -> Format:
    for known in FORMATS:
        if known.name == name:
            return known
    raise InputError(f"format {name!r} is unknown, expected {_listed([known.name for known in FORMATS])}")


def _by_suffix(file: Path) -> Format:
    for known in FORMATS:
        if file.name.lower().endswith(known.suffixes):
            return known
    suffixes = [suffix for known in FORMATS for suffix in known.suffixes]
    raise InputError(f"{file}: unknown suffix, expected {_listed(suffixes)}, or a format by name")


def _listed(words: list[str]) -> str:
    return ", ".join(words[:-1]) + " or " + words[-1]
