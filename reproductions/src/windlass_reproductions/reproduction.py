"""Rows, papers and their optional capabilities, and how to find the papers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from windlass.engines.worker_pool import Crews
from windlass.model import InputError
from windlass.model.nearest import did_you_mean
from windlass.policy.discovery import classes_in
from windlass.policy.registry import capability
from windlass.report.pictures import Picture
from windlass_reproductions.criteria import Judged

#: Called with the name of the step that begins and the share of the work that is done.
Notify = Callable[[str, float], None]


@dataclass(frozen=True, slots=True)
class Row:
    """One claim of a paper, and the value that was measured here.

    Parameters
    ----------
    what
        Figure or table, setting and quantity.
    paper
        The published value: a number, or the claim in words.
    ours
        The value that was measured here.
    holds
        Whether ours confirms the paper's; None if nothing comparable is published, or if it is undecided.
    note
        The reason if the claim does not hold, and the setting used if the paper does not state one.
    judged
        The criterion that ``holds`` follows from; None if ``holds`` is given directly.
    """

    what: str
    paper: float | str | None
    ours: float | str
    holds: bool | None
    note: str = ""
    judged: Judged | None = None

    @classmethod
    def by(
        cls, what: str, paper: float | str | None, ours: float | str, judged: Judged, note: str = ""
    ) -> Row:
        """Return a row with the verdict of a criterion; the criterion's rule is added to the note.

        >>> from windlass_reproductions.criteria import at_least, exactly
        >>> row = Row.by("gain", "12 %", "11 %", at_least(exactly(0.11), 0.12, 0.01), "fewer jobs wait")
        >>> row.holds, row.note
        (False, 'fewer jobs wait; holds from 0.115, which rounds to the printed value')
        """
        reasons = (part for part in (note, judged.undecided, judged.rule) if part)
        return cls(what, paper, ours, judged.holds, "; ".join(reasons), judged)


@dataclass(frozen=True, slots=True)
class Reproduction:
    """The rows and pictures of a paper."""

    rows: tuple[Row, ...]
    pictures: tuple[Picture, ...] = ()


class Paper(Protocol):
    """A reproduction of a paper; the ``paper.py`` of each folder of this package has one class that implements it.

    The class may also implement :class:`OnEngines` and :class:`Distributed`.
    """

    name: str
    title: str

    def reproduce(self, *, quick: bool, notify: Notify) -> Reproduction:
        """Run the reproduction: in full, or ``quick``, in under a minute with smaller samples."""
        ...


@runtime_checkable
class OnEngines(Protocol):
    """A paper that can also run on real engines."""

    @property
    def engines(self) -> Mapping[str, Paper]:
        """The paper for each engine, by the engine's name; :func:`on_engine` reads it once per run."""
        ...


@runtime_checkable
class Distributed(Protocol):
    """A paper whose work can be distributed to crews of worker processes."""

    def spread(self, crews: Crews) -> Paper:
        """Return the paper with its work distributed to crews; :func:`by_crews` calls this once per run."""
        ...


def papers() -> tuple[Paper, ...]:
    """Return all papers, sorted by name."""
    found = (cls() for cls in classes_in(__package__, "reproduce", room="paper"))
    return tuple(sorted(found, key=lambda paper: paper.name))


def find_paper(name: str) -> Paper:
    """Return the paper of this name.

    Raises
    ------
    InputError
        There is no such paper; the message lists the known ones.
    """
    known = papers()
    for paper in known:
        if paper.name == name:
            return paper
    names = [paper.name for paper in known]
    raise InputError(f"unknown paper {name!r}, expected one of {', '.join(names)}{did_you_mean(name, names)}")


def on_engine(paper: Paper, engine: str | None) -> Paper:
    """Return a paper for an engine; None is the paper's default engine.

    Raises
    ------
    InputError
        The paper does not run on the engine; the message lists the engines that it runs on.

    Examples
    --------
    >>> on_engine(find_paper("sim-vs-live"), "slurm").title
    'The simulator compared with real runs on Slurm'
    """
    if engine is None:
        return paper
    able = capability(paper, OnEngines)
    engines: Mapping[str, Paper] = {} if able is None else able.engines
    if engine not in engines:
        where = (
            f"expected one of {', '.join(engines)}"
            if engines
            else "which runs only in the simulator: omit --engine"
        )
        raise InputError(f"--engine: {engine!r} for paper {paper.name!r}, {where}")
    return engines[engine]


def by_crews(paper: Paper, crews: Callable[[], Crews] | None) -> Paper:
    """Return a paper with its work distributed to crews, which are created only if it can be; None is its default.

    Raises
    ------
    InputError
        The paper cannot be distributed; the message lists the papers that can.
    """
    if crews is None:
        return paper
    able = capability(paper, Distributed)
    if able is None:
        known = ", ".join(each.name for each in papers() if isinstance(each, Distributed))
        raise InputError(f"--on: paper {paper.name!r} runs in one process, expected one of {known}")
    return able.spread(crews())
