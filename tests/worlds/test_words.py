"""Names of policies in scenarios, keys of workloads, fields set by options, and regions as sites."""

from pathlib import Path

import numpy as np
import pytest
from pydantic import TypeAdapter

from windlass.experiment.worlds import find_world, worlds
from windlass.experiment.worlds.colocated.world import _span_notes
from windlass.experiment.worlds.contents import Content, content_of
from windlass.experiment.worlds.elastic.spec import ElasticClusterSpec
from windlass.experiment.worlds.elastic.spot import instance_fleet
from windlass.experiment.worlds.fleet.sites import MeasuredSites, measured_fleet
from windlass.experiment.worlds.policy import Policy, PolicySpec
from windlass.model import InputError
from windlass.model.vectors import VectorJobs
from windlass.order.site import POLICIES as ORDER
from windlass.results import Choice

POLICY = TypeAdapter(Policy)


@pytest.mark.parametrize(
    ("given", "name", "parameters"),
    [
        ("easy", "easy", {}),
        ({"easy": None}, "easy", {}),
        ({"easy": {"a": 1}}, "easy", {"a": 1}),
        ({"name": "easy"}, "easy", {}),
        ({"name": "easy", "parameters": {"a": 1}}, "easy", {"a": 1}),
        ({"priority": "sjf"}, "queue", {"priority": "sjf"}),
        ({"priority": "sjf", "backfill": "easy"}, "queue", {"priority": "sjf", "backfill": "easy"}),
    ],
)
def test_policy_specs_parse_and_round_trip(given, name, parameters):
    found = POLICY.validate_python(given)
    assert (found.name, found.parameters) == (name, parameters)
    written = POLICY.dump_python(found)
    assert written == ({name: parameters} if parameters else name)
    assert POLICY.validate_python(written) == found


@pytest.mark.parametrize("given", [{}, {"priority": "sjf", "other": 1}, {"name": "easy", "x": 1}, 5])
def test_invalid_policy_specs_are_rejected(given):
    with pytest.raises(ValueError, match="validation error"):
        POLICY.validate_python(given)


def test_choices_name_policies_and_parameters():
    def label(**parameters):
        return PolicySpec(name="easy", parameters=parameters).choice(ORDER)

    assert label() == Choice("order", "easy", "")
    assert label(a=1, b="x").parameters == "a=1, b=x"
    assert (
        label(priority={"multifactor": {"age": 60, "size": 2}}).parameters
        == "priority=multifactor(age=60, size=2)"
    )
    assert label(priority={"sjf": None}).parameters == "priority=sjf"
    assert label(file="/far/away/mine.py").parameters == "file=mine.py"
    assert label(file="/far/away/mine.py:Mine").parameters == "file=mine.py:Mine"
    assert label(file="/far/away/mine.txt").parameters == "file=/far/away/mine.txt"
    assert label(file="a:b").parameters == "file=a:b"


def test_contents_count_items_and_their_span():
    assert content_of("job", np.array([5.0, 2.0, 9.0])) == Content("job", 3, 2.0, 9.0)
    none = content_of("job", np.empty(0))
    assert (none.noun, none.count) == ("job", 0)
    assert np.isnan([none.first, none.last]).all()


def test_worlds_are_found_by_name():
    assert [world.name for world in worlds()] == sorted(world.name for world in worlds())
    assert len(worlds()) == 9
    for world in worlds():
        assert type(find_world(world.name)) is type(world)
        assert world.setting.model_fields["world"].default == world.name
    with pytest.raises(InputError, match="world: unknown world 'none', expected one of admission, batch"):
        find_world("none")


SMALL = {
    "admission": {"cluster": {"nodes": 2}, "workload": {"tasks": 10}},
    "batch": {"workload": {"lublin": {"jobs": 3}}},
    "colocated": {"cluster": {"nodes": 2, "cores": 2}, "workload": {"batch": {"lublin": {"jobs": 3}}}},
    "dispatch": {"cluster": {"groups": [{"workers": 1, "speed": 1.0}]}},
    "elastic": {"cluster": {"types": [{"name": "a", "cores": 1}]}, "workload": {"drawn": {}}},
    "fleet": {"cluster": {"alike": {}}, "workload": {"fixed": {"jobs": 3}}},
    "sharing": {"workload": {"lublin": {"jobs": 3}}},
    "video": {},
}
POLICIES = {
    **{"admission": {"dispatch": "jsq", "admit": "always"}, "batch": {"order": "easy"}, "dispatch": {}},
    **{"colocated": {"order": "easy", "dispatch": "jsq"}, "elastic": {"scale": "reactive"}},
    **{"fleet": {"order": "swag"}, "sharing": {"order": "easy", "share": "none"}, "video": {"plan": "fair"}},
}
#: A field of the workload or of the site, and another value of it.
OTHER = {
    "admission": {"cluster": {"nodes": 3}},
    "batch": {"cluster": {"processors": 9}},
    "colocated": {"cluster": {"nodes": 2, "cores": 2, "speed": 3.0}},
    "dispatch": {"workload": {"load": 0.1}},
    "elastic": {"workload": {"drawn": {"days": 2}}},
    "fleet": {"estimates": {"accuracy": 0.5}},
    "sharing": {"cluster": {"processors": 9}},
    "video": {"cluster": {"cameras": 3}},
}


@pytest.mark.parametrize("name", SMALL)
def test_the_workload_key_depends_on_the_fields_of_the_workload(name):
    world = find_world(name)

    def key(seed=1, **changed):
        given = {**SMALL[name], "policies": POLICIES[name], **changed}
        return world.workload_key(world.setting.model_validate(given), seed)

    assert key() == key()
    assert hash(key()) == hash(key())
    assert key() != key(**OTHER[name])
    # Workers draw small tasks as they run, clusters before.
    assert (key() == key(seed=2)) == (name == "dispatch")
    if name == "batch":
        assert key() != key(load=0.5)


def test_the_workload_key_of_a_log_ignores_the_seed():
    for name, workload in (
        ("batch", {"trace": "a.swf"}),
        ("elastic", {"trace": "a.csv"}),
    ):
        world = find_world(name)
        setting = world.setting.model_validate(
            {**SMALL[name], "policies": POLICIES[name], "workload": workload}
        )
        assert world.workload_key(setting, 1) == world.workload_key(setting, 2)
    elastic = find_world("elastic")
    given = {**SMALL["elastic"], "policies": POLICIES["elastic"], "workload": {"bins": "a.csv"}}
    bins = elastic.setting.model_validate(given)
    assert elastic.workload_key(bins, 1) != elastic.workload_key(bins, 2)


def test_the_workload_key_of_listed_jobs_at_listed_sites_ignores_the_seed():
    world = find_world("fleet")
    sites = {
        "sites": [
            {"name": "a", "slots": 2, "up": 1e9, "down": 1e9},
            {"name": "b", "slots": 2, "up": 1e9, "down": 1e9},
        ]
    }
    jobs = {"jobs": [{"name": "j", "stages": [{"task_s": 1, "task_bytes": 1.0, "input": {"a": 2}}]}]}
    policies = {"place": "in-place"}

    def keys(**given):
        setting = world.setting.model_validate(
            {"cluster": sites, "workload": jobs, "policies": policies, **given}
        )
        return world.workload_key(setting, 1), world.workload_key(setting, 2)

    assert len(set(keys())) == 1
    drops = {"drop": 0.5, "sites": 1, "every": 60.0}
    for drawn in ({"cluster": {"drawn": {"sites": 2}}, "workload": {"drawn": {"jobs": 2}}}, {"drops": drops}):
        assert len(set(keys(**drawn))) == 2


def test_command_line_options_set_existing_fields():
    fields = ("where", "format", "skip_bad_lines", "columns")
    jobs = {f"--{field.replace('_', '-')}": field for field in fields}
    site = {"--procs": "cluster.processors", "--no-kill": "kill_at_walltime"}
    found = {world.name: dict(world.setting.options) for world in worlds()}
    assert found == {
        "admission": {},
        "batch": site | {option: f"workload.{field}" for option, field in jobs.items()},
        "colocated": {
            "--no-kill": "kill_at_walltime",
            **{option: f"workload.batch.{field}" for option, field in jobs.items()},
        },
        "cluster": {},
        "dispatch": {},
        "elastic": {option: f"workload.{field}" for option, field in jobs.items()},
        "fleet": {"--where": "workload.where", "--skip-bad-lines": "workload.skip_bad_lines"},
        "sharing": site | {option: f"workload.{field}" for option, field in jobs.items()},
        "video": {},
    }


def test_measured_regions_become_sites(tmp_path: Path):
    paths = {("a", "b"): 8, ("a", "c"): 16, ("b", "a"): 24, ("b", "c"): 32, ("c", "a"): 40, ("c", "b"): 48}
    rows = [f"{one},{other},{bits}" for (one, other), bits in paths.items()]
    wan, prices = tmp_path / "wan.csv", tmp_path / "prices.csv"
    wan.write_text("src_region,dst_region,throughput_bits_per_s\n" + "\n".join(rows) + "\n")
    prices.write_text("src,dest,cost\na,b,2\n")
    given = {"throughput": wan, "prices": prices, "regions": ("a", "b", "c"), "slots": (4,), "machines": 3.0}
    fleet = measured_fleet(MeasuredSites(**given))
    assert (fleet.names, fleet.slots.tolist()) == (("a", "b", "c"), [4, 4, 4])
    assert fleet.up.tolist() == [6.0, 12.0, 18.0]
    assert fleet.down.tolist() == [15.0, 18.0, 12.0]
    assert fleet.pair.tolist() == [[np.inf, 3.0, 6.0], [9.0, np.inf, 12.0], [15.0, 18.0, np.inf]]
    assert fleet.price[0, 1] == 2e-9
    one = measured_fleet(MeasuredSites(**{**given, "machines": 1.0, "slots": (1, 2, 3), "prices": None}))
    assert (one.slots.tolist(), one.up.tolist(), one.price.sum()) == ([1, 2, 3], [2.0, 4.0, 6.0], 0.0)
    with pytest.raises(InputError, match="slots has 2 numbers for 3 regions, expected one each"):
        measured_fleet(MeasuredSites(**{**given, "slots": (1, 2)}))


@pytest.mark.parametrize(
    ("jobs", "tasks", "notes"), [(10.0, 19.0, 0), (10.0, 20.0, 0), (10.0, 20.5, 1), (31.0, 10.0, 1)]
)
def test_a_note_reports_spans_that_differ_by_more_than_a_factor_of_2(jobs, tasks, notes):
    assert len(_span_notes(jobs, tasks)) == notes


def test_spot_capacity_repeats_until_a_month_after_the_last_job(tmp_path):
    path = tmp_path / "spot.json"
    path.write_text('{"metadata": {"gap_seconds": 86400}, "data": [3, 3, 1, 3]}')
    spot = {"trace": path, "type": "b", "each": 2}
    cluster = ElasticClusterSpec.model_validate(
        {"types": [{"name": "b", "cores": 8, "most": 5}, {"name": "a", "cores": 4}], "spot": spot}
    )
    jobs = VectorJobs.of(submit=[7.0, 86_407.0], run=[10.0, 86_400.0], cores=1)
    found = instance_fleet(cluster, jobs).interruptions
    # A day of submissions, a day of the longest job and thirty more days are eight repeats of four days.
    changes = [(4 * turn + day, limit) for turn in range(8) for day, limit in ((0, 5), (2, 2), (3, 5))]
    # The capacity at the end of a repeat equals that at the start of the next.
    wanted = [each for number, each in enumerate(changes) if number == 0 or changes[number - 1][1] != each[1]]
    wanted.append((32, 5))
    assert found.time.tolist() == [7.0 + 86_400.0 * day for day, _ in wanted]
    assert found.limit.tolist() == [limit for _, limit in wanted]
    assert found.kind.tolist() == [1] * len(wanted)
    assert instance_fleet(cluster, jobs).notice == 0.0
    until_empty = cluster.model_copy(update={"spot": cluster.spot.model_copy(update={"notice": None})})
    assert instance_fleet(until_empty, jobs).notice == np.inf
    other = cluster.model_copy(update={"spot": cluster.spot.model_copy(update={"type": "c"})})
    with pytest.raises(InputError, match=r"cluster.spot.type is 'c', expected one of a, b"):
        instance_fleet(other, jobs)
