"""What an agent keeps on a disk that is full is as it was."""

import pytest

from tests.disks import PAGE, filled, names, small_disk
from windlass.agent.envelope import Envelope, EnvelopePart
from windlass.agent.state_file import Keeper
from windlass.model import InputError


def envelope(policy, size):
    return Envelope("agent", policy, "m", (EnvelopePart("node", bytes(size)),))


@pytest.mark.parametrize("free", [0, PAGE, 2 * PAGE])
def test_what_was_learned_stays_and_nothing_is_beside_it(tmp_path, free):
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
