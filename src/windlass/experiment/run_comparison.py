"""The comparison of two saved runs: the same verdict as between variants of one run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from windlass.experiment.finished_run import FinishedRun
from windlass.experiment.scenario import Variant
from windlass.io import read_parquet
from windlass.model import InputError
from windlass.model.errors import ParameterError
from windlass.model.nearest import did_you_mean
from windlass.results import Outcome, VariantResult, better_of
from windlass.results.run_comparison import (
    FieldDifference,
    PairedVariants,
    RunComparison,
    field_differences,
    pair_variants,
)
from windlass.results.verdict.require import metric_named

#: Most names of variants that an error lists.
_NAMED = 6


class SavedVariants:
    """The variants of a saved run, with their metrics and tables of jobs.

    Parameters
    ----------
    folder
        A folder that ``windlass run --out`` or ``windlass.run(out=…)`` has written.

    Raises
    ------
    InputError
        The folder does not have the tables of a run, or a table is damaged.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.run = FinishedRun(folder)
        self.scenario = self.run.scenario
        self._metrics = _table(folder / "metrics.parquet")
        self._jobs = _table(folder / "jobs.parquet")
        lacking = {*self.scenario.world.metrics.__dataclass_fields__} - {*self._metrics.columns}
        if lacking:
            raise InputError(
                f"{folder / 'metrics.parquet'}: has no column {min(lacking)!r}, which the world "
                f"{self.scenario.world.name!r} has; another version wrote it, run the scenario again"
            )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variants, without recorded schedules."""
        return tuple(each.name for each in self.scenario.variants)

    def named(self, name: str, parameter: str) -> str:
        """Return a name if the tables have a variant or recorded schedule of this name.

        Raises
        ------
        ParameterError
            They have none.
        """
        known = self._metrics["variant"].unique(maintain_order=True).to_list()
        if name in known:
            return name
        hint = did_you_mean(name, known)
        raise ParameterError(
            parameter, f"{self.folder} has no variant {name!r}, expected one of {_listed(known)}{hint}"
        )

    def seeds(self, name: str) -> frozenset[int]:
        """Return the seeds of a variant."""
        return frozenset(self._metrics.filter(pl.col("variant") == name)["seed"].to_list())

    def variant(self, name: str, seeds: frozenset[int]) -> VariantResult:
        """Return a variant with some of its seeds, from the tables."""
        kind = self.scenario.world.metrics
        chosen = self._metrics.filter(pl.col("variant") == name, pl.col("seed").is_in(sorted(seeds)))
        jobs = self._jobs.filter(pl.col("variant") == name)
        outcomes = [
            Outcome(
                row["seed"],
                kind(**{field: row[field] for field in kind.__dataclass_fields__}),
                jobs.filter(pl.col("seed") == row["seed"]).drop("variant", "seed"),
                1,
            )
            for row in chosen.sort("seed").to_dicts()
        ]
        return VariantResult(name, (), tuple(outcomes))

    def setting(self, name: str) -> dict[str, Any]:
        """Return the fields of a variant; empty for a recorded schedule."""
        found: Variant | None = next((each for each in self.scenario.variants if each.name == name), None)
        return {} if found is None else found.setting.model_dump(mode="json")


def compare_runs(
    first: Path, second: Path, by: str | None = None, a: str | None = None, b: str | None = None
) -> RunComparison:
    """Compare two saved runs of the same jobs.

    Parameters
    ----------
    first, second
        Folders of results, A and B; both may be the same.
    by
        Metric of the answer; by default, the first one of the world with a direction that applies.
    a, b
        A variant of A and one of B to compare; by default, all variants of the same name, or the only one of each run.

    Returns
    -------
    RunComparison
        B compared with A.

    Raises
    ------
    InputError
        A folder has no results or is damaged, or the runs are not comparable: they have different worlds, no common
        seed, no common jobs, or no variants of the same name.
    """
    one, other = SavedVariants(first), SavedVariants(second)
    worlds = one.scenario.world.name, other.scenario.world.name
    if worlds[0] != worlds[1]:
        raise InputError(
            f"{first} is a run of the world {worlds[0]!r} and {second} one of {worlds[1]!r}, expected the same world"
        )
    pairs = tuple(_pair(one, other, *names) for names in _names(one, other, a, b))
    directions = {
        each.metric: better
        for pair in pairs
        for each, better in zip(pair.comparisons, pair.directions, strict=True)
        if better
    }
    known = [
        name
        for name, each in one.scenario.world.metrics.__dataclass_fields__.items()
        if name in directions and better_of(each)
    ]
    if not known:
        raise InputError(f"{first} and {second} have no metric that can be compared")
    metric = known[0] if by is None else metric_named(by, known, "by")
    return RunComparison(metric, directions[metric], pairs, _fields(one, other, pairs))


def _names(
    one: SavedVariants, other: SavedVariants, a: str | None, b: str | None
) -> Sequence[tuple[str, str]]:
    """Return the names of the variants to compare."""
    if a is not None or b is not None:
        chosen = a if a is not None else b
        assert chosen is not None  # one of them is given
        return [(one.named(a or chosen, "a"), other.named(b or chosen, "b"))]
    both = [(name, name) for name in one.names if name in other.names]
    if both:
        return both
    if len(one.names) == len(other.names) == 1:
        return [(one.names[0], other.names[0])]
    raise ParameterError(
        "a",
        f"no variant of the same name: {one.folder} has {_listed(one.names)}, and {other.folder} has "
        f"{_listed(other.names)}; name one of each",
    )


def _pair(one: SavedVariants, other: SavedVariants, first: str, second: str) -> PairedVariants:
    seeds = one.seeds(first) & other.seeds(second)
    if not seeds:
        raise InputError(
            f"no common seed: {one.folder} has {_listed(sorted(one.seeds(first)))} and {other.folder} has "
            f"{_listed(sorted(other.seeds(second)))}; run both with the same seeds"
        )
    found = pair_variants(one.variant(first, seeds), other.variant(second, seeds))
    if found is None:
        raise InputError(
            f"{one.folder} and {other.folder} did not run the same jobs: {_source(one, first)} and "
            f"{_source(other, second)}; expected runs of the same log or of the same drawn workload"
        )
    return found


def _source(run: SavedVariants, name: str) -> str:
    """Return the log of a variant, or the generator that drew its jobs."""
    workload = run.setting(name).get("workload")
    fields = (
        {key: value for key, value in (workload or {}).items() if value} if isinstance(workload, dict) else {}
    )
    return str(fields.get("trace") or next(iter(fields), "recorded"))


def _fields(
    one: SavedVariants, other: SavedVariants, pairs: Sequence[PairedVariants]
) -> tuple[FieldDifference, ...]:
    found: list[FieldDifference] = []
    for pair in pairs:
        settings = one.setting(pair.first), other.setting(pair.second)
        for each in field_differences(*settings) if all(settings) else ():
            if each not in found:
                found.append(each)
    seeds = list(one.scenario.seeds), list(other.scenario.seeds)
    return (*found, *field_differences({"seeds": seeds[0]}, {"seeds": seeds[1]}))


def _table(file: Path) -> pl.DataFrame:
    if not file.is_file():
        raise InputError(
            f"{file.parent}: folder without {file.name}, expected one with the results of `windlass run`"
        )
    table = read_parquet(file)
    lacking = [name for name in ("variant", "seed") if name not in table.columns]
    if lacking:
        raise InputError(f"{file}: has no column {lacking[0]!r}, expected a table of `windlass run`")
    return table


def _listed(names: Sequence[object]) -> str:
    shown = ", ".join(map(str, names[:_NAMED]))
    return f"{shown} and {len(names) - _NAMED:,} more" if len(names) > _NAMED else shown
