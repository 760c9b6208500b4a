"""Output of all commands: results on standard output, messages on standard error, HTML reports to files."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import RenderableType

from windlass.cli.terminal import terminal
from windlass.model.text import printable


def write_json(tree: object) -> None:
    """Write a JSON document in one line to standard output.

    Parameters
    ----------
    tree
        Plain values; numbers that are not finite become null.

    Examples
    --------
    >>> write_json({"mean": 1.5, "half_width": float("nan"), "seeds": (1, 2)})
    {"mean": 1.5, "half_width": null, "seeds": [1, 2]}
    """
    sys.stdout.write(json.dumps(_finite(tree), allow_nan=False) + "\n")


def write_raw(text: str) -> None:
    """Write a file's text to standard output; on a terminal, control characters are escaped."""
    escaped = "".join(printable(line) + "\n" for line in text.splitlines())
    sys.stdout.write(escaped if sys.stdout.isatty() else text)


def print_lines(lines: Iterable[str], *, wrap: bool = False) -> None:
    """Print lines on standard output.

    Parameters
    ----------
    lines
        Commands, paths or sentences.
    wrap
        Wrap at words on a terminal, for sentences. In a pipe, lines are not wrapped.
    """
    console = terminal()
    for line in lines:
        console.print(line, soft_wrap=not (wrap and console.is_terminal))


def print_tables(*tables: RenderableType) -> None:
    """Print tables on standard output, as wide as the terminal."""
    console = terminal()
    for table in tables:
        console.print(table)


def note(line: str) -> None:
    """Print a line on standard error."""
    terminal(stderr=True, soft_wrap=True).print(line)


def log_line(line: str) -> None:
    """Print a line with the time of day on standard error: the log of a command that runs until it is stopped."""
    _write_line(f"{datetime.now():%H:%M:%S} {printable(line)}")


def log_json(line: str) -> None:
    """Write a line of JSON on standard error: time, event, message, and the fields of the event."""
    from windlass.engines.batch.log_entry import log_tree

    now = datetime.now(tz=UTC).isoformat(timespec="milliseconds")
    _write_line(json.dumps(log_tree(line, now)))


def _write_line(line: str) -> None:
    # One write: `print` writes the line break apart, and lines of several threads would run together.
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def check_report(report: Path | None, inputs: Iterable[Path]) -> None:
    """Raise an error, before any work, if the report could not be written.

    Raises
    ------
    InputError
        The folder does not exist, or the file is an input or was not written by Windlass.
    """
    # Imported here, since commands that print no results start faster without the tables.
    from windlass.io import check_file
    from windlass.report import PAGE_PREFIX

    if report is not None:
        check_file("--report", report, inputs, PAGE_PREFIX)


def write_report(report: Path | None, html: str) -> None:
    """Write a report, complete or not at all."""
    from windlass.io import write_text

    if report is not None:
        write_text(html, report)


def _finite(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: _finite(value) for key, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [_finite(value) for value in tree]
    return None if isinstance(tree, float) and not math.isfinite(tree) else tree
