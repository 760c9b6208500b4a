"""The verdicts that an answer needs: on the chosen metric, or on all headline metrics; each metric is judged once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from windlass.results import Results
from windlass.results.verdict.headlines import headlines
from windlass.results.verdict.judge import Verdict, default_metric, judge
from windlass.results.verdict.require import Requirement


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdicts on results.

    Parameters
    ----------
    verdict
        The verdict on the chosen metric, or on the world's first one; None if nothing can be compared.
    headlines
        Of a world with several headline metrics, the verdict on each; empty if one metric was chosen.
    traded
        If the verdict is on the cost of a world without headline metrics, the verdict on the wait that it pays for, and
        the reverse; if it is on jobs, the verdict on tasks; None otherwise, or if one metric was chosen.
    """

    verdict: Verdict | None
    headlines: tuple[Verdict, ...] = ()
    traded: Verdict | None = None


def judgement(results: Results, by: str | None = None, requirements: Sequence[Requirement] = ()) -> Judgement:
    """Return the verdict on the chosen metric, or on the first one and on each headline metric.

    Parameters
    ----------
    results
        Results of any world.
    by, requirements
        See :func:`windlass.results.verdict.judge`.

    Raises
    ------
    InputError
        A metric or variant is unknown.

    Examples
    --------
    >>> judgement(Results("", "", ()))
    Judgement(verdict=None, headlines=(), traded=None)
    """
    if by is not None:
        return Judgement(judge(results, by, requirements))
    several = headlines(results, requirements)
    metric = default_metric(results)
    first = next((each for each in several if each.metric == metric), None)
    verdict = judge(results, None, requirements) if first is None else first
    other = None if several or verdict is None else _traded(results, verdict.metric)
    return Judgement(verdict, several, None if other is None else judge(results, other, requirements))


def _traded(results: Results, metric: str) -> str | None:
    """Return the first applicable metric with the other role in a trade: cost and wait, or jobs and tasks."""
    summaries = [
        each for each in results.variants[0].summaries() if each.better and not math.isnan(each.mean)
    ]
    role = next((each.trade for each in summaries if each.metric == metric), "")
    return next((each.metric for each in summaries if role and each.trade and each.trade != role), None)
