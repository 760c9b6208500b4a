"""Accounting of a private Slurm: a slurmdbd of its own, on a MariaDB of its own that listens on a socket alone."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from windlass.engines.slurm.daemons import Daemon, launch, wait_until
from windlass.engines.slurm.host import ask, environment, program
from windlass.io import write_text
from windlass.model import BatchError

#: What is started for accounting, in this order, after munged and before slurmctld.
DAEMONS = ("mariadbd", "slurmdbd")
_PROGRAMS = ("slurmdbd", "sacctmgr", "sacct", "mariadbd", "mariadb-install-db", "my_print_defaults")
#: Tables are made and a port is opened; a machine that is busy with other work takes its time, s.
_PATIENCE_S = 180.0


def accounting_missing() -> str:
    """What accounting needs and is not installed here, in a line; empty where nothing is missing."""
    absent = [name for name in _PROGRAMS if program(name) is None]
    if absent:
        packages = "slurmdbd mariadb-server-core mariadb-client-core"
        return f"--accounting: {', '.join(absent)}: not found; on Debian: apt-get install {packages}"
    return ""


@dataclass(frozen=True, slots=True)
class Accounting:
    """Where a private Slurm's accounting lies, and what it is configured to be.

    The database asks who connects by what the kernel says of the socket's other end, so there is no password, and
    nobody but root gets in. It has no TCP port at all; slurmdbd's is on 127.0.0.1 alone.

    Parameters
    ----------
    folder
        The private Slurm's.

    Examples
    --------
    >>> print(Accounting(Path("/tmp/wl")).slurm_conf(7003))
    AccountingStorageType=accounting_storage/slurmdbd
    AccountingStorageHost=127.0.0.1
    AccountingStoragePort=7003
    AccountingStoragePass=/tmp/wl/munge/socket
    """

    folder: Path

    @property
    def _database(self) -> Path:
        return self.folder / "database"

    @property
    def _socket(self) -> Path:
        return self._database / "socket"

    def slurm_conf(self, port: int) -> str:
        """What ``slurm.conf`` says of a slurmdbd on this port."""
        return _FOR_SLURM.format(folder=self.folder, port=port)

    def slurmdbd_conf(self, port: int) -> str:
        """The text of ``slurmdbd.conf``."""
        return _FOR_SLURMDBD.format(folder=self.folder, port=port)

    def prepare(self, port: int) -> None:
        """Write the configuration, and make an empty database where there is none.

        Raises
        ------
        BatchError
            It cannot be made; with what was said.
        """
        conf = self.folder / "slurmdbd.conf"
        conf.unlink(missing_ok=True)
        conf.touch(mode=0o600)
        write_text(self.slurmdbd_conf(port), conf)
        self._database.mkdir(mode=0o700, exist_ok=True)
        made = self._database / "made"
        if made.exists():
            return
        # What was begun and not ended.
        shutil.rmtree(self._database / "data", ignore_errors=True)
        done = subprocess.run(
            [
                *(program("mariadb-install-db") or "mariadb-install-db", "--no-defaults", "--user=root"),
                *(f"--datadir={self._database / 'data'}", "--skip-name-resolve", "--skip-test-db"),
                *("--auth-root-authentication-method=socket", "--auth-root-socket-user=root"),
            ],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=600,
        )
        if done.returncode != 0:
            raise BatchError(
                f"mariadb-install-db failed: {' '.join((done.stderr or done.stdout).split())[-500:]}"
            )
        made.touch()

    def launch(self, name: str) -> Daemon:
        """Start one of :data:`DAEMONS`.

        Raises
        ------
        BatchError
            It did not start; with what it said.
        """
        if name == "mariadbd":
            return self._launch_database()
        pid_file = self.folder / "slurmdbd.pid"
        return launch(name, [program(name) or name], pid_file, self._environment())

    def _launch_database(self) -> Daemon:
        self._socket.unlink(missing_ok=True)
        pid_file = self._database / "pid"
        database = [
            *(program("mariadbd") or "mariadbd", "--no-defaults", "--user=root", "--skip-networking"),
            *(f"--datadir={self._database / 'data'}", f"--socket={self._socket}"),
            f"--pid-file={self._database / 'mariadbd.pid'}",
            # Of few jobs there is little to hold. Slurm asks for the second.
            *("--innodb-buffer-pool-size=64M", "--innodb-lock-wait-timeout=900"),
        ]
        # It does not put itself into the background. Its own file of its id comes when it is ready: too late for who
        # must know what to stop when that never is.
        detached = ["sh", "-c", _IN_BACKGROUND, "sh", str(self.folder / "mariadbd.log"), str(pid_file)]
        return launch("mariadbd", [*detached, *database], pid_file, environment(self.folder))

    def settle(self, daemon: Daemon, cluster: str) -> None:
        """Wait until one of :data:`DAEMONS` answers, and tell slurmdbd of a cluster: it takes no jobs of others.

        Raises
        ------
        BatchError
            It does not answer, or does not take the cluster.
        """
        ready = self._socket.exists if daemon.name == "mariadbd" else lambda: self._knows(cluster)
        wait_until(lambda: not daemon.alive or ready(), _PATIENCE_S)
        if not daemon.alive or not ready():
            raise BatchError(f"{daemon.name} does not answer; {self.folder}/{daemon.name}.log says why")

    def _knows(self, cluster: str) -> bool:
        asked = ("sacctmgr", "--noheader", "--parsable2", "list", "cluster", "format=cluster")
        if cluster in ask(self.folder, *asked).split():
            return True
        ask(self.folder, "sacctmgr", "--immediate", "add", "cluster", cluster)
        return False

    def _environment(self) -> Mapping[str, str]:
        # The client library's word for the socket; Slurm has no setting for it.
        return {**environment(self.folder), "MYSQL_UNIX_PORT": str(self._socket)}


#: The shell's arguments are a log, a file for the process's id, and a command.
_IN_BACKGROUND = 'log=$1; pid=$2; shift 2; setsid "$@" >> "$log" 2>&1 & echo $! > "$pid"'

_FOR_SLURM = """\
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={port}
AccountingStoragePass={folder}/munge/socket"""

_FOR_SLURMDBD = """\
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CommunicationParameters=NoInAddrAny
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort={port}
SlurmUser=root
PidFile={folder}/slurmdbd.pid
LogFile={folder}/slurmdbd.log
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=root
StorageLoc=windlass
"""
