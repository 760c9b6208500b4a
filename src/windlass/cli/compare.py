"""``windlass compare``: two saved runs of the same jobs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from windlass.cli.output import print_lines, print_tables, write_json
from windlass.cli.results_json import interval_tree, signs_tree
from windlass.experiment.run_comparison import compare_runs
from windlass.report.run_comparison import comparison_sentences, comparison_table
from windlass.results.run_comparison import FieldDifference, PairedVariants, RunComparison
from windlass.results.verdict.compare import Comparison


def compare_command(
    first: Path, second: Path, by: str | None, a: str | None, b: str | None, *, as_json: bool
) -> None:
    """Print how run B differs from run A."""
    found = compare_runs(first, second, by, a, b)
    sentences = comparison_sentences(found)
    if as_json:
        write_json({"a": str(first), "b": str(second), **_tree(found, sentences)})
        return
    print_lines(sentences, wrap=True)
    print_lines([""])
    print_tables(comparison_table(found))


def _tree(found: RunComparison, sentences: tuple[str, ...]) -> dict[str, Any]:
    return {
        "sentence": sentences[0],
        "more": list(sentences[1:]),
        "by": found.metric,
        "better": "higher" if found.better > 0 else "lower",
        "fields": [_field(each) for each in found.fields],
        "variants": [_pair(each) for each in found.pairs],
    }


def _field(found: FieldDifference) -> dict[str, Any]:
    return {"field": found.field, "a": found.first, "b": found.second}


def _pair(pair: PairedVariants) -> dict[str, Any]:
    return {
        "a": pair.first,
        "b": pair.second,
        "common_jobs": pair.common,
        "only_a": pair.only_first,
        "only_b": pair.only_second,
        "same_submission": pair.same_submission,
        "metrics": [_metric(each) for each in pair.comparisons],
    }


def _metric(comparison: Comparison) -> dict[str, Any]:
    best = comparison.best
    worse = None if best is None else 1 - best
    return {
        "metric": comparison.metric,
        "a": comparison.means[0],
        "b": comparison.means[1],
        "difference": comparison.means[1] - comparison.means[0],
        "better": None if best is None or comparison.equals_best(1 - best) else "ab"[best],
        "significant": None
        if worse is None or not comparison.is_judged(worse)
        else comparison.is_worse(worse),
        "paired_over": comparison.over,
        "worse_by": None if worse is None else interval_tree(comparison.against[worse]),
        **signs_tree(None if worse is None else comparison.evidence_on(worse)),
    }
