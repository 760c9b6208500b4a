"""``python -m windlass_reproductions.pronto.fit RECORDING.parquet …``: fit the simulator's model of metrics.

Channels of pressure come from columns of the recordings. Each metric is a linear function of them, with the delay and
smoothing that explain it best. The residuals are autocorrelated, and share a few factors.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from windlass.io.traces.telemetry import Telemetry, read_recorded
from windlass.model import InputError
from windlass.sim.telemetry.metrics import RECORDED, MetricModel, write_model

Floats = NDArray[np.float64]

#: Columns of the recorder for each channel, in order; the first that a recording has is used.
COLUMNS = (
    ("busy",),
    ("load.runnable",),
    ("cpu_ready",),
    ("memory.MemAvailable", "memory.MemFree"),
    ("net.lo_packets", "net.rx_packets"),
)
DELAYS, POLES, FACTORS = range(4), (0.0, 0.5, 0.8, 0.95), 3
#: Metrics that change at a smaller share of steps are left out.
_MOVES = 0.02


def channels_of(recording: Telemetry, cores: float) -> Floats:
    """Return (t, 5) the channels of pressure that the simulator has.

    These are the shares of busy cores, runnable tasks per core, CPU Ready, the used memory relative to its largest
    change, and packets relative to their mean.

    Raises
    ------
    InputError
        The recording has no column for a channel.
    """
    found = []
    for names in COLUMNS:
        name = next((each for each in names if each in recording.names), None)
        if name is None:
            raise InputError(f"{recording.source}: expected one of the columns {', '.join(names)}")
        found.append(_filled(recording.of(name)))
    busy, runnable, ready, free, packets = found
    # Jobs of the recorded machine use 3 % of its memory, those of the simulator up to all. As a share of all memory, a
    # simulated burst would be a hundred standard deviations from the recording and would dominate all other channels.
    memory = (free.max() - free) / max(float(np.ptp(free)), 1.0)
    return np.stack(
        [busy, runnable / cores, ready, memory, packets / max(float(packets.mean()), 1e-9)], axis=1
    )


def _filled(values: Floats) -> Floats:
    """Replace missing values with the last known value, and leading ones with the first; 0 if none is known."""
    known = np.flatnonzero(np.isfinite(values))
    if not len(known):
        return np.zeros(len(values))
    last = known[np.maximum(np.searchsorted(known, np.arange(len(values)), side="right") - 1, 0)]
    return np.asarray(values[last])


def fit(recordings: Sequence[Telemetry], cores: float) -> MetricModel:
    """Fit the model that explains recordings best.

    Parameters
    ----------
    recordings
        Recordings of one machine, with the same metrics.
    cores
        Number of cores of the machine.

    Raises
    ------
    InputError
        The recordings have different metrics, a channel has no column, or no metric changes.
    """
    names = recordings[0].names
    if any(each.names != names for each in recordings):
        raise InputError("the recordings have different metrics, expected the same in all")
    values = np.concatenate(
        [np.stack([_filled(each.of(name)) for name in names], axis=1) for each in recordings]
    )
    channels = np.concatenate([channels_of(each, cores) for each in recordings])
    moves = (np.abs(np.diff(values, axis=0)) > 0).mean(axis=0) >= _MOVES
    if not moves.any():
        raise InputError(f"{recordings[0].source}: no metric changes")
    kept = np.flatnonzero(moves)
    # Clip extremes, so that a few steps do not determine the scale.
    mean, scale = _robust(values[:, kept])
    unit = np.clip((values[:, kept] - mean) / scale, -10.0, 10.0)
    channel_mean, channel_scale = channels.mean(axis=0), np.maximum(channels.std(axis=0), 1e-6)
    driven = (channels - channel_mean) / channel_scale
    along = np.zeros((len(kept), driven.shape[1]))
    delay, pole = np.zeros(len(kept), np.int64), np.zeros(len(kept))
    left = unit.copy()
    best = np.full(len(kept), np.inf)
    for late in DELAYS:
        for stays in POLES:
            shaped = _shaped(driven, late, stays)
            found = np.linalg.lstsq(shaped, unit, rcond=None)[0]
            rest = unit - shaped @ found
            better = (rest**2).mean(axis=0) < best * (1.0 - 1e-6)
            best = np.where(better, (rest**2).mean(axis=0), best)
            along[better], left[:, better] = found.T[better], rest[:, better]
            delay[better], pole[better] = late, stays
    fade = np.clip(
        (left[1:] * left[:-1]).sum(axis=0) / np.maximum((left[:-1] ** 2).sum(axis=0), 1e-12), 0.0, 0.99
    )
    fresh = left[1:] - fade * left[:-1]
    _, size, right = np.linalg.svd(fresh - fresh.mean(axis=0), full_matrices=False)
    factors = (right[:FACTORS] * size[:FACTORS, None] / np.sqrt(len(fresh))).T
    own = np.sqrt(np.maximum(fresh.var(axis=0) - (factors**2).sum(axis=1), 0.0))
    return MetricModel(
        tuple(names[place] for place in kept), channel_mean, channel_scale, mean, scale, along, delay, pole, fade,
        factors, own,
    )  # fmt: skip


def _robust(values: Floats) -> tuple[Floats, Floats]:
    low, high = np.percentile(values, [1.0, 99.0], axis=0)
    inside = np.clip(values, low, high)
    scale = inside.std(axis=0)
    return inside.mean(axis=0), np.where(scale > 0, scale, np.maximum(values.std(axis=0), 1e-12))


def _shaped(driven: Floats, late: int, stays: float) -> Floats:
    """Delay channels by ``late`` steps, and smooth them exponentially."""
    found = np.concatenate([np.zeros((late, driven.shape[1])), driven[: len(driven) - late]])
    for step in range(1, len(found)) if stays else ():
        found[step] = stays * found[step - 1] + (1.0 - stays) * found[step]
    return found


def main(files: list[str]) -> None:
    """Fit recordings, and overwrite the simulator's model; the first argument may be ``--cores=N`` (default 2)."""
    cores = float(files.pop(0).partition("=")[2]) if files and files[0].startswith("--cores=") else 2.0
    model = fit([read_recorded(Path(file)) for file in files], cores)
    write_model(model, RECORDED)
    shown = 1.0 - (model.own**2 + (model.factors**2).sum(axis=1)) / np.maximum(1.0 - model.fade**2, 1e-9)
    sys.stdout.write(
        f"{model.dim} metrics; pressure explains {np.median(np.clip(shown, 0, 1)):.2f} of the variance (median)\n"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
