"""Jobs, waits and work per group: their weighted means and sums give those of all jobs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.report.made import outcome, results
from windlass.model import InputError
from windlass.report.group_tables import group_table, section
from windlass.results import At, Results, VariantResult
from windlass.results.groups import SIZE_CLASSES, divisions_of, group_metrics, starved_bound
from windlass.results.metrics.site import bounded_slowdown

JOB = st.tuples(
    st.floats(0.0, 1e5),
    st.floats(0.0, 2e5),
    st.floats(1.0, 1e5),
    st.integers(1, 600),
    st.sampled_from(["a", "b", None]),
)


def named(jobs: list, seed: int = 0):
    submit, wait, run, procs, users = zip(*jobs, strict=True)
    made = outcome(submit, wait, run, seed=seed, procs=procs)
    return replace(made, jobs=made.jobs.with_columns(pl.Series("user", users, dtype=pl.String)))


@given(st.lists(JOB, min_size=1, max_size=30), st.sampled_from(["user", "size"]), st.integers(1, 2))
def test_groups_add_up_to_all_jobs(jobs, division, seeds):
    made = results(("easy", [named(jobs, seed) for seed in range(seeds)]))
    found = group_metrics(made.variants, division, starved_after=5e4)
    table = made.variants[0].outcomes[0].jobs
    wait = (table["start_s"] - table["submit_s"]).to_numpy()
    slowed = bounded_slowdown(*(table[name].to_numpy() for name in ("submit_s", "start_s", "end_s")))
    weights = found["jobs"].to_numpy()
    assert weights.sum() == len(jobs)
    assert np.average(found["mean_wait_s"], weights=weights) == pytest.approx(wait.mean())
    assert np.average(found["mean_bounded_slowdown"], weights=weights) == pytest.approx(slowed.mean())
    assert found["work_share"].sum() == pytest.approx(1.0)
    assert found["starved"].sum() == (wait > 5e4).sum()
    assert set(found[division]) == set(table["user"] if division == "user" else found["size"])


def test_each_group_has_its_own_jobs():
    jobs = [
        (0.0, 10.0, 5.0, 1, "a"),
        (1.0, 30.0, 20.0, 8, "a"),
        (2.0, 90_000.0, 100.0, 9, "b"),
        (3.0, 0.0, 1.0, 600, None),
    ]
    made = results(("easy", [named(jobs)]))
    found = made.by("user")
    assert found.columns == [
        "variant", "user", "jobs", "mean_wait_s", "p95_wait_s", "mean_bounded_slowdown", "work_share", "starved",
    ]  # fmt: skip
    work = 5 + 160 + 900 + 600
    assert found.row(0) == pytest.approx(("easy", "a", 2.0, 20.0, 29.0, (1.5 + 2.5) / 2, 165 / work, 0.0))
    assert found.row(1) == ("easy", "b", 1.0, 90_000.0, 90_000.0, 901.0, 900 / work, 1.0)
    assert found.row(2)[1:4] == (None, 1.0, 0.0)
    assert made.by("user", starved_after=20.0)["starved"].to_list() == [1.0, 1.0, 0.0]
    # Size classes are in the order of size, with their upper bounds included.
    assert made.by("size")["size"].to_list() == ["1", "2–8", "9–64", "> 512"]
    bounds = results(
        ("easy", [named([(0.0, 0.0, 1.0, procs, "a") for procs in (1, 2, 8, 9, 64, 65, 512, 513)])])
    )
    assert bounds.by("size")["jobs"].to_list() == [1, 2, 2, 2, 1]
    assert bounds.by("size")["size"].to_list() == list(SIZE_CLASSES)


def test_only_finished_jobs_count():
    made = named([(0.0, 1.0, 5.0, 1, "a"), (0.0, 3.0, 5.0, 1, "a")])
    task = made.jobs.with_columns(kind=pl.Series(["job", "task"]))
    lost = made.jobs.with_columns(end_s=pl.Series([6.0, np.nan]))
    for table in (task, lost):
        found = results(("easy", [replace(made, jobs=table)])).by("user")
        assert (found["jobs"].to_list(), found["mean_wait_s"].to_list()) == ([1.0], [1.0])


def test_the_scenario_defines_starvation():
    variant = results(("easy", [named([(0.0, 7000.0, 5.0, 1, "a")])])).variants[0]
    assert starved_bound(variant, "") == 86400.0
    assert starved_bound(variant, "starved_after: [1, 2]") == 86400.0
    assert starved_bound(replace(variant, at=(At("starved_after", 60.0),)), "starved_after: [60, 90]") == 60.0
    assert Results("", "starved_after: 3600.0", (variant,)).by("user")["starved"].to_list() == [1.0]
    assert Results("", "starved_after: 7000.0", (variant,)).by("user")["starved"].to_list() == [0.0]


def test_unknown_divisions_are_rejected():
    made = results(("easy", [named([(0.0, 1.0, 5.0, 1, "a")])]))
    assert divisions_of(made.variants) == ("user", "size")
    assert divisions_of((VariantResult("easy", (), ()),)) == ()
    with pytest.raises(InputError, match="per: unknown division 'users', expected one of user, group, "):
        made.by("users")
    with pytest.raises(InputError, match="per: the jobs have no queue, expected one of user, size"):
        made.by("queue")


def test_the_tables_have_the_groups_with_the_most_jobs(render):
    jobs = [(float(at), 60.0 * at, 60.0, 1, f"u{at % 12:02}" if at < 24 else "u03") for at in range(30)]
    made = results(("fcfs", [named(jobs)]), ("recorded", [named(jobs)]))
    text = render(group_table(made, "user"))
    lines = [line.split() for line in text.splitlines()]
    users = [line[0] for line in lines if line and line[0].startswith("u") and line[0] != "user"]
    assert users == ["u03", "u00", "u01", "u02", "u04", "u05", "u06", "u07", "u08", "u09"]
    assert ["recorded", "8"] in [line[:2] for line in lines]
    assert "Starved: jobs that waited longer than 1 d. 2 other users not shown; JSON has all." in text
    html = section(made)
    assert html.index("<h3>By user</h3>") < html.index(">u03<") < html.index(">u00<")
    # All jobs have one size, so there is nothing to compare.
    assert "By size" not in html
    assert section(results(("fcfs", [outcome([0], [0], [1])]))) == ""


@pytest.fixture
def render():
    from rich.console import Console

    def shown(table) -> str:
        console = Console(width=120)
        with console.capture() as capture:
            console.print(table)
        return capture.get()

    return shown
