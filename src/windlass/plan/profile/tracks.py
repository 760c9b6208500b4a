"""Tracks of objects over frames: reading and writing them, and scoring found ones against true ones."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from windlass.io import write_text
from windlass.model import InputError
from windlass.plan.profile.clipinfo import ClipInfo

_Ints = NDArray[np.int64]
_Floats = NDArray[np.float64]
_CORNERS = ("left", "top", "right", "bottom")


@dataclass(frozen=True, slots=True, eq=False)
class Tracks:
    """Boxes of objects over frames, one row for each box.

    Parameters
    ----------
    frame, track
        (rows,) int64: index of the frame, from 0, and number of the object.
    boxes
        (rows, 4) float64: left, top, right, bottom in pixels of the whole frame; right and bottom are
        exclusive.

    Examples
    --------
    >>> one = Tracks.of([(0, 7, (10, 10, 30, 20)), (1, 7, (12, 10, 32, 20))])
    >>> len(one), one.boxes.shape
    (2, (2, 4))
    """

    frame: _Ints
    track: _Ints
    boxes: _Floats

    def __len__(self) -> int:
        return len(self.frame)

    @classmethod
    def of(cls, rows: list[tuple[int, int, tuple[float, float, float, float]]]) -> Tracks:
        """Build tracks from rows (frame, track, box)."""
        return cls(
            np.array([row[0] for row in rows], dtype=np.int64),
            np.array([row[1] for row in rows], dtype=np.int64),
            np.array([row[2] for row in rows], dtype=np.float64).reshape(-1, 4),
        )

    def held(self, every: int, frames: int) -> Tracks:
        """Repeat each box in the skipped frames until the next analysed one.

        Parameters
        ----------
        every
            Every n-th frame was analysed, from 0 on.
        frames
            Number of frames of the clip.

        Examples
        --------
        >>> Tracks.of([(0, 7, (0, 0, 2, 2)), (3, 7, (1, 0, 3, 2))]).held(3, 5).frame.tolist()
        [0, 3, 1, 4, 2]
        """
        if every == 1:
            return self
        frame = np.concatenate([self.frame + ahead for ahead in range(every)])
        inside = frame < frames
        return Tracks(
            frame[inside], np.tile(self.track, every)[inside], np.tile(self.boxes, (every, 1))[inside]
        )


def f1(found: Tracks, truth: Tracks) -> float:
    """Return the F1 score of found tracks, from 0 to 1, with each found track assigned to one object.

    Two boxes match by the F1 score of their pixels: twice their intersection over the sum of their areas, as
    the thesis scores a frame of a track. Each found track is assigned to at most one true track, so that the
    sum of matches is largest. The result divides this sum by the number of found and true boxes. So missed
    objects, false objects and changes of tracks all lower it. (The thesis takes the mean over true tracks, in
    which false objects cost nothing.)

    Parameters
    ----------
    found, truth
        Tracks of the same clip.

    Returns
    -------
    float
        2 x sum of matches / (found boxes + true boxes); 1 if there are no objects and none were found.

    Examples
    --------
    >>> truth = Tracks.of([(frame, 1, (0, 0, 10, 10)) for frame in range(4)])
    >>> f1(truth, truth)
    1.0
    >>> f1(Tracks.of([(frame, 1, (0, 0, 10, 5)) for frame in range(4)]), truth)  # intersection 50 of areas 50 and 100
    0.6666666666666666
    >>> f1(Tracks.of([(frame, frame, (0, 0, 10, 10)) for frame in range(4)]), truth)  # a new track in each frame
    0.25

    References
    ----------
    Hung, Resource scheduling in geo-distributed computing (2017), section 5.4; Ristani et al., Performance measures and
    a data set for multi-target, multi-camera tracking (2016), for one track per object.
    """
    if len(found) + len(truth) == 0:
        return 1.0
    if len(found) == 0 or len(truth) == 0:
        return 0.0
    ours, theirs = _pairs(found.frame, truth.frame)
    fit = _fit(found.boxes[ours], truth.boxes[theirs])
    _, of_found = np.unique(found.track, return_inverse=True)
    _, of_truth = np.unique(truth.track, return_inverse=True)
    together = np.zeros((of_found.max() + 1, of_truth.max() + 1))
    np.add.at(together, (of_found[ours], of_truth[theirs]), fit)
    right = together[linear_sum_assignment(together, maximize=True)].sum()
    return float(2.0 * right / (len(found) + len(truth)))


def _pairs(first: _Ints, second: _Ints) -> tuple[_Ints, _Ints]:
    """Return all pairs of rows of both that are in the same frame."""
    order = np.argsort(second, kind="stable")
    begin = np.searchsorted(second[order], first, side="left")
    count = np.searchsorted(second[order], first, side="right") - begin
    ours = np.repeat(np.arange(len(first)), count)
    within = np.arange(len(ours)) - np.repeat(np.cumsum(count) - count, count)
    return ours, order[np.repeat(begin, count) + within]


def _fit(first: _Floats, second: _Floats) -> _Floats:
    """Return twice the intersection over the sum of areas, row by row."""
    across = np.minimum(first[:, 2:], second[:, 2:]) - np.maximum(first[:, :2], second[:, :2])
    shared = np.prod(np.maximum(across, 0.0), axis=1)
    areas = np.prod(first[:, 2:] - first[:, :2], axis=1) + np.prod(second[:, 2:] - second[:, :2], axis=1)
    return 2.0 * shared / np.maximum(areas, np.finfo(float).tiny)


def write_truth(truth: Tracks, path: str | PathLike[str], clip: str = "") -> None:
    """Write tracks as CSV: frame, object, left, top, right, bottom, and the digest of the clip if given.

    Raises
    ------
    InputError
        The file cannot be written.
    """
    columns: dict[str, NDArray[np.generic]] = {"frame": truth.frame, "object": truth.track}
    columns |= {name: truth.boxes[:, place] for place, name in enumerate(_CORNERS)}
    table = pl.DataFrame(columns)
    if clip:
        table = table.with_columns(clip=pl.lit(clip))
    write_text(table.write_csv(), Path(path))


def read_truth(path: str | PathLike[str], clip: ClipInfo) -> Tracks:
    """Read the true tracks of a clip.

    Parameters
    ----------
    path
        CSV with the columns frame, object, left, top, right, bottom; an optional column clip has the digest
        of the clip's file.
    clip
        The clip that they should belong to.

    Raises
    ------
    InputError
        The file cannot be read, has no rows, lacks a column or a number, or belongs to another clip: a frame
        or a box is outside, or the digest differs. The message names file, row and value.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "truth.csv"
    >>> clip = ClipInfo("a.mp4", 640, 360, 30.0, 2)
    >>> write_truth(Tracks.of([(0, 7, (10, 10, 30, 20)), (2, 7, (12, 10, 32, 20))]), path)
    >>> read_truth(path, clip)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    windlass.model.errors.InputError: ...truth.csv, row 2: frame is 2, expected 0 to 1 as in a.mp4; is the clip right?
    """
    file = Path(path)
    if not file.is_file():
        raise InputError(f"{file}: {'is a directory, expected a file' if file.is_dir() else 'no such file'}")
    try:
        table = pl.read_csv(file, infer_schema=False, glob=False)
    except pl.exceptions.NoDataError as error:
        raise InputError(f"{file}: the file is empty, expected true tracks") from error
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(f"{file}: cannot be read as CSV: {str(error).splitlines()[0]}") from error
    missing = [name for name in ("frame", "object", *_CORNERS) if name not in table.columns]
    if missing:
        raise InputError(
            f"{file}: missing column {missing[0]!r}, expected frame, object, {', '.join(_CORNERS)}"
        )
    if table.is_empty():
        raise InputError(f"{file}: no rows, expected true tracks to measure accuracy")
    if "clip" in table.columns and clip.digest and table["clip"][0] != clip.digest:
        raise InputError(
            f"{file}, row 1: clip is {table['clip'][0]!r}, expected {clip.digest!r}, the digest of {clip.path}"
        )
    frame, track = (_whole(table, name, file) for name in ("frame", "object"))
    boxes = np.column_stack([_numbers(table, name, file) for name in _CORNERS])
    _check(file, "frame", frame, 0, clip.frames - 1, clip)
    for place, (name, most) in enumerate(zip(_CORNERS, (clip.width, clip.height) * 2, strict=True)):
        _check(file, name, boxes[:, place], 0, most, clip)
    flat = (boxes[:, 2:] <= boxes[:, :2]).any(axis=1)
    if flat.any():
        row = int(np.argmax(flat))
        raise InputError(
            f"{file}, row {row + 1}: the box {boxes[row].tolist()} has no area, expected left < right, top < bottom"
        )
    return Tracks(frame, track, boxes)


def _numbers(table: pl.DataFrame, name: str, file: Path) -> _Floats:
    found = table[name].cast(pl.Float64, strict=False).to_numpy().astype(np.float64)
    bad = ~np.isfinite(found)
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(f"{file}, row {row + 1}: {name} is {table[name][row]!r}, expected a number")
    return found


def _whole(table: pl.DataFrame, name: str, file: Path) -> _Ints:
    found = _numbers(table, name, file)
    bad = found != np.floor(found)
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(f"{file}, row {row + 1}: {name} is {table[name][row]!r}, expected a whole number")
    return found.astype(np.int64)


def _check(
    file: Path, name: str, values: NDArray[np.float64 | np.int64], least: int, most: int, clip: ClipInfo
) -> None:
    outside = (values < least) | (values > most)
    if outside.any():
        row = int(np.argmax(outside))
        raise InputError(
            f"{file}, row {row + 1}: {name} is {values[row]:g}, expected {least} to {most} as in {clip.path}; "
            "is the clip right?"
        )
