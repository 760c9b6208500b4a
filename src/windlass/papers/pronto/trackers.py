"""The four trackers: time a vector, memory a node, and what merging many nodes leaves out."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from windlass.admit import Pronto, Subspace, Tree, distance
from windlass.admit.evaluation import TRACKERS
from windlass.papers.reproduction import Row

Floats = NDArray[np.float64]

#: As the paper calls them: ms a vector, and MB of the process.
PAPER = {
    "fpca": ("Pronto", 15.0, 148.0),
    "spirit": ("SPIRIT", 9.0, 123.0),
    "directions": ("FD", 25.0, 151.0),
    "power": ("PM", 22.0, 155.0),
}
_DIM, _RANK, _BLOCK = 134, 4, 20


def stream(steps: int, dim: int, rank: int, noise: float, rng: np.random.Generator) -> Floats:
    """(steps, dim) of true rank plus noise."""
    directions = np.linalg.qr(rng.normal(size=(dim, rank)))[0] * 0.7 ** np.arange(rank)
    found: Floats = rng.normal(size=(steps, rank)) @ directions.T + noise * rng.normal(size=(steps, dim))
    return found


def ms_a_vector(tracker: str, steps: int, clock: Callable[[], float]) -> float:
    """Milliseconds of this process for a vector of 134 metrics, with spikes and signal."""
    values = stream(steps + _BLOCK, _DIM, _RANK, 0.1, np.random.default_rng(1))
    node = Pronto(_DIM, rank=_RANK, block=_BLOCK, tracker=tracker, rng=np.random.default_rng(2))
    for row in values[:_BLOCK]:
        node.observe(row)
    begun = clock()
    for row in values[_BLOCK:]:
        node.observe(row)
    return 1000.0 * (clock() - begun) / steps


def merged_error(nodes: int, steps: int, fan_out: int, seed: int) -> tuple[float, float]:
    """What the merged subspace of nodes that saw the same directions leaves out of that of the SVD of all data.

    Returns
    -------
    tuple
        The sine of the largest angle between both, and the bytes that one node sent.
    """
    rng = np.random.default_rng(seed)
    directions = np.linalg.qr(rng.normal(size=(_DIM, _RANK)))[0] * 0.7 ** np.arange(_RANK)
    tree = Tree.of(nodes=nodes, fan_out=fan_out, dim=_DIM, rank=_RANK, epsilon=0.0)
    every, sent = [], 0
    for node in range(nodes):
        values = rng.normal(size=(steps, _RANK)) @ directions.T + 0.02 * rng.normal(size=(steps, _DIM))
        left, singular, _ = np.linalg.svd(values.T, full_matrices=False)
        found = Subspace(left[:, :_RANK], singular[:_RANK])
        tree.send(str(node), found)
        sent = found.basis.nbytes + found.singular.nbytes
        every.append(values)
    whole = np.linalg.svd(np.concatenate(every).T, full_matrices=False)[0][:, :_RANK]
    merged = tree.whole
    return (1.0 if merged is None else float(distance(merged.basis, whole))), float(sent)


def rows_of(steps: int, nodes: int) -> list[Row]:
    """Time and memory of all four, and the error after merging."""
    rows = []
    found = {tracker: ms_a_vector(tracker, steps, time.process_time) for tracker in TRACKERS}
    for tracker in TRACKERS:
        name, theirs, memory = PAPER[tracker]
        node = Pronto(_DIM, rank=_RANK, block=_BLOCK, tracker=tracker, rng=np.random.default_rng(2))
        for row in stream(2 * _BLOCK, _DIM, _RANK, 0.1, np.random.default_rng(1)):
            node.observe(row)
        size = len(node.save()) / 1e6
        rows += [
            Row(
                f"{name}: ms a vector", theirs, round(found[tracker], 4), found[tracker] < theirs,
                "processor time here; their machine is another, so that this says little",
            ),
            Row(
                f"{name}: MB", memory, round(size, 4), None,
                "theirs is a process with Python in it, ours what a node adds to one",
            ),
        ]  # fmt: skip
    order = sorted(found, key=lambda each: found[each])
    printed = sorted(PAPER, key=lambda each: PAPER[each][1])
    rows.append(
        Row(
            "from the fastest to the slowest",
            ", ".join(PAPER[each][0] for each in printed),
            ", ".join(PAPER[each][0] for each in order),
            order == printed,
            "it is of how each is written: here blocks are merged in LAPACK, and SPIRIT goes vector by vector",
        )
    )
    error, sent = merged_error(nodes, 200, 8, 3)
    rows += [
        Row(
            f"distance of projectors after merging {nodes} nodes, of true rank plus noise", None, round(error, 6),
            error < 0.05, "below 0.05 is what this house asks for",
        ),
        Row("bytes that a node sends at a time", None, sent, None, "a subspace of 134 metrics and 4 directions"),
    ]  # fmt: skip
    return rows
