"""Reader of the Server Machine Dataset: 38 metrics from 0 to 1 per machine, a minute apart, in NumPy archives."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from windlass.io.traces.files import check_is_file
from windlass.io.traces.telemetry.series import Telemetry
from windlass.model import InputError

#: Sampling period, s.
_STEP = 60.0


@dataclass(frozen=True, slots=True, eq=False)
class SmdMachine:
    """A machine: the weeks for training, those for testing, and (t,) the steps of the latter labelled as anomalies."""

    train: Telemetry
    test: Telemetry
    label: NDArray[np.bool_]


def read_smd(path: Path) -> SmdMachine:
    """Read a machine's archive, with the arrays ``train`` and ``test``, (t, d), and ``label``, (t,).

    Metrics have no names in this data set; they are numbered, such as ``metric 0``.

    Source: Su et al., "Robust anomaly detection for multivariate time series", KDD 2019.

    Parameters
    ----------
    path
        The ``.npz`` file.

    Raises
    ------
    InputError
        The file is not such an archive, an array is missing or has another shape, or a value is not a number; names
        file, array, row and column.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "machine.npz"
    >>> np.savez(path, train=np.zeros((3, 2)), test=np.ones((2, 2)), label=np.array([0, 1]))
    >>> machine = read_smd(path)
    >>> machine.test.names, machine.test.time.tolist(), machine.label.tolist()
    (('metric 0', 'metric 1'), [0.0, 60.0], [False, True])
    """
    check_is_file(path)
    try:
        with np.load(path, allow_pickle=False) as archive:
            found = {name: _array(path, archive, name) for name in ("train", "test", "label")}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        reason = next(iter(str(error).splitlines()), "no reason given")
        raise InputError(f"{path}: cannot be read as a NumPy archive: {reason}") from error
    train, test = (_part(path, name, found[name]) for name in ("train", "test"))
    if len(train.names) != len(test.names):
        raise InputError(
            f"{path}, array test: {len(test.names)} columns, expected {len(train.names)} as in train"
        )
    label = found["label"]
    if label.shape != (len(test),):
        raise InputError(
            f"{path}, array label: shape {label.shape}, expected {(len(test),)}, one label per step of test"
        )
    return SmdMachine(train, test, label > 0)


def _array(path: Path, archive: np.lib.npyio.NpzFile, name: str) -> NDArray[np.float64]:
    if name not in archive.files:
        raise InputError(f"{path}: array {name} is missing, found {', '.join(archive.files) or 'none'}")
    values = archive[name]
    if values.dtype.kind not in "biuf":
        raise InputError(f"{path}, array {name}: values are {values.dtype}, expected numbers")
    return np.asarray(values, np.float64)


def _part(path: Path, name: str, values: NDArray[np.float64]) -> Telemetry:
    if values.ndim != 2 or not values.size:
        raise InputError(f"{path}, array {name}: shape {values.shape}, expected steps × metrics")
    bad = ~np.isfinite(values)
    if bad.any():
        row, column = np.unravel_index(int(bad.argmax()), bad.shape)
        raise InputError(
            f"{path}, array {name}, row {row}, column {column}: {values[row, column]}, expected a number"
        )
    names = tuple(f"metric {number}" for number in range(values.shape[1]))
    return Telemetry(f"{path} ({name})", _STEP * np.arange(len(values), dtype=np.float64), names, values)
