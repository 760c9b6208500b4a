"""Profiles from what others measured: accuracy and speed of 1,446 image models, and what skipped frames cost.

A query classifies the frames of a camera. A plan is a model and a sub-sampling of frames. Its accuracy is the model's
top-1 on ImageNet, times what sub-sampling leaves on one of five cameras; its cores are frames/s over the images/s that
a core does. Both tables are public; no plan of this kind was measured as a whole.
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

#: Says where measured profiles are; by default among the examples.
VARIABLE = "WINDLASS_PROFILES"
#: Frames/s of a camera.
_FRAMES = 30.0
#: Bytes a pixel of an encoded frame: a JPEG of middling quality.
_BYTES = 0.15
#: The table's CPU throughput is of a whole machine, of which it does not say how many cores it has; taken for these.
_CORES = 14


@dataclass(frozen=True, slots=True)
class Tables:
    """What was measured.

    Parameters
    ----------
    side, top1, rate
        (m,) of each model of the front: pixels of a side, accuracy, images/s.
    every
        (s,) one frame in so many is looked at.
    left
        (s, 5) the accuracy that is left on each camera, of that with all frames.
    """

    side: NDArray[np.float64]
    top1: NDArray[np.float64]
    rate: NDArray[np.float64]
    every: NDArray[np.float64]
    left: NDArray[np.float64]

    def plans(self) -> tuple[QueryPlan, ...]:
        """All plans, model by model; their accuracies are before sub-sampling."""
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
        """(m·s,) accuracies of all plans where frames count as on this camera of the five."""
        return (self.top1[:, None] * self.left[None, :, camera]).ravel()


def measured() -> list[tuple[QueryPlan, ...]]:
    """The profiles that ``windlass plan profile`` wrote into ``examples/plan``, by name; none where there are none."""
    folder = Path(os.environ.get(VARIABLE, Path(__file__).parents[4] / "examples" / "plan"))
    return [stream_plans(file) for file in sorted(folder.glob("*.parquet"))]


def tables() -> Tables | None:
    """Both tables, with those models that no other one beats in accuracy and speed; None where one is away."""
    models = traces() / "vision" / "timm_gpu_cpu.csv"
    frames = traces() / "vision" / "ekya" / "inference_subsampling.csv"
    if not (models.is_file() and frames.is_file()):
        return None
    with models.open(encoding="utf-8", newline="") as file:
        listed = [
            (float(row["img_size"]), float(row["top1_percent"]) / 100, float(row["cpu_images_per_s"]))
            for row in csv.DictReader(file)
        ]
    kept: list[tuple[float, float, float]] = []
    for each in sorted(listed, key=lambda model: (-model[2], -model[1])):
        if not kept or each[1] > kept[-1][1]:
            kept.append(each)
    side, top1, rate = np.array(kept).T
    with frames.open(encoding="utf-8", newline="") as file:
        rows = np.array([[float(value) for value in row] for row in list(csv.reader(file))[1:]])
    return Tables(side, top1, rate, rows[:, 0], rows[:, 1:])
