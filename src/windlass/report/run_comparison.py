"""The comparison of two runs in words and as a table."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from rich import box
from rich.table import Table
from rich.text import Text

from windlass.report.phrases import label, listed, measured, points, quoted
from windlass.report.sentence import evidence_phrases
from windlass.report.units import PERCENT, Unit, counted, percentage, sentence_unit
from windlass.results.run_comparison import NAMES, PairedVariants, RunComparison
from windlass.results.verdict.compare import Comparison, same
from windlass.results.verdict.judge import PointVerdict

#: Maximum number of fields that the sentence on differences lists.
_MOST_FIELDS = 12
#: The results of a comparison, in the order of the sentence.
_RESULTS: Final = (
    "significantly less",
    "significantly more",
    "not significantly different",
    "the same",
)
_A, _B = NAMES


def comparison_sentences(found: RunComparison) -> tuple[str, ...]:
    """Return the answer, a sentence for each pair of variants if there are several, and what differs.

    Parameters
    ----------
    found
        The comparison.

    Examples
    --------
    >>> pair = PairedVariants("easy", "easy", (Comparison("mean_wait_s", (90.0, 90.0), 0, (None, None), "blocks"),),
    ...     (-1,), 400, 0, 0, True)
    >>> for line in comparison_sentences(RunComparison("mean_wait_s", -1, (pair,), ())):
    ...     print(line)
    B and A are equal: the mean wait is 1.500 min in both, under easy.
    The scenarios are the same. 400 jobs are compared.
    """
    if all(pair.equal for pair in found.pairs):
        answer = [_equal(found)]
    elif len(found.pairs) == 1:
        answer = [_sentence(found, found.pairs[0])]
    else:
        answer = [_counts(found), *(f"{_name(pair)}: {_sentence(found, pair)}" for pair in found.pairs)]
    return (*answer, f"{_differing(found)} {_jobs(found)}")


def _equal(found: RunComparison) -> str:
    means = [each.means[0] for pair in found.pairs if (each := pair.of(found.metric)) is not None]
    unit = sentence_unit(found.metric, means)
    names = listed([_name(pair) for pair in found.pairs])
    metrics = max(len(pair.comparisons) for pair in found.pairs)
    if metrics > 1:
        shown = f" ({label(found.metric)} {measured(means[0], unit)})" if len(means) == 1 else ""
        return f"{_B} and {_A} are equal: all {metrics} metrics are the same{shown}, under {names}."
    return f"{_B} and {_A} are equal: the {label(found.metric)} is {measured(means[0], unit)} in both, under {names}."


def _counts(found: RunComparison) -> str:
    """Return under which variants run B has a significantly lower or higher value."""
    names: dict[str, list[str]] = {each: [] for each in _RESULTS}
    for pair in found.pairs:
        comparison = pair.of(found.metric)
        if comparison is not None:
            names[_result(comparison)].append(_name(pair))
    parts = [f"{result} under {listed(each)}" for result, each in names.items() if each]
    return f"{_B}'s {label(found.metric)}, compared with {_A}'s, is {', '.join(parts)}."


def _sentence(found: RunComparison, pair: PairedVariants) -> str:
    """Return by how much run B differs from run A under one variant, and the evidence."""
    comparison, metric = pair.of(found.metric), label(found.metric)
    if comparison is None or comparison.best is None or any(mean != mean for mean in comparison.means):
        return f"there is no {metric} to compare."
    first, second = comparison.means
    unit = sentence_unit(found.metric, [first, second])
    if same(first, second):
        return f"{_B}'s {metric} is the same as {_A}'s: {measured(first, unit)}."
    more = "more" if second > first else "less"
    gap = _gap(first, second, unit)
    values = f"{measured(second, unit)}, compared with {measured(first, unit)}"
    row = 1 - comparison.best
    point = PointVerdict("", NAMES, comparison)
    parts = [f"{_B}'s {metric} is {gap} {more} than {_A}'s: {values}", *evidence_phrases(point, row, unit)]
    return f"{'; '.join(parts)}."


def _gap(first: float, second: float, unit: Unit) -> str:
    gap = abs(second - first)
    if unit is PERCENT:
        return points(gap)
    if not first or gap >= 10 * abs(first):
        return measured(gap, sentence_unit("_s", [gap]) if unit.symbol in ("s", "min", "h", "d") else unit)
    return percentage(gap / abs(first))


def _result(comparison: Comparison) -> str:
    """Return which of the results a comparison has."""
    less, more, unclear, equal = _RESULTS
    if same(*comparison.means):
        return equal
    if not _is_significant(comparison):
        return unclear
    return less if comparison.means[1] < comparison.means[0] else more


def _is_significant(comparison: Comparison) -> bool:
    return comparison.best is not None and comparison.is_worse(1 - comparison.best)


def _name(pair: PairedVariants) -> str:
    if pair.first == pair.second:
        return quoted(pair.first)
    return f"{quoted(pair.first)} in {_A} and {quoted(pair.second)} in {_B}"


def _differing(found: RunComparison) -> str:
    if not found.fields:
        return "The scenarios are the same."
    shown = [
        f"{each.field} ({_value(each.first)} in {_A}, {_value(each.second)} in {_B})"
        for each in found.fields[:_MOST_FIELDS]
    ]
    more = len(found.fields) - _MOST_FIELDS
    rest = [counted(more, "other field")] if more > 0 else []
    return f"The scenarios differ in {listed([*shown, *rest])}."


def _value(value: Any) -> str:
    return "none" if value is None else value if isinstance(value, str) else json.dumps(value)


def _jobs(found: RunComparison) -> str:
    """Return the number of compared jobs, and of those that only one run has."""
    counts = list(dict.fromkeys((pair.common, pair.only_first, pair.only_second) for pair in found.pairs))
    common, first, second = counts[0]
    if len(counts) > 1:
        return "Each variant is compared in the jobs that both runs have."
    left = [f"{counted(count, 'job')} only in {name}" for count, name in ((first, _A), (second, _B)) if count]
    omitted = f"; {listed(left)} {'is' if first + second == 1 else 'are'} not compared" if left else ""
    moved = "" if found.pairs[0].same_submission else "; their times of submission differ"
    return f"{counted(common, 'job')} {'is' if common == 1 else 'are'} compared{omitted}{moved}."


def comparison_table(found: RunComparison) -> Table:
    """Return a table with a row for each metric of each pair of variants.

    Parameters
    ----------
    found
        The comparison.

    Returns
    -------
    rich.table.Table
        Values of A and B in one unit, their difference, and whether it is statistically significant.
    """
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 2, 0, 0), pad_edge=False, show_edge=False)
    several = len(found.pairs) > 1
    heads = ("metric", *(["variant"] if several else []), _A, _B, "difference", "significant")
    for head in heads:
        table.add_column(Text(head), justify="right" if head in (_A, _B, "difference") else "left")
    metrics = dict.fromkeys(each.metric for pair in found.pairs for each in pair.comparisons)
    for metric in metrics:
        for number_of, (pair, each) in enumerate(_of_metric(found, metric)):
            shown = [label(metric) if number_of == 0 else "", *([_name(pair)] if several else [])]
            table.add_row(*map(Text, (*shown, *_cells(each))))
    return table


def _of_metric(found: RunComparison, metric: str) -> Iterator[tuple[PairedVariants, Comparison]]:
    for pair in found.pairs:
        comparison = pair.of(metric)
        if comparison is not None:
            yield pair, comparison


def _cells(comparison: Comparison) -> tuple[str, str, str, str]:
    first, second = comparison.means
    unit = sentence_unit(comparison.metric, [first, second])
    values = measured(first, unit), measured(second, unit)
    if first != first or second != second:
        return (*values, "–", "")
    if same(first, second):
        return (*values, "0", "equal")
    sign = "+" if second > first else "−"
    difference = f"{sign}{_gap(first, second, unit)}".replace("percentage points", "points")
    if comparison.best is None:
        return (*values, difference, "")
    judged = comparison.is_judged(1 - comparison.best)
    return (
        *values,
        difference,
        "not tested" if not judged else "yes" if _is_significant(comparison) else "n.s.",
    )
