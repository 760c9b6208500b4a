"""A co-scheduler's learned state and its pairs are in the journal before they take effect."""

from types import SimpleNamespace

import pytest

from windlass.engines.batch.sharing_backend import Pair
from windlass.engines.linux.files import GroupError
from windlass.engines.slurm import sharing
from windlass.engines.slurm.client import Client
from windlass.engines.slurm.settings import Driving
from windlass.engines.slurm.sharing import sharing_site
from windlass.engines.slurm.state import ShareState, parse_shares, share_text
from windlass.engines.slurm.system import SlurmOptions
from windlass.io import seal_text
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


class Texts:
    """A journal of saved texts alone."""

    def __init__(self):
        self.texts = {}
        self.text, self.save = self.texts.get, self.texts.__setitem__

    @property
    def shares(self):
        return parse_shares(self.texts["shares"], "here")


@pytest.fixture
def journal():
    return Texts()


@pytest.fixture
def site(monkeypatch, tmp_path, journal):
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
        sharing_site(system, Client(None, 1.0, 1.0), driving, journal, notify=print)
        assert (given["notify"], given["groups"]) == (print, "groups of windlass-c")
        return given["keep"]

    return made


@pytest.mark.parametrize("old", [True, False])
def test_pairs_are_saved_with_the_policy_s_learned_state(site, tmp_path, journal, old):
    before = share_text(ShareState("learns", (), "before", USES))
    # A file of its own counts if the journal has no state.
    (tmp_path / "journal.shares").write_text(seal_text("slurm-shares", before if old else "{}"))
    if not old:
        journal.save("shares", before)
    keep = site(Learns())
    keep([Pair(1, 2, 30)])
    assert journal.shares == ShareState("learns", (Pair(1, 2, 30),), "before+", USES)
    keep([])
    assert journal.shares == ShareState("learns", (), "before++", USES)


def test_for_a_policy_without_state_only_pairs_are_saved(site, journal):
    site(Forgets())([Pair(1, 2, 30), Pair(4, 5, 60)])
    assert journal.shares == ShareState("forgets", (Pair(1, 2, 30), Pair(4, 5, 60)))


def test_without_control_groups_sharing_is_an_error(site, monkeypatch):
    def missing(*parts, **named):
        raise GroupError("no groups here")

    made = site(Forgets())
    assert made is not None
    monkeypatch.setattr(sharing, "SlurmShares", missing)
    driving = Driving({"share": Forgets()}, None, SlurmOptions())
    monkeypatch.setattr(sharing, "_learned", lambda *given: ShareState("forgets"))
    with pytest.raises(InputError, match=r"^--policies: share: no groups here$"):
        sharing_site(None, None, driving, None, print)
