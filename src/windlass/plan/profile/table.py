"""Profiles on disk, with one row for each plan and component."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

import polars as pl

from windlass.io import parquet, read_parquet, write_bytes
from windlass.model import InputError
from windlass.model.queries import Component, QueryPlan

_COLUMNS = {
    "plan": pl.Int64, "accuracy": pl.Float64, "position": pl.Int64, "component": pl.String, "cores": pl.Float64,
    "output": pl.Float64,
}  # fmt: skip


def write_plans(plans: Sequence[QueryPlan], path: str | PathLike[str]) -> None:
    """Write plans as Parquet.

    The columns are plan, accuracy, position, component, cores (CPU seconds per second of stream) and output
    (bytes per second of stream).

    Raises
    ------
    InputError
        The file cannot be written.
    """
    rows = [
        (number, plan.accuracy, position, part.name, part.cores, part.output)
        for number, plan in enumerate(plans)
        for position, part in enumerate(plan.components)
    ]
    write_bytes(parquet(pl.DataFrame(rows, schema=_COLUMNS, orient="row")), Path(path))


def stream_plans(path: str | PathLike[str]) -> tuple[QueryPlan, ...]:
    """Read the plans of a profile.

    Parameters
    ----------
    path
        File of :func:`write_plans`.

    Raises
    ------
    InputError
        The file cannot be read, a column is missing, or a plan is incomplete; the message names file, row and
        value.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "profile.parquet"
    >>> plan = QueryPlan(0.6, (Component("detect mog2", 0.3, 4e4), Component("associate orb", 0.1, 2e3)))
    >>> write_plans([plan], path)
    >>> stream_plans(path) == (plan,)
    True
    """
    file = Path(path)
    if not file.is_file():
        raise InputError(
            f"{file}: {'is a directory, expected a profile' if file.is_dir() else 'no such file'}"
        )
    table = read_parquet(file)
    for name, kind in _COLUMNS.items():
        if name not in table.columns:
            raise InputError(f"{file}: missing column {name!r}, expected {', '.join(_COLUMNS)}")
        if table.schema[name] != kind:
            raise InputError(f"{file}: column {name} is {table.schema[name]}, expected {kind}")
        if table[name].null_count():
            row = int(table[name].is_null().arg_max() or 0)
            raise InputError(f"{file}, row {row + 1}: {name} is empty")
    if table.is_empty():
        raise InputError(f"{file}: no plans, expected at least one")
    found: list[QueryPlan] = []
    for (number,), rows in table.sort("plan", "position", maintain_order=True).group_by(
        ["plan"], maintain_order=True
    ):
        if rows["position"].to_list() != list(range(len(rows))):
            raise InputError(
                f"{file}: plan {number}: position is {rows['position'].to_list()}, expected 0 to {len(rows) - 1}"
            )
        if rows["accuracy"].n_unique() > 1:
            raise InputError(
                f"{file}: plan {number}: accuracy is {rows['accuracy'].unique().to_list()}, expected one"
            )
        try:
            parts = tuple(Component(*row) for row in rows.select("component", "cores", "output").iter_rows())
            found.append(QueryPlan(rows["accuracy"][0], parts))
        except InputError as error:
            raise InputError(f"{file}: plan {number}: {error}") from error
    return tuple(found)
