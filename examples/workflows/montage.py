"""Build a mosaic of the sky: mostly waits for files. Parallel and sequential stages in turn; uses 45 % of its cores.

Tiles are fetched slowly, and projected onto a common grid (parallel). Neighbours are compared where they overlap, and a
plane is fitted to each tile's background (sequential). Planes are subtracted (parallel), and all tiles are added up to
one picture (sequential). Every step reads and writes files that are synced to disk.
"""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path

import common
import numpy as np

#: Pixels along a tile, and pixels that it shares with its neighbour.
SIDE, OVERLAP = 192, 32
#: Samples of a pixel along one direction, which set the cost of a projection.
SAMPLES = 3
#: Seconds that an archive takes for a tile, and a disk for a file.
FETCH, DISK = 0.022, 0.003
#: Nominal seconds for one tile, all stages together.
TILE = 0.098


def save(path: Path, pixels: np.ndarray) -> None:
    """Write a file and sync it to disk."""
    time.sleep(DISK)
    with path.open("wb") as file:
        np.save(file, pixels)
        file.flush()
        os.fsync(file.fileno())


def load(path: Path) -> np.ndarray:
    """Read a saved file."""
    time.sleep(DISK)
    return np.load(path)


def fetched(seed: int, tile: int) -> np.ndarray:
    """Return a raw picture: stars on a slightly tilted background."""
    time.sleep(FETCH)
    rng = np.random.default_rng([seed, tile])
    y, x = np.mgrid[0:SIDE, 0:SIDE] / SIDE
    pixels = rng.normal(100.0, 3.0, (SIDE, SIDE)) + rng.normal(0, 9) * x + rng.normal(0, 9) * y
    for star_y, star_x, light in rng.random((20, 3)):
        near = (y - star_y) ** 2 + (x - star_x) ** 2
        pixels += 900.0 * light * np.exp(-near * 4000.0)
    return pixels.astype(np.float32)


def project(folder: Path, seed: int, tile: int) -> None:
    """Rotate a raw tile onto the grid of the mosaic, with several samples per pixel."""
    save(folder / f"raw{tile}.npy", fetched(seed, tile))
    raw = load(folder / f"raw{tile}.npy")
    angle = 0.01 * np.sin(tile)
    y, x = np.mgrid[0:SIDE, 0:SIDE].astype(np.float64)
    total = np.zeros((SIDE, SIDE))
    for sample in range(SAMPLES**2):
        dy, dx = np.array(divmod(sample, SAMPLES)) / SAMPLES
        v = np.clip((y + dy) * np.cos(angle) - (x + dx) * np.sin(angle), 0, SIDE - 1.001)
        u = np.clip((y + dy) * np.sin(angle) + (x + dx) * np.cos(angle), 0, SIDE - 1.001)
        row, column = v.astype(np.int64), u.astype(np.int64)
        v, u = v - row, u - column
        total += (1 - v) * ((1 - u) * raw[row, column] + u * raw[row, column + 1])
        total += v * ((1 - u) * raw[row + 1, column] + u * raw[row + 1, column + 1])
    save(folder / f"projected{tile}.npy", (total / SAMPLES**2).astype(np.float32))


def fit(folder: Path, tile: int, before: np.ndarray) -> np.ndarray:
    """Return the plane that brings a tile to the level of its left neighbour, whose plane is known."""
    if tile == 0:
        return np.zeros(3)
    left = load(folder / f"projected{tile - 1}.npy")[:, -OVERLAP:].astype(np.float64)
    right = load(folder / f"projected{tile}.npy")[:, :OVERLAP].astype(np.float64)
    y, x = np.mgrid[0:SIDE, 0:OVERLAP] / SIDE
    basis = np.stack([np.ones_like(x), y, x]).reshape(3, -1)
    difference = (right - left).reshape(-1) + np.array([before[0], before[1], 0.0]) @ basis
    return 0.9 * np.linalg.solve(basis @ basis.T, basis @ difference)


def correct(folder: Path, job: tuple[int, np.ndarray]) -> None:
    """Subtract its plane from a tile, and smooth the noise."""
    tile, plane = job
    y, x = np.mgrid[0:SIDE, 0:SIDE] / SIDE
    pixels = load(folder / f"projected{tile}.npy") - (plane[0] + plane[1] * y + plane[2] * x)
    for _ in range(4):
        padded = np.pad(pixels, 1, mode="edge")
        around = padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]
        pixels = 0.8 * pixels + 0.05 * around
    save(folder / f"corrected{tile}.npy", pixels.astype(np.float32))


def run(options: common.Options, progress: Path | None, folder: Path) -> common.Checksum:
    """Run all stages; return the checksum of the mosaic, strip by strip."""
    tiles = options.count(TILE)
    stages = common.Stages(progress, [tiles] * 4)
    checksum = common.Checksum()
    stages.begin(parallel=True)
    for _ in stages.each(common.spread(partial(project, folder, options.seed), range(tiles), options.cores)):
        pass
    stages.begin(parallel=False)
    planes = [np.zeros(3)]
    for tile in stages.each(range(tiles)):
        planes.append(fit(folder, tile, planes[-1]))
    stages.begin(parallel=True)
    for _ in stages.each(common.spread(partial(correct, folder), enumerate(planes[1:]), options.cores)):
        pass
    stages.begin(parallel=False)
    strip = np.zeros((SIDE, SIDE), np.float64)
    for tile in stages.each(range(tiles)):
        strip = 0.5 * strip + load(folder / f"corrected{tile}.npy")
        checksum.add(strip.astype(np.float32))
    save(folder / "mosaic.npy", strip)
    return checksum


if __name__ == "__main__":
    common.main("montage", __doc__ or "", run)
