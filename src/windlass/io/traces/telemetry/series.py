"""A machine's telemetry as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError
from windlass.model.nearest import did_you_mean


@dataclass(frozen=True, slots=True, eq=False)
class Telemetry:
    """The telemetry of one machine.

    Parameters
    ----------
    source
        Where it comes from, for messages.
    time
        (t,) times of the machine's clock, s.
    names
        Names of the d metrics.
    values
        (t, d) values, in each metric's own unit; NaN for missing ones.

    Raises
    ------
    InputError
        The shapes do not match, or there are no values.

    Examples
    --------
    >>> both = Telemetry("here", np.array([0.0, 20.0]), ("busy", "cpu_ready"), np.array([[0.5, 0.1], [0.9, 0.3]]))
    >>> both.of("cpu_ready").tolist(), both.step
    ([0.1, 0.3], 20.0)
    """

    source: str
    time: NDArray[np.float64]
    names: tuple[str, ...]
    values: NDArray[np.float64]

    def __post_init__(self) -> None:
        if self.values.shape != (len(self.time), len(self.names)) or not self.values.size:
            raise InputError(
                f"{self.source}: values have shape {self.values.shape}, expected "
                f"{(len(self.time), len(self.names))} with at least one value"
            )

    def __len__(self) -> int:
        return len(self.time)

    @property
    def step(self) -> float:
        """Median time between two rows, s; NaN if there is only one."""
        return float(np.median(np.diff(self.time))) if len(self.time) > 1 else float("nan")

    def of(self, name: str) -> NDArray[np.float64]:
        """Return (t,) the values of one metric.

        Raises
        ------
        InputError
            There is no such metric; the message lists the first names.
        """
        if name not in self.names:
            shown = ", ".join(self.names[:8]) + (", …" if len(self.names) > 8 else "")
            raise InputError(
                f"{self.source}: there is no column {name!r}, found {shown}{did_you_mean(name, self.names)}"
            )
        return self.values[:, self.names.index(name)]

    def rows(self, part: slice) -> Telemetry:
        """Return the telemetry of the selected steps."""
        return Telemetry(self.source, self.time[part], self.names, self.values[part])
