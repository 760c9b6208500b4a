"""``python -m windlass_reproductions.pronto.fit RECORDING.parquet …``: the model of metrics that the simulator draws
from.

Channels of pressure are taken from the recording's own columns. Each metric is a straight line of them, as late and as
smooth as explains it best; what is left fades, and has a few factors in common.
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

#: The recorder's columns that stand for the channels, in their order; the first that a recording has.
COLUMNS = (
    ("busy",),
    ("load.runnable",),
    ("cpu_ready",),
    ("memory.MemAvailable", "memory.MemFree"),
    ("net.lo_packets", "net.rx_packets"),
)
DELAYS, POLES, FACTORS = range(4), (0.0, 0.5, 0.8, 0.95), 3
#: Metrics that changed at fewer steps than this share say nothing of the others.
_MOVES = 0.02


def channels_of(recording: Telemetry, cores: float) -> Floats:
    """(t, 5) pressure as the simulator has it: shares (of memory, of the most that was held), tasks a core, and packets
    over their mean.

    Raises
    ------
    InputError
        A column that stands for a channel is missing.
    """
    found = []
    for names in COLUMNS:
        name = next((each for each in names if each in recording.names), None)
        if name is None:
            raise InputError(f"{recording.source}: none of the columns {', '.join(names)} is there")
        found.append(_filled(recording.of(name)))
    busy, runnable, ready, free, packets = found
    # Jobs of the recorded machine take 3 % of its memory, and nodes of the simulator hold up to all. As a share
    # of all, what a burst holds there would be a hundred deviations from the recording, and drown all else.
    memory = (free.max() - free) / max(float(np.ptp(free)), 1.0)
    return np.stack(
        [busy, runnable / cores, ready, memory, packets / max(float(packets.mean()), 1e-9)], axis=1
    )


def _filled(values: Floats) -> Floats:
    """Holes hold the last value that was known; before the first, that."""
    known = np.flatnonzero(np.isfinite(values))
    if not len(known):
        return np.zeros(len(values))
    last = known[np.maximum(np.searchsorted(known, np.arange(len(values)), side="right") - 1, 0)]
    return np.asarray(values[last])


def fit(recordings: Sequence[Telemetry], cores: float) -> MetricModel:
    """The model that explains recordings best.

    Parameters
    ----------
    recordings
        Of one machine, with the same metrics.
    cores
        Of that machine.

    Raises
    ------
    InputError
        They have other metrics, or no metric ever changed.
    """
    names = recordings[0].names
    if any(each.names != names for each in recordings):
        raise InputError("recordings have other metrics than each other")
    values = np.concatenate(
        [np.stack([_filled(each.of(name)) for name in names], axis=1) for each in recordings]
    )
    channels = np.concatenate([channels_of(each, cores) for each in recordings])
    moves = (np.abs(np.diff(values, axis=0)) > 0).mean(axis=0) >= _MOVES
    if not moves.any():
        raise InputError(f"{recordings[0].source}: no metric ever changed")
    kept = np.flatnonzero(moves)
    # A few extreme steps must not be the scale of all others.
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
    """Channels so many steps late, and smoothed."""
    found = np.concatenate([np.zeros((late, driven.shape[1])), driven[: len(driven) - late]])
    for step in range(1, len(found)) if stays else ():
        found[step] = stays * found[step - 1] + (1.0 - stays) * found[step]
    return found


def main(files: list[str]) -> None:
    """Fit recordings, and write the model beside the simulator's part; the first word may be ``--cores=N``."""
    cores = float(files.pop(0).partition("=")[2]) if files and files[0].startswith("--cores=") else 2.0
    model = fit([read_recorded(Path(file)) for file in files], cores)
    write_model(model, RECORDED)
    shown = 1.0 - (model.own**2 + (model.factors**2).sum(axis=1)) / np.maximum(1.0 - model.fade**2, 1e-9)
    sys.stdout.write(
        f"{model.dim} metrics; pressure explains {np.median(np.clip(shown, 0, 1)):.2f} of the median one\n"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
