"""A network as a forecaster: scaled windows in, rows out, and errors on rows that were held back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]


@dataclass(slots=True)
class Taught:
    """A network with its weights.

    Parameters
    ----------
    network
        Has ``ahead(window, first, steps)``.
    window
        Rows that it sees.
    """

    network: Any
    window: int
    _one: dict[int, Callable[..., Any]]
    _many: dict[int, Callable[..., Any]]

    @staticmethod
    def of(network: Any, window: int) -> Taught:
        """To be asked."""
        return Taught(network, window, {}, {})

    def ahead(self, window: _Floats, first: int, steps: int) -> _Floats:
        """(steps, k) after a window (w, k) whose first row has the number ``first``."""
        if steps not in self._one:
            arrays, rest = eqx.partition(self.network, eqx.is_array)
            asked = jax.jit(
                lambda arrays, window, first: eqx.combine(arrays, rest).ahead(window, first, steps)
            )
            # Weights go to the device once, and not with each call.
            self._one[steps] = lambda window, first: asked(arrays, window, first)
        return np.asarray(self._one[steps](window.astype(np.float32), np.int32(first)), dtype=np.float64)

    def many(self, rows: _Floats, first: int, steps: int, batch: int = 64) -> _Floats:
        """(n, steps, k) after each window of ``rows``, the first of which has the number ``first``."""
        if steps not in self._many:
            network = self.network
            self._many[steps] = eqx.filter_jit(
                lambda windows, firsts: jax.vmap(lambda w, f: network.ahead(w, f, steps))(windows, firsts)
            )
        views = np.lib.stride_tricks.sliding_window_view(rows.astype(np.float32), self.window, axis=0)
        windows = views.swapaxes(1, 2)
        found = []
        for begin in range(0, len(windows), batch):
            part = windows[begin : begin + batch]
            # A last batch of another size would be compiled again.
            padded = np.concatenate([part, np.repeat(part[-1:], batch - len(part), axis=0)])
            firsts = first + begin + np.arange(batch)
            found.append(np.asarray(self._many[steps](jnp.asarray(padded), jnp.asarray(firsts)))[: len(part)])
        return np.concatenate(found).astype(np.float64)
