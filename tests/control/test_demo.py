"""The demonstration: the journal agrees with the run that it shows, and observing does not change the run."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import windlass.control.demo.predictor as predictor
from windlass.agent.stop import Stop
from windlass.control.demo.answers import AnswerRecords
from windlass.control.demo.engine import DemoEngine, load_demo
from windlass.control.demo.pace import SimulatedPace
from windlass.control.engine import EngineStoppedError
from windlass.control.journal import EngineStatus, JournalReader, JournalWriter, RowFilter
from windlass.control.site_status import status_from_text
from windlass.control.supervisor import Supervisor
from windlass.experiment.scenario import make_scenario
from windlass.model import InputError
from windlass.scale.view import Demands, ScaleView, Totals
from windlass.share.allocation import Allocation, Candidate, Guest
from windlass.share.view import Share, ShareView, Sharing

SCENARIO = {
    "name": "small",
    "world": "cluster",
    "seconds": 86400,
    "begin": 0,
    "sites": {
        "iowa": {"nodes": [{"count": 4, "cores": 8}], "outages": {"every": 20000, "last": 600}},
        "osaka": {"nodes": [{"count": 2, "cores": 8}]},
    },
    "loads": {"batch": {"rigid": {"lublin": {"jobs": 3000, "load": 0.9}}}},
    "policies": {"order": "easy"},
    "seeds": [3],
}
FAILING = """
class Raises:
    name = "raises"

    def decide(self, view):
        raise RuntimeError("no more")
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Return the journal of a whole run, and the table of the same run without an observer."""
    file = tmp_path_factory.mktemp("demo") / "journal.db"
    scenario = make_scenario(SCENARIO)
    engine = DemoEngine(scenario, speed=math.inf)
    engine.prepare()
    # Each round of predictions replays the site 20 times.
    with JournalWriter(file) as journal, pytest.MonkeyPatch.context() as patch:
        patch.setattr(predictor, "EVERY", 1800.0)
        engine.run(journal, Stop())
        journal.flush()
        with JournalReader(file) as reader:
            assert dict(reader.counts())["predictions"] > 20
    world, setting = scenario.world, scenario.variants[0].setting
    outcome = world.run(setting, 3, world.workload(setting, 3), lambda share: None)
    return file, outcome.jobs, engine.now


def events(file, kind):
    """Return the time of the latest event of a kind, by site and job."""
    found, before = {}, None
    with JournalReader(file) as journal:
        while True:
            page = journal.events(RowFilter(topic=kind), before=before, limit=500)
            for row in page.rows:
                # Rows come latest first, and a job that was killed has several starts.
                found.setdefault((row.job.site, row.job.id), row.time)
            if page.older is None:
                return found
            before = page.older


@pytest.mark.parametrize(
    ("kind", "column"), [("submitted", "submit_s"), ("started", "start_s"), ("ended", "end_s")]
)
def test_events_have_the_times_of_the_table_of_the_same_run(ran, kind, column):
    file, jobs, until = ran
    expected = {
        (row["site"], f"{row['load']}/{row['job']}"): row[column]
        for row in jobs.filter(pl.col(column) <= until).to_dicts()
    }
    found = events(file, kind)
    assert {key: found.get(key) for key in expected} == expected
    assert len(found) >= len(expected) > 50


def test_each_start_is_a_decision_with_the_reason_of_the_table(ran):
    file, jobs, until = ran
    reasons = {
        (row["site"], f"{row['load']}/{row['job']}", row["start_s"]): row["why"]
        for row in jobs.filter(pl.col("start_s") <= until).to_dicts()
    }
    with JournalReader(file) as journal:
        rows = journal.decisions(RowFilter(topic="order"), limit=500).rows
    found = {(row.job.site, row.job.id, row.time): row.reason for row in rows}
    assert {key: found.get(key) for key in reasons} == reasons
    assert {row.policy for row in rows} == {"easy"}


def test_the_last_view_has_the_jobs_that_ran_and_waited_then(ran):
    file, jobs, until = ran
    with JournalReader(file) as journal:
        views = {view.site: status_from_text(view.content) for view in journal.views()}
    for site, state in views.items():
        there = jobs.filter((pl.col("site") == site) & (pl.col("submit_s") <= until))
        running = there.filter((pl.col("start_s") <= until) & (pl.col("end_s") > until))
        waiting = there.filter(pl.col("start_s") > until)
        assert {job.id for job in state.running} == {f"batch/{job}" for job in running["job"]}
        assert {job.id for job in state.waiting} == {f"batch/{job}" for job in waiting["job"]}
        assert state.cores - state.idle == running["procs"].sum()
        assert all(job.why for job in (*state.running, *state.waiting))


class Recording:
    """A stop request whose waits only advance a clock."""

    def __init__(self, ends_after: int = 10**9) -> None:
        self.now, self.waits, self._left = 0.0, [], ends_after

    def wait(self, seconds: float) -> bool:
        self.waits.append(seconds)
        self.now += max(0.0, seconds)
        self._left -= 1
        return self._left < 0


def test_simulated_time_follows_the_clock_and_is_never_caught_up():
    stop = Recording()
    pace = SimulatedPace(60.0, stop, lambda: stop.now)
    for simulated in (0.0, 30.0, 60.0):
        pace.wait(simulated)
    assert stop.now == 1.0
    stop.now += 10.0  # The simulation took this long to compute.
    pace.wait(90.0)
    pace.wait(120.0)
    assert stop.now == 11.5


def test_a_stop_request_ends_the_run_between_two_observations(tmp_path):
    engine = DemoEngine(make_scenario(SCENARIO), speed=600.0, clock=lambda: 0.0)
    engine.prepare()
    stop = Recording(ends_after=5)
    with JournalWriter(tmp_path / "journal.db") as journal, pytest.raises(EngineStoppedError):
        engine.run(journal, stop)
    assert engine.now == 5 * 60.0


class Steps:
    """An engine that runs until it is stopped, or until it raises."""

    def __init__(self, name: str, error: Exception | None = None) -> None:
        self.name, self.about, self.scope, self.now = name, "an engine of tests", name, 7.0
        self._error = error

    def run(self, journal: JournalWriter, stop: Stop) -> None:
        if self._error is not None:
            raise self._error
        stop.wait(60.0)
        raise EngineStoppedError("stopped on request")


def states(file):
    with JournalReader(file) as journal:
        return {each.status.engine: each.status for each in journal.engines()}


def test_an_engine_whose_policy_raises_stops_alone(tmp_path):
    (tmp_path / "raises.py").write_text(FAILING)
    policies = {"order": str(tmp_path / "raises.py")}
    demo = DemoEngine(make_scenario(SCENARIO | {"policies": policies}), speed=math.inf)
    demo.prepare()
    stop, lines = Stop(), []
    with JournalWriter(tmp_path / "journal.db") as journal:
        supervisor = Supervisor([demo, Steps("other")], journal, stop, lines.append)
        supervisor.start()
        supervisor.threads["demo"].join()
        found = states(tmp_path / "journal.db")
        assert (found["demo"].state, found["other"].state) == ("failed", "starting")
        assert "policy 'raises'" in found["demo"].error
        assert "no more" in found["demo"].error
        with JournalReader(tmp_path / "journal.db") as reader:
            assert [row.text for row in reader.events(RowFilter(topic="error")).rows] == [found["demo"].error]
        assert supervisor.running
        stop.notify()
        supervisor.join()
    assert states(tmp_path / "journal.db")["other"].state == "stopped"
    assert list(supervisor.failures) == ["demo"]
    assert all("\n" not in line for line in lines)


def test_a_journal_that_cannot_be_written_fails_the_engine_with_a_report(tmp_path):
    lines = []
    journal = JournalWriter(tmp_path / "journal.db")
    journal.close()
    supervisor = Supervisor([Steps("demo")], journal, Stop(), lines.append)
    supervisor.start()
    supervisor.join()
    assert len(lines) == 2
    assert all("journal is closed" in line for line in lines)


def test_engines_need_different_names(tmp_path):
    with JournalWriter(tmp_path / "journal.db") as journal, pytest.raises(InputError):
        Supervisor([Steps("a"), Steps("a")], journal, Stop(), print)


@pytest.mark.parametrize(
    ("change", "words"),
    [({"speed": 0.0}, "speed"), ({"speed": math.nan}, "speed"), ({"variant": "none such"}, "none such")],
)
def test_bad_arguments_are_errors(change, words):
    with pytest.raises(InputError, match=words):
        DemoEngine(make_scenario(SCENARIO), **change)


def test_a_scenario_of_another_world_is_refused():
    with pytest.raises(InputError, match="expected 'cluster'"):
        DemoEngine(make_scenario({"workload": {"lublin": {"jobs": 5}}, "policies": {"order": "easy"}}))


def test_a_file_of_another_world_is_named_with_what_it_is_short_for(tmp_path):
    file = tmp_path / "lublin.yaml"
    file.write_text("workload: {lublin: {jobs: 5}}\npolicies: {order: easy}\n")
    with pytest.raises(InputError) as error:
        load_demo(file)
    assert str(error.value).startswith(f"{file}: world is 'batch', expected 'cluster'; `windlass validate")


def test_the_bundled_scenario_is_valid():
    assert DemoEngine(load_demo(None)).about.startswith("simulated: demonstration")


# Answers.


def answers():
    return AnswerRecords("demo", lambda decision, site: decision, {"etl": ("iowa", "osaka")})


def test_a_share_that_repeats_a_quota_is_not_recorded():
    guest = Guest(Candidate(2, "blast", 4, 4e9, 60.0), 30)
    host = Allocation(1, "montage", 4, 8e9, 60.0, 0.0, cpu=10.0, memory_used=50.0, guest=guest)
    view = ShareView(5.0, (host,), ())
    assert answers().of("share.batch@iowa", view, Sharing((Share(1, 2, 30, "as before"),))) == []
    assert len(answers().of("share.batch@iowa", view, Sharing((Share(1, 2, 40, "more"),)))) == 1


def test_totals_are_recorded_when_they_change():
    from windlass.model.instances import InstanceType

    types = (InstanceType("small", cores=4, most=9),)
    counts = np.ones(1, np.int64)
    view = ScaleView(
        5.0, 300.0, types, counts, counts, counts, Demands.none(), Demands.none(), np.zeros((1, 1))
    )
    records = answers()
    found = [records.of("scale.ml@iowa", view, Totals((total,), ("why",))) for total in (3, 3, 4)]
    assert [[row.answer for row in some] for some in found] == [
        ["3 × small, where 2 are up or starting"],
        [],
        ["4 × small, where 2 are up or starting"],
    ]
    assert found[0][0].job.site == "iowa"
    assert found[0][0].job.id == ""


def test_decisions_that_are_recorded_otherwise_have_no_records():
    assert answers().of("order.batch@iowa", None, None) == []


def test_an_engine_status_is_written_at_each_observation(ran):
    file, _, until = ran
    with JournalReader(file) as journal:
        (seen,) = journal.engines()
    assert seen.status == EngineStatus("demo", "running", until, seen.status.about)
