"""Profiles from public measurements: accuracy and speed of 1,446 image models, and accuracy with skipped frames.

A query classifies the frames of a camera. A plan is a model and a sub-sampling of frames. Its accuracy is the model's
top-1 on ImageNet, times the share that remains with sub-sampling on one of five cameras; its cores are frames/s over
the images/s of a core. Both tables are public; no such plan was measured as a whole.
"""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from windlass.model.queries import Component, QueryPlan
from windlass.plan.profile import stream_plans
from windlass_reproductions.public import traces

#: Environment variable that names the folder of measured profiles; by default it is ``examples/plan``.
VARIABLE = "WINDLASS_PROFILES"
#: Frames/s of a camera.
_FRAMES = 30.0
#: Bytes per pixel of an encoded frame: a JPEG of medium quality.
_BYTES = 0.15
#: The table has the CPU throughput of a whole machine; its number of cores is not published, and assumed here.
_CORES = 14


@dataclass(frozen=True, slots=True)
class Tables:
    """The measured tables.

    Parameters
    ----------
    side, top1, rate
        (m,) for each model of the Pareto front: pixels per side, accuracy, images/s.
    every
        (s,) sub-sampling: one frame in this many is processed.
    left
        (s, 5) accuracy on each camera relative to that with all frames.
    """

    side: NDArray[np.float64]
    top1: NDArray[np.float64]
    rate: NDArray[np.float64]
    every: NDArray[np.float64]
    left: NDArray[np.float64]

    def plans(self) -> tuple[QueryPlan, ...]:
        """Return all plans, model by model; their accuracies do not include sub-sampling."""
        found = []
        for model in range(len(self.top1)):
            for every in self.every.tolist():
                frames, side = _FRAMES / every, float(self.side[model])
                found.append(
                    QueryPlan(
                        float(self.top1[model]),
                        (
                            Component(
                                f"encode {side:g}, one in {every:g}", 0.0, frames * _BYTES * side * side
                            ),
                            Component(
                                f"model {model}, one in {every:g}",
                                frames * _CORES / float(self.rate[model]),
                                0.0,
                            ),
                        ),
                    )
                )
        return tuple(found)

    def accuracy(self, camera: int) -> NDArray[np.float64]:
        """Return the (m·s,) accuracies of all plans with the effect of sub-sampling on one of the five cameras."""
        return (self.top1[:, None] * self.left[None, :, camera]).ravel()


def measured() -> list[tuple[QueryPlan, ...]]:
    """Read the profiles that ``windlass plan profile`` wrote into ``examples/plan``, by name; there may be none."""
    folder = Path(os.environ.get(VARIABLE, Path(__file__).parents[4] / "examples" / "plan"))
    return [stream_plans(file) for file in sorted(folder.glob("*.parquet"))]


def tables() -> Tables | None:
    """Read both tables, with the models on the Pareto front of accuracy and speed; None if a table is missing."""
    models = traces() / "vision" / "timm_gpu_cpu.csv"
    frames = traces() / "vision" / "ekya" / "inference_subsampling.csv"
    if not (models.is_file() and frames.is_file()):
        return None
    with models.open(encoding="utf-8", newline="") as file:
        listed = [
            (float(row["img_size"]), float(row["top1_percent"]) / 100, float(row["cpu_images_per_s"]))
            for row in csv.DictReader(file)
        ]
    front: list[tuple[float, float, float]] = []
    for each in sorted(listed, key=lambda model: (-model[2], -model[1])):
        if not front or each[1] > front[-1][1]:
            front.append(each)
    side, top1, rate = np.array(front).T
    with frames.open(encoding="utf-8", newline="") as file:
        rows = np.array([[float(value) for value in row] for row in list(csv.reader(file))[1:]])
    return Tables(side, top1, rate, rows[:, 0], rows[:, 1:])
