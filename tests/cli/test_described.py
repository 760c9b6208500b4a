"""Logs, placements and admission in numbers, worked out by hand."""

import json
import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from windlass.cli import explain, inspect, place
from windlass.cli.admit import output
from windlass.experiment import placement
from windlass.experiment.workloads.description import describe_log
from windlass.experiment.workloads.load import offered_load
from windlass.model import JobTable
from windlass.model.calendar import Calendar


def describe(submit, run, procs, request, processors=8, records=9, bad=2):
    jobs = JobTable.of(submit, run, procs, request)
    trace = SimpleNamespace(name="log", records=[0] * records, bad_lines=[0] * bad)
    return describe_log(trace, SimpleNamespace(jobs=jobs, processors=processors, notes=(), calendar=None))


def test_the_summary_of_a_log_matches_its_jobs():
    found = describe([100.0, 200.0, 500.0], [50.0, 0.0, 100.0], [1, 4, 2], [100.0, 10.0, 90.0])
    assert (found.name, found.records, found.bad_lines, found.jobs, found.processors) == ("log", 9, 2, 3, 8)
    assert (found.first_submit_s, found.last_submit_s, found.mean_interarrival_s) == (100.0, 500.0, 200.0)
    assert found.serial_share == pytest.approx(1 / 3)
    assert (found.mean_procs, found.largest_procs) == (pytest.approx(7 / 3), 4)
    assert (found.mean_run_s, found.median_run_s, found.longest_run_s) == (50.0, 50.0, 100.0)
    # A job that does not run has no ratio; one job runs longer than requested.
    assert found.mean_request_over_run == pytest.approx((2.0 + 0.9) / 2)
    assert found.over_request == 1
    assert found.load == pytest.approx(
        offered_load(
            JobTable.of([100.0, 200.0, 500.0], [50.0, 0.0, 100.0], [1, 4, 2], [100.0, 10.0, 90.0]), 8
        )
    )


def test_the_load_of_a_log_of_one_instant_is_zero():
    found = describe([5.0, 5.0], [0.0, 0.0], [1, 1], [1.0, 1.0])
    assert (found.load, found.mean_interarrival_s, found.mean_request_over_run) == (0.0, 0.0, 0.0)
    alone = describe([5.0], [10.0], [1], [20.0])
    assert (alone.mean_interarrival_s, alone.mean_request_over_run, alone.serial_share) == (0.0, 2.0, 1.0)


@pytest.mark.parametrize("as_json", [True, False])
def test_notes_and_at_most_20_bad_lines_are_printed(monkeypatch, capsys, as_json):
    bad = [inspect_bad(line) for line in range(1, 24)]
    trace = SimpleNamespace(name="log", records=[0], bad_lines=bad)
    jobs = JobTable.of([0.0, 1000.0], [50.0, 50.0], [1, 2], [60.0, 60.0])
    workload = SimpleNamespace(jobs=jobs, processors=1500, notes=("two jobs left out",), calendar=None)
    calls = []
    monkeypatch.setattr(inspect, "read_trace", lambda *given: calls.append(given) or trace)
    monkeypatch.setattr(inspect, "to_workload", lambda *given: calls.append(given[1:]) or workload)
    monkeypatch.setattr(
        inspect, "asdict", lambda thing: {"line": thing.line} if hasattr(thing, "line") else vars_of(thing)
    )
    inspect.trace_command(Path("a.log"), 7, True, "swf", as_json=as_json)
    assert calls == [(Path("a.log"), "swf", True, {}), (7,)]
    out = capsys.readouterr().out
    if as_json:
        tree = json.loads(out)
        assert (tree["jobs"], tree["notes"], len(tree["bad"])) == (2, ["two jobs left out"], 23)
        return
    assert "note: two jobs left out" in out
    assert "1,500" in out
    assert "line 20: wrong 20" in out
    assert "line 21" not in out


def vars_of(thing):
    return {name: getattr(thing, name) for name in thing.__dataclass_fields__}


def inspect_bad(line):
    return SimpleNamespace(line=line, reason=f"wrong {line}")


@pytest.mark.parametrize(("as_json", "explained"), [(False, False), (False, True), (True, False)])
def test_a_placement_lists_its_transfers(monkeypatch, capsys, as_json, explained):
    moves = tuple((f"s{number}", "here", 1e6 * (number + 1)) for number in range(6))
    stage = placement.StageAnswer(
        1, "map", {"here": 1200, "s0": 3}, moves, 1.5, 2500.0, 0.25, ("links limit",)
    )
    answer = placement.JobAnswer("made", (stage,), 2501.5, 21e6, 0.25)
    monkeypatch.setattr(place, "read_job", lambda job, cluster: (job, cluster))
    monkeypatch.setattr(place, "place_job", lambda job, fleet: answer)
    place.place_command(Path("j"), Path("c"), explain=explained, as_json=as_json)
    out = capsys.readouterr().out
    if as_json:
        tree = json.loads(out)
        assert (tree["total_s"], tree["moved_bytes"], tree["stages"][0]["tasks"]) == (
            2501.5,
            21e6,
            {"here": 1200, "s0": 3},
        )
        return
    text = " ".join(out.replace("│", " ").split())
    assert "Stage 1, map" in text
    assert "1,200" in text
    assert "from s3" in text
    assert "from s4" not in text
    assert "and 2 more" in text
    assert "transfer 1.5 s, then compute 2,500 s" in text
    assert ("links limit" in text) is explained
    assert text.startswith("made: 2,502 s, 21 MB between sites, 0.25 USD of egress Stage 1, map ")
    assert "21 MB between sites" in text


def judged(
    label,
    downtime,
    recall=0.5,
    up=0.2,
    ahead=0.3,
    onsets=4,
    leads=(1, 5, 9),
    hits=(True, True, False),
    nodes=2,
):
    quality = SimpleNamespace(
        downtime=up,
        recall=recall,
        by_chance=0.25,
        shifted=0.125,
        ahead=ahead,
        precision=0.75,
        lead=2.5,
        left=3,
        right=1,
        onsets=onsets,
    )
    intervals = SimpleNamespace(recall=(0.4, 0.6), by_shift=0.0625, over_shifted=(-0.1, 0.2), lift=(1.0, 2.0))
    each = [
        SimpleNamespace(downtime=0.1 * (n + 1), recall=0.2 * (n + 1), by_chance=0.1, onsets=onsets)
        for n in range(nodes)
    ]
    return SimpleNamespace(
        candidate=SimpleNamespace(label=label, downtime=downtime),
        quality=quality,
        intervals=intervals,
        leads=np.array(leads),
        hits=np.array(hits),
        each=each,
    )


def test_a_candidate_is_one_row_of_the_table(monkeypatch):
    monkeypatch.setattr(output, "against_best", lambda own, found: None)
    expected = (
        "20.0%",
        "0.50 (0.40–0.60)",
        "0.25",
        "0.12",
        "0.062",
        "-0.10 to +0.20",
        "1.50 (1.00–2.00)",
        "0.75",
        "2.5",
        "3",
        "1",
        "–",
    )
    assert output.cells(judged("one", 0.05), []) == ("one", "5%", *expected)
    assert output.cells(judged("one", math.nan), [])[1] == "–"
    never = output.cells(judged("one", 0.05, up=0.0), [])
    assert never[8].startswith("nan")


def test_rows_are_grouped_by_downtime(monkeypatch):
    monkeypatch.setattr(output, "against_best", lambda own, found: None)
    found = [judged("free", math.nan), judged("a", 0.05), judged("b", 0.05), judged("c", 0.1)]
    one, two, three = output.tables_of(found)
    assert [column.header for column in one.columns] == [
        "policy",
        "downtime",
        "recall",
        "chance",
        "shifted",
        "by shift",
    ]
    assert [column.header for column in two.columns] == [
        "policy",
        "ahead",
        "precision",
        "lead",
        "left",
        "right",
    ]
    assert [column.header for column in three.columns] == ["policy", "over shifted", "over best baseline"]
    assert list(one.columns[0].cells) == ["free", "at 5% downtime", "a", "b", "at 10% downtime", "c"]


def test_curves_show_the_evaluated_candidates():
    found = [
        judged("a", 0.1, 0.6, up=0.3),
        judged("a", 0.05, 0.4, up=0.1),
        judged("free", math.nan, 0.9, up=0.2),
    ]
    drawn = output.recalls(found, 3)
    a, free, chance = drawn.lines
    assert (list(a.x), list(a.y)) == ([0.1, 0.3], [0.4, 0.6])
    assert (list(free.x), list(free.y)) == ([0.2], [0.9])
    assert (chance.x[0], chance.x[-1], len(chance.x)) == (0.0, 0.3, 40)
    assert list(chance.y) == pytest.approx([1 - (1 - spent) ** 3 for spent in chance.x])
    first = output.leads(found, 4)
    # Two of three onsets were foreseen, one and five steps before; those of the first downtime alone are drawn.
    assert [line.name for line in first.lines] == ["a", "free"]
    assert list(first.lines[0].x) == [1, 2, 3, 4]
    assert list(first.lines[0].y) == pytest.approx([2 / 3, 1 / 3, 1 / 3, 1 / 3])
    gains, downs = output.over_nodes(found)
    assert list(gains.lines[0].x) == pytest.approx([0.1, 0.3])
    assert list(downs.lines[0].x) == pytest.approx([0.1, 0.2])
    assert list(downs.lines[0].y) == [0.5, 1.0]
    assert output.over_nodes([judged("a", 0.05, nodes=1)]) == output.over_nodes([]) == []


@pytest.mark.parametrize(
    ("count", "everything", "printed"), [(30, False, 30), (31, False, 30), (40, True, 40)]
)
def test_at_most_the_first_and_last_15_decisions_are_printed(monkeypatch, capsys, count, everything, printed):
    run = SimpleNamespace(
        variants=lambda name: [SimpleNamespace(name="easy")],
        row=lambda job, variant, seed: {"seed": 3, "submit_s": 0.0, "start_s": 60.0, "why": "alone"},
        explain=lambda job, variant, row: SimpleNamespace(
            sentences=lambda: ("It waited.",),
            moments=lambda all_: [f"line {n}." for n in range(count)],
        ),
    )
    monkeypatch.setattr(explain, "FinishedRun", lambda folder: run)
    explain.explain_command(explain.ExplainOptions(Path("f"), "1", everything=everything), as_json=False)
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["Job 1 waited 1 min under easy, seed 3: alone.", "It waited.", ""]
    kept = [line for line in lines if line.startswith("line ")]
    left_out = count - printed
    expected = [f"line {n}." for n in range(count) if not 15 <= n < 15 + left_out]
    assert kept == expected
    assert (f"… {left_out} more, which --all prints …" in lines) == (left_out > 0)


def fleet(**given):
    base = {
        "names": ("a", "b", "c"),
        "slots": np.array([2, 1, 0]),
        "up": np.array([10.0, 5.0, 1.0]),
        "down": np.array([4.0, 20.0, 1.0]),
        "pair": np.full((3, 3), np.inf),
        "price": np.array([[0.0, 0.5, 1.0], [2.0, 0.0, 1.0], [1.0, 1.0, 0.0]]),
    }
    return SimpleNamespace(**(base | given))


def answer(moved, counts=(3, 1, 0), **given):
    return placement._answer(0, "map", np.array(counts), np.array(moved, float), 2.0, fleet(**given))


def test_the_slowest_link_and_site_determine_the_time_of_a_stage():
    found = answer([[99.0, 10.0, 0.0], [30.0, 99.0, 0.0], [0.0, 0.0, 99.0]])
    # Up from b 30 / 5 s, down to a 30 / 4 s; three tasks on two slots are two waves.
    assert (found.stage, found.kind, found.transfer_s, found.compute_s) == (1, "map", 7.5, 4.0)
    assert found.tasks == {"a": 3, "b": 1, "c": 0}
    assert found.moves == (("a", "b", 10.0), ("b", "a", 30.0))
    assert found.egress_usd == 10.0 * 0.5 + 30.0 * 2.0
    assert found.why == (
        "the downlink of a takes longest: 7.5 s",
        "a computes longest: 3 tasks on 2 slots, 4 s",
    )


def test_limits_of_a_pair_and_tied_bottlenecks_are_named():
    pair = np.full((3, 3), np.inf)
    pair[1, 0] = 3.0
    found = answer([[0.0, 0.0, 0.0], [30.0, 0.0, 0.0], [0.0, 0.0, 0.0]], pair=pair)
    assert (found.transfer_s, found.why[0]) == (10.0, "the pair of b takes longest: 10 s")
    level = answer([[0.0, 40.0, 0.0], [16.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    assert level.why[:2] == ("the uplink of a takes longest: 4 s", "the downlink of a takes longest: 4 s")
    still = answer(np.zeros((3, 3)), counts=(1, 3, 0))
    assert (still.transfer_s, still.moves, still.egress_usd) == (0.0, (), 0.0)
    assert still.why == ("b computes longest: 3 tasks on 1 slots, 6 s",)
    # A site without slots counts as having one.
    assert answer(np.zeros((3, 3)), counts=(0, 0, 5)).compute_s == 10.0


def test_bytes_use_the_largest_fitting_unit():
    assert [place._bytes(amount) for amount in (0.0, 999.0, 1e3, 999e3, 1e6, 1e9, 2.5e12, 5e15)] == [
        "0 B",
        "999 B",
        "1 kB",
        "999 kB",
        "1 MB",
        "1 GB",
        "2.5 TB",
        "5e+03 TB",
    ]


def test_limits_within_a_site_do_not_count():
    pair = np.full((3, 3), np.inf)
    np.fill_diagonal(pair, 1.0)

    class Sites(SimpleNamespace):
        def __len__(self):
            return 3

    assert not placement._limited(Sites(pair=pair))
    pair[0, 2] = 5.0
    assert placement._limited(Sites(pair=pair))


def test_the_summary_has_dates_if_the_log_has_a_calendar():
    jobs = JobTable.of([0.0, 7200.0], [50.0, 50.0], [1, 2], [60.0, 60.0])
    trace = SimpleNamespace(name="log", records=[0, 0], bad_lines=[])
    calendar = Calendar(1132444805.0, "Europe/London")
    found = describe_log(trace, SimpleNamespace(jobs=jobs, processors=8, notes=(), calendar=calendar))
    dates = ("Sun 2005-11-20 00:00:05", "Sun 2005-11-20 02:00:05")
    assert (found.first_submit, found.last_submit, found.zone) == (*dates, "Europe/London")
