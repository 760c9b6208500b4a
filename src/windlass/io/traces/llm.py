"""Logs of requests to language models: when each came, and how many tokens it read and wrote."""

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
        (k,) s since the first.
    context, generated
        (k,) tokens read and written.
    """

    arrival: NDArray[np.float64]
    context: NDArray[np.float64]
    generated: NDArray[np.float64]

    def work(self, generated_weight: float = 20.0) -> NDArray[np.float64]:
        """Work of each request, 1 on average: writing a token takes as long as reading ``generated_weight`` tokens.

        Reading a prompt is one parallel pass, writing is one pass a token; a weight of 20 is in the range that
        serving systems show, and the caller's to set.
        """
        tokens = self.context + generated_weight * self.generated
        return np.asarray(tokens / tokens.mean())


def read_llm(path: Path) -> Requests:
    """Read a table with the columns TIMESTAMP, ContextTokens and GeneratedTokens, as the Azure traces have.

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
