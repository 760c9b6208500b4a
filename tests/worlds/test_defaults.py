"""The defaults of scenario fields, and the bounds that worlds share."""

import typing

import pytest
from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticUndefined

from windlass.experiment.worlds import worlds
from windlass.experiment.worlds.elastic.spec import Part
from windlass.experiment.worlds.policy import PolicySpec
from windlass.experiment.worlds.spec import NotNegative, Positive, Spec
from windlass.experiment.worlds.video.spec import Part as VideoPart

_LOG = "trace=None format=None where=None skip_bad_lines=False columns=() widest=None ran=None shake=0.0 lublin=None"
_LUBLIN = "jobs=5000 load=None kinds=False overestimate=5.0"
_TASKS = "tasks=200000 tasks_per_job=1 arrivals=poisson service=exponential llm=None"
_MIB = 1024 * 1024
_USE = "cpu=(0.952, 1.095) memory=(5.743, 37.07) sequential=0.4 classes=20"
_INTERFERENCE = "pressure=0.019 both=0.161 crowding=0.278 spread=0.1 host=capped"
_TYPES = "gpus=0.0 cores=0.0 memory=0.0 price=0.0 launch=300.0 most=1000"
_INSTANCES = "idle=600.0 launch_spread=0.0 boot_failure=0.0 fit=first spot=None"
_SEASON = "days=28.0 per_hour=30.0 daily=0.8 weekend=0.4 batch=1.0 run=1800.0 spread=1.0 shapes=one"
_SHAPE = "gpus=0.0 cores=1.0 memory=0.0 weight=1.0"
_VECTORS = (
    "trace=None format=None where=None skip_bad_lines=False columns=() bins=None drawn=None earlier=0.0 "
    "cores_per_gpu=0.0 memory_per_gpu=0.0"
)
_STAGED = (
    "jobs=100 load=0.7 least_stages=2 most_stages=5 tasks=150.0 tasks_spread=1.2 task_s=8.0 task_bytes=30000000.0 "
    "ratio=0.4 ratio_spread=0.8 least_skew=0.2 most_skew=1.6 straggler_share=0.03 estimate_error=0.0"
)
_FLEET_JOBS = "drawn=None jobs=None trace=None where=None skip_bad_lines=False fixed=None"
_OF_FLEET_JOBS = {
    "drawn": _STAGED,
    "jobs": "name=job submit=0.0",
    "jobs.stages": "input=None task_bytes=0.0 tasks=0 ratio=1.0 parents=() call=None command=None files=None",
    "swim": f"hours=1.0 block_bytes={128.0 * _MIB} reduce_bytes={256.0 * _MIB} bytes_per_s=20000000.0 "
    "least_task_s=1.0 skew=1.0 scale=1.0",
    "fixed": f"law=facebook jobs=2000 utilisation=0.78 skew=2.0 longest_s=20.0 block_bytes={128.0 * _MIB} "
    "bag_gap_s=120.0",
}
_KINDS = "kinds=('tracker', 'classifier', 'counter', 'plates') spread=0.1"
#: Defaults by world and by section; required fields are not listed.
DEFAULTS = {
    "admission": {
        "": "world=admission schedulers=1 probe_delay=0.0 sizes=hidden keep_tasks=100000 warm=0.0",
        "cluster": "cores=4 speed=4.0 floor=0.05",
        "cluster.bursts": "every=300.0 last=30.0 ramp=4.0",
        "workload": f"{_TASKS} load=0.8",
        "telemetry": "every=1.0 model=None",
        "admission": "full=force",
        "policies": "dispatch=pull",
    },
    "batch": {
        "": "world=batch load=None kill_at_walltime=True estimates=requested starved_after=86400.0",
        "cluster": "processors=None partitions=() gpus=None memory=None fitting_gpus=None fitting_memory=None",
        "workload": _LOG,
        "workload.lublin": _LUBLIN,
    },
    "cluster": {
        "": "world=cluster seconds=86400.0 begin=0.0 links=None cloud=None without=() bound_of=None floor=0.05 "
        "checkpoint=60.0 noise=0.02 period=600.0 look=30.0 kill_at_walltime=True keep_tasks=20000 sample=60.0 "
        "streams=None label=",
        "sites": "nodes=() processors=None instances=None cameras=None outages=None speed_changes=None up=1250000000.0 "
        "down=1250000000.0 region= memory_per_core=4000000000.0",
        "sites.nodes": "speed=1.0 rate=None",
        "sites.instances": f"{_INSTANCES} base=None",
        "sites.instances.types": _TYPES,
        "sites.instances.spot": "each=1 notice=0.0",
        "sites.cameras": "cores=2 up=75000.0",
        "sites.outages:DrawnOutages": "kill=0.5",
        "sites.outages:Outage": "up=None left=0 kill=False",
        "sites.speed_changes": "shocks_every=None drift=None",
        "sites.keeps": "tasks=0.0 queries=0",
        "links": "prices=None machines=1.0",
        "cloud": "cores=64 up=625000.0",
        "loads": "rigid=None tasks=None staged=None vectors=None queries=None neighbours=None part=None at=each",
        "loads.rigid": f"{_LOG} load=None",
        "loads.rigid.lublin": _LUBLIN,
        "loads.rigid.use": _USE,
        "loads.rigid.interference": _INTERFERENCE,
        "loads.tasks": f"{_TASKS} load=0.04 schedulers=1 probe_delay=0.0 fetch_delay=0.0 count_sent=False sizes=hidden "
        "guaranteed=None",
        "loads.staged": f"{_FLEET_JOBS} look_every=0.25 decide_every=1.0 durations=finished",
        **{f"loads.staged.{name}": fields for name, fields in _OF_FLEET_JOBS.items()},
        "loads.vectors": _VECTORS,
        "loads.vectors.drawn": _SEASON,
        "loads.vectors.drawn.shapes": _SHAPE,
        "loads.queries": "seconds=3600.0 begin=0 per_hour=40.0 last=1800.0 frames=30.0 drawn=None plans=None "
        "profile=None source=None file=None patience=60.0 restart=1.0 notice=1.0 buffer=2.0 deadline=0.5 catch_up=0.25 "
        "merge=False changes=() drops=None fractions=False",
        "loads.queries.drawn": _KINDS,
        "loads.queries.changes": "cores=None up=None down=None",
        "loads.queries.drops": "left=0.3",
        "loads.neighbours": "every=300.0 last=30.0 ramp=4.0",
        "policies": "plan=fair place=in-place scale=reactive share=None dispatch=pull admit=None",
        "policies.order": "rigid=easy staged=None estimates=requested",
        "policies.at": "order=None share=None scale=None dispatch=None admit=None",
        "telemetry": "every=1.0 model=None full=force delay=0.1",
    },
    "colocated": {
        "": "world=colocated parts=() kill_at_walltime=True schedulers=1 probe_delay=0.0 sizes=hidden "
        "keep_tasks=100000",
        "cluster": "speed=1.0 floor=0.05 outages=()",
        "cluster.outages:DrawnOutages": "kill=0.5",
        "cluster.outages:Outage": "up=None left=0 kill=False",
        "workload.batch": _LOG,
        "workload.batch.lublin": _LUBLIN,
        "workload.tasks": f"{_TASKS} load=0.04",
    },
    "dispatch": {
        "": "world=dispatch schedulers=1 probe_delay=0.0 fetch_delay=0.0 probe_trip=0.0 count_sent=False sizes=hidden",
        "cluster": "shocks_every=None drift=None failures=()",
        "cluster.failures": "up=None",
        "workload": f"{_TASKS} load=0.8",
        "policies": "dispatch=pull",
    },
    "elastic": {
        "": "world=elastic period=600.0 look=10.0",
        "cluster": _INSTANCES,
        "cluster.types": _TYPES,
        "cluster.spot": "each=1 notice=0.0",
        "workload": _VECTORS,
        "workload.drawn": _SEASON,
        "workload.drawn.shapes": _SHAPE,
    },
    "fleet": {
        "": "world=fleet cluster=None drops=None look_every=0.25 decide_every=1.0",
        "cluster": "sites=None pair=None usd_per_gb=None alike=None drawn=None measured=None",
        "cluster.sites": "up=None down=None",
        "cluster.alike": "sites=30 slots=300",
        "cluster.drawn": "sites=50 least_slots=25 most_slots=5000 least_mbit=100.0 most_mbit=2000.0 slot_zipf=None "
        "link_zipf=None",
        "cluster.measured": "prices=None machines=1.0",
        "workload": _FLEET_JOBS,
        **{f"workload.{name}": fields for name, fields in _OF_FLEET_JOBS.items()},
        "policies": "place=in-place order=None dispatch=None",
        "estimates": "accuracy=1.0 sizes=tasks durations=finished",
        "drops": "sites=5 every=60.0",
    },
    "sharing": {
        "": "world=sharing kill_at_walltime=True checkpoint=60.0 noise=0.02",
        "cluster": "processors=None memory_per_core=4000000000.0",
        "workload": _LOG,
        "workload.lublin": _LUBLIN,
        "workload.use": _USE,
        "workload.interference": _INTERFERENCE,
    },
    "video": {
        "": "world=video changes=() drops=None restart=1.0 notice=1.0 buffer=2.0 deadline=0.5 catch_up=0.25 "
        "merge=False",
        "cluster": "cameras=20 camera_cores=2.0 camera_up=75000.0 private_cores=8.0 private_up=625000.0 "
        "cloud_cores=48.0 file=None",
        "workload": "seconds=3600.0 begin=40 per_hour=40.0 last=1800.0 frames=30.0 drawn=None plans=None "
        "profile=None source=None file=None",
        "workload.drawn": _KINDS,
        "changes": "cores=None up=None down=None",
        "drops": "left=0.3",
    },
}


def specs_in(annotation):
    if isinstance(annotation, type):
        return [annotation] if issubclass(annotation, Spec) else []
    return [spec for part in typing.get_args(annotation) for spec in specs_in(part)]


def sections(model, prefix=""):
    """Return each section's defaults as words; alternative sections are named with their classes."""
    found = {prefix: []}
    for name, field in model.model_fields.items():
        default, below = field.default, specs_in(field.annotation)
        if default is not PydanticUndefined and not isinstance(default, Spec):
            shown = default.name if isinstance(default, PolicySpec) else default
            shown = "one" if name == "shapes" and shown == (below[0](),) else shown
            found[prefix].append(f"{name}={shown}")
        for spec in below:
            if spec.__name__ not in ("PlanOf",):
                of_class = f":{spec.__name__}" if len(below) > 1 else ""
                path = f"{prefix}.{name}" if prefix else name
                found |= sections(spec, f"{path}{of_class}")
    return found


@pytest.mark.parametrize("world", worlds(), ids=lambda world: world.name)
def test_defaults_are_as_documented(world):
    found = sections(world.setting)
    wanted = DEFAULTS[world.name]
    for section, defaults in found.items():
        text = " ".join(sorted(defaults))
        assert (section, text) == (section, " ".join(sorted(_fields(wanted.get(section, "")))))
    assert set(wanted) <= set(found)


def _fields(text):
    """Split fields at blanks, except within brackets."""
    found, depth = [], 0
    for word in text.split():
        if depth:
            found[-1] += f" {word}"
        else:
            found.append(word)
        depth += word.count("(") - word.count(")")
    return found


@pytest.mark.parametrize(
    ("kind", "accepted", "rejected"),
    [
        (Positive, [1e-9, 0.5, 1.0], [0.0, -0.5]),
        (NotNegative, [0.0, 0.5], [-1e-9]),
        (Part, [0.0, 0.5, 1.0], [-1e-9, 1.0 + 1e-9]),
        (VideoPart, [0.0, 0.5, 1.0], [-1e-9, 1.0 + 1e-9]),
    ],
)
def test_number_types_enforce_their_bounds(kind, accepted, rejected):
    adapter = TypeAdapter(kind)
    assert [adapter.validate_python(value) for value in accepted] == accepted
    for value in rejected:
        with pytest.raises(ValidationError):
            adapter.validate_python(value)
