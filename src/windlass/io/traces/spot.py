"""Reader of the number of available spot instances over time.

A file is JSON: ``{"metadata": {"gap_seconds": 300}, "data": [4, 4, 3]}``, with one number of instances per gap.

Source: the traces of "Can't Be Late: Optimizing Spot Instance Savings under Deadlines" (NSDI 2024).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from windlass.io.traces.files import read_text
from windlass.model import InputError


@dataclass(frozen=True, slots=True, eq=False)
class SpotTrace:
    """Number of available spot instances over time.

    Parameters
    ----------
    gap
        Time from one number to the next, s.
    number
        (t,) number of instances.
    """

    gap: float
    number: NDArray[np.int64]

    def seconds(self) -> float:
        """Return the length of the trace, s."""
        return self.gap * len(self.number)


def read_spot(path: str | PathLike[str]) -> SpotTrace:
    """Read a trace of spot capacity.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    InputError
        The file cannot be read, is not such JSON, or a field has another value.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "spot.json"
    >>> _ = path.write_text('{"metadata": {"gap_seconds": 300}, "data": [1, 0, 1]}')
    >>> read_spot(path).seconds()
    900.0
    """
    file = Path(path)
    try:
        found = json.loads(read_text(file))
    except json.JSONDecodeError as error:
        raise InputError(f"{file}, line {error.lineno}: not JSON: {error.msg}") from error
    except RecursionError as error:
        raise InputError(f"{file}: not JSON: nested too deeply") from error
    except InputError:
        raise
    except ValueError as error:
        # Python refuses to read numbers with more than some thousand digits.
        raise InputError(f"{file}: not JSON: {next(iter(str(error).splitlines()), '')}") from error
    metadata = found.get("metadata") if isinstance(found, dict) else None
    gap = metadata.get("gap_seconds") if isinstance(metadata, dict) else None
    if isinstance(gap, bool) or not isinstance(gap, int | float) or not 0 < gap < 1e9:
        raise InputError(f"{file}: metadata.gap_seconds is {gap!r}, expected a number of seconds above 0")
    data = found.get("data")
    if not isinstance(data, list) or not data:
        raise InputError(f"{file}: data is {type(data).__name__}, expected a list of numbers")
    for place, each in enumerate(data):
        if isinstance(each, bool) or not isinstance(each, int) or not 0 <= each < 2**31:
            raise InputError(f"{file}: data[{place}] is {each!r}, expected a whole number of 0 or more")
    return SpotTrace(float(gap), np.array(data, np.int64))
