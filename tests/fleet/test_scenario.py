"""Scenarios over many sites, random and from real logs; the SWIM reader."""

from pathlib import Path

import numpy as np
import pytest
import yaml

from tests.announced_kernels import announced_and_called_kernels
from windlass.experiment.runner import run
from windlass.experiment.scenario import make_scenario
from windlass.experiment.worlds.fleet.world import FleetWorld
from windlass.io.traces import read_swim
from windlass.model import InputError
from windlass.order.fleet import POLICIES as ORDERS
from windlass.order.fleet import JobOrder
from windlass.place import POLICIES as PLACES
from windlass.results.metrics import fleet
from windlass.results.metrics.isolated import alone

TRACES = Path(__file__).parents[3] / "shared" / "traces"
LCG = TRACES / "swf" / "LCG-2005-1.swf.gz"
FACEBOOK = TRACES / "swim" / "FB-2010_samples_24_times_1hr_0.tsv"


def tree(**changes):
    return {
        "world": "fleet",
        "cluster": {"alike": {"sites": 4, "slots": 20}},
        "workload": {"fixed": {"law": "google", "jobs": 40}},
        "policies": {
            "order": ["fcfs", "swag", {"reordering": {"base": ["global-srpt", "independent-srpt"]}}]
        },
        **changes,
    }


def test_a_scenario_gives_the_same_results_twice():
    first, second = (run(make_scenario(tree(seeds=[1, 2]))) for _ in range(2))
    assert len(first.variants) == 4
    assert first.jobs().equals(second.jobs())
    assert first.metrics().equals(second.metrics())


def test_sites_and_flows_of_linked_sites_sum_to_the_metrics():
    linked = {"world": "fleet", "cluster": {"drawn": {"sites": 3}}, "workload": {"drawn": {"jobs": 5}}}
    (outcome,) = run(make_scenario(linked | {"policies": {"place": "in-place"}})).variants[0].outcomes
    found = outcome.site_map
    assert sum(each.sent_bytes for each in found.flows) == pytest.approx(outcome.metrics.wan_bytes, rel=1e-9)
    assert sum(site.cores for site in found.sites) == outcome.processors
    used = sum(site.cores * site.used_share for site in found.sites) / outcome.processors
    assert used == pytest.approx(outcome.metrics.utilisation, rel=1e-9)
    # Without links nothing is sent, and there is no map.
    (outcome,) = run(make_scenario(tree(policies={"order": "swag"}))).variants[0].outcomes
    assert outcome.site_map is None


def test_sites_may_differ_and_sizes_may_be_seconds():
    results = run(
        make_scenario(
            tree(
                cluster={"sites": [{"name": str(slots), "slots": slots} for slots in (10, 20, 5)]},
                estimates={"accuracy": 0.5, "sizes": "seconds"},
            )
        )
    )
    assert results.variants[0].outcomes[0].processors == 35


def test_isolated_service_times_are_computed_once_per_run(monkeypatch):
    counted = []
    monkeypatch.setattr(fleet, "alone", lambda *given: counted.append(given) or alone(*given))
    outcome = run(make_scenario(tree(policies={"order": "swag"}))).variants[0].outcomes[0]
    assert len(counted) == 1
    slowdown = (outcome.jobs["end_s"] - outcome.jobs["submit_s"]) / outcome.jobs["service_s"]
    assert outcome.metrics.mean_slowdown == pytest.approx(slowdown.mean())


class Fifo:
    """Jobs in order of arrival, not compiled."""

    name = "patient"

    def decide(self, view):
        return JobOrder(np.arange(len(view.subjobs)))


SITES = [{"name": name, "slots": 4, "up": 1e6, "down": 1e6} for name in ("a", "b", "c")]
DRAWN, FIXED = {"drawn": {"jobs": 6, "tasks": 20}}, {"fixed": {"law": "google", "jobs": 6}}


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("workload", "policies"),
    [
        *((DRAWN, {"place": name}) for name in PLACES.names()),
        *((FIXED, {"order": name}) for name in ORDERS.names()),
        (DRAWN, {"order": "swag"}),
        (DRAWN, {"order": f"{__file__}:Fifo"}),
        (FIXED, {"place": "in-place"}),
    ],
    ids=str,
)
def test_every_called_kernel_is_announced(policies, workload, monkeypatch):
    """Otherwise it is compiled in the middle of the run, without a progress display."""
    setting = (
        make_scenario(tree(cluster={"sites": SITES}, workload=workload, policies=policies))
        .variants[0]
        .setting
    )
    announced, called = announced_and_called_kernels(FleetWorld(), setting, monkeypatch)
    assert [kernel.python.__qualname__ for kernel in called - set(announced)] == []
    assert called


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"workload": {"fixed": {"utilisation": 0}}}, "workload.fixed.utilisation"),
        ({"workload": {"fixed": {"longest_s": 1}}}, "workload.fixed.longest_s"),
        ({"workload": {"fixed": {"law": "amazon"}}}, "workload.fixed.law"),
        ({"estimates": {"accuracy": 2}}, "estimates.accuracy"),
        (
            {"policies": {"place": "tetrium"}},
            "^scenario: policies.place: 'tetrium' plans with links, but the si",
        ),
        ({"policies": {"share": "fcfs"}}, "policies.share"),
        ({"cluster": {"sites": [{"name": "a", "slots": 1, "up": 1}]}}, "expected 'up' and 'down' at all"),
        ({"drops": {"drop": 0.5}}, "expected sites with links"),
        ({"workload": {"fixed": {}, "where": "submit < 9"}}, "where and skip_bad_lines are for a trace"),
        ({"cluster": None}, "^scenario: cluster: missing; only an .swf log names its own sites$"),
        ({"workload": {"trace": "log.swf"}}, "cluster: expected none, as the .swf log names its sites"),
        ({"workload": {}}, "expected one of 'drawn', 'jobs', 'fixed' and 'trace'"),
        ({"workload": {"fixed": {"skew": "steep"}}}, "workload.fixed.skew"),
    ],
)
def test_a_bad_field_is_named(change, message):
    with pytest.raises(InputError, match=message):
        make_scenario(tree(**change))


def test_an_unknown_policy_is_named():
    with pytest.raises(InputError, match="did you mean 'swag'"):
        run(make_scenario(tree(policies={"order": "swog"})))


def test_reordering_of_itself_is_rejected():
    with pytest.raises(InputError, match="expected a policy other than 'reordering'"):
        run(make_scenario(tree(policies={"order": {"reordering": {"base": "reordering"}}})))


def test_a_swim_file_is_read(tmp_path):
    path = tmp_path / "log.tsv"
    path.write_text("job0\t9\t9\t1762\t0\t14347\r\n\njob1\t18\t9\t970\t609\t697\n")
    assert read_swim(path).records["submit"].to_list() == [9.0, 18.0]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("job0 9 9 1 0 1", "line 1: 1 fields"),
        ("job0\t9\t9\t-1\t0\t1", "line 1: map_input '-1'"),
        ("job0\tnan\t9\t1\t0\t1", "line 1: submit 'nan'"),
        ("job0\t9\t9\tx\t0\t1", "line 1: map_input 'x'"),
    ],
)
def test_a_bad_swim_line_is_named_or_skipped(tmp_path, line, message):
    path = tmp_path / "log.tsv"
    path.write_text(line + "\njob1\t18\t9\t970\t609\t697\n")
    with pytest.raises(InputError, match=message):
        read_swim(path)
    assert len(read_swim(path, skip_bad_lines=True).records) == 1


def test_a_log_with_an_unknown_suffix_is_rejected(tmp_path):
    (tmp_path / "log.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="unknown suffix"):
        run(make_scenario(tree(workload={"trace": str(tmp_path / "log.csv")})))


def test_a_log_that_names_its_sites_needs_no_cluster(tmp_path):
    # Per line: job, submit, wait, run, processors, …, user (12th), …, queue, partition, …
    lines = [
        f"{number} {submit} 0 10 2 -1 -1 2 20 -1 1 {user} 1 -1 {queue} {partition} -1 -1"
        for number, submit, user, queue, partition in (
            (1, 0, 1, 1, 7),
            (2, 10, 1, 1, 9),
            (3, 1000, 2, 8, -1),
        )
    ]
    (tmp_path / "LOG.SWF").write_text("\n".join(lines) + "\n")
    given = {"world": "fleet", "workload": {"trace": "LOG.SWF"}, "policies": {"order": "swag"}}
    scenario = make_scenario(given, folder=tmp_path)
    outcome = run(scenario).variants[0].outcomes[0]
    assert outcome.jobs["submit_s"].to_list() == [10.0, 1000.0]
    assert outcome.jobs["sites"].to_list() == [2, 1]
    assert "3 log entries make 2 jobs over 3 sites of 1 slot each" in outcome.notes
    assert outcome.calendar is None
    (tmp_path / "LOG.SWF").write_text("\n".join(("; UnixStartTime: 1132444805", *lines)) + "\n")
    dated = run(make_scenario(given, folder=tmp_path)).variants[0].outcomes[0]
    assert dated.calendar.text(float(dated.jobs["submit_s"][1])) == "Sun 2005-11-20 00:16:45"
    again = make_scenario(yaml.safe_load(scenario.as_run))
    assert run(again).jobs().equals(run(scenario).jobs())


@pytest.mark.matrix(0)
@pytest.mark.skipif(not LCG.exists(), reason="needs ../shared/traces/swf/LCG-2005-1.swf.gz")
def test_the_grid_log_runs():
    scenario = make_scenario(
        tree(
            cluster=None,
            workload={"trace": str(LCG), "where": "submit < 20000"},
            policies={"order": ["swag", "fcfs"]},
        )
    )
    outcome = run(scenario).variants[0].outcomes[0]
    assert outcome.metrics.jobs > 50
    assert outcome.jobs["sites"].max() > 1
    assert outcome.jobs["end_s"].is_finite().all()


@pytest.mark.skipif(
    not FACEBOOK.exists(), reason="needs ../shared/traces/swim/FB-2010_samples_24_times_1hr_0.tsv"
)
def test_the_facebook_log_runs():
    assert len(read_swim(FACEBOOK).records) == 24_442
    scenario = make_scenario(
        tree(
            cluster={"alike": {"sites": 30, "slots": 300}},
            workload={"trace": str(FACEBOOK), "where": "submit < 900", "fixed": {}},
            policies={"order": ["swag"]},
        )
    )
    outcome = run(scenario).variants[0].outcomes[0]
    assert outcome.metrics.jobs == (read_swim(FACEBOOK).records["submit"] < 900).sum()
