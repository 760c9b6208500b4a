"""The placement of one job over sites: tasks, transfers, times and cost of each stage."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ValidationError

from windlass.experiment.scenario import load_tree
from windlass.experiment.scenario.files import resolve_paths
from windlass.experiment.worlds.fleet.jobs import JobOf
from windlass.experiment.worlds.fleet.sites import FleetClusterSpec
from windlass.io.field_errors import field_error
from windlass.model import InputError
from windlass.model.errors import ParameterError
from windlass.model.fleet import Fleet, StageSpec
from windlass.place import map_stage, reduce_stage
from windlass.place.functions.oracle import map_stage_highs, reduce_stage_highs
from windlass.place.functions.whole import whole_flow, whole_map, whole_reduce

_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class StageAnswer:
    """The placement of one stage.

    Parameters
    ----------
    stage, kind
        Its number, and ``map`` or ``shuffle``.
    tasks
        Tasks at each site.
    moves
        Transfers: source, destination, bytes.
    transfer_s, compute_s
        Time of the transfers and of the tasks, s.
    egress_usd
        Cost of the transfers, USD.
    why
        The links and sites that take longest.
    """

    stage: int
    kind: str
    tasks: dict[str, int]
    moves: tuple[tuple[str, str, float], ...]
    transfer_s: float
    compute_s: float
    egress_usd: float
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JobAnswer:
    """The placement of a job with stages that run one after the other.

    Parameters
    ----------
    job
        The name of the job.
    stages
        Its stages.
    total_s
        Time of all stages, s.
    moved_bytes
        Bytes between sites.
    egress_usd
        Cost of the transfers, USD.
    """

    job: str
    stages: tuple[StageAnswer, ...]
    total_s: float
    moved_bytes: float
    egress_usd: float


def read_job(job: Path, cluster: Path | None) -> tuple[JobOf, Fleet]:
    """Read a job and the sites that it runs on.

    Parameters
    ----------
    job
        A job (.yaml), or a scenario with one listed job.
    cluster
        The sites (.yaml); None for those in the job's file.

    Raises
    ------
    InputError
        A file cannot be read, or a value is invalid; the error names file and field.
    """
    tree = load_tree(job)
    if not isinstance(tree, dict):
        raise InputError(f"{job}: expected a job (a mapping of fields), found {type(tree).__name__}")
    own = tree.get("cluster")
    listed = tree.get("workload", {}).get("jobs") if isinstance(tree.get("workload"), dict) else None
    if listed is not None:
        if not isinstance(listed, list) or len(listed) != 1:
            raise InputError(f"{job}: workload.jobs: expected one job")
        tree = listed[0]
    else:
        tree = {key: value for key, value in tree.items() if key != "cluster"}
    if cluster is not None:
        given, source = load_tree(cluster), cluster
        own = given.get("cluster", given) if isinstance(given, dict) else given
    elif own is None:
        raise ParameterError("cluster", f"{job} names no sites, expected a file of sites")
    else:
        source = job
    if isinstance(own, dict):
        own = resolve_paths(own, ("measured.throughput", "measured.prices"), source.parent)
    spec = _validated(FleetClusterSpec, own, source)
    try:
        fleet = spec.fleet(np.random.default_rng([1, 0]))
    except InputError as error:
        raise InputError(f"{source}: {error}") from error
    return _validated(JobOf, tree, job), fleet


def _validated(model: type[BaseModel], tree: Any, source: Path) -> Any:
    try:
        return model.model_validate(tree)
    except ValidationError as error:
        raise InputError(f"{source}: {field_error(error)}") from error


def place_job(job: JobOf, fleet: Fleet) -> JobAnswer:
    """Place the stages of a job one after the other, each on all slots, in whole tasks.

    The first plan considers only up- and downlinks. If pairs of sites have limits, HiGHS also solves the linear program
    with these limits, and the faster of the two plans is used.

    Parameters
    ----------
    job
        The job.
    fleet
        The sites.

    Raises
    ------
    InputError
        A stage has both input and parents, or neither.

    Examples
    --------
    >>> job = JobOf.model_validate({"stages": [{"task_s": 2, "task_bytes": 1e8, "input": {"site-1": 3, "site-2": 9}}]})
    >>> answer = place_job(job, Fleet.of(slots=[6, 2], up=[1e9, 1e9], down=[1e9, 1e9]))
    >>> answer.stages[0].tasks, round(answer.total_s, 3)
    ({'site-1': 9, 'site-2': 3}, 4.6)
    """
    stages: list[StageAnswer] = []
    written: list[NDArray[np.float64]] = []
    for place, of in enumerate(job.stages):
        try:
            stage = of.spec(fleet.names)
        except InputError as error:
            raise InputError(f"job {job.name!r}, stage {place + 1}, {error}") from error
        if any(not 0 <= parent < place for parent in stage.parents) or bool(stage.parents) == bool(
            stage.here
        ):
            raise InputError(f"job {job.name!r}, stage {place + 1}: expected either input or earlier parents")
        answer, out = _map(place, stage, fleet) if stage.here else _shuffle(place, stage, fleet, written)
        stages.append(answer)
        written.append(out * stage.ratio)
    return JobAnswer(
        job.name,
        tuple(stages),
        sum(stage.transfer_s + stage.compute_s for stage in stages),
        sum(amount for stage in stages for *_, amount in stage.moves),
        sum(stage.egress_usd for stage in stages),
    )


def _map(place: int, stage: StageSpec, fleet: Fleet) -> tuple[StageAnswer, NDArray[np.float64]]:
    here = np.array(stage.here, dtype=np.int64)
    data = here * max(stage.task_bytes, 1e-9)
    arguments = data, fleet.slots, fleet.up, fleet.down, int(here.sum()), stage.task_s
    flows = [whole_map(map_stage(*arguments), here, fleet.up)]
    # Without bytes to read, the linear program in bytes would divide by 0.
    if _limited(fleet) and stage.task_bytes > 0:
        flows.append(whole_flow(map_stage_highs(*arguments, pair=fleet.pair), here))
    found = []
    for flow in flows:
        counts, moved = flow.sum(axis=0), (flow * stage.task_bytes).astype(np.float64)
        found.append((_answer(place, "map", counts, moved, stage.task_s, fleet), counts * stage.task_bytes))
    return min(found, key=_time)


def _shuffle(
    place: int, stage: StageSpec, fleet: Fleet, written: list[NDArray[np.float64]]
) -> tuple[StageAnswer, NDArray[np.float64]]:
    data = np.sum([written[parent] for parent in stage.parents], axis=0)
    arguments = data, fleet.slots, fleet.up, fleet.down, stage.tasks, stage.task_s
    plans = [reduce_stage(*arguments)]
    if _limited(fleet) and data.sum() > 0:
        plans.append(reduce_stage_highs(*arguments, pair=fleet.pair))
    found = []
    for plan in plans:
        counts = whole_reduce(plan, stage.tasks)
        part = counts / max(stage.tasks, 1)
        own = _answer(place, "shuffle", counts, np.outer(data, part), stage.task_s, fleet)
        found.append((own, part * data.sum()))
    return min(found, key=_time)


def _limited(fleet: Fleet) -> bool:
    return bool(np.isfinite(fleet.pair[~np.eye(len(fleet), dtype=bool)]).any())


def _time(found: tuple[StageAnswer, NDArray[np.float64]]) -> float:
    return found[0].transfer_s + found[0].compute_s


def _answer(
    place: int, kind: str, counts: _Ints, moved: NDArray[np.float64], task_s: float, fleet: Fleet
) -> StageAnswer:
    np.fill_diagonal(moved, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        times = {
            "uplink": np.where(moved.sum(axis=1) > 0, moved.sum(axis=1) / fleet.up, 0.0),
            "downlink": np.where(moved.sum(axis=0) > 0, moved.sum(axis=0) / fleet.down, 0.0),
            "pair": np.where(moved > 0, moved / fleet.pair, 0.0).max(axis=1),
        }
    waves = np.ceil(counts / np.maximum(fleet.slots, 1)) * task_s
    transfer = max(float(own.max()) for own in times.values())
    why = []
    for link, own in times.items():
        if transfer > 0 and own.max() >= transfer * (1 - 1e-9):
            x = int(own.argmax())
            why.append(f"the {link} of {fleet.names[x]} takes longest: {own[x]:,.4g} s")
    slowest = int(waves.argmax())
    why.append(
        f"{fleet.names[slowest]} computes longest: {counts[slowest]:,} tasks on {fleet.slots[slowest]:,} slots,"
        f" {waves[slowest]:,.4g} s"
    )
    pairs = tuple(
        (fleet.names[x], fleet.names[y], float(moved[x, y])) for x, y in zip(*np.nonzero(moved), strict=True)
    )
    tasks = {name: int(count) for name, count in zip(fleet.names, counts, strict=True)}
    cost = float((moved * fleet.price).sum())
    return StageAnswer(place + 1, kind, tasks, pairs, transfer, float(waves.max()), cost, tuple(why))
