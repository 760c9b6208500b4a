"""Metrics of nodes, drawn from their pressure as a recording of a real node had them.

A metric is a straight line of the channels of pressure, each over its mean and deviation in the recording. It
comes ``delay`` steps late, and follows with a pole: of what it was, a share ``pole`` stays. What is left is noise that
metrics have in common (a few factors) and of their own, which fades with the pole ``fade``. Metrics never know more
than the pressure: what announces a burst is that it begins slowly.
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

#: The model that ``windlass_reproductions.pronto.fit`` fitted to a recording of our own,
#: ``examples/telemetry/tune.parquet``.
RECORDED = Path(__file__).parent / "recorded.json"


@dataclass(frozen=True, slots=True, eq=False)
class MetricModel:
    """How d metrics follow k channels, with q factors of noise.

    Parameters
    ----------
    names
        Of the metrics.
    channel_mean, channel_scale
        (k,) of the channels in the recording, in the units of :class:`~windlass.sim.telemetry.pressure.Pressure`.
    mean, scale
        (d,) of the metrics, in their own units.
    along
        (d, k) deviations of a metric for a deviation of a channel.
    delay
        (d,) steps.
    pole, fade
        (d,) 0 to below 1.
    factors
        (d, q) of the noise that comes anew at each step.
    own
        (d,) deviation of each metric's own.

    Raises
    ------
    InputError
        Shapes or values that cannot be.
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
                    f"metric model: {name} has shape {values.shape}, expected {shape} of numbers"
                )
        for name in ("pole", "fade"):
            values = getattr(self, name)
            if d and (values.min() < 0.0 or values.max() >= 1.0):
                raise InputError(f"metric model: {name} is out of bounds, expected 0 to below 1")
        if d and (self.delay.min() < 0 or self.channel_scale.min() <= 0.0):
            raise InputError("metric model: a delay is below 0, or a channel has no deviation")

    @property
    def dim(self) -> int:
        """How many metrics."""
        return len(self.names)


def read_model(path: Path = RECORDED) -> MetricModel:
    """Read a model.

    Raises
    ------
    InputError
        The file cannot be read or is no such model; names the file.

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
    """Write a model as JSON, four digits a number."""
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
    """The metrics of n nodes, step by step.

    Parameters
    ----------
    model
        How they follow pressure.
    nodes
        How many; each has noise of its own.
    rng
        Draws it.

    Examples
    --------
    >>> quiet = np.zeros(2)
    >>> model = MetricModel(("a", "b"), np.zeros(5), np.ones(5), np.array([0.0, 10.0]), np.ones(2),
    ...     np.array([[1.0, 0, 0, 0, 0], [0, 0, 2.0, 0, 0]]), np.array([0, 1]), quiet, quiet, np.zeros((2, 1)), quiet)
    >>> metrics = Metrics(model, 1, np.random.default_rng(1))
    >>> [metrics.step(np.array([[1.0, 0, 3.0, 0, 0]])).tolist() for _ in range(2)]
    [[[1.0, 10.0]], [[1.0, 16.0]]]
    """

    def __init__(self, model: MetricModel, nodes: int, rng: np.random.Generator) -> None:
        self._model, self._rng, self._steps = model, rng, 0
        depth = int(model.delay.max(initial=0)) + 1
        # Before the first step nodes were as the recording was on average.
        self._past = np.zeros((depth, nodes, model.dim))
        self._smooth, self._noise = np.zeros((2, nodes, model.dim))

    def step(self, channels: Floats) -> Floats:
        """(n, d) metrics, of (n, k) channels of the step that has ended."""
        model, depth = self._model, len(self._past)
        unit = (channels - model.channel_mean) / model.channel_scale
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
        return found
