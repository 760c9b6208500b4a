"""A small version of each forecaster, and the packages that it needs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from windlass.scale.forecast import Forecaster, forecasters, make

SEASON = 12

_SMALL: dict[str, dict[str, Any]] = {
    "nlinear": {"window": 24, "horizon": 2},
    "dlinear": {"window": 24, "horizon": 2, "average": 5},
    "arima": {"p": 2, "q": 1},
    "lightgbm": {"rounds": 10, "leaves": 4},
    "lstm": {"window": 16, "horizon": 2, "steps": 20, "hidden": 6, "batch": 8},
    "transformer": {"window": 16, "horizon": 2, "steps": 20, "width": 8, "heads": 2, "layers": 1, "batch": 8},
}
_NEEDS = {
    "ets": ["statsforecast"],
    "arima": ["statsforecast"],
    "lightgbm": ["lightgbm"],
    "lstm": ["jax", "equinox", "optax"],
    "transformer": ["jax", "equinox", "optax"],
}
_SLOW = {"lstm", "transformer", "ets", "lightgbm"}


def every(nightly: tuple[str, ...] = ()) -> list[Any]:
    """Names of all forecasters; those that take seconds are marked slow, and these as nightly."""
    return [
        pytest.param(name, marks=[pytest.mark.slow, *([pytest.mark.nightly] if name in nightly else [])])
        if name in _SLOW
        else name
        for name in forecasters()
    ]


def small(name: str, **other: Any) -> Forecaster:
    """Make a small forecaster for series with a season of twelve rows; `other` overrides its parameters."""
    for module in _NEEDS.get(name, []):
        pytest.importorskip(module, reason=f"{name} needs {module}, of the extra forecast")
    return make(name, [SEASON], **(_SMALL.get(name, {}) | other))


def wavy(rows: int = 400, columns: int = 2, seed: int = 3) -> np.ndarray:
    """A seasonal series with noise."""
    rng = np.random.default_rng(seed)
    season = 10 + 5 * np.sin(2 * np.pi * np.arange(rows)[:, None] / SEASON + np.arange(columns))
    return np.maximum(season + rng.normal(0, 0.5, (rows, columns)), 0.0)
