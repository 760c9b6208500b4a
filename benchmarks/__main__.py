"""``python -m benchmarks batch --json``."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import importlib
import json
import sys

from rich.console import Console
from rich.table import Table

from benchmarks.measure import Row

#: Modules of this package, each with a function `rows`.
SUITES = (
    "admit",
    "agent",
    "batch",
    "cluster",
    "colocated",
    "dispatch",
    "logs",
    "order",
    "place",
    "plan",
    "routers",
    "scale",
    "serve",
    "share",
    "starts",
)


def main() -> None:
    """Run a suite and print its rows."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("--json", action="store_true", help="a JSON list on standard output, nothing else")
    parser.add_argument("--repeats", type=int, default=5, help="how often each side is timed (default 5)")
    options = parser.parse_args()
    # Some engines print warnings to standard output, which is for the rows.
    with contextlib.redirect_stdout(sys.stderr):
        rows = importlib.import_module(f"benchmarks.{options.suite}").rows(options.repeats)
    if options.json:
        print(json.dumps([dataclasses.asdict(row) for row in rows]))
    else:
        Console().print(_table(rows))


def _table(rows: list[Row]) -> Table:
    table = Table("what", "ours", "peer", "peer is", "unit", "ratio (spread)")
    for row in rows:
        spread = f"{row.ratio:.1f} ({row.ratio_low:.1f}–{row.ratio_high:.1f})"
        table.add_row(row.name, f"{row.ours:,.4g}", f"{row.peer:,.4g}", row.peer_name, row.unit, spread)
    return table


if __name__ == "__main__":
    main()
