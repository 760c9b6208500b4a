"""What runs of the mix on a real Slurm say of each other."""

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
#: The programs of examples/workflows, and their names there.
PROGRAMS = ("montage", "blast", "stats", "synthetic")
#: Jobs that share may take so many times as long as alone.
_SLOWER = 1.1
_SURELY = "over the same repeats and all of the 95 % interval"


@dataclass(frozen=True, slots=True, eq=False)
class MixRun:
    """One run of the mix.

    Parameters
    ----------
    makespan, wait, cpu
        Seconds from the first submit to the last end; mean wait, s; core-seconds that all jobs used over the cores'
        time in the makespan, percent.
    ran
        (n,) how long each job ran, s, in the order of submission.
    program
        (n,) what it was.
    checksums
        (n,) what it printed last.
    """

    makespan: float
    wait: float
    cpu: float
    ran: _Floats
    program: tuple[str, ...]
    checksums: tuple[str, ...]


def _column(runs: list[MixRun], name: str) -> _Floats:
    return np.array([getattr(run, name) for run in runs])


def _stretch(runs: list[MixRun], base: list[MixRun]) -> _Floats:
    """Mean run time of jobs over that of the same jobs under EASY, a repeat each: nobody shares there."""
    return np.array([float((run.ran / one.ran).mean()) for run, one in zip(runs, base, strict=True)])


def _percent(ratios: _Floats) -> str:
    """How much more than 1 they are, in percent."""
    change = interval(100.0 * (ratios - 1.0))
    return f"{change.mean:+.1f}{give_or_take(change.half, '.1f')}"


def rows_of(found: dict[str, list[MixRun]]) -> list[Row]:
    """What each policy did, by its name."""
    rows, base = [], found["EASY"]
    for name, runs in found.items():
        shown = (
            f"makespan {interval(_column(runs, 'makespan'))} s; wait {interval(_column(runs, 'wait'))} s; "
            f"CPU {interval(_column(runs, 'cpu'))} %; slowdown {interval(_stretch(runs, base))}"
        )
        rows.append(Row(f"{name}: {len(runs)} runs of {len(runs[0].ran)} jobs", None, shown, None))
    return rows


def verdicts(found: dict[str, list[MixRun]]) -> list[Row]:
    """What the paper concludes, of each policy beside EASY in the same repeats."""
    easy = found["EASY"]
    rows = [_whole(found)]
    for name in ("static", "ASAx", "pairs"):
        runs = found[name]
        span, base = _column(runs, "makespan"), _column(easy, "makespan")
        used, alone = _column(runs, "cpu"), _column(easy, "cpu")
        slow = _stretch(runs, easy)
        shorter, busier = (
            below([over(span - base)], rule=f"holds where it is less, {_SURELY}"),
            above([over(used - alone)], rule=f"holds where it is more, {_SURELY}"),
        )
        unharmed = Judged(
            (Within(over(slow), high=_SLOWER),), f"holds where it is at most {_SLOWER:g}, {_SURELY}"
        )
        rows += [
            Row.by(
                f"{name} beside EASY: makespan",
                "up to 12 % less" if name.startswith("ASAx") else None,
                f"{_percent(span / base)} %",
                shorter,
            ),
            Row.by(
                f"{name} beside EASY: CPU utilisation", "higher", f"{interval(used / alone)} times", busier
            ),
            Row.by(
                f"{name}: mean slowdown at most 10 %",
                "3 to 9 %",
                f"{_percent(slow)} %",
                unharmed,
                where_it_fails(unharmed, "guests count, whose quota is a part of their cores"),
            ),
        ]
    return rows


def _whole(found: dict[str, list[MixRun]]) -> Row:
    """That each program prints the same checksum in all runs, and nothing else."""
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
    # One line, and that a checksum; of a program that never ran there is none.
    odd = [len(each) - 1 + sum("checksum" not in line for line in each) for each in sums.values()]
    return Row.by(
        "every job ended, and printed what its program always prints",
        "yes",
        ", ".join(f"{program}: {len(each)} checksum" for program, each in sums.items()),
        Judged(
            tuple(Within(exactly(more), 0.0, 0.0) for more in odd),
            "holds where each program has one checksum",
        ),
    )


def picture(found: dict[str, list[MixRun]]) -> Picture:
    """Makespans of all policies."""
    names = tuple(found)
    each = [interval(_column(found[name], "makespan")) for name in names]
    half = [one.half if math.isfinite(one.half) else 0.0 for one in each]
    line = Line("makespan", range(len(names)), [one.mean for one in each], half)
    return Picture("makespan", "Makespan on Slurm", "", "s", (line,), categories=names)
