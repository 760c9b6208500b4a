"""``windlass plan run`` before anything starts: the dry run and one-line errors."""

import pytest
import yaml

pytest.importorskip("cv2", reason="OpenCV is not installed: pip install '.[vision]'")

from tests.engines.streams.street import make_street


@pytest.fixture(scope="module")
def street(tmp_path_factory):
    return make_street(tmp_path_factory.mktemp("street"), queries=2, seconds=2.0)


def with_first_query(street, folder, **values):
    """Write the queries file with other values for the first query; the clips stay in place."""
    queries, _ = street
    tree = yaml.safe_load(queries.read_text())
    for each in tree["queries"]:
        each |= {name: str(queries.parent / each[name]) for name in ("clip", "truth", "pipeline")}
    first = tree["queries"][0]
    for name, value in values.items():
        if value is None:
            del first[name]
        else:
            first[name] = value
    file = folder / "changed.yaml"
    file.write_text(yaml.safe_dump(tree))
    return file


def test_a_dry_run_lists_components_and_sites(windlass, street):
    queries, tiers = street
    status, out, _ = windlass(
        "plan", "run", str(queries), "--cluster", str(tiers), "--policy", "fair", "--nodes", "2", "--dry-run"
    )
    assert status == 0
    lines = out.splitlines()
    assert [line.split(",")[0].strip() for line in lines[1:5]] == [
        "cloud: 2 raylet(s)",
        "private: 2 raylet(s)",
        "camera-1: 1 raylet(s)",
        "camera-2: 1 raylet(s)",
    ]
    assert [line.partition(":")[0] for line in lines[5:7]] == ["would run q1", "would run q2"]
    assert all("detect" in line and "@" in line for line in lines[5:7])
    assert lines[-1] == "Nothing was started."


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"clip": None}, "queries.0.clip: missing, expected a file"),
        ({"clip": "nowhere.mp4"}, "nowhere.mp4: no such file"),
        ({"camera": "camera-9"}, "query q1: camera: there is no cluster 'camera-9'"),
        (
            {"plans": [{"accuracy": 0.5, "components": [{"name": "guess", "cores": 0.1}]}]},
            "has no plan 'guess', which its profile has",
        ),
    ],
)
def test_invalid_queries_are_a_one_line_error(windlass, street, tmp_path, values, message):
    file = with_first_query(street, tmp_path, **values)
    status, out, err = windlass(
        "plan", "run", str(file), "--cluster", str(street[1]), "--policy", "fair", "--dry-run"
    )
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_an_unknown_engine_is_rejected(windlass, street):
    status, _, err = windlass("plan", "run", str(street[0]), "--cluster", str(street[1]), "--engine", "mesos")
    assert status == 2
    assert err == "windlass: --engine: unknown engine 'mesos', expected ray\n"
