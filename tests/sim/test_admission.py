"""Nodes that reject tasks, in the simulator: against a plain one, and against the same without admission."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.announced_kernels import announced_and_called_kernels
from tests.sim.admission import Oracle
from tests.worlds.admission_cases import dispatch_policy, draw_case, with_admission, without_admission
from windlass.admit import POLICIES as ADMIT
from windlass.admit.context import AdmitContext
from windlass.dispatch import POLICIES as DISPATCH
from windlass.dispatch.compiled import REFUSE
from windlass.experiment.dispatching import make_policy
from windlass.experiment.scenario import make_scenario
from windlass.experiment.worlds.admission.world import AdmissionWorld
from windlass.experiment.worlds.cluster import make_policies
from windlass.model import InputError
from windlass.sim.nodes import HOLD
from windlass.sim.telemetry.answers import NO_LIMIT, counts, limits_of, set_answers
from windlass.sim.telemetry.gate import gate
from windlass.sim.telemetry.metrics import MetricModel, Metrics, read_model, write_model
from windlass.sim.telemetry.pressure import CHANNELS

#: Compiled dispatch policies with early binding, except those that use benchmark tasks.
BINDS = [
    name
    for name in DISPATCH.names()
    if not make_policy(name, np.ones(3), np.random.default_rng(1)).binds_late
]


def small_model(seed=2, dim=6):
    rng = np.random.default_rng(seed)
    return MetricModel(
        tuple(f"metric {place}" for place in range(dim)),
        channel_mean=rng.random(5),
        channel_scale=rng.random(5) + 0.1,
        mean=rng.normal(size=dim),
        scale=rng.random(dim) + 0.5,
        along=rng.normal(size=(dim, 5)),
        delay=np.arange(dim) % 3,
        pole=rng.choice([0.0, 0.5, 0.8], dim),
        fade=rng.random(dim) * 0.5,
        factors=rng.normal(size=(dim, 2)) * 0.1,
        own=rng.random(dim) * 0.2,
    )


def case_of(seed=1, **changes):
    tree = {
        "world": "admission",
        "cluster": {"nodes": 4, "cores": 4, "speed": 2.0, "bursts": {"every": 40, "last": 15, "ramp": 1.5}},
        "workload": {"tasks": 1500, "load": 0.8},
        "policies": {"dispatch": "pot", "admit": "always"},
    }
    for key, value in changes.items():
        tree[key] = {**tree[key], **value} if isinstance(tree.get(key), dict) else value
    (variant,) = make_scenario(tree).variants
    return draw_case(variant.setting, seed)


def same(one, other):
    for name in ("response", "start", "worker"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert one.longest_queue == other.longest_queue
    assert one.benchmarks == other.benchmarks


@pytest.mark.matrix(0)
@pytest.mark.parametrize("dispatch", DISPATCH.names())
@pytest.mark.parametrize("admit", ["always", "never"])
def test_rejecting_nothing_or_everything_changes_nothing(dispatch, admit):
    case = case_of(policies={"dispatch": dispatch, "admit": admit}, schedulers=2, probe_delay=0.3)
    done, observed = with_admission(case)
    same(done, without_admission(case))
    assert observed.downtime == (admit == "never")
    tasks = observed.tasks
    assert tasks.diverted == 0
    assert tasks.accepted + tasks.forced == len(done.response)
    assert (tasks.forced > 0) == (admit == "never")


def of_nodes(setting, seed, dim):
    """Return an admission policy for each node, also of policies that decide for all nodes at once."""
    spec, nodes = setting.policies.admit, range(setting.cluster.nodes)
    contexts = (AdmitContext(np.random.default_rng([seed, 3, node]), dim) for node in nodes)
    return [ADMIT.make(spec.name, context, **spec.parameters) for context in contexts]


@pytest.mark.matrix(0.05)
@pytest.mark.parametrize(
    "dispatch", ["pot", "jsq", "ppot", "round-robin", "least-outstanding", "uniform", "pss"]
)
@pytest.mark.parametrize(
    "admit",
    [
        {"utilisation": {"threshold": 0.8}},
        {"random": {"downtime": 0.6}},
        {"pronto": {"rank": 2, "block": 10, "signal": "scores", "downtime": 0.2}},
        {"forewarn": {"rank": 2, "block": 10, "downtime": 0.2}},
        # Policies with a limit, which see the tasks of their node.
        {"breakwater": {"target": 0.8, "drop": 1.5, "initial": 2}},
        {"gradient": {"queue": 0.0, "initial": 3}},
        {"codel": {"target": 0.2, "interval": 1.0}},
    ],
    ids=["utilisation", "random", "pronto", "forewarn", "breakwater", "gradient", "codel"],
)
@pytest.mark.parametrize("full", ["force", "refuse"])
def test_admission_equals_the_plain_simulation(monkeypatch, dispatch, admit, full):
    model = small_model()
    monkeypatch.setattr(make_policies, "read_model", lambda path: model)
    make_policies.model_at.cache_clear()
    case = case_of(
        policies={"dispatch": dispatch, "admit": admit}, telemetry={"every": 2.0}, admission={"full": full}
    )
    done, observed = with_admission(case)
    make_policies.model_at.cache_clear()
    setting = case.setting
    plain = Oracle(
        dispatch_policy(setting, case.seed),
        of_nodes(setting, case.seed, model.dim),
        model,
        np.random.default_rng([case.seed, 4]),
        case.tasks.submit,
        case.tasks.work,
        case.bursts,
        cores=4,
        speed=2.0,
        floor=setting.cluster.floor,
        every=2.0,
        full=full,
    )
    plain.run()
    assert done.worker.tolist() == plain.worker
    np.testing.assert_allclose(done.end, plain.end, rtol=1e-9)
    steps = len(plain.channels)
    np.testing.assert_allclose(observed.channels[:steps], plain.channels, atol=1e-7)
    assert np.array_equal(observed.rejects[:steps], plain.rejects)
    assert len(observed.rejects) - steps in (0, 1)
    assert (observed.tasks.accepted, observed.tasks.diverted, observed.tasks.forced) == (
        plain.accepted, plain.diverted, plain.forced
    )  # fmt: skip
    assert plain.diverted > 0
    assert np.flatnonzero(done.refused).tolist() == plain.refused
    assert done.refusals == observed.tasks.refused == len(plain.refused)
    assert full == "force" or plain.forced == 0


@pytest.mark.matrix(0)
@pytest.mark.parametrize("name", BINDS)
@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_a_node_that_rejects_is_not_chosen_while_one_accepts(name, data):
    gated = gate(
        make_policy(name, np.array([1.0, 2.0, 4.0, 1.0]), np.random.default_rng(data.draw(st.integers(0, 9))))
    )
    choices = 0
    for _ in range(data.draw(st.integers(1, 6))):
        few = st.sampled_from([0, 1, 2, 4, NO_LIMIT])
        limits = np.array(data.draw(st.lists(few, min_size=4, max_size=4)))
        set_answers(gated.ints[None], limits)
        for lengths in data.draw(st.lists(st.lists(st.integers(0, 5), min_size=4, max_size=4), max_size=5)):
            gated.arrived(float(choices))
            chosen = gated.choose(np.array(lengths))
            choices += 1
            rejects = np.array(lengths) >= limits
            assert rejects.all() or not rejects[chosen]
            if data.draw(st.booleans()):
                gated.completed(chosen, 1.0, 0.5)
    found = counts(gated.ints[None])
    assert found.accepted + found.diverted + found.forced == choices
    # All nodes are still members.
    assert gated.ints[2] == 4
    assert sorted(gated.ints[24:28]) == [0, 1, 2, 3]


def test_rejected_choices_do_not_count_as_sent():
    plain = make_policy("least-outstanding", np.ones(3), np.random.default_rng(1))
    gated = gate(plain)
    set_answers(gated.ints[None], limits_of(np.array([True, True, False])))
    lengths = np.zeros(3, np.int64)
    assert [gated.choose(lengths) for _ in range(4)] == [2, 2, 2, 2]
    set_answers(gated.ints[None], limits_of(np.zeros(3, bool)))
    # If rejected choices counted, node 2 would not be next in turn.
    assert sorted(gated.choose(lengths) for _ in range(8)) == [0, 0, 0, 0, 1, 1, 1, 1]


@pytest.mark.parametrize("dispatch", ["pull", "sparrow"])
def test_with_late_binding_a_waiting_task_is_no_load_of_a_node(dispatch):
    """Without neighbours, the pressure is that of the tasks from their start to their end."""
    case = case_of(
        cluster={"bursts": {"every": 1e9}},
        workload={"load": 0.6},
        policies={"dispatch": dispatch, "admit": {"random": {"downtime": 0.2}}},
    )
    assert len(case.bursts.time) == 0
    done, observed = with_admission(case)
    assert observed.tasks.diverted == 0
    assert observed.tasks.accepted + observed.tasks.forced == len(done.response)
    assert (done.start > done.submit + 0.1).any()
    for step in range(len(observed.channels)):
        ran = np.minimum(done.end, step + 1.0) - np.maximum(done.start, float(step))
        runs = np.bincount(done.worker, np.maximum(ran, 0.0), 4)
        began = np.floor(done.start) == step
        np.testing.assert_allclose(observed.of("busy")[step], runs, atol=1e-9)
        np.testing.assert_allclose(observed.of("queue")[step], runs / 4, atol=1e-9)
        np.testing.assert_allclose(observed.of("ready")[step], 0.0, atol=1e-9)
        news = np.bincount(done.worker[began], minlength=4)
        np.testing.assert_allclose(observed.of("network")[step], news / 2.0, atol=1e-9)


@pytest.mark.parametrize("dispatch", ["pull", "sparrow", "jsq"])
def test_the_announced_kernels_are_the_used_ones(monkeypatch, dispatch):
    setting = case_of(policies={"dispatch": dispatch, "admit": {"random": {"downtime": 0.5}}}).setting
    announced, called = announced_and_called_kernels(AdmissionWorld(), setting, monkeypatch)
    # The ledger announces what parts in Python call; neighbours hold cores in compiled steps.
    assert called == set(announced) - {HOLD}


def test_policies_in_python_and_wrong_answers_are_rejected():
    class Plain:
        name = "plain"

    with pytest.raises(InputError, match="plain is not compiled"):
        gate(Plain())
    with pytest.raises(InputError, match=r"limits have shape \(2,\), expected \(3,\)"):
        set_answers(
            gate(make_policy("jsq", np.ones(3), np.random.default_rng(1))).ints[None], np.zeros(2, np.int64)
        )


def test_metrics_follow_pressure_as_the_model_says():
    model = small_model(dim=9)
    metrics = Metrics(model, 2, np.random.default_rng(3))
    rng = np.random.default_rng(4)
    channels = rng.random((4000, 2, 5))
    drawn = np.array([metrics.step(each) for each in channels])
    unit = (channels - model.channel_mean) / model.channel_scale
    for metric in range(model.dim):
        late = int(model.delay[metric])
        driven = np.concatenate([np.zeros((late, 2)), (unit @ model.along[metric])[: 4000 - late]])
        for step in range(1, 4000):
            pole = model.pole[metric]
            before = driven[step - 1]
            driven[step] = pole * before + (1 - pole) * driven[step]
        driven[0] *= 1 - model.pole[metric]
        left = (drawn[:, :, metric] - model.mean[metric]) / model.scale[metric] - driven
        variance = (model.own[metric] ** 2 + (model.factors[metric] ** 2).sum()) / (
            1 - model.fade[metric] ** 2
        )
        assert left[50:].var() == pytest.approx(variance, rel=0.15)


def test_models_are_written_and_read(tmp_path):
    path = tmp_path / "model.json"
    model = small_model()
    write_model(model, path)
    again = read_model(path)
    assert again.names == model.names
    np.testing.assert_allclose(again.along, model.along, rtol=1e-3)
    assert np.array_equal(again.delay, model.delay)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Expecting value"),
        ("{}", "names is missing"),
        ('{"channels": ["a"]}', "names is missing"),
    ],
)
def test_bad_models_are_named(tmp_path, text, message):
    path = tmp_path / "model.json"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as error:
        read_model(path)
    assert str(path) in str(error.value)


def test_invalid_models_are_rejected(tmp_path):
    path = tmp_path / "model.json"
    write_model(small_model(), path)
    good = path.read_text()
    for change, message in (
        ((f'"{CHANNELS[0]}"', '"idle"'), "channels are"),
        (('"delay": [0', '"delay": [-1'), "delay is -1, expected at least 0"),
        (('"own": [', '"own": [1.0, '), "own has shape"),
    ):
        path.write_text(good.replace(*change))
        with pytest.raises(InputError, match=message):
            read_model(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_model(tmp_path / "none.json")


def test_every_admission_policy_runs():
    for name in ADMIT.names():
        done, observed = with_admission(case_of(policies={"admit": name}, workload={"tasks": 200}))
        assert np.isfinite(done.response).all()
        assert observed.tasks.accepted + observed.tasks.rejected == 200


@pytest.mark.matrix(0)
@pytest.mark.parametrize("name", BINDS)
@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_a_refused_task_leaves_no_trace_in_the_policy(name, data):
    gated = gate(make_policy(name, np.array([1.0, 2.0, 4.0]), np.random.default_rng(1)), "refuse")
    for now in range(data.draw(st.integers(0, 9))):
        gated.arrived(float(now))
        gated.completed(gated.choose(np.zeros(3, np.int64)), 1.0, 0.5)
    gone = data.draw(st.sets(st.integers(0, 2), max_size=2))
    for worker in sorted(gone):
        gated.left(worker)
    limits, lengths = (np.array(data.draw(st.lists(st.integers(0, 3), min_size=3, max_size=3))) for _ in "ab")
    limits[list(gone)] = NO_LIMIT
    set_answers(gated.ints[None], limits)
    before = gated.ints.copy(), gated.floats.copy()
    chosen = gated.choose(lengths)
    if all(lengths[worker] >= limits[worker] for worker in {0, 1, 2} - gone):
        assert chosen == REFUSE
        assert np.array_equal(gated.ints, before[0])
        assert np.array_equal(gated.floats, before[1])
    else:
        assert lengths[chosen] < limits[chosen]
        assert chosen not in gone


def test_only_a_gate_that_refuses_lets_an_engine_refuse():
    plain = make_policy("jsq", np.ones(3), np.random.default_rng(1))
    assert plain.refusing_at == gate(plain).refusing_at == -1
    assert gate(plain, "refuse").refusing_at == len(gate(plain).ints) - 3 - 1
    with pytest.raises(InputError, match="full is 'never', expected 'force' or 'refuse'"):
        gate(plain, "never")


@pytest.mark.matrix(0)
@pytest.mark.parametrize("dispatch", DISPATCH.names())
def test_if_all_nodes_reject_all_tasks_that_arrive_are_refused(dispatch):
    case = case_of(
        policies={"dispatch": dispatch, "admit": "never"},
        schedulers=2,
        probe_delay=0.3,
        admission={"full": "refuse"},
    )
    done, observed = with_admission(case)
    # The first decision, at the end of the first step, lets no further task in.
    first = done.submit < 1.0
    assert np.array_equal(done.refused, ~first)
    assert observed.tasks.refused == done.refusals == (~first).sum()
    assert np.isnan(done.start[~first]).all()
    assert (done.worker[~first] == -1).all()
    assert np.isfinite(done.response[first]).all()
    assert np.isfinite(done.mean)
    # Refused tasks are no load: the last step ends as the last task does, or with the last arrival.
    assert len(observed.channels) <= np.ceil(max(done.submit[-1], np.nanmax(done.end)))


@pytest.mark.parametrize("dispatch", ["jsq", "pull", "sparrow"])
def test_a_job_with_a_refused_task_has_no_response(dispatch):
    case = case_of(
        workload={"tasks": 1500, "tasks_per_job": 5},
        policies={"dispatch": dispatch, "admit": {"random": {"downtime": 0.9}}},
        admission={"full": "refuse"},
    )
    done, observed = with_admission(case)
    refused = done.refused.reshape(-1, 5)
    assert refused.any()
    assert np.array_equal(np.isnan(done.job_response), refused.any(axis=1))
    # Late binding refuses whole jobs, as a job's tasks arrive at once.
    assert dispatch == "jsq" or np.array_equal(refused.all(axis=1), refused.any(axis=1))
    known = done.job_response[~refused.any(axis=1)]
    assert (done.mean, done.percentile(90)) == (known.mean(), np.percentile(known, 90))
    assert observed.tasks.accepted + observed.tasks.rejected == 1500
