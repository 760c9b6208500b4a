"""What jobs of Slurm use on this host: read, or refused with a line."""

import pytest

from tests.engines.slurm.said import Said, node, nodes
from windlass.engines.slurm.client import Client
from windlass.engines.slurm.use import SlurmUse
from windlass.model import InputError

GATHERS = "JobAcctGatherType       = jobacct_gather/cgroup\n"


def use(mount, config=GATHERS):
    said = Said(sinfo=nodes(node("w1")), scontrol_show_config=config)
    return SlurmUse(None, Client(said, 1.0, 1.0), mount)


def apart(mount):
    for name in ("cpu", "cpuacct"):
        (mount / name).mkdir()
    return mount


def test_where_quotas_and_accounts_are_apart_all_is_well(tmp_path):
    use(apart(tmp_path))


def test_groups_that_are_quotas_and_accounts_at_once_are_refused_in_a_line(tmp_path):
    (tmp_path / "cpu,cpuacct").mkdir()
    for name in ("cpu", "cpuacct"):
        (tmp_path / name).symlink_to("cpu,cpuacct")
    with pytest.raises(InputError, match=r"cpu and .*/cpuacct are the same folder, expected cgroups v1"):
        use(tmp_path)


def test_version_2_is_refused_in_a_line(tmp_path):
    (tmp_path / "cgroup.controllers").write_text("cpu memory\n")
    with pytest.raises(InputError, match="/cpu: no such folder, expected cgroups v1"):
        use(tmp_path)


def test_a_slurm_that_does_not_account_by_groups_is_refused(tmp_path):
    with pytest.raises(InputError, match="JobAcctGatherType is 'jobacct_gather/linux', expected"):
        use(apart(tmp_path), "JobAcctGatherType = jobacct_gather/linux\n")
