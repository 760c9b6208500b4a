"""Cases for readers of logs, tables, configuration files and saved state."""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import yaml

from tests.fuzz import bases
from tests.fuzz.case import Case, write_corrupted
from tests.fuzz.nasty import VALUES, corrupted, dumped, places, put
from windlass.admit.policies.pronto import Pronto
from windlass.agent.envelope import opened
from windlass.agent.options import Address
from windlass.agent.token import read_token
from windlass.cli.forecast import seconds
from windlass.engines.elastic.types import read_types
from windlass.engines.kubernetes.pods import instant, quantity
from windlass.engines.linux.job_progress import read as read_progress
from windlass.engines.slurm.cluster import SlurmCluster
from windlass.engines.slurm.entries import read_entry
from windlass.engines.slurm.job_reader import read_jobs
from windlass.engines.slurm.journal import Journal
from windlass.engines.slurm.log import read_completed, read_sacct
from windlass.engines.slurm.state import read_state
from windlass.io import parse_yaml
from windlass.io.traces import FORMATS, read_trace, to_workload
from windlass.io.traces.bins import read_bins
from windlass.io.traces.demands import read_demands
from windlass.io.traces.llm import read_llm
from windlass.io.traces.philly import read_philly
from windlass.io.traces.series import read_series
from windlass.io.traces.spot import read_spot
from windlass.io.traces.swim import read_swim
from windlass.io.traces.telemetry.formats import read_telemetry
from windlass.io.traces.volatility import read_volatility
from windlass.io.traces.wan import read_wan
from windlass.model import BatchError
from windlass.plan.files import read_hierarchy, read_queries
from windlass.results.verdict import parse_requirements
from windlass.share.lib.trees import read_experts
from windlass.sim.telemetry.metrics import read_model


def log(rng: random.Random, folder: Path) -> Case:
    name = rng.choice(sorted(bases.LOGS))
    file = write_corrupted(
        folder, rng, bases.LOGS[name], rng.choice(("log", "log.csv", "log.swf", "log.json", "log.txt"))
    )
    format_ = rng.choice((None, name, name, name, rng.choice([each.name for each in FORMATS])))
    skip = rng.random() < 0.5
    return Case(lambda: to_workload(read_trace(file, format_, skip), rng.choice((None, 4))))


TABLES: dict[str, Callable[[Path], object]] = {
    "spot": read_spot,
    "llm": read_llm,
    "volatility": lambda file: read_volatility(file, 50),
    "wan": lambda file: read_wan(file, ["aws:a", "aws:b"]),
    "bins": read_bins,
    "series": lambda file: read_series(file, 600.0),
    "demands": read_demands,
    "swim": read_swim,
    "philly": read_philly,
}


def table(rng: random.Random, folder: Path) -> Case:
    name = rng.choice(sorted(TABLES))
    file = write_corrupted(folder, rng, bases.TABLES[name], f"{name}.csv")
    return Case(lambda: TABLES[name](file))


def parquet(rng: random.Random, folder: Path) -> Case:
    columns = {
        "submit": [0.0, 5.0],
        "run": [1.0, 2.0],
        "procs": [1, 2],
        "at": [0.0, 1.0],
        "cpu_ready": [0.1, 0.2],
    }
    columns[rng.choice(sorted(columns))] = rng.choice(
        ([None, None], ["x", "y"], [True, False], [-1e300, np.inf])
    )
    buffer = io.BytesIO()
    pl.DataFrame(columns).write_parquet(buffer)
    data = bytearray(buffer.getvalue())
    for _ in range(rng.randint(0, 3)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    file = folder / "a.parquet"
    file.write_bytes(data[: rng.choice((len(data), rng.randint(0, len(data))))])
    read: Callable[[Path], object] = rng.choice((read_trace, read_telemetry))
    return Case(lambda: read(file))


def _read_pipeline(file: Path) -> object:
    # The fuzz test requires the extra for video.
    from windlass.plan.profile.pipeline import read_pipeline

    return read_pipeline(file)


OTHERS: tuple[tuple[str, Callable[[Path], object]], ...] = (
    (dumped(bases.TYPES), read_types),
    (bases.QUERIES, read_queries),
    (bases.HIERARCHY, read_hierarchy),
    (bases.PIPELINE, _read_pipeline),
    (bases.TREES, read_experts),
)


def other_yaml(rng: random.Random, folder: Path) -> Case:
    base, read = rng.choice(OTHERS)
    file = folder / "a.yaml"
    tree = yaml.safe_load(base)
    if rng.random() < 0.5:
        file.write_bytes(corrupted(base, rng))
        return Case(lambda: read(file))
    file.write_text(dumped(put(tree, rng.choice(places(tree)), rng.choice(VALUES))), encoding="utf-8")
    return Case(lambda: read(file))


def option_values(rng: random.Random, folder: Path) -> Case:
    """Values of options, and output of other systems."""
    base = rng.choice(
        ("128", "1.5Gi", "100m", "10min", "1d", "p99_wait<=1.1*fcfs, max_wait<2d", "127.0.0.1:8080", "[::1]:80",
         bases.COMPLETED, bases.ACCOUNTED, "2024-05-01T12:00:00Z", "{static: {}}")
    )  # fmt: skip
    text = corrupted(base, rng).decode(errors="replace")
    calls = (
        Case(lambda: quantity(text)),
        Case(lambda: instant(text)),
        Case(lambda: seconds("--freq", text)),
        Case(lambda: parse_requirements(text, ["fcfs", "easy"])),
        Case(lambda: Address.of("--listen", text)),
        Case(lambda: read_completed(text, "jobs"), raises=(BatchError,)),
        Case(lambda: read_sacct(text), raises=(BatchError,)),
        Case(lambda: parse_yaml(text, "--policy")),
    )
    return rng.choice(calls)


def saved_state(rng: random.Random, folder: Path) -> Case:
    """Journals, tokens, files and messages of agents, and learned state."""
    which = rng.randrange(9)
    base = (
        bases.STATE,
        bases.JOURNAL,
        bases.JOURNAL,
        "0123456789abcdef0123456789abcdef\n",
        '{"stages": 2, "stage": 1}',
        bases.MODEL,
        bases.CLUSTER,
        '{"jobs": [{"job_id": 7}]}',
        "",
    )[which]
    data = bytearray(corrupted(base, rng))
    if not base:
        data = bytearray(Pronto(4).save())
        for _ in range(rng.randint(1, 3)):
            data[rng.randrange(len(data))] = rng.randrange(256)
    file = folder / ("windlass.json" if base == bases.CLUSTER else "kept")
    file.write_bytes(data)
    file.chmod(0o600)
    calls: tuple[Case, ...] = (
        Case(lambda: read_state(file)),
        Case(
            lambda: [read_entry(line) for line in data.decode(errors="replace").split("\n")],
            raises=(ValueError,),
        ),
        Case(lambda: Journal(file).close()),
        Case(lambda: read_token(file, {})),
        Case(lambda: read_progress(file)),
        Case(lambda: read_model(file)),
        Case(lambda: SlurmCluster.load(folder)),
        Case(lambda: read_jobs(data.decode(errors="replace")), raises=(BatchError,)),
        Case(lambda: Pronto.load(bytes(data))),
    )
    return calls[which] if rng.random() < 0.9 else Case(lambda: opened(bytes(data)), refuse=True)
