"""Sharing jobs of a real Slurm: quotas are set, and end with the driver after any end."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.engines.slurm.private import PATIENCE, private_slurm
from tests.engines.slurm.test_real import Driver, Runs, windlass
from tests.kills import kills
from windlass.engines.linux.files import GroupError
from windlass.engines.linux.groups import detect_groups
from windlass.engines.slurm.daemons import wait_until
from windlass.engines.slurm.entries import Returning, Taking
from windlass.engines.slurm.journal import Unwritten, read_journal
from windlass.engines.slurm.models import Phase
from windlass.engines.slurm.settings import cluster_name, group_name

pytestmark = pytest.mark.slow
SHARES = "--comment=windlass share restart"
#: Kills of the driver at random times; WINDLASS_KILLS sets more.
KILLS = kills(8)


@pytest.fixture(scope="module")
def slurm():
    try:
        detect_groups()
    except GroupError as error:
        pytest.skip(str(error))
    with private_slurm(nodes=1, cpus=2) as shell:
        yield shell


@pytest.fixture(scope="module")
def groups(slurm):
    """The control groups that a driver of this cluster has."""
    return detect_groups(name=group_name(cluster_name(slurm.client)))


@pytest.fixture
def shell(slurm):
    slurm.clear()
    yield slurm
    slurm.clear()


@pytest.fixture
def runs(shell, tmp_path):
    return Runs(shell, tmp_path)


def submit(runs, seconds, *options, name="busy"):
    """Submit a sharing job as wide as the node that uses `seconds` of CPU time on one core."""
    spin = f"{sys.executable} -c 'import time\nwhile time.process_time() < {seconds}: pass'"
    script = f"echo b $SLURM_JOB_ID >> {runs.file}; {spin}; echo e $SLURM_JOB_ID >> {runs.file}"
    words = ("--hold", SHARES, f"--job-name={name}", *options)
    # A limit that suffices on a busy machine.
    runs.jobs.append(runs.shell.submit(script, *words, procs=2, minutes=60, ours=False))
    return runs.jobs[-1]


class Sharing(Driver):
    """A driver that gives guests half of the time."""

    def __init__(self, shell, tmp_path, *options, share="static"):
        super().__init__(shell, tmp_path, "--checkpoint", "0.5", *options, policy=f"easy,share={share}")


#: Guests get half of the time, and every other guest is requeued once it has been seen.
FICKLE = """
from windlass.share import Sharing
from windlass.share.view import Back
from windlass.share.policies.static import Static


class Fickle:
    name = "fickle"

    def __init__(self):
        self.seen = set()

    def decide(self, view):
        guests = {host.guest.job.job for host in view.running if host.guest is not None}
        again = [job for job in guests & self.seen if job % 2]
        self.seen = guests
        given = Static().decide(view).shares
        kept = tuple(share for share in given if share.guest not in again)
        return Sharing(kept, tuple(Back(job, "begins again") for job in again[:1]))
"""


def whole(groups):
    """True if no quota is left, and no job is pinned to cores."""
    return not groups.jobs() and not (groups.root / "cpuset" / groups.name).exists()


def test_only_the_guest_has_a_quota(shell, runs, groups, tmp_path):
    host, guest = submit(runs, 12), submit(runs, 4)
    with Sharing(shell, tmp_path, "--until-idle") as driver:
        assert wait_until(lambda: set(groups.jobs()) == {host, guest}, PATIENCE), driver.output.read_text()
        shares = {job: groups.base / f"job_{job}" for job in (host, guest)}
        quota = {job: (folder / "cpu.cfs_quota_us") for job, folder in shares.items()}
        if quota[host].exists():
            assert wait_until(lambda: int(quota[guest].read_text()) > 0, PATIENCE)
            period = int((shares[guest] / "cpu.cfs_period_us").read_text())
            # Half of two cores, for the guest only: the host may use all idle time.
            assert int(quota[guest].read_text()) == period
            assert int(quota[host].read_text()) == -1
        assert wait_until(lambda: (shares[guest] / "cgroup.procs").read_text().strip() != "", PATIENCE)
        assert driver.end() == 0
    runs.end()
    assert whole(groups)
    assert re.search(
        rf"job {guest} has 50 % of the cores that it shares with {host}", driver.output.read_text()
    )


@pytest.mark.parametrize(("share", "quota"), [("static", 50), ("always(quota=20)", 20)])
def test_a_dry_run_prints_the_pairs_that_would_share(shell, runs, groups, tmp_path, share, quota):
    host, guest = submit(runs, 30), submit(runs, 1)
    shell("scontrol", "release", str(host))
    shell.until(lambda rows: rows[host].phase is Phase.RUNS)
    journal = tmp_path / "journal"
    policies = ("--policies", f"order=easy,share={share}", "--checkpoint", "0.5", "--journal", str(journal))
    output = windlass(shell, "slurm", "drive", "--dry-run", *policies)
    assert f"job {guest} has {quota} % of the cores that it shares with {host}: " in output
    assert output.endswith("Nothing was changed.\n")
    assert (shell.rows()[host].phase, shell.rows()[guest].held) == (Phase.RUNS, True)
    assert whole(groups)
    assert not journal.exists()


def test_jobs_without_the_comment_never_share(shell, runs, groups, tmp_path):
    alone = [runs.submit(2, procs=2), runs.submit(2, procs=2)]
    with Sharing(shell, tmp_path, "--until-idle") as driver:
        assert driver.end() == 0
    runs.end()
    rows = shell.rows()
    first, second = sorted(alone, key=lambda job: rows[job].start)
    assert rows[second].start >= rows[first].end
    assert "shares" not in driver.output.read_text()


@pytest.mark.parametrize("restarted", [True, False], ids=["restarted", "never-restarted"])
def test_a_driver_killed_at_any_time_leaves_no_quota_and_loses_no_job(
    shell, runs, groups, tmp_path, restarted
):
    rng, fickle = np.random.default_rng(11), tmp_path / "fickle.py"
    fickle.write_text(FICKLE)
    for _ in range(3 + KILLS // 2 if restarted else 6):
        submit(runs, float(rng.uniform(0.5, 3.0)))
    for _ in range(KILLS if restarted else 1):
        with Sharing(shell, tmp_path, share=fickle if restarted else "static") as driver:
            if not restarted:
                assert wait_until(lambda: len(groups.jobs()) == 2, PATIENCE)
            elif rng.random() < 0.8:
                # This one has started; the others are killed during their start.
                assert wait_until(groups.base.is_dir, PATIENCE), driver.output.read_text()
            wait_until(lambda driver=driver: driver.process.poll() is not None, float(rng.uniform(0.0, 4.0)))
            assert driver.end(signal.SIGKILL) == -signal.SIGKILL, driver.output.read_text()
        # Only the watchdog lifts them.
        assert wait_until(lambda: whole(groups), PATIENCE)
    if restarted:
        with Sharing(shell, tmp_path, "--until-idle") as driver:
            assert driver.process.wait(10 * PATIENCE) == 0, driver.output.read_text()
    else:
        runs.shell.until(lambda rows: all(row.phase is not Phase.RUNS for row in rows.values()))
        command = [
            sys.executable,
            "-m",
            "windlass",
            "slurm",
            "give-back",
            "--journal",
            str(tmp_path / "journal"),
        ]
        subprocess.run(command, env=shell.environment, check=True)
    # Slurm forgets jobs some minutes after they ended.
    runs.shell.until(lambda rows: all(rows[job].phase is Phase.OVER for job in runs.jobs if job in rows))
    assert sorted(set(runs.lines("e"))) == sorted(runs.jobs)
    rows = runs.shell.rows()
    assert {rows[job].state for job in runs.jobs if job in rows} <= {"COMPLETED"}
    assert whole(groups)
    entries = read_journal(tmp_path / "journal")
    taken, back = (sum(isinstance(entry, kind) for entry in entries) for kind in (Taking, Returning))
    print(f"{KILLS} kills: {len(runs.jobs)} jobs, taken in {taken} times, put back {back} times")
    # No job has changes left to revert.
    assert not restarted or Unwritten(tmp_path / "journal").standing.taken == {}


def test_pairs_continue_under_the_next_driver(shell, runs, groups, tmp_path):
    host, guest = submit(runs, 12), submit(runs, 8)
    with Sharing(shell, tmp_path) as driver:
        assert wait_until(lambda: set(groups.jobs()) == {host, guest}, PATIENCE)
        assert wait_until(lambda: runs.lines("b") and len(runs.lines("b")) == 2, PATIENCE)
        driver.end(signal.SIGKILL)
    assert wait_until(lambda: whole(groups), PATIENCE)
    with Sharing(shell, tmp_path, "--until-idle") as driver:
        assert wait_until(lambda: set(groups.jobs()) == {host, guest}, PATIENCE), driver.output.read_text()
        assert driver.end() == 0
    runs.end()
    assert not Path(groups.base / f"job_{guest}").exists()
