"""The reproduction of Cascade: its profiles and its cases."""

from __future__ import annotations

import numpy as np
import pytest

from windlass.model.queries import Component, QueryPlan
from windlass.plan import cascade
from windlass.plan.profile import write_plans
from windlass_reproductions import public
from windlass_reproductions.cascade import recorded
from windlass_reproductions.cascade.drawn import (
    CLASSIFIER,
    COUNTER,
    KINDS,
    draw_accuracy,
    draw_clip,
    plans_of,
)
from windlass_reproductions.cascade.runs import bound, cheapest, on_level, run
from windlass_reproductions.cascade.setting import (
    CAMERA,
    CLOUD,
    Deployment,
    drawn_case,
    measured_case,
    recorded_case,
)

SMALL = Deployment(cameras=3, private_cores=2.0, cloud_cores=6.0)


def small(per_camera=2, seed=1, kinds=(COUNTER, CLASSIFIER)):
    return drawn_case(per_camera, np.random.default_rng(seed), kinds, SMALL)


@pytest.mark.parametrize(("kind", "count"), [*zip(KINDS, (30, 20, 10, 300), strict=True)])
def test_profiles_have_the_numbers_of_plans_in_the_thesis(kind, count):
    rng = np.random.default_rng(2)
    clip, accuracy = draw_clip(rng), draw_accuracy(kind, rng)
    plans = plans_of(kind, clip, accuracy)
    assert len(plans) == len(accuracy) == count
    assert [plan.accuracy for plan in plans] == accuracy.tolist()
    # With the same implementations, more pixels or frames never cost less.
    by_name = {tuple(step.name.rsplit(" ", 3)[0] for step in plan.components[1:]): [] for plan in plans}
    for plan in plans:
        by_name[tuple(step.name.rsplit(" ", 3)[0] for step in plan.components[1:])].append(plan)
    for same in by_name.values():
        full = same[0].components
        for other in same[1:]:
            assert all(
                one.cores >= step.cores and one.output >= step.output
                for one, step in zip(full, other.components, strict=True)
            )


def test_encoders_run_at_their_cameras_and_first_keeps_the_first_queries():
    case = small(3)
    assert [of.camera for of in case.first(6).options] == [0, 1, 2, 0, 1, 2]
    for of in case.options:
        assert (of.level[:, 0] == CAMERA).all()
        assert np.allclose(of.piece_demand.sum(axis=1), of.demand)
        assert of.accuracy.shape == of.plan.shape == of.together.shape
    again = small(3)
    assert all(
        np.array_equal(a.accuracy, b.accuracy) for a, b in zip(case.options, again.options, strict=True)
    )


def test_equal_queries_on_a_camera_share_their_pieces_of_work():
    case = drawn_case(2, np.random.default_rng(1), (COUNTER,), SMALL)
    one, other = case.options[0], case.options[3]
    assert one.camera == other.camera
    assert np.array_equal(one.piece, other.piece)
    assert not np.array_equal(one.accuracy, other.accuracy)
    assert not set(one.piece.ravel()) & set(case.options[1].piece.ravel())


def test_outcomes_stay_within_bounds_and_average_over_kinds():
    case = small()
    ours = run(case, "cascade")
    assert 0.0 < run(case, "fair").mean <= bound(case)
    assert ours.mean <= bound(case) + 1e-9
    both = {kind.name: sum(of.kind == kind.name for of in case.options) for kind in (COUNTER, CLASSIFIER)}
    assert ours.mean == pytest.approx(
        sum(ours.of_kind(kind) * n for kind, n in both.items()) / len(case.options)
    )
    assert (ours.costs <= 1 + 1e-9).all()
    assert 0.0 < ours.busy("cores") <= 1.0
    assert run(case.where(lambda of: of.together), "cascade").together == 1.0
    tied = on_level(case, CLOUD)
    assert all((of.level[:, 1:] == CLOUD).all() for of in tied.options)
    assert cheapest(case) == pytest.approx(
        np.mean([of.demand[:, ::3].sum(axis=1).min() for of in case.options])
    )


def test_blind_merging_runs_one_plan_per_camera():
    case = drawn_case(2, np.random.default_rng(4), (COUNTER,), SMALL)
    found = run(case, "merge-everything")
    cameras = [of.camera for of in case.options]
    assert len(set(zip(cameras, found.plan.choices, strict=True))) == len(set(cameras)) < len(cameras)
    # The plan equals that of one query per camera with the mean accuracy of its queries.
    means = [
        np.mean([of.accuracy for of in case.options if of.camera == camera], axis=0) for camera in range(3)
    ]
    alone = cascade(means, [of.demand for of in case.options[:3]], case.capacity)
    assert found.plan.choices[:3] == tuple(alone.tolist())


def test_recorded_models_form_a_front_of_accuracy_and_rate(monkeypatch, tmp_path):
    tables = recorded.tables()
    if tables is None:
        pytest.skip("the public traces are not here")
    assert (np.diff(tables.top1) > 0).all()
    assert (np.diff(tables.rate) < 0).all()
    assert len(tables.plans()) == len(tables.accuracy(0)) == len(tables.top1) * len(tables.every)
    case = recorded_case(1, np.random.default_rng(1), tables, SMALL)
    assert bound(case) >= run(case, "fair").mean
    monkeypatch.setenv(public.VARIABLE, str(tmp_path))
    assert recorded.tables() is None


def test_measured_profiles_are_read_and_run(monkeypatch, tmp_path):
    monkeypatch.setenv(recorded.VARIABLE, str(tmp_path))
    assert recorded.measured() == []
    steps = [(0.3, 0.1, 1e4), (0.8, 2.5, 2e4)]
    plans = tuple(
        QueryPlan(
            worth,
            (
                Component("decode", 0.1, 4e5),
                Component(f"detect {cores}", cores, out),
                Component("track", 0.1, 0.0),
            ),
        )
        for worth, cores, out in steps
    )
    write_plans(plans, tmp_path / "clip.parquet")
    case = measured_case(2, np.random.default_rng(1), recorded.measured(), SMALL)
    assert len(case.options) == 6
    # Three components at three levels that never go down: ten ways for each plan, and the decoder may be anywhere.
    assert {len(of.accuracy) for of in case.options} == {20}
    assert {*case.options[0].level[:, 0].tolist()} == {0, 1, 2}
    assert 0.3 <= run(case, "cascade").mean <= bound(case)
