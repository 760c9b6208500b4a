"""The verdict over several headline metrics, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from windlass.report.phrases import in_words, label, listed, quoted
from windlass.report.sentence import point_sentence
from windlass.results.verdict import VariantStanding, Verdict, standings

#: Maximum number of variants that are named with their counts.
_NAMED = 4


def headline_sentences(found: Sequence[Verdict]) -> tuple[str, ...]:
    """Return the answer over all headline metrics, what its leader trades, and a sentence for each metric.

    Parameters
    ----------
    found
        A verdict for each metric, from :func:`windlass.results.verdict.headlines`; empty for no sentences.

    Examples
    --------
    >>> from windlass.results.verdict import Comparison, ConfidenceInterval, PointVerdict
    >>> worse = ConfidenceInterval(4.0, 2.0, 6.0, 5)
    >>> names = ("operators", "ours")
    >>> wait = Comparison("mean_job_wait_s", (9.0, 5.0), 1, (worse, None), "seeds")
    >>> cost = Comparison("cost_usd", (2.0, 6.0), 0, (None, worse), "seeds")
    >>> made = [Verdict(each.metric, -1, (PointVerdict("", names, each),)) for each in (wait, cost)]
    >>> for line in headline_sentences(made)[:2]:
    ...     print(line)
    Of 2 headline metrics, operators and ours are best or not significantly worse than the best in 1.
    operators is significantly worse than the best in mean job wait: 9.000 s, compared with 5.000 s for ours.
    """
    if not found:
        return ()
    return tuple(
        f"{point.point}: {line}" if point.point else line
        for number, point in enumerate(found[0].points)
        for line in _of_point(found, number)
    )


def _of_point(found: Sequence[Verdict], point: int) -> Iterator[str]:
    ranked = standings(found, point)
    if not ranked:
        yield "No variant meets all requirements."
        return
    yield _counts(ranked, len(found))
    if ranked[0].behind:
        apart = _apart(ranked[0].name, ranked[0].behind, found, point)
        yield f"{quoted(ranked[0].name)} is significantly worse than the best in {apart}."
    for each in ranked:
        if each.unsure and len(each.leads) == len(ranked[0].leads):
            yield _unsure(each, found, point)
    for verdict in found:
        yield point_sentence(verdict, verdict.points[point])


def _counts(ranked: Sequence[VariantStanding], metrics: int) -> str:
    """Return in how many metrics variants lead."""
    shown, rest = ranked[:_NAMED], ranked[_NAMED:]
    counts = dict.fromkeys(len(each.leads) for each in shown)
    groups = [(count, [quoted(each.name) for each in shown if len(each.leads) == count]) for count in counts]
    first, *others = [f"{listed(names)} {{verb}}{_in(count, metrics)}" for count, names in groups]
    verb = "is" if len(groups[0][1]) == 1 else "are"
    parts = [first.format(verb=f"{verb} best or not significantly worse than the best ")]
    parts += [each.format(verb="") for each in others]
    if rest:
        most = max(len(each.leads) for each in rest)
        parts.append(f"{len(rest)} other{'s' if len(rest) > 1 else ''} in at most {most}")
    return f"Of {metrics} headline metrics, {', '.join(parts)}."


def _in(count: int, metrics: int) -> str:
    return "in none" if count == 0 else "in all" if count == metrics else f"in {count}"


def _unsure(leader: VariantStanding, found: Sequence[Verdict], point: int) -> str:
    """Return the metrics in which a leader's mean is much worse than the best, if not significantly."""
    apart = _apart(leader.name, leader.unsure, found, point, " is ")
    return f"Not significant does not mean equal: for {quoted(leader.name)}, {apart}."


def _apart(
    name: str, metrics: Sequence[str], found: Sequence[Verdict], point: int, between: str = ": "
) -> str:
    """Return a variant's value of each of these metrics, compared with the best, with a text before the value."""
    parts = []
    for verdict in found:
        at = verdict.points[point]
        if verdict.metric in metrics and at.comparison.best is not None:
            rows = (at.names.index(name), at.comparison.best)
            own, best = in_words(verdict.metric, *(at.comparison.means[row] for row in rows))
            other = quoted(at.names[at.comparison.best])
            parts.append(f"{label(verdict.metric)}{between}{own}, compared with {best} for {other}")
    return "; ".join(parts)
