"""The configuration of a private Slurm's accounting: below its folder, for root only, on loopback only."""

from pathlib import Path

import pytest

from windlass.engines.slurm import accounting, cluster
from windlass.engines.slurm.accounting import Accounting, accounting_missing
from windlass.engines.slurm.cluster import SlurmCluster
from windlass.engines.slurm.config import ClusterPlan
from windlass.model import InputError


def plan(port):
    return ClusterPlan(Path("/tmp/wl"), "here", 1, 1, 2**30, 7000, (7001,), port).slurm_conf()


def test_without_accounting_it_is_configured_off():
    assert plan(None).count("AccountingStorage") == 1
    assert "\nAccountingStorageType=accounting_storage/none\n" in plan(None)


def test_slurm_uses_its_own_slurmdbd_and_munge():
    assert plan(7003).count("AccountingStorageType=") == 1
    assert "\nAccountingStorageType=accounting_storage/slurmdbd\n" in plan(7003)
    assert "\nAccountingStorageHost=127.0.0.1\nAccountingStoragePort=7003\n" in plan(7003)
    assert "\nAccountingStoragePass=/tmp/wl/munge/socket\n" in plan(7003)


def test_slurmdbd_listens_on_loopback_and_writes_below_its_folder():
    lines = Accounting(Path("/tmp/wl")).slurmdbd_conf(7003).splitlines()
    assert {"DbdAddr=127.0.0.1", "DbdPort=7003", "CommunicationParameters=NoInAddrAny"} <= set(lines)
    paths = [line.rpartition("=")[2] for line in lines if "=/" in line]
    assert len(paths) == 3
    assert all(path.startswith("/tmp/wl/") for path in paths)


def test_missing_programs_are_named_with_their_packages(tmp_path, monkeypatch):
    monkeypatch.setattr(accounting, "program", lambda name: None if "maria" in name else f"/bin/{name}")
    message = (
        "--accounting: mariadbd, mariadb-install-db: not found; "
        "on Debian: apt-get install slurmdbd mariadb-server-core mariadb-client-core"
    )
    assert accounting_missing() == message
    monkeypatch.setattr(cluster, "missing", lambda: "")
    with pytest.raises(InputError) as caught:
        cluster.up(tmp_path / "s", 1, 1, accounting=True)
    assert str(caught.value) == message
    assert not (tmp_path / "s").exists()


def test_a_state_file_records_accounting(tmp_path):
    for each in (True, False):
        SlurmCluster(tmp_path, 1, 1, (), each).save()
        assert SlurmCluster.load(tmp_path).accounting is each
