"""Saved lessons, nodes and trackers, and rejected states."""

from __future__ import annotations

import json
import struct
from types import SimpleNamespace

import numpy as np
import pytest

from tests.admit.cases import DIM, drawn, telemetry
from windlass.admit import AdmissionFleet, Aggregator, Forewarn, FPCAEdge
from windlass.admit.lib.saved import opened, pack, restore
from windlass.admit.lib.subspace import checked_subspace
from windlass.admit.saving import (
    load_aggregator,
    load_lesson,
    load_subspace,
    save_aggregator,
    save_lesson,
    save_subspace,
)
from windlass.admit.shared_model import Lesson
from windlass.io import seal, unseal
from windlass.model import InputError


def test_a_lesson_survives_saving_and_loading():
    rng = np.random.default_rng(1)
    lesson = Lesson(drawn(rng, 2), rng.normal(size=(DIM, 2)), rng.normal(size=4), 7.5)
    back = load_lesson(save_lesson(lesson))
    assert (back.metrics == lesson.metrics).all()
    assert (back.plain == lesson.plain).all()
    assert back.count == 7.5
    assert (back.subspace.basis == lesson.subspace.basis).all()
    assert (back.subspace.singular == lesson.subspace.singular).all()
    one = load_subspace(save_subspace(lesson.subspace))
    assert (one.basis == lesson.subspace.basis).all()
    assert (one.singular == lesson.subspace.singular).all()


def test_lessons_of_zero_steps_have_no_weight():
    space = drawn(np.random.default_rng(1))
    lessons = [Lesson(space, np.ones((DIM, 2)), np.ones(4), count) for count in (0.0, 0.0)]
    assert not Lesson.of_all(lessons, space).metrics.any()
    lessons = [
        Lesson(space, np.full((DIM, 2), v), np.arange(4.0) * v, c) for v, c in ((1.0, 30.0), (5.0, 10.0))
    ]
    found = Lesson.of_all(lessons, space)
    assert found.plain == pytest.approx(2.0 * np.arange(4.0))
    assert found.subspace is space


def forged(data, change):
    """Return the state with a changed header or changed arrays, and a valid checksum."""
    body = unseal(data, "arrays")
    (length,) = struct.unpack_from("<I", body)
    header, payload = json.loads(body[4 : 4 + length]), bytearray(body[4 + length :])
    change(header, payload)
    text = json.dumps(header).encode()
    return seal("arrays", struct.pack("<I", len(text)) + text + bytes(payload))


def put(name, value, code="<d", at=0):
    def change(header, payload):
        offset = 0
        for array in header["arrays"]:
            if array["name"] == name:
                struct.pack_into(code, payload, offset + 8 * at, value)
                return
            offset += int(np.prod(array["shape"])) * {"f8": 8, "i8": 8, "b1": 1}[array["dtype"]]
        raise AssertionError(name)

    return change


def changed(**values):
    return lambda header, payload: header["settings"].update(values)


def relisted(at, **values):
    return lambda header, payload: header["arrays"][at].update(values)


def without(name):
    return lambda header, payload: header["settings"].pop(name)


def saved_lesson():
    rng = np.random.default_rng(2)
    return save_lesson(Lesson(drawn(rng, 2), rng.normal(size=(DIM, 2)), rng.normal(size=4), 7.5))


def saved_aggregator():
    top = Aggregator(DIM, 3)
    top.take("a", drawn(np.random.default_rng(2), 2))
    return save_aggregator(top)


def saved_forewarn():
    node = Forewarn(6, rank=2, block=5, within=3)
    for at, row in enumerate(telemetry(40, dim=6)):
        node.observe(row, float(at % 9 == 0))
    return node.save()


def test_names_in_a_file_are_independent_of_names_in_the_code():
    # Files of earlier versions have these names.
    data = forged(saved_forewarn(), put("node.told", 2.5))
    back = Forewarn.load(forged(data, put("node.taught", 30, "<q")))
    assert (back.covariance[0, 0], back.prior_steps) == (2.5, 30)


def saved_fleet(tracker="fpca", **given_):
    fleet = AdmissionFleet(2, 6, rank=2, block=5, tracker=tracker, **given_)
    for row in np.random.default_rng(1).normal(size=(40, 2, 6)):
        fleet.observe(row)
    return fleet.save()


def saved_fpca():
    tracker = FPCAEdge(6, 2, 4)
    tracker.update(np.random.default_rng(1).normal(size=(6, 4)))
    return tracker.save()


FORGERIES = [
    (load_lesson, saved_lesson, put("lesson.count", -1.0), "lesson.count is -1.0"),
    (load_lesson, saved_lesson, relisted(2, shape=[2, DIM]), r"lesson.metrics has shape \(2, 5\), expected \(5, 2\)"),
    (load_lesson, saved_lesson, relisted(3, shape=[2, 2]), r"lesson.plain has shape \(2, 2\), expected \(4,\)"),
    (load_lesson, saved_lesson, relisted(4, shape=[1]), r"lesson.count has shape \(1,\), expected \(\)"),
    (load_lesson, saved_lesson, relisted(4, dtype="i8"), r"lists .*lesson.count \(i8\), expected"),
    (load_lesson, saved_lesson, relisted(4, name="other"), r"lists .*other \(f8\), expected"),
    (load_lesson, saved_lesson, put("subspace.singular", -1.0), "singular values"),
    (load_aggregator, saved_aggregator, changed(children=None), "its list of children does not match"),
    (load_aggregator, saved_aggregator, changed(children=[]), "its list of children does not match"),
    (load_aggregator, saved_aggregator, changed(children=["a"]), "child 0 has no name and age"),
    (load_aggregator, saved_aggregator, changed(children=[["a"]]), "child 0 has no name and age"),
    (load_aggregator, saved_aggregator, changed(children=[[1, 0]]), "child 0 has no name and age"),
    (load_aggregator, saved_aggregator, changed(children=[["a", -1]]), "age is -1"),
    (load_aggregator, saved_aggregator, changed(children=[["a", 0.5]]), "age is 0.5"),
    (load_aggregator, saved_aggregator, changed(more=1), "settings are not those"),
    (load_aggregator, saved_aggregator, without("forget"), "settings are not those"),
    (load_aggregator, saved_aggregator, changed(rank=True), "settings are not those"),
    (load_aggregator, saved_aggregator, changed(epsilon="0"), "settings are not those"),
    (load_aggregator, saved_aggregator, changed(dim=4), "a subspace of 5 metrics, expected 4"),
    (Forewarn.load, saved_forewarn, changed(dim=10**9), "too few for its settings"),
    (Forewarn.load, saved_forewarn, changed(within=10**9), "too few for its settings"),
    (Forewarn.load, saved_forewarn, changed(rank=0), "rank is 0"),
    (Forewarn.load, saved_forewarn, without("block"), "block is None"),
    (Forewarn.load, saved_forewarn, changed(colour=1), "settings: .*colour"),
    (Forewarn.load, saved_forewarn, put("node.steps", -1, "<q"), "steps are out of bounds"),
    (Forewarn.load, saved_forewarn, put("node.spiked", 40, "<q"), "steps are out of bounds"),
    (Forewarn.load, saved_forewarn, put("node.onset", 40, "<q"), "steps are out of bounds"),
    (Forewarn.load, saved_forewarn, put("stream.seen", -1.0), "counts or variances are below 0"),
    (AdmissionFleet.load, saved_fleet, put("threshold.seen", -1, "<q", 1), "counts or deviations are below 0"),
    (AdmissionFleet.load, saved_fleet, put("threshold.scale", -1.0, "<d", 1), "counts or deviations are below 0"),
    (AdmissionFleet.load, saved_fleet, put("threshold.left", -1.0, "<d", 1), "counts or deviations are below 0"),
    (AdmissionFleet.load, saved_fleet, put("spikes.filled", -1, "<q", 1), "counts or deviations are below 0"),
    (AdmissionFleet.load, saved_fleet, put("stream.seen", -1.0), "counts or variances are below 0"),
    (AdmissionFleet.load, saved_fleet, put("stream.at", -1, "<q"), "place in the block is out of bounds"),
    (AdmissionFleet.load, saved_fleet, put("stream.ranks", -1, "<q"), "a rank or the place"),
    (AdmissionFleet.load, saved_fleet, put("tracker.ranks", 0, "<q"), "a rank is not 1 to 2"),
    (AdmissionFleet.load, saved_fleet, changed(dim=0), "dim is 0"),
    *(
        (AdmissionFleet.load, saved_fleet, changed(**{name: 10**6}), "too few for")
        for name in ("nodes", "dim", "block", "lag")
    ),
    (AdmissionFleet.load, saved_fleet, relisted(0, dtype="i8"), "stream.seen is i8"),
    (
        AdmissionFleet.load, lambda: saved_fleet("spirit"), put("trackers.ranks", 5, "<q"),
        "a tracker's rank is out of bounds",
    ),
    (AdmissionFleet.load, lambda: saved_fleet("spirit"), put("trackers.ranks", -1, "<q"), "a tracker's rank is out of"),
    (
        AdmissionFleet.load, lambda: saved_fleet("spirit"), put("tracker 1._energy", -1.0),
        "SPIRIT's energies are below 0",
    ),
    (AdmissionFleet.load, lambda: saved_fleet("spirit"), put("tracker 1.held", -1.0), "SPIRIT's energies are below 0"),
    (AdmissionFleet.load, lambda: saved_fleet("spirit"), put("tracker 1.total", -1.0), "SPIRIT's energies are below 0"),
    (AdmissionFleet.load, lambda: saved_fleet("spirit"), put("tracker 1._rows", 9.0), "SPIRIT: basis is off"),
    (
        AdmissionFleet.load, lambda: saved_fleet("directions"), put("tracker 1._used", 9, "<q"),
        "9 rows .*expected 0 to 8",
    ),
    (AdmissionFleet.load, lambda: saved_fleet("directions"), put("tracker 0._used", -1, "<q"), "-1 rows are used"),
    (AdmissionFleet.load, lambda: saved_fleet("power"), put("tracker 1._basis", 9.0), "power method: basis is off"),
    (FPCAEdge.load, saved_fpca, changed(dim=10**9), "too few for its settings"),
    (FPCAEdge.load, saved_fpca, changed(max_rank=10**9), "too few for its settings"),
    (FPCAEdge.load, saved_fpca, changed(max_rank=None), "max_rank is None"),
    (FPCAEdge.load, saved_fpca, changed(colour=1), "settings: .*colour"),
    (FPCAEdge.load, saved_fpca, changed(energy=[0.1]), "expected two shares"),
    (FPCAEdge.load, saved_fpca, put("tracker.basis", 9.0), "from orthonormal"),
]  # fmt: skip


@pytest.mark.matrix
@pytest.mark.parametrize(("load", "saved", "change", "message"), FORGERIES)
def test_a_forged_state_is_rejected_by_the_name_of_its_fault(load, saved, change, message):
    data = saved()
    load(forged(data, lambda header, payload: None))
    with pytest.raises(InputError, match=message) as caught:
        load(forged(data, change))
    assert "\n" not in str(caught.value)


def test_directions_beyond_the_rank_are_rejected():
    tracker = FPCAEdge(6, 2, 4, energy=(0.0, 1.0))
    tracker.update(np.random.default_rng(1).normal(size=(6, 4)))
    for name, at in (("tracker.basis", 3), ("tracker.singular", 2)):
        with pytest.raises(InputError, match="directions beyond its rank 2"):
            FPCAEdge.load(forged(tracker.save(), put(name, 0.5, at=at)))


def test_a_full_state_of_each_tracker_survives_saving_and_loading():
    # Full sketches and grown rows of SPIRIT are saved like new ones.
    for tracker in ("spirit", "directions", "power"):
        fleet = AdmissionFleet.load(saved_fleet(tracker, energy=(0.99, 1.0) if tracker == "spirit" else None))
        assert fleet.save() == saved_fleet(tracker, energy=(0.99, 1.0) if tracker == "spirit" else None)
    sketch = AdmissionFleet(1, 6, rank=2, block=8, tracker="directions")
    for row in np.random.default_rng(1).normal(size=(8, 1, 6)):
        sketch.observe(row)
    assert sketch.stream.tracker.trackers[0]._used == 8
    assert AdmissionFleet.load(sketch.save()).save() == sketch.save()


@pytest.mark.parametrize("length", [0, 8, 26])
def test_a_truncated_state_is_rejected(length):
    with pytest.raises(InputError, match=f"{length} bytes that do not begin"):
        load_lesson(saved_lesson()[:length])
    # With its first line it is read, and its checksum is wrong.
    with pytest.raises(InputError, match="checksum"):
        load_lesson(saved_lesson()[:27])


def test_a_state_keeps_the_types_and_shapes_of_its_numbers():
    one = SimpleNamespace(
        real=1.5,
        whole=3,
        flag=True,
        row=np.arange(3),
        matrix=np.eye(2)[:, ::-1],
        flags=np.array([True, False]),
    )
    names = tuple(vars(one))
    data = pack("kind", {"a": [1, "b"]}, [("part", one, names)])
    header, arrays = opened(data, "kind")
    assert header.settings == {"a": [1, "b"]}
    assert [(each.name, each.dtype, each.shape) for each in header.arrays] == [
        ("part.real", "f8", []), ("part.whole", "i8", []), ("part.flag", "b1", []), ("part.row", "i8", [3]),
        ("part.matrix", "f8", [2, 2]), ("part.flags", "b1", [2]),
    ]  # fmt: skip
    other = SimpleNamespace(
        real=0.0, whole=0, flag=False, row=np.zeros(3, int), matrix=np.zeros((2, 2)), flags=np.zeros(2, bool)
    )
    restore(header, arrays, [("part", other, names)])
    assert (other.real, other.whole, other.flag) == (1.5, 3, True)
    assert (type(other.real), type(other.whole), type(other.flag)) == (float, int, bool)
    assert (other.matrix == [[0.0, 1.0], [1.0, 0.0]]).all()
    assert (other.row == [0, 1, 2]).all()
    assert other.flags.tolist() == [True, False]
    # Loaded arrays are writable copies, not views of the bytes.
    other.row[0] = 9
    # One row of any length, and one of a fixed length.
    other.row = np.zeros(7, int)
    with pytest.raises(InputError, match=r"part.row is i8 of shape \[3\], expected \[7\]"):
        restore(header, arrays, [("part", other, names)])
    restore(header, arrays, [("part", other, names)], ("part.row",))
    assert len(other.row) == 3


def test_a_subspace_is_rejected_just_beyond_the_tolerance():
    basis = np.eye(3)[:, :2]
    for off, fine in ((4e-7, True), (6e-7, False)):
        bent = basis.copy()
        bent[0, 0] = 1.0 + off
        if fine:
            checked_subspace("it", bent, np.array([2.0, 1.0]))
        else:
            with pytest.raises(InputError, match="orthonormal"):
                checked_subspace("it", bent, np.array([2.0, 1.0]))
    checked_subspace("it", basis, np.array([1.0, 1.0 + 1e-7]))
    checked_subspace("it", np.eye(2), np.array([1.0, 0.0]))
    for shape in ((3, 0), (2, 3), (3,)):
        with pytest.raises(InputError, match="basis has shape"):
            checked_subspace("it", np.zeros(shape), np.zeros(shape[1:]))
    with pytest.raises(InputError, match="not finite"):
        checked_subspace("it", basis, np.array([np.inf, 1.0]))
