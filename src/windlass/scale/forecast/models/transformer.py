"""The Transformer of the paper."""

from collections.abc import Sequence
from typing import Any, ClassVar

from windlass.model import InputError
from windlass.model.values import number, whole
from windlass.scale.forecast.network import Network


class Transformer(Network):
    """Six encoder and six decoder layers over a window of two days; positions are sums of sines of the seasons.

    As in the paper, the decoder starts at the last row of the window, a mask hides later rows, dropout is
    0.2, Adam has β (0.9, 0.98) and ε 1e-9, and the learning rate rises for 5,000 steps. Differences from the
    paper:

    - ``width`` (d_model) is small, so that training on five months of ten-minute rows takes less than ten
      minutes on two cores. The paper does not give its width.
    - Positions are counted from the first row of all. Counted within the window, as the paper describes it,
      the sines would not encode the time of day.
    - ``anchored`` adds the last row to the output. The paper's network has to learn to repeat its input.

    Parameters
    ----------
    seasons, window, horizon, steps, batch, seconds, anchored, seed
        See :class:`~windlass.scale.forecast.network.Network`.
    width, heads, layers
        d_model, number of attention heads, number of layers of the encoder and of the decoder.
    dropout
        Dropout probability.
    warmup
        Number of steps in which the learning rate rises.

    Raises
    ------
    InputError
        A parameter is out of bounds, or ``width`` is not a multiple of ``heads``.
    """

    name: ClassVar[str] = "transformer"

    def __init__(
        self,
        seasons: Sequence[int] = (144,),
        window: int = 288,
        horizon: int = 6,
        width: int = 32,
        heads: int = 4,
        layers: int = 6,
        dropout: float = 0.2,
        warmup: int = 5000,
        steps: int = 2500,
        batch: int = 16,
        seconds: float = 420.0,
        anchored: bool = True,
        seed: int = 1,
    ) -> None:
        super().__init__(seasons, window, horizon, steps, batch, seconds, anchored, seed)
        self._width, self._heads, self._layers = whole("width", width, 1), whole("heads", heads, 1), layers
        if width % heads:
            raise InputError(f"width is {width}, expected a multiple of heads, {heads}")
        self._dropout = number("dropout", dropout, 0.0, 0.99)
        self._warmup = whole("warmup", warmup, 1)

    def _network(self, columns: int) -> Any:
        import equinox
        import jax

        from windlass.scale.forecast.neural import transformer

        return equinox.filter_jit(transformer.TransformerNetwork)(
            columns,
            self._seasons,
            self._width,
            self._heads,
            self._layers,
            self._dropout,
            self._anchored,
            jax.random.key(self._seed),
        )

    def _how(self) -> tuple[Any, Any]:
        import optax

        from windlass.scale.forecast.neural.train import adam_by_noam

        return optax.squared_error, adam_by_noam(self._width, self._warmup)
