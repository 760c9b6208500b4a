"""The reproduction of Souza, Pelckmans and Tordsson 2024: ASAx."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from windlass.report.pictures import Line, Picture
from windlass_reproductions.asax.ablation import learning, makespans
from windlass_reproductions.asax.mix import CORES
from windlass_reproductions.asax.on_slurm import AsaxOnSlurm
from windlass_reproductions.asax.runs import ASAX, CONTENDERS, EASY, PAIRS, STATIC, run_all
from windlass_reproductions.asax.tables import Runs, table_2, table_3, utilisation, verdicts
from windlass_reproductions.asax.theorem import theorem
from windlass_reproductions.reproduction import Notify, Paper, Reproduction
from windlass_reproductions.verdicts import interval


class AsaxPaper:
    """Tables 2 and 3 at three loads, and Theorem 1."""

    name: ClassVar[str] = "asax"
    engines: ClassVar[Mapping[str, Paper]] = {"slurm": AsaxOnSlurm()}
    title: ClassVar[str] = (
        "Souza, Pelckmans and Tordsson, A HPC co-scheduler with reinforcement learning, 2024"
    )

    def reproduce(self, *, quick: bool, notify: Notify) -> Reproduction:
        """Run twenty draws of the 45 jobs for each policy and size; ``quick`` runs three draws and five policies."""
        seeds = range(20, 23) if quick else range(20, 40)
        chosen = (EASY, STATIC, ASAX, PAIRS, CONTENDERS[-1]) if quick else CONTENDERS
        found = run_all(seeds, chosen, lambda step, share: notify(step, 0.9 * share))
        notify("Theorem 1", 0.9)
        proven, curve = theorem(20 if quick else 200, 2000 if quick else 10_000)
        judged = [*verdicts(found), *makespans(found), *learning(found)]
        rows = [*table_3(found), *table_2(found), *judged, *utilisation(found), *proven]
        notify("done", 1.0)
        return Reproduction(tuple(rows), (*_pictures(found), curve))


def _pictures(found: Runs) -> tuple[Picture, ...]:
    names = [f"{size} cores" for size in CORES]
    shown = (
        ("mean_wait_s", "Mean wait", 3600.0, "h"),
        ("mean_response_s", "Mean response", 3600.0, "h"),
        ("mean_host_stretch", "Mean run time of hosts relative to alone", 1.0, ""),
    )
    pictures = []
    for metric, title, unit, word in shown:
        lines = []
        for name in found[CORES[0]]:
            each = [interval(found[size][name].of(metric) / unit) for size in CORES]
            lines.append(
                Line(name, range(len(CORES)), [one.mean for one in each], [one.half for one in each])
            )
        axis = f"{title}, {word}" if word else title
        pictures.append(Picture(metric, title, "", axis, tuple(lines), categories=tuple(names)))
    return tuple(pictures)
