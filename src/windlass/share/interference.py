"""A model of the speeds of two jobs that share cores, fitted to measured pairs.

A job that uses the fraction u of a device, next to one that uses o, has this fraction of its speed alone:

    exp(-(pressure o + both u o + crowding max(0, u + o - 1))).

The three parameters are at least 0, so a busier neighbour never makes a job faster. They are fitted by
non-negative least squares to the logarithms of measured speeds of jobs that shared a GPU without quotas. They
describe the cost of a neighbour, not the effect of a quota. With a quota, *crowding* is replaced by
arithmetic: a job that needs u of the time and may have c of it has the speed c / u, and its neighbour's
pressure is at most its quota. A guest may have its quota; see :meth:`Interference.host_time` for its host.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from windlass.model import InputError
from windlass.model.values import number, whole
from windlass.share.allocation import Allocation, Candidate

_Floats = NDArray[np.float64]
#: What a host may have of its cores' time: ``capped``, what the quota of its guest leaves; ``weighted``, in addition
#: what the guest leaves of its quota.
HostTime = Literal["capped", "weighted"]


@dataclass(frozen=True, slots=True)
class Speeds:
    """Speeds of host and guest, as fractions of their speeds when running alone."""

    host: float
    guest: float


#: Returns the speeds of a host and a guest at a quota, percent.
PairSpeeds = Callable[[Allocation, Candidate, int], Speeds]


def time_shared(host: Allocation, candidate: Candidate, quota: int) -> Speeds:
    """Return the speeds under time sharing alone, without interference.

    A guest whose use was never measured is assumed to use all the time that it gets.

    >>> host = Allocation(1, "montage", 8, 8e9, 60.0, 0.0, cpu=80.0, memory_used=50.0)
    >>> speeds = time_shared(host, Candidate(2, "blast", 8, 1e9, 60.0, cpu=60.0), quota=40)
    >>> round(speeds.host, 3), round(speeds.guest, 3)
    (0.75, 0.667)
    """
    return Interference(0.0, 0.0, 0.0).of_jobs(host, candidate, quota)


@dataclass(frozen=True, slots=True)
class Interference:
    """The interference model of this module.

    Parameters
    ----------
    pressure, both, crowding
        The three parameters, each at least 0.
    host
        ``capped``: a host may have what the quota leaves, as if it had a limit. ``weighted``: it may also use what its
        guest leaves idle of the quota, as under the control groups of the Slurm engine.

    Raises
    ------
    InputError
        A parameter is negative or not finite, or ``host`` is unknown.

    Examples
    --------
    >>> model = Interference(pressure=0.02, both=0.16, crowding=0.28)
    >>> together, apart = model.unlimited(80.0, 60.0), model.speeds(80.0, 60.0, quota=40.0)
    >>> round(together.host, 2), round(apart.host, 2)
    (0.82, 0.71)
    """

    pressure: float
    both: float
    crowding: float
    host: HostTime = "capped"

    def __post_init__(self) -> None:
        for name in ("pressure", "both", "crowding"):
            number(name, getattr(self, name), 0.0)
        if self.host not in get_args(HostTime):
            raise InputError(f"host is {self.host!r}, expected one of {', '.join(get_args(HostTime))}")

    def host_time(self, guest_use: float, quota: float, whole: float = 100.0) -> float:
        """Return how much of the shared cores' time a host may have: the only place that decides it.

        Parameters
        ----------
        guest_use, quota
            What the guest uses alone, and what it may have, in the unit of ``whole``.
        whole
            All of the time: 100 for percent, 1 for fractions.

        Examples
        --------
        >>> [Interference(0.0, 0.0, 0.0, host).host_time(20.0, quota=50.0) for host in ("capped", "weighted")]
        [50.0, 80.0]
        """
        return whole - (quota if self.host == "capped" else min(quota, guest_use))

    def unlimited(self, host_use: float, guest_use: float) -> Speeds:
        """Return the speeds without a quota, for jobs that use these percentages alone: the fitted case."""
        host, guest = _used("host_use", host_use), _used("guest_use", guest_use)
        crowd = self.crowding * max(0.0, host + guest - 1.0)
        return Speeds(self._with_neighbour(host, guest, crowd), self._with_neighbour(guest, host, crowd))

    def speeds(self, host_use: float, guest_use: float, quota: float) -> Speeds:
        """Return the speeds of two jobs if the guest may have ``quota`` percent of the time.

        Parameters
        ----------
        host_use, guest_use
            Percent of the shared cores' time that each job uses alone, 0 to 100.
        quota
            Percent of the time that the guest may have; the host may have :meth:`host_time`.

        Returns
        -------
        Speeds
            Fractions of the speeds alone, 0 to 1. The host's never rises with the quota, the guest's never
            falls.

        Raises
        ------
        InputError
            A number is out of bounds.

        Examples
        --------
        >>> Interference(0.0, 0.0, 0.0).speeds(50.0, 50.0, quota=50.0)
        Speeds(host=1.0, guest=1.0)
        """
        host, guest = _used("host_use", host_use), _used("guest_use", guest_use)
        given = _used("quota", quota)
        left = self.host_time(guest, given, 1.0)
        return Speeds(
            _part(left, host) * self._with_neighbour(host, min(guest, given)),
            _part(given, guest) * self._with_neighbour(guest, min(host, left)),
        )

    def of_jobs(self, host: Allocation, candidate: Candidate, quota: int) -> Speeds:
        """Return the speeds of two jobs of a view; a guest of unknown use is assumed to use all its time."""
        return self.speeds(host.cpu, 100.0 if math.isnan(candidate.cpu) else candidate.cpu, quota)

    def _with_neighbour(self, own: float, other: float, crowd: float = 0.0) -> float:
        return math.exp(-(self.pressure * other + self.both * own * other + crowd))


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Prediction errors of the model on pairs that it was not fitted to.

    Parameters
    ----------
    error, root_mean_square
        Mean absolute error and root mean square error of speeds.
    of_the_mean, of_fair_shares
        Mean absolute errors of two baselines: the mean speed of the training pairs, and fair time sharing
        without interference.
    predicted
        Number of predicted speeds.
    folds
        Number of folds.
    """

    error: float
    root_mean_square: float
    of_the_mean: float
    of_fair_shares: float
    predicted: int
    folds: int


def fit_interference(use: _Floats, speed: _Floats) -> Interference:
    """Fit the model to measured pairs.

    Parameters
    ----------
    use
        (k, 2) percent of the device that each job uses alone, for example ``use`` of
        :func:`windlass.io.traces.interference.read_interference`.
    speed
        (k, 2) speeds in the pair divided by speeds alone, above 0.

    Raises
    ------
    InputError
        The shapes differ, or a number is out of bounds.

    Examples
    --------
    >>> true, rng = Interference(0.05, 0.2, 0.3), np.random.default_rng(1)
    >>> use = rng.uniform(0, 100, (500, 2))
    >>> pairs = [true.unlimited(*row) for row in use]
    >>> round(fit_interference(use, np.array([[pair.host, pair.guest] for pair in pairs])).both, 6)
    0.2
    """
    uses, speeds = _checked(use, speed)
    found, _ = nnls(_features(uses).reshape(-1, 3), -np.log(speeds).reshape(-1))
    pressure, both, crowding = (float(each) for each in found)
    return Interference(pressure, both, crowding)


def held_out(use: _Floats, speed: _Floats, groups: NDArray[np.generic], folds: int = 10) -> HeldOut:
    """Cross-validate the model, leaving out groups in turn with every pair that contains them.

    Parameters
    ----------
    use, speed
        See :func:`fit_interference`.
    groups
        (k, 2) group of each job of each pair: the job's name to leave out jobs, its program to leave out
        programs, or the pair's number twice to leave out pairs.
    folds
        Number of folds; groups are assigned to them in order of their names.

    Raises
    ------
    InputError
        The shapes differ, or a fold contains all pairs.

    Examples
    --------
    >>> use = np.array([[10.0, 90.0], [90.0, 90.0], [10.0, 10.0], [50.0, 90.0]])
    >>> speed = np.array([[0.9, 1.0], [0.6, 0.6], [1.0, 1.0], [0.8, 0.9]])
    >>> held_out(use, speed, np.arange(4).repeat(2).reshape(4, 2), folds=4).predicted
    8
    """
    uses, speeds = _checked(use, speed)
    names = np.unique(groups)
    if groups.shape != use.shape:
        raise InputError(f"groups has shape {groups.shape}, expected {use.shape}")
    folds = min(whole("folds", folds, 2), len(names))
    part = np.searchsorted(names, groups) % folds
    errors_by_fold: list[_Floats] = []
    for fold in range(folds):
        out = (part == fold).any(axis=1)
        if out.all():
            raise InputError(
                f"groups: fold {fold} of {folds} is in every pair, expected more groups or more folds"
            )
        if out.any():
            model = fit_interference(use[~out], speed[~out])
            numbers = np.array([model.pressure, model.both, model.crowding])
            predicted = np.exp(-_features(uses[out]) @ numbers)
            fair = np.minimum(1.0, np.maximum(0.5, 1.0 - uses[out][:, ::-1]) / np.maximum(uses[out], 1e-12))
            guesses = (predicted, np.full_like(predicted, speeds[~out].mean()), fair)
            errors_by_fold.append(np.array([guess - speeds[out] for guess in guesses]).reshape(3, -1))
    errors = np.concatenate(errors_by_fold, axis=1)
    mean, of_the_mean, of_fair = (float(each) for each in np.abs(errors).mean(axis=1))
    square = float(np.sqrt((errors[0] ** 2).mean()))
    return HeldOut(mean, square, of_the_mean, of_fair, errors.shape[1], folds)


def _features(uses: _Floats) -> _Floats:
    """Return the features (k, 2, 3) of the model's parameters, for each job of each pair."""
    other = uses[:, ::-1]
    return np.stack([other, uses * other, np.maximum(0.0, uses + other - 1.0)], axis=2)


def _checked(use: _Floats, speed: _Floats) -> tuple[_Floats, _Floats]:
    """Check the arrays, and return uses as fractions, and speeds."""
    for name, values, most in (("use", use, 100.0), ("speed", speed, np.inf)):
        if values.ndim != 2 or values.shape[1:] != (2,) or not len(values) or values.shape != use.shape:
            raise InputError(
                f"{name} has shape {values.shape}, expected (k, 2) with k at least 1, the same for both"
            )
        good = np.isfinite(values) & (values <= most) & (values > 0.0 if name == "speed" else values >= 0.0)
        if not good.all():
            row, side = np.argwhere(~good)[0]
            raise InputError(
                f"{name}: pair {row}, job {side + 1} is {values[row, side]}, which is out of bounds"
            )
    return np.asarray(use / 100.0), speed


def _used(name: str, percent: float) -> float:
    return number(name, percent, 0.0, 100.0) / 100.0


def _part(allowed: float, wanted: float) -> float:
    return 1.0 if wanted <= allowed else allowed / wanted
