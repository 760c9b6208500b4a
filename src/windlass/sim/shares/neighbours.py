"""The speeds of two jobs on the same cores: a model, with a random factor for each pair of classes."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from windlass.model.use import JobUse
from windlass.share.interference import Interference, Speeds


@dataclass(frozen=True, slots=True, eq=False)
class NeighbourSpeeds:
    """Speeds by a model, times a constant factor for each pair of classes.

    The factors were measured without quotas. If a neighbour gets only a part of the time that it wants, the factor's
    logarithm is reduced to that part. This is an assumption; no measurements with quotas exist. No job is faster than
    it is alone.

    Parameters
    ----------
    model
        Model of interference for all pairs.
    use
        Resource use of the jobs.
    factors
        (k,) ratios of measured speeds to the model's, to draw from; empty for no factors.
    seed
        Seed of the draws.

    Examples
    --------
    >>> from windlass.model.use import UseStage
    >>> use = JobUse.of(["a", "b"], [0.0, 0.0], [[UseStage(60.0, 50.0)], [UseStage(60.0, 50.0)]])
    >>> NeighbourSpeeds(Interference(0.0, 0.0, 0.0), use)(0, 1, 75.0, 50.0, 50)
    Speeds(host=0.6666666666666666, guest=1.0)
    """

    model: Interference
    use: JobUse
    factors: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    seed: int = 0

    def __call__(self, host: int, guest: int, host_cpu: float, guest_cpu: float, quota: int) -> Speeds:
        """Return the speeds of the jobs in two rows.

        ``host_cpu`` and ``guest_cpu`` are the shares of their cores' time that the jobs want now, and ``quota`` is the
        guest's, all in percent.
        """
        clean = self.model.speeds(host_cpu, guest_cpu, quota)
        if not len(self.factors):
            return clean
        classes = self.use.job_class[host], self.use.job_class[guest]
        # Keys are names and not indices, so that all tables have the same factors for the same classes.
        keys = [zlib.crc32(name.encode()) for name in classes]
        own, other = np.random.default_rng([self.seed, *keys]).choice(self.factors, 2)
        of_guest = _part(quota, guest_cpu)
        of_host = _part(self.model.host_time(guest_cpu, quota), host_cpu)
        return Speeds(min(1.0, clean.host * own**of_guest), min(1.0, clean.guest * other**of_host))


def _part(given: float, wanted: float) -> float:
    return 1.0 if wanted <= given else given / wanted
