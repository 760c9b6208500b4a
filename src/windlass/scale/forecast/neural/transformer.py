"""The Transformer of the paper: an encoder over a window of rows, and a decoder that starts at the last of them.

Source: "A Predictive Autoscaler for Elastic Batch Jobs", Section 4.2; Vaswani et al., "Attention is all you need",
2017.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp

from windlass.scale.forecast.neural.sampling import decode_rows


class Mix(eqx.Module):
    """Multi-head attention from one sequence to another."""

    query: eqx.nn.Linear
    keys: eqx.nn.Linear
    out: eqx.nn.Linear
    heads: int = eqx.field(static=True)

    def __init__(self, width: int, heads: int, key: jax.Array) -> None:
        first, second, third = jax.random.split(key, 3)
        self.query = eqx.nn.Linear(width, width, key=first)
        self.keys = eqx.nn.Linear(width, 2 * width, key=second)
        self.out = eqx.nn.Linear(width, width, key=third)
        self.heads = heads

    def __call__(self, to: jax.Array, of: jax.Array, causal: bool = False) -> jax.Array:
        """Return the attention (n, width) of ``to`` (n, width) to ``of`` (m, width)."""
        shown = jnp.tril(jnp.ones((len(to), len(of)), bool)) if causal else None
        return self.mixed(to, *self.known(of), shown)

    def known(self, of: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return keys and values (m, heads, width / heads) of a sequence."""
        keys, values = jnp.split(jax.vmap(self.keys)(of).reshape(len(of), self.heads, -1), 2, axis=-1)
        return keys, values

    def mixed(
        self, to: jax.Array, keys: jax.Array, values: jax.Array, shown: jax.Array | None = None
    ) -> jax.Array:
        """Return the attention (n, width) of ``to`` (n, width) to the keys that the mask ``shown`` (n, m) allows."""
        query = jax.vmap(self.query)(to).reshape(len(to), self.heads, -1)
        scores = jnp.einsum("nhd,mhd->hnm", query, keys) / jnp.sqrt(float(query.shape[-1]))
        if shown is not None:
            scores = jnp.where(shown, scores, -jnp.inf)
        mixed = jnp.einsum("hnm,mhd->nhd", jax.nn.softmax(scores, axis=-1), values)
        return jax.vmap(self.out)(mixed.reshape(len(to), -1))


class Layer(eqx.Module):
    """Self-attention, cross-attention in decoders, and a two-layer network; each with a residual and a norm."""

    own: Mix
    other: Mix | None
    wide: eqx.nn.Linear
    narrow: eqx.nn.Linear
    norms: list[eqx.nn.LayerNorm]
    dropout: eqx.nn.Dropout

    def __init__(self, width: int, heads: int, dropout: float, decodes: bool, key: jax.Array) -> None:
        first, second, third, fourth = jax.random.split(key, 4)
        self.own = Mix(width, heads, first)
        self.other = Mix(width, heads, second) if decodes else None
        self.wide = eqx.nn.Linear(width, 4 * width, key=third)
        self.narrow = eqx.nn.Linear(4 * width, width, key=fourth)
        self.norms = [eqx.nn.LayerNorm(width) for _ in range(3 if decodes else 2)]
        self.dropout = eqx.nn.Dropout(dropout)

    def __call__(self, rows: jax.Array, memory: jax.Array | None, key: jax.Array | None) -> jax.Array:
        """Return the layer's output (n, width)."""
        keys = [None] * 3 if key is None else list(jax.random.split(key, 3))
        rows = self.normed(rows, self.own(rows, rows, causal=self.other is not None), 0, keys[0])
        if self.other is not None and memory is not None:
            rows = self.normed(rows, self.other(rows, memory), 1, keys[1])
        return self.normed(rows, self.through(rows), -1, keys[2])

    def through(self, rows: jax.Array) -> jax.Array:
        """Return rows (n, width) passed through the two-layer network."""
        return jax.vmap(self.narrow)(jax.nn.relu(jax.vmap(self.wide)(rows)))

    def normed(self, rows: jax.Array, more: jax.Array, norm: int, key: jax.Array | None = None) -> jax.Array:
        """Add ``more`` to the rows (n, width) and normalise; without a key there is no dropout."""
        return jax.vmap(self.norms[norm])(rows + self.dropout(more, key=key, inference=key is None))


class TransformerNetwork(eqx.Module):
    """A network that maps a window of rows to forecast rows.

    Parameters
    ----------
    columns
        Number of columns of a row.
    seasons
        Rows of each season, for the positions.
    width, heads, layers
        Width of the model (d_model), number of attention heads, number of layers of encoder and decoder.
    dropout
        Dropout probability.
    anchored
        True to add the last row of the window to the output.
    key
        Random key of the initial weights.
    """

    enter: eqx.nn.Linear
    enter_decoder: eqx.nn.Linear
    leave: eqx.nn.Linear
    encoder: Layer
    decoder: Layer
    layers: int = eqx.field(static=True)
    seasons: tuple[int, ...] = eqx.field(static=True)
    anchored: bool = eqx.field(static=True)

    def __init__(
        self,
        columns: int,
        seasons: tuple[int, ...],
        width: int,
        heads: int,
        layers: int,
        dropout: float,
        anchored: bool,
        key: jax.Array,
    ) -> None:
        keys = jax.random.split(key, 3 + 2 * layers)
        self.enter = eqx.nn.Linear(columns, width, key=keys[0])
        self.enter_decoder = eqx.nn.Linear(columns, width, key=keys[1])
        self.leave = eqx.nn.Linear(width, columns, key=keys[2])
        # The weights of all layers are stacked, so a loop over layers is compiled once instead of six times.
        self.encoder = eqx.filter_vmap(lambda each: Layer(width, heads, dropout, False, each))(
            keys[3 : 3 + layers]
        )
        self.decoder = eqx.filter_vmap(lambda each: Layer(width, heads, dropout, True, each))(
            keys[3 + layers :]
        )
        self.layers = layers
        self.seasons, self.anchored = seasons, anchored

    def encode(self, window: jax.Array, first: jax.Array, key: jax.Array | None = None) -> jax.Array:
        """Return the encoding (w, width) of a window (w, columns) whose first row has number ``first``."""
        rows = jax.vmap(self.enter)(window) + self.positions(first, len(window))
        return _through(self.encoder, self.layers, rows, None, key)

    def decode(
        self, given: jax.Array, memory: jax.Array, first: jax.Array, key: jax.Array | None = None
    ) -> jax.Array:
        """Return (n, columns) the row after each of ``given`` (n, columns), which begins with the window's last row."""
        rows = jax.vmap(self.enter_decoder)(given) + self.positions(first, len(given))
        left = jax.vmap(self.leave)(_through(self.decoder, self.layers, rows, memory, key))
        return left + given[0] if self.anchored else left

    def taught(self, window: jax.Array, first: jax.Array, after: jax.Array, key: jax.Array) -> jax.Array:
        """Return forecasts (h, columns) of the rows ``after`` a window, each made from the true rows before it."""
        one, two = jax.random.split(key)
        given = jnp.concatenate([window[-1:], after[:-1]])
        return self.decode(given, self.encode(window, first, one), first + len(window) - 1, two)

    def ahead(self, window: jax.Array, first: jax.Array, steps: int) -> jax.Array:
        """Return forecasts (steps, columns), each made from the forecasts before it."""
        return decode_rows(self, window, first, steps)

    def positions(self, first: jax.Array, count: int) -> jax.Array:
        """Return PE(pos) = Σ sin(2π pos / period), (count, 1), with pos counted from the first row of all."""
        number = first + jnp.arange(count)
        # 32-bit floats cannot resolve the sines of large numbers, so the remainder is taken first.
        return sum(jnp.sin(2 * jnp.pi * (number % season) / season) for season in self.seasons)[:, None]


def _through(
    stack: Layer, count: int, rows: jax.Array, memory: jax.Array | None, key: jax.Array | None
) -> jax.Array:
    """Pass rows through all layers in turn."""
    arrays, rest = eqx.partition(stack, eqx.is_array)

    def one(rows: jax.Array, given: tuple[Layer, jax.Array | None]) -> tuple[jax.Array, None]:
        layer = eqx.combine(given[0], rest)
        return layer(rows, memory, given[1]), None

    keys = None if key is None else jax.random.split(key, count)
    return jax.lax.scan(one, rows, (arrays, keys))[0]
