"""Experts: decision trees with distributions over quotas in their leaves, read from an editable file.

Each tree uses one metric. The band of the metric and the band of happiness select a leaf, as in ASAx, Figure
2. ``experts.yaml`` in this folder has the four default trees. The paper prints one example leaf only; the
others are Windlass's, by the paper's rule: a busy host that will barely meet its walltime shares nothing, an
idle and happy one shares much.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError

from windlass.io import Fields, read_yaml
from windlass.io.field_errors import field_error
from windlass.model import InputError
from windlass.share.allocation import Allocation
from windlass.share.lib.state import happiness
from windlass.share.view import checked_actions

_STAGES = ("sequential", "unknown", "parallel")
_OWN = Path(__file__).with_name("experts.yaml")


@dataclass(frozen=True, slots=True, eq=False)
class ExpertTree:
    """One expert.

    Parameters
    ----------
    metric
        Its metric: ``cpu``, ``memory`` (percent), ``interval`` (percent of the walltime that has passed) or
        ``stage``.
    limits
        (k,) lower limits of its bands, from the second on.
    leaves
        (k + 1, h, m) distribution over the m quotas for each of its bands and each of the h bands of
        happiness.
    """

    metric: str
    limits: NDArray[np.float64]
    leaves: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Experts:
    """All experts, and the quotas that they choose from.

    Parameters
    ----------
    actions
        (m,) quotas, percent.
    happiness
        Lower limits of the bands of happiness, from the second on.
    trees
        (n,) the experts.

    Examples
    --------
    >>> experts = read_experts()
    >>> [tree.metric for tree in experts.trees], len(experts.actions)
    (['cpu', 'memory', 'stage', 'interval'], 10)
    """

    actions: tuple[int, ...]
    happiness: NDArray[np.float64]
    trees: tuple[ExpertTree, ...]

    def advice(self, host: Allocation) -> NDArray[np.float64]:
        """Return the distribution of each expert for this host (n, m) (Algorithm 1, line 5).

        >>> host = Allocation(1, "blast", 8, 8e9, 60.0, 30.0, cpu=99.0, memory_used=5.0, tasks_left=30.0, rate=1.0)
        >>> [round(float(chance), 2) for chance in read_experts().advice(host)[0, :3]]
        [0.7, 0.2, 0.1]
        """
        happy = happiness(host)
        # A job without known tasks is treated as one that barely meets its walltime.
        column = int(np.searchsorted(self.happiness, 1.0 if math.isnan(happy) else happy, side="right"))
        rows = [
            int(np.searchsorted(tree.limits, _measured(tree.metric, host), side="right"))
            for tree in self.trees
        ]
        return np.array([tree.leaves[row, column] for tree, row in zip(self.trees, rows, strict=True)])


class _TreeFields(Fields):
    metric: Literal["cpu", "memory", "stage", "interval"]
    bands: list[float] | list[str]
    leaves: list[list[list[Annotated[float, Field(ge=0.0, le=100.0)]]]]


class _Fields(Fields):
    actions: list[int]
    happiness: list[float]
    experts: list[_TreeFields] = Field(min_length=1)


def read_experts(path: Path | None = None) -> Experts:
    """Read experts from a YAML file.

    Parameters
    ----------
    path
        File with ``actions`` (rising percents from 0), ``happiness`` (lower limits of its bands, from the
        second on) and ``experts``. Each expert has a ``metric``, its ``bands`` (lower limits; for ``stage``
        their names) and ``leaves``: a list for each band, in it a list for each band of happiness, with a
        percentage for each action. None for the default experts.

    Raises
    ------
    InputError
        The file cannot be read or is invalid; one line with file, field and value.

    Examples
    --------
    >>> read_experts().trees[0].leaves.shape
    (3, 3, 10)
    """
    return _own() if path is None else _read(path)


@cache
def _own() -> Experts:
    return _read(_OWN)


def _read(path: Path) -> Experts:
    try:
        fields = _Fields.model_validate(read_yaml(path))
    except ValidationError as error:
        raise InputError(f"{path}: {field_error(error, whole='the file')}") from error
    actions = checked_actions(f"{path}: actions", tuple(fields.actions))
    happy = _rising(f"{path}: happiness", fields.happiness)
    trees = []
    for at, tree in enumerate(fields.experts):
        where = f"{path}: experts.{at}"
        limits = _bands(where, tree.metric, tree.bands)
        trees.append(
            ExpertTree(
                tree.metric, limits, _leaves(where, tree.leaves, len(limits), len(happy), len(actions))
            )
        )
    return Experts(actions, happy, tuple(trees))


def _bands(where: str, metric: str, bands: list[float] | list[str]) -> NDArray[np.float64]:
    if metric == "stage":
        if tuple(bands) != _STAGES:
            raise InputError(f"{where}.bands is {bands}, expected [{', '.join(_STAGES)}] for a stage")
        return np.array([0.5, 1.5])
    return _rising(f"{where}.bands", bands)


def _rising(where: str, limits: list[float] | list[str]) -> NDArray[np.float64]:
    if any(isinstance(limit, str) for limit in limits) or not np.all(
        np.diff(np.array(limits, np.float64)) > 0
    ):
        raise InputError(f"{where} is {limits}, expected rising numbers")
    return np.array(limits, dtype=np.float64)


def _leaves(
    where: str, leaves: list[list[list[float]]], limits: int, happy: int, actions: int
) -> NDArray[np.float64]:
    if len(leaves) != limits + 1:
        raise InputError(f"{where}.leaves has {len(leaves)} bands, expected {limits + 1}")
    for row, bands in enumerate(leaves):
        if len(bands) != happy + 1:
            raise InputError(
                f"{where}.leaves.{row} has {len(bands)} bands of happiness, expected {happy + 1}"
            )
        for column, chances in enumerate(bands):
            if len(chances) != actions or abs(sum(chances) - 100.0) > 1e-6:
                raise InputError(
                    f"{where}.leaves.{row}.{column} has {len(chances)} numbers that sum to {sum(chances):g}, "
                    f"expected {actions} percentages that sum to 100"
                )
    found = np.array(leaves, dtype=np.float64)
    return np.asarray(found / found.sum(axis=2, keepdims=True))


def _measured(metric: str, host: Allocation) -> float:
    if metric == "cpu":
        return host.cpu
    if metric == "memory":
        return host.memory_used
    if metric == "interval":
        return 100.0 * host.elapsed / host.walltime
    return 1.0 if host.parallel is None else 2.0 * host.parallel
