"""The answer of an experiment: the verdict, and whether jobs that were cut at their requested time change it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from windlass.report.fidelity import fidelity_sentence
from windlass.report.sentence import cut_share, input_sentence, sentences
from windlass.results import Results
from windlass.results.verdict import Requirement, Verdict, fidelity, judge

#: Above this share of the work, the experiment is repeated without cutting jobs at their requested time.
_MUCH = 0.01


@dataclass(frozen=True, slots=True)
class Answer:
    """The verdict in numbers and in words.

    Parameters
    ----------
    verdict
        None where nothing can be compared.
    uncut
        The verdict of the same experiment without cutting, where that was run.
    cut
        The share of the work that was cut, 0 to 1.
    said
        Sentences; the first is the answer.
    """

    verdict: Verdict | None
    uncut: Verdict | None
    cut: float
    said: tuple[str, ...]


def answer_to(
    results: Results,
    by: str | None,
    requirements: tuple[Requirement, ...],
    uncut: Callable[[], Results | None],
) -> Answer:
    """Return the verdict; if over 1 % of the work was cut, also the verdict without cutting.

    Parameters
    ----------
    results
        Results to judge.
    by, requirements
        See :func:`windlass.results.verdict.judge`.
    uncut
        Runs the same experiment without cutting; returns None where it cannot.

    Raises
    ------
    InputError
        The world has no such metric.
    """
    verdict = judge(results, by, requirements)
    cut = cut_share(results)
    said = sentences(verdict)
    without = uncut() if said and cut > _MUCH else None
    other = None if without is None else judge(without, by, requirements)
    more = (input_sentence(cut, verdict, other), fidelity_sentence(fidelity(results)))
    return Answer(verdict, other, cut, (*said, *filter(None, more)) if said else said)
