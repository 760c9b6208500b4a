"""How the rows of Tetrium's figures are made: a gain beside the published one, for each wait of delay scheduling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from windlass.report.pictures import Picture
from windlass.results import Summary
from windlass_reproductions.criteria import Judged, where_it_fails
from windlass_reproductions.reproduction import Row
from windlass_reproductions.tetrium.runs import Bench, told
from windlass_reproductions.tetrium.verdicts import reaches, whatever_the_wait

#: What each figure comes to.
Found = tuple[list[Row], list[Picture]]
UNEXPLAINED = "not explained here"
#: The thesis' In-Place applies delay scheduling, and does not say with which wait, s; Spark's own is 3 s.
WAITS = (0.0, 3.0, 5.0)
DELAY = "delay-scheduling"


def noted(*parts: str) -> str:
    """What is said, one after the other.

    >>> noted("one", "", "two")
    'one; two'
    """
    return "; ".join(part for part in parts if part)


def why(judged: Judged, otherwise: str = UNEXPLAINED) -> str:
    """What to say beside a claim that does not hold."""
    return where_it_fails(judged, otherwise)


def gain_row(what: str, paper: float, found: Summary, note: str = "") -> Row:
    """A published reduction, which holds where ours is as large beyond chance.

    Parameters
    ----------
    what
        Which reduction it is.
    paper, found
        The published one and ours, %.
    note
        What to say beside it.
    """
    return Row.by(f"{what}, %", paper, told(found), reaches(found, paper), note)


def delayed_row(
    bench: Bench, what: str, paper: float, policy: str, of: dict[str, Any], note: str = "", **setting: Any
) -> Row:
    """A published reduction against In-Place: ours against each wait of delay scheduling, and against none at all.

    It holds where it does for every wait, and cannot be told where that depends on the wait.
    """
    against = [bench.gain(policy, DELAY, of, other={"wait": wait}, **setting) for wait in WAITS]
    judged = whatever_the_wait([reaches(found, paper) for found in against])
    said = {True: "", False: "for no wait", None: "chance, or the wait, decides"}[judged.holds]
    ours = (
        f"{by_wait(against)}; without delay scheduling {told(bench.gain(policy, 'in-place', of, **setting))}"
    )
    return Row.by(f"{what}, %", paper, ours, judged, noted(said, note))


def by_wait(found: Sequence[Summary]) -> str:
    """Gains against each wait, as text.

    >>> by_wait([Summary("gain", 5.0, 1.0)] * 3)
    '5 ± 1, 5 ± 1, 5 ± 1 against waits of 0, 3, 5 s'
    """
    waits = ", ".join(f"{wait:g}" for wait in WAITS)
    return f"{', '.join(told(one) for one in found)} against waits of {waits} s"


def beside(bench: Bench, policy: str, of: dict[str, Any], **setting: Any) -> str:
    """What a policy gains against each wait of delay scheduling, for a note."""
    return by_wait([bench.gain(policy, DELAY, of, other={"wait": wait}, **setting) for wait in WAITS])
