"""A checkpoint of a run: each completed cell on disk, from which an interrupted run is resumed."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
import io
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import yaml

from windlass.io import parquet, write_text
from windlass.model import InputError
from windlass.model.calendar import Calendar
from windlass.model.errors import ParameterError, Remedy
from windlass.model.version import version
from windlass.results import Outcome, Series, SiteMap

_RUN = "run.json"
#: The remedy for a checkpoint that cannot be used.
_FORCE = Remedy("force", "starts over")


@dataclass(frozen=True, slots=True)
class RunCheckpoint:
    """A checkpoint: a folder of outcomes, one for each cell (a variant, by its number, with a seed).

    Parameters
    ----------
    folder
        The folder.

    Examples
    --------
    >>> import tempfile
    >>> from windlass.results.metrics.site import BatchMetrics
    >>> outcome = Outcome(7, BatchMetrics(1, 0.0, 0.0, 0.0, 60.0, 1.0, 0.5, 60.0), pl.DataFrame({"job": [1]}), 8)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     checkpoint = begin(Path(folder) / "cells", "seeds: [7]")
    ...     checkpoint.add(0, outcome)
    ...     again = resume(Path(folder) / "cells", "seeds: [7]")
    ...     again.has(0, 7), again.get(0, 7).metrics.mean_response_s
    (True, 60.0)
    """

    folder: Path

    def has(self, variant: int, seed: int) -> bool:
        """Return whether the checkpoint has a cell."""
        return self._cell(variant, seed).is_dir()

    def count(self) -> int:
        """Return the number of cells."""
        return sum(each.is_dir() and not each.name.startswith(".") for each in self.folder.iterdir())

    def add(self, variant: int, outcome: Outcome) -> None:
        """Add a cell atomically.

        Raises
        ------
        InputError
            The cell cannot be written.
        """
        place = self._cell(variant, outcome.seed)
        fresh = place.with_name(f".{place.name}")
        try:
            shutil.rmtree(fresh, ignore_errors=True)
            (fresh / "written").mkdir(parents=True)
            (fresh / "jobs.parquet").write_bytes(parquet(outcome.jobs))
            (fresh / "series.npz").write_bytes(_arrays(outcome.series))
            for number, (_, content) in enumerate(outcome.written):
                (fresh / "written" / str(number)).write_bytes(content)
            (fresh / "outcome.json").write_text(json.dumps(_plain(outcome)), encoding="utf-8")
            fresh.rename(place)
        except OSError as error:
            shutil.rmtree(fresh, ignore_errors=True)
            raise InputError(f"{self.folder}: cannot be written: {error.strerror or error}") from error

    def discard(self) -> None:
        """Remove the checkpoint and its folder."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def get(self, variant: int, seed: int) -> Outcome:
        """Return the outcome of a cell in the checkpoint.

        Raises
        ------
        InputError
            The cell is corrupt.
        """
        cell = self._cell(variant, seed)
        try:
            tree = json.loads((cell / "outcome.json").read_text(encoding="utf-8"))
            return Outcome(
                seed,
                _metrics(tree["kind"], tree["metrics"]),
                pl.read_parquet(cell / "jobs.parquet"),
                tree["processors"],
                tuple(tree["notes"]),
                tuple(
                    (name, (cell / "written" / str(number)).read_bytes())
                    for number, name in enumerate(tree["written"])
                ),
                _series(cell / "series.npz", tree["series"]),
                tree["cut_share"],
                None if tree["site_map"] is None else SiteMap.of(tree["site_map"]),
                None if tree["calendar"] is None else Calendar(*tree["calendar"]),
            )
        except (
            OSError,
            ValueError,
            KeyError,
            TypeError,
            AttributeError,
            RecursionError,
            pl.exceptions.PolarsError,
        ) as error:
            raise ParameterError("resume", f"checkpoint {cell} is corrupt ({error})", _FORCE) from error

    def _cell(self, variant: int, seed: int) -> Path:
        return self.folder / f"{variant}-{seed}"


def begin(folder: Path, as_run: str) -> RunCheckpoint:
    """Create an empty checkpoint for a scenario; an earlier one is removed.

    Raises
    ------
    InputError
        The folder cannot be created; a partial one is removed.
    """
    shutil.rmtree(folder, ignore_errors=True)
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be created: {error.strerror}") from error
    try:
        write_text(json.dumps(_identity(as_run)), folder / _RUN)
    except BaseException:
        # A folder without that file would be reported as a checkpoint that cannot be read.
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return RunCheckpoint(folder)


def resume(folder: Path, as_run: str) -> RunCheckpoint:
    """Open the checkpoint of the same scenario, with the same files and version.

    Raises
    ------
    InputError
        There is no checkpoint, or it is of something else; the error names the difference.
    """
    if not folder.is_dir():
        raise ParameterError("resume", f"no interrupted run to continue, {folder} does not exist")
    try:
        before = json.loads((folder / _RUN).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ParameterError("resume", f"{folder / _RUN} cannot be read", _FORCE) from error
    for what, value in _identity(as_run).items():
        if not isinstance(before, dict) or before.get(what) != value:
            raise ParameterError("resume", f"{what} changed since {folder} was written", _FORCE)
    return RunCheckpoint(folder)


def _identity(as_run: str) -> dict[str, str]:
    """Return all that a cell's outcome depends on: names, and versions or hashes."""
    found = {
        "the version of Windlass": version(),
        "the scenario": hashlib.sha256(as_run.encode()).hexdigest(),
    }
    for file in sorted(files_of(as_run)):
        found[f"file {file}"] = hashlib.sha256(file.read_bytes()).hexdigest()
    return found


def files_of(as_run: str) -> set[Path]:
    """Return the files that a scenario as run reads: traces and policies.

    >>> files_of("policies: {order: easy}")
    set()
    """
    return set(_files(yaml.safe_load(as_run)))


def _files(tree: Any) -> Iterator[Path]:
    """Yield the files that are named anywhere in a tree, as a trace or as a policy (``mine.py:Mine``)."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from _files(key)
            yield from _files(value)
    elif isinstance(tree, list):
        for each in tree:
            yield from _files(each)
    elif isinstance(tree, str) and tree.startswith("/"):
        for name in (tree, tree.partition(":")[0]):
            if len(name) < 4096 and Path(name).is_file():
                yield Path(name)


def _plain(outcome: Outcome) -> dict[str, Any]:
    kind = type(outcome.metrics)
    return {
        "kind": f"{kind.__module__}:{kind.__qualname__}",
        "metrics": {field.name: getattr(outcome.metrics, field.name) for field in dataclasses.fields(kind)},
        "processors": outcome.processors,
        "notes": outcome.notes,
        "written": [name for name, _ in outcome.written],
        "series": [(each.name, each.percent, each.site, each.load) for each in outcome.series],
        "cut_share": outcome.cut_share,
        "calendar": None if outcome.calendar is None else dataclasses.astuple(outcome.calendar),
        "site_map": None if outcome.site_map is None else outcome.site_map.plain(),
    }


def _arrays(series: tuple[Series, ...]) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, *(row for each in series for row in (each.time, each.value)))
    return buffer.getvalue()


def _series(file: Path, names: list[tuple[str, bool, str, str]]) -> tuple[Series, ...]:
    with np.load(file, allow_pickle=False) as arrays:
        return tuple(
            Series(name, arrays[f"arr_{2 * at}"], arrays[f"arr_{2 * at + 1}"], percent, site, load)
            for at, (name, percent, site, load) in enumerate(names)
        )


def _metrics(kind: str, values: dict[str, Any]) -> Any:
    module, _, name = kind.partition(":")
    # Only Windlass's own modules are imported on behalf of a file.
    if not module.startswith("windlass.results.metrics."):
        raise ValueError(f"{kind!r} is not a class of metrics")
    made: Any = getattr(importlib.import_module(module), name)
    if not (isinstance(made, type) and dataclasses.is_dataclass(made)):
        raise ValueError(f"{kind!r} is not a class of metrics")
    return made(**values)
