"""How far a program is: one line of JSON in a file that the program replaces, and that anybody may read.

The variable ``WINDLASS_PROGRESS`` of its environment names the file. The line is

``{"stage": 2, "stages": 4, "parallel": true, "done": 13, "left": 27}``

``stage`` counts from 1. ``parallel`` says whether the present stage uses all cores, or one. ``done`` and ``left`` count
tasks of the whole program, over all stages, so ``left`` is 0 at its end. A program writes another file beside it and
renames it: so a reader sees an old line or a new one, and never half of one.

The file belongs to a user, who may write anything into it; its reader may be root. So a reader follows no link, opens
nothing but a plain file, reads no more than 4 KiB, and takes nothing for granted.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

#: The variable that names the file.
VARIABLE = "WINDLASS_PROGRESS"
#: Bytes that a report has at most.
MOST = 4096


@dataclass(frozen=True, slots=True)
class JobProgress:
    """How far a program is.

    Parameters
    ----------
    stage, stages
        The present stage, from 1, and how many there are.
    parallel
        Whether the present stage uses all cores of the job, or one.
    done, left
        Tasks that have ended and that have not, of all stages.
    """

    stage: int
    stages: int
    parallel: bool
    done: float
    left: float

    def line(self) -> str:
        """As it stands in the file.

        >>> JobProgress(2, 4, True, 13, 27).line()
        '{"stage": 2, "stages": 4, "parallel": true, "done": 13, "left": 27}'
        """
        names = ("stage", "stages", "parallel", "done", "left")
        return json.dumps({name: getattr(self, name) for name in names})


@dataclass(frozen=True, slots=True)
class Report:
    """What a reader found: the progress, or why there is none."""

    progress: JobProgress | None
    why: str = ""


def report(path: Path, progress: JobProgress) -> None:
    """Replace the file by this line, at once or not at all.

    Parameters
    ----------
    path
        The file; a process id is appended to its name for the moment of writing.
    progress
        What to say.

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
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        beside.write_text(progress.line() + "\n", encoding="ascii")
        beside.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise


def read(path: Path) -> Report:
    """What the program says; whatever the file is, no error.

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
    """What is there is no report; says why."""


def _bounded(path: Path) -> str:
    """The file's text, if it is a plain and small file."""
    # Not blocking: the open of a pipe without a writer would never return.
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise _ForeignError("is no plain file")
        found = os.read(file, MOST + 1)
    finally:
        os.close(file)
    if len(found) > MOST:
        raise _ForeignError(f"has over {MOST} bytes, expected one line of JSON")
    return found.decode("utf-8", errors="replace")


def _progress(text: str) -> JobProgress:
    """The line's progress, if it is one."""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        raise _ForeignError(f"is {text[:40]!r}, expected one line of JSON") from None
    if not isinstance(said, Mapping):
        raise _ForeignError(f"is {text[:40]!r}, expected an object of JSON")
    stages = _whole(said, "stages", 1)
    stage = _whole(said, "stage", 1)
    if stage > stages:
        raise _ForeignError(f"stage is {stage}, expected at most {stages}, as there are stages")
    parallel = said.get("parallel")
    if not isinstance(parallel, bool):
        raise _ForeignError(f"parallel is {_short(parallel)}, expected true or false")
    return JobProgress(stage, stages, parallel, _count(said, "done"), _count(said, "left"))


def _whole(said: Mapping[str, object], name: str, least: int) -> int:
    value = said.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= 10**9:
        raise _ForeignError(f"{name} is {_short(value)}, expected a whole number of at least {least}")
    return value


def _count(said: Mapping[str, object], name: str) -> float:
    value = said.get(name)
    # Compared before it is converted: whole numbers in JSON have no bound, and floats do.
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1e15:
        raise _ForeignError(f"{name} is {_short(value)}, expected a finite number of at least 0")
    return value


def _short(value: object) -> str:
    return repr(value)[:40]
