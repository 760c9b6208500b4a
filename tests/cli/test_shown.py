"""What commands print equals the results, worked out by hand."""

import json
import math
import os
import signal
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from tests.report.made import outcome, results
from windlass.cli import progress, reproduce, slurm, slurm_engine, slurm_log
from windlass.cli.output import note
from windlass.cli.plan import measured, output, solve
from windlass.cli.results_json import results_tree
from windlass.control.slurm.engine import SlurmEngine
from windlass.drive import EngineStoppedError
from windlass.engines.batch.queue_return import QueueReturn
from windlass.engines.batch.status import Contact
from windlass.engines.streams.query_file import QueryFile
from windlass.experiment.runner import Progress
from windlass.jit import Compiling
from windlass.model import BatchError, InputError
from windlass.plan import Plan, PlanView, QueryOptions
from windlass.plan.solve import PlannerResult
from windlass_reproductions import Reproduction, Row


def printed(table):
    console = Console(width=300)
    with console.capture() as text:
        console.print(table)
    lines = text.get().splitlines()
    rows = [line.replace("┃", "│") for line in lines if "│" in line or "┃" in line]
    return [[cell.strip() for cell in row.strip("│").split("│")] for row in rows]


VIEW = PlanView(
    0.0,
    ("cloud.cores", "edge.up", "edge.cores", "edge.down"),
    np.array([4.0, 2e6, 0.0, np.inf]),
    (
        QueryOptions(
            1, "cars", np.array([0.25, 0.9]), np.array([[1.0, 1e6, 0.0, 0.0], [3.0, 5e5, 0.0, 0.0]])
        ),
        QueryOptions(2, "people", np.array([0.5]), np.array([[1.0, 5e5, 0.0, 0.0]])),
    ),
)


def solved_by(policy, choices, merged=False):
    plan = Plan(tuple(choices), tuple(f"{policy} {place}" for place in range(2)), merged)
    return PlannerResult(policy, VIEW, plan, 0.45, 0.7, plan.demand(VIEW))


def test_one_plan_is_shown_with_its_resource_use():
    one = solved_by("best", [1, -1])
    alone, used = output.tables_of([one])
    assert (alone.title, [row[::2] for row in printed(alone)[1:]]) == (
        "best",
        [["cars", "0.9"], ["people", "–"]],
    )
    assert printed(alone)[2][1] == "–"
    assert printed(used)[1:] == [
        ["cloud.cores", "3 cores", "4 cores", "75%"],
        ["edge.up", "4 Mb/s", "16 Mb/s", "25%"],
        ["edge.cores", "0 cores", "0 cores", "–"],
    ]
    assert output.reasons(one) == ["  best: cars: best 0", "  best: people: best 1"]


def test_several_plans_are_shown_side_by_side():
    accuracies, shares = output.tables_of([solved_by("a", [0, 0]), solved_by("b", [1, -1])])
    assert (accuracies.title, shares.title) == ("Accuracy", "Used")
    assert printed(accuracies) == [
        ["query", "a", "b"],
        ["cars", "0.25", "0.9"],
        ["people", "0.5", "–"],
        ["mean", "0.45", "0.45"],
        ["LP bound", "0.7", "0.7"],
    ]
    assert printed(shares)[1:] == [
        ["cloud.cores", "2 cores, 50%", "3 cores, 75%"],
        ["edge.up", "12 Mb/s, 75%", "4 Mb/s, 25%"],
    ]
    assert output._amount("edge.down", np.inf) == "no limit"


def test_a_plan_as_json_has_null_for_no_limit_and_no_choice():
    tree = output.tree_of(solved_by("best", [1, -1], merged=True))
    assert (tree["policy"], tree["mean_accuracy"], tree["lp_bound"], tree["merged"]) == (
        "best",
        0.45,
        0.7,
        True,
    )
    assert [(each["query"], each["accuracy"], each["why"]) for each in tree["queries"]] == [
        ("cars", 0.9, "best 0"),
        ("people", None, "best 1"),
    ]
    assert tree["queries"][1]["configuration"] is None
    assert tree["resources"] == [
        {"resource": "cloud.cores", "used": 3.0, "capacity": 4.0},
        {"resource": "edge.up", "used": 5e5, "capacity": 2e6},
        {"resource": "edge.cores", "used": 0.0, "capacity": 0.0},
    ]


def test_the_summary_counts_queries_that_cannot_run():
    assert solve._summary(solved_by("best", [1, -1])) == (
        "best: mean accuracy 0.45, LP bound 0.7; 1 of 2 cannot run"
    )
    assert solve._summary(solved_by("best", [1, 0], merged=True)) == (
        "best: mean accuracy 0.45, LP bound 0.7, equal work is done once (not in the bound)"
    )


def playback(query, label, undisturbed, accuracy, missed, late, number=1):
    return SimpleNamespace(
        query=query,
        number=number,
        label=label,
        undisturbed=undisturbed,
        planned=0.8,
        accuracy=accuracy,
        missed=missed,
        expected=0.25 if label else float("inf"),
        late=np.array(late, float),
    )


RUN = SimpleNamespace(
    playings=[
        playback("cars", "480p", True, 0.7, 2, [0.1, 0.3]),
        playback("cars", "480p", True, 0.9, 1, [0.2]),
        playback("cars", "480p", False, 0.1, 50, [9.0]),
        playback("cars", "", False, 0.0, 5, []),
    ],
    decisions=[SimpleNamespace(noticed=1.0, at=2.0, upon=("begin",), lines=("cars at 480p",))],
    failures=3,
)


def test_the_measured_table_covers_undisturbed_playbacks():
    late = [0.1, 0.3, 0.2]
    assert printed(measured.measured_table(RUN))[1:] == [
        [
            "cars",
            "480p",
            "2 + 1 disturbed",
            "0.800",
            "0.800",
            "3",
            "0.200 s",
            f"{np.quantile(late, 0.95):.3f} s",
            "0.250 s",
        ],
        ["cars", "nothing", "0 + 1 disturbed", "0.800", "–", "0", "–", "–", "–"],
    ]


def test_measurements_as_json_have_null_for_missing_values():
    tree = measured.tree_of(RUN)
    first, *_, last = tree["playings"]
    assert first == {
        "query": "cars",
        "number": 1,
        "configuration": "480p",
        "undisturbed": True,
        "accuracy_planned": 0.8,
        "accuracy_measured": 0.7,
        "frames_missed": 2,
        "late_expected_s": 0.25,
        "late_mean_s": pytest.approx(0.2),
        "late_p95_s": pytest.approx(0.29),
        "late_most_s": 0.3,
    }
    assert last["late_expected_s"] == math.inf
    assert [last[name] for name in ("late_mean_s", "late_p95_s", "late_most_s")] == [None] * 3
    assert tree["decisions"] == [{"noticed_s": 1.0, "at_s": 2.0, "upon": ["begin"], "plan": ["cars at 480p"]}]
    assert tree["failures"] == 3


def test_a_changed_query_file_is_read_again(tmp_path):
    file, reports, reads = tmp_path / "q.yaml", [], []
    file.write_text("a")

    def read():
        text = file.read_text()
        reads.append(text)
        if text == "broken":
            raise InputError("no such plan")
        return (text,)

    watched = QueryFile(file, read, reports.append)
    assert (watched(0.0), watched(1.0), reads) == (("a",), ("a",), ["a"])
    file.write_text("other")
    assert (watched(2.0), watched(3.0)) == (("other",), ("other",))
    file.write_text("broken")
    assert (watched(4.0), watched(5.0), reads) == (("other",), ("other",), ["a", "other", "broken"])
    assert reports == ["no such plan; the queries stay unchanged"]
    file.unlink()
    assert watched._stamp() == (0, 0)


def test_results_as_json_have_means_and_each_seed():
    made = results(
        ("easy", [outcome([0.0, 0.0], [0.0, wait], [10.0, 10.0], seed=int(wait)) for wait in (2.0, 4.0)]),
        as_run="seeds: [2, 4]",
    )
    tree = results_tree(made, {"best": "easy"})
    assert (tree["scenario"], tree["verdict"]) == ({"seeds": [2, 4]}, {"best": "easy"})
    (variant,) = tree["variants"]
    assert (variant["name"], variant["policies"]) == ("easy", {"order": "easy"})
    assert variant["metrics"]["mean_wait_s"] == 1.5
    assert [(each["seed"], each["mean_wait_s"]) for each in variant["seeds"]] == [(2, 1), (4, 2)]
    assert variant["ci95_half_width"]["mean_wait_s"] == pytest.approx(12.706 * 0.5, rel=1e-3)
    lone = results_tree(results(("easy", [outcome([0.0], [0.0], [10.0])])))
    assert math.isnan(lone["variants"][0]["ci95_half_width"]["mean_wait_s"])


def test_the_progress_bar_shows_the_cell_and_its_progress(monkeypatch):
    updates = []

    class Bar:
        def __init__(self, *_, **__):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        def add_task(self, name, total):
            return 7

        def update(self, task, **captured):
            updates.append((task, captured))

    monkeypatch.setattr(progress, "Progress", Bar)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with progress.run_progress() as bar:
        bar.running(Progress("easy", 3, 1.5, 4))
        bar.running(Progress("", 0, 4, 4))
        bar.compiling(Compiling("place", 2, 5))
    assert updates == [
        (7, {"description": "easy, seed 3", "completed": 1.5, "total": 4}),
        (7, {"description": "done", "completed": 4, "total": 4}),
        (
            7,
            {
                "description": "compiling for this machine (first use only): 2 of 5 functions",
                "completed": 2,
                "total": 5,
            },
        ),
    ]
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    with progress.run_progress() as bar:
        assert bar == progress.ProgressCallbacks(None, None)


@pytest.mark.parametrize("as_json", [True, False])
@pytest.mark.parametrize("out", [True, False])
def test_a_reproduction_is_printed_and_saved_on_request(monkeypatch, tmp_path, capsys, as_json, out):
    calls = []

    def make(quick, notify):
        calls.append(quick)
        print("a warning")
        notify("half of it", 0.5)
        return Reproduction((Row("what", 1.0, 2.0, False, "why"),))

    paper = SimpleNamespace(name="made", title="Made", reproduce=make)
    monkeypatch.setattr(reproduce.reproductions(), "find_paper", lambda name: paper)
    folder = tmp_path / "pages"
    reproduce.reproduce_command("made", quick=True, out=folder if out else None, as_json=as_json)
    captured = capsys.readouterr()
    assert calls == [True]
    assert "a warning" in captured.err
    assert "a warning" not in captured.out
    row = {"what": "what", "paper": 1.0, "ours": 2.0, "holds": False, "note": "why"}
    if as_json:
        assert json.loads(captured.out) == [row]
    else:
        assert "Made" in captured.out
        assert all(cell in captured.out for cell in ("what", "why", "no"))
    assert (f"made.html and made.json are in {folder}" in captured.err) is out
    assert folder.exists() is out
    if out:
        assert json.loads((folder / "made.json").read_text()) == [row]


def test_conflicting_engine_options_of_reproduce_are_rejected(monkeypatch):
    with pytest.raises(InputError, match="--on: --engine is also given"):
        reproduce.reproduce_command("asax", quick=True, out=None, as_json=False, engine="slurm", on="ray")
    with pytest.raises(InputError, match="--slurm: --engine ray is also given"):
        reproduce.engine_of("ray", slurm=True)
    assert [
        reproduce.engine_of(*pair[:1], slurm=pair[1])
        for pair in (("slurm", True), ("ray", False), (None, False))
    ] == [
        "slurm",
        "ray",
        None,
    ]


@pytest.fixture
def on_slurm(windlass, monkeypatch):
    """Run a command on a Slurm stub; return its output and the recorded calls."""
    kept = []

    class StubClient(str):
        """A client that only has a name."""

        contact, run = Contact(), None

    def client(conf, patience, notify=slurm.log_line):
        kept.append((conf, patience))
        return StubClient("client")

    monkeypatch.setattr(slurm, "client_of", client)
    monkeypatch.setattr(slurm_log, "client_of", client)
    for name, answer in (
        ("driver.plan_slurm", ["job 1 would start"]),
        ("driver.give_back", QueueReturn((3, 4))),
        ("cluster.down", ["cancelled"]),
        (
            "cluster.up",
            (SimpleNamespace(accounting=True, nodes=3, cpus=5, folder="f", export="export X=1"), False),
        ),
    ):

        def take(*given, answer=answer):
            kept.append(given)
            return answer

        monkeypatch.setattr(f"windlass.engines.slurm.{name}", take)
    monkeypatch.setattr("windlass.engines.slurm.settings.cluster_name", lambda client: f"of {client}")
    monkeypatch.setattr(
        "windlass.engines.slurm.settings.default_journal", lambda name: Path(f"{name}.journal")
    )

    def call(*arguments):
        kept.clear()
        return windlass("slurm", *arguments), list(kept)

    return call


def test_slurm_drive_passes_its_options_on(on_slurm, monkeypatch):
    driven = []
    monkeypatch.setattr(
        slurm_engine, "run_slurm", lambda read, *given, **words: driven.append((read(), *given, words))
    )
    (status, _, err), (client,) = on_slurm("drive", "--policies", "order=easy")
    ((settings, first, say, metrics, words),) = driven
    assert (status, err, client, first, say) == (0, "", (None, 300.0), "client", slurm.log_line)
    assert (metrics, words, settings.book, settings.conf) == (None, {}, None, None)
    assert {key: policy.name for key, policy in settings.made().items()} == {"order": "easy"}
    assert (settings.patience, settings.keep_held, settings.checkpoint) == (300.0, False, 5.0)
    # A Slurm that stays away ends the command.
    assert settings.gives_up
    options = settings.options
    assert (options.pace, options.until_idle, options.partition) == (0.25, False, None)
    more = (
        "--until-idle",
        "--keep-held",
        "--partition",
        "p",
        "--journal",
        "j",
        "--conf",
        "c",
        "--checkpoint",
        "2",
        "--log",
        "json",
        "--metrics",
        "9091",
    )
    _, (client,) = on_slurm(
        "drive", "--policies", "easy,share=pairs(budget=0.2)", *more, "--look", "1", "--patience", "9"
    )
    settings, _, say, metrics, words = driven[1]
    assert (client, say, words) == ((Path("c"), 9.0), slurm.log_json, {"report": slurm.log_json})
    made = settings.made()
    assert (made["order"].name, made["share"].budget, metrics.port) == ("easy", 0.2, 9091)
    assert (settings.book, settings.conf, settings.patience) == (Path("j"), Path("c"), 9.0)
    assert (settings.keep_held, settings.checkpoint) == (True, 2.0)
    options = settings.options
    assert (options.pace, options.until_idle, options.partition) == (1.0, True, "p")


def test_a_dry_run_on_slurm_changes_nothing(on_slurm):
    (_, out, _), kept = on_slurm("drive", "--policies", "order=easy", "--dry-run")
    assert out == "job 1 would start\nNothing was changed.\n"
    assert len(kept) == 2
    (status, _, err), kept = on_slurm("drive", "--policies", "order=easy", "--checkpoint", "3")
    assert (status, kept) == (2, [])
    assert "--checkpoint: has no effect here" in err
    for option in (["--metrics", "9091"], ["--log", "json"]):
        (status, _, err), kept = on_slurm("drive", "--policies", "order=easy", "--dry-run", *option)
        assert (status, kept) == (2, [])
        assert option[0] in err
    (status, _, err), kept = on_slurm("drive", "--policies", "order=easy", "--metrics", "here:x")
    assert (status, kept) == (2, [])
    assert "--metrics is 'here:x', expected an IP address and a port" in err


@pytest.mark.parametrize(("left", "expected"), [(0, 0), (3, 1)])
def test_after_sigterm_the_status_of_slurm_drive_is_0_unless_jobs_stay_held(
    on_slurm, monkeypatch, left, expected
):
    def terminated(engine, journal, stop):
        engine._new_status().left_held = left
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop.wait(60.0)
        if left:
            raise BatchError("stopped, and jobs may still be held")
        raise EngineStoppedError("stopped on request")

    monkeypatch.setattr(SlurmEngine, "run", terminated)
    status, _, err = on_slurm("drive", "--policies", "order=easy")[0]
    assert (status, err) == (expected, "windlass: interrupted; running jobs continue\n")
    status, _, err = on_slurm("drive", "--policies", "order=easy", "--log", "json")[0]
    assert json.loads(err)["message"] == "interrupted; running jobs continue"


def test_slurm_give_back_passes_its_options_on(on_slurm):
    (_, out, _), (client, (first, journal, options, warn)) = on_slurm("give-back", "--partition", "p")
    assert (out, client, first, warn) == ("released: 3, 4\n", (None, 60.0), "client", note)
    assert (journal, options.partition) == (Path("of client.journal"), "p")
    _, (_, (_, journal, options, _)) = on_slurm("give-back", "--journal", "j")
    assert (journal, options.partition) == (Path("j"), None)


def test_slurm_give_back_prints_the_jobs_that_stay_held(on_slurm, monkeypatch):
    def answers(found):
        monkeypatch.setattr("windlass.engines.slurm.driver.give_back", lambda *given: found)
        return on_slurm("give-back")[0]

    assert answers(QueueReturn((3,), {4: "denied for job 4", 5: "denied for job 5"})) == (
        1,
        "released: 3\n",
        "windlass: jobs 4, 5 stay held: denied\n",
    )
    assert answers(QueueReturn()) == (0, "no job is held for Windlass\n", "")


def test_slurm_up_passes_its_options_on(on_slurm, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    (_, out, err), (given,) = on_slurm("up")
    assert given == (Path("/cache/windlass/slurm"), 4, 2, False)
    assert out == "export X=1\n"
    assert err == "Slurm is already running: 3 nodes of 5 CPUs, with accounting, in f\n"
    _, (given,) = on_slurm("up", "--nodes", "7", "--cpus", "1", "--dir", "/own", "--accounting")
    assert given == (Path("/own"), 7, 1, True)
    (_, out, _), (given,) = on_slurm("down")
    assert (out, given) == ("cancelled\n", (Path("/cache/windlass/slurm"),))


@pytest.mark.parametrize("duplicates", [True, False])
def test_the_log_of_slurm_is_written(on_slurm, monkeypatch, duplicates):
    monkeypatch.setattr(
        "windlass.engines.slurm.log.read_log",
        lambda client, all_: SimpleNamespace(jobs=[1, 2], left_out=3 if all_ else 4),
    )
    monkeypatch.setattr("windlass.engines.slurm.log.read_site", lambda client: f"site of {client}")
    monkeypatch.setattr(
        "windlass.engines.slurm.log.write_log", lambda jobs, table, site: table.write(f"{jobs} {site}\n")
    )
    more = ["--duplicates"] if duplicates else []
    (_, out, err), _ = on_slurm("log", *more)
    assert out == "[1, 2] site of client\n"
    captured = "2 runs; 3 records of jobs that never ran are left out\n"
    assert err.endswith(
        captured if duplicates else "2 jobs; 4 records of jobs that never ran or ran again are left out\n"
    )
    (_, out, _), _ = on_slurm("log", "--out", "log.csv")
    assert (out, Path("log.csv").read_text()) == ("", "[1, 2] site of client\n")


@pytest.mark.parametrize("error", [BatchError("no nodes"), InputError("no nodes")])
def test_the_log_of_slurm_is_written_without_the_size_of_its_site(on_slurm, monkeypatch, error):
    def read_site(client):
        raise error

    monkeypatch.setattr(
        "windlass.engines.slurm.log.read_log", lambda client, all_: SimpleNamespace(jobs=[1], left_out=0)
    )
    monkeypatch.setattr("windlass.engines.slurm.log.read_site", read_site)
    monkeypatch.setattr(
        "windlass.engines.slurm.log.write_log", lambda jobs, table, site: table.write(f"{site}\n")
    )
    (status, out, err), _ = on_slurm("log")
    assert (status, out) == (0, "None\n")
    assert "the size of the site is left out, pass --procs to windlass run: no nodes\n" in err
