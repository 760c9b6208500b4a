"""Reader of requests to language models: arrival time, and numbers of input and output tokens."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from windlass.io import read_csv
from windlass.io.traces.files import check_is_file
from windlass.model import InputError

_COLUMNS = ("TIMESTAMP", "ContextTokens", "GeneratedTokens")


@dataclass(frozen=True, slots=True, eq=False)
class Requests:
    """Requests in order of arrival.

    Parameters
    ----------
    arrival
        (k,) time since the first request, s.
    context, generated
        (k,) number of tokens read and written.
    """

    arrival: NDArray[np.float64]
    context: NDArray[np.float64]
    generated: NDArray[np.float64]

    def work(self, generated_weight: float = 20.0) -> NDArray[np.float64]:
        """Return the work of each request, 1 on average.

        Writing a token counts as much as reading ``generated_weight`` tokens: a prompt is read in one parallel pass,
        while each token is written in a pass of its own. The default of 20 is in the range that serving systems show.
        """
        tokens = self.context + generated_weight * self.generated
        return np.asarray(tokens / tokens.mean())


def read_llm(path: Path) -> Requests:
    """Read a table with the columns TIMESTAMP, ContextTokens and GeneratedTokens, as in the Azure traces.

    Raises
    ------
    InputError
        The file cannot be read, a column is missing, or a row has a value that is not allowed.
    """
    check_is_file(path)
    table = read_csv(path)
    for column in _COLUMNS:
        if column not in table.columns:
            raise InputError(f"{path}: column {column} is missing, found {', '.join(table.columns)}")
    parsed = table.select(
        pl.col("TIMESTAMP").str.to_datetime("%Y-%m-%d %H:%M:%S%.f", strict=False, time_unit="ns"),
        pl.col("ContextTokens", "GeneratedTokens").cast(pl.Float64, strict=False),
    )
    for column in _COLUMNS:
        good = parsed[column].is_not_null()
        if column != "TIMESTAMP":
            good = good & parsed[column].is_finite() & (parsed[column] >= 0)
        if not good.all():
            row = int((~good).arg_max() or 0)
            raise InputError(
                f"{path}, line {row + 2}: {column} is {table[column][row]!r}, expected a value of 0 or more"
            )
    if parsed.is_empty():
        raise InputError(f"{path}: no requests")
    ordered = parsed.sort("TIMESTAMP")
    since = (ordered["TIMESTAMP"] - ordered["TIMESTAMP"][0]).dt.total_nanoseconds().to_numpy() / 1e9
    return Requests(since, ordered["ContextTokens"].to_numpy(), ordered["GeneratedTokens"].to_numpy())
