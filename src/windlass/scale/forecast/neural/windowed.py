"""A trained network as a forecaster over windows of scaled rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Taught:
    """A trained network.

    Parameters
    ----------
    network
        Has ``ahead(window, first, steps)``.
    window
        Number of input rows.
    """

    network: Any
    window: int

    def ahead(self, window: _Floats, first: int, steps: int) -> _Floats:
        """Return forecasts (steps, k) after a window (w, k) whose first row has number ``first``."""
        found = _ahead(self.network, jnp.asarray(window, jnp.float32), jnp.asarray(first), steps)
        return np.asarray(found, dtype=np.float64)

    def many(self, rows: _Floats, first: int, steps: int, batch: int = 64) -> _Floats:
        """Return forecasts (n, steps, k) after each window of ``rows``, the first of which has number ``first``."""
        views = np.lib.stride_tricks.sliding_window_view(rows.astype(np.float32), self.window, axis=0)
        windows = views.swapaxes(1, 2)
        found = []
        for begin in range(0, len(windows), batch):
            part = windows[begin : begin + batch]
            # Padding keeps the batch size, so that the last batch is not compiled again.
            padded = np.concatenate([part, np.repeat(part[-1:], batch - len(part), axis=0)])
            firsts = first + begin + np.arange(batch)
            made = _many(self.network, jnp.asarray(padded), jnp.asarray(firsts), steps)
            found.append(np.asarray(made)[: len(part)])
        return np.concatenate(found).astype(np.float64)


# Compiled once for networks of one shape, not once for each trained network.
@eqx.filter_jit
def _ahead(network: Any, window: jax.Array, first: jax.Array, steps: int) -> Any:
    return network.ahead(window, first, steps)


@eqx.filter_jit
def _many(network: Any, windows: jax.Array, firsts: jax.Array, steps: int) -> Any:
    return jax.vmap(lambda window, first: network.ahead(window, first, steps))(windows, firsts)
