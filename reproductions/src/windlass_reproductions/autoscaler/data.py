"""The series on which forecasters are compared, from the public traces that are available."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.io.traces.helios import read_helios
from windlass.io.traces.openb import read_openb_pods
from windlass.io.traces.philly import read_philly
from windlass.model.instances import InstanceType
from windlass.scale import Embedding
from windlass_reproductions.autoscaler.demand import JobDemands, counts_over_time
from windlass_reproductions.autoscaler.instances import G4, buckets
from windlass_reproductions.public import traces

_Floats = NDArray[np.float64]

HELIOS, PHILLY, OPENB = "elastic/helios_venus.csv", "gpu/philly_by_vc.csv", "gpu/openb_pod_list_default.csv"
_DAY, _GIB = 86_400.0, 2.0**30
#: Time from the launch of an instance until it is ready, s.
LAUNCH = 1200.0
#: The paper's time tick, s.
_TICK = 300.0
#: Number of jobs of a virtual cluster after which the log of Philly was cut.
_CUT = 2000
#: Three months, as in the paper's Table 3; the last week is for testing.
_PHILLY_DAYS, _WEEK = 91, 7.0
#: First day of the dense part of openb's log; few pods were created before.
_OPENB_FIRST = 117.0


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A series, divided into training and test rows.

    Parameters
    ----------
    name
        Name in the rows of the reproduction.
    stands_for
        Name of the data in the paper's Table 4 that this series is or replaces; empty for none.
    same
        Whether it is that data, not a replacement.
    columns
        (k,) names of the quantities.
    rows
        (t, k) values.
    period
        Seconds per row.
    test
        Number of test rows, at the end.
    about
        Description of how the series was made.
    """

    name: str
    stands_for: str
    same: bool
    columns: tuple[str, ...]
    rows: _Floats
    period: float
    test: int
    about: str

    @property
    def seasons(self) -> tuple[int, int]:
        """Number of rows of a day and of a week."""
        return round(_DAY / self.period), round(7 * _DAY / self.period)

    @property
    def steps(self) -> tuple[int, int]:
        """Numbers of rows ahead to forecast: one, and as many as a launch takes."""
        return 1, math.ceil(LAUNCH / self.period - 1e-9)


def absent() -> tuple[str, ...]:
    """Return the names of the files that are not available."""
    return tuple(name for name in (HELIOS, PHILLY, OPENB) if not (traces() / name).is_file())


def cases() -> Iterator[Case]:
    """Yield a case for each available file, and two for Helios."""
    missing = absent()
    if HELIOS not in missing:
        yield from _helios()
    if PHILLY not in missing:
        yield _philly()
    if OPENB not in missing:
        yield _openb()


def philly_jobs(cores: float, memory: float) -> JobDemands:
    """Return jobs of Philly's virtual clusters whose log was not cut, with ``cores`` and ``memory`` bytes per GPU."""
    jobs = read_philly(traces() / PHILLY)
    names, number = np.unique(jobs.cluster, return_counts=True)
    whole = np.isin(jobs.cluster, names[number < _CUT])
    per = np.array([1.0, cores, memory])
    return JobDemands(jobs.gpus[:, None] * per, jobs.arrival, jobs.arrival + jobs.duration).of(whole)


def openb_jobs() -> JobDemands:
    """Return the pods that were scheduled, each from then until it was deleted."""
    pods = read_openb_pods(traces() / OPENB)
    scheduled = pods.was_scheduled
    return JobDemands(
        pods.resources[scheduled],
        pods.scheduled[scheduled],
        np.maximum(pods.deleted, pods.scheduled)[scheduled],
    )


def openb_span(jobs: JobDemands) -> tuple[float, float]:
    """Return the begin and end of the dense part of the log of pods, s; it has only ends afterwards."""
    return _OPENB_FIRST * _DAY, float(jobs.begin.max())


def philly_span() -> tuple[float, float]:
    """Return the begin and end of three months from the first job on, s."""
    return 0.0, _PHILLY_DAYS * _DAY


def _helios() -> Iterator[Case]:
    series = read_helios(traces() / HELIOS)
    august = 31 * round(_DAY / series.period)
    for place, (column, what) in enumerate(
        zip(series.columns, ("GPUs in use", "GPUs submitted"), strict=True)
    ):
        yield Case(
            f"Helios, {what}",
            "Ours" if place == 0 else "",
            False,
            (column,),
            series.rows[:, place : place + 1],
            series.period,
            august,
            "cluster Venus, every 10 min; April to July for training, August for testing",
        )


def _philly() -> Case:
    types = tuple(each for each in G4 if each.name.split(".")[1] in ("2xlarge", "12xlarge", "metal"))
    rows = _needed(philly_jobs(8.0, 32.0 * _GIB), types, philly_span())
    about = (
        "virtual clusters whose log was not cut at 2,000 jobs, every 5 min for 91 days, the last week for testing; "
        "8 cores and 32 GiB per GPU are assumed, as the log has neither"
    )
    return _case("Philly", "Philly", types, rows, about)


def _openb() -> Case:
    jobs = openb_jobs()
    rows = _needed(jobs.of(jobs.resources[:, 0] > 0), G4, openb_span(jobs))
    days = len(rows) * _TICK / _DAY
    about = (
        f"pods with GPUs, mapped by the embedding, every 5 min for the {days:.0f} days in which the log is dense, "
        "the last week for testing"
    )
    used: NDArray[np.bool_] = np.asarray(rows.any(axis=0))
    types = tuple(each for each, some in zip(G4, used, strict=True) if some)
    return _case("openb", "", types, rows[:, used], about)


def _needed(jobs: JobDemands, types: tuple[InstanceType, ...], span: tuple[float, float]) -> _Floats:
    return counts_over_time(jobs, Embedding(buckets(types)), _TICK, *span)


def _case(name: str, stands_for: str, types: tuple[InstanceType, ...], rows: _Floats, about: str) -> Case:
    names = tuple(each.name for each in types)
    return Case(
        f"{name}, instances",
        stands_for,
        bool(stands_for),
        names,
        rows,
        _TICK,
        round(_WEEK * _DAY / _TICK),
        about,
    )
