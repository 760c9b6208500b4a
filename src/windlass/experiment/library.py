"""The functions that ``import windlass`` offers: ``run``, ``load_log``, ``simulate`` and ``policies``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from windlass.experiment.experiment import Experiment, Folder, Workers
from windlass.experiment.judged import JudgedResults
from windlass.experiment.runner import Progress
from windlass.experiment.scenario import Scenario, make_scenario
from windlass.experiment.scenario.files import resolve_policies
from windlass.experiment.scenario.source import ScenarioSource, source_of, with_value
from windlass.experiment.worlds import find_world
from windlass.io.traces import Trace, read_trace
from windlass.model import InputError
from windlass.policy.registry import decisions
from windlass.policy.user_code import imported_again

#: A policy: its name, a file with its class as ``mine.py:Mine``, or either with parameters.
PolicyName = str | Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True, eq=False)
class JobLog:
    """A job log: its table, and the file that :func:`run` reads again.

    Parameters
    ----------
    path
        The file, as an absolute path.
    format
        Its format, if it was given.
    trace
        Its jobs, as in the file.
    skip_bad_lines
        Whether lines that cannot be read are left out.
    columns
        Columns of a table by field, if they were given.
    """

    path: Path
    format: str | None
    trace: Trace
    skip_bad_lines: bool = False
    columns: Mapping[str, str] | None = None

    @property
    def jobs(self) -> pl.DataFrame:
        """One row per job, with the columns of the log."""
        return self.trace.records

    @property
    def processors(self) -> int | None:
        """Processors of the logged system; None if the log has no number."""
        return self.trace.processors

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence for each omission or change by the reader."""
        return self.trace.notes

    def __len__(self) -> int:
        return len(self.trace)

    def _repr_html_(self) -> str:
        return self.jobs._repr_html_()


def load_log(
    path: str | Path,
    format: str | None = None,  # noqa: A002
    skip_bad_lines: bool = False,
    columns: Mapping[str, str] | None = None,
) -> JobLog:
    """Read a job log: SWF, accounting of Slurm, PBS or LSF, a CSV or Parquet table, or another known format.

    Parameters
    ----------
    path
        The file; it may be compressed.
    format
        The name of its format; by default its content decides.
    skip_bad_lines
        Leave out lines that cannot be read; ``trace.bad_lines`` lists them.
    columns
        Columns of a table by field, such as ``{"submit": "Queued at"}``; others are found by their names.

    Raises
    ------
    InputError
        The file does not exist, or a line cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "jobs.csv"
    >>> _ = file.write_text("submit,run,procs\\n0,60,4\\n5,30,2\\n")
    >>> len(load_log(file))
    2
    """
    file = Path(path)
    trace = read_trace(file, format=format, skip_bad_lines=skip_bad_lines, columns=columns)
    return JobLog(file.resolve(), format, trace, skip_bad_lines, columns)


def run(
    what: str | Path | JobLog | Mapping[str, Any] | Scenario | None = None,
    policies: str | Sequence[PolicyName] | Mapping[str, Sequence[PolicyName]] | None = None,
    *,
    fields: Mapping[str, Any] | None = None,
    seeds: int | Sequence[int] | None = None,
    by: str | None = None,
    require: str | None = None,
    jobs: int = 1,
    on: str | None = None,
    out: str | Path | None = None,
    force: bool = False,
    resume: bool = False,
    check: bool = True,
    progress: Callable[[Progress], None] | None = None,
) -> JudgedResults:
    """Run a log or a scenario with several policies, and compare the results.

    Parameters
    ----------
    what
        A log, a scenario file (``.yaml``), a scenario as a mapping, or a validated one; None for a bundled
        synthetic workload.
    policies
        Policies to compare, for the first decision of the scenario; or a mapping from decisions, as scenarios name
        them (``order``, not ``order.site``), to policies. None for those of the scenario; of a log, ``fcfs``, ``sjf``,
        ``easy`` and ``conservative``.
    fields
        Other fields of the scenario by dotted name, such as ``{"cluster.processors": 128}``. A list is a sweep.
    seeds
        Each variant runs once per seed.
    by
        The metric that the verdict compares; by default the world's first.
    require
        Requirements on the winner, as in ``p99_wait<=1.1*fcfs``.
    jobs, on
        Processes on this machine; or a Ray cluster, ``ray`` or ``ray:HOST:PORT``. The results do not depend on it.
    out, force, resume
        Folder for the tables; replace what it has, or continue an interrupted run.
    check
        If over 1 % of the work is lost because jobs are killed at their requested time, repeat the experiment
        without killing, and report whether the verdict changes. This can double the time.
    progress
        Called at intervals with the number of completed runs and their total.

    Returns
    -------
    JudgedResults
        The verdict, tables of metrics and jobs, and a report to save.

    Raises
    ------
    InputError
        The log or the scenario cannot be read, or a policy or a field does not exist.

    Examples
    --------
    >>> results = run({"workload": {"lublin": {"jobs": 40}}}, ["fcfs", "easy"], check=False)
    >>> results.table()["variant"].to_list()
    ['fcfs', 'easy']
    """
    if isinstance(what, Scenario):
        scenario = what
    else:
        # A notebook may have changed the file of a policy since its last run.
        with imported_again():
            scenario = _scenario(_source(what), policies, fields, seeds)
    if isinstance(what, Scenario) and (policies, fields, seeds) != (None, None, None):
        raise InputError(
            "run: a validated scenario already has policies, fields and seeds, expected none of them"
        )
    if not isinstance(jobs, int) or jobs < 1:
        raise InputError(f"run: jobs is {jobs!r}, expected a whole number of at least 1")
    folder = None if out is None else Folder(Path(out), force, resume)
    if folder is None and (force or resume):
        raise InputError("run: force and resume need the argument out, which is missing")
    experiment = Experiment(
        scenario, by=by, require=require, workers=Workers(jobs, on), folder=folder, check=check
    )
    return experiment.run(progress)


def simulate(
    log: str | Path | JobLog,
    policy: PolicyName = "easy",
    *,
    processors: int | None = None,
    fields: Mapping[str, Any] | None = None,
) -> pl.DataFrame:
    """Replay a log with one policy and return its schedule.

    Jobs that need more processors than the site has are left out; ``run(…).notes()`` counts them.

    Parameters
    ----------
    log
        The log, or its path; not a scenario file.
    policy
        The ordering policy.
    processors
        Processors of the site; by default those of the log.
    fields
        Other fields of the scenario, see :func:`run`.

    Returns
    -------
    polars.DataFrame
        One row per job that fits the site: ``job``, ``submit_s``, ``start_s``, ``end_s``, ``procs``, ``request_s``,
        ``why``, and further columns of the log, such as ``user``.

    Raises
    ------
    InputError
        The log cannot be read, the policy does not exist, or ``fields`` contains a sweep.
    """
    if not isinstance(log, JobLog) and Path(log).suffix in (".yaml", ".yml"):
        raise InputError(f"simulate: {log} is a scenario file, expected a log; windlass.run takes scenarios")
    given = dict(fields or {}) | ({} if processors is None else {"cluster.processors": processors})
    with imported_again():
        scenario = _scenario(_source(log), [policy], given, None)
    if len(scenario.variants) > 1:
        raise InputError(
            f"simulate: fields make {len(scenario.variants)} variants, expected one; windlass.run compares several"
        )
    results = Experiment(scenario, check=False).run()
    return results.variants[0].outcomes[0].jobs


def policies() -> pl.DataFrame:
    """Return one row per policy: the decision, its question, the policy's name and its summary.

    Examples
    --------
    >>> policies().filter(pl.col("policy") == "easy")["decision"].to_list()
    ['order.site']
    """
    return pl.DataFrame(
        [
            {
                "decision": registry.decision,
                "question": registry.question,
                "policy": name,
                "summary": (inspect.getdoc(registry.find(name)) or "").split("\n")[0],
            }
            for registry in decisions()
            for name in registry.names()
        ]
    )


def _source(what: str | Path | JobLog | Mapping[str, Any] | None) -> ScenarioSource:
    if isinstance(what, JobLog):
        source = source_of(what.path)
        named: dict[str, Any] = {} if what.format is None else {"format": what.format}
        if what.skip_bad_lines:
            named["skip_bad_lines"] = True
        if what.columns:
            named["columns"] = dict(what.columns)
        return ScenarioSource(source.tree | {"workload": {"trace": str(what.path), **named}}, source.name)
    if isinstance(what, Mapping):
        return ScenarioSource(dict(what), "scenario")
    if what is not None and not isinstance(what, str | Path):
        raise InputError(
            f"run: {type(what).__name__} given, expected a path, a log from load_log, or a scenario as a mapping"
        )
    return source_of(what)


def _scenario(
    source: ScenarioSource,
    policies: Sequence[PolicyName] | Mapping[str, Sequence[PolicyName]] | None,
    fields: Mapping[str, Any] | None,
    seeds: int | Sequence[int] | None,
) -> Scenario:
    tree = source.tree
    if not isinstance(tree, dict):
        return make_scenario(tree, source.name, source.folder)
    for field, value in (fields or {}).items():
        if not isinstance(field, str):
            raise InputError(
                f"run: fields has the key {field!r}, expected a name such as 'cluster.processors'"
            )
        tree = with_value(tree, field.split("."), value)
    if seeds is not None:
        tree = tree | {"seeds": seeds if isinstance(seeds, int) else list(seeds)}
    if policies is not None:
        own = tree.get("policies")
        given = own if isinstance(own, dict) else {}
        first = next(iter(given), find_world(tree.get("world", "batch")).decisions[0].key)
        one = [policies] if isinstance(policies, str) else policies
        named = one if isinstance(one, Mapping) else {first: one}
        # The path of a policy's file is relative to the current folder, not to the scenario's.
        chosen = {
            decision: [resolve_policies(each, Path()) for each in names] for decision, names in named.items()
        }
        tree = tree | {"policies": given | chosen}
    return make_scenario(tree, source.name, source.folder)
