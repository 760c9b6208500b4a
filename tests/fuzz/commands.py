"""Cases for scenarios, options, policies, and commands with other input files."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from tests.fuzz import bases
from tests.fuzz.case import Case, write_corrupted
from tests.fuzz.nasty import VALUES, WORDS, at, corrupted, dumped, numbers, places, put, without
from windlass.experiment.scenario import load_scenario


def trace(rng: random.Random, folder: Path) -> Case:
    name = rng.choice(sorted(bases.LOGS))
    file = write_corrupted(
        folder, rng, bases.LOGS[name], f"log-{rng.choice(('a', '[red]', chr(27), chr(8238)))}.swf"
    )
    return Case(
        command=("trace", file.name, "--format", name, *rng.choice(((), ("--json",), ("--skip-bad-lines",))))
    )


def _scenario(rng: random.Random, folder: Path, worlds: tuple[str, ...]) -> tuple[Path, bool]:
    """A corrupted scenario, and whether it must be rejected."""
    tree: Any = bases.SCENARIOS[rng.choice(worlds)]
    file = folder / "s.yaml"
    how = rng.randrange(6)
    if how == 0:
        file.write_bytes(corrupted(dumped(tree), rng))
        return file, False
    if how == 1:
        file.write_text(dumped(put(tree, rng.choice(numbers(tree)), rng.random() < 0.5)), encoding="utf-8")
        return file, True
    if how == 2:
        mappings = [
            (),
            *(path for path in places(tree) if isinstance(at(tree, path), dict) and "input" not in path),
        ]
        path = rng.choice([path for path in mappings if "policies" not in path])
        file.write_text(dumped(put(tree, path, at(tree, path) | {"no_such": 1})), encoding="utf-8")
        return file, True
    if how == 3:
        key = rng.choice(sorted(tree))
        file.write_text(dumped(tree) + dumped({key: tree[key]}), encoding="utf-8")
        return file, True
    path = rng.choice(places(tree))
    changed = without(tree, path) if how == 4 else put(tree, path, rng.choice(VALUES))
    file.write_text(dumped(changed), encoding="utf-8")
    return file, False


def read_scenario(rng: random.Random, folder: Path) -> Case:
    file, refuse = _scenario(rng, folder, tuple(bases.SCENARIOS))

    def read() -> None:
        scenario = load_scenario(file)
        for variant in scenario.variants[:2]:
            scenario.world.kernels(variant.setting)
            scenario.world.workload(variant.setting, scenario.seeds[0])

    return Case(read, refuse=refuse)


def run_scenario(rng: random.Random, folder: Path) -> Case:
    file, refuse = _scenario(rng, folder, ("batch",))
    return Case(command=("run", file.name, "--json", "--no-check"), refuse=refuse)


_OPTIONS = (
    "--procs",
    "--policies",
    "--seeds",
    "--where",
    "--format",
    "--jobs",
    "--out",
    "--report",
    "--by",
    "--require",
)


def options(rng: random.Random, folder: Path) -> Case:
    (folder / "log.swf").write_text(bases.SWF, encoding="utf-8")
    given: list[str] = []
    for option in rng.sample(_OPTIONS, rng.randint(1, 3)):
        word = rng.choice(WORDS).replace("\0", "0").replace("\ud800", "")
        # Do not start many processes, and write no file outside the folder.
        if option in ("--jobs", "--out", "--report"):
            word = {"--jobs": "999999999"}.get(option, f"no/{word}")
        given += [option, word]
    return Case(command=("run", "log.swf", *given))


def invalid_options(rng: random.Random, folder: Path) -> Case:
    (folder / "log.swf").write_text(bases.SWF, encoding="utf-8")
    options = rng.choice(
        (("--procs", "0"), ("--procs", "x"), ("--seeds", "1-x"), ("--seeds", "2-1"), ("--policies", "none-such"),
         ("--policies", "./none.py"), ("--where", "user ="), ("--format", "none"), ("--jobs", "0"), ("--jobs", "9" * 9),
         ("--by", "none"), ("--require", "none"), ("--nodes", "2"), ("--address", "x"), ("--wide", "--json"),
         ("--json", "--csv"), ("--force",), ("--resume",), ("--dry-run",), ("--engine", "none"), ("--none",),
         ("--seeds", "1-999999999"), ("--out", "log.swf"), ("--report", "log.swf"), ("--report", "no/such/r.html"),
         ("--no-code", "--policies", "./mine.py"))
    )  # fmt: skip
    return Case(command=("run", "log.swf", *options), refuse=True)


def policy(rng: random.Random, folder: Path) -> Case:
    (folder / "mine.py").write_text(bases.POLICY.replace("DEED", rng.choice(bases.DEEDS)), encoding="utf-8")
    (folder / "log.swf").write_text(bases.SWF, encoding="utf-8")
    return Case(command=("run", "log.swf", "--policies", "./mine.py", "--json", "--no-check"), refuse=True)


def policy_file(rng: random.Random, folder: Path) -> Case:
    (folder / "mine.py").write_bytes(corrupted(bases.GOOD, rng))
    (folder / "log.swf").write_text(bases.SWF, encoding="utf-8")
    return Case(command=("run", "log.swf", "--policies", "./mine.py", "--json", "--no-check"))


def commands(rng: random.Random, folder: Path) -> Case:
    texts = {
        "job.yaml": bases.PLACED,
        "q.yaml": bases.QUERIES,
        "h.yaml": bases.HIERARCHY,
        "w.csv": bases.TABLES["wan"],
        "s.csv": bases.SERIES,
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    spoil = rng.choice(sorted(texts))
    (folder / spoil).write_bytes(corrupted(texts[spoil], rng))
    if spoil == "w.csv":
        return Case(command=("cluster", "from-wan", "w.csv", "--regions", "aws:a,aws:b", "--out", "o.yaml"))
    if spoil == "s.csv":
        options = ("--freq", "10min", "--season", "1h", "--test", "1h", "--models", "naive,seasonal-naive")
        return Case(command=("forecast", "s.csv", *options, "--launch", "10min"))
    if spoil == "job.yaml":
        return Case(command=("place", "job.yaml", *rng.choice(((), ("--json",), ("--explain",)))))
    return Case(command=("plan", "solve", "q.yaml", "--cluster", "h.yaml", "--policy", "fair"))
