"""Row by row, a decoder forecasts the same as over whole sequences, as in training."""

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="needs windlass[forecast]")
equinox = pytest.importorskip("equinox", reason="needs windlass[forecast]")


@pytest.mark.parametrize(
    ("columns", "window", "steps", "layers", "anchored"),
    [
        pytest.param(1, 288, 6, 6, True, marks=pytest.mark.slow),
        (3, 20, 1, 2, False),
        pytest.param(2, 7, 9, 3, True, marks=pytest.mark.slow),
    ],
)
def test_row_by_row_forecasts_equal_those_of_the_trained_decoder(columns, window, steps, layers, anchored):
    import jax.numpy as jnp

    from windlass.scale.forecast.neural.transformer import TransformerNetwork

    key = jax.random.key(layers)
    network = equinox.filter_jit(TransformerNetwork)(columns, (144, 1008), 32, 4, layers, 0.2, anchored, key)
    rows, first = jnp.asarray(np.random.default_rng(steps).random((window, columns)), jnp.float32), 1234
    found = equinox.filter_jit(lambda network: network.ahead(rows, first, steps))(network)
    assert found.shape == (steps, columns)

    # Given its own forecasts at once, it returns them again.
    @equinox.filter_jit
    def again(network, given):
        return network.decode(given, network.encode(rows, first), first + window - 1)

    assert np.allclose(again(network, jnp.concatenate([rows[-1:], found[:-1]])), found, atol=1e-5)
    # Later rows depend on earlier rows only.
    other = again(network, jnp.concatenate([rows[-1:], found[:-1] + 1.0]))
    assert np.allclose(other[0], found[0], atol=1e-5)
    assert steps == 1 or not np.allclose(other[1:], found[1:], atol=1e-3)
