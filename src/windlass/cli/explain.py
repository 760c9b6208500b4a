"""``windlass explain``: what one job of a run waited for, decision by decision."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl
from rich.console import Console

from windlass.experiment.scenario import Scenario, Variant, load_scenario
from windlass.model import InputError
from windlass.report.units import duration
from windlass.report.waiting import moment_lines, waiting_sentences
from windlass.results.explanation import Waited

#: So many decisions are printed unless all are asked for: half from the beginning, half from the end.
_SHOWN = 30


@dataclass(frozen=True, slots=True)
class ExplainOptions:
    """What is asked: a folder of results, a job's number, and of which variant and seed; None for what is not said."""

    folder: Path
    job: int
    variant: str | None = None
    seed: int | None = None
    everything: bool = False


def explain_command(question: ExplainOptions, *, as_json: bool) -> None:
    """Say what a job waited for."""
    scenario = _scenario(question.folder)
    variants = _variants(scenario, question)
    rows = [_row(question, variant) for variant in variants]
    if question.variant is None and len(variants) > 1:
        if question.everything:
            raise InputError(
                "--all: has no effect here, it is for one of several policies, named by --variant"
            )
        _compare(question, variants, rows, as_json)
        return
    variant, row = variants[0], rows[0]
    waited = _waited(scenario, question, variant, row)
    lines = moment_lines(waited, question.everything)
    if as_json:
        tree = {
            "run": str(question.folder),
            "variant": variant.name,
            "seed": row["seed"],
            "sentences": list(waiting_sentences(waited)),
            **_plain(asdict(waited)),
        }
        sys.stdout.write(json.dumps(tree, allow_nan=False) + "\n")
        return
    console = Console(highlight=False)

    def say(line: str) -> None:
        console.print(line, markup=False, soft_wrap=not console.is_terminal)

    say(f"Under {variant.name}, seed {row['seed']}:")
    for line in waiting_sentences(waited):
        say(line)
    if waited.wait == 0:
        return
    say("")
    left_out = 0 if question.everything else max(len(lines) - _SHOWN, 0)
    for number, line in enumerate(lines):
        if number == _SHOWN // 2 and left_out:
            say(f"… {left_out:,} more, which --all shows …")
        if not _SHOWN // 2 <= number < _SHOWN // 2 + left_out:
            say(line)


def _scenario(folder: Path) -> Scenario:
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder, expected one that `windlass run --out` has written")
    for name in ("scenario.yaml", "jobs.parquet"):
        if not (folder / name).is_file():
            raise InputError(
                f"{folder}: has no {name}, expected a folder that `windlass run --out` has written"
            )
    return load_scenario(folder / "scenario.yaml")


def _variants(scenario: Scenario, question: ExplainOptions) -> tuple[Variant, ...]:
    if question.variant is None:
        return scenario.variants
    found = tuple(each for each in scenario.variants if each.name == question.variant)
    if not found:
        names = "; ".join(each.name for each in scenario.variants)
        raise InputError(f"--variant: {question.folder} has no {question.variant!r}, expected one of {names}")
    return found


def _row(question: ExplainOptions, variant: Variant) -> dict[str, Any]:
    """What the tables say of the job in one variant."""
    file = question.folder / "jobs.parquet"
    try:
        columns = pl.read_parquet_schema(file)
        if "job" not in columns or "start_s" not in columns:
            raise InputError(f"{file}: has no jobs that start, so nothing is to be explained")
        table = pl.scan_parquet(file).filter(pl.col("variant") == variant.name)
        seeds = table.select(pl.col("seed").unique().sort()).collect()["seed"].to_list()
        if not seeds:
            raise InputError(f"{file}: has nothing of {variant.name!r}, which the scenario beside it has")
        seed = seeds[0] if question.seed is None else question.seed
        if seed not in seeds:
            known = ", ".join(map(str, seeds))
            raise InputError(f"--seed: {question.folder} has no {seed}, expected one of {known}")
        mine = table.filter(pl.col("seed") == seed)
        rows = mine.filter(pl.col("job") == question.job).head(1).collect().to_dicts()
        if not rows:
            count, least, most = (
                mine.select(pl.len(), pl.col("job").min().alias("least"), pl.col("job").max().alias("most"))
                .collect()
                .row(0)
            )
            raise InputError(
                f"JOB: {question.folder} has no job {question.job} under {variant.name}, expected one of the "
                f"{count:,} from {least} to {most}"
            )
    except (OSError, pl.exceptions.PolarsError) as error:
        raise InputError(f"{file}: cannot be read: {str(error).splitlines()[0]}") from error
    return rows[0]


def _waited(scenario: Scenario, question: ExplainOptions, variant: Variant, row: dict[str, Any]) -> Waited:
    explainer = scenario.world.explainer
    if explainer is None:
        wait = _wait(row)
        raise InputError(
            f"{question.folder}: the world {scenario.world.name!r} cannot be gone through decision by decision; "
            f"job {question.job} waited {wait} under {variant.name}"
        )
    workload = scenario.world.workload(variant.setting, row["seed"])
    waited = explainer.waited(variant.setting, row["seed"], workload, question.job)
    if waited.start != row["start_s"]:
        raise InputError(
            f"{question.folder}: job {question.job} starts {duration(waited.wait)} after it came where the run is gone "
            f"through again, and after {_wait(row)} in the tables: the log, the policy or Windlass has changed since"
        )
    return waited


def _compare(
    question: ExplainOptions, variants: tuple[Variant, ...], rows: list[dict[str, Any]], as_json: bool
) -> None:
    """A line for each variant, as the tables have it."""
    if as_json:
        listed = [
            {"variant": each.name, **{key: value for key, value in row.items() if key != "variant"}}
            for each, row in zip(variants, rows, strict=True)
        ]
        sys.stdout.write(
            json.dumps({"run": str(question.folder), "job": question.job, "variants": _plain(listed)}) + "\n"
        )
        return
    console = Console(highlight=False)
    for variant, row in zip(variants, rows, strict=True):
        why = f": {row['why']}" if row.get("why") else ""
        console.print(
            f"Job {question.job} waited {_wait(row)} under {variant.name}, seed {row['seed']}{why}.",
            markup=False,
            soft_wrap=True,
        )
    console.print("--variant with one of these says what it waited for, decision by decision.", markup=False)


def _wait(row: dict[str, Any]) -> str:
    start, submit = row["start_s"], row["submit_s"]
    return "for ever" if start is None or math.isnan(start) else duration(start - submit)


def _plain(tree: Any) -> Any:
    """The same with None for what is not a number."""
    if isinstance(tree, dict):
        return {key: _plain(value) for key, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [_plain(value) for value in tree]
    return None if isinstance(tree, float) and not math.isfinite(tree) else tree
