"""The four trackers: time per vector, and memory per node."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from windlass.admit import Pronto
from windlass.admit.evaluation import TRACKERS
from windlass_reproductions.criteria import Judged, Within, exactly
from windlass_reproductions.reproduction import Row

Floats = NDArray[np.float64]

#: The paper's name of each tracker, its ms per vector, and MB of the process.
PAPER = {
    "fpca": ("Pronto", 15.0, 148.0),
    "spirit": ("SPIRIT", 9.0, 123.0),
    "directions": ("FD", 25.0, 151.0),
    "power": ("PM", 22.0, 155.0),
}
_DIM, _RANK, _BLOCK = 134, 4, 20


def stream(steps: int, dim: int, rank: int, noise: float, rng: np.random.Generator) -> Floats:
    """Draw (steps, dim) vectors of a given true rank plus noise."""
    directions = np.linalg.qr(rng.normal(size=(dim, rank)))[0] * 0.7 ** np.arange(rank)
    found: Floats = rng.normal(size=(steps, rank)) @ directions.T + noise * rng.normal(size=(steps, dim))
    return found


def ms_a_vector(tracker: str, steps: int, clock: Callable[[], float]) -> float:
    """Measure the milliseconds per vector of 134 metrics, including spikes and signal, by a clock in seconds."""
    values = stream(steps + _BLOCK, _DIM, _RANK, 0.1, np.random.default_rng(1))
    node = Pronto(_DIM, rank=_RANK, block=_BLOCK, tracker=tracker, rng=np.random.default_rng(2))
    for row in values[:_BLOCK]:
        node.observe(row)
    begin = clock()
    for row in values[_BLOCK:]:
        node.observe(row)
    return 1000.0 * (clock() - begin) / steps


def rows_of(steps: int) -> list[Row]:
    """Return rows of the time and memory of all four trackers."""
    rows = []
    found = {tracker: ms_a_vector(tracker, steps, time.process_time) for tracker in TRACKERS}
    for tracker in TRACKERS:
        name, published, memory = PAPER[tracker]
        node = Pronto(_DIM, rank=_RANK, block=_BLOCK, tracker=tracker, rng=np.random.default_rng(2))
        for row in stream(2 * _BLOCK, _DIM, _RANK, 0.1, np.random.default_rng(1)):
            node.observe(row)
        size = len(node.save()) / 1e6
        rows += [
            Row(
                f"{name}: ms per vector", published, round(found[tracker], 4), None,
                "processor time on another machine than the paper's, so it confirms nothing",
            ),
            Row(
                f"{name}: MB", memory, round(size, 4), None,
                "the paper measures a whole Python process; here it is the memory that a node adds to one",
            ),
        ]  # fmt: skip
    rows.append(order_row(found))
    return rows


def order_row(found: Mapping[str, float]) -> Row:
    """Return the row that tests whether trackers have the printed order of speed, from their ms per vector."""
    order = sorted(found, key=lambda each: found[each])
    printed = sorted(PAPER, key=lambda each: PAPER[each][1])
    elsewhere = sum(one != other for one, other in zip(order, printed, strict=True))
    return Row.by(
        "trackers from the fastest to the slowest",
        ", ".join(PAPER[each][0] for each in printed),
        ", ".join(PAPER[each][0] for each in order),
        Judged((Within(exactly(elsewhere), high=0.0),), "holds if the orders are equal; one measurement"),
        "it depends on the implementations: here LAPACK merges blocks, and SPIRIT processes single vectors",
    )
