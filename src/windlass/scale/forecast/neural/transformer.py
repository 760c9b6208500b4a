"""The paper's Transformer: an encoder over a window of rows, and a decoder that begins at the last of them.

Source: "A Predictive Autoscaler for Elastic Batch Jobs", Section 4.2; Vaswani et al., "Attention is all you need",
2017.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp

from windlass.scale.forecast.neural.sampling import said


class Mix(eqx.Module):
    """Multi-head attention of one sequence to another."""

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
        """(n, width) of what each of ``to`` (n, width) finds in ``of`` (m, width)."""
        shown = jnp.tril(jnp.ones((len(to), len(of)), bool)) if causal else None
        return self.mixed(to, *self.known(of), shown)

    def known(self, of: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Keys and values (m, heads, width / heads) of what there is to find."""
        keys, values = jnp.split(jax.vmap(self.keys)(of).reshape(len(of), self.heads, -1), 2, axis=-1)
        return keys, values

    def mixed(
        self, to: jax.Array, keys: jax.Array, values: jax.Array, shown: jax.Array | None = None
    ) -> jax.Array:
        """(n, width) of what each of ``to`` (n, width) finds in those that it is ``shown`` (n, m)."""
        query = jax.vmap(self.query)(to).reshape(len(to), self.heads, -1)
        scores = jnp.einsum("nhd,mhd->hnm", query, keys) / jnp.sqrt(float(query.shape[-1]))
        if shown is not None:
            scores = jnp.where(shown, scores, -jnp.inf)
        mixed = jnp.einsum("hnm,mhd->nhd", jax.nn.softmax(scores, axis=-1), values)
        return jax.vmap(self.out)(mixed.reshape(len(to), -1))


class Layer(eqx.Module):
    """Attention to itself, to another sequence where there is one, and a network of two layers; each is added and
    normed."""

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
        """(n, width) rows again."""
        keys = [None] * 3 if key is None else list(jax.random.split(key, 3))
        rows = self.normed(rows, self.own(rows, rows, causal=self.other is not None), 0, keys[0])
        if self.other is not None and memory is not None:
            rows = self.normed(rows, self.other(rows, memory), 1, keys[1])
        return self.normed(rows, self.through(rows), -1, keys[2])

    def through(self, rows: jax.Array) -> jax.Array:
        """(n, width) rows through the network of two layers."""
        return jax.vmap(self.narrow)(jax.nn.relu(jax.vmap(self.wide)(rows)))

    def normed(self, rows: jax.Array, more: jax.Array, norm: int, key: jax.Array | None = None) -> jax.Array:
        """(n, width) rows and what was found, by one of the norms; without a key nothing is dropped."""
        return jax.vmap(self.norms[norm])(rows + self.dropout(more, key=key, inference=key is None))


class TransformerNetwork(eqx.Module):
    """Rows in, rows out.

    Parameters
    ----------
    columns
        How many each row has.
    seasons
        Rows of each season, for the positions.
    width, heads, layers
        Of the model (d_model), of attention, of encoder and of decoder each.
    dropout
        Chance.
    anchored
        Whether the last row of the window is added to what comes out.
    key
        Of the first weights.
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
        # The weights of all layers in one array each: a loop over them is compiled once, and not six times.
        self.encoder = eqx.filter_vmap(lambda each: Layer(width, heads, dropout, False, each))(
            keys[3 : 3 + layers]
        )
        self.decoder = eqx.filter_vmap(lambda each: Layer(width, heads, dropout, True, each))(
            keys[3 + layers :]
        )
        self.layers = layers
        self.seasons, self.anchored = seasons, anchored

    def encode(self, window: jax.Array, first: jax.Array, key: jax.Array | None = None) -> jax.Array:
        """(w, width) of a window (w, columns) whose first row has the number ``first``."""
        rows = jax.vmap(self.enter)(window) + self.positions(first, len(window))
        return _through(self.encoder, self.layers, rows, None, key)

    def decode(
        self, given: jax.Array, memory: jax.Array, first: jax.Array, key: jax.Array | None = None
    ) -> jax.Array:
        """(n, columns) the row after each of ``given`` (n, columns), the first of which is the last of the window."""
        rows = jax.vmap(self.enter_decoder)(given) + self.positions(first, len(given))
        left = jax.vmap(self.leave)(_through(self.decoder, self.layers, rows, memory, key))
        return left + given[0] if self.anchored else left

    def taught(self, window: jax.Array, first: jax.Array, after: jax.Array, key: jax.Array) -> jax.Array:
        """(h, columns) forecasts of the rows ``after`` a window, each told those before it."""
        one, two = jax.random.split(key)
        given = jnp.concatenate([window[-1:], after[:-1]])
        return self.decode(given, self.encode(window, first, one), first + len(window) - 1, two)

    def ahead(self, window: jax.Array, first: jax.Array, steps: int) -> jax.Array:
        """(steps, columns) forecasts, each told the forecasts before it."""
        return said(self, window, first, steps)

    def positions(self, first: jax.Array, count: int) -> jax.Array:
        """(count, 1): PE(pos) = Σ sin(2π pos / period), pos counted from the first row of all, not of the window."""
        number = first + jnp.arange(count)
        # The remainder first: 32 bits cannot tell the sines of large numbers.
        return sum(jnp.sin(2 * jnp.pi * (number % season) / season) for season in self.seasons)[:, None]


def _through(
    stack: Layer, count: int, rows: jax.Array, memory: jax.Array | None, key: jax.Array | None
) -> jax.Array:
    """Rows through all layers, one after the other."""
    arrays, rest = eqx.partition(stack, eqx.is_array)

    def one(rows: jax.Array, given: tuple[Layer, jax.Array | None]) -> tuple[jax.Array, None]:
        layer = eqx.combine(given[0], rest)
        return layer(rows, memory, given[1]), None

    keys = None if key is None else jax.random.split(key, count)
    return jax.lax.scan(one, rows, (arrays, keys))[0]
