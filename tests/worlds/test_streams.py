"""Each policy of a run has its own random stream, derived only from the seed."""

from collections import Counter

import numpy as np
import pytest

from tests.worlds.explained_cluster import TREE
from tests.worlds.test_words import POLICIES, SMALL
from windlass.experiment.scenario import make_scenario
from windlass.experiment.workloads.streams import RandomStreams
from windlass.experiment.worlds import find_world
from windlass.experiment.worlds.cluster import build
from windlass.experiment.worlds.cluster.draw import draw_arrivals
from windlass.policy.registry import Registry

SEED = 7
#: The seed of the policy's generator, by world and decision.
STREAMS = {
    "admission": {"dispatch": [(SEED, 1)], "admit": [(SEED, 3, 0)]},
    "batch": {"order": [(SEED, 1)]},
    "colocated": {"order": [(SEED, 1)], "dispatch": [(SEED, 1)]},
    "dispatch": {"dispatch": [(SEED, 1)]},
    "elastic": {"scale": [(SEED, 1)]},
    "fleet": {"order": [(SEED, 1)]},
    "sharing": {"order": [(SEED, 1)], "share": [(SEED, 2)]},
    "video": {"plan": [(SEED, 3)]},
}


@pytest.fixture
def made(monkeypatch):
    """Record the seeds of the generators that policies were created with, by decision."""
    found, make = {}, Registry.make

    def watched(self, name, context, **parameters):
        rng = getattr(context, "rng", context)
        entropy = rng.bit_generator.seed_seq.entropy
        found.setdefault(self.key, set()).add(tuple(np.atleast_1d(entropy).tolist()))
        return make(self, name, context, **parameters)

    monkeypatch.setattr(Registry, "make", watched)
    return found


def run(name, **changed):
    world = find_world(name)
    small = {
        "colocated": {
            "workload": {"batch": {"lublin": {"jobs": 3, "load": 0.5}}, "tasks": {"tasks": 9, "load": 1e-4}}
        },
        "dispatch": {"workload": {"tasks": 9}},
        "elastic": {"workload": {"drawn": {"days": 0.1}}},
        "video": {"cluster": {"cameras": 2}, "workload": {"begin": 2, "per_hour": 0, "seconds": 60.0}},
        "sharing": {"cluster": {"processors": 8}},
        "batch": {"cluster": {"processors": 8}},
    }.get(name, {})
    setting = world.setting.model_validate({**SMALL[name], **small, "policies": POLICIES[name], **changed})
    world.run(setting, SEED, world.workload(setting, SEED), lambda share: None)


@pytest.mark.parametrize("name", STREAMS)
def test_policies_draw_from_streams_of_their_own(made, name):
    run(name)
    assert {key: sorted(each) for key, each in made.items()} == STREAMS[name]


def test_a_policy_that_decides_node_by_node_has_a_stream_for_each(made):
    run("admission", policies=POLICIES["admission"] | {"admit": "random"})
    assert made == {"dispatch": {(SEED, 1)}, "admit": {(SEED, 3, 0), (SEED, 3, 1)}}


def test_placements_draw_from_a_stream_of_their_own(made):
    sites = [
        {"name": "a", "slots": 2, "up": 8.0, "down": 5.0},
        {"name": "b", "slots": 1, "up": 4.0, "down": 6.0},
    ]
    jobs = [{"stages": [{"task_s": 1.0, "input": {"b": 1}}]}]
    run("fleet", cluster={"sites": sites}, workload={"jobs": jobs}, policies={"place": "in-place"})
    assert made == {"place": {(SEED, 3)}}


def test_policies_of_partitions_draw_from_streams_of_their_own(made, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("submit,run,procs,partition\n0,1,1,p\n0,1,1,q\n")
    parts = [{"name": "p", "processors": 2}, {"name": "q", "processors": 2}]
    run("batch", cluster={"partitions": parts}, workload={"trace": str(path)})
    assert made == {"order": {(SEED, 1, 0), (SEED, 1, 1)}}
    made.clear()
    world = find_world("batch")
    fields = {
        "cluster": {"partitions": parts},
        "workload": {"trace": str(path)},
        "policies": {"order": "easy"},
    }
    setting = world.setting.model_validate(fields)
    workload = world.workload(setting, SEED)
    world.explainer.waited(setting, SEED, workload, 2)
    assert made == {"order": {(SEED, 1, 1)}}
    made.clear()
    whole = world.setting.model_validate({**fields, "cluster": {}})
    world.explainer.waited(whole, SEED, world.workload(whole, SEED), 2)
    assert made == {"order": {(SEED, 1)}}


class BuiltError(Exception):
    """A cluster is built; it need not run."""


def test_all_that_is_drawn_in_a_cluster_has_a_stream_of_its_own(monkeypatch):
    found, stream = [], RandomStreams.stream

    def watched(self, name, node=None):
        rng = stream(self, name, node)
        found.append((name, node, tuple(rng.bit_generator.seed_seq.entropy)))
        return rng

    def stop(*_):
        raise BuiltError

    monkeypatch.setattr(RandomStreams, "stream", watched)
    monkeypatch.setattr(build, "drive", stop)
    setting = make_scenario(TREE).variants[0].setting
    with pytest.raises(BuiltError):
        build.run_cluster(setting, 1, draw_arrivals(setting, 1), lambda share: None)
    consumers = Counter((name, node) for name, node, _ in found)
    # Pairs of jobs slow each other down alike at all sites.
    assert {name for (name, _), count in consumers.items() if count > 1} == {"factors.batch", "pairs.batch"}
    assert len({seed for *_, seed in found}) == len(consumers)
    decisions = {name.partition(".")[0] for name, _ in consumers}
    assert decisions >= {"plan", "order", "place", "scale", "share", "dispatch", "admit"}
    # Worlds of one load number their streams from 0.
    assert all(seed[1] > 9 for *_, seed in found)
