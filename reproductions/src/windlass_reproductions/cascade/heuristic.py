"""Figures 5.25 to 5.27 and Section 5.7.7: the band, CPU time, cost and efficiency, and other capacities."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from windlass.plan import POLICIES
from windlass.report.pictures import Line, Picture
from windlass_reproductions.cascade.runs import NEAREST, bound, run
from windlass_reproductions.cascade.setting import Case, Deployment, drawn_case
from windlass_reproductions.cascade.verdicts import between, is_about, over, reaches, stays
from windlass_reproductions.criteria import Judged, at_most, exactly
from windlass_reproductions.reproduction import Row
from windlass_reproductions.verdicts import Interval, interval

_Floats = NDArray[np.float64]
_ALL = 1e9
#: Figure 5.27: the capacities that are multiplied.
_RESOURCES = {
    "camera CPU": ("camera_cores",),
    "camera links": ("link",),
    "private CPU": ("private_cores",),
    "private link": ("uplink",),
    "cloud CPU": ("cloud_cores",),
    "all": ("camera_cores", "link", "private_cores", "uplink", "cloud_cores"),
}


def band_rows(seeds: Sequence[int], bands: Sequence[float]) -> tuple[list[Row], Picture]:
    """Compute Figure 5.25 at five queries per camera, relative to all configurations; times are CPU seconds."""
    cases = [drawn_case(5, np.random.default_rng([seed, 5])) for seed in seeds]
    accuracy: dict[float, list[float]] = {band: [] for band in (*bands, _ALL)}
    spent: dict[float, list[float]] = {band: [] for band in (*bands, _ALL)}
    # The first call compiles kernels, which must not be timed.
    run(cases[0].first(20), "cascade")
    for case in cases:
        for band in accuracy:
            begin = time.process_time()
            accuracy[band].append(run(case, "cascade", band=band).mean)
            spent[band].append(time.process_time() - begin)
    means = {band: np.array(values) / np.array(accuracy[_ALL]) for band, values in accuracy.items()}
    times = {band: np.array(values) / np.array(spent[_ALL]) for band, values in spent.items()}
    return judge_bands(means, times), Picture(
        "fig-5-25",
        "Figure 5.25: accuracy and CPU time over those with all configurations",
        "width of the band",
        "share",
        (
            Line("accuracy", list(bands), [float(means[band].mean()) for band in bands]),
            Line("CPU time", list(bands), [float(times[band].mean()) for band in bands]),
        ),
    )


def judge_bands(means: dict[float, _Floats], times: dict[float, _Floats]) -> list[Row]:
    """Return the rows of Figure 5.25; (s,) accuracies and times by width, relative to all configurations."""
    rows = [
        Row.by(
            f"Fig. 5.25: accuracy with a band of {band:g}, over all configurations",
            paper,
            str(interval(means[band])),
            judged,
            f"all configurations together gain {1 / means[band].mean() - 1:.1%} over it",
        )
        for band, paper, judged in (
            (1.0, 0.8, is_about(interval(means[1.0]), 0.8, 0.05)),
            (2.0, "over 0.9", reaches(interval(means[2.0]), 0.9)),
        )
    ]
    fifth = stays(interval(times[2.0]), 0.2)
    note = "CPU seconds of a whole decision, including reading and checking the input"
    return [
        *rows,
        Row.by("Fig. 5.25: time with a band of 2", "under a fifth", str(interval(times[2.0])), fifth, note),
    ]


def time_rows(counts: Sequence[int], seconds: float) -> list[Row]:
    """Return the rows of Figure 5.26: CPU seconds of the greedy over those of HiGHS on the binary program."""
    rows, ratios = [], []
    for count in counts:
        case = drawn_case(-(-count // 20), np.random.default_rng([count, 6])).first(count)
        run(case.first(20), "cascade")
        begin = time.process_time()
        ours = run(case, "cascade")
        greedy = time.process_time() - begin
        begin = time.process_time()
        best = run(case, "optimal", seconds=seconds)
        program = time.process_time() - begin
        ratios.append(100 * greedy / program)
        rows.append(
            Row.by(
                f"Fig. 5.26: {count} queries, Cascade's time over the BIP's, %",
                "0.09 to 3.7",
                round(ratios[-1], 2),
                in_range(ratios[-1]),
                f"{greedy:.2f} s and {program:.1f} s of CPU, with reading and checking; HiGHS may take {seconds:g} s; "
                f"accuracies {ours.mean:.4f} and {best.mean:.4f}, at most {bound(case):.4f}",
            )
        )
    return rows


def in_range(percent: float) -> Judged:
    """Claim that the greedy takes at most the printed percentage of the program's time; less is no contradiction.

    >>> [in_range(part).holds for part in (0.05, 3.7, 5.0)]
    [True, True, False]
    """
    return at_most(exactly(percent), 3.7, 0.1)


def metric_rows(seeds: Sequence[int]) -> list[Row]:
    """Return the rows of Section 5.7.7: the cost as a sum, and efficiency without differences."""
    cases = [drawn_case(5, np.random.default_rng([seed, 5])) for seed in seeds]
    base = np.array([run(case, "cascade").mean for case in cases])
    summed = np.array([run(case, "cascade", cost="sum").mean for case in cases])
    plain = np.array([run(case, "cascade", efficiency="plain").mean for case in cases])
    return judge_metrics(base, summed, plain)


def judge_metrics(base: _Floats, summed: _Floats, plain: _Floats) -> list[Row]:
    """Return the rows of Section 5.7.7 from mean accuracies on the same draws, each (s,)."""
    rows = []
    for what, paper, limit, found in (
        ("cost is the sum of utilisations, %", -11.0, -10.5, over(100 * (summed / base - 1))),
        ("efficiency is without differences, points", "nearly -10", -9.0, over(100 * (plain - base))),
    ):
        note = f"it is {base.mean():.3f} as printed; all variants switch until nothing more accurate fits"
        rows.append(
            Row.by(
                f"Section 5.7.7, 5 a camera: accuracy if {what}",
                paper,
                str(found),
                stays(found, limit),
                note,
            )
        )
    return rows


def sensitivity_rows(seeds: Sequence[int], factors: Sequence[float]) -> list[Row]:
    """Return the rows of Figure 5.27 at two queries per camera: Cascade over the optimum if one capacity is larger."""
    cases = [drawn_case(2, np.random.default_rng([seed, 5])) for seed in seeds]
    rows = []
    for name, fields in _RESOURCES.items():
        shown, ratios, lowest = [], [], []
        for factor in factors:
            wide = [case.on(Deployment().times(**dict.fromkeys(fields, factor))) for case in cases]
            low, high = zip(*(_between(case) for case in wide), strict=True)
            ratios.append(between(low, high))
            shown.append(f"{np.mean(low):.3f}–{np.mean(high):.3f} at {factor:g}x")
            lowest.append(f"{np.mean([run(case, 'cascade').mean / bound(case) for case in wide]):.3f}")
        rows.append(sensitivity_row(name, ", ".join(shown), ratios, ", ".join(lowest)))
    return rows


def sensitivity_row(name: str, shown: str, ratios: Sequence[Interval], lowest: str) -> Row:
    """Return the row of Figure 5.27 on one capacity.

    Parameters
    ----------
    name
        The capacity.
    shown
        The measured values as text.
    ratios
        The range of Cascade over the optimum at each factor, with ties towards the cloud.
    lowest
        Cascade over the bound with ties towards the camera, as text.
    """
    camera = name.startswith("camera")
    judged = is_about(ratios, 0.8, 0.05) if camera else reaches(ratios, 0.935)
    return Row.by(
        f"Fig. 5.27: Cascade over the optimum with more {name}",
        "about 0.8" if camera else "about 0.94 throughout",
        shown,
        judged,
        f"ties go to the cloud; over the LP bound, and over the best plan found; "
        f"{lowest} of the bound if ties go to the cameras",
    )


def _between(case: Case) -> tuple[float, float]:
    ours = run(case, "cascade", ties="cloud").mean
    best = max(ours, run(case, NEAREST).mean) if NEAREST in POLICIES.names() else ours
    return ours / bound(case), ours / best
