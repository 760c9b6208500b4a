"""Times in the cells of a table: seconds, or dates with or without a zone."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
from numpy.typing import NDArray

_Floats = NDArray[np.float64]

_DATES = (
    "%Y-%m-%d %H:%M:%S%.f",
    "%Y-%m-%dT%H:%M:%S%.f",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%dT%H:%M",
    "%Y/%m/%d %H:%M:%S",
    "%Y-%m-%d",
)
#: No zone, or one in the form +02:00, +0200, +02 or Z.
_ZONES = ("", "%#z")
_FORMATS = tuple(date + zone for zone, date in product(_ZONES, _DATES) if "%H" in date or not zone)


def seconds_of(cells: pl.Series) -> _Floats | None:
    """Return the time in each cell, s; None if a cell is empty or not a time, or if only some cells have a zone.

    Dates count from 1970. A date without a zone is in UTC.

    Parameters
    ----------
    cells
        Numbers, or text.

    Examples
    --------
    >>> seconds_of(pl.Series(["1970-01-01T00:00:00+01:00", "1970-01-01T02:00:00+02:00"])).tolist()
    [-3600.0, 0.0]
    >>> seconds_of(pl.Series(["monday"])) is None
    True
    """
    if cells.is_empty() or cells.null_count():
        return None
    seconds = cells.cast(pl.Float64, strict=False)
    if seconds.null_count() == 0 and bool(seconds.is_finite().all()):
        return seconds.to_numpy().astype(np.float64)
    dates = cells.cast(pl.String).str.replace(r" ?(UTC|GMT)$", "Z")
    for text in _FORMATS:
        if _dates(dates.head(1), text) is None:
            continue
        found = _dates(dates, text)
        if found is not None:
            return np.asarray(found.dt.epoch("us").to_numpy() / 1e6, dtype=np.float64)
    return None


def _dates(cells: pl.Series, text: str) -> pl.Series | None:
    """Return the dates in a format; None if a cell has another."""
    try:
        found = cells.str.to_datetime(text, strict=False, time_unit="us")
    except pl.exceptions.PolarsError:
        return None
    return None if found.null_count() else found
