"""The learned state of an agent: as bytes, as a file, after kills, and rejected if it is something else."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engines.linux.agent.conftest import DIM, METRICS, seen, views
from windlass.agent.envelope import Envelope, EnvelopePart, digest, opened
from windlass.agent.node import as_message, decide, from_message, load_node, make_node
from windlass.agent.state_file import Keeper
from windlass.model import InputError

LEARNERS = ("pronto", "forewarn")


def envelope(name="forewarn", node=None):
    return Envelope("agent", name, METRICS, (EnvelopePart("node", (node or seen(name)).save() or b""),))


@pytest.mark.parametrize("name", LEARNERS)
def test_a_restored_node_continues_as_if_uninterrupted(name):
    node = seen(name, steps=70)
    again = load_node(name, DIM, node.save())
    for view in views(200, seed=5):
        assert decide(node, view) == decide(again, view)


@given(parts=st.lists(st.tuples(st.text(), st.binary())), policy=st.text(), metrics=st.text())
@settings(max_examples=50)
def test_an_envelope_survives_sealing_and_opening(parts, policy, metrics):
    sealed = Envelope("learned", policy, metrics, tuple(EnvelopePart(*each) for each in parts))
    assert opened(sealed.seal()) == sealed


@given(at=st.integers(0), bit=st.integers(0, 7), cut=st.booleans())
@settings(max_examples=200)
def test_any_changed_bit_and_any_truncation_is_detected(at, bit, cut):
    data = bytearray(
        Envelope("agent", "pronto", "m", (EnvelopePart("a", b"some bytes"), EnvelopePart("b", b""))).seal()
    )
    at %= len(data)
    if cut:
        del data[at:]
    else:
        data[at] ^= 1 << bit
    with pytest.raises(InputError) as error:
        opened(bytes(data))
    assert "\n" not in str(error.value)


def test_metrics_in_another_order_have_another_digest():
    assert digest(("a", "b")) != digest(("b", "a")) != digest(("ba",))


def test_a_file_is_read_back(tmp_path):
    keeper = Keeper(tmp_path / "state")
    assert keeper.load(lambda found: found, print) is None
    keeper.save(envelope())
    keeper.save(envelope("pronto"))
    assert keeper.load(lambda found: found.policy, print) == "pronto"
    assert os.listdir(tmp_path) == ["state"]


def test_an_unusable_file_is_set_aside_and_reported(tmp_path):
    keeper, lines = Keeper(tmp_path / "state"), []
    keeper.save(envelope())
    data = (tmp_path / "state").read_bytes()
    (tmp_path / "state").write_bytes(data[:-5])
    assert keeper.load(lambda found: found, lines.append) is None
    assert "checksum" in lines[0]
    assert (tmp_path / "state.refused").read_bytes() == data[:-5]
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize("data", [b"[Unit]\nDescription=x\n", b"\x7fELF", b" "])
def test_a_file_of_another_program_is_left_unchanged(tmp_path, data):
    file = tmp_path / "state"
    file.write_bytes(data)
    with pytest.raises(InputError, match="left unchanged"):
        Keeper(file).load(lambda found: found, print)
    assert file.read_bytes() == data


def test_a_missing_folder_is_named_in_the_error(tmp_path):
    with pytest.raises(InputError, match=r"nowhere/state: the file cannot be written: No such file"):
        Keeper(tmp_path / "nowhere" / "state").save(envelope())


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("dim", [DIM - 1, DIM + 1])
def test_a_node_of_another_dimension_is_rejected(name, dim):
    with pytest.raises(InputError, match=f"has {DIM} metrics, expected {dim}"):
        load_node(name, dim, seen(name).save())


def test_the_state_of_another_policy_is_rejected():
    with pytest.raises(InputError, match="forewarn"):
        load_node("pronto", DIM, seen("forewarn").save())


@pytest.mark.parametrize("name", LEARNERS)
def test_a_new_node_starts_from_the_learned_state_of_others(name):
    old = seen(name, steps=100)
    learned = from_message(opened(as_message(old.learned(), name, METRICS).seal()), DIM)
    newcomer = make_node(name, DIM, np.random.default_rng(2))
    assert newcomer.is_new
    newcomer.start(learned)
    assert not newcomer.is_new
    spanned = learned.subspace.basis @ learned.subspace.basis.T
    found = newcomer.learned()
    assert found is not None
    np.testing.assert_allclose(found.subspace.basis @ found.subspace.basis.T, spanned, atol=1e-9)


def test_a_forewarn_node_starts_from_the_directions_of_pronto_nodes():
    learned = seen("pronto", steps=100).learned()
    newcomer = make_node("forewarn", DIM, np.random.default_rng(2))
    newcomer.start(learned)
    assert not newcomer.is_new
    for view in views(50):
        decide(newcomer, view)


def test_a_node_without_steps_has_no_learned_state():
    for name in ("pronto", "forewarn", "utilisation"):
        assert make_node(name, DIM, np.random.default_rng(1)).learned() is None


def test_plain_policies_save_no_state():
    assert make_node("ready", DIM, np.random.default_rng(1)).save() is None


WRITER = """
import sys
from pathlib import Path
from windlass.agent.envelope import Envelope, EnvelopePart
from windlass.agent.state_file import Keeper
keeper = Keeper(Path(sys.argv[1]))
at = 0
while True:
    keeper.save(Envelope("agent", str(at), "m", (EnvelopePart("node", bytes([at % 256]) * 300_000),)))
    at += 1
    print("saved", flush=True)
"""


@pytest.mark.matrix(0.01)
@pytest.mark.parametrize("after", [1, 3, 7])
def test_a_killed_writer_leaves_a_complete_file(tmp_path, after):
    file = tmp_path / "state"
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(file)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for _ in range(after):
        assert process.stdout.readline() == "saved\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    found = opened(file.read_bytes())
    assert int(found.policy) >= after - 1
    assert found.part("node") == bytes([int(found.policy) % 256]) * 300_000
    # A leftover temporary file does not affect the next writer.
    Keeper(file).save(Envelope("agent", "next", "m", ()))
    assert opened(file.read_bytes()).policy == "next"
