"""The metrics of a run as a table for the terminal."""

from __future__ import annotations

from rich import box
from rich.table import Table
from rich.text import Text

from windlass.report.columns import Cell, metric_columns
from windlass.results import Results

_NAME_WIDTH = 16


def metrics_table(results: Results) -> Table:
    """One row per variant, one column per metric, the best value of each column in bold.

    Best is what the metric's own field says, :data:`~windlass.results.LOWER` or :data:`~windlass.results.HIGHER`.
    Each column has one unit, named in its head. Where several seeds ran, a cell is the mean over them and
    the half width of its 95% confidence interval.

    Parameters
    ----------
    results
        Of any world: the columns are the fields of its metrics.

    Examples
    --------
    >>> import polars as pl
    >>> from rich.console import Console
    >>> from windlass.metrics.site import BatchMetrics
    >>> from windlass.results import Outcome, Results, VariantResult
    >>> metrics = BatchMetrics(2.0, 5400.0, 0.0, 1e4, 6e3, 1.5, 0.75, 2e4)
    >>> variant = VariantResult("easy", (), (Outcome(1, metrics, pl.DataFrame(), 8),))
    >>> table = metrics_table(Results("two jobs", "", (variant,)))
    >>> [str(column.header) for column in table.columns][:3]
    ['variant', 'jobs', 'mean\\nwait\\nh']
    """
    table = Table(box=box.SIMPLE_HEAD, padding=0, pad_edge=False, show_edge=False)
    longest = max((len(variant.name) for variant in results.variants), default=0)
    table.add_column("variant", vertical="top", overflow="fold", min_width=min(longest, _NAME_WIDTH))
    columns = metric_columns(results)
    for column in columns:
        # A word per line: the columns of a batch world then fit a terminal of 80.
        head = Text("\n".join([*column.label.split(), *filter(None, [column.unit])]))
        table.add_column(head, justify="right", vertical="bottom")
    for row, variant in enumerate(results.variants):
        cells = (column.cells[row] for column in columns)
        table.add_row(Text(variant.name), *(_text(cell) for cell in cells))
    return table


def _text(cell: Cell) -> Text:
    # The spread goes under the mean: side by side, eight metrics do not fit a terminal of 80.
    mean, sign, spread = cell.text.partition(" ± ")
    text = Text(mean, "bold" if cell.best else "", no_wrap=True)
    return text.append(f"\n±{spread}", "not bold dim") if sign else text
