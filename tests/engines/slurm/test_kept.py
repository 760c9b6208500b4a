"""A co-scheduler's learned state and its pairs are in the state file before they take effect."""

from types import SimpleNamespace

import pytest

from windlass.engines.batch.sharing_backend import Pair
from windlass.engines.linux.files import GroupError
from windlass.engines.slurm import sharing
from windlass.engines.slurm.client import Client
from windlass.engines.slurm.settings import Driving
from windlass.engines.slurm.sharing import sharing_site
from windlass.engines.slurm.state import ShareState, read_state, write_state
from windlass.engines.slurm.system import SlurmOptions
from windlass.model import InputError

USES = (("blast", 10.0, 700.0),)


class Learns:
    """A policy whose state grows by a mark at each save."""

    name = "learns"

    def __init__(self):
        self.text = "nothing"

    def saved(self):
        self.text += "+"
        return self.text

    def restore(self, text):
        self.text = text


class Forgets:
    name = "forgets"


@pytest.fixture
def site(monkeypatch, tmp_path):
    """Make a site that shares by a policy; return its function that saves pairs."""

    def made(policy):
        given = {}
        monkeypatch.setattr(
            sharing, "SlurmShares", lambda *parts, **named: given.update(named, groups=parts[2])
        )
        monkeypatch.setattr(sharing, "detect_groups", lambda name: f"groups of {name}")
        monkeypatch.setattr(sharing, "cluster_name", lambda client: "c")
        monkeypatch.setattr(sharing, "LiveSite", lambda system, **settings: (system, settings))
        driving = Driving({"order": None, "share": policy}, tmp_path / "journal", SlurmOptions())
        system = SimpleNamespace(guests=SimpleNamespace(known=dict))
        sharing_site(system, Client(None, 1.0, 1.0), driving, None, notify=print)
        assert (given["notify"], given["groups"]) == (print, "groups of windlass-c")
        return given["keep"]

    return made


def test_pairs_are_saved_with_the_policy_s_learned_state(site, tmp_path):
    file = tmp_path / "journal.shares"
    write_state(file, ShareState("learns", (), "before", USES))
    keep = site(Learns())
    keep([Pair(1, 2, 30)])
    assert read_state(file) == ShareState("learns", (Pair(1, 2, 30),), "before+", USES)
    keep([])
    assert read_state(file) == ShareState("learns", (), "before++", USES)


def test_for_a_policy_without_state_only_pairs_are_saved(site, tmp_path):
    site(Forgets())([Pair(1, 2, 30), Pair(4, 5, 60)])
    assert read_state(tmp_path / "journal.shares") == ShareState("forgets", (Pair(1, 2, 30), Pair(4, 5, 60)))


def test_without_control_groups_sharing_is_an_error(site, monkeypatch):
    def missing(*parts, **named):
        raise GroupError("no groups here")

    made = site(Forgets())
    assert made is not None
    monkeypatch.setattr(sharing, "SlurmShares", missing)
    driving = Driving({"share": Forgets()}, None, SlurmOptions())
    monkeypatch.setattr(sharing, "_learned", lambda *given: (None, ShareState("forgets")))
    with pytest.raises(InputError, match=r"^--policies: share: no groups here$"):
        sharing_site(None, None, driving, None, print)
