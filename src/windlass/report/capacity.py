"""The answer to "How many nodes do I need?" in words."""

from __future__ import annotations

from collections.abc import Sequence

from windlass.report.phrases import in_words, label, listed
from windlass.report.units import counted, share
from windlass.results.capacity import CapacityAnswer, SizeVerdict

#: Maximum number of other policies and combinations of swept values that are named.
_OTHERS = 4


def capacity_sentences(answers: Sequence[CapacityAnswer]) -> tuple[str, ...]:
    """Return the smallest sufficient size, the jobs that it refuses, the sizes of other policies, and the criterion.

    Parameters
    ----------
    answers
        From :func:`windlass.results.capacity.capacity`; empty for no sentences.

    Examples
    --------
    >>> sizes = (SizeVerdict(60, 900.0, 600.0, None, False), SizeVerdict(80, 600.0, 600.0, None, True, 12, 0.25))
    >>> found = CapacityAnswer("cluster.processors", "mean_wait_s", -1, "easy", "", True, 0.05, sizes)
    >>> for line in capacity_sentences((found,)):
    ...     print(line)
    80 processors are the smallest size of the sweep that keeps the mean wait within today's under easy: 10 min, \
compared with 10 min; it would refuse 12 wider jobs (25.0 % of the work).
    12 jobs wider than 80 processors would be refused (25.0 % of the work).
    Today's mean wait is that of the recorded schedule, in the jobs that fit the size. A size keeps it if its mean is \
not significantly worse and at most 5 % above it; the jobs are too few to test significance.
    """
    if not answers:
        return ()
    first, *others = answers
    lines = [
        _answer(first),
        _refused(first),
        _exceptions(first),
        _of_others(first, others),
        _criterion(answers),
    ]
    return tuple(line for line in lines if line)


def _answer(answer: CapacityAnswer) -> str:
    metric, under = label(answer.metric), _under(answer)
    least, largest = answer.smallest, answer.sizes[-1]
    if least is None:
        return (
            f"No size of the sweep keeps the {metric} within today's{under}: the largest, {_size(answer, largest)}, "
            f"has {_values(answer, largest)}."
        )
    if least is largest and not answer.recorded:
        below = answer.sizes[-2]
        return (
            f"Only the largest size of the sweep, {_size(answer, least)}, keeps the {metric} within its own{under}: "
            f"{_size(answer, below)} have {_values(answer, below)}."
        )
    every = "; all sizes of the sweep do, so a smaller one may too" if least is answer.sizes[0] else ""
    return (
        f"{_size(answer, least)} {'is' if least.size == 1 else 'are'} the smallest size of the sweep that keeps the "
        f"{metric} within today's{under}: {_values(answer, least)}{every}{_refusal(least)}."
    )


def _refusal(least: SizeVerdict) -> str:
    """Return the jobs that the answer refuses: without them, a smaller size waits less."""
    if not least.refused:
        return ""
    noun = "a wider job" if least.refused == 1 else f"{least.refused:,} wider jobs"
    return f"; it would refuse {noun}{_work(least)}"


def _under(answer: CapacityAnswer) -> str:
    return f" under {answer.policy}" + (f" at {answer.point}" if answer.point else "")


def _values(answer: CapacityAnswer, at: SizeVerdict) -> str:
    own, today = in_words(answer.metric, at.mean, at.today)
    return f"{own}, compared with {today}{_interval(answer, at)}"


def _interval(answer: CapacityAnswer, at: SizeVerdict) -> str:
    found = at.difference
    if found is None:
        return ""
    # Positive differences are worse; in words, they have the sign of the metric.
    bounds = sorted(-answer.better * bound for bound in (found.low, found.high))
    low, high = in_words(answer.metric, *bounds)
    correlated = ", which are correlated" if found.correlated else ""
    return f" (95 % confidence interval of the difference {low} to {high}, n = {found.count} {at.over}{correlated})"


def _refused(answer: CapacityAnswer) -> str:
    """Return the jobs that the smallest sufficient size refuses; if none, those of the next smaller size."""
    least = answer.smallest
    if least is not None and least.refused:
        # All sizes above the smallest sufficient one suffice too.
        whole = next((each for each in answer.sizes if each.size > least.size and not each.refused), None)
        none = "" if whole is None else f"; the smallest size that refuses none is {_size(answer, whole)}"
        return f"{_wider(answer, least)} would be refused{_work(least)}{none}."
    smaller = [each for each in answer.sizes if each.refused and (least is None or each.size < least.size)]
    if not smaller:
        return ""
    none = "" if least is None else f"{_size(answer, least)} refuse no job that fits the largest size; "
    return f"{none}{_wider(answer, smaller[-1])} would be refused at that size{_work(smaller[-1])}."


def _wider(answer: CapacityAnswer, at: SizeVerdict) -> str:
    return f"{counted(at.refused, 'job')} wider than {_size(answer, at)}"


def _work(at: SizeVerdict) -> str:
    return f" ({share(at.refused_work, 1.0)} of the work)" if at.refused_work > 0 else ""


def _exceptions(answer: CapacityAnswer) -> str:
    found = answer.exceptions
    if not found:
        return ""
    failing = [each for each in answer.sizes if not each.keeps and each.size > found[0].size]
    which = listed([_plain(each.size) for each in found])
    return (
        f"{which} {'keeps' if len(found) == 1 else 'keep'} it too, but the larger "
        f"{listed([_plain(each.size) for each in failing])} {'does' if len(failing) == 1 else 'do'} not."
    )


def _of_others(first: CapacityAnswer, others: Sequence[CapacityAnswer]) -> str:
    """Return the sizes that other policies need, or that are needed at other swept values."""
    if not others:
        return ""
    parts = [f"{_named(each)} {_needs(each)}" for each in others[:_OTHERS]]
    rest = len(others) - _OTHERS
    more = f"; JSON has {rest} more" if rest > 0 else ""
    return f"Others: {'; '.join(parts)}{more}."


def _named(answer: CapacityAnswer) -> str:
    return f"{answer.policy} at {answer.point}" if answer.point else answer.policy


def _needs(answer: CapacityAnswer) -> str:
    least = answer.smallest
    if least is None:
        return "at no size"
    (value,) = in_words(answer.metric, least.mean)
    refused = f", {counted(least.refused, 'job')} refused" if least.refused else ""
    return f"from {_size(answer, least)} ({value}{refused})"


def _criterion(answers: Sequence[CapacityAnswer]) -> str:
    first = answers[0]
    metric = label(first.metric)
    source = (
        "that of the recorded schedule"
        if first.recorded
        else f"that of the largest size, {_size(first, first.sizes[-1])}, under the same policy"
    )
    tested = any(each.difference is not None for answer in answers for each in answer.sizes)
    untested = "" if tested else "; the jobs are too few to test significance"
    side = "below" if first.better > 0 else "above"
    return (
        f"Today's {metric} is {source}, in the jobs that fit the size. A size keeps it if its mean is not "
        f"significantly worse and at most {100 * first.tolerance:g} % {side} it{untested}."
    )


def _size(answer: CapacityAnswer, at: SizeVerdict) -> str:
    noun = answer.axis.rpartition(".")[2]
    noun = {"gpus": "GPUs"}.get(noun, noun)
    return f"{_plain(at.size)} {noun.removesuffix('s') if at.size == 1 else noun}"


def _plain(size: float) -> str:
    """Return a size as the scenario has it; whole numbers have no decimals."""
    return f"{size:,}"
