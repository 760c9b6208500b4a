"""The autoscaler's workloads and series: their part of a log and their machines, calculated by hand."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tests.reproductions.keyed import axes
from windlass.io.traces.openb import OpenbPods
from windlass.model import InputError
from windlass.model.instances import InstanceType
from windlass.model.vectors import VectorJobs
from windlass_reproductions.autoscaler import curve_cases, data, paper, sizes
from windlass_reproductions.autoscaler.curve_cases import DAY, WEEK
from windlass_reproductions.autoscaler.instances import G4, M5

GIB = 2.0**30


def jobs(days):
    submit = np.asarray(days, float) * DAY
    return VectorJobs.of(submit, np.full(len(submit), 60.0), cores=np.ones(len(submit)))


@pytest.fixture
def logs(monkeypatch):
    """Replace the readers of logs by ones that return jobs on many days, from day 3 on."""
    many = jobs(np.arange(3.0, 203.0, 0.5))
    table = SimpleNamespace(
        submit=many.submit, run=many.run, procs=np.arange(len(many.submit)) % 4 + 1, request=many.run * 2
    )
    monkeypatch.setattr(curve_cases, "read_swf", lambda path: path)
    monkeypatch.setattr(curve_cases, "to_workload", lambda log: SimpleNamespace(jobs=table))
    monkeypatch.setattr(curve_cases, "read_demands", lambda path: SimpleNamespace(jobs=many))
    monkeypatch.setattr(curve_cases, "read_bins", lambda path: path)
    monkeypatch.setattr(curve_cases, "jobs_of_bins", lambda bins, rng: many if rng.random() == DRAW else None)
    return many, table


DRAW = np.random.default_rng(2021).random()
NODE = {
    "KTH": (InstanceType("node", cores=1.0, price=1.0, launch=300.0, most=1000),),
    "LCG": (InstanceType("worker", cores=2.0, price=1.0, launch=300.0, most=6000),),
    "Philly": (InstanceType("gpu-8", gpus=8.0, price=24.0, launch=600.0, most=600),),
    "Helios": (InstanceType("gpu-8", gpus=8.0, price=24.0, launch=600.0, most=600),),
    "openb": (
        InstanceType("cpu-32", cores=32.0, memory=256 * GIB, price=1.6, launch=300.0, most=400),
        InstanceType("gpu-2", gpus=2.0, cores=104.0, memory=512 * GIB, price=7.0, launch=420.0, most=400),
        InstanceType("gpu-8", gpus=8.0, cores=96.0, memory=384 * GIB, price=20.0, launch=600.0, most=200),
    ),
}


@pytest.mark.parametrize(
    ("name", "blocks", "size", "first"),
    [
        ("KTH", (2, 6, 16), WEEK, 3.0),
        ("LCG", (1, 4, 10), DAY, 3.0),
        ("Philly", (2, 5, 11), WEEK, 3.0),
        ("Helios", (2, 5, 11), WEEK, 3.0),
        ("openb", (7, 21, 35), DAY, 112.0),
    ],
)
def test_a_workload_is_split_into_history_and_learned_and_judged_blocks(logs, name, blocks, size, first):
    (source,) = [each for each in curve_cases.SOURCES if each.name == name]
    found = source.read("path")
    history, learned, judged = (each * size for each in blocks)
    assert (found.name, found.block) == (name, size)
    assert (found.learned, found.judged) == ((history, learned), (learned, judged))
    case = found.case
    assert tuple(case.fleet.types) == NODE[name]
    assert (case.period, case.earlier, case.look) == (300.0, history, 10.0)
    submit = logs[0].submit
    begin = first * DAY
    kept = submit[(submit >= begin) & (submit < begin + judged)]
    np.testing.assert_array_equal(case.jobs.submit, kept)


@pytest.mark.parametrize(("days", "last"), [(49.0, 7), (97.5, 13), (112.0, 16), (200.0, 16)])
def test_a_log_of_a_batch_system_is_judged_until_its_last_whole_week(monkeypatch, days, last):
    table = _table(days)
    monkeypatch.setattr(curve_cases, "read_swf", lambda path: path)
    monkeypatch.setattr(curve_cases, "to_workload", lambda log: SimpleNamespace(jobs=table))
    found = curve_cases.swf(Path("folder/NASA-iPSC-1993.swf.gz"))
    assert found.name == "NASA-iPSC-1993"
    assert (found.learned, found.judged) == ((2 * WEEK, 6 * WEEK), (6 * WEEK, last * WEEK))
    assert found.case.jobs.submit.max() < table.submit[0] + last * WEEK


@pytest.mark.parametrize("days", [0.5, 48.5])
def test_a_log_without_a_whole_test_week_is_rejected(monkeypatch, days):
    monkeypatch.setattr(curve_cases, "read_swf", lambda path: path)
    monkeypatch.setattr(curve_cases, "to_workload", lambda log: SimpleNamespace(jobs=_table(days)))
    with pytest.raises(
        InputError, match=f"short.swf: the log has {int(days // 7)} whole weeks, expected at least 7"
    ):
        curve_cases.swf(Path("short.swf"))


def _table(days):
    """Jobs over a number of days, from day 3 on, the last exactly at the end."""
    many = jobs(3.0 + np.arange(0.0, days + 0.25, 0.5))
    return SimpleNamespace(
        submit=many.submit, run=many.run, procs=np.ones(len(many.submit)), request=many.run * 2
    )


def test_jobs_of_logs_keep_their_processors_and_walltimes(logs):
    _, table = logs
    kth, lcg = (curve_cases.kth("path").case.jobs, curve_cases.lcg("path").case.jobs)
    for found in (kth, lcg):
        np.testing.assert_array_equal(found.resources[:, 1], table.procs[: len(found.submit)])
    np.testing.assert_array_equal(kth.walltime, table.request[: len(kth.submit)])
    assert np.isinf(lcg.walltime).all()


def test_a_shortened_workload_has_equal_parts_before_and_after_the_split(logs):
    whole = curve_cases.kth("path")
    found = curve_cases.shortened(whole, 3)
    assert (found.learned, found.judged) == ((WEEK, 3 * WEEK), (3 * WEEK, 6 * WEEK))
    assert found.case.earlier == WEEK
    # The whole has six weeks of history and learning; the last three of them and the three after remain.
    submit = whole.case.jobs.submit
    first = submit[0] + 3 * WEEK
    np.testing.assert_array_equal(
        found.case.jobs.submit, submit[(submit >= first) & (submit < first + 6 * WEEK)]
    )


def test_workloads_with_missing_logs_are_left_out(monkeypatch, tmp_path):
    monkeypatch.setattr(curve_cases, "traces", lambda: tmp_path)
    sources = tuple(
        curve_cases.Source(name, f"{name}.log", lambda path, name=name: (name, path.name)) for name in "abc"
    )
    monkeypatch.setattr(curve_cases, "SOURCES", sources)
    (tmp_path / "a.log").touch()
    (tmp_path / "c.log").touch()
    assert curve_cases.workloads(("a", "b")) == (("a", "a.log"),)
    assert curve_cases.absent() == ("b",)


def test_a_series_has_daily_and_weekly_seasons_and_forecasts_20_minutes_ahead():
    def case(period):
        return data.Case("a", "", False, (), np.zeros((1, 1)), period, 1, "")

    assert (case(300.0).seasons, case(300.0).steps) == ((288, 2016), (1, 4))
    assert (case(600.0).seasons, case(600.0).steps) == ((144, 1008), (1, 2))
    assert case(500.0).steps == (1, 3)


def test_philly_clusters_with_truncated_logs_are_left_out(monkeypatch):
    cluster = np.array(["cut"] * 2000 + ["whole"] * 1999)
    count = len(cluster)
    log = SimpleNamespace(
        cluster=cluster,
        gpus=np.arange(count) % 8 + 1.0,
        arrival=np.arange(count) * 10.0,
        duration=np.full(count, 5.0),
    )
    monkeypatch.setattr(data, "read_philly", lambda path: log)
    found = data.philly_jobs(4.0, 16.0)
    assert len(found.begin) == 1999
    np.testing.assert_array_equal(found.begin, log.arrival[2000:])
    np.testing.assert_array_equal(found.end, log.arrival[2000:] + 5.0)
    np.testing.assert_array_equal(found.resources, log.gpus[2000:, None] * np.array([1.0, 4.0, 16.0]))
    assert data.philly_span() == (0.0, 91 * DAY)


def test_pods_run_from_the_time_they_are_scheduled(monkeypatch):
    pods = OpenbPods(
        resources=np.arange(9.0).reshape(3, 3),
        created=np.array([5.0, 6.0, 2.0]),
        deleted=np.array([9.0, 9.0, 3.0]),
        scheduled=np.array([5.0, np.nan, 7.0]),
        service=np.array(["LS", "BE", "LS"]),
        number=np.arange(1, 4),
    )
    monkeypatch.setattr(data, "read_openb_pods", lambda path: pods)
    found = data.openb_jobs()
    assert (found.begin.tolist(), found.end.tolist()) == ([5.0, 7.0], [9.0, 7.0])
    assert found.resources.tolist() == [[0.0, 1.0, 2.0], [6.0, 7.0, 8.0]]
    assert data.openb_span(found) == (117.0 * DAY, 7.0)


def test_series_of_instances_are_tested_on_their_last_week(monkeypatch):
    calls = []

    def needed(jobs, types, span):
        calls.append((jobs, tuple(each.name for each in types), span))
        return np.array([[0.0, 1.0, 0.0] + [0.0] * (len(types) - 3)] * 600)

    monkeypatch.setattr(data, "_needed", needed)
    monkeypatch.setattr(data, "philly_jobs", lambda cores, memory: (cores, memory))
    held = SimpleNamespace(resources=np.array([[0.0], [2.0]]), of=lambda mask: ("with GPUs", mask.tolist()))
    monkeypatch.setattr(data, "openb_jobs", lambda: held)
    monkeypatch.setattr(data, "openb_span", lambda jobs: jobs)
    philly, openb = data._philly(), data._openb()
    names = tuple(each.name for each in G4)
    assert calls[0][0] == (8.0, 32.0 * GIB)
    assert {name.split(".")[1] for name in calls[0][1]} == {"2xlarge", "12xlarge", "metal"}
    assert calls[0][2] == (0.0, 91 * DAY)
    assert calls[1] == (("with GPUs", [False, True]), names, held)
    for case, stands_for in ((philly, "Philly"), (openb, "")):
        assert (case.period, case.test, case.stands_for, case.same) == (
            300.0,
            2016,
            stands_for,
            bool(stands_for),
        )
    assert (philly.name, openb.name) == ("Philly, instances", "openb, instances")
    assert openb.columns == (names[1],)
    assert openb.rows.shape == (600, 1)
    assert f"for the {600 * 300 / DAY:.0f} days" in openb.about


def test_helios_series_are_tested_on_august(monkeypatch):
    series = SimpleNamespace(columns=("used", "asked"), rows=np.arange(8.0).reshape(4, 2), period=600.0)
    monkeypatch.setattr(data, "read_helios", lambda path: series)
    used, submitted = data._helios()
    assert (used.name, used.stands_for, used.rows.tolist()) == (
        "Helios, GPUs in use",
        "Ours",
        [[0.0], [2.0], [4.0], [6.0]],
    )
    assert (submitted.name, submitted.stands_for, submitted.columns) == (
        "Helios, GPUs submitted",
        "",
        ("asked",),
    )
    assert submitted.rows.tolist() == [[1.0], [3.0], [5.0], [7.0]]
    assert (used.same, used.test, used.period) == (False, 31 * 144, 600.0)


@pytest.mark.parametrize("missing", [(), (data.HELIOS,), (data.PHILLY, data.OPENB)])
def test_cases_with_missing_files_are_left_out(monkeypatch, missing):
    monkeypatch.setattr(data, "absent", lambda: missing)
    monkeypatch.setattr(data, "_helios", lambda: iter(["one", "two"]))
    monkeypatch.setattr(data, "_philly", lambda: "philly")
    monkeypatch.setattr(data, "_openb", lambda: "openb")
    kept = {data.HELIOS: ["one", "two"], data.PHILLY: ["philly"], data.OPENB: ["openb"]}
    assert list(data.cases()) == [each for name, own in kept.items() if name not in missing for each in own]


@pytest.mark.parametrize("quick", [True, False])
def test_base_instances_are_found_at_regular_instants(monkeypatch, quick):
    calls = []
    monkeypatch.setattr(sizes, "absent", lambda: ())
    monkeypatch.setattr(sizes, "philly_jobs", lambda cores, memory: (cores, memory / GIB))
    monkeypatch.setattr(sizes, "philly_span", lambda: (0.0, 5 * DAY))
    monkeypatch.setattr(sizes, "openb_span", lambda jobs: (DAY, 6 * DAY))
    pods = SimpleNamespace(resources=np.array([[0.0], [2.0]]), of=lambda mask: mask.tolist())
    monkeypatch.setattr(sizes, "openb_jobs", lambda: pods)
    monkeypatch.setattr(
        sizes,
        "find_base",
        lambda what, jobs, types, times, theirs, note: (
            calls.append((what, jobs, types, times, theirs)) or note
        ),
    )
    notes = sizes.find_bases(quick)
    step = 2.0 if quick else 0.25
    times = [DAY * step * place for place in range(1, 3 if quick else 20)]
    assert calls == [
        ("Philly, 4 cores per GPU", (4.0, 16.0), G4, times, "g4dn.2xlarge"),
        ("Philly, 8 cores per GPU", (8.0, 32.0), G4, times, "g4dn.2xlarge"),
        ("openb, pods with GPUs", [False, True], G4, [DAY + time for time in times], None),
        ("openb, pods without GPUs", [True, False], M5, [DAY + time for time in times], None),
    ]
    assert "with 4 and 16 GiB per GPU the base can only be g4dn.xlarge" in notes[0]
    assert "with 8 and 32 GiB per GPU the base can only be g4dn.2xlarge" in notes[1]
    monkeypatch.setattr(sizes, "absent", lambda: (data.PHILLY, data.OPENB))
    assert sizes.find_bases(quick) == ()


def test_scales_are_shown_relative_to_that_of_all_types():
    def find_base(types, smallest, scale):
        base = SimpleNamespace(smallest=smallest, scale=np.array(scale))
        return sizes.BaseResult("some", types, base, "paper", "note")

    one, other = find_base(G4, 1, [2.0, 2.0, 3.0]), find_base(M5, 0, [4.0, 8.0])
    rows = sizes.rows_of([one, other])
    assert [(row.what, row.paper, row.ours) for row in rows] == [
        ("Figure 7, some: base instance", "paper", G4[1].name),
        ("Figure 7, some: base instance", "paper", M5[0].name),
        ("Figure 7, Fuxi: base instance", "m5.24xlarge", "not run"),
    ]
    g4, m5 = sizes.pictures([one, other])
    assert (axes(g4), axes(m5)) == (
        ("scale-g4", "smallest type", "scale"),
        ("scale-m5", "smallest type", "scale"),
    )
    assert [(list(line.x), list(line.y)) for line in (*g4.lines, *m5.lines)] == [
        ([0, 1, 2], [1.0, 1.0, 1.5]),
        ([0, 1], [1.0, 2.0]),
    ]
    assert sizes.pictures([]) == []


@pytest.mark.parametrize("quick", [True, False])
def test_all_parts_run_in_order(monkeypatch, quick):
    progress, calls = [], []
    monkeypatch.setattr(paper.examples, "rows_of", lambda: ["example"])
    monkeypatch.setattr(paper.sizes, "find_bases", lambda given: calls.append(given) or "find_base")
    monkeypatch.setattr(paper.sizes, "rows_of", lambda found: [f"rows {found}"])
    monkeypatch.setattr(paper.sizes, "pictures", lambda found: [f"picture {found}"])
    monkeypatch.setattr(paper, "cases", lambda: iter(["a", "b", "c"]))
    monkeypatch.setattr(paper, "absent", lambda: ("none.csv",))

    def compare(case, setting, notify):
        calls.append((case, setting))
        notify("half", 0.5)
        return case

    monkeypatch.setattr(paper, "compare", compare)
    monkeypatch.setattr(paper.tables, "rows_of", lambda found: [f"table {found}"])
    monkeypatch.setattr(paper.figures, "pictures", lambda found: [f"figures {found}"])

    def cost_and_wait(given, notify, crews):
        calls.append((given, crews))
        notify("points", 0.5)
        return ["cost"], ["curve"]

    monkeypatch.setattr(paper, "cost_and_wait", cost_and_wait)
    found = (
        paper.AutoscalerPaper()
        .spread("crew")
        .reproduce(quick=quick, notify=lambda *step: progress.append(step))
    )
    setting = paper.QUICK if quick else paper.FULL
    assert calls == [quick, ("a", setting), ("b", setting), ("c", setting), (quick, "crew")]
    first, rows, absent, *rest = found.rows
    assert (first, rows, absent.what) == ("example", "rows find_base", "Table 4, none.csv")
    assert rest == ["table ['a', 'b', 'c']", "cost"]
    assert found.pictures == ("picture find_base", "figures ['a', 'b', 'c']", "curve")
    assert [share for _, share in progress] == pytest.approx([0.0, 0.01, 0.125, 0.275, 0.425, 0.75, 1.0])
