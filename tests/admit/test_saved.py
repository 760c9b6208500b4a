"""Saved states of nodes and trackers, restored states, and rejected ones."""

from __future__ import annotations

import json
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.admit.cases import low_rank, telemetry
from windlass.admit import AdmissionFleet, FPCAEdge, Pronto
from windlass.admit.lib.trackers import TRACKERS
from windlass.io import seal, unseal
from windlass.model import InputError


@given(st.integers(0, 130), st.sampled_from(TRACKERS), st.sampled_from([None, 0.1]), st.integers(1, 3))
@settings(max_examples=30, deadline=None)
def test_a_restored_fleet_continues_as_if_uninterrupted(steps, tracker, downtime, nodes):
    # Would catch any array that is missing from the state.
    streams = np.stack([telemetry(steps + 60, seed=node) for node in range(nodes)], axis=1)
    fleet = AdmissionFleet(nodes, 12, rank=3, block=7, tracker=tracker, signal="scores", downtime=downtime)
    for row in streams[:steps]:
        fleet.observe(row)
    data = fleet.save()
    back = AdmissionFleet.load(data)
    assert back.save() == data
    for row in streams[steps:]:
        assert (fleet.observe(row) == back.observe(row)).all()
        assert (fleet.scores == back.scores).all()


def test_a_restored_tracker_continues_as_if_uninterrupted():
    tracker = FPCAEdge(9, 2, 5, forget=0.9, energy=(0.05, 0.2))
    stream = low_rank(9, 60, 4, 0.1)
    for at in range(0, 30, 5):
        tracker.update(stream[:, at : at + 5])
    back = FPCAEdge.load(tracker.save())
    for at in range(30, 60, 5):
        tracker.update(stream[:, at : at + 5])
        back.update(stream[:, at : at + 5])
    assert (back.basis == tracker.basis).all()
    assert (back.singular_values == tracker.singular_values).all()


def saved() -> bytes:
    node = Pronto(6, rank=2, block=5)
    for row in telemetry(40, dim=6):
        node.observe(row)
    return node.save()


SAVED = saved()


@given(st.integers(0, len(SAVED) - 1), st.integers(1, 255))
@settings(max_examples=300, deadline=None)
def test_a_changed_byte_is_detected(at, by):
    changed = bytearray(SAVED)
    changed[at] = (changed[at] + by) % 256
    with pytest.raises(InputError, match="saved state") as caught:
        Pronto.load(bytes(changed))
    assert "\n" not in str(caught.value)


@given(st.binary(max_size=200) | st.integers(0, len(SAVED) - 1).map(lambda size: SAVED[:size]))
@settings(max_examples=200, deadline=None)
def test_the_error_for_garbage_is_one_line(data):
    for load in (Pronto.load, AdmissionFleet.load, FPCAEdge.load):
        with pytest.raises(InputError, match="saved state") as caught:
            load(data)
        assert "\n" not in str(caught.value)


def test_the_format_before_the_container_is_read():
    body = unseal(SAVED, "arrays")
    old = b"WINDLASS" + struct.pack("<I", zlib.crc32(body)) + body
    assert Pronto.load(old).save() == SAVED
    with pytest.raises(InputError, match="checksum is wrong"):
        Pronto.load(old[:-1])


def forged(change) -> bytes:
    """Return bytes with a valid checksum and a changed header or changed arrays."""
    body = unseal(SAVED, "arrays")
    (length,) = struct.unpack_from("<I", body)
    header, payload = json.loads(body[4 : 4 + length]), bytearray(body[4 + length :])
    change(header, payload)
    text = json.dumps(header).encode()
    return seal("arrays", struct.pack("<I", len(text)) + text + bytes(payload))


def put(name: str, value: float, code: str = "<d", at: int = 0):
    """Return a change that overwrites one number of an array."""

    def change(header, payload):
        offset = 0
        for array in header["arrays"]:
            if array["name"] == name:
                struct.pack_into(code, payload, offset + 8 * at, value)
                return
            offset += int(np.prod(array["shape"])) * {"f8": 8, "i8": 8, "b1": 1}[array["dtype"]]
        raise AssertionError(name)

    return change


def setting(name: str, value: object):
    return lambda header, payload: header["settings"].update({name: value})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda header, payload: header.update(version=2), "header: version"),
        (
            lambda header, payload: header.update(kind="windlass.admit.fpca"),
            "expected 'windlass.admit.fleet'",
        ),
        (lambda header, payload: header.update(more=1), "header: more"),
        (lambda header, payload: payload.extend(b"12345678"), "expected the size that its header lists"),
        (lambda header, payload: header["arrays"].pop(0), "expected the size that its header lists"),
        (
            lambda header, payload: header["arrays"][0].update(shape=[6, 1]),
            r"stream.seen is f8 of shape \[6, 1\]",
        ),
        (
            lambda header, payload: header["arrays"][0].update(shape=[2**62, 2**62]),
            "expected the size that its header lists",
        ),
        (
            lambda header, payload: header["arrays"][0].update(name="other"),
            "arrays differ from those of this object",
        ),
        (setting("nodes", 10**12), "too few for 1000000000000 nodes"),
        (setting("rank", 7), "rank is 7"),
        (setting("rank", 10**9), "rank is 1000000000"),
        (setting("lag", 10**12), "too few"),
        (setting("block", "x"), "block: expected a whole number, found 'x'"),
        (setting("nodes", None), "nodes is None"),
        (setting("colour", 1), "there is no parameter colour"),
        (put("stream.mean", float("nan")), "stream.mean holds a number that is not finite"),
        (put("stream.variance", -1.0), "counts or variances are below 0"),
        (put("stream.basis", 9.0), "from orthonormal"),
        (put("tracker.basis", 9.0), "from orthonormal"),
        (put("tracker.singular", -9.0), "singular values"),
        (put("tracker.ranks", 5, "<q"), "a rank is not 1 to 2"),
        (put("stream.ranks", 3, "<q"), "out of bounds"),
        (put("stream.at", 5, "<q"), "out of bounds"),
        (put("spikes.filled", -1, "<q"), "below 0"),
    ],
)
def test_a_forged_state_is_rejected_by_the_name_of_its_fault(change, message):
    with pytest.raises(InputError, match=message) as caught:
        Pronto.load(forged(change))
    assert "\n" not in str(caught.value)


def test_a_saved_fleet_of_two_nodes_is_not_loaded_as_a_node():
    with pytest.raises(InputError, match="is of 2 nodes, expected 1"):
        Pronto.load(AdmissionFleet(2, 5, rank=2, block=3).save())


def test_an_array_with_an_unknown_header_field_is_rejected():
    with pytest.raises(InputError, match=r"saved state: header: arrays\.0\.unknown"):
        Pronto.load(forged(lambda header, payload: header["arrays"][0].update(unknown=1)))
