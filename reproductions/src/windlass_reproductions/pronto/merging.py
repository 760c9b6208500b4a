"""The error of merging up a tree, compared with the SVD of all data.

``python -m windlass_reproductions.pronto.merging`` prints it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from windlass.admit import AggregatorTree, FPCAEdge, Subspace, distance
from windlass.model import InputError
from windlass.model.values import whole
from windlass_reproductions.criteria import below, exactly
from windlass_reproductions.reproduction import Row

_DIM, _RANK, _BLOCK = 134, 4, 20
#: Limit of the largest distance; our choice.
LIMIT = 0.05


@dataclass(frozen=True, slots=True)
class Merging:
    """A setting of nodes below a tree, with data of true rank 4 plus noise in 134 metrics.

    Parameters
    ----------
    nodes, fan_out
        Number of nodes, and of children of an aggregator.
    blocks
        Number of blocks of 20 vectors that a node observes. The first quarter of the nodes stops halfway.
    noise
        Standard deviation of each metric's noise; those of the four directions are 1, 0.7, 0.49 and 0.343.
    forget
        Factor on the weight of a block for each later block, in the nodes' trackers and in the tree.
    sees
        Number of the four directions, drawn at random, that a node's data have.

    Examples
    --------
    >>> Merging(noise=0.05).noisy
    0.15
    """

    nodes: int = 64
    fan_out: int = 8
    blocks: int = 10
    noise: float = 0.02
    forget: float = 1.0
    sees: int = _RANK

    @property
    def noisy(self) -> float:
        """Share of noise in the variance of a node that sees all directions, 0 to 1."""
        noise = _DIM * self.noise**2
        return round(noise / (noise + float((0.49 ** np.arange(_RANK)).sum())), 2)


@dataclass(frozen=True, slots=True)
class MergeResult:
    """Errors of a tree's subspace compared with the SVD of all data.

    Parameters
    ----------
    distance
        Norm of the difference of projectors, which is the sine of the largest angle, 0 to 1.
    singular
        Largest relative error of a singular value.
    bytes
        Bytes that a node sends at a time.
    """

    distance: float
    singular: float
    bytes: int


def run_merging(setting: Merging, rng: np.random.Generator) -> MergeResult:
    """Track at each node, merge up the tree, and compare with the SVD of all data at once.

    With ``forget``, each block in the SVD is weighted by the number of later blocks: the data of a node that stops
    lose weight in the tree as they would in its own tracker.

    Raises
    ------
    InputError
        The number of nodes, blocks or directions is out of range.

    Examples
    --------
    >>> found = run_merging(Merging(nodes=4, fan_out=2, blocks=4, noise=0.0, forget=0.5), np.random.default_rng(1))
    >>> found.distance < 1e-6, found.singular < 1e-9, found.bytes
    (True, True, 4320)
    """
    whole("blocks", setting.blocks, 2)
    if not 1 <= setting.sees <= _RANK:
        raise InputError(f"sees is {setting.sees}, expected 1 to {_RANK} directions")
    directions = np.linalg.qr(rng.normal(size=(_DIM, _RANK)))[0] * 0.7 ** np.arange(_RANK)
    tree = AggregatorTree.of(setting.nodes, setting.fan_out, _DIM, _RANK, setting.forget)
    silent = setting.nodes // 4
    # The round in which each node sends its subspace, which is its last.
    ends = [setting.blocks // 2 if node < silent else setting.blocks for node in range(setting.nodes)]
    found, every = [], []
    for blocks in ends:
        seen = np.isin(np.arange(_RANK), rng.permutation(_RANK)[: setting.sees])
        count = blocks * _BLOCK
        data = (directions * seen) @ rng.normal(size=(_RANK, count))
        data += setting.noise * rng.normal(size=(_DIM, count))
        tracker = FPCAEdge(_DIM, _RANK, _BLOCK, setting.forget)
        for at in range(0, count, _BLOCK):
            tracker.update(data[:, at : at + _BLOCK])
        found.append(Subspace(tracker.basis, tracker.singular_values))
        ages = setting.blocks - 1 - np.arange(blocks)
        every.append(data * np.repeat(setting.forget**ages, _BLOCK))
    for now in range(1, setting.blocks + 1):
        for node in (node for node, end in enumerate(ends) if end == now):
            tree.send(str(node), found[node])
        if now < setting.blocks:
            tree.round()
    left, singular, _ = np.linalg.svd(np.concatenate(every, axis=1), full_matrices=False)
    top = tree.whole
    assert top is not None
    off = np.abs(top.singular / singular[:_RANK] - 1.0).max()
    return MergeResult(distance(top.basis, left[:, :_RANK]), float(off), found[-1].bytes)


#: Settings to report: noise, forgetting, and directions of a node.
SETTINGS = tuple(
    Merging(noise=noise, forget=forget, sees=sees)
    for noise, forget, sees in product((0.02, 0.05, 0.1), (1.0, 0.9), (_RANK, _RANK // 2))
)


def merge_row(what: str, distances: Sequence[float], note: str) -> Row:
    """Return the row that tests the largest distance over seeds."""
    rule = f"holds if the largest over seeds is below {LIMIT:g}, a limit that we chose"
    shown = f"{np.mean(distances):.4f} ({max(distances):.4f})"
    return Row.by(what, None, shown, below([exactly(max(distances))], LIMIT, rule=rule), note)


def rows_of(nodes: int, seeds: Sequence[int], settings: Sequence[Merging] = SETTINGS) -> list[Row]:
    """Return rows of the distance of each setting, over seeds, and of the bytes that a node sends."""
    rows: list[Row] = []
    sent = 0
    for setting in settings:
        found = [
            run_merging(replace(setting, nodes=nodes), np.random.default_rng([seed, 7])) for seed in seeds
        ]
        far, off = [each.distance for each in found], max(each.singular for each in found)
        sent = found[0].bytes
        what = (
            f"merging {nodes} nodes, noise {setting.noise:g}, forget {setting.forget:g}, {setting.sees} of {_RANK} "
            "directions per node: mean distance of projectors from the SVD of all data (largest)"
        )
        note = (
            f"{len(seeds)} seeds; noise is {setting.noisy:.0%} of the variance if all directions are seen; singular "
            f"values are off by {off:.1%} at most"
        )
        rows.append(merge_row(what, far, note))
    rows.append(Row("bytes that a node sends at a time", None, sent, None, "134 metrics and 4 directions"))
    return rows


if __name__ == "__main__":
    for each in rows_of(64, range(1, 11)):
        sys.stdout.write(f"{each.what}: {each.ours}; {each.note}\n")
