"""Rows of Tetrium's figures: a gain compared with the published one, for each wait of delay scheduling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from windlass.report.pictures import Picture
from windlass.results import Summary
from windlass_reproductions.criteria import Judged, where_it_fails
from windlass_reproductions.reproduction import Row
from windlass_reproductions.tetrium.runs import Bench, summary_text
from windlass_reproductions.tetrium.verdicts import reaches, whatever_the_wait

#: The rows and pictures of a figure.
FigureRows = tuple[list[Row], list[Picture]]
UNEXPLAINED = "not explained here"
#: Waits of delay scheduling, s. The thesis' In-Place uses it with an unstated wait; Spark's default is 3 s.
WAITS = (0.0, 3.0, 5.0)
DELAY = "delay-scheduling"


def join_notes(*parts: str) -> str:
    """Join the parts of a note that are not empty.

    >>> join_notes("one", "", "two")
    'one; two'
    """
    return "; ".join(part for part in parts if part)


def why(judged: Judged, otherwise: str = UNEXPLAINED) -> str:
    """Return the note on a claim that does not hold; empty otherwise."""
    return where_it_fails(judged, otherwise)


def gain_row(what: str, paper: float, found: Summary, note: str = "") -> Row:
    """Return the row on a published reduction, which holds if ours is significantly as large.

    Parameters
    ----------
    what
        Name of the reduction.
    paper, found
        The published one and ours, %.
    note
        The row's note.
    """
    return Row.by(f"{what}, %", paper, summary_text(found), reaches(found, paper), note)


def delayed_row(
    bench: Bench, what: str, paper: float, policy: str, of: dict[str, Any], note: str = "", **setting: Any
) -> Row:
    """Return the row on a published reduction against In-Place, with and without delay scheduling.

    It holds if ours does against every wait of delay scheduling, and is undecided if that depends on the wait.
    """
    against = [bench.gain(policy, DELAY, of, other={"wait": wait}, **setting) for wait in WAITS]
    judged = whatever_the_wait([reaches(found, paper) for found in against])
    reason = {True: "", False: "fails for every wait", None: "not significant, or depends on the wait"}[
        judged.holds
    ]
    ours = (
        f"{by_wait(against)}; without delay scheduling "
        f"{summary_text(bench.gain(policy, 'in-place', of, **setting))}"
    )
    return Row.by(f"{what}, %", paper, ours, judged, join_notes(reason, note))


def by_wait(found: Sequence[Summary]) -> str:
    """Return the gains against each wait, as text.

    >>> by_wait([Summary("gain", 5.0, 1.0)] * 3)
    '5 ± 1, 5 ± 1, 5 ± 1 against waits of 0, 3, 5 s'
    """
    waits = ", ".join(f"{wait:g}" for wait in WAITS)
    return f"{', '.join(summary_text(one) for one in found)} against waits of {waits} s"


def against_delay(bench: Bench, policy: str, of: dict[str, Any], **setting: Any) -> str:
    """Return a policy's gains against each wait of delay scheduling, as text for a note."""
    return by_wait([bench.gain(policy, DELAY, of, other={"wait": wait}, **setting) for wait in WAITS])
