"""Each command passes its options, with their documented defaults, to the function that does the work."""

import inspect
import math
from pathlib import Path

import pytest

import windlass.cli.admit
import windlass.cli.cluster
import windlass.cli.forecast
import windlass.cli.place
import windlass.cli.plan.clip
import windlass.cli.plan.profile
import windlass.cli.plan.run
import windlass.cli.plan.solve
import windlass.cli.reproduce
import windlass.cli.run
from windlass.cli import inspect as inspect_module
from windlass.cli.answer import AnswerOptions
from windlass.cli.overrides import Overrides
from windlass.engines.targets import Target
from windlass.experiment.experiment import Workers as By
from windlass.plan.profile.traffic.scene import Traffic


@pytest.fixture
def passed_arguments(windlass, monkeypatch):
    """Run a command; return the arguments that it passes to a function, by parameter name."""

    def call(module, name, *arguments):
        kept = []
        real = inspect.signature(getattr(module, name))

        def take(*given, **more):
            bound = real.bind(*given, **more)
            bound.apply_defaults()
            kept.append(bound.arguments)

        with monkeypatch.context() as patched:
            patched.setattr(module, name, take)
            status, _, err = windlass(*arguments)
        assert status == 0, err
        (found,) = kept
        return dict(found)

    return call


RUN = {
    "target": None,
    "overrides": Overrides(None, None, None, None, False, False, None, ()),
    "code": True,
    "by": By(1, None, 1),
    "out": None,
    "report": None,
    "as_json": False,
    "live": None,
    "dry_run": False,
    "force": False,
    "resume": False,
    "answer": AnswerOptions(None, None, True, False, False),
}


@pytest.mark.parametrize(
    ("arguments", "changed"),
    [
        ([], {}),
        (
            [
                "log.swf",
                "--procs",
                "64",
                "--policies",
                "easy",
                "--seeds",
                "1-3",
                "--where",
                "run > 1",
                "--format",
                "swf",
                "--set",
                "a=1",
                "--set",
                "b=2",
                "--jobs",
                "3",
            ],
            {
                "target": "log.swf",
                "overrides": Overrides("64", "easy", "1-3", "run > 1", False, False, "swf", ("a=1", "b=2")),
                "by": By(3, None, 1),
            },
        ),
        (
            ["--no-kill", "--on", "ray", "--nodes", "2", "--out", "o", "--force"],
            {
                "overrides": Overrides(None, None, None, None, True, False, None, ()),
                "by": By(1, "ray", 2),
                "out": Path("o"),
                "force": True,
            },
        ),
        (
            ["--skip-bad-lines", "--out", "o", "--resume", "--no-code"],
            {
                "overrides": Overrides(None, None, None, None, False, True, None, ()),
                "out": Path("o"),
                "resume": True,
                "code": False,
            },
        ),
        (
            ["--report", "r.html", "--json", "--by", "p99_wait", "--require", "max_wait<2d"],
            {
                "report": Path("r.html"),
                "as_json": True,
                "answer": AnswerOptions("p99_wait", "max_wait<2d", True, False, False),
            },
        ),
        (["--no-check", "--csv"], {"answer": AnswerOptions(None, None, False, True, False)}),
        (["--wide"], {"answer": AnswerOptions(None, None, True, False, True)}),
        (["--engine", "ray"], {"live": Target("ray", None, 1, True)}),
        (
            ["--engine", "ray", "--nodes", "2", "--dry-run"],
            {"live": Target("ray", None, 2, True), "by": By(1, None, 2), "dry_run": True},
        ),
        (
            ["--engine", "ray", "--address", "127.0.0.1:6379", "--real-links"],
            {"live": Target("ray", "127.0.0.1:6379", 1, False)},
        ),
    ],
)
def test_run_passes_its_options_on(passed_arguments, arguments, changed):
    assert passed_arguments(windlass.cli.run, "run_command", "run", *arguments) == RUN | changed


@pytest.mark.parametrize(
    ("arguments", "changed"),
    [
        ([], {}),
        (
            ["--procs", "8", "--skip-bad-lines", "--format", "swf", "--json"],
            {"procs": 8, "skip_bad_lines": True, "format_": "swf", "as_json": True},
        ),
    ],
)
def test_trace_passes_its_options_on(passed_arguments, arguments, changed):
    found = passed_arguments(inspect_module, "trace_command", "trace", "a.log", *arguments)
    names = list(found)
    expected = [Path("a.log"), changed.get("procs"), changed.get("skip_bad_lines", False)]
    expected += [changed.get("format_"), (), changed.get("as_json", False)]
    assert [found[name] for name in names] == expected


def test_list_passes_its_options_on(windlass, monkeypatch):
    called, module = [], inspect_module
    monkeypatch.setattr(module, "list_command", lambda *given, **more: called.append((given, more)))
    assert windlass("list")[0] == 0
    assert windlass("list", "backfilling", "--decision", "order.site", "--json")[0] == 0
    assert called == [
        ((None, None), {"as_json": False}),
        (("backfilling", "order.site"), {"as_json": True}),
    ]


def test_place_passes_its_options_on(passed_arguments):
    place = windlass.cli.place
    assert list(passed_arguments(place, "place_command", "place", "j.yaml").values()) == [
        Path("j.yaml"),
        None,
        False,
        False,
    ]
    found = passed_arguments(place, "place_command", "place", "j.yaml", "--cluster", "c.yaml", "--explain")
    assert list(found.values()) == [Path("j.yaml"), Path("c.yaml"), True, False]
    assert passed_arguments(place, "place_command", "place", "j.yaml", "--json")["as_json"] is True


def test_forecast_passes_its_options_on(passed_arguments):
    module = windlass.cli.forecast
    found = passed_arguments(module, "forecast_command", "forecast", "s.csv", "--freq", "10min")
    minute, day = 60.0, 86_400.0
    models = ("naive", "seasonal-naive", "ses", "nlinear", "dlinear")
    options = module.ForecastOptions(
        Path("s.csv"), "csv", (), models, 10 * minute, (day, 7 * day), 28 * day, 20 * minute
    )
    assert list(found.values()) == [options, False, None]
    more = ("--season", "1h", "--models", "ses, ets", "--test", "2d", "--launch", "5min", "--columns", "a,b")
    found = passed_arguments(
        module, "forecast_command", "forecast", "s.csv", "--freq", "1min", *more, "--format", "helios", "--json",
        "--report", "r.html",
    )  # fmt: skip
    options = module.ForecastOptions(
        Path("s.csv"), "helios", ("a", "b"), ("ses", "ets"), minute, (60 * minute,), 2 * day, 5 * minute
    )
    assert list(found.values()) == [options, True, Path("r.html")]


def test_cluster_from_wan_passes_its_options_on(passed_arguments):
    module = windlass.cli.cluster
    given = ("cluster", "from-wan", "t.csv", "--regions", "a,b", "--out", "c.yaml")
    found = passed_arguments(module, "from_wan_command", *given)
    assert list(found.values()) == [Path("t.csv"), "a,b", Path("c.yaml"), "100", 1.0, None]
    more = ("--slots", "7", "--machines", "2", "--prices", "p.csv")
    found = passed_arguments(module, "from_wan_command", *given, *more)
    assert list(found.values()) == [Path("t.csv"), "a,b", Path("c.yaml"), "7", 2.0, Path("p.csv")]


def test_admit_evaluate_passes_its_options_on(passed_arguments):
    module = windlass.cli.admit
    found = passed_arguments(module, "evaluate_command", "admit", "evaluate", "a.parquet", "b.npz")
    options = module.EvaluationOptions("cpu_ready", "p95", module.shares("5%,10%"), 10, seed=1)
    assert list(found.values()) == [[Path("a.parquet"), Path("b.npz")], options, None, False, None]
    more = (
        "--spikes",
        "busy",
        "--threshold",
        "0.5",
        "--downtime",
        "2%",
        "--before",
        "c.parquet",
        "--within",
        "3",
    )
    more += ("--seed", "4", "--json", "--report", "r.html")
    found = passed_arguments(module, "evaluate_command", "admit", "evaluate", "a.parquet", *more)
    options = module.EvaluationOptions("busy", "0.5", module.shares("2%"), 3, seed=4)
    assert list(found.values()) == [[Path("a.parquet")], options, Path("c.parquet"), True, Path("r.html")]


def test_reproduce_passes_its_options_on(passed_arguments):
    module = windlass.cli.reproduce
    base = {"name": "asax", "quick": False, "out": None, "as_json": False, "engine": None, "on": None}
    assert passed_arguments(module, "reproduce_command", "reproduce", "asax") == base
    more = ("--quick", "--out", "o", "--json", "--engine", "slurm", "--on", "ray")
    changed = {"quick": True, "out": Path("o"), "as_json": True, "engine": "slurm", "on": "ray"}
    assert passed_arguments(module, "reproduce_command", "reproduce", "asax", *more) == base | changed
    assert passed_arguments(module, "reproduce_command", "reproduce", "asax", "--slurm")["engine"] == "slurm"


def test_plan_solve_passes_its_options_on(passed_arguments):
    module = windlass.cli.plan.solve
    given = ("plan", "solve", "q.yaml", "--cluster", "c.yaml")
    base = {
        "queries": Path("q.yaml"),
        "cluster": Path("c.yaml"),
        "policies": ("refined",),
        "seed": 1,
        "explain": False,
        "as_json": False,
    }
    assert passed_arguments(module, "solve_command", *given) == base
    more = ("--policy", "cascade, fair", "--explain", "--seed", "3")
    changed = {"policies": ("cascade", "fair"), "explain": True, "seed": 3}
    assert passed_arguments(module, "solve_command", *given, *more) == base | changed
    assert passed_arguments(module, "solve_command", *given, "--json") == base | {"as_json": True}


def test_plan_profile_passes_its_options_on(passed_arguments):
    module = windlass.cli.plan.profile
    given = ("plan", "profile", "p.yaml", "c.mp4", "--truth", "t.csv")
    paths = Path("p.yaml"), Path("c.mp4"), Path("t.csv")
    found = passed_arguments(module, "profile_command", *given)
    assert list(found.values()) == [
        module.ProfileOptions(*paths, 900_000_000, False, Path("profile.parquet"), None, None),
        False,
    ]
    more = ("--cache", "2MB", "--out", "o.parquet", "--report", "r.html", "--alone", "--json")
    found = passed_arguments(module, "profile_command", *given, *more, "--keep-within", "0.05")
    assert list(found.values()) == [
        module.ProfileOptions(*paths, 2_000_000, True, Path("o.parquet"), Path("r.html"), 0.05),
        True,
    ]
    found = passed_arguments(module, "profile_command", *given[:4])
    assert next(iter(found.values())).truth is None


def test_plan_clip_passes_its_options_on(passed_arguments):
    module = windlass.cli.plan.clip
    given = ("plan", "clip", "o.mp4", "--truth", "t.csv")
    found = passed_arguments(module, "clip_command", *given)
    traffic = Traffic(1, 10.0, "clear", 1.0, 1280, 720, 30.0)
    assert list(found.values()) == [traffic, Path("o.mp4"), Path("t.csv")]
    more = ("--seed", "2", "--seconds", "3", "--weather", "rain", "--density", "0.5", "--size", "640x360")
    found = passed_arguments(module, "clip_command", *given, *more, "--rate", "10")
    assert next(iter(found.values())) == Traffic(2, 3.0, "rain", 0.5, 640, 360, 10.0)


def test_plan_run_passes_its_options_on(passed_arguments):
    module = windlass.cli.plan.run
    given = ("plan", "run", "q.yaml", "--cluster", "c.yaml")
    base = {
        "queries": Path("q.yaml"),
        "cluster": Path("c.yaml"),
        "policy": "refined",
        "where": module.Where("ray", None, 1, True),
        "seconds": math.inf,
        "seed": 1,
        "as_json": False,
        "dry_run": False,
    }
    assert passed_arguments(module, "run_command", *given) == base
    more = ("--policy", "fair", "--nodes", "3", "--real-links", "--seconds", "9", "--seed", "4", "--json")
    changed = {"policy": "fair", "where": module.Where("ray", None, 3, False), "seconds": 9.0, "seed": 4}
    assert passed_arguments(module, "run_command", *given, *more) == base | changed | {"as_json": True}
    found = passed_arguments(
        module, "run_command", *given, "--address", "h:1", "--engine", "other", "--dry-run"
    )
    assert found == base | {"where": module.Where("other", "h:1", 1, True), "dry_run": True}
