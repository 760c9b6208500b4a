"""Admission: time of a node's decision, alone and in a batch, and its tracker compared with others on one stream."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Row, compare_rates
from windlass.admit import AdmissionFleet, FPCAEdge, Pronto
from windlass.admit.policies.forewarn import Forewarn

_DIM, _RANK, _BLOCK, _NODES = 134, 4, 20, 1000
#: The paper's time of its Python prototype on its machine, s per vector.
_PAPER = 0.015
#: The memory of the prototype's process, MB.
_PAPER_MB = 148.0
_Floats = NDArray[np.float64]


def rows(repeats: int) -> list[Row]:
    """Return all comparisons of the suite; report peers that are not installed on standard error."""
    stream = _stream(2000)
    found = [
        _compared_with_paper(
            "one node, a vector with spikes and signal", 2000, lambda: _alone(stream), repeats
        ),
        _compared_with_paper(
            f"{_NODES} nodes in a batch, a vector with spikes and signal",
            3 * _BLOCK * _NODES,
            _many(),
            repeats,
        ),
        _compared_with_paper("one node under ours, a vector", 2000, lambda: _ours(stream), repeats),
    ]
    blocks = [stream[:, at : at + _BLOCK] for at in range(0, stream.shape[1], _BLOCK)]
    for name, peer in _peers(blocks):
        row = compare_rates(
            f"tracking {_DIM} metrics, a block of {_BLOCK}",
            lambda: _track(blocks),
            peer,
            name,
            amount=len(blocks),
            unit="blocks/s",
            repeats=repeats,
        )
        found.append(row.as_time("s a block"))
    return [*found, _memory()]


def _stream(count: int) -> _Floats:
    rng = np.random.default_rng(1)
    directions = np.linalg.qr(rng.normal(size=(_DIM, 6)))[0] * 0.7 ** np.arange(6)
    return np.asarray(directions @ rng.normal(size=(6, count)) + 0.05 * rng.normal(size=(_DIM, count)))


def _alone(stream: _Floats) -> None:
    node = Pronto(_DIM, rank=_RANK, block=_BLOCK)
    for vector in np.ascontiguousarray(stream.T):
        node.observe(vector)


def _ours(stream: _Floats) -> None:
    node = Forewarn(_DIM, rank=_RANK, block=_BLOCK)
    for at, vector in enumerate(np.ascontiguousarray(stream.T)):
        node.observe(vector, float(at % 50 > 47))


def _many() -> Callable[[], None]:
    fleet = AdmissionFleet(_NODES, _DIM, rank=_RANK, block=_BLOCK)
    steps = np.random.default_rng(1).normal(size=(_BLOCK, _NODES, _DIM))

    def run() -> None:
        for at in range(3 * _BLOCK):
            fleet.observe(steps[at % _BLOCK])

    return run


def _compared_with_paper(name: str, vectors: int, ours: Callable[[], object], repeats: int) -> Row:
    """Measure processor time, s. The peer is a figure of the paper, and not measured here."""
    ours()
    seconds = []
    for _ in range(max(repeats, 3)):
        begun = time.process_time()
        ours()
        seconds.append((time.process_time() - begun) / vectors)
    middle = float(np.median(seconds))
    ratios = [_PAPER / each for each in seconds]
    return Row(
        name,
        middle,
        _PAPER,
        "the paper's prototype, its machine",
        "CPU s a vector",
        _PAPER / middle,
        min(ratios),
        max(ratios),
    )


def _track(blocks: list[_Floats]) -> FPCAEdge:
    tracker = FPCAEdge(_DIM, _RANK, _BLOCK)
    for block in blocks:
        tracker.update(block)
    return tracker


def _peers(blocks: list[_Floats]) -> list[tuple[str, Callable[[], object]]]:
    """Return the peers: an SVD of all data so far, and scikit-learn's incremental PCA if it is installed."""

    def whole() -> None:
        for count in range(10, len(blocks) + 1, 10):
            np.linalg.svd(np.concatenate(blocks[:count], axis=1), full_matrices=False)

    peers: list[tuple[str, Callable[[], object]]] = [
        ("full SVD of all so far, every tenth block", whole),
    ]
    if importlib.util.find_spec("sklearn") is None:
        print("scikit-learn is not installed (extra forecast): no comparison with it", file=sys.stderr)
        return peers
    from sklearn.decomposition import IncrementalPCA

    def incremental() -> None:
        tracker = IncrementalPCA(n_components=_RANK)
        for block in blocks:
            tracker.partial_fit(block.T)

    tracker = IncrementalPCA(n_components=_RANK)
    for block in blocks:
        tracker.partial_fit(block.T)
    true = np.linalg.svd(np.concatenate(blocks, axis=1), full_matrices=False)[0][:, :_RANK]
    for name, basis in (("ours", _track(blocks).basis), ("IncrementalPCA", tracker.components_.T)):
        left_out = np.linalg.norm(true - basis @ (basis.T @ true), 2)
        print(f"{name}: subspace error against the SVD of all {left_out:.4f}", file=sys.stderr)
    return [("scikit-learn IncrementalPCA", incremental), *peers]


#: Runs in a process of its own, because a process does not return all freed memory.
_GROWTH = f"""
import os, numpy as np
from windlass.admit import AdmissionFleet
AdmissionFleet(1, {_DIM}).observe(np.zeros((1, {_DIM})))
np.linalg.eigh(np.eye({_BLOCK}))
pages = lambda: int(open('/proc/self/statm').read().split()[1]) * os.sysconf('SC_PAGE_SIZE') / 1e6
before = pages()
fleet, values = AdmissionFleet({_NODES}, {_DIM}), np.random.default_rng(1).normal(size=({_NODES}, {_DIM}))
for _ in range({2 * _BLOCK + 1}):
    fleet.observe(values)
print(pages() - before)
"""


def _memory() -> Row:
    """Measure the growth of a process's memory by a thousand nodes, on Linux; the paper's figure is a whole process."""
    grown = subprocess.run([sys.executable, "-c", _GROWTH], check=True, capture_output=True, text=True)
    each = float(grown.stdout) / _NODES
    ratio = _PAPER_MB / each
    return Row(
        "memory a node", each, _PAPER_MB, "the paper's prototype, a process", "MB", ratio, ratio, ratio
    )
