"""The world ``cluster``: independent validators accept each run of each variant, and reject corrupted logs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from tests.oracles import cluster_outcome, cluster_streams, cluster_totals, cluster_world
from tests.oracles.cluster_world import WorldLog, site_log
from tests.oracles.workloads import CHECK
from tests.worlds.cluster_corruptions import CONTROLS, OF_SHARING, WorldControl, metric
from tests.worlds.recorded_cluster import recorded, variants
from tests.worlds.small_clusters import ALL, small_tree
from windlass.experiment.worlds.cluster.world import ClusterWorld

_EXAMPLE = Path(__file__).parents[2] / "examples" / "one-cluster.yaml"
_DECISIONS = ("plan", "order", "place", "share", "scale", "dispatch", "admit")
#: Variants without one decision each, and some without several.
_WITHOUT = [[], *([each] for each in _DECISIONS), ["share", "admit"], ["order", "place", "scale", "dispatch"]]


#: To shrink a failing scenario takes minutes; it is printed as drawn.
_DRAWN = settings(CHECK, phases=(Phase.explicit, Phase.generate))
#: The fastest first.
_VALIDATORS = (
    cluster_outcome.violations,
    cluster_totals.violations,
    cluster_streams.violations,
    cluster_world.violations,
)


def violations(log: WorldLog) -> list[str]:
    """Return the violations that any validator finds."""
    return [line for validator in _VALIDATORS for line in validator(log)]


#: Rejects often, and gives way often.
_RELENTING = {"relenting": {"threshold": 0.01, "patience": 2.0}}


@pytest.mark.matrix(0)
def test_a_policy_that_reads_the_queue_of_dispatch_is_valid(tmp_path: Path) -> None:
    (setting,) = variants(small_tree(tmp_path, policies={**ALL, "admit": _RELENTING}))
    assert violations(recorded(setting, 1)) == []


@pytest.mark.matrix(0)
@pytest.mark.parametrize("decision", ["place", "plan", "dispatch", "admit"])
def test_each_bound_is_valid(decision: str, tmp_path: Path) -> None:
    (setting,) = variants(small_tree(tmp_path, bound_of=decision))
    assert violations(recorded(setting, 1)) == []


@pytest.mark.matrix
@pytest.mark.parametrize("without", _WITHOUT, ids=lambda each: "-".join(each) or "none")
def test_each_variant_is_valid(without: list[str], tmp_path: Path) -> None:
    (setting,) = variants(small_tree(tmp_path, without=[without]))
    assert violations(recorded(setting, 1)) == []


@st.composite
def trees(draw: st.DrawFn) -> dict[str, Any]:
    """Other policies, kept cores, outages, neighbours, schedulers, and answers to tasks that all nodes reject."""
    policies = {
        "order": draw(st.sampled_from(["easy", "fcfs", "sjf", "conservative"])),
        "place": draw(st.sampled_from(["tetrium", "in-place", "iridium"])),
        "scale": draw(st.sampled_from(["thrifty", "reactive"])),
        "plan": draw(st.sampled_from(["cascade", "fair"])),
        "dispatch": draw(st.sampled_from(["pull", "jsq", "round-robin", "ppot"])),
        "share": draw(st.sampled_from([None, "pairs", "static"])),
        "admit": draw(st.sampled_from([None, {"utilisation": {"threshold": 0.5}}, _RELENTING])),
    }
    if policies["place"] == "in-place" and draw(st.booleans()):
        policies["order"] = {"rigid": policies["order"], "staged": "swag"}
    return {
        "policies": policies,
        "telemetry": {"full": draw(st.sampled_from(["force", "refuse", "spill"]))},
        "look": draw(st.sampled_from([5, 15, 120])),
        "checkpoint": draw(st.sampled_from([20, 60])),
        "floor": draw(st.sampled_from([0.05, 0.5])),
        "keeps": {"tasks": draw(st.sampled_from([0.0, 0.1, 0.3])), "queries": draw(st.sampled_from([0, 4]))},
        "kill": draw(st.sampled_from([0.0, 0.5, 1.0])),
        "neighbours": draw(st.sampled_from([[], ["iowa", "oslo"], ["oslo", "rome"]])),
        "schedulers": draw(st.sampled_from([1, 3])),
        "outage": draw(st.none() | st.fixed_dictionaries({"kill": st.booleans(), "left": st.integers(0, 7)})),
        "up": draw(st.sampled_from([1e6, 1.25e9])),
        "seed": draw(st.integers(1, 10**6)),
    }


def _built(folder: Path, drawn: dict[str, Any]) -> tuple[dict[str, Any], int]:
    fields = dict(drawn)
    keeps, kill, up, seed = (fields.pop(name) for name in ("keeps", "kill", "up", "seed"))
    neighbours, schedulers, outage = (fields.pop(name) for name in ("neighbours", "schedulers", "outage"))
    tree = small_tree(folder, seed % 50, **fields)
    if neighbours:
        tree["loads"]["others"] = {"neighbours": {"every": 200, "last": 60}, "at": neighbours}
    if outage is not None:
        tree["sites"]["oslo"]["outages"] = [{"node": 1, "down": 300, "up": 700, **outage}]
    tree["loads"]["web"]["tasks"] |= {"schedulers": schedulers, "probe_delay": 0.2 * (schedulers - 1)}
    iowa = tree["sites"]["iowa"]
    iowa["keeps"], iowa["outages"]["kill"] = keeps, kill
    for site in tree["sites"].values():
        site["up"] = up
    return tree, seed


@pytest.mark.matrix(0)
@settings(_DRAWN, max_examples=6)
@given(drawn=trees())
def test_drawn_scenarios_are_valid(drawn: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> None:
    _check_drawn(drawn, tmp_path_factory)


#: A node with a burst of neighbours fails, and all that runs there is killed.
_BURST_ENDS: dict[str, Any] = {
    "policies": {
        "order": "sjf", "place": "iridium", "scale": "thrifty", "plan": "fair", "dispatch": "ppot", "share": None,
        "admit": {"utilisation": {"threshold": 0.5}},
    },
    "telemetry": {"full": "force"}, "look": 120, "checkpoint": 20, "floor": 0.5, "keeps": {"tasks": 0.0, "queries": 4},
    "kill": 1.0, "neighbours": ["iowa", "oslo"], "schedulers": 1, "outage": None, "up": 1.25e9, "seed": 1644,
}  # fmt: skip


@pytest.mark.slow
@settings(_DRAWN, max_examples=60)
@given(drawn=trees())
@example(drawn=_BURST_ENDS)
def test_many_drawn_scenarios_are_valid(
    drawn: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    _check_drawn(drawn, tmp_path_factory)


def _check_drawn(drawn: dict[str, Any], folders: pytest.TempPathFactory) -> None:
    tree, seed = _built(folders.mktemp("drawn"), drawn)
    (setting,) = variants(tree)
    assert violations(recorded(setting, seed)) == []


@pytest.mark.slow
@pytest.mark.parametrize("variant", yaml.safe_load(_EXAMPLE.read_text(encoding="utf-8"))["variants"])
def test_the_example_is_valid_for_a_shorter_time(variant: str) -> None:
    tree = yaml.safe_load(_EXAMPLE.read_text(encoding="utf-8"))
    tree["variants"] = {variant: tree["variants"][variant]}
    # In the morning, when more jobs arrive.
    tree["begin"], tree["seconds"], tree["seeds"] = 201_600, 900, [1]
    tree["loads"]["batch"]["rigid"]["lublin"]["jobs"] = 1200
    tree["loads"]["web"]["tasks"]["tasks"] = 1000
    tree["loads"]["etl"]["staged"]["drawn"] = {"jobs": 6, "tasks": 20}
    (setting,) = variants(tree)
    assert violations(recorded(setting, 1)) == []


def _log(folder: Path, *, jobs: int = 24, **policies: Any) -> WorldLog:
    (setting,) = variants(small_tree(folder, jobs=jobs, policies={**ALL, **policies}))
    return recorded(setting, 1)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> WorldLog:
    """A run in which jobs do not share."""
    return _log(tmp_path_factory.mktemp("alone"), share=None, scale={"reactive": {"unneeded": 10}})


@pytest.fixture(scope="module")
def sharing(tmp_path_factory: pytest.TempPathFactory) -> WorldLog:
    """A run in which jobs share."""
    return _log(tmp_path_factory.mktemp("sharing"), jobs=40)


def test_the_controls_have_all_that_is_checked(alone: WorldLog, sharing: WorldLog) -> None:
    metrics: Any = alone.outcome.metrics
    assert violations(alone) == violations(sharing) == []
    assert min(metrics.jobs, metrics.tasks, metrics.staged_jobs, metrics.vector_jobs, metrics.queries) > 2
    assert metrics.lost_attempts > 0
    assert metrics.sent_gb > 0
    assert 0 < metrics.admit_downtime < 1
    assert metrics.cost_usd > 0
    assert sharing.outcome.metrics.guests > 0  # type: ignore[attr-defined]
    # Jobs of the third site are promised their starts: two nodes of eight cores keep one core each for tasks.
    assert [batch.bound for batch in site_log(alone, 2).batch] == [14]
    assert [batch.bound for batch in site_log(alone, 0).batch] == [None]


def test_recording_changes_no_result(alone: WorldLog) -> None:
    outcome = ClusterWorld().run(alone.setting, 1, alone.arrivals, lambda share: None)
    same = ["kind", "load", "site", "job", "submit_s", "start_s", "end_s"]
    assert outcome.jobs.select(same).equals(alone.outcome.jobs.select(same))
    assert outcome.metrics.cost_usd == alone.outcome.metrics.cost_usd  # type: ignore[attr-defined]


@pytest.mark.matrix
@pytest.mark.parametrize("name", CONTROLS)
def test_a_corrupted_log_is_rejected(name: str, alone: WorldLog) -> None:
    _rejects(CONTROLS[name], alone)


@pytest.mark.parametrize("name", OF_SHARING)
def test_a_corrupted_log_of_jobs_that_share_is_rejected(name: str, sharing: WorldLog) -> None:
    _rejects(OF_SHARING[name], sharing)


@pytest.mark.matrix(0)
def test_each_metric_is_checked(sharing: WorldLog) -> None:
    for name in cluster_outcome.expected_metrics(sharing):
        found = cluster_outcome.violations(metric(name)(sharing))
        assert any(line.startswith(f"{name} is ") for line in found), name


def _rejects(control: WorldControl, log: WorldLog) -> None:
    corrupted = control.corrupt(log)
    assert any(control.message in line for each in _VALIDATORS for line in each(corrupted))
