"""Files that a scenario names are relative to the scenario, in any world and from any working directory."""

import typing
from pathlib import Path

import pytest
from pydantic import BaseModel

from windlass.experiment.scenario import load_scenario, make_scenario
from windlass.experiment.worlds import worlds


def kinds(annotation):
    """All classes in an annotation, such as Path in ``Path | None``."""
    inner = typing.get_args(annotation)
    return {annotation} if not inner else set().union(*(kinds(part) for part in inner))


def paths_of(model, prefix=""):
    """Dotted names of a model's fields that are paths."""
    found = set()
    for name, field in model.model_fields.items():
        # A mapping has a field of any name.
        name = f"{name}.*" if typing.get_origin(field.annotation) is dict else name
        for kind in kinds(field.annotation):
            if kind is Path:
                found.add(prefix + name)
            elif isinstance(kind, type) and issubclass(kind, BaseModel):
                found |= paths_of(kind, f"{prefix}{name}.")
    return found


@pytest.mark.parametrize("world", worlds(), ids=lambda world: world.name)
def test_path_fields_lists_all_paths_of_a_world(world):
    assert set(world.setting.path_fields) == paths_of(world.setting)


MEASURED = """
world: fleet
cluster: {measured: {throughput: ../wan/t.csv, prices: p.csv, regions: [aws:a, aws:b], slots: [1]}}
workload: {trace: log.tsv}
policies: {place: in-place}
"""


def test_measured_links_are_relative_to_the_scenario(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "geo.yaml").write_text(MEASURED)
    (tmp_path / "there").mkdir()
    monkeypatch.chdir(tmp_path / "there")
    setting = load_scenario(Path("../here/geo.yaml")).variants[0].setting
    assert setting.cluster.measured.throughput == tmp_path / "wan" / "t.csv"
    assert setting.cluster.measured.prices == tmp_path / "here" / "p.csv"
    assert setting.workload.trace == tmp_path / "here" / "log.tsv"


def test_each_path_of_a_sweep_is_resolved(tmp_path):
    tree = {"workload": {"trace": ["a.swf", "b/c.swf"]}, "policies": {"order": "fcfs"}}
    found = make_scenario(tree, folder=tmp_path).variants
    assert [variant.setting.workload.trace for variant in found] == [
        tmp_path / "a.swf",
        tmp_path / "b" / "c.swf",
    ]


def test_a_path_below_any_name_is_resolved(tmp_path):
    tree = {
        "world": "cluster",
        "sites": {"iowa": {"nodes": [{"count": 2, "cores": 4}]}},
        "loads": {"one": {"rigid": {"trace": "a.swf"}}, "two": {"rigid": {"trace": "b/c.swf"}}},
    }
    loads = make_scenario(tree, folder=tmp_path).variants[0].setting.loads
    assert loads["one"].rigid.trace == tmp_path / "a.swf"
    assert loads["two"].rigid.trace == tmp_path / "b" / "c.swf"
