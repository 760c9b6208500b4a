"""Analytics jobs over sites on a live engine."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from windlass.dispatch import POLICIES as DISPATCH
from windlass.dispatch import DispatchPolicy
from windlass.drive import Decider, drive
from windlass.engines.live import LiveRun, LiveSites
from windlass.engines.program import Program, Step
from windlass.engines.targets import Executors
from windlass.model import InputError
from windlass.place.view import Placement, PlaceView
from windlass.sim.geo_place_workload import GeoJobs, WideArea
from windlass.worlds.policy import PolicySpec


def data_bytes(jobs: GeoJobs) -> int:
    """Bytes that all stages of all jobs read and write: more than can ever lie at one site.

    >>> from windlass.sim.geo_place_workload import StageSpec
    >>> stages = [StageSpec(1.0, here=(2, 1), task_bytes=100), StageSpec(1.0, tasks=2, parents=(0,), ratio=0.5)]
    >>> data_bytes(GeoJobs.of([0.0], [stages]))
    1050
    """
    read = jobs.tasks * jobs.task_bytes * (jobs.shuffles == 0)
    written = np.zeros(len(read))
    for row in range(len(read)):
        written[row] = read[row] * jobs.ratio[row]
        for child in jobs.children[jobs.child_at[row] : jobs.child_at[row + 1]]:
            read[child] += written[row]
    return int(read.sum() + written.sum())


def run_live(
    area: WideArea,
    jobs: GeoJobs,
    policy: Decider[PlaceView, Placement],
    executors: Executors,
    *,
    steps: Sequence[Step] = (),
    dispatch: PolicySpec | None = None,
    seed: int = 0,
    decide_every: float = 0.0,
    progress: Callable[[float], None] | None = None,
) -> LiveRun:
    """Run jobs for real; times of submission count from when their input is loaded."""

    def among(workers: int) -> DispatchPolicy:
        assert dispatch is not None
        made: DispatchPolicy = DISPATCH.make(
            dispatch.name, np.random.default_rng([seed, 4]), workers=workers, **dispatch.parameters
        )
        return made

    program = Program(jobs, steps)
    executor = executors.open(area, data_bytes(jobs))
    engine = LiveSites(
        area,
        jobs,
        executor,
        program=program,
        dispatch=among if dispatch is not None else None,
        decide_every=decide_every,
        progress=progress,
    )
    return drive(engine, policy)


def function_of(spec: str) -> Callable[[Sequence[bytes], int], Sequence[bytes]]:
    """The function that ``package.module:name`` or ``./file.py:name`` means.

    Raises
    ------
    InputError
        There is none; says what is missing.

    Examples
    --------
    >>> function_of("os.path:join").__name__
    'join'
    """
    where, colon, name = spec.rpartition(":")
    if not colon:
        raise InputError(f"call: {spec!r}, expected package.module:function or ./file.py:function")
    try:
        module = _from_file(Path(where)) if where.endswith(".py") else importlib.import_module(where)
    except (ImportError, OSError) as error:
        raise InputError(f"call: {spec!r}: {error}") from error
    found: Any = getattr(module, name, None)
    if not callable(found):
        raise InputError(f"call: {spec!r}: {where} has no function {name!r}")
    return found  # type: ignore[no-any-return]


def _from_file(path: Path) -> Any:
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    # A name that no worker knows, so that the function travels by value.
    spec = importlib.util.spec_from_file_location("__main__", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
