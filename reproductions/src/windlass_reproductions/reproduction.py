"""What a reproduction is, and which there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from windlass.engines.worker_pool import Crews
from windlass.model import InputError
from windlass.policy.discovery import classes_in
from windlass.policy.nearest import did_you_mean
from windlass.policy.registry import capability
from windlass.report.pictures import Picture
from windlass_reproductions.criteria import Judged

#: Told which step begins and the share that is done.
Notify = Callable[[str, float], None]


@dataclass(frozen=True, slots=True)
class Row:
    """One claim beside what came out here.

    Parameters
    ----------
    what
        Figure or table, setting and quantity.
    paper
        What is published: a number, or the shape in words.
    ours
        What came out here.
    holds
        Whether ours confirms the paper's; None where nothing is published to compare with.
    note
        Where it does not hold: why. Where the paper leaves the setting open: what was taken.
    judged
        What ``holds`` follows from; None where a row says it by itself.
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
        """A row that holds as it is judged, and whose note says how.

        >>> from windlass_reproductions.criteria import at_least, exactly
        >>> row = Row.by("gain", "12 %", "11 %", at_least(exactly(0.11), 0.12, 0.01), "fewer jobs wait")
        >>> row.holds, row.note
        (False, 'fewer jobs wait; holds from 0.115 on, which rounds to it')
        """
        reasons = (part for part in (note, judged.untold, judged.rule) if part)
        return cls(what, paper, ours, judged.holds, "; ".join(reasons), judged)


@dataclass(frozen=True, slots=True)
class Reproduction:
    """All rows and pictures of a paper."""

    rows: tuple[Row, ...]
    pictures: tuple[Picture, ...] = ()


class Paper(Protocol):
    """A file of this folder has one class with a ``name``, a ``title``, and this method.

    In addition, it may be :class:`OnEngines` and :class:`Distributed`.
    """

    name: str
    title: str

    def reproduce(self, *, quick: bool, notify: Notify) -> Reproduction:
        """Run it: in full, or ``quick``, in under a minute with smaller samples."""
        ...


@runtime_checkable
class OnEngines(Protocol):
    """A paper that can also run on real engines."""

    @property
    def engines(self) -> Mapping[str, Paper]:
        """By the name of each engine, the paper as it runs there; :func:`on_engine` reads it once per run."""
        ...


@runtime_checkable
class Distributed(Protocol):
    """A paper whose work can be handed to crews."""

    def spread(self, crews: Crews) -> Paper:
        """Return the paper as crews run it; :func:`by_crews` calls it once per run."""
        ...


def papers() -> tuple[Paper, ...]:
    """All papers, by name."""
    found = (cls() for cls in classes_in(__package__, "reproduce", room="paper"))
    return tuple(sorted(found, key=lambda paper: paper.name))


def find_paper(name: str) -> Paper:
    """The paper of this name.

    Raises
    ------
    InputError
        No such paper; the message lists those there are.
    """
    known = papers()
    for paper in known:
        if paper.name == name:
            return paper
    names = [paper.name for paper in known]
    raise InputError(f"unknown paper {name!r}, expected one of {', '.join(names)}{did_you_mean(name, names)}")


def on_engine(paper: Paper, engine: str | None) -> Paper:
    """A paper as it runs on an engine; None for the one that it takes by itself.

    Raises
    ------
    InputError
        It does not run there; the message lists where it does.

    Examples
    --------
    >>> on_engine(find_paper("sim-vs-live"), "slurm").title
    'The simulator beside real runs on Slurm'
    """
    if engine is None:
        return paper
    able = capability(paper, OnEngines)
    engines: Mapping[str, Paper] = {} if able is None else able.engines
    if engine not in engines:
        where = (
            f"expected one of {', '.join(engines)}"
            if engines
            else "which is simulated alone: leave --engine out"
        )
        raise InputError(f"--engine: {engine!r} for paper {paper.name!r}, {where}")
    return engines[engine]


def by_crews(paper: Paper, crews: Callable[[], Crews] | None) -> Paper:
    """A paper as crews run it, which are made if it has use for them; None for the processes that it takes by itself.

    Raises
    ------
    InputError
        It has nothing to hand to them; the message lists the papers that have.
    """
    if crews is None:
        return paper
    able = capability(paper, Distributed)
    if able is None:
        known = ", ".join(each.name for each in papers() if isinstance(each, Distributed))
        raise InputError(f"--on: paper {paper.name!r} runs in one process, expected one of {known}")
    return able.spread(crews())
