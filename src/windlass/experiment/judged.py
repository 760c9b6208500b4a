"""Results with their verdict: to print, to show in a notebook, and to save as a report."""

from __future__ import annotations

import html
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from windlass.experiment.answer import Answer
from windlass.report import write_report
from windlass.results import Results
from windlass.results.verdict import Verdict


@dataclass(frozen=True, slots=True)
class JudgedResults(Results):
    """Results of an experiment, and the answer to which variant is better.

    Parameters
    ----------
    scenario, as_run, variants
        See :class:`~windlass.results.Results`.
    answer
        The verdict in numbers and in words.
    """

    answer: Answer

    @property
    def verdict(self) -> Verdict | None:
        """Which variant is better; None if nothing can be compared."""
        return self.answer.verdict

    @property
    def sentences(self) -> tuple[str, ...]:
        """The verdict in words, the answer first; empty if nothing can be compared."""
        return self.answer.sentences

    def table(self) -> pl.DataFrame:
        """Return one row per variant: its name, and the mean of each metric over the seeds."""
        return pl.DataFrame(
            [
                {"variant": variant.name} | {each.metric: each.mean for each in variant.summaries()}
                for variant in self.variants
            ]
        )

    def report(self, path: str | Path) -> Path:
        """Write one self-contained HTML file, and return its path."""
        file = Path(path)
        write_report(self, file, self.answer.sentences, None if self.verdict is None else self.verdict.metric)
        return file

    def _repr_html_(self) -> str:
        words = "".join(f"<p>{html.escape(line)}</p>" for line in (*self.sentences, *self.notes()))
        return words + self.table()._repr_html_()
