"""Gains of admission in the simulator, compared on the same seeds and at the same share of rejected tasks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

from windlass.experiment.runner import run
from windlass.experiment.scenario import make_scenario
from windlass.model import InputError
from windlass_reproductions.pronto.simulated import (
    LADDER,
    Contender,
    at_share,
    contenders,
    main,
    percent_change,
    table,
    with_ladder,
)

TREE = {
    "world": "admission",
    "cluster": {"nodes": 3, "bursts": {"every": 30, "last": 10, "ramp": 1}},
    "workload": {"tasks": 2000, "load": [0.6, 0.8]},
    "policies": {
        "dispatch": "pot",
        "admit": ["always", {"random": {"downtime": 0.05}}, {"utilisation": {"downtime": 0.05}}],
    },
    "seeds": [1, 2],
}


def contender(label, p99, rejected):
    return Contender(label.partition("(")[0], label, np.array(p99), np.array(rejected))


def cells_by_label(lines):
    """Return the cells of each row of a table by its label."""
    split = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("| ")]
    return {cells[0]: cells[1:] for cells in split}


def test_values_between_two_rungs_are_interpolated_per_seed():
    rungs = [
        contender("always", [2.0, 3.0], [0.0, 0.0]),
        contender("utilisation(downtime=0.1)", [4.0, 3.0], [0.1, 0.2]),
    ]
    # Detects rungs of another seed, and a mean over seeds before the interpolation.
    assert at_share(np.array([0.05, 0.05]), rungs).tolist() == [3.0, 3.0]
    assert at_share(np.array([0.0, 0.2]), rungs[::-1]).tolist() == [2.0, 3.0]
    beyond = at_share(np.array([0.11, 0.11]), rungs)
    assert np.isnan(beyond[0])
    assert beyond[1] == 3.0


def test_differences_are_paired_by_seed():
    base = np.array([1.0, 5.0, 9.0])
    # Seeds differ by far more than policies do, without effect on the result.
    found = percent_change(0.9 * base, base)
    assert (found.mean, found.half) == (pytest.approx(-10.0), pytest.approx(0.0, abs=1e-9))
    assert percent_change(base, 0.8 * base).mean == pytest.approx(25.0)


def test_a_table_compares_each_policy_with_none_and_an_equal_threshold():
    found = [
        contender("always", [2.0, 4.0], [0.0, 0.0]),
        contender("utilisation(downtime=0.05)", [3.0, 6.0], [0.1, 0.1]),
        contender("ours", [2.0, 4.0], [0.1, 0.1]),
        contender("worse", [3.0, 6.0], [0.05, 0.05]),
        contender("greedy", [1.0, 2.0], [0.3, 0.3]),
    ]
    lines = list(table("pot, load=0.8", found))
    assert lines[0] == "pot, load=0.8, 2 seeds"
    cells = cells_by_label(lines)
    assert cells["always"] == ["3.00", "0.0", "", ""]
    assert cells["utilisation(downtime=0.05)"] == ["4.50", "10.0", "+50.0 (+50.0 to +50.0)", ""]
    assert cells["ours"] == ["3.00", "10.0", "+0.0 (+0.0 to +0.0)", "-33.3 (-33.3 to -33.3)"]
    # Halfway up the ladder the threshold has 2.5 and 5 s.
    assert cells["worse"][3] == "+20.0 (+20.0 to +20.0)"
    assert cells["greedy"][3] == "rejects more than any threshold run"


def test_a_fixed_threshold_is_not_a_rung():
    found = [
        contender("always", [2.0, 2.0], [0.0, 0.0]),
        contender("utilisation(threshold=0.9)", [9.0, 9.0], [0.1, 0.1]),
        contender("utilisation(downtime=0.05)", [4.0, 4.0], [0.2, 0.2]),
    ]
    assert cells_by_label(table("x", found))["utilisation(threshold=0.9)"][3] == "+200.0 (+200.0 to +200.0)"


def test_each_rung_is_added_once():
    tree = with_ladder(TREE, 7)
    downtimes = [
        each["utilisation"]["downtime"] for each in tree["policies"]["admit"] if "utilisation" in each
    ]
    assert sorted(downtimes) == sorted(LADDER)
    assert tree["seeds"] == [7]
    assert TREE["seeds"] == [1, 2]
    single = with_ladder({**TREE, "policies": {"dispatch": "pot", "admit": "always"}}, 1)
    assert single["policies"]["admit"][0] == "always"


def test_arguments_override_the_scenario():
    # Detects a load that is lost with the number of tasks, and a change to the scenario without an argument.
    assert with_ladder(TREE, 1)["workload"] == TREE["workload"]
    assert "sizes" not in with_ladder(TREE, 1)
    found = with_ladder({**TREE, "sizes": "hidden"}, 1, 50, "known")
    assert found["workload"] == {"tasks": 50, "load": [0.6, 0.8]}
    assert found["sizes"] == "known"


def test_an_interval_has_its_lower_end_first():
    found = [contender("always", [1.0, 1.0, 1.0], [0.0] * 3), contender("ours", [1.1, 1.2, 1.3], [0.0] * 3)]
    # Student's t for three seeds: 4.303 times 10 over the root of 3.
    assert cells_by_label(table("x", found))["ours"][2] == "+20.0 (-4.8 to +44.8)"


def test_the_ladder_is_the_documented_one():
    page = (Path(__file__).parents[2] / "docs" / "results-admit-simulated.md").read_text(encoding="utf-8")
    *most, last = (f"{100 * downtime:g}" for downtime in LADDER)
    assert f"downtimes of {', '.join(most)} and {last} %" in " ".join(page.split())


def test_contenders_have_the_metrics_of_the_runs():
    runs = [run(make_scenario(with_ladder(TREE, seed))).variants for seed in TREE["seeds"]]
    found = contenders(runs)
    assert list(found) == ["pot, load=0.6", "pot, load=0.8"]
    whole = run(make_scenario(TREE))
    for variant in whole.variants:
        label = variant.choices[1].label
        own = next(each for each in found[f"pot, {variant.point}"] if each.label == label)
        metrics = [outcome.metrics for outcome in variant.outcomes]
        assert own.p99.tolist() == [each.p99_response_s for each in metrics]
        assert own.rejected.tolist() == [each.rejected_tasks / each.tasks for each in metrics]
    loads = found.values()
    assert all(len(each) == 2 + len(LADDER) for each in loads)
    # A threshold that may reject more tasks does so.
    for each in loads:
        shares = [own.rejected.mean() for own in each if own.policy == "utilisation"]
        assert max(shares) > 2 * min(shares) > 0


def test_tables_are_printed_after_each_seed(tmp_path, capsys):
    path = tmp_path / "a.yaml"
    path.write_text(yaml.safe_dump({**TREE, "workload": {"tasks": 300, "load": 0.6}}))
    main([str(path), "--tasks", "200"])
    shown = capsys.readouterr().out
    assert [line for line in shown.splitlines() if line.startswith("pot")] == ["pot, 1 seeds", "pot, 2 seeds"]
    path.write_text("workload: {lublin: {jobs: 3}}\npolicies: {order: easy}\n")
    with pytest.raises(InputError, match=r"a\.yaml: world is batch, expected admission"):
        main([str(path)])


def test_a_table_without_the_always_policy_is_refused():
    with pytest.raises(InputError, match="no policy 'always'"):
        list(table("x", [contender("random", [1.0], [0.1])]))


def test_the_command_applies_its_options(tmp_path, capsys):
    short = {**TREE, "policies": {"dispatch": "rosella", "admit": "always"}, "seeds": [1]}
    outputs = []
    for name, more, words in (
        ("a", {"workload": {"tasks": 300, "load": 0.6}}, []),
        ("b", {"workload": {"tasks": 200, "load": 0.6}, "sizes": "known"}, []),
        ("c", {"workload": {"tasks": 300, "load": 0.6}}, ["--tasks", "200", "--sizes", "known"]),
        ("d", {"workload": {"tasks": 300, "load": 0.6}}, ["--tasks", "200"]),
    ):
        path = tmp_path / f"{name}.yaml"
        path.write_text(yaml.safe_dump({**short, **more}))
        main([str(path), *words])
        outputs.append(capsys.readouterr().out)
    assert outputs[1] == outputs[2]
    assert len({outputs[0], outputs[1], outputs[3]}) == 3
