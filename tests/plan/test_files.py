"""Files of queries and clusters: their content is read, and errors name the faulty field."""

from pathlib import Path

import numpy as np
import pytest

from windlass.model import InputError
from windlass.model.queries import Component, QueryPlan
from windlass.plan.files import QueryRecording, read_hierarchy, read_queries, read_recorded
from windlass.plan.profile import write_plans

EXAMPLES = Path(__file__).parents[2] / "examples" / "plan"
PLAN = "{accuracy: 0.9, components: [{name: detect, cores: 3, output: 1.0e+3}]}"
QUERY = f"{{name: cars, camera: c, source: 5, plans: [{PLAN}]}}"


def test_the_example_files_are_the_worked_example():
    hierarchy, queries = read_hierarchy(EXAMPLES / "hierarchy.yaml"), read_queries(EXAMPLES / "queries.yaml")
    capacity = dict(zip(hierarchy.resources, hierarchy.capacity().tolist(), strict=True))
    assert capacity["private.cores"] == 3
    assert capacity["private.up"] * 8 == capacity["camera-2.up"] * 8 == 3e6
    assert capacity["private.down"] == np.inf
    table = [
        (
            plan.accuracy,
            *(8e-6 * step.output for step in plan.components[:2]),
            *(x.cores for x in plan.components[1:]),
        )
        for plan in queries[0].plans
    ]
    assert table == [(0.9, 3, 1.5, 3, 3), (0.6, 1, 1, 2, 2), (0.2, 0.5, 0.5, 0.5, 0.5)]
    assert queries[1].plans == queries[0].plans
    assert [query.camera for query in queries] == ["camera-1", "camera-2"]


def test_omitted_numbers_are_zero(tmp_path):
    file = tmp_path / "q.yaml"
    file.write_text(
        "queries: [{name: a, camera: c, plans: [{accuracy: 1, components: [{name: x, cores: 0}]}]}]"
    )
    (query,) = read_queries(file)
    assert (query.source, query.plans[0].components[0].output) == (0.0, 0.0)


def test_a_profile_is_read_relative_to_the_file(tmp_path):
    plans = (QueryPlan(0.7, (Component("decode", 0.2, 5e5), Component("detect", 1.5, 0.0))),)
    write_plans(plans, tmp_path / "p.parquet")
    file = tmp_path / "q.yaml"
    file.write_text(
        "queries: [{name: a, camera: c, profile: p.parquet}, {name: b, camera: c, profile: p.parquet}]"
    )
    assert [query.plans for query in read_queries(file)] == [plans, plans]


@pytest.mark.parametrize(
    ("text", "fragments"),
    [
        (f"queries: [{QUERY.replace('0.9', '1.5')}]", ("queries.0.plans.0.accuracy", "1.5")),
        (f"queries: [{QUERY.replace('cores: 3', 'cores: -3')}]", ("components.0.cores", "-3")),
        (f"queries: [{QUERY.replace('1.0e+3', '.inf')}]", ("components.0.output", "inf")),
        (f"queries: [{QUERY.replace('source: 5', 'source: .nan')}]", ("queries.0.source", "nan")),
        (f"queries: [{QUERY.replace('source', 'sauce')}]", ("queries.0.sauce", "5")),
        (f"queries: [{QUERY.replace('detect', '')}]", ("components.0.name",)),
        (f"queries: [{QUERY}, {QUERY}]", ("'cars'", "2 times")),
        ("queries: [{name: a, camera: c}]", ("queries.0", "'plans' or 'profile'")),
        (f"queries: [{QUERY.replace('source: 5', 'profile: p.parquet')}]", ("'plans' or 'profile'",)),
        ("queries: [{name: a, camera: c, profile: p.parquet}]", ("queries.0.profile", "p.parquet")),
        ("queries: []", ("queries",)),
        ("[1]", ("list",)),
        ("queries: [", ("line 1", "YAML")),
    ],
)
def test_an_invalid_query_is_named_in_the_error(text, fragments, tmp_path):
    file = tmp_path / "queries.yaml"
    file.write_text(text)
    with pytest.raises(InputError) as error:
        read_queries(file)
    message = str(error.value)
    assert "\n" not in message
    assert all(each in message for each in ("queries.yaml", *fragments))


@pytest.mark.parametrize(
    ("text", "fragments"),
    [
        ("clusters: [{name: a, cores: -1}]", ("clusters.0.cores", "-1")),
        ("clusters: [{name: a, cores: 1, up: -5}]", ("clusters.0.up", "-5")),
        ("clusters: [{name: a, cores: many}]", ("clusters.0.cores", "'many'")),
        ("clusters: [{name: a, cores: 1, parent: b}]", ("cluster a", "'b'")),
        ("clusters: [{name: a, cores: 1}, {name: a, cores: 2}]", ("cluster a", "2 times")),
        ("clusters: [{name: a, cores: 1, parent: b}, {name: b, cores: 1, parent: a}]", ("cluster a", "tree")),
        ("clusters: [{name: a, cores: 1, colour: red}]", ("clusters.0.colour", "red")),
        ("clusters: []", ("clusters",)),
    ],
)
def test_an_invalid_cluster_is_named_in_the_error(text, fragments, tmp_path):
    file = tmp_path / "hierarchy.yaml"
    file.write_text(text)
    with pytest.raises(InputError) as error:
        read_hierarchy(file)
    message = str(error.value)
    assert "\n" not in message
    assert all(each in message for each in ("hierarchy.yaml", *fragments))


def test_an_unreadable_file_is_named_in_the_error(tmp_path):
    with pytest.raises(InputError, match=r"no\.yaml: no such file"):
        read_hierarchy(tmp_path / "no.yaml")
    (tmp_path / "bad.yaml").write_bytes(b"\xff\xfe\xfa")
    with pytest.raises(InputError, match=r"bad\.yaml: not UTF-8"):
        read_queries(tmp_path / "bad.yaml")


def test_recordings_are_relative_to_the_file(tmp_path):
    file = tmp_path / "q.yaml"
    given = "clip: a.mp4, truth: b.csv, pipeline: c.yaml"
    file.write_text(f"queries: [{QUERY.replace('source', f'{given}, source')}]")
    assert read_recorded(file) == (
        QueryRecording(tmp_path / "a.mp4", tmp_path / "b.csv", tmp_path / "c.yaml"),
    )
    for name in ("clip", "truth", "pipeline"):
        rest = ", ".join(each for each in given.split(", ") if not each.startswith(name))
        file.write_text(f"queries: [{QUERY.replace('source', f'{rest}, source')}]")
        with pytest.raises(InputError, match=rf"q\.yaml: queries\.0\.{name}: missing"):
            read_recorded(file)


def test_numbers_of_0_are_allowed(tmp_path):
    file = tmp_path / "h.yaml"
    file.write_text("clusters: [{name: a, cores: 0, up: 0, down: 0, parent: b}, {name: b, cores: 1}]")
    first, second = read_hierarchy(file).clusters
    assert (first.name, first.cores, first.up, first.down, first.parent) == ("a", 0.0, 0.0, 0.0, "b")
    assert (second.up, second.down, second.parent) == (np.inf, np.inf, None)


def test_a_profile_is_read_once_and_named_if_it_is_unreadable(tmp_path, monkeypatch):
    plans, read = (QueryPlan(0.7, (Component("decode", 0.2, 5e5),)),), []

    def stream_plans(file):
        read.append(file)
        if file.name == "bad.parquet":
            raise InputError("bad.parquet: broken")
        return plans

    monkeypatch.setattr("windlass.plan.files.stream_plans", stream_plans)
    file = tmp_path / "q.yaml"
    file.write_text(
        "queries: [{name: a, camera: c, profile: p}, {name: b, camera: d, source: 3, profile: p}]"
    )
    first, second = read_queries(file)
    assert (first.plans, second.plans, second.camera, second.source) == (plans, plans, "d", 3.0)
    assert read == [tmp_path / "p"]
    file.write_text("queries: [{name: a, camera: c, profile: p}, {name: b, camera: d, profile: bad.parquet}]")
    with pytest.raises(InputError, match=r"q\.yaml: queries\.1\.profile: bad\.parquet: broken"):
        read_queries(file)
