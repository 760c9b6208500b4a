"""Progress reports of programs: one line of JSON in a file that the program replaces and any user may read.

The environment variable ``WINDLASS_PROGRESS`` names the file. The line is

``{"stage": 2, "stages": 4, "parallel": true, "done": 13, "left": 27}``

``stage`` counts from 1. ``parallel`` is true if the current stage uses all cores, and false if it uses one. ``done``
and ``left`` count tasks of the whole program, over all stages, so ``left`` is 0 at its end. A program writes a
temporary file in the same folder and renames it, so that a reader sees an old or a new line, and never part of one.

The file belongs to a user, and its reader may be root. The reader therefore follows no link, opens only regular files,
reads at most 4 KiB, and validates every field.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

#: The environment variable that names the file.
VARIABLE = "WINDLASS_PROGRESS"
#: The largest size of a report, bytes.
MOST = 4096


@dataclass(frozen=True, slots=True)
class JobProgress:
    """Progress of a program.

    Parameters
    ----------
    stage, stages
        The current stage, from 1, and the number of stages.
    parallel
        True if the current stage uses all cores of the job; False if it uses one.
    done, left
        Finished and remaining tasks of all stages.
    """

    stage: int
    stages: int
    parallel: bool
    done: float
    left: float

    def line(self) -> str:
        """Return the file's line.

        >>> JobProgress(2, 4, True, 13, 27).line()
        '{"stage": 2, "stages": 4, "parallel": true, "done": 13, "left": 27}'
        """
        names = ("stage", "stages", "parallel", "done", "left")
        return json.dumps({name: getattr(self, name) for name in names})


@dataclass(frozen=True, slots=True)
class Report:
    """The result of reading a file: the progress, or why there is none."""

    progress: JobProgress | None
    why: str = ""


def report(path: Path, progress: JobProgress) -> None:
    """Replace the file atomically by a line with this progress.

    Parameters
    ----------
    path
        The file; a temporary file in its folder has the process id appended to its name.
    progress
        The progress.

    Raises
    ------
    OSError
        The folder cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "progress"
    >>> report(file, JobProgress(1, 2, False, 0, 10))
    >>> read(file).progress.left
    10
    """
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        temporary.write_text(progress.line() + "\n", encoding="ascii")
        temporary.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def read(path: Path) -> Report:
    """Read a program's progress; an invalid file is no error.

    Examples
    --------
    >>> read(Path("/nowhere/progress"))
    Report(progress=None, why='/nowhere/progress: cannot be read: No such file or directory')
    """
    try:
        text = _bounded(path)
        return Report(_progress(text))
    except OSError as error:
        return Report(None, f"{path}: cannot be read: {error.strerror or error}")
    except _ForeignError as error:
        return Report(None, f"{path}: {error}")


class _ForeignError(Exception):
    """The file is not a valid report; the message has the reason."""


def _bounded(path: Path) -> str:
    """Read the file, if it is a small regular file."""
    # O_NONBLOCK: opening a pipe without a writer would block for ever.
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise _ForeignError("is not a regular file")
        found = os.read(file, MOST + 1)
    finally:
        os.close(file)
    if len(found) > MOST:
        raise _ForeignError(f"has over {MOST} bytes, expected one line of JSON")
    return found.decode("utf-8", errors="replace")


def _progress(text: str) -> JobProgress:
    """Parse a line."""
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        raise _ForeignError(f"is {text[:40]!r}, expected one line of JSON") from None
    if not isinstance(fields, Mapping):
        raise _ForeignError(f"is {text[:40]!r}, expected an object of JSON")
    stages = _whole(fields, "stages", 1)
    stage = _whole(fields, "stage", 1)
    if stage > stages:
        raise _ForeignError(f"stage is {stage}, expected at most {stages}, the number of stages")
    parallel = fields.get("parallel")
    if not isinstance(parallel, bool):
        raise _ForeignError(f"parallel is {_short(parallel)}, expected true or false")
    return JobProgress(stage, stages, parallel, _count(fields, "done"), _count(fields, "left"))


def _whole(fields: Mapping[str, object], name: str, least: int) -> int:
    value = fields.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= 10**9:
        raise _ForeignError(f"{name} is {_short(value)}, expected a whole number of at least {least}")
    return value


def _count(fields: Mapping[str, object], name: str) -> float:
    value = fields.get(name)
    # The bounds are checked before conversion, as whole numbers in JSON may exceed those of floats.
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1e15:
        raise _ForeignError(f"{name} is {_short(value)}, expected a finite number of at least 0")
    return value


def _short(value: object) -> str:
    return repr(value)[:40]
