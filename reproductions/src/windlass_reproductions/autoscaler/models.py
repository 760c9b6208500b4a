"""Which forecasters are compared, with which settings, and what each of them needs."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from windlass.scale.forecast import Forecaster, make
from windlass_reproductions.autoscaler.attention import Attentive

_NETWORKS = ("jax", "equinox", "optax")
#: Networks are smaller than their defaults and taught for fewer steps, so that two cores are done in less than an hour.
#: A window of 288 rows of ten minutes is the paper's two days. The learning rate of the Transformer rises for as many
#: of the steps as it does by default, so that it ends as high.
_LSTM = {"window": 144, "steps": 400, "batch": 32, "seconds": 600.0}
_TRANSFORMER = {"window": 288, "width": 16, "steps": 400, "batch": 8, "warmup": 1300, "seconds": 900.0}


@dataclass(frozen=True, slots=True)
class Setting:
    """A forecaster, as it is compared.

    Parameters
    ----------
    name
        Of the forecaster.
    parameters
        Where they are not its defaults.
    packages
        What has to be installed.
    made
        What makes it of seasons and parameters; by default by its name.
    """

    name: str
    parameters: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    packages: tuple[str, ...] = ()
    made: Callable[..., Forecaster] | None = None

    def make(self, seasons: Sequence[int]) -> Forecaster:
        """A new one, for seasons of so many rows."""
        if self.made is None:
            return make(self.name, seasons, **self.parameters)
        return self.made(seasons=seasons, **self.parameters)

    def missing(self) -> str:
        """The first package that is not installed, or nothing.

        >>> Setting("naive").missing(), Setting("x", packages=("no_such_package",)).missing()
        ('', 'no_such_package')
        """
        return next((name for name in self.packages if importlib.util.find_spec(name) is None), "")

    def said(self) -> str:
        """Its parameters, in words; nothing where they are the defaults.

        >>> Setting("lstm", {"window": 144, "steps": 400}).said()
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
    Setting("transformer", _TRANSFORMER, _NETWORKS, Attentive),
)
