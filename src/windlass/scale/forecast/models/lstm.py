"""The paper's LSTM."""

from collections.abc import Sequence
from typing import Any, ClassVar

from windlass.model.values import number, whole
from windlass.scale.forecast.network import Network


class Lstm(Network):
    """Two layers of 51 units, Huber loss, Adam with a learning rate of 0.02, as in the paper.

    Parameters
    ----------
    seasons, window, horizon, steps, batch, seconds, anchored, seed
        See :class:`~windlass.scale.forecast.network.Network`; ``seasons`` is not used.
    hidden
        Number of units of each layer.
    rate
        Learning rate.

    Raises
    ------
    InputError
        A parameter is out of bounds.
    """

    name: ClassVar[str] = "lstm"

    def __init__(
        self,
        seasons: Sequence[int] = (144,),
        window: int = 288,
        horizon: int = 6,
        hidden: int = 51,
        rate: float = 0.02,
        steps: int = 1500,
        batch: int = 32,
        seconds: float = 300.0,
        anchored: bool = True,
        seed: int = 1,
    ) -> None:
        super().__init__(seasons, window, horizon, steps, batch, seconds, anchored, seed)
        self._hidden, self._rate = whole("hidden", hidden, 1), number("rate", rate, 0.0, open_below=True)

    def _network(self, columns: int) -> Any:
        import jax

        from windlass.scale.forecast.neural import lstm

        return lstm.LstmNetwork(
            columns, self._hidden, self._horizon, self._anchored, jax.random.key(self._seed)
        )

    def _how(self) -> tuple[Any, Any]:
        import optax

        from windlass.scale.forecast.neural.train import adam

        # Scaled rows rarely exceed 1, so with its usual bound of 1 the Huber loss equals the squared error.
        return optax.huber_loss, adam(self._rate)
