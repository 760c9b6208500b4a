"""The results of an earlier run in a folder, and explanations of its jobs' waits."""

from __future__ import annotations

import math
from collections.abc import Collection
from pathlib import Path
from typing import Any

import polars as pl

from windlass.experiment.job_name import JobName
from windlass.experiment.scenario import Scenario, Variant, load_scenario
from windlass.model import InputError
from windlass.model.errors import ParameterError
from windlass.model.nearest import did_you_mean
from windlass.report.units import duration
from windlass.results.explanation import Explanation


class FinishedRun:
    """A folder that ``windlass run --out`` or ``windlass.run(out=…)`` has written.

    Parameters
    ----------
    folder
        The folder.

    Raises
    ------
    InputError
        The folder does not have the tables of a run.

    Examples
    --------
    >>> FinishedRun(Path("no/such/folder"))
    Traceback (most recent call last):
    windlass.model.errors.InputError: no/such/folder: no such folder, expected one with the results of `windlass run`
    """

    def __init__(self, folder: Path) -> None:
        expected = "expected one with the results of `windlass run`"
        if folder.is_file():
            raise InputError(f"{folder}: is a file, {expected.replace('one', 'a folder')}")
        if not folder.is_dir():
            raise InputError(f"{folder}: no such folder, {expected}")
        for name in ("scenario.yaml", "jobs.parquet"):
            if not (folder / name).is_file():
                raise InputError(f"{folder}: folder without {name}, {expected}")
        self.folder = folder
        self.scenario: Scenario = load_scenario(folder / "scenario.yaml")

    def variants(self, name: str | None = None) -> tuple[Variant, ...]:
        """Return the variant with a name, or all.

        Raises
        ------
        ParameterError
            The run has no such variant.
        """
        if name is None:
            return self.scenario.variants
        found = tuple(each for each in self.scenario.variants if each.name == name)
        if not found:
            names = "; ".join(each.name for each in self.scenario.variants)
            hint = did_you_mean(name, (each.name for each in self.scenario.variants))
            raise ParameterError("variant", f"{self.folder} has no {name!r}, expected one of {names}{hint}")
        return found

    def row(self, job: JobName, variant: Variant, seed: int | None = None) -> dict[str, Any]:
        """Return the row of a job in the table of jobs.

        Parameters
        ----------
        job
            The job, as the table names it.
        variant
            The variant of the run.
        seed
            The seed; None for the first of the run.

        Raises
        ------
        InputError
            The table cannot be read, or has no such job or seed.
        """
        file = self.folder / "jobs.parquet"
        try:
            columns = pl.read_parquet_schema(file)
            if "job" not in columns or "start_s" not in columns:
                raise InputError(f"{file}: has no columns 'job' and 'start_s', which an explanation needs")
            table = pl.scan_parquet(file).filter(pl.col("variant") == variant.name)
            seeds = table.select(pl.col("seed").unique().sort()).collect()["seed"].to_list()
            if not seeds:
                raise InputError(
                    f"{file}: has no row of {variant.name!r}, a variant of {self.folder}/scenario.yaml"
                )
            seed = seeds[0] if seed is None else seed
            if seed not in seeds:
                known = ", ".join(map(str, seeds))
                raise ParameterError("seed", f"{self.folder} has no {seed}, expected one of {known}")
            of_seed = table.filter(pl.col("seed") == seed)
            grouped = "load" in columns and "site" in columns
            group = _GROUP if grouped else pl.lit("")
            rows = self._with_id(job, of_seed, group, grouped) if "job_id" in columns else []
            if not rows and job.number is not None:
                of_job = (group == job.group) & (pl.col("job") == job.number)
                rows = of_seed.filter(of_job).head(1).collect().to_dicts()
            if not rows:
                raise ParameterError("job", self._missing(job, variant, of_seed, group, columns))
        except (OSError, pl.exceptions.PolarsError) as error:
            raise InputError(f"{file}: cannot be read: {str(error).splitlines()[0]}") from error
        return rows[0]

    def _with_id(
        self, job: JobName, table: pl.LazyFrame, group: pl.Expr, grouped: bool
    ) -> list[dict[str, Any]]:
        """Return the row of the job with an identifier of the log; empty if there is none."""
        if job.by_number:
            return []
        # Without loads, a slash is part of the identifier.
        of_job = (
            (group == job.group) & (pl.col("job_id") == job.own) if grouped else pl.col("job_id") == job.text
        )
        rows = table.filter(of_job).unique("job", keep="first", maintain_order=True).collect().to_dicts()
        if len(rows) > 1:
            prefix = f"{job.group}/" if grouped else ""
            numbers = ", ".join(f"{prefix}#{row['job']}" for row in rows[:_NAMED])
            more = f" and {len(rows) - _NAMED:,} more" if len(rows) > _NAMED else ""
            raise ParameterError(
                "job",
                f"{self.folder} has {len(rows):,} jobs with the identifier {job}, expected one of {numbers}{more}",
            )
        return rows

    def _missing(
        self,
        job: JobName,
        variant: Variant,
        table: pl.LazyFrame,
        group: pl.Expr,
        columns: Collection[str],
    ) -> str:
        """Return the error for a job that the table does not have."""
        identifier = (
            (pl.col("job_id") if "job_id" in columns else pl.lit(None, pl.String)).drop_nulls().first()
        )
        ranges = (
            table.group_by(group.alias("group"), maintain_order=True)
            .agg(
                pl.col("job").n_unique().alias("count"),
                pl.col("job").min().alias("least"),
                pl.col("job").max().alias("most"),
                identifier.alias("identifier"),
            )
            .collect()
            .rows()
        )
        missing = f"{self.folder} has no job {job} under {variant.name}"
        for name, count, least, most, known in ranges:
            if name == job.group or (len(ranges) == 1 and not name and known is not None):
                if known is not None:
                    own = f"{name}/" if name else ""
                    return f"{missing}, expected an identifier as in {own}{known}, or a number as in {own}#{least}"
                of = f" of {name} in the table" if name else ""
                return f"{missing}, expected one of the {count:,}{of} from {least} to {most}"
        names = ", ".join(f"{name}/{least}" for name, _, least, *_ in ranges if name)
        return f"{missing}, expected a name as in {names}" if names else f"{missing}, expected a number"

    def explain(self, job: JobName, variant: Variant, row: dict[str, Any]) -> Explanation:
        """Replay the run of a variant and record every decision that concerns a job.

        Parameters
        ----------
        job
            The job.
        variant
            The variant of the run.
        row
            The job's row (:meth:`row`).

        Raises
        ------
        InputError
            The world cannot explain decisions, or the replay differs from the tables.
        """
        explainer = self.scenario.world.explainer
        if explainer is None:
            raise InputError(
                f"{self.folder}: the world {self.scenario.world.name!r} does not explain decisions; "
                f"job {job} {outcome_text(row)} under {variant.name}"
            )
        workload = self.scenario.world.workload(variant.setting, row["seed"])
        explained = explainer.explained(variant.setting, row["seed"], workload, row)
        changed = explained.check(f"job {job}", row)
        if changed:
            raise InputError(
                f"{self.folder}: {changed}: the log, the policy or Windlass has changed since the run"
            )
        return explained


#: Most jobs that an error names before it counts the others.
_NAMED = 6
#: The load of a row with its site, as in :attr:`~windlass.experiment.job_name.JobName.group`.
_GROUP = pl.col("load") + pl.when(pl.col("site") == "").then(pl.lit("")).otherwise("@" + pl.col("site"))


def outcome_text(row: dict[str, Any]) -> str:
    """Return how long a job waited, or how accurate a query was, for its row of the table.

    >>> outcome_text({"submit_s": 60.0, "start_s": 180.0}), outcome_text({"start_s": None, "accuracy": 0.5})
    ('waited 2 min', 'had an accuracy of 0.500')
    """
    accuracy = row.get("accuracy")
    if accuracy is not None:
        return f"had an accuracy of {accuracy:.3f}"
    return f"waited {wait_text(row)}"


def wait_text(row: dict[str, Any]) -> str:
    """Return a job's wait in words, for its row of the table.

    >>> wait_text({"submit_s": 60.0, "start_s": 180.0})
    '2 min'
    """
    start, submit = row["start_s"], row["submit_s"]
    return "for ever" if start is None or math.isnan(start) else duration(start - submit)
