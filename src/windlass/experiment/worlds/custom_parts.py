"""Custom parts of a simulated cluster, which a scenario names by their files."""

from __future__ import annotations

from typing import Protocol, cast, runtime_checkable

import numpy as np
import polars as pl

from windlass.experiment.worlds.policy import PolicySpec
from windlass.model import InputError
from windlass.policy.registry import Registry, capability
from windlass.sim.ledger import Ledger
from windlass.sim.part import NamedPart

#: Registry of custom parts; none is built in.
_PARTS = Registry(
    "sim", "What else happens at the site?", "", "windlass.sim", "horizon", key="parts", field="parts"
)
#: Parameters of a custom part that the world passes.
_GIVEN = frozenset({"ledger", "site", "number"})


#: Columns of a table of jobs of a custom part.
_TIMES = ("submit_s", "start_s", "end_s")


@runtime_checkable
class ReportsJobs(Protocol):
    """A custom part whose work is jobs, with times of their own."""

    def jobs(self) -> pl.DataFrame:
        """Return a row per job: ``submit_s``, ``start_s`` and ``end_s``, and further columns; NaN for no such time."""
        ...


def jobs_of_part(part: object, where: str) -> pl.DataFrame | None:
    """Return the jobs of a custom part, once the run is over; None if it reports none.

    Parameters
    ----------
    part, where
        The part, and the field of the scenario, for errors.

    Raises
    ------
    InputError
        The table lacks a time, or a job ends before it is submitted.
    """
    reports = capability(part, ReportsJobs)
    if reports is None:
        return None
    jobs = reports.jobs()
    for name in _TIMES:
        if name not in jobs.columns or not jobs[name].dtype.is_numeric():
            raise InputError(f"{where}: the table of jobs has no numbers in column {name}, expected times, s")
    early = jobs.filter(pl.col("end_s") < pl.col("submit_s"))
    if len(early):
        submit, _, end = early.select(_TIMES).row(0)
        raise InputError(
            f"{where}: a job that is submitted at {submit:g} s ends at {end:g} s, expected later"
        )
    return jobs.with_columns(pl.col(_TIMES).cast(pl.Float64))


def check_part(part: PolicySpec, name: str) -> PolicySpec:
    """Return a part of a scenario.

    Parameters
    ----------
    part, name
        The part's file and parameters, and what an error calls it.

    Raises
    ------
    ValueError
        It is no file, or has a parameter that the world passes.

    Examples
    --------
    >>> check_part(PolicySpec(name="backup.py:Backup"), "part").name
    'backup.py:Backup'
    """
    if not part.name.partition(":")[0].endswith(".py"):
        raise ValueError(f"{name} is {part.name!r}, expected a file such as backup.py:Backup")
    for given in sorted(_GIVEN & part.parameters.keys()):
        raise ValueError(f"{name}: {given} is set by the world, remove it from the scenario")
    return part


def part_name(spec: PolicySpec) -> str:
    """Return the name of a custom part."""
    return str(_PARTS.find(spec.name).name)


def make_part(
    spec: PolicySpec, rng: np.random.Generator, ledger: Ledger, site: int, number: int | None = None
) -> NamedPart:
    """Import and create a custom part.

    Parameters
    ----------
    spec
        Its file and parameters.
    rng
        Its random generator.
    ledger, site
        The ledger, and the site's number in it.
    number
        The part's number in the ledger; None for the lowest that no part has.

    Raises
    ------
    InputError
        The file has no part, or the part rejects a parameter.
    """
    free = len(ledger.joined) if number is None else number
    part = _PARTS.make(spec.name, rng, ledger=ledger, site=site, number=free, **spec.parameters)
    return cast(NamedPart, part)
