"""On a full disk, an agent's saved state stays unchanged."""

import pytest

from tests.disks import PAGE, filled, names, small_disk
from windlass.agent.envelope import Envelope, EnvelopePart
from windlass.agent.state_file import Keeper
from windlass.model import InputError


def envelope(policy, size):
    return Envelope("agent", policy, "m", (EnvelopePart("node", bytes(size)),))


@pytest.mark.parametrize("free", [0, PAGE, 2 * PAGE])
def test_on_a_full_disk_the_state_stays_and_no_other_file_is_left(tmp_path, free):
    with small_disk(tmp_path / "disk", 16 * PAGE) as disk:
        keeper = Keeper(disk / "state")
        keeper.save(envelope("before", PAGE))
        with filled(disk, free):
            with pytest.raises(
                InputError, match="state: the file cannot be written: No space left on device"
            ):
                keeper.save(envelope("after", 4 * PAGE))
            assert keeper.load(lambda found: found.policy, print) == "before"
            assert names(disk) == {"state"}
        keeper.save(envelope("after", 4 * PAGE))
        assert keeper.load(lambda found: found.policy, print) == "after"
