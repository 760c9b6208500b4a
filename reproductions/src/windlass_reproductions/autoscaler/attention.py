"""What the first layer of the Transformer attends to (Figure 9)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.scale.forecast.models.transformer import Transformer

_Floats = NDArray[np.float64]

#: How many windows it is averaged over.
_WINDOWS = 64


class Attentive(Transformer):
    """The forecaster, which can say what its first layer attends to."""

    def attention(self) -> _Floats:
        """(w,) the part of its attention that the newest row of a window gives to each row, newest first.

        Mean over heads and over windows of the rows that were held back when it was taught. Nothing, (0,), where it
        learned nothing because the series never changes.
        """
        if self._still:
            return np.empty(0)
        scaled = self._scale.down(self._rows)
        last = len(scaled) - self._window
        begins = np.unique(np.linspace(max(0, last - self._held), last, _WINDOWS).astype(np.int64))
        windows = np.stack([scaled[begin : begin + self._window] for begin in begins])
        return first_attention(self._taught.network, windows, begins)


def first_attention(network: Any, windows: _Floats, firsts: NDArray[np.int64]) -> _Floats:
    """(w,) as :meth:`Attentive.attention`, of windows (n, w, k) whose first rows have the numbers ``firsts`` (n,)."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    arrays, rest = eqx.partition(network.encoder, eqx.is_array)
    mix = eqx.combine(jax.tree.map(lambda stacked: stacked[0], arrays), rest).own

    def given(window: Any, first: Any) -> Any:
        # The layer's input, as the network's own ``encode`` makes it.
        rows = jax.vmap(network.enter)(window) + network.positions(first, len(window))
        query = mix.query(rows[-1]).reshape(mix.heads, -1)
        keys = jnp.split(jax.vmap(mix.keys)(rows).reshape(len(rows), mix.heads, -1), 2, axis=-1)[0]
        scores = jnp.einsum("hd,mhd->hm", query, keys) / jnp.sqrt(float(query.shape[-1]))
        return jax.nn.softmax(scores, axis=-1).mean(axis=0)

    found = jax.vmap(given)(jnp.asarray(windows, jnp.float32), jnp.asarray(firsts))
    return np.asarray(found.mean(axis=0), dtype=np.float64)[::-1]
