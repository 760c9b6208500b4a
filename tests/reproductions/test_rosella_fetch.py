"""The table of what a fetch costs: its rows, and that a longer fetch makes pull slower."""

from __future__ import annotations

from windlass_reproductions.rosella import fetch


def test_a_longer_fetch_makes_pull_slower():
    found = list(fetch.rows(seeds=1, tasks=2000))
    assert [(row.sizes, row.load) for row in found] == [
        (sizes, load) for sizes in ("exponential", "fixed") for load in (0.5, 0.8, 0.9)
    ]
    for row in found:
        assert row.mean_ratios[0] < row.mean_ratios[2] < row.mean_ratios[3]
        assert {row.best_mean, row.best_p99} <= set(fetch.AT_ONCE)


def test_the_command_prints_a_table(capsys):
    fetch.main(["--seeds", "1", "--tasks", "500"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("| 0% | 1% | 5% | 20% |")
    assert [line.count("|") for line in lines] == [7] * 8
