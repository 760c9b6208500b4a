"""Accounting for a private Slurm: its own slurmdbd and a MariaDB that listens only on a Unix socket."""

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

#: Daemons started for accounting, in this order, after munged and before slurmctld.
DAEMONS = ("mariadbd", "slurmdbd")
_PROGRAMS = ("slurmdbd", "sacctmgr", "sacct", "mariadbd", "mariadb-install-db", "my_print_defaults")
#: Timeout for a daemon's start, which creates tables and opens a port, on a busy machine, s.
_PATIENCE_S = 180.0


def accounting_missing() -> str:
    """Return an error message that names the missing programs; empty if all are installed."""
    absent = [name for name in _PROGRAMS if program(name) is None]
    if absent:
        packages = "slurmdbd mariadb-server-core mariadb-client-core"
        return f"--accounting: {', '.join(absent)}: not found; on Debian: apt-get install {packages}"
    return ""


@dataclass(frozen=True, slots=True)
class Accounting:
    """Location and configuration of a private Slurm's accounting.

    The database authenticates by the peer credentials of the Unix socket: there is no password, and only root can
    connect. It has no TCP port; slurmdbd listens on 127.0.0.1 only.

    Parameters
    ----------
    folder
        The private Slurm's folder.

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
        """Return the lines of ``slurm.conf`` for a slurmdbd on this port."""
        return _FOR_SLURM.format(folder=self.folder, port=port)

    def slurmdbd_conf(self, port: int) -> str:
        """Return the text of ``slurmdbd.conf``."""
        return _FOR_SLURMDBD.format(folder=self.folder, port=port)

    def prepare(self, port: int) -> None:
        """Write the configuration, and create an empty database if there is none.

        Raises
        ------
        BatchError
            The database cannot be created; the message has the program's output.
        """
        conf = self.folder / "slurmdbd.conf"
        conf.unlink(missing_ok=True)
        conf.touch(mode=0o600)
        write_text(self.slurmdbd_conf(port), conf)
        self._database.mkdir(mode=0o700, exist_ok=True)
        made = self._database / "made"
        if made.exists():
            return
        # Remove the remains of an interrupted creation.
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
            The daemon did not start; the message has its output.
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
            # The database is small, so the buffer pool is too. Slurm's documentation requires the lock timeout.
            *("--innodb-buffer-pool-size=64M", "--innodb-lock-wait-timeout=900"),
        ]
        # mariadbd does not daemonize. It writes its own pid file only once it is ready, too late to stop a start
        # that fails; the shell writes the pid at once.
        detached = ["sh", "-c", _IN_BACKGROUND, "sh", str(self.folder / "mariadbd.log"), str(pid_file)]
        return launch("mariadbd", [*detached, *database], pid_file, environment(self.folder))

    def settle(self, daemon: Daemon, cluster: str) -> None:
        """Wait until one of :data:`DAEMONS` answers, and register the cluster with slurmdbd.

        Raises
        ------
        BatchError
            It does not answer, or refuses the cluster.
        """
        ready = self._socket.exists if daemon.name == "mariadbd" else lambda: self._knows(cluster)
        wait_until(lambda: not daemon.alive or ready(), _PATIENCE_S)
        if not daemon.alive or not ready():
            raise BatchError(f"{daemon.name} does not answer; see {self.folder}/{daemon.name}.log")

    def _knows(self, cluster: str) -> bool:
        command = ("sacctmgr", "--noheader", "--parsable2", "list", "cluster", "format=cluster")
        if cluster in ask(self.folder, *command).split():
            return True
        ask(self.folder, "sacctmgr", "--immediate", "add", "cluster", cluster)
        return False

    def _environment(self) -> Mapping[str, str]:
        # Slurm has no setting for the socket; the MySQL client library reads it from this variable.
        return {**environment(self.folder), "MYSQL_UNIX_PORT": str(self._socket)}


#: A shell script; its arguments are a log file, a pid file, and a command.
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
