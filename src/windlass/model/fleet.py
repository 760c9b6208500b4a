"""Jobs over data at several sites: what the wide-area world runs, as columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from windlass.model.errors import InputError

_Ints = NDArray[np.int64]
_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Fleet:
    """Sites with slots and links.

    Parameters
    ----------
    names
        One a site.
    slots
        (n,) int64.
    up, down
        (n,) bytes/s.
    pair
        (n, n) bytes/s that a pair of sites carries at most; infinity where only up- and downlinks limit.
    price
        (n, n) USD per byte sent.

    Examples
    --------
    >>> Fleet.of(slots=[40, 10], up=[5e9, 1e9], down=[5e9, 1e9]).names
    ('site-1', 'site-2')
    """

    names: tuple[str, ...]
    slots: _Ints
    up: _Floats
    down: _Floats
    pair: _Floats
    price: _Floats

    @classmethod
    def of(
        cls,
        slots: object,
        up: object,
        down: object,
        names: Sequence[str] | None = None,
        pair: object = None,
        price: object = None,
    ) -> Fleet:
        """Build from anything array-like."""
        count = np.array(slots, dtype=np.int64)
        n = len(count)
        given = tuple(names) if names is not None else tuple(f"site-{x + 1}" for x in range(n))
        limits = np.full((n, n), np.inf) if pair is None else np.array(pair, dtype=np.float64)
        prices = np.zeros((n, n)) if price is None else np.array(price, dtype=np.float64)
        return cls(
            given, count, np.array(up, dtype=np.float64), np.array(down, dtype=np.float64), limits, prices
        )

    def __post_init__(self) -> None:
        n = len(self.names)
        for name, values, shape in (
            ("slots", self.slots, (n,)),
            ("up", self.up, (n,)),
            ("down", self.down, (n,)),
            ("pair", self.pair, (n, n)),
            ("price", self.price, (n, n)),
        ):
            if values.shape != shape:
                raise InputError(f"{name} has shape {values.shape}, expected {shape} for {n} sites")
            if not (values >= 0).all():
                raise InputError(f"{name}: {values[~(values >= 0)][0]} is not a number of 0 or more")
        for name in self.names:
            if self.names.count(name) > 1:
                raise InputError(f"sites: {name!r} appears {self.names.count(name)} times")

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True, slots=True)
class StageSpec:
    """One stage of a job.

    Parameters
    ----------
    task_s
        How long its tasks compute on average, s.
    here
        (n,) whole tasks by the site where their input lies; empty for a shuffle.
    task_bytes
        Input of a task, bytes; for a shuffle it follows from its parents.
    tasks
        For a shuffle.
    ratio
        Bytes written per byte read.
    parents
        Earlier stages of the job, by position, all of whose output a shuffle reads.
    estimate_s
        What a policy is told of ``task_s``; None for the truth.
    """

    task_s: float
    here: tuple[int, ...] = ()
    task_bytes: float = 0.0
    tasks: int = 0
    ratio: float = 1.0
    parents: tuple[int, ...] = ()
    estimate_s: float | None = None


@dataclass(frozen=True, slots=True)
class FleetJobs:
    """Jobs as columns: J jobs, K stages in the order of jobs, T tasks in the order of stages.

    ``submit`` (J,) s, not decreasing. ``job``, ``tasks``, ``shuffles``, ``task_s``, ``estimate_s``, ``ratio``,
    ``task_bytes`` (K,); ``here`` (K, n) tasks by site. ``children`` lists child stages, those of stage k from
    ``child_at[k]`` to ``child_at[k + 1]``; ``parents`` (K,) counts. ``first`` (K + 1,) where a stage's tasks begin;
    ``factor`` (T,) how long a task computes over the mean, ``size`` (T,) what it reads over the mean.

    Examples
    --------
    >>> jobs = FleetJobs.of([0.0], [[StageSpec(2.0, here=(3, 1), task_bytes=1e8), StageSpec(1.0, tasks=2, parents=(0,))]])
    >>> jobs.tasks.tolist(), jobs.children.tolist()
    ([4, 2], [1])
    """

    submit: _Floats
    job: _Ints
    tasks: _Ints
    shuffles: _Ints
    task_s: _Floats
    estimate_s: _Floats
    ratio: _Floats
    task_bytes: _Floats
    here: _Ints
    parents: _Ints
    child_at: _Ints
    children: _Ints
    first: _Ints
    factor: _Floats
    size: _Floats
    notes: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def of(
        cls,
        submit: Sequence[float],
        jobs: Sequence[Sequence[StageSpec]],
        factor: _Floats | None = None,
        size: _Floats | None = None,
        notes: tuple[str, ...] = (),
    ) -> FleetJobs:
        """Build from a list of stages a job; ``factor`` and ``size`` are 1 where not given.

        Raises
        ------
        InputError
            A value is not allowed; names job, stage and field.
        """
        if len(submit) != len(jobs) or not jobs:
            raise InputError(
                f"submit has {len(submit)} times for {len(jobs)} jobs, expected one each, at least one"
            )
        if not np.isfinite(submit).all() or (np.diff(submit) < 0).any():
            raise InputError("submit: expected finite times in ascending order")
        width = max((len(stage.here) for job in jobs for stage in job), default=0)
        rows: list[StageSpec] = []
        owner: list[int] = []
        edges: list[tuple[int, int]] = []
        for number, job in enumerate(jobs):
            base = len(rows)
            if not job:
                raise InputError(f"job {number + 1} has no stages")
            for place, stage in enumerate(job):
                _check(stage, f"job {number + 1}, stage {place + 1}", place, width)
                edges += [(base + parent, base + place) for parent in stage.parents]
                rows.append(stage)
                owner.append(number)
        here = np.array([stage.here or (0,) * width for stage in rows], dtype=np.int64).reshape(
            len(rows), width
        )
        tasks = np.array([sum(stage.here) or stage.tasks for stage in rows], dtype=np.int64)
        first = np.concatenate([[0], np.cumsum(tasks)])
        edges.sort()
        heads = np.array([head for head, _ in edges], dtype=np.int64)
        tails = np.array([tail for _, tail in edges], dtype=np.int64)
        means = np.array([stage.task_s for stage in rows])
        told = [stage.task_s if stage.estimate_s is None else stage.estimate_s for stage in rows]
        return cls(
            np.array(submit, dtype=np.float64),
            np.array(owner, dtype=np.int64),
            tasks,
            np.array([not stage.here for stage in rows], dtype=np.int64),
            means,
            np.array(told, dtype=np.float64),
            np.array([stage.ratio for stage in rows], dtype=np.float64),
            np.array([stage.task_bytes for stage in rows], dtype=np.float64),
            here,
            np.bincount(tails, minlength=len(rows)).astype(np.int64),
            np.searchsorted(heads, np.arange(len(rows) + 1)).astype(np.int64),
            tails,
            first.astype(np.int64),
            np.ones(first[-1]) if factor is None else factor,
            np.ones(first[-1]) if size is None else size,
            notes,
        )

    def __len__(self) -> int:
        return len(self.submit)

    def with_here(self, here: _Ints) -> FleetJobs:
        """The same jobs with input elsewhere."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return FleetJobs(**values | {"here": here})


def _check(stage: StageSpec, what: str, place: int, width: int) -> None:
    for name in ("task_s", "task_bytes", "ratio"):
        value = getattr(stage, name)
        if not 0.0 <= value < np.inf:
            raise InputError(f"{what}: {name} is {value}, expected a finite number of 0 or more")
    if stage.here and len(stage.here) != width:
        raise InputError(f"{what}: here has {len(stage.here)} sites, expected {width}")
    if any(count < 0 for count in stage.here):
        raise InputError(f"{what}: here is {stage.here}, expected 0 or more tasks a site")
    if sum(stage.here) + stage.tasks < 1:
        raise InputError(f"{what}: has no tasks")
    if bool(stage.here) == bool(stage.parents):
        raise InputError(f"{what}: expected either input ('here') or parents")
    if any(not 0 <= parent < place for parent in stage.parents):
        raise InputError(f"{what}: parents are {stage.parents}, expected earlier stages of the job")


@dataclass(frozen=True, slots=True)
class Changes:
    """When slots and links of sites change: at ``time`` (c,) s, ``site`` (c,) has these from then on."""

    time: _Floats
    site: _Ints
    slots: _Ints
    up: _Floats
    down: _Floats

    @classmethod
    def none(cls) -> Changes:
        """No changes."""
        return cls(np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0), np.empty(0))
