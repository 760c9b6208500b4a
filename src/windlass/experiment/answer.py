"""The answer of an experiment: the verdict, and whether killing jobs at their requested time changes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from windlass.report.answer import answer_sentences
from windlass.report.capacity import capacity_sentences
from windlass.report.cut_work import change_sentence, cut_share, input_sentence
from windlass.report.fidelity import fidelity_sentence
from windlass.report.instances import instances_sentence
from windlass.report.sentence import is_contest
from windlass.report.sweep_sentence import change_over_sweep
from windlass.results import Results
from windlass.results.capacity import CapacityAnswer, capacity
from windlass.results.sweep_change import sweep_changes
from windlass.results.verdict import Requirement, Verdict, fidelity, judge, judgement
from windlass.results.winners import WinnerMatrix, winner_matrices

#: Above this share of lost work, the experiment is repeated without killing jobs at their requested time.
MOST_CUT = 0.01
#: Above this number of points, a sweep has a matrix of winners instead of sentences for each point.
_MANY_POINTS = 4


@dataclass(frozen=True, slots=True)
class Answer:
    """The verdict in numbers and in words.

    Parameters
    ----------
    verdict
        The verdict; None if nothing can be compared.
    uncut
        The verdict of the same experiment without killing jobs, if it was run.
    cut
        The share of the work that was lost by killing jobs, 0 to 1.
    sentences
        The verdict in words; the first sentence is the answer.
    headlines
        Of a world with several headline metrics, the verdict in each; empty if one metric was chosen.
    sizes
        Of a sweep over the size of the cluster, the smallest size that suffices under each policy.
    matrices
        Of a sweep, the winner and its margin at each point, for each metric of ``headlines`` or of the verdict.
    """

    verdict: Verdict | None
    uncut: Verdict | None
    cut: float
    sentences: tuple[str, ...]
    headlines: tuple[Verdict, ...] = ()
    sizes: tuple[CapacityAnswer, ...] = ()
    matrices: tuple[WinnerMatrix, ...] = ()


def answer_to(
    results: Results,
    by: str | None,
    requirements: tuple[Requirement, ...],
    uncut: Callable[[], Results | None],
    reservation: str = "",
) -> Answer:
    """Return the verdict; if over 1 % of the work was lost by killing jobs, also the verdict without killing.

    Parameters
    ----------
    results
        Results to judge.
    by, requirements
        See :func:`windlass.results.verdict.judge`.
    uncut
        Runs the same experiment without killing jobs; returns None if it cannot.
    reservation
        A sentence on what the workload leaves open, which follows the first sentence; empty for none.

    Raises
    ------
    InputError
        The world has no metric with this name.
    """
    found = judgement(results, by, requirements)
    verdict, cut = found.verdict, cut_share(results)
    words = answer_sentences(found)
    change = change_over_sweep(sweep_changes(results, verdict))
    if change:
        joined = words and not found.headlines and verdict is not None and is_contest(verdict)
        words = (f"{words[0]} {change}", *words[1:]) if joined else (change, *words)
    several = verdict is not None and any(len(point.names) > 1 for point in verdict.points)
    without = uncut() if words and several and cut > MOST_CUT else None
    other = None if without is None else judge(without, by, requirements)
    if words:
        first = (words[0], instances_sentence(results), change_sentence(verdict, other), reservation)
        words = (" ".join(filter(None, first)), *words[1:])
    more = (input_sentence(cut, verdict, other), fidelity_sentence(fidelity(results)))
    judged = found.headlines or (verdict,)
    matrices = tuple(each for one in judged for each in winner_matrices(results, one))
    if matrices and not found.headlines and verdict is not None and len(verdict.points) > _MANY_POINTS:
        words = words[:1]
    sizes = () if verdict is None else capacity(results, verdict.metric, verdict.better)
    whole = (*capacity_sentences(sizes), *words, *(filter(None, more) if words else ()))
    return Answer(verdict, other, cut, whole, found.headlines, sizes, matrices)
