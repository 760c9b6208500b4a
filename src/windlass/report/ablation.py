"""What each decision is worth, as a table for the terminal."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from rich import box
from rich.table import Table
from rich.text import Text

from windlass.report.columns import label
from windlass.report.units import counted
from windlass.results import Results
from windlass.results.verdict.ablation import Ablation, Effect, Interaction, ablation

#: The title, and what the cells mean.
TITLE = "What each decision is worth"
ALONE = "What each decision is worth alone"
INTERACTIONS = "Interactions"
#: Share of independent decisions whose 95 % interval excludes 0 by chance.
_BY_CHANCE = 0.05
ALONE_LEGEND = (
    "Change of each metric where the only decision that a variant makes is left out. Marks as above."
)
#: The most sentences on interactions; the largest come first.
_MOST = 12
LEGEND = (
    "Change of each metric where a decision is left out. Marked if the paired 95 % confidence interval excludes 0, "
    "which needs several seeds: ✓ if the metric is better with the decision, ✗ if it is better without. ∞: the metric "
    "is 0 with all decisions."
)


def ablation_tables(results: Results) -> Iterator[Table | Text]:
    """Return the lines and the table for each variant of which others leave decisions out.

    Parameters
    ----------
    results
        Results of any world.
    """
    for found in titled_ablations(results):
        yield Text()
        yield Text(title(found), "bold")
        yield _table(left_out_names(found), found.effects)
        yield Text(LEGEND)
        if found.alone:
            yield Text()
            yield Text(title(found, ALONE), "bold")
            yield _table([(name,) for name in found.alone], found.alone_effects)
            yield Text(ALONE_LEGEND)
        lines = interaction_lines(found)
        if lines:
            yield Text()
            yield Text(title(found, INTERACTIONS), "bold")
        for line in lines:
            yield Text(line)


def titled_ablations(results: Results) -> tuple[Ablation, ...]:
    """Return what each decision is worth; where several have one point, it names the variant that makes all decisions.

    Parameters
    ----------
    results
        Results of any world.
    """
    found = ablation(results)
    times = Counter(each.point for each in found)
    return tuple(
        each
        if times[each.point] == 1
        else replace(each, point=", ".join(filter(None, (each.base, each.point))))
        for each in found
    )


def title(found: Ablation, words: str = TITLE) -> str:
    """Return the title, with the point of a sweep."""
    return f"{words} ({found.point})" if found.point else words


def left_out_names(found: Ablation) -> list[tuple[str, ...]]:
    """Return what each variant leaves out; ``all`` for the one that leaves out everything.

    >>> left_out_names(Ablation("", "ours", (("share",), ("order", "share", "scale")), (), (), ("order",)))
    [('share',), ('all',)]
    """
    every = max(found.left_out, key=len) if found.alone else ()
    return [("all",) if names == every else names for names in found.left_out]


def interaction_lines(found: Ablation) -> list[str]:
    """Return a sentence for each significant interaction, the largest first, and one that counts all of them.

    Examples
    --------
    >>> from windlass.results.verdict import ConfidenceInterval, Interaction
    >>> both = Interaction(("admit", "share"), "mean_job_wait_s", 50.0, ConfidenceInterval(10.0, 4.0, 16.0, 5))
    >>> print(interaction_lines(Ablation("", "all", (), (), (both,)))[0][:78])
    admit and share interact: without both, mean job wait is 20 % higher than if t
    """
    some = [each for each in found.interactions if each.beyond.excludes_zero and each.whole != 0.0]
    some.sort(key=lambda each: -abs(each.beyond.mean / each.whole))
    lines = [_interaction_line(each) for each in some[:_MOST]]
    return [*lines, _count_line(found.interactions, len(lines))] if found.interactions else []


def _count_line(interactions: Sequence[Interaction], shown: int) -> str:
    """Return how many interactions there are, and how many are significant, exactly 0 or not significant."""
    pairs = len({each.decisions for each in interactions})
    significant = sum(each.beyond.excludes_zero for each in interactions)
    # An interval without a width is that of a decision that changes nothing, with or without the other one.
    none = sum(each.beyond.low == each.beyond.high == 0.0 for each in interactions)
    rest = len(interactions) - none
    smaller = f", of which the {shown} largest are shown" if shown < significant else ""
    chance = f" Without any interaction, about {_BY_CHANCE * rest:.0f} of these {rest} would be significant by chance."
    return (
        f"{counted(pairs, 'pair')} of decisions, {counted(len(interactions), 'interaction')} on metrics: "
        f"{significant} significant{smaller}, {rest - significant} with an interval that includes 0, {none} exactly 0."
        f"{chance if rest else ''}"
    )


def _interaction_line(each: Interaction) -> str:
    mean, *ends = (value / abs(each.whole) for value in (each.beyond.mean, each.beyond.low, each.beyond.high))
    low, high = (_percent(end) for end in sorted(ends, key=abs))
    one, other = each.decisions
    return (
        f"{one} and {other} interact: without both, {label(each.metric)} is {_percent(mean)} % "
        f"{'higher' if mean > 0 else 'lower'} than if the two changes added up (of its value with all decisions; "
        f"95 % confidence interval {low} to {high} %, n = {each.beyond.count})."
    )


def cell(effect: Effect) -> str:
    """Return the change of a metric.

    >>> from windlass.results.verdict import ConfidenceInterval
    >>> worse = ConfidenceInterval(1.0, 0.5, 1.5, 5)
    >>> cell(Effect("mean_wait_s", -1, 4.0, 5.0, worse)), cell(Effect("mean_wait_s", -1, 4.0, 5.0, None))
    ('+25% ✓', '+25%')
    >>> cell(Effect("mean_wait_s", -1, 4.0, 3.9999, None))
    '−0.003%'
    """
    change = effect.change
    if math.isnan(change):
        return "–"
    if change == 0.0:
        return "0"
    size = "∞" if math.isinf(change) else f"{_percent(change)}%"
    mark = "" if not effect.significant else " ✓" if change * effect.better < 0 else " ✗"
    return f"{'+' if change > 0 else '−'}{size}{mark}"


def _percent(change: float) -> str:
    """Return the size of a relative change in percent, with a decimal if it is below 10, or more if it is small."""
    size = abs(100.0 * change)
    if 0.0 < size < 0.05:
        return np.format_float_positional(size, precision=1, fractional=False, trim="-")
    return f"{size:,.0f}" if size >= 9.95 else f"{size:.1f}"


def _table(left_out: Sequence[Sequence[str]], effects: Sequence[Sequence[Effect]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    table.add_column("without", vertical="bottom", overflow="fold")
    for names in left_out:
        table.add_column(Text("\n".join(names)), justify="right", vertical="bottom", overflow="fold")
    for row in zip(*effects, strict=True):
        shown = (Text(cell(effect), "bold" if effect.significant else "") for effect in row)
        table.add_row(Text(label(row[0].metric)), *shown)
    return table
