"""The forecasters to compare, with their settings and the packages that they need."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from windlass.scale.forecast import Forecaster, make
from windlass_reproductions.autoscaler.attention import AttentionTransformer

_NETWORKS = ("jax", "equinox", "optax")
#: Networks are smaller than by default and trained for fewer steps, to finish within an hour on two cores.
#: A window of 288 rows of ten minutes is the paper's two days. As with the
#: defaults, the Transformer's warm-up is longer than its training, so its learning rate rises until the end, to 2.1e-3
#: here and 1.25e-3 with the defaults.
_LSTM = {"window": 144, "steps": 400, "batch": 32, "seconds": 600.0}
_TRANSFORMER = {"window": 288, "width": 16, "steps": 400, "batch": 8, "warmup": 1300, "seconds": 900.0}


@dataclass(frozen=True, slots=True)
class Setting:
    """A forecaster with its settings.

    Parameters
    ----------
    name
        Name of the forecaster.
    parameters
        Parameters that differ from the defaults.
    packages
        Packages that must be installed.
    factory
        Function that makes the forecaster from seasons and parameters; by default it is made by name.
    """

    name: str
    parameters: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    packages: tuple[str, ...] = ()
    factory: Callable[..., Forecaster] | None = None

    def make(self, seasons: Sequence[int]) -> Forecaster:
        """Return a new forecaster for seasons of the given numbers of rows."""
        if self.factory is None:
            return make(self.name, seasons, **self.parameters)
        return self.factory(seasons=seasons, **self.parameters)

    def missing(self) -> str:
        """Return the first package that is not installed; empty if all are.

        >>> Setting("naive").missing(), Setting("x", packages=("no_such_package",)).missing()
        ('', 'no_such_package')
        """
        return next((name for name in self.packages if importlib.util.find_spec(name) is None), "")

    def describe(self) -> str:
        """Return the parameters as text, without time limits; empty if all are defaults.

        >>> Setting("lstm", {"window": 144, "steps": 400}).describe()
        'window 144, steps 400'
        """
        return ", ".join(f"{key} {value:g}" for key, value in self.parameters.items() if key != "seconds")


QUICK = tuple(Setting(name) for name in ("naive", "seasonal-naive", "ses", "nlinear"))
FULL = (
    Setting("naive"),
    Setting("seasonal-naive"),
    Setting("ses"),
    Setting("holt-winters"),
    Setting("nlinear"),
    Setting("dlinear"),
    Setting("ets", packages=("statsforecast",)),
    Setting("arima", packages=("statsforecast",)),
    Setting("lightgbm", packages=("lightgbm",)),
    Setting("lstm", _LSTM, _NETWORKS),
    Setting("transformer", _TRANSFORMER, _NETWORKS, AttentionTransformer),
)
