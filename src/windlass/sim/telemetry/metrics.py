"""Metrics of nodes, drawn from their pressure with a model fitted to a recording of a real node.

A metric is a linear function of the channels of pressure, standardised with their mean and deviation in the recording.
It follows them ``delay`` steps late, through a low-pass filter with the pole ``pole``. The residual is noise, from a
few factors that metrics share and from the metric alone; it decays with the pole ``fade``. Metrics contain no more
information than the pressure: only the slow start of a burst announces it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError
from windlass.sim.telemetry.pressure import CHANNELS

Floats = NDArray[np.float64]

#: The model that ``windlass_reproductions.pronto.fit`` fitted to a recording of one of Windlass's own nodes,
#: ``examples/telemetry/tune.parquet``.
RECORDED = Path(__file__).parent / "recorded.json"


@dataclass(frozen=True, slots=True, eq=False)
class MetricModel:
    """Dependence of d metrics on k channels, with q factors of noise.

    Parameters
    ----------
    names
        Names of the metrics.
    channel_mean, channel_scale
        (k,) mean and standard deviation of the channels in the recording, in the units of
        :class:`~windlass.sim.telemetry.pressure.Pressure`.
    mean, scale
        (d,) mean and standard deviation of the metrics, in their own units.
    along
        (d, k) change of a metric for a change of a channel, both in standard deviations.
    delay
        (d,) delay of each metric, steps.
    pole, fade
        (d,) poles of the metric and of its noise, 0 to below 1.
    factors
        (d, q) weight of each factor in the noise that is drawn at each step.
    own
        (d,) standard deviation of the noise of each metric alone.

    Raises
    ------
    InputError
        An array has a wrong shape, or a value is out of bounds.
    """

    names: tuple[str, ...]
    channel_mean: Floats
    channel_scale: Floats
    mean: Floats
    scale: Floats
    along: Floats
    delay: NDArray[np.int64]
    pole: Floats
    fade: Floats
    factors: Floats
    own: Floats

    def __post_init__(self) -> None:
        d, k = len(self.names), len(CHANNELS)
        shapes = {
            "channel_mean": (k,), "channel_scale": (k,), "mean": (d,), "scale": (d,), "along": (d, k),
            "delay": (d,), "pole": (d,), "fade": (d,), "factors": (d, self.factors.shape[-1]), "own": (d,),
        }  # fmt: skip
        for name, shape in shapes.items():
            values = getattr(self, name)
            if values.shape != shape or not np.isfinite(values).all():
                raise InputError(
                    f"metric model: {name} has shape {values.shape}, expected {shape} with finite numbers"
                )
        for name in ("pole", "fade"):
            values = getattr(self, name)
            if d and (values.min() < 0.0 or values.max() >= 1.0):
                raise InputError(
                    f"metric model: {name} is {values.min()} to {values.max()}, expected 0 to below 1"
                )
        if d and self.delay.min() < 0:
            raise InputError(f"metric model: delay is {self.delay.min()}, expected at least 0")
        if d and self.channel_scale.min() <= 0.0:
            raise InputError(f"metric model: channel_scale is {self.channel_scale.min()}, expected above 0")

    @property
    def dim(self) -> int:
        """Number of metrics."""
        return len(self.names)


def read_model(path: Path = RECORDED) -> MetricModel:
    """Read a model from a JSON file.

    Parameters
    ----------
    path
        The file; by default the recorded model.

    Raises
    ------
    InputError
        The file cannot be read or does not hold a model; the message names the file.

    Examples
    --------
    >>> read_model().dim >= 40
    True
    """
    try:
        tree: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        known = [field.name for field in fields(MetricModel)]
        missing = [name for name in (*known, "channels") if name not in tree]
        if missing:
            raise InputError(f"{missing[0]} is missing")
        if tuple(tree["channels"]) != CHANNELS:
            raise InputError(f"channels are {tree['channels']}, expected {list(CHANNELS)}")
        arrays = {
            name: np.asarray(tree[name], np.float64) for name in known if name not in ("names", "delay")
        }
        return MetricModel(names=tuple(tree["names"]), delay=np.asarray(tree["delay"], np.int64), **arrays)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, TypeError, RecursionError) as error:
        raise InputError(f"{path}: {next(iter(str(error).splitlines()), 'no metric model')}") from error


def write_model(model: MetricModel, path: Path) -> None:
    """Write a model to a JSON file, with four digits per number.

    Parameters
    ----------
    model
        The model.
    path
        The file.
    """
    tree: dict[str, Any] = {"channels": list(CHANNELS), "names": list(model.names)}
    for field in fields(MetricModel):
        if field.name != "names":
            tree[field.name] = _short(getattr(model, field.name))
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(value)}" for name, value in tree.items())
    path.write_text("{\n" + lines + "\n}\n", encoding="utf-8")


def _short(values: NDArray[Any]) -> Any:
    if values.dtype.kind in "iu":
        return values.tolist()
    return np.vectorize(lambda value: float(f"{value:.4g}"), otypes=[np.float64])(values).tolist()


class Metrics:
    """Metrics of n nodes, step by step.

    Parameters
    ----------
    model
        Their dependence on pressure.
    nodes
        Number of nodes; each has independent noise.
    rng
        Draws the noise.

    Examples
    --------
    >>> model = MetricModel(
    ...     names=("a", "b"), channel_mean=np.zeros(5), channel_scale=np.ones(5),
    ...     mean=np.array([0.0, 10.0]), scale=np.ones(2),
    ...     along=np.array([[1.0, 0, 0, 0, 0], [0, 0, 2.0, 0, 0]]), delay=np.array([0, 1]),
    ...     pole=np.zeros(2), fade=np.zeros(2), factors=np.zeros((2, 1)), own=np.zeros(2),
    ... )
    >>> metrics = Metrics(model, 1, np.random.default_rng(1))
    >>> [metrics.step(np.array([[1.0, 0, 3.0, 0, 0]])).tolist() for _ in range(2)]
    [[[1.0, 10.0]], [[1.0, 16.0]]]
    """

    def __init__(self, model: MetricModel, nodes: int, rng: np.random.Generator) -> None:
        self._model, self._rng, self._steps = model, rng, 0
        depth = int(model.delay.max(initial=0)) + 1
        # Before the first step, the pressure of each node is the recording's mean.
        self._past = np.zeros((depth, nodes, model.dim))
        self._smooth, self._noise = np.zeros((2, nodes, model.dim))

    def step(self, channels: Floats) -> Floats:
        """Return (n, d) metrics after a step with these (n, k) channels of pressure.

        The channels of an absent node are NaN, and so are its metrics; for later steps they count as the recording's
        mean.
        """
        model, depth = self._model, len(self._past)
        absent = np.isnan(channels[:, 0])
        unit = (channels - model.channel_mean) / model.channel_scale
        unit[absent] = 0.0
        self._past[self._steps % depth] = unit @ model.along.T
        rows = (self._steps - model.delay) % depth
        late = self._past[rows, :, np.arange(model.dim)].T
        self._smooth = model.pole * self._smooth + (1.0 - model.pole) * late
        nodes = len(channels)
        common = self._rng.normal(size=(nodes, model.factors.shape[1])) @ model.factors.T
        fresh = common + model.own * self._rng.normal(size=(nodes, model.dim))
        self._noise = model.fade * self._noise + fresh
        self._steps += 1
        found: Floats = model.mean + model.scale * (self._smooth + self._noise)
        found[absent] = np.nan
        return found
