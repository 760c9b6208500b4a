"""The fidelity of replays, the files of saved results, and labels of results."""

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from tests.verdict.test_plain import Served, served
from windlass.results import At, Choice, Outcome, Results, Series, Summary, VariantResult
from windlass.results.verdict import Comparison, ConfidenceInterval, fidelity


def logged(starts, name="recorded", own=True, choices=(), point=""):
    table = pl.DataFrame({"job": [1, 2, 3, 4], "submit_s": [0.0, 1.0, 2.0, 5.0], "start_s": starts})
    return VariantResult(
        name, choices, (Outcome(0, None, table, 4),), point, own=own, recorded=name == "recorded"
    )


def test_fidelity_compares_the_replay_with_the_recorded_starts():
    log = logged([0.0, 10.0, 20.0, 30.0])
    near, far = logged([0.0, 12.0, 20.0, 38.0], "near"), logged([9.0, 19.0, 29.0, 39.0], "far")
    found = fidelity(Results("", "", (far, log, near)))
    assert (found.name, found.policy_known, found.mean, found.logged) == ("near", False, 15.5, 13.0)
    assert (found.half, found.most) == pytest.approx(tuple(np.percentile([0, 2, 0, 8], [50, 90])))
    with_policy = logged([0.0, 10.0, 20.0, 30.0], choices=(Choice("order", "far"),))
    found = fidelity(Results("", "", (near, with_policy, far)))
    assert (found.name, found.policy_known, found.mean) == ("far", True, 22.0)
    other = logged([0.0, 10.0, 20.0, 30.0], choices=(Choice("order", "none"),))
    assert fidelity(Results("", "", (near, other))) is None
    assert fidelity(Results("", "", (near, logged([0.0] * 4, own=False)))) is None
    apart = logged([0.0] * 4, "near, load=1", point="load=1")
    assert fidelity(Results("", "", (log, apart))) is None
    fewer = VariantResult("few", (), (Outcome(0, None, near.outcomes[0].jobs.head(3), 4),))
    renamed = VariantResult(
        "x", (), (Outcome(0, None, near.outcomes[0].jobs.with_columns(job=pl.col("job") + 1), 4),)
    )
    assert fidelity(Results("", "", (log, fewer, renamed))) is None
    assert fidelity(Results("", "", (log, fewer, far))).name == "far"


def test_saved_files_hold_the_results(tmp_path):
    first = Outcome(
        4,
        Served(1.0, 2.0, 3.0),
        pl.DataFrame({"job": [1, 2], "wait": [0.5, 1.5]}),
        8,
        ("one", "two"),
        (("out/a", b"x"),),
        (Series("use", np.array([0.0, 5.0, 9.0]), np.array([1, 2])),),
    )
    second = replace(
        first, seed=5, notes=("two", "three"), written=(), series=(), metrics=Served(4.0, 5.0, 6.0)
    )
    whole = Results(
        "s", "name: s\n", (VariantResult("a", (), (first, second)), VariantResult("b", (), (second,)))
    )
    assert whole.notes() == ("one", "two", "three")
    whole.save(tmp_path / "made" / "here")
    folder = tmp_path / "made" / "here"
    jobs = pl.read_parquet(folder / "jobs.parquet")
    assert jobs.rows() == [
        (v, s, j, w) for v, s in (("a", 4), ("a", 5), ("b", 5)) for j, w in ((1, 0.5), (2, 1.5))
    ]
    assert jobs.columns == ["variant", "seed", "job", "wait"]
    metrics = pl.read_parquet(folder / "metrics.parquet")
    assert metrics.rows() == [("a", 4, 1.0, 2.0, 3.0), ("a", 5, 4.0, 5.0, 6.0), ("b", 5, 4.0, 5.0, 6.0)]
    series = pl.read_parquet(folder / "series.parquet")
    assert series.columns == ["variant", "seed", "series", "begin_s", "end_s", "value"]
    assert series.rows() == [("a", 4, "use", 0.0, 5.0, 1.0), ("a", 4, "use", 5.0, 9.0, 2.0)]
    assert (folder / "scenario.yaml").read_text() == "name: s\n"
    assert (folder / "written" / "variant-1-seed-4" / "out" / "a").read_bytes() == b"x"
    none = Results("s", "", (VariantResult("b", (), (second,)),))
    none.save(folder / "none")
    assert sorted(each.name for each in (folder / "none").iterdir()) == [
        *("jobs.parquet", "metrics.parquet", "scenario.yaml"),
    ]


def test_choices_points_and_results_have_labels_and_defaults():
    assert (Choice("order", "easy").label, Choice("order", "easy", "a=1").label) == ("easy", "easy(a=1)")
    assert (At("a.b.load", 2).name, At("load", 2).name, At("a.load", 2).label) == ("load", "load", "load=2")
    assert VariantResult("a, load=1", (), (), "load=1").own_name == "a"
    assert VariantResult("a, load=1", (), ()).own_name == "a, load=1"
    plain = VariantResult("a", (), ())
    assert (plain.point, plain.at, plain.own) == ("", (), False)
    bare = Outcome(1, None, pl.DataFrame(), 2)
    assert (bare.notes, bare.written, bare.series, bare.cut_share) == ((), (), (), 0.0)
    assert Series("a", np.zeros(1), np.zeros(0)).percent is False
    found = served("a", [1.0, 3.0], [2.0, 2.0]).summaries()
    assert [(each.metric, each.mean, each.better, each.sometimes) for each in found] == [
        *(("requests", 5.0, 0, False), ("quality", 2.0, 1, False), ("cost", 2.0, -1, False)),
    ]
    made = Comparison(
        "x", (1.0, math.nan, 2.0), 0, (None, None, ConfidenceInterval(1.0, 0.0, 2.0, 3)), "seeds"
    )
    # A difference whose interval begins at 0 is not significant.
    assert (made.is_worse(2), made.supported()) == (False, (False,) * 3)
    significant = replace(made, against=(None, None, ConfidenceInterval(1.0, 0.5, 2.0, 3)))
    assert significant.supported() == (True, False, False)


def test_results_can_be_saved_twice_in_the_same_folder(tmp_path):
    written = (("out/a", b"x"), ("out/b", b"y"))
    run = Outcome(4, Served(1.0, 2.0, 3.0), pl.DataFrame({"job": [1]}), 8, written=written)
    whole = Results("s", "name: s\n", (VariantResult("a", (), (run,)),))
    for _ in range(2):
        whole.save(tmp_path)
    folder = tmp_path / "written" / "variant-1-seed-4" / "out"
    assert [(folder / name).read_bytes() for name in "ab"] == [b"x", b"y"]
    plain = Summary("x", 1.0, 2.0)
    assert (plain.better, plain.sometimes) == (0, False)
