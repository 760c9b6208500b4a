"""The reproduction of Grammenos et al.: Pronto."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from windlass.report.pictures import Picture
from windlass_reproductions.pronto import spikes, values
from windlass_reproductions.pronto.data import (
    bitbrains_nodes,
    machines,
    recorded,
    recorded_nodes,
    recordings,
    smd_nodes,
    traces,
)
from windlass_reproductions.pronto.drawn import drawn_node
from windlass_reproductions.pronto.merging import SETTINGS
from windlass_reproductions.pronto.merging import rows_of as merging_rows
from windlass_reproductions.pronto.recall import DOWNTIMES, NodeSet, judge_all, pictures
from windlass_reproductions.pronto.recall import rows_of as recall_rows
from windlass_reproductions.pronto.recorded import rows_of as recorded_rows
from windlass_reproductions.pronto.trackers import rows_of as tracker_rows
from windlass_reproductions.reproduction import Notify, Reproduction, Row


class ProntoPaper:
    """Tables 1 to 6, the trackers, merging, and the predictions of the signal."""

    name: ClassVar[str] = "pronto"
    title: ClassVar[str] = "Grammenos et al., Pronto: federated task scheduling, 2021"

    def reproduce(self, *, quick: bool, notify: Notify) -> Reproduction:
        """Run all machines and forecasts of the last 14 days; ``quick`` runs nine machines and some hundred steps."""
        rows: list[Row] = []
        notify("trackers", 0.0)
        rows += tracker_rows(100 if quick else 4000)
        notify("merging", 0.01)
        rows += merging_rows(*((8, range(1, 3), SETTINGS[:1]) if quick else (64, range(1, 11), SETTINGS)))
        notify("Tables 1 to 6", 0.05)
        rows += _forecasts(quick)
        notify("Tables 1 to 6 on recorded CPU Ready", 0.35)
        rows += _recorded(quick)
        drawn: list[Picture] = []
        sets = _sets(quick)
        for place, kind in enumerate(sets):
            start, length = 0.4 + 0.6 * place / len(sets), 0.6 / len(sets)

            def notify_set(step: str, share: float, start: float = start, length: float = length) -> None:
                notify(step, start + length * share)

            found = judge_all(kind, notify_set, DOWNTIMES[:1] if quick else DOWNTIMES, tune=not quick)
            rows += recall_rows(kind, found)
            drawn += pictures(kind, found, f"set{place}")
        notify("done", 1.0)
        return Reproduction(tuple(rows), tuple(drawn))


def _forecasts(quick: bool) -> list[Row]:
    found = machines(9 if quick else None)
    if not found:
        return [_absent("Tables 1 to 6", traces(), "the public traces")]
    most, short = (2, 2) if quick else (14, 56)
    table_1, table_3 = values.daily(found, most), values.by_stretch(found, short)
    return values.rows_of(table_1, table_3) + spikes.rows_of(spikes.all_accuracies(found, most))


def _recorded(quick: bool) -> list[Row]:
    """Return rows of Tables 1 and 3 to 6 on our recordings."""
    found = recorded()
    if found is None:
        return [_absent("Tables 1 to 6 on recorded CPU Ready", recordings(), "our recordings")]
    return recorded_rows(found, 4 if quick else 200)


def _sets(quick: bool) -> list[NodeSet]:
    """Return the available sets of nodes."""
    # Numbers of nodes, of steps to evaluate, and of steps before.
    small = (1, 800, 300)
    found = [
        NodeSet("our recordings", recorded_nodes(600 if quick else None)),
        NodeSet("Bitbrains", bitbrains_nodes(*small) if quick else bitbrains_nodes(8, None)),
        NodeSet("SMD", smd_nodes(*small) if quick else smd_nodes(4, None)),
        *(
            NodeSet(
                name, [drawn_node(seed, 1500 if quick else 12_000, warns=warns) for seed in seeds], real=False
            )
            for name, warns in (("drawn nodes that warn", True), ("drawn nodes that do not", False))
            for seeds in [range(100, 101 if quick else 104)]
        ),
    ]
    return [each for each in found if each.nodes]


def _absent(what: str, folder: Path, of: str) -> Row:
    return Row(what, None, "not run", None, f"no files of {of} in the folder {folder.name}")
