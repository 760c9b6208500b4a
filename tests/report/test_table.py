"""The table of metrics for the terminal."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, fields, is_dataclass, replace
from importlib import import_module
from io import StringIO
from pathlib import Path
from pkgutil import iter_modules

import polars as pl
import pytest
from rich.console import Console

import windlass.results.metrics
from tests.report.made import outcome, results
from windlass.experiment.scenario import load_scenario
from windlass.report import metrics_table
from windlass.report.columns import mark_best, metric_columns
from windlass.report.units import duration, number, share
from windlass.results import SOMETIMES, Outcome, Results
from windlass.results.metrics.fleet import FleetMetrics

EXAMPLES = Path(__file__).parents[2] / "examples"


def _printed(made: Results, width: int = 80) -> str:
    out = StringIO()
    Console(file=out, width=width, force_terminal=False).print(metrics_table(made, width))
    return out.getvalue()


@dataclass(frozen=True)
class _Other:
    cost: float
    p99_wait_s: float


def test_fits_a_terminal_of_80_columns() -> None:
    text = _printed(results(("conservative", [outcome([0, 5], [0, 353943], [10, 20])])))
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= 80
    # Two blocks, because there are eleven metrics.
    assert [line.split()[0] for line in text.splitlines() if line].count("conservative") == 2


def _fleet(names: list[str]) -> Results:
    """Wide results: metrics of a fleet over three seeds, each with a value that is wide for its kind."""
    metrics = FleetMetrics(
        jobs=60,
        tasks=1_013_650,
        mean_response_s=20_000.0,
        median_response_s=15_000.0,
        p90_response_s=86_400.0,
        p95_response_s=123_456.0,
        mean_slowdown=123.4,
        makespan_s=987_654.0,
        utilisation=0.6543,
        arriving_utilisation=0.7654,
        waiting_jobs=1234.5,
        reported_bytes=65_432.1,
        wan_bytes=21_290_549_018.0,
        egress_usd=12_345.6,
        remote_share=0.6386,
        decisions=213_456,
    )
    grown = [
        replace(metrics, **{one.name: getattr(metrics, one.name) * part for one in fields(metrics)})
        for part in (0.5, 1.0, 2.5)
    ]
    runs = [Outcome(seed, one, pl.DataFrame(), 8) for seed, one in enumerate(grown)]
    return results(*((name, runs) for name in names))


@pytest.mark.parametrize("example", ["fleet-analytics", "fleet-order"])
@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_table_that_is_too_wide_is_split_into_blocks(example: str, width: int) -> None:
    names = [variant.name for variant in load_scenario(EXAMPLES / f"{example}.yaml").variants]
    made = _fleet(names)
    text = _printed(made, width)
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    blocks = text.split("\n\n")
    assert len(blocks) > 1
    heads = [block.partition("─")[0].split() for block in blocks]
    assert Counter(word for head in heads for word in head if word != "variant") == Counter(
        word for column in metric_columns(made) for word in (*column.label.split(), *column.unit.split())
    )
    values = [word for column in metric_columns(made) for cell in column.cells for word in cell.text.split()]
    printed = [word.removeprefix("±") for block in blocks for word in block.partition("─")[2].split()]
    assert not Counter(word for word in values if word != "±") - Counter(printed)
    if width >= 80:
        assert all(text.count(f"\n{name} ") == len(blocks) for name in names)


def test_a_table_that_fits_is_one_block() -> None:
    made = _fleet(["in-place", "tetrium"])
    text = _printed(made, 200)
    assert "\n\n" not in text
    widest = max(map(len, text.splitlines()))
    assert _printed(made, widest) == text
    assert "\n\n" in _printed(made, widest - 1)


def test_a_terminal_too_narrow_for_a_name_and_a_metric_still_prints() -> None:
    assert "jobs" in _printed(_fleet(["in-place"]), 5)


def test_one_unit_per_kind_of_metric() -> None:
    made = results(("fcfs", [outcome([0], [353943], [10])]), ("easy", [outcome([0], [6889], [10])]))
    units = {column.label: column.unit for column in metric_columns(made)}
    assert units["mean wait"] == units["median wait"] == "h"
    assert units["utilisation"] == "%"
    assert [cell.text for cell in metric_columns(made)[1].cells] == ["98.32", "1.914"]
    assert metric_columns(made)[1].cells[1].full == "6,889 s"


def test_best_is_marked_in_the_right_direction() -> None:
    # Three seeds, because a single run cannot show a significant difference.
    slow, fast = ([outcome([0], [wait + more], [10], seed=more) for more in range(3)] for wait in (100, 50))
    best = {
        column.label: [cell.best for cell in column.cells]
        for column in metric_columns(results(("slow", slow), ("fast", fast)))
    }
    assert best["mean wait"] == best["mean response"] == best["mean bounded slowdown"] == [False, True]
    assert best["p99 wait"] == best["max wait"] == [False, True]
    assert best["utilisation"] == best["makespan"] == [False, True]
    assert best["jobs"] == [False, False]


def _metrics_classes() -> list[type]:
    """The metrics of every world."""
    modules = (
        import_module(f"windlass.results.metrics.{found.name}")
        for found in iter_modules(windlass.results.metrics.__path__)
        if not found.ispkg
    )
    return [
        cls
        for module in modules
        for name, cls in vars(module).items()
        if name.endswith("Metrics") and is_dataclass(cls) and cls.__module__ == module.__name__
    ]


@pytest.mark.parametrize("metrics", _metrics_classes(), ids=lambda cls: cls.__name__)
def test_each_metric_declares_which_direction_is_better(metrics: type) -> None:
    """The declared directions match those that tables used to guess from the names of metrics."""
    names = [field.name for field in fields(metrics)]
    words = (
        *("wait", "response", "slowdown", "makespan", "lost", "stretch", "mean_run", "cut_by", "evicted"),
        *("cpu_ready", "cost", "hours", "delayed", "provisioned", "starting", "fragmentation", "actions"),
    )
    # Exceptions to the guesses: core-hours of streams are not a cost, and late frames match none of the words.
    low = [name for name in names if any(word in name for word in words) and not name.endswith("core_hours")]
    low += [name for name in names if name in ("changes", "late_frames", "starved", "refused_tasks")]
    high = [name for name in names if "utilisation" in name or name.endswith(("_jain", "accuracy"))]
    # Two seeds, because a single run cannot show a significant difference.
    made = [[metrics(*([value + more] * len(names))) for more in (0.0, 0.1)] for value in (1.0, 2.0)]
    runs = [
        (f"{own}", [Outcome(seed, one, pl.DataFrame(), 8) for seed, one in enumerate(each)])
        for own, each in enumerate(made)
    ]
    found = {
        name: [cell.best for cell in column.cells]
        for name, column in zip(names, metric_columns(results(*runs)), strict=True)
    }
    assert found == {name: [name in low, name in high] for name in names}


def test_a_metric_without_a_direction_is_never_bold() -> None:
    odd = [Outcome(0, _Other(value, value), pl.DataFrame(), 8) for value in (1.0, 2.0)]
    made = results(("a", [odd[0]]), ("b", [odd[1]]))
    assert not any(cell.best for column in metric_columns(made) for cell in column.cells)


def test_equal_or_single_variants_have_no_best_value() -> None:
    same = outcome([0], [100], [10])
    for made in (results(("a", [same])), results(("a", [same]), ("b", [same]))):
        assert not any(cell.best for column in metric_columns(made) for cell in column.cells)
    assert mark_best([float("nan"), 2.0, 1.0], ["–", "2", "1"], -1) == [False, False, True]


def test_several_seeds_have_half_widths() -> None:
    runs = [outcome([0], [wait], [10], seed=seed) for seed, wait in enumerate((60, 120, 180))]
    columns = metric_columns(results(("a", runs)))
    assert columns[0].cells[0].text == "1"
    assert columns[1].cells[0].text == "2.000 ± 2.484"


def test_with_one_seed_no_interval_is_printed() -> None:
    lone = results(*((name, [outcome([0], [wait], [10])]) for name, wait in (("a", 60), ("b", 90))))
    printed = _printed(lone)
    assert "±" not in printed
    assert "nan" not in printed
    assert not any("±" in cell.full for column in metric_columns(lone) for cell in column.cells)


def test_names_are_not_read_as_markup() -> None:
    assert "[bold]x[/bold]" in _printed(results(("[bold]x[/bold]", [outcome([0], [1], [1])])))


def test_other_metrics_and_missing_values() -> None:
    odd = Outcome(0, _Other(float("nan"), float("inf")), pl.DataFrame(), 8)
    text = _printed(results(("a", [odd])))
    assert "cost" in text
    assert "–" in text
    assert "∞" in text


def test_no_variants() -> None:
    assert "variant" in _printed(results())


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (59.96, "1 min"),
        (3599.9, "1 h"),
        (86399, "1 d"),
        (90, "1 min 30 s"),
        (0.25, "0.25 s"),
        (-120, "−2 min"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(9.9996, "10.00"), (1.0, "1.000"), (12.0, "12"), (0.00012345, "0.0001234"), (-3.5, "−3.500")],
)
def test_numbers_have_four_digits(value: float, text: str) -> None:
    assert number(value) == text


def test_shares_near_100_percent_are_not_rounded_to_it() -> None:
    assert share(0, 0) == "0 %"
    assert share(999_999, 1_000_000) == "> 99.9 %"


@dataclass(frozen=True)
class Sometimes:
    mean_wait_s: float
    reported_bytes: float = field(metadata=SOMETIMES)


def test_a_metric_that_applies_to_no_variant_has_no_column() -> None:
    def labels(*values: float) -> list[str]:
        runs = [
            (f"{row}", [Outcome(0, Sometimes(1.0, bytes_), pl.DataFrame(), 8)])
            for row, bytes_ in enumerate(values)
        ]
        return [column.label for column in metric_columns(results(*runs))]

    assert labels(math.nan, math.nan) == ["mean wait"]
    assert labels(math.nan, 8.0) == ["mean wait", "reported bytes"]
