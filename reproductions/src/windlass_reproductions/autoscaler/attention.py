"""The attention of the first layer of the Transformer (Figure 9)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.scale.forecast.models.transformer import Transformer

_Floats = NDArray[np.float64]

#: Number of windows over which the attention is averaged.
_WINDOWS = 64


class AttentionTransformer(Transformer):
    """The Transformer forecaster, with access to the attention of its first layer."""

    def attention(self) -> _Floats:
        """Return (w,) the share of attention that the newest row of a window pays to each row, newest first.

        This is the mean over heads and over windows of the validation rows, which were not used for training. It is
        empty, (0,), if nothing was learned because the series never changes.
        """
        if self._still:
            return np.empty(0)
        scaled = self._scale.down(self._rows)
        last = len(scaled) - self._window
        begins = np.unique(np.linspace(max(0, last - self._held), last, _WINDOWS).astype(np.int64))
        windows = np.stack([scaled[begin : begin + self._window] for begin in begins])
        return first_attention(self._taught.network, windows, begins)


def first_attention(network: Any, windows: _Floats, firsts: NDArray[np.int64]) -> _Floats:
    """Return (w,) the mean attention of windows (n, w, k), newest first; ``firsts`` (n,) numbers their first rows."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    arrays, rest = eqx.partition(network.encoder, eqx.is_array)
    mix = eqx.combine(jax.tree.map(lambda stacked: stacked[0], arrays), rest).own

    def attention(window: Any, first: Any) -> Any:
        # Compute the input of the layer in the same way as the network's ``encode``.
        rows = jax.vmap(network.enter)(window) + network.positions(first, len(window))
        query = mix.query(rows[-1]).reshape(mix.heads, -1)
        keys = jnp.split(jax.vmap(mix.keys)(rows).reshape(len(rows), mix.heads, -1), 2, axis=-1)[0]
        scores = jnp.einsum("hd,mhd->hm", query, keys) / jnp.sqrt(float(query.shape[-1]))
        return jax.nn.softmax(scores, axis=-1).mean(axis=0)

    found = jax.vmap(attention)(jnp.asarray(windows, jnp.float32), jnp.asarray(firsts))
    return np.asarray(found.mean(axis=0), dtype=np.float64)[::-1]
