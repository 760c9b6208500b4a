"""Rows and comparisons of runs of the mix on a real Slurm."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.report.pictures import Line, Picture
from windlass_reproductions.criteria import Judged, Within, above, below, exactly, over, where_it_fails
from windlass_reproductions.reproduction import Row
from windlass_reproductions.verdicts import give_or_take, interval

_Floats = NDArray[np.float64]
#: Names of the programs in examples/workflows.
PROGRAMS = ("montage", "blast", "stats", "synthetic")
#: Largest accepted mean slowdown of jobs that share, relative to running alone. It is the budget of ``pairs``, too.
_SLOWER = 1.1
#: Least share of hosts that must be within it, beyond the second to which Slurm rounds run times.
_HOSTS, _ROUNDED_S = 0.95, 1.0
_SURELY = "over the same repeats and with its whole 95 % interval"


@dataclass(frozen=True, slots=True, eq=False)
class MixRun:
    """One run of the mix.

    Parameters
    ----------
    makespan, wait, cpu
        Time from the first submission to the last end, s; mean wait, s; percentage of the cores' time in the makespan
        that the jobs used.
    ran
        (n,) how long each job ran, s, in the order of submission.
    hosted
        (n,) whether each job had a guest, and was none itself.
    program
        (n,) program of each job.
    checksums
        (n,) last line with a checksum that each job printed.
    """

    makespan: float
    wait: float
    cpu: float
    ran: _Floats
    hosted: NDArray[np.bool_]
    program: tuple[str, ...]
    checksums: tuple[str, ...]


def _column(runs: list[MixRun], name: str) -> _Floats:
    return np.array([getattr(run, name) for run in runs])


def _stretch(runs: list[MixRun], base: list[MixRun]) -> _Floats:
    """Return each repeat's mean ratio of run times to those of the same jobs under EASY, where no job shares."""
    return np.array([float((run.ran / one.ran).mean()) for run, one in zip(runs, base, strict=True)])


def _hosts_row(name: str, runs: list[MixRun], base: list[MixRun]) -> Row:
    """Return a row that tests whether nearly all hosts ran at most a tenth longer than the same jobs under EASY."""
    ran = np.concatenate([run.ran[run.hosted] for run in runs])
    alone = np.concatenate([one.ran[run.hosted] for run, one in zip(runs, base, strict=True)])
    within, parts, shown = ran <= _SLOWER * alone + _ROUNDED_S, tuple[Within, ...](), "no job had a guest"
    if len(ran):
        parts = (Within(exactly(float(within.mean())), low=_HOSTS),)
        ratio = ran / alone
        shown = f"{within.sum()} of {len(ran)}; slowdown {ratio.mean():.2f} in the mean, {ratio.max():.2f} at most"
    rule = f"holds if at least {_HOSTS:.0%} are, within the second to which Slurm rounds"
    return Row.by(f"{name}: hosts at most 10 % slower than under EASY", None, shown, Judged(parts, rule))


def _percent(ratios: _Floats) -> str:
    """Format by how many percent ratios exceed 1, with the half width of the interval."""
    change = interval(100.0 * (ratios - 1.0))
    return f"{change.mean:+.1f}{give_or_take(change.half, '.1f')}"


def rows_of(found: dict[str, list[MixRun]]) -> list[Row]:
    """Return a row of measurements for each policy."""
    rows, base = [], found["EASY"]
    for name, runs in found.items():
        shown = (
            f"makespan {interval(_column(runs, 'makespan'))} s; wait {interval(_column(runs, 'wait'))} s; "
            f"CPU {interval(_column(runs, 'cpu'))} %; slowdown {interval(_stretch(runs, base))}"
        )
        rows.append(Row(f"{name}: {len(runs)} runs of {len(runs[0].ran)} jobs", None, shown, None))
    return rows


def verdicts(found: dict[str, list[MixRun]]) -> list[Row]:
    """Return rows that test the paper's conclusions for each policy compared with EASY in the same repeats."""
    easy = found["EASY"]
    rows = [_checksum_row(found)]
    for name in ("static", "ASAx", "pairs"):
        runs = found[name]
        span, base = _column(runs, "makespan"), _column(easy, "makespan")
        used, alone = _column(runs, "cpu"), _column(easy, "cpu")
        slow = _stretch(runs, easy)
        shorter, busier = (
            below([over(span - base)], rule=f"holds if it is lower, {_SURELY}"),
            above([over(used - alone)], rule=f"holds if it is higher, {_SURELY}"),
        )
        unharmed = Judged(
            (Within(over(slow), high=_SLOWER),), f"holds if it is at most {_SLOWER:g}, {_SURELY}"
        )
        rows += [
            Row.by(
                f"{name} compared with EASY: makespan",
                "up to 12 % less" if name.startswith("ASAx") else None,
                f"{_percent(span / base)} %",
                shorter,
            ),
            Row.by(
                f"{name} compared with EASY: CPU utilisation",
                "higher",
                f"{interval(used / alone)} times",
                busier,
            ),
            Row.by(
                f"{name}: mean slowdown at most 10 %",
                "3 to 9 %",
                f"{_percent(slow)} %",
                unharmed,
                where_it_fails(
                    unharmed, "the mean includes guests, whose quota is only a part of their cores"
                ),
            ),
            _hosts_row(name, runs, easy),
        ]
    return rows


def _checksum_row(found: dict[str, list[MixRun]]) -> Row:
    """Return a row that tests whether each program printed one checksum, the same in all runs."""
    sums = {
        program: {
            run.checksums[at]
            for runs in found.values()
            for run in runs
            for at, each in enumerate(run.program)
            if each == program
        }
        for program in PROGRAMS
    }
    # 0 if a program printed one distinct line and it is a checksum; −1 if the program never ran.
    odd = [len(each) - 1 + sum("checksum" not in line for line in each) for each in sums.values()]
    return Row.by(
        "every job completed, with the checksum of its program",
        "yes",
        ", ".join(f"{program}: {len(each)} checksum" for program, each in sums.items()),
        Judged(
            tuple(Within(exactly(more), 0.0, 0.0) for more in odd),
            "holds if each program has one checksum",
        ),
    )


def picture(found: dict[str, list[MixRun]]) -> Picture:
    """Return the picture of the makespans of all policies."""
    names = tuple(found)
    each = [interval(_column(found[name], "makespan")) for name in names]
    half = [one.half if math.isfinite(one.half) else 0.0 for one in each]
    line = Line("makespan", range(len(names)), [one.mean for one in each], half)
    return Picture("makespan", "Makespan on Slurm", "", "s", (line,), categories=names)
