"""``windlass plan solve`` as a user meets it."""

import json
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples" / "plan"
FILES = (str(EXAMPLES / "queries.yaml"), "--cluster", str(EXAMPLES / "hierarchy.yaml"))


def test_a_table_says_what_runs_where_and_what_is_used(windlass):
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


def test_the_worked_example_comes_to_three_quarters(windlass):
    status, out, _ = windlass("plan", "solve", *FILES, "--policy", "optimal", "--json")
    assert status == 0
    (answer,) = json.loads(out)
    assert answer["mean_accuracy"] == pytest.approx(0.75)
    first, second = sorted(
        each["configuration"].replace("camera-2", "camera-1") for each in answer["queries"]
    )
    assert first == "encode 1080p@camera-1; detect@private; associate@cloud"
    assert second == "encode 480p@camera-1; detect, associate@cloud"


def test_json_adds_up(windlass):
    status, out, err = windlass("plan", "solve", *FILES, "--policy", "fair", "--json")
    assert (status, err) == (0, "")
    (answer,) = json.loads(out)
    assert answer["mean_accuracy"] == sum(each["accuracy"] for each in answer["queries"]) / 2
    used = {each["resource"]: (each["used"], each["capacity"]) for each in answer["resources"]}
    assert used["private.up"] == (250e3, 375e3)
    assert used["cloud.down"] == (250e3, None)
    assert answer["mean_accuracy"] <= answer["lp_bound"] <= 0.9


def test_several_policies_stand_side_by_side(windlass, tmp_path):
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


def test_an_answer_that_does_not_fit_is_refused(windlass, tmp_path):
    (tmp_path / "all.py").write_text(
        "from windlass.plan import Plan\n\n\nclass Most:\n    name = 'most'\n\n    def decide(self, view):\n"
        "        return Plan((0,) * len(view.queries), ('more',) * len(view.queries))\n"
    )
    status, out, err = windlass("plan", "solve", *FILES, "--policy", "./all.py")
    assert (status, out) == (2, "")
    assert "./all.py: camera-1.cores" in err or "./all.py: private" in err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((*FILES, "--policy", "fare"), ("'fare'", "fair")),
        ((*FILES, "--policy", ","), ("--policy", "no name")),
        ((FILES[0], "--cluster", "no.yaml", "--policy", "fair"), ("no.yaml", "cannot be read")),
        (("no.yaml", *FILES[1:], "--policy", "fair"), ("no.yaml", "cannot be read")),
    ],
)
def test_what_cannot_be_used_is_named(windlass, arguments, says):
    status, out, err = windlass("plan", "solve", *arguments)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert all(each in err for each in says)


def test_a_camera_that_is_not_there_is_named_with_its_query(windlass, tmp_path):
    text = (EXAMPLES / "queries.yaml").read_text().replace("camera: camera-2", "camera: camera-9")
    (tmp_path / "q.yaml").write_text(text)
    status, _, err = windlass("plan", "solve", "q.yaml", *FILES[1:], "--policy", "fair")
    assert status == 2
    assert err.startswith("windlass: q.yaml: query tracker-2: camera: there is no cluster 'camera-9'")
