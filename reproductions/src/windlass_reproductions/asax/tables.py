"""Tables 2 and 3 beside what came out here, and verdicts."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from windlass_reproductions.asax.mix import CORES, PROGRAMS
from windlass_reproductions.asax.runs import ASAX, EASY, PAIRS, STATIC, Found
from windlass_reproductions.criteria import Judged, Within, below, over, where_it_fails
from windlass_reproductions.reproduction import Row
from windlass_reproductions.verdicts import give_or_take, interval

#: Table 3: mean wait, h; CPU, %; mean response, h.
_TABLE_3 = {
    "EASY": {64: (3.5, 53, 4.4), 128: (1.5, 45, 2.4), 256: (0.5, 32, 1.4)},
    "static": {64: (1.7, 90, 4.8), 128: (0.8, 92, 2.8), 256: (0.3, 89, 2.0)},
    "ASAx": {64: (1.8, 82, 3.5), 128: (1.0, 84, 2.0), 256: (0.3, 83, 0.9)},
}
#: Table 2: mean run times of the programs, h, in the order of PROGRAMS.
_TABLE_2 = {
    "static": {64: (0.38, 0.82, 0.77, 0.57), 128: (0.35, 0.79, 0.76, 0.57), 256: (0.32, 0.80, 0.76, 0.53)},
    "ASAx": {64: (0.35, 0.75, 0.73, 0.56), 128: (0.33, 0.73, 0.72, 0.55), 256: (0.30, 0.76, 0.73, 0.52)},
}
_HOUR = 3600.0
#: What is claimed beside EASY: run times so many times as long at most, utilisation so many times as high at least.
_LONGER, _BUSIER = 1.1, 1.5
_SURELY = "over the same draws and all of the 95 % interval"
Runs = Mapping[int, Mapping[str, Found]]


def table_3(found: Runs) -> list[Row]:
    """Waits, CPU and responses of every policy at every size."""
    rows = []
    for size in CORES:
        for name, of in found[size].items():
            paper = _TABLE_3.get(name, {}).get(size)
            shown = [
                f"wait {interval(of.of('mean_wait_s') / _HOUR)} h",
                f"CPU {interval(100 * of.of('cpu_utilisation'))} %",
                f"response {interval(of.of('mean_response_s') / _HOUR)} h",
                f"makespan {interval(of.of('makespan_s') / _HOUR)} h",
                f"stretch {interval(of.of('mean_stretch'))}, of hosts {interval(of.of('mean_host_stretch'))}",
                f"cut {of.of('cut_by_sharing').mean():.1f}, put back {of.of('evicted').mean():.1f} of 45 jobs",
            ]
            said = None if paper is None else "wait {} h, CPU {} %, response {} h".format(*paper)
            rows.append(Row(f"Table 3, {size} cores, {name}", said, "; ".join(shown), None))
    return rows


def table_2(found: Runs) -> list[Row]:
    """Run times of programs, over those under EASY."""
    rows = []
    for size in CORES:
        base = found[size][EASY.shown]
        for name in (STATIC.shown, ASAX.shown, PAIRS.shown):
            ratios = [found[size][name].run_of(each.name) / base.run_of(each.name) for each in PROGRAMS]
            paper = _TABLE_2.get(name, {}).get(size)
            said = None
            if paper is not None:
                parts = [
                    f"{each.name} {run / each.hours[CORES.index(size)]:.2f}"
                    for each, run in zip(PROGRAMS, paper, strict=True)
                ]
                said = ", ".join(parts)
            ours = ", ".join(
                f"{each.name} {ratio.mean():.2f}" for each, ratio in zip(PROGRAMS, ratios, strict=True)
            )
            rows.append(Row(f"Table 2, {size} cores, {name}: run times over EASY's", said, ours, None))
    return rows


def verdicts(found: Runs) -> list[Row]:
    """What the paper concludes, of ASAx as printed and of ours."""
    rows = []
    for name in (ASAX.shown, PAIRS.shown):
        for size in CORES:
            rows += _against_easy(size, name, found[size][name], found[size][EASY.shown])
        lower, hosts = (_beside_static(found, name, of) for of in ("mean_stretch", "mean_host_stretch"))
        told = [sum(part.holds is True for part in each.parts) for each in (lower, hosts)]
        rows.append(
            Row.by(
                f"{name} beside static: mean slowdown lower at every size",
                "lower",
                f"of all jobs at {told[0]} of 3 sizes, of hosts at {told[1]}",
                lower,
                where_it_fails(lower, "guests have small quotas, where static gives half"),
            )
        )
    return rows


def _beside_static(found: Runs, name: str, metric: str) -> Judged:
    """That a metric is lower than under static sharing, at every size."""
    less = [over(found[size][name].of(metric) - found[size][STATIC.shown].of(metric)) for size in CORES]
    return below(less, rule=f"holds where it is of all jobs at each size, {_SURELY}")


def _against_easy(size: int, name: str, ours: Found, easy: Found) -> list[Row]:
    sooner = below(
        [over(ours.of(metric) - easy.of(metric)) for metric in ("mean_wait_s", "mean_response_s")],
        rule=f"holds where both are, {_SURELY}",
    )
    short = Judged(
        (Within(over(ours.of("mean_run_s") - _LONGER * easy.of("mean_run_s")), high=0.0),),
        f"holds where it is at most {_LONGER:g} times EASY's, {_SURELY}",
    )
    used = ours.of("cpu_utilisation"), easy.of("cpu_utilisation")
    busy = Judged(
        (Within(over(used[0] - _BUSIER * used[1]), low=0.0),),
        f"holds where it is at least {_BUSIER:g} times EASY's, {_SURELY}",
    )
    at = f"{name} beside EASY, {size} cores"
    return [
        Row.by(
            f"{at}: wait and response lower",
            "lower",
            f"wait {_gain(ours, easy, 'mean_wait_s')}, response {_gain(ours, easy, 'mean_response_s')}",
            sooner,
        ),
        Row.by(
            f"{at}: mean run time at most 10 % longer",
            "3 to 9 % longer",
            _gain(ours, easy, "mean_run_s"),
            short,
            where_it_fails(short, "guests run on part of the time of their cores, and count"),
        ),
        Row.by(
            f"{at}: CPU utilisation of the cluster 1.5 times as high",
            "1.5 to 2.6 times",
            f"{interval(used[0] / used[1])} times",
            busy,
            where_it_fails(busy, "see what utilisation can be"),
        ),
    ]


def _gain(ours: Found, easy: Found, metric: str) -> str:
    change = interval(100.0 * (ours.of(metric) / easy.of(metric) - 1.0))
    return f"{change.mean:+.1f}{give_or_take(change.half, '.1f')} %"


def utilisation(found: Runs) -> list[Row]:
    """What utilisation can be: the work of the jobs is the same under all policies."""
    rows = []
    for size in CORES:
        easy, static = found[size][EASY.shown], found[size][STATIC.shown]
        work = easy.of("cpu_utilisation") * easy.of("makespan_s")
        least = work / static.of("makespan_s") / easy.of("cpu_utilisation")
        rows.append(
            Row(
                f"{size} cores: used core-seconds over makespan, static over EASY",
                "2.8 times at 256 cores, while its makespan is longer" if size == 256 else None,
                f"{float(np.mean(least)):.2f} times",
                None,
                "jobs need as many core-seconds whoever shares: of a whole cluster, utilisation rises only as the "
                "makespan falls. The paper's can only be of something else",
            )
        )
        rows.append(
            Row(
                f"{size} cores: percent of its quota that a job uses, EASY, static, ASAx",
                ", ".join(str(_TABLE_3[name][size][1]) for name in ("EASY", "static", "ASAx")),
                ", ".join(f"{found[size][name].quota_use.mean():.0f}" for name in ("EASY", "static", "ASAx")),
                None,
                "a job that wants 45 % of its cores and may have half of them uses 90 % of what it has: "
                "Table 2's figures under static are those under Slurm over 0.5",
            )
        )
    return rows
