"""The verdicts of hours of driving, in both directions."""

import dataclasses

import pytest

from tests.soak.judge import growths, violations
from tests.soak.plot import page
from tests.soak.samples import Sample, read, values, write

FLAT = [
    Sample(
        10.0 * step,
        1,
        50_000_000 + 100_000 * (step % 5),
        0.1 * step,
        0.1 + 0.01 * (step % 3),
        0.2,
        3,
        2,
        1000,
    )
    for step in range(360)
]


def grown(field, per_step):
    return [
        dataclasses.replace(
            each, **{field: type(getattr(each, field))(getattr(each, field) + per_step * step)}
        )
        for step, each in enumerate(FLAT)
    ]


def test_a_flat_driver_is_flat():
    assert [each.what for each in growths(FLAT)] == ["memory, bytes", "poll, s", "lag, s"]
    assert all(each.flat for each in growths(FLAT))


@pytest.mark.parametrize(
    ("field", "per_step", "what"),
    [("memory", 30_000, "memory, bytes"), ("poll", 0.001, "poll, s"), ("lag", 0.001, "lag, s")],
)
def test_growth_is_noticed(field, per_step, what):
    assert [each.what for each in growths(grown(field, per_step)) if not each.flat] == [what]


def test_a_process_that_ended_soon_is_not_judged():
    assert growths(FLAT[:60]) == []


@pytest.mark.parametrize(
    ("lines", "cancelled", "wrong"),
    [
        (["begin 1 0", "end 1 0"], [], []),
        (["begin 1 0", "begin 1 1", "end 1 1"], [], []),
        (["begin 1 0"], [], ["job 1 did not run"]),
        (["begin 1 0"], [1], []),
        ([], [1], []),
        (
            ["begin 1 0", "end 1 0", "begin 1 0", "end 1 0"],
            [],
            ["job 1 began 2 times as start 0", "job 1 ended 2 times"],
        ),
        (["begin 1 0", "end 1 0", "begin 2 0", "end 2 0"], [], ["job 2 ran and was not submitted"]),
    ],
)
def test_each_job_must_run_once(lines, cancelled, wrong):
    assert violations(lines, [1], cancelled) == wrong


def test_samples_are_read_as_written(tmp_path):
    write(tmp_path / "samples.csv", FLAT[:3])
    assert read(tmp_path / "samples.csv") == FLAT[:3]


def test_metrics_are_read():
    text = "# HELP windlass_slurm_polls_total Polls\nwindlass_slurm_polls_total 3.0\nwindlass_slurm_lag_seconds NaN\n"
    found = values(text)
    assert found["polls_total"] == 3.0
    assert found["lag_seconds"] != found["lag_seconds"]


def test_the_page_escapes_its_lines():
    assert "<li>&lt;b&gt;</li>" in page(FLAT, ["<b>"])
