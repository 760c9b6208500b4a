"""Results of a scenario: one table each of jobs, metrics and series, saved as Parquet."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from windlass.io import parquet
from windlass.results.outcome import VariantResult
from windlass.results.site_map import SiteFlow

#: Files and folders of saved results; ``series.parquet``, ``flows.parquet`` and ``written`` exist only if the run has
#: any.
FILES: Final = frozenset(
    {"jobs.parquet", "metrics.parquet", "series.parquet", "flows.parquet", "scenario.yaml", "written"}
)
_FLOW = tuple(field.name for field in fields(SiteFlow))


@dataclass(frozen=True, slots=True)
class Results:
    """All results of a scenario.

    Parameters
    ----------
    scenario
        The scenario's name.
    as_run
        The scenario with every default filled in, as YAML text.
    variants
        Variants in the order of the scenario.
    """

    scenario: str
    as_run: str
    variants: tuple[VariantResult, ...]

    def notes(self) -> tuple[str, ...]:
        """Return the distinct notes of all outcomes, in order of first appearance."""
        return tuple(
            dict.fromkeys(
                note for variant in self.variants for outcome in variant.outcomes for note in outcome.notes
            )
        )

    def jobs(self) -> pl.DataFrame:
        """Return one table of all jobs; its first columns are variant and seed."""
        # Points of a sweep may be of logs that have other columns.
        return pl.concat(
            [
                outcome.jobs.select(
                    pl.lit(variant.name).alias("variant"),
                    pl.lit(outcome.seed, pl.Int64).alias("seed"),
                    pl.all(),
                )
                for variant in self.variants
                for outcome in variant.outcomes
            ],
            how="diagonal_relaxed",
            rechunk=True,
        )

    def metrics(self) -> pl.DataFrame:
        """Return the metrics, one row per variant and seed."""
        return pl.DataFrame(
            [
                {"variant": variant.name, "seed": outcome.seed}
                | {field.name: getattr(outcome.metrics, field.name) for field in fields(outcome.metrics)}
                for variant in self.variants
                for outcome in variant.outcomes
            ],
            infer_schema_length=None,
        )

    def series(self) -> pl.DataFrame:
        """Return all time series in one table: variant, seed, series, begin_s, end_s, value; empty without series."""
        found = [
            pl.DataFrame(
                {
                    "series": [each.name] * len(each.value),
                    "begin_s": each.time[:-1],
                    "end_s": each.time[1:],
                    "value": each.value.astype(np.float64),
                }
            ).select(
                pl.lit(variant.name).alias("variant"), pl.lit(outcome.seed, pl.Int64).alias("seed"), pl.all()
            )
            for variant in self.variants
            for outcome in variant.outcomes
            for each in outcome.series
        ]
        return pl.concat(found) if found else pl.DataFrame()

    def flows(self) -> pl.DataFrame:
        """Return what moved between sites: variant, seed, load, source, target, sent_bytes, tasks; empty without sites.

        See :class:`~windlass.results.SiteFlow`.
        """
        found = [
            {"variant": variant.name, "seed": outcome.seed} | {name: getattr(each, name) for name in _FLOW}
            for variant in self.variants
            for outcome in variant.outcomes
            if outcome.site_map is not None
            for each in outcome.site_map.flows
        ]
        return pl.DataFrame(found)

    def by(self, division: str, starved_after: float | None = None) -> pl.DataFrame:
        """Return jobs, waits, slowdown, share of the work and starved jobs: a row per variant and user, for example.

        Parameters
        ----------
        division
            ``user``, ``group``, ``queue``, ``partition``, or ``size`` for the size class by processors.
        starved_after
            Wait above which a job counts as starved, s; by default the scenario's, or one day.

        Raises
        ------
        InputError
            The division is unknown, or the jobs do not have it.

        See :func:`windlass.results.groups.group_metrics` for the columns.
        """
        # Imported here because the metrics' modules import this package.
        from windlass.results.groups import group_metrics

        return group_metrics(self.variants, division, self.as_run, starved_after)

    def save(self, folder: str | Path) -> None:
        """Write :data:`FILES` into a folder, creating it if necessary and replacing existing files.

        The same results give the same bytes.

        Outcomes with series also write ``series.parquet``, and those with flows ``flows.parquet``.
        :func:`windlass.io.claim_folder` makes sure that a folder has all files or is unchanged.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "jobs.parquet").write_bytes(parquet(self.jobs()))
        (folder / "metrics.parquet").write_bytes(parquet(self.metrics()))
        if len(series := self.series()):
            (folder / "series.parquet").write_bytes(parquet(series))
        if len(flows := self.flows()):
            (folder / "flows.parquet").write_bytes(parquet(flows))
        (folder / "scenario.yaml").write_text(self.as_run, encoding="utf-8")
        for number, variant in enumerate(self.variants, start=1):
            for outcome in variant.outcomes:
                for name, content in outcome.written:
                    file = folder / "written" / f"variant-{number}-seed-{outcome.seed}" / name
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_bytes(content)
