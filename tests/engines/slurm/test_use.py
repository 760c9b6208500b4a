"""The use of Slurm jobs on this host: readable, or a one-line error."""

import pytest

from tests.engines.slurm.fake_commands import FakeCommands, node, nodes
from windlass.engines.slurm.client import Client
from windlass.engines.slurm.use import SlurmUse
from windlass.model import InputError

GATHERS = "JobAcctGatherType       = jobacct_gather/cgroup\n"


def use(mount, config=GATHERS):
    fake = FakeCommands(sinfo=nodes(node("w1")), scontrol_show_config=config)
    return SlurmUse(None, Client(fake, 1.0, 1.0), mount)


def separate_controllers(mount):
    for name in ("cpu", "cpuacct"):
        (mount / name).mkdir()
    return mount


def test_separate_quota_and_account_controllers_are_accepted(tmp_path):
    use(separate_controllers(tmp_path))


def test_a_shared_quota_and_account_folder_is_an_error(tmp_path):
    (tmp_path / "cpu,cpuacct").mkdir()
    for name in ("cpu", "cpuacct"):
        (tmp_path / name).symlink_to("cpu,cpuacct")
    with pytest.raises(InputError, match=r"cpu and .*/cpuacct are the same folder, expected cgroups v1"):
        use(tmp_path)


def test_cgroups_v2_is_an_error(tmp_path):
    (tmp_path / "cgroup.controllers").write_text("cpu memory\n")
    with pytest.raises(InputError, match="/cpu: no such folder, expected cgroups v1"):
        use(tmp_path)


def test_a_slurm_without_cgroup_accounting_is_an_error(tmp_path):
    with pytest.raises(InputError, match="JobAcctGatherType is 'jobacct_gather/linux', expected"):
        use(separate_controllers(tmp_path), "JobAcctGatherType = jobacct_gather/linux\n")
