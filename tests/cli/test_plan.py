"""``windlass plan solve`` on the command line."""

import json
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples" / "plan"
FILES = (str(EXAMPLES / "queries.yaml"), "--cluster", str(EXAMPLES / "hierarchy.yaml"))


def test_the_table_lists_components_sites_and_used_resources(windlass):
    status, out, _ = windlass("plan", "solve", *FILES, "--policy", "fair", "--explain")
    assert status == 0
    for text in (
        "encode 480p@camera-1; detect, associate@cloud",
        "private.up",
        "67%",
        "fair: tracker-2: starts",
        "fair: mean accuracy 0.6, LP bound 0.7875",
    ):
        assert text in out


def test_the_worked_example_has_accuracy_three_quarters(windlass):
    status, out, _ = windlass("plan", "solve", *FILES, "--policy", "optimal", "--json")
    assert status == 0
    (answer,) = json.loads(out)
    assert answer["mean_accuracy"] == pytest.approx(0.75)
    first, second = sorted(
        each["configuration"].replace("camera-2", "camera-1") for each in answer["queries"]
    )
    assert first == "encode 1080p@camera-1; detect@private; associate@cloud"
    assert second == "encode 480p@camera-1; detect, associate@cloud"


def test_the_totals_in_json_add_up(windlass):
    status, out, err = windlass("plan", "solve", *FILES, "--policy", "fair", "--json")
    assert (status, err) == (0, "")
    (answer,) = json.loads(out)
    assert answer["mean_accuracy"] == sum(each["accuracy"] for each in answer["queries"]) / 2
    used = {each["resource"]: (each["used"], each["capacity"]) for each in answer["resources"]}
    assert used["private.up"] == (250e3, 375e3)
    assert used["cloud.down"] == (250e3, None)
    assert answer["mean_accuracy"] <= answer["lp_bound"] <= 0.9


def test_several_policies_are_compared_in_one_table(windlass, tmp_path):
    (tmp_path / "none.py").write_text(
        "from windlass.plan import Plan\n\n\nclass Nobody:\n    name = 'nobody'\n\n    def decide(self, view):\n"
        "        return Plan((-1,) * len(view.queries), ('not now',) * len(view.queries))\n"
    )
    status, out, _ = windlass("plan", "solve", *FILES, "--policy", "fair,./none.py", "--explain")
    assert status == 0
    heads = next(line for line in out.splitlines() if "query" in line)
    assert "fair" in heads
    assert "none.py" in heads
    assert "./none.py: mean accuracy 0, LP bound 0.7875; 2 of 2 cannot run" in out
    assert "./none.py: tracker-1: not now" in out


def test_a_plan_over_capacity_is_rejected(windlass, tmp_path):
    (tmp_path / "all.py").write_text(
        "from windlass.plan import Plan\n\n\nclass Most:\n    name = 'most'\n\n    def decide(self, view):\n"
        "        return Plan((0,) * len(view.queries), ('more',) * len(view.queries))\n"
    )
    status, out, err = windlass("plan", "solve", *FILES, "--policy", "./all.py")
    assert (status, out) == (2, "")
    assert "./all.py: camera-1.cores" in err or "./all.py: private" in err


@pytest.mark.parametrize(
    ("arguments", "fragments"),
    [
        ((*FILES, "--policy", "fare"), ("'fare'", "fair")),
        ((*FILES, "--policy", ","), ("--policy", "no name")),
        ((FILES[0], "--cluster", "no.yaml", "--policy", "fair"), ("no.yaml", "no such file")),
        (("no.yaml", *FILES[1:], "--policy", "fair"), ("no.yaml", "no such file")),
    ],
)
def test_wrong_arguments_are_a_one_line_error(windlass, arguments, fragments):
    status, out, err = windlass("plan", "solve", *arguments)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert all(each in err for each in fragments)


def test_an_unknown_camera_is_named_with_its_query(windlass, tmp_path):
    text = (EXAMPLES / "queries.yaml").read_text().replace("camera: camera-2", "camera: camera-9")
    (tmp_path / "q.yaml").write_text(text)
    status, _, err = windlass("plan", "solve", "q.yaml", *FILES[1:], "--policy", "fair")
    assert status == 2
    assert err.startswith("windlass: q.yaml: query tracker-2: camera: there is no cluster 'camera-9'")
