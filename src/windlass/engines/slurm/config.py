"""What a private Slurm on one host is configured to be: many nodes by name, one machine, loopback only."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from windlass.engines.slurm.accounting import Accounting
from windlass.model import InputError

#: What Slurm calls a private one.
CLUSTER = "windlass"
#: Sockets lie below the folder, and their addresses may have 107 characters.
_LONGEST_FOLDER = 70
#: So many numbers of jobs for each port that a controller may have: Slurm's go up to 67 million.
_JOBS_A_PORT = 1000


def names(nodes: int) -> tuple[str, ...]:
    """What so many nodes are called.

    >>> names(2)
    ('w1', 'w2')
    """
    return tuple(f"w{number + 1}" for number in range(nodes))


@dataclass(frozen=True, slots=True)
class ClusterPlan:
    """A private Slurm.

    Parameters
    ----------
    folder
        Where all that it writes lies; absolute, at most 70 characters.
    host
        This machine's name.
    nodes
        How many nodes it pretends to have.
    cpus
        Processors of each. They may be more than the machine has: Slurm counts them, and pins nobody.
    memory
        Of each node, bytes.
    controller_port, ports
        Free ports on 127.0.0.1: the controller's, and one for each node.
    accounting_port
        Of its slurmdbd; None for no accounting.

    Raises
    ------
    InputError
        A number is below 1, or the folder's name is too long or has characters that Slurm's configuration has not.

    Examples
    --------
    >>> plan = ClusterPlan(Path("/tmp/wl"), "here", 2, 4, 2**30, 7000, (7001, 7002))
    >>> [line for line in plan.slurm_conf().splitlines() if line.startswith("NodeName=w1")]
    ['NodeName=w1 NodeHostname=here NodeAddr=127.0.0.1 Port=7001 CPUs=4 RealMemory=1024 State=UNKNOWN']
    """

    folder: Path
    host: str
    nodes: int
    cpus: int
    memory: int
    controller_port: int
    ports: tuple[int, ...]
    accounting_port: int | None = None

    def __post_init__(self) -> None:
        for name, value in (("--nodes", self.nodes), ("--cpus", self.cpus)):
            if value < 1:
                raise InputError(f"{name} is {value}, expected at least 1")
        folder = str(self.folder)
        if len(folder) > _LONGEST_FOLDER:
            raise InputError(f"--dir: {folder} has {len(folder)} characters, expected at most 70")
        if not folder.startswith("/") or any(
            sign in " ,#%=\"'\\" or not sign.isprintable() for sign in folder
        ):
            raise InputError(f"--dir: {folder!r}, expected a path of characters that slurm.conf can hold")

    @property
    def names(self) -> tuple[str, ...]:
        """What nodes are called."""
        return names(self.nodes)

    @property
    def conf(self) -> Path:
        """The configuration's file."""
        return self.folder / "slurm.conf"

    @property
    def first_job(self) -> int:
        """The number of its first job: of two clusters on one host, control groups are of different jobs."""
        return self.controller_port * _JOBS_A_PORT + 1

    def slurm_conf(self) -> str:
        """The text of ``slurm.conf``.

        Jobs are scheduled at once and their ends are logged to a file. Two jobs may have the same processors
        (``OverSubscribe``), for those who share; nobody is put there who fits elsewhere.
        """
        folder, host = self.folder, self.host
        nodes = [
            f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={self.cpus}"
            f" RealMemory={self.memory >> 20} State=UNKNOWN"
            for name, port in zip(self.names, self.ports, strict=True)
        ]
        books = (
            "AccountingStorageType=accounting_storage/none"
            if self.accounting_port is None
            else Accounting(folder).slurm_conf(self.accounting_port)
        )
        return "\n".join(
            [
                _SETTINGS.format(
                    cluster=CLUSTER, folder=folder, host=host, port=self.controller_port, first=self.first_job
                ),
                books,
                *nodes,
                _PARTITION,
            ]
        )


#: Not pinned, as processors may be declared that the machine has not. `cred_expire` is how long a job that was put
#: back into the queue rests.
_SETTINGS = """\
ClusterName={cluster}
FirstJobId={first}
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
AuthType=auth/munge
AuthInfo=cred_expire=5,socket={folder}/munge/socket
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
MailProg=/bin/true
MpiDefault=none
ReturnToService=2
ProctrackType=proctrack/cgroup
TaskPlugin=task/cgroup
JobAcctGatherType=jobacct_gather/cgroup
JobAcctGatherFrequency=task=2
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/jobs.txt
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1,bf_max_job_test=1000,default_queue_depth=1000
PriorityType=priority/basic
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides"""

_PARTITION = "PartitionName=share Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:2\n"

#: The text of ``cgroup.conf``: memory is bounded, processors are left to who shares them.
CGROUP_CONF = """\
CgroupPlugin=cgroup/v1
CgroupMountpoint=/sys/fs/cgroup
CgroupAutomount=no
ConstrainCores=no
ConstrainRAMSpace=yes
"""
