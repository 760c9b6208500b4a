"""The metrics of a run as a table for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich import box
from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from windlass.report.columns import Cell, MetricColumn, metric_columns
from windlass.results import Results

#: To how many characters names of variants may be folded for the sake of one table.
_NAME_WIDTH = 16


def metrics_table(results: Results, width: int) -> Group:
    """One row per variant, one column per metric, in bold what can be told to be best.

    Best is what the metric's own field says, :data:`~windlass.results.LOWER` or :data:`~windlass.results.HIGHER`. Bold
    is the best of the variants that differ in their policies alone, with those that a paired 95 % interval cannot tell
    from it; nothing is bold where it can tell none (:mod:`windlass.results.verdict`).
    Each column has one unit, named in its head. Where several seeds ran, a cell is the mean over them and
    the half width of its 95% confidence interval.

    Where the columns do not fit, the table goes on below, with the variants' names again: nothing is cut, as long as
    a single metric fits beside the names.

    Parameters
    ----------
    results
        Of any world: the columns are the fields of its metrics.
    width
        Of the terminal, in characters.

    Returns
    -------
    Group
        To be printed by rich: a table, or several with a blank line between them.

    Examples
    --------
    >>> import polars as pl
    >>> from rich.console import Console
    >>> from windlass.results.metrics.site import BatchMetrics
    >>> from windlass.results import Outcome, Results, VariantResult
    >>> metrics = BatchMetrics(2.0, 5400.0, 0.0, 1e4, 6e3, 1.5, 0.75, 2e4)
    >>> variant = VariantResult("easy", (), (Outcome(1, metrics, pl.DataFrame(), 8),))
    >>> results = Results("two jobs", "", (variant,))
    >>> Console(width=40).print(metrics_table(results, 40))  # doctest: +NORMALIZE_WHITESPACE
                  mean median   p95     mean
                  wait   wait  wait response
    variant jobs     h      h     h        h
    ────────────────────────────────────────
    easy       2 1.500      0 2.778    1.667
    <BLANKLINE>
                mean
             bounded utilisation makespan
    variant slowdown           %        h
    ─────────────────────────────────────
    easy       1.500          75    5.556
    """
    names = [variant.name for variant in results.variants]
    longest = max(map(cell_len, ["variant", *names]))
    columns = metric_columns(results)
    least = min(longest, _NAME_WIDTH)
    if least + sum(1 + _width(column) for column in columns) <= width:
        return Group(_table(names, columns, least))
    # There is room now, and folded names are hard to read. All the tables fold them alike, to stand in line.
    own = max(least, min(longest, width // 2))
    tables: list[RenderableType] = []
    for some in _that_fit(columns, width - own):
        tables += [Text()] if tables else []
        tables.append(_table(names, some, own, own))
    return Group(*tables)


def _that_fit(columns: Iterable[MetricColumn], width: int) -> Iterator[list[MetricColumn]]:
    """All columns in order, as many at a time as go into a width, at least one."""
    some: list[MetricColumn] = []
    left = width
    for column in columns:
        needed = 1 + _width(column)
        if some and needed > left:
            yield some
            some, left = [], width
        some.append(column)
        left -= needed
    if some:
        yield some


def _table(names: list[str], columns: Iterable[MetricColumn], least: int, most: int | None = None) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=0, pad_edge=False, show_edge=False)
    table.add_column("variant", vertical="top", overflow="fold", min_width=least, max_width=most)
    for column in columns:
        # Of all columns only the names give way.
        table.add_column(_head(column), justify="right", vertical="bottom", no_wrap=True)
    for row, name in enumerate(names):
        table.add_row(Text(name), *(_text(column.cells[row]) for column in columns))
    return table


def _width(column: MetricColumn) -> int:
    texts = [_head(column), *map(_text, column.cells)]
    return max(cell_len(line) for text in texts for line in text.plain.split("\n"))


def _head(column: MetricColumn) -> Text:
    # A word per line: the columns of a batch world then fit a terminal of 80.
    return Text("\n".join([*column.label.split(), *filter(None, [column.unit])]))


def _text(cell: Cell) -> Text:
    # The spread goes under the mean: side by side, eight metrics do not fit a terminal of 80.
    mean, sign, spread = cell.text.partition(" ± ")
    text = Text(mean, "bold" if cell.best else "", no_wrap=True)
    return text.append(f"\n±{spread}", "not bold dim") if sign else text
