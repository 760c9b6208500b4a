"""Requests of pods, by explicit quantities and by the definition of a pod's effective request."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from windlass.engines.kubernetes import pods as of
from windlass.model import InputError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5n", 5e-9),
        ("5u", 5e-6),
        ("250m", 0.25),
        ("2", 2.0),
        (3, 3.0),
        (" 2 ", 2.0),
        ("0", 0.0),
        ("1.5k", 1500.0),
        ("2M", 2e6),
        ("2G", 2e9),
        ("2T", 2e12),
        ("2P", 2e15),
        ("12E", 12e18),
        ("1e3", 1000.0),
        ("5e-1", 0.5),
        ("3Ki", 3072.0),
        ("1Mi", 1048576.0),
        ("1Gi", 1073741824.0),
        ("1Ti", 1099511627776.0),
        ("1Pi", 1125899906842624.0),
        ("1Ei", 1152921504606846976.0),
    ],
)
def test_a_quantity_is_multiplied_by_its_suffix(text, value):
    assert of.quantity(text) == value


@pytest.mark.parametrize("text", ["", "m", "one", "1X", "1Kii", None])
def test_an_invalid_quantity_is_an_error(text):
    with pytest.raises(InputError, match="is not a quantity, expected one such as"):
        of.quantity(text)


@pytest.mark.parametrize("text", ["-1", "-0.5m", "inf", "nan"])
def test_a_quantity_is_finite_and_not_negative(text):
    with pytest.raises(InputError, match="is not a quantity"):
        of.quantity(text)


amounts = st.fixed_dictionaries(
    {},
    optional={
        "cpu": st.integers(0, 9).map(str),
        "memory": st.integers(0, 9).map(str),
        "nvidia.com/gpu": st.integers(0, 3).map(str),
        "amd.com/gpu": st.integers(0, 3).map(str),
        "ephemeral-storage": st.just("7"),
    },
)
containers = st.fixed_dictionaries(
    {"name": st.just("c")},
    optional={
        "resources": st.none() | st.fixed_dictionaries({}, optional={"requests": amounts, "limits": amounts})
    },
)
inits = st.tuples(containers, st.sampled_from([{}, {"restartPolicy": "Always"}, {"restartPolicy": "Never"}]))


def requested(container):
    """Return GPUs, cores and bytes; a limit replaces a missing request."""
    resources = container.get("resources") or {}
    found = {name: Fraction(text) for name, text in (resources.get("limits") or {}).items()}
    found.update({name: Fraction(text) for name, text in (resources.get("requests") or {}).items()})
    gpus = found.get("nvidia.com/gpu", 0) + found.get("amd.com/gpu", 0)
    return [gpus, found.get("cpu", 0), found.get("memory", 0)]


SIDECAR = {"restartPolicy": "Always"}
TWO, ONE = ({"name": "c", "resources": {"requests": {"cpu": cores}}} for cores in "21")


# Two sidecars next to the main container, and next to an init container with a larger request.
@example(main=[ONE], first=[(TWO, SIDECAR), (ONE, SIDECAR)], overhead=None)
@example(main=[], first=[(ONE, SIDECAR), (TWO, SIDECAR), (TWO, {})], overhead={"cpu": "3"})
# An init container with a larger request than the containers after it.
@example(main=[], first=[(TWO, {}), (ONE, SIDECAR)], overhead=None)
@example(main=[], first=[(TWO, {}), (ONE, {})], overhead=None)
@settings(max_examples=60, deadline=None)
@given(
    main=st.lists(containers, max_size=3),
    first=st.lists(inits, max_size=4),
    overhead=st.none() | amounts,
)
def test_the_effective_request_is_the_largest_at_any_time_of_the_pod(main, first, overhead):
    first = [{**container, **more} for container, more in first]
    # Init containers run one after the other; sidecars stay, and the main containers run at the end.
    moments, stay = [], [[0, 0, 0]]
    for container in first:
        moments.append([*stay, requested(container)])
        if container.get("restartPolicy") == "Always":
            stay = [*stay, requested(container)]
    moments.append([*stay, *map(requested, main)])
    most = [max(sum(row[column] for row in moment) for moment in moments) for column in range(3)]
    besides = requested({"resources": {"requests": overhead or {}}})
    spec = {"containers": main, "initContainers": first, "overhead": overhead}
    want = [float(a + b) for a, b in zip(most, besides, strict=True)]
    assert of.requests({"spec": spec}).tolist() == want


@pytest.mark.parametrize("pod", [{}, {"spec": None}, {"spec": {}}, {"spec": {"containers": None}}])
def test_a_pod_without_containers_requests_nothing(pod):
    assert of.requests(pod).tolist() == [0.0, 0.0, 0.0]


def test_an_error_names_the_container_and_the_resource():
    bad = {"name": "web", "resources": {"requests": {"cpu": "one"}}}
    with pytest.raises(InputError, match="container 'web': cpu: 'one' is not a quantity"):
        of.requests({"spec": {"containers": [bad]}})
    with pytest.raises(InputError, match="overhead: memory: '-1' is not a quantity"):
        of.requests({"spec": {"overhead": {"memory": "-1"}}})


OURS = {"app.kubernetes.io/managed-by": "windlass"}


@pytest.mark.parametrize(
    ("meta", "job", "ours"),
    [
        ({}, True, False),
        ({"labels": None, "annotations": None, "ownerReferences": None}, True, False),
        ({"labels": {"app.kubernetes.io/managed-by": "helm"}}, True, False),
        ({"labels": {"app": "windlass"}}, True, False),
        ({"labels": OURS}, False, True),
        ({"ownerReferences": [{"kind": "ReplicaSet"}]}, True, False),
        ({"ownerReferences": [{"kind": "ReplicaSet"}, {"kind": "DaemonSet"}]}, False, False),
        ({"ownerReferences": [{"kind": "Node"}]}, False, False),
        ({"annotations": {"other": "1"}}, True, False),
        ({"annotations": {"kubernetes.io/config.mirror": "1"}}, False, False),
    ],
)
def test_a_job_is_a_pod_that_is_neither_a_daemon_nor_a_placeholder(meta, job, ours):
    assert (of.is_job({"metadata": meta}), of.is_managed({"metadata": meta})) == (job, ours)


def test_a_pod_without_metadata_is_a_job():
    assert of.is_job({})
    assert not of.is_managed({})


@pytest.mark.parametrize(
    ("phase", "over"),
    [("Succeeded", True), ("Failed", True), ("Running", False), ("Pending", False), ("Unknown", False)],
)
def test_a_pod_is_over_once_it_has_succeeded_or_failed(phase, over):
    assert of.is_over({"status": {"phase": phase}}) is over
    assert not of.is_over({})


NEW_YEAR = 1767225600.0


def test_a_running_pod_counts_from_its_start_and_a_waiting_one_from_its_creation():
    meta, status = {"creationTimestamp": "2026-01-01T00:00:00Z"}, {"startTime": "2026-01-01T00:00:30Z"}
    on = {"nodeName": "a"}
    assert of.since({"metadata": meta, "status": status, "spec": on}) == NEW_YEAR + 30.0
    assert of.since({"metadata": meta, "spec": on}) == NEW_YEAR
    assert of.since({"metadata": meta, "status": status}) == NEW_YEAR
    assert (of.node_of({"spec": on}), of.node_of({"spec": {}}), of.node_of({})) == ("a", None, None)


def test_the_deadline_is_the_walltime():
    assert of.walltime({"spec": {"activeDeadlineSeconds": 90}}) == 90.0
    assert of.walltime({"spec": {"activeDeadlineSeconds": 0}}) == 0.0
    assert of.walltime({"spec": {}}) == of.walltime({}) == math.inf


def test_times_have_zones():
    assert of.instant("2026-01-01T01:00:00+01:00") == of.instant("2026-01-01T00:00:00.000Z") == NEW_YEAR
    with pytest.raises(InputError, match="'soon' is not a time"):
        of.instant("soon")


def test_a_pod_is_named_by_its_namespace_and_its_name():
    assert of.name_of({"metadata": {"namespace": "web", "name": "a"}}) == "web/a"
    assert of.name_of({"metadata": {"name": "a"}}) == "a"
    assert of.name_of({}) == ""


def test_the_requests_of_no_pods_are_an_empty_table():
    assert of.stack([]).shape == (0, 3)
    assert of.stack(iter([np.arange(3.0), np.ones(3)])).tolist() == [[0.0, 1.0, 2.0], [1.0, 1.0, 1.0]]
