"""The verdicts that an answer needs: on the chosen metric, or on all headline metrics; each metric is judged once."""

from __future__ import annotations

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
    """

    verdict: Verdict | None
    headlines: tuple[Verdict, ...] = ()


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
    Judgement(verdict=None, headlines=())
    """
    if by is not None:
        return Judgement(judge(results, by, requirements))
    several = headlines(results, requirements)
    metric = default_metric(results)
    first = next((each for each in several if each.metric == metric), None)
    return Judgement(judge(results, None, requirements) if first is None else first, several)
