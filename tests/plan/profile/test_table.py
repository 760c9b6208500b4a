"""A profile survives saving and loading, and errors are one line."""

from __future__ import annotations

import polars as pl
import pytest

from windlass.model import InputError
from windlass.model.queries import Component, QueryPlan
from windlass.plan.profile import stream_plans, write_plans

PLANS = (
    QueryPlan(0.25, (Component("decode", 0.125, 4e5), Component("detect mog2", 0.5, 3e3))),
    QueryPlan(0.75, (Component("decode", 0.25, 4e5),)),
)
ROWS = {
    "plan": [0, 0], "accuracy": [0.5, 0.5], "position": [0, 1], "component": ["a", "b"], "cores": [1.0, 2.0],
    "output": [3.0, 4.0],
}  # fmt: skip


def test_a_profile_is_read_in_any_order_of_rows(tmp_path):
    write_plans(PLANS, tmp_path / "p.parquet")
    assert stream_plans(tmp_path / "p.parquet") == PLANS
    table = pl.read_parquet(tmp_path / "p.parquet")
    assert table.columns == ["plan", "accuracy", "position", "component", "cores", "output"]
    table.reverse().write_parquet(tmp_path / "q.parquet")
    assert stream_plans(tmp_path / "q.parquet") == PLANS


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"cores": [1.0, -2.0]}, "plan 0: component b: cores is -2.0"),
        ({"cores": [1, 2]}, "column cores is Int64, expected Float64"),
        ({"cores": [1.0, None]}, "row 2: cores is empty"),
        ({"position": [0, 2]}, "plan 0: position is [0, 2], expected 0 to 1"),
        ({"accuracy": [0.5, 0.6]}, "plan 0: accuracy is [0.5, 0.6], expected one"),
        ({"accuracy": [1.5, 1.5]}, "plan 0: plan a, b: accuracy is 1.5"),
    ],
)
def test_an_invalid_profile_is_named_in_the_error(tmp_path, wrong, message):
    path = tmp_path / "p.parquet"
    pl.DataFrame(ROWS | wrong).write_parquet(path)
    with pytest.raises(InputError) as error:
        stream_plans(path)
    assert str(error.value).startswith(f"{path}")
    assert message in str(error.value)


def test_a_file_that_is_not_a_profile_is_an_error(tmp_path):
    with pytest.raises(InputError, match=r"none.parquet: no such file"):
        stream_plans(tmp_path / "none.parquet")
    (tmp_path / "p.parquet").write_text("no")
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        stream_plans(tmp_path / "p.parquet")
    pl.DataFrame({"plan": [1]}).write_parquet(tmp_path / "q.parquet")
    with pytest.raises(InputError, match="missing column 'accuracy'"):
        stream_plans(tmp_path / "q.parquet")
    pl.DataFrame({name: values[:0] for name, values in ROWS.items()}, schema_overrides={"plan": pl.Int64}).cast(
        {"plan": pl.Int64, "accuracy": pl.Float64, "position": pl.Int64, "component": pl.String, "cores": pl.Float64,
         "output": pl.Float64}
    ).write_parquet(tmp_path / "r.parquet")  # fmt: skip
    with pytest.raises(InputError, match="no plans, expected"):
        stream_plans(tmp_path / "r.parquet")
