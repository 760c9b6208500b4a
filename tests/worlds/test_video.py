"""The video world: streaming queries."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.report.page import page_of
from windlass.experiment.runner import run
from windlass.experiment.scenario import load_scenario, make_scenario
from windlass.experiment.workloads.queries import three_tiers
from windlass.experiment.worlds.video.clusters import hierarchy_of, timetable_of
from windlass.experiment.worlds.video.simulation import VideoCase, run_video
from windlass.experiment.worlds.video.spec import ChangeSpec, LinkDropsSpec, VideoSetting
from windlass.experiment.worlds.video.world import Video
from windlass.model import InputError
from windlass.model.queries import Component, QueryPlan
from windlass.plan import POLICIES
from windlass.plan.files import PlanOf
from windlass.plan.profile.table import write_plans

ROOT = Path(__file__).parents[2]
#: The worked example: two trackers, a camera without cores, a private cluster of 3, a cloud of 40; links of 3 Mb/s.
WORKED = [
    {
        "accuracy": accuracy,
        "components": [
            {"name": f"encode {lines}", "cores": 0, "output": sent / 8 * 1e6},
            {"name": f"detect {lines}", "cores": cores, "output": handed / 8 * 1e6},
            {"name": f"associate {lines}", "cores": cores},
        ],
    }
    for lines, accuracy, sent, handed, cores in (
        ("1080p", 0.9, 3, 1.5, 3),
        ("480p", 0.6, 1, 1, 2),
        ("240p", 0.2, 0.5, 0.5, 0.5),
    )
]


def tree(**changes):
    found = {
        "world": "video",
        "cluster": {"cameras": 6, "cloud_cores": 12, "private_cores": 3},
        "workload": {
            "seconds": 1200,
            "begin": 10,
            "per_hour": 40,
            "last": 500,
            "drawn": {"kinds": ["counter", "classifier"]},
        },
        "changes": [
            {"at": 300, "cluster": "private", "cores": 1, "up": 1e5},
            {"at": 600, "cluster": "private", "cores": 3, "up": 6e5},
        ],
        "policies": {"plan": "fair"},
    }
    return found | changes


def only(results):
    (variant,) = results.variants
    return variant.outcomes[0]


def test_a_longer_restart_costs_accuracy_but_keeps_the_queries():
    done = run(make_scenario(tree(restart=[0, 30], seeds=[2])))
    soon, late = (variant.outcomes[0] for variant in done.variants)
    assert [variant.name for variant in done.variants] == ["fair, restart=0", "fair, restart=30"]
    for column in ("query", "camera", "arrive_s", "leave_s"):
        assert soon.jobs[column].equals(late.jobs[column])
    assert soon.metrics.accuracy > late.metrics.accuracy
    assert soon.metrics.lost_frames < late.metrics.lost_frames
    assert soon.metrics.changes == late.metrics.changes > 0


@pytest.mark.slow
def test_results_do_not_depend_on_the_number_of_processes():
    scenario = make_scenario(tree(drops={"every": 300, "last": 60}, seeds=[4]))
    one, two = (only(run(scenario, jobs=jobs)) for jobs in (1, 2))
    assert one.jobs.equals(two.jobs)
    assert one.metrics == two.metrics
    for mine, its in zip(one.series, two.series, strict=True):
        assert np.array_equal(mine.time, its.time)
        assert np.array_equal(mine.value, its.value)


def test_metrics_match_the_table_and_the_time_series():
    found = only(run(make_scenario(tree())))
    table, metrics = found.jobs, found.metrics
    length = table["leave_s"] - table["arrive_s"]
    assert metrics.queries == len(table)
    assert metrics.accuracy == pytest.approx((table["accuracy"] * length).sum() / length.sum())
    assert metrics.lost_frames == round(table["lost_frames"].sum())
    assert metrics.frames == round(length.sum() * 30)
    series = {each.name: each for each in found.series}
    accuracy, there = series["accuracy"], series["queries"]
    total = (accuracy.value * there.value * np.diff(accuracy.time)).sum()
    assert total == pytest.approx((table["accuracy"] * length).sum())
    changes = series["changes a minute"]
    # A change from none to a configuration is counted by neither.
    assert float(changes.value @ np.diff(changes.time)) / 60.0 == pytest.approx(found.metrics.changes)
    held = series["cores held"]
    assert metrics.core_hours == pytest.approx((held.value * np.diff(held.time)).sum() / 3600)


def test_the_worked_example_is_optimal():
    if "optimal" not in POLICIES.names():
        pytest.skip("the policy optimal is not here")
    links = 3e6 / 8
    cluster = {
        "cameras": 2, "camera_cores": 0, "camera_up": links, "private_cores": 3, "private_up": links, "cloud_cores": 40,
    }  # fmt: skip
    workload = {"begin": 2, "per_hour": 0, "last": 1e9, "seconds": 1000, "plans": WORKED, "source": 1e9}
    found = only(
        run(
            make_scenario(
                {"world": "video", "cluster": cluster, "workload": workload, "policies": {"plan": "optimal"}}
                | {"notice": 0, "restart": 0}
            )
        )
    )
    assert found.metrics.accuracy == pytest.approx(0.75)
    assert sorted(found.jobs["accuracy"].to_list()) == pytest.approx([0.6, 0.9])


def test_queries_and_clusters_are_read_from_plan_solve_files(tmp_path):
    for name in ("hierarchy", "queries"):
        (tmp_path / f"{name}.yaml").write_text((ROOT / "examples" / "plan" / f"{name}.yaml").read_text())
    text = """
world: video
cluster: {file: hierarchy.yaml}
workload: {file: queries.yaml, begin: 3, per_hour: 0, seconds: 60, last: 1.0e+9}
policies: {plan: fair}
"""
    (tmp_path / "scenario.yaml").write_text(text)
    found = only(run(load_scenario(tmp_path / "scenario.yaml")))
    assert found.jobs["query"].str.ends_with("-3").to_list() == [False, False, True]
    assert set(found.jobs["camera"]) <= {"camera-1", "camera-2"}
    assert found.processors == 43


def test_measured_plans_equal_listed_ones(tmp_path):
    plans = [PlanOf.model_validate(plan) for plan in WORKED]
    write_plans(
        [
            QueryPlan(plan.accuracy, tuple(Component(**dict(each)) for each in plan.components))
            for plan in plans
        ],
        tmp_path / "measured.parquet",
    )
    found = []
    for given in ({"plans": WORKED}, {"profile": str(tmp_path / "measured.parquet")}):
        workload = {"begin": 3, "per_hour": 0, "seconds": 60, "source": 1e9, **given}
        found.append(only(run(make_scenario(tree(workload=workload, policies={"plan": "cascade"})))))
    assert found[0].jobs.equals(found[1].jobs)
    assert found[0].metrics.accuracy > 0


def test_changes_and_drops_are_one_timetable():
    tiers = three_tiers(cameras=2)
    changes = [ChangeSpec(at=50, cluster="cloud", cores=1.5), ChangeSpec(at=20, cluster="private", up=100.0)]
    none = timetable_of(tiers, changes, None, 1e4, np.random.default_rng(1))
    assert none.time.tolist() == [20.0, 50.0]
    assert none.site.tolist() == [2, 3]
    assert none.slots.tolist() == [8000, 1500]
    assert none.up.tolist() == [100.0, np.inf]
    drops = LinkDropsSpec(every=1000, last=100, left=0.0)
    table = timetable_of(tiers, changes, drops, 1e4, np.random.default_rng(1))
    assert (np.diff(table.time) >= 0).all()
    # The cloud has no uplink to drop; other uplinks recover after each drop.
    assert table.up[table.site == 3].tolist() == [np.inf]
    camera = table.up[table.site == 0]
    assert camera.tolist() == [0.0, 75e3] * (len(camera) // 2)
    assert set(table.up[(table.site == 2) & (table.time >= 20)].tolist()) == {0.0, 100.0}


def test_planners_see_shared_work_only_with_merge():
    world = Video()
    for merge in (False, True):
        setting = VideoSetting.model_validate(tree(merge=merge))
        seen = []

        class Recording:
            name = "looking"

            def decide(self, view, seen=seen):
                seen.append(all((query.piece is None) != merge for query in view.queries))  # noqa: B023
                return POLICIES.make("fair", np.random.default_rng(1)).decide(view)

        tiers = hierarchy_of(setting.cluster)
        timetable = timetable_of(tiers, setting.changes, None, 1.0, np.random.default_rng(1))
        case = VideoCase(tiers, world.workload(setting, 1), timetable, setting.terms(), setting.merge)
        run_video(case, Recording())
        assert seen
        assert all(seen)


def test_the_report_names_queries_and_plots_accuracy_over_time(tmp_path):
    page = page_of(run(make_scenario(tree())), tmp_path)
    words = page.text()
    assert "0 jobs" not in words
    assert "queries" in words
    assert set(json.loads(page.scripts["plots"])) == {f"series-{number}" for number in range(5)}
    for title in ("Accuracy", "Queries", "Cores held"):
        assert title in words


def test_time_series_are_saved(tmp_path):
    results = run(make_scenario(tree()))
    results.save(tmp_path)
    table = pl.read_parquet(tmp_path / "series.parquet")
    assert table.columns == ["variant", "seed", "series", "begin_s", "end_s", "value"]
    assert table["series"].unique(maintain_order=True)[0] == "accuracy"
    mine = table.filter(pl.col("series") == "queries")
    assert ((mine["end_s"] - mine["begin_s"]) * mine["value"]).sum() == pytest.approx(
        (results.jobs()["leave_s"] - results.jobs()["arrive_s"]).sum()
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"cluster": {"cameras": 0}}, "cluster.cameras"),
        ({"cluster": {"file": "no.yaml"}}, "no.yaml: no such file"),
        ({"cluster": {"file": "no.yaml", "cameras": 3}}, "expected cameras or 'file', not both"),
        ({"workload": {"drawn": {"kinds": ["trackr"]}}}, "unknown kind of query 'trackr'"),
        (
            {"workload": {"drawn": {}, "file": "a.yaml"}},
            "expected one of 'drawn', 'plans', 'profile' and 'file'",
        ),
        ({"workload": {"source": 3}}, "source is for 'plans' or a 'profile'"),
        ({"workload": {"profile": "no.parquet"}}, "no.parquet: no such file"),
        ({"workload": {"begin": 0, "per_hour": 0}}, "there are no queries"),
        (
            {"changes": [{"at": 5, "cluster": "clod"}]},
            "changes.0.cluster is 'clod', expected one of camera-1",
        ),
        (
            {"changes": [{"at": 5, "cluster": "cloud", "cores": 99}]},
            "changes.0.cores is 99, expected at most the 12 of cloud",
        ),
        ({"drops": {"every": 0, "last": 5}}, "drops.every"),
        ({"restart": -1}, "restart"),
        ({"policies": {"plan": "fare"}}, "did you mean 'fair'"),
        ({"policies": {"plan": {"fair": {"band": 2}}}}, "fair has no parameter 'band'"),
    ],
)
def test_a_wrong_field_is_named(changes, message):
    with pytest.raises(InputError, match=message):
        run(make_scenario(tree() | changes))


def test_the_example_loads():
    scenario = load_scenario(ROOT / "examples" / "video.yaml")
    names = [variant.setting.policies.plan.name for variant in scenario.variants]
    assert "fair" in names
    assert {variant.setting.restart for variant in scenario.variants} == {1.0, 30.0}
