"""How the rows of Tetrium's figures are judged."""

from __future__ import annotations

from windlass.papers.plots import Picture
from windlass.papers.reproduction import Row
from windlass.papers.tetrium.runs import told
from windlass.results import Summary

#: What each figure comes to.
Found = tuple[list[Row], list[Picture]]
#: So many points less than published count as the same.
CLOSE = 5.0
UNEXPLAINED = "not explained here; mind how far the intervals overlap"


def gain_row(what: str, paper: float, found: Summary, note: str = "") -> Row:
    """A published reduction holds where ours is as large, or at most five points less.

    Parameters
    ----------
    what
        Which reduction it is.
    paper, found
        The published one and ours, %.
    note
        What to say beside it.
    """
    return Row(f"{what}, %", paper, told(found), bool(found.mean >= paper - CLOSE), note)
