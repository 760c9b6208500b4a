"""The verdict in words: one sentence with the answer, and sentences that qualify it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from windlass.report.phrases import (
    difference,
    interval,
    label,
    listed,
    measured,
    most,
    no_interval,
    pairs,
    signs,
    with_quoted_names,
)
from windlass.report.qualifications import closest, compared_with_recorded, qualifications
from windlass.report.units import Unit, counted, sentence_unit
from windlass.results.verdict.evidence import NoInterval
from windlass.results.verdict.judge import PointVerdict, Verdict
from windlass.results.verdict.sample_size import needed_jobs, needed_seeds

#: Maximum number of equivalent variants that are named; above it, only their count is given.
_NAMED = 4


def sentences(verdict: Verdict | None) -> tuple[str, ...]:
    """Return the answer, then the sentences that qualify it; empty if there is nothing to compare.

    Parameters
    ----------
    verdict
        From :func:`windlass.results.verdict.judge`.

    Returns
    -------
    tuple of str
        The first is the answer: for one point, the winner; for a sweep, the number of points at which each variant is
        best, followed by the sentences of each point.

    Examples
    --------
    >>> from windlass.results import VariantResult
    >>> from windlass.results.verdict.compare import Comparison
    >>> from windlass.results.verdict.judge import PointVerdict, Verdict
    >>> from windlass.results.verdict.paired import ConfidenceInterval
    >>> found = ConfidenceInterval(300.0, 120.0, 480.0, 20)
    >>> comparison = Comparison("mean_wait_s", (900.0, 600.0), 1, (found, None), "blocks")
    >>> sentences(Verdict("mean_wait_s", -1, (PointVerdict("", ("a", "b"), comparison),)))[0]
    'b has the lowest mean wait: 10 min, 5.000 min (33 %) less than a; 95 % confidence interval 2.000 to 8.000 min, \
n = 20 blocks.'
    """
    if verdict is None:
        return ()
    answers = [point_sentence(verdict, point) for point in verdict.points]
    if not is_contest(verdict):
        return tuple(f"{point.point}: {line}" for point in verdict.points for line in _alone(verdict, point))
    if len(answers) == 1:
        first = " ".join((answers[0], *compared_with_recorded(verdict, verdict.points[0])))
        return (first, *qualifications(verdict, verdict.points[0]))
    by_point = [
        line if not point.point else f"{point.point}: {line}"
        for point, answer in zip(verdict.points, answers, strict=True)
        for line in (answer, *compared_with_recorded(verdict, point), *qualifications(verdict, point))
    ]
    return (_over_points(verdict), *by_point)


def is_contest(verdict: Verdict) -> bool:
    """Return whether policies are compared; in a sweep of one policy, the first sentence is about its first point.

    Parameters
    ----------
    verdict
        From :func:`windlass.results.verdict.judge`.
    """
    points = verdict.points
    return len(points) < 2 or any(point.compared > 1 or point.broken for point in points)


def _over_points(verdict: Verdict) -> str:
    """Return the number of points of a sweep at which each variant is best, with ties."""
    won = Counter(leaders(point) for point in verdict.points)
    parts = ", ".join(f"{names} at {count}" for names, count in won.most_common())
    unclear = [
        point for point in verdict.points if point.winner is None and point.comparison.best is not None
    ]
    alone = sum(len(_leading_rows(point)) == 1 and point.compared > 1 for point in unclear)
    ties = " (where several are named, none is significantly better)" if alone < len(unclear) else ""
    ties += f"; the lead is not significant at {alone} of them" if alone else ""
    which = f"{most(verdict.better)} {label(verdict.metric)}"
    return f"{which[0].upper()}{which[1:]} at {counted(len(verdict.points), 'point')}: {parts}{ties}."


def leaders(point: PointVerdict) -> str:
    """Return the names of the best and of the variants that are not significantly worse, joined by ``or``."""
    leading, best = _leading_rows(point), point.comparison.best
    if best is not None and len(leading) > _NAMED:
        return f"{point.names[best]} or one of {len(leading) - 1} others"
    return " or ".join(point.names[row] for row in leading) or "none"


def _leading_rows(point: PointVerdict) -> list[int]:
    """Return the best and the variants that are not significantly worse, without those that are worse in most pairs."""
    best = point.comparison.best
    if best is None:
        return []
    alike = [row for row in point.tied if row in point.equal or not point.comparison.worse_in_most(row)]
    return sorted((best, *alike))


def point_sentence(verdict: Verdict, point: PointVerdict) -> str:
    """Return the answer at one point, such as ``easy has the lowest mean wait: …``, and the distance to bounds."""
    point = with_quoted_names(point)
    return f"{_answer(verdict, point)}{_bounds(verdict, point)}"


def _bounds(verdict: Verdict, point: PointVerdict) -> str:
    """Return by how much bounds are better than the best, those at one distance together; empty without bounds."""
    names: dict[str, list[str]] = {}
    worse = list[str]()
    rows = [row for row in sorted(point.bounds) if _has_distance(point, row)]
    for row in rows:
        if len(rows) > 1 and _lead_of(verdict, point, row) < 0:
            worse.append(point.names[row])
        else:
            names.setdefault(_distance(verdict, point, row), []).append(point.names[row])
    if len(rows) == 1:
        ((distance, (name,)),) = names.items()
        return f" {name}, which knows more than a real policy can and cannot win, has {distance}."
    parts = [
        f"{listed(each)} {'has' if len(each) == 1 else 'have'} {distance}" for distance, each in names.items()
    ]
    if worse and parts:
        which = "is worse, so it is no bound" if len(worse) == 1 else "are worse, so they are no bounds"
        parts.append(f"{listed(worse)} {which} here")
    elif worse:
        parts.append("all are worse, so none is a bound here")
    known = f" {len(rows)} variants know more than a real policy can and cannot win: {'; '.join(parts)}."
    return known if rows else ""


def _has_distance(point: PointVerdict, row: int) -> bool:
    """Return whether a bound and the best have a value."""
    return point.comparison.best is not None and not math.isnan(point.comparison.means[row])


def _lead_of(verdict: Verdict, point: PointVerdict, row: int) -> float:
    """Return by how much a bound is better than the best, below 0 if it is worse and 0 if they are equal."""
    comparison, best = point.comparison, point.comparison.best
    if best is None or comparison.equals_best(row):
        return 0.0
    return verdict.better * (comparison.means[row] - comparison.means[best])


def _distance(verdict: Verdict, point: PointVerdict, row: int) -> str:
    """Return the distance of a bound from the best, as the object of ``has``."""
    comparison, best, lead = point.comparison, point.comparison.best, _lead_of(verdict, point, row)
    if best is None or lead == 0:
        return f"the same {label(verdict.metric)}"
    means = (comparison.means[row], comparison.means[best])
    unit = sentence_unit(verdict.metric, [*means, means[1] - means[0]])
    more = "more" if means[0] > means[1] else "less"
    gap = difference(abs(lead), means[1], unit)
    return f"{gap} {more}{'' if lead > 0 else ', which is no bound here'}"


def _answer(verdict: Verdict, point: PointVerdict) -> str:
    """Return the answer at one point without bounds; all values have one unit."""
    comparison, names, metric = point.comparison, point.names, label(verdict.metric)
    best = comparison.best
    if best is None:
        return (
            f"No variant meets all requirements{closest(point)}."
            if point.broken
            else _no_best(verdict, point)
        )
    unit = sentence_unit(verdict.metric, [comparison.means[best]])
    value = measured(comparison.means[best], unit)
    if point.compared < 2:
        return f"{names[best]}: {metric} {value}."
    rivals = _rivals(point)
    if not rivals and point.broken and len(point.out) == point.compared - 1:
        return f"{names[best]} is the only variant that meets all requirements: {metric} {value}."
    if not rivals:
        others = "that meet all requirements" if point.broken else "that have one"
        return f"{names[best]} has the {most(verdict.better)} {metric} of the variants {others}: {value}."
    alike = [names[row] for row in sorted([best, *point.equal])]
    several = listed(alike) if len(alike) <= _NAMED + 1 else f"{alike[0]} and {len(alike) - 1} others"
    apart = [row for row in rivals if row not in point.equal]
    if not apart:
        return f"{several} have the same {metric}: {value}."
    ahead = f"{several} {'have' if point.equal else 'has'} the {most(verdict.better)} {metric}"
    return f"{ahead}: {_lead(verdict, point, best, apart)}."


def _alone(verdict: Verdict, point: PointVerdict) -> tuple[str, ...]:
    """Return the sentences on the only policy of a point of a sweep, compared with bounds and the recorded schedule."""
    bounds = _bounds(verdict, with_quoted_names(point)).strip()
    return (*([bounds] if bounds else []), *compared_with_recorded(verdict, point))


def _no_best(verdict: Verdict, point: PointVerdict) -> str:
    """Return that nothing is compared: no variant has a value, or those that have one are bounds."""
    metric, means = label(verdict.metric), point.comparison.means
    known = [row for row in sorted(point.bounds) if not math.isnan(means[row])]
    if point.compared or not known:
        return f"No variant has a {metric} to compare."
    unit = sentence_unit(verdict.metric, [means[row] for row in known])
    values = listed([f"{measured(means[row], unit)} under {point.names[row]}" for row in known])
    more = "which knows" if len(known) == 1 else "which know"
    return f"No policy is compared: {metric} {values}, {more} more than a real policy can."


def _rivals(point: PointVerdict) -> list[int]:
    """Return the rows of variants with a value that may win, without the best."""
    excluded = point.out | point.unable | {point.comparison.best}
    return [row for row, mean in enumerate(point.comparison.means) if mean == mean and row not in excluded]


def _lead(verdict: Verdict, point: PointVerdict, best: int, apart: list[int]) -> str:
    """Compare the best with the closest variant that is not significantly worse, or else with the closest one."""
    comparison = point.comparison
    tied = [row for row in point.tied if row not in point.equal]
    close = max(tied or apart, key=lambda row: verdict.better * comparison.means[row])
    others = [row for row in tied if row != close]
    means = [comparison.means[row] for row in (best, close, *others[:_NAMED])]
    unit = sentence_unit(verdict.metric, [*means, means[1] - means[0]])
    gap = _gap(verdict, point, (best, close), unit)
    parts = [gap, *evidence_phrases(point, close, unit)]
    if not comparison.is_judged(close) or not tied:
        return "; ".join(parts)
    apart_in_most = [row for row in others if comparison.worse_in_most(row)] if len(others) <= _NAMED else []
    parts += [_mostly_worse(point, row, unit) for row in apart_in_most]
    others = [row for row in others if row not in apart_in_most]
    if others:
        parts.append(f"{_several(point, others, unit)} not significantly worse either")
    worse = [row for row in apart if comparison.is_worse(row)]
    if worse:
        parts.append(f"{_several(point, worse, None)} significantly worse than {point.names[best]}")
    return "; ".join(parts)


def evidence_phrases(point: PointVerdict, row: int, unit: Unit) -> list[str]:
    """Return the evidence on the difference of a variant from the best, and what it lacks if it is not significant.

    Parameters
    ----------
    point
        The verdict at a point, with a best variant.
    row
        Another variant.
    unit
        Unit of the values.
    """
    if not point.comparison.is_judged(row):
        return ["one run cannot show whether the difference is statistically significant"]
    found = _significant if point.comparison.is_worse(row) else _too_few
    return found(point, row, unit)


def _mostly_worse(point: PointVerdict, row: int, unit: Unit) -> str:
    """Return that a difference is in most seeds or blocks, but that so few of them do not decide."""
    evidence = point.comparison.evidence_on(row)
    assert evidence is not None  # its signs have been counted
    name = f"{point.names[row]} ({measured(point.comparison.means[row], unit)})"
    return f"{signs(evidence.signs, point.comparison, name)}, but not significantly"


def _gap(verdict: Verdict, point: PointVerdict, rows: tuple[int, int], unit: Unit) -> str:
    value, reference = (point.comparison.means[row] for row in rows)
    gap = abs(reference - value)
    more = f"{'more' if verdict.better > 0 else 'less'} than {point.names[rows[1]]}"
    return f"{measured(value, unit)}, {difference(gap, reference, unit)} {more}"


def _significant(point: PointVerdict, row: int, unit: Unit) -> list[str]:
    """Return the evidence that a variant is worse than the best: an interval without 0, or signs."""
    comparison = point.comparison
    found, evidence = comparison.against[row], comparison.evidence_on(row)
    shown = [] if found is None else [f"{interval(found, unit)}, {pairs(found, comparison)}"]
    if evidence is None or (found is not None and found.excludes_zero):
        return shown
    lead = signs(evidence.signs, comparison, point.names[row])
    if evidence.refusal is not None:
        return [f"{lead}, which rules out chance", no_interval(evidence.refusal, comparison.jobs)]
    return [f"{lead}, which rules out chance", *shown]


def _too_few(point: PointVerdict, row: int, unit: Unit) -> list[str]:
    """Return that a difference is not significant, and the estimated number of jobs or seeds that would suffice."""
    comparison = point.comparison
    found, evidence = comparison.against[row], comparison.evidence_on(row)
    seeds = comparison.over == "seeds"
    size, noun = (found.count if seeds and found else comparison.jobs), ("seed" if seeds else "job")
    counts = [] if evidence is None else [signs(evidence.signs, comparison, point.names[row])]
    few = f"{counted(size, noun)} are too few to rule out chance"
    if found is None:
        assert evidence is not None
        assert evidence.refusal is not None  # otherwise there is an interval
        return [f"{few} ({', '.join(counts)})", *_required(evidence.refusal, size)]
    shown = [f"{interval(found, unit)}, {pairs(found, comparison)}", *counts]
    needed = needed_seeds(found) if seeds else needed_jobs(found, size)
    if needed is None:
        enough = f"even 100 times as many {noun}s would hardly suffice"
    else:
        enough = f"about {_rounded(needed):,} might suffice (the width of the interval falls with 1/√n)"
    return [f"{few} ({'; '.join(shown)})", enough]


def _required(refusal: NoInterval, jobs: int) -> list[str]:
    reason = no_interval(refusal, jobs)
    if refusal.reason != "few":
        return [reason]
    needed = _rounded(math.ceil(jobs * refusal.required / refusal.effective))
    return [f"{reason} (about {needed:,} jobs like these)"]


def _rounded(count: int) -> int:
    """Return a count rounded up to two digits, as it is an estimate."""
    step: int = 10 ** max(0, len(str(count)) - 2)
    return -(-count // step) * step


def _several(point: PointVerdict, rows: Sequence[int], unit: Unit | None) -> str:
    """Return names with their verb, and with their means if there is a unit; above a limit, their count."""
    verb = "is" if len(rows) == 1 else "are"
    if len(rows) > _NAMED:
        return f"{len(rows)} others {verb}"
    means = ["" if unit is None else f" ({measured(point.comparison.means[row], unit)})" for row in rows]
    return f"{listed([point.names[row] + mean for row, mean in zip(rows, means, strict=True)])} {verb}"
