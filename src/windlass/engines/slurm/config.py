"""Configuration of a private Slurm on one host: several nodes on one machine, reachable only over loopback."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from windlass.engines.slurm.accounting import Accounting
from windlass.model import InputError

#: The cluster name of a private Slurm.
CLUSTER = "windlass"
#: Longest path of the folder: sockets are below it, and their paths are limited to 107 characters.
_LONGEST_FOLDER = 70
#: Job numbers reserved for each controller port: Slurm's go up to 67 million.
_JOBS_A_PORT = 1000


def names(nodes: int) -> tuple[str, ...]:
    """Return the names of this many nodes.

    >>> names(2)
    ('w1', 'w2')
    """
    return tuple(f"w{number + 1}" for number in range(nodes))


@dataclass(frozen=True, slots=True)
class ClusterPlan:
    """The parameters of a private Slurm.

    Parameters
    ----------
    folder
        The folder of all its files; absolute, at most 70 characters.
    host
        This machine's name.
    nodes
        The number of nodes that it simulates.
    cpus
        Processors per node. They may exceed the machine's: Slurm only counts them and does not pin jobs.
    memory
        Memory per node, bytes.
    controller_port, ports
        Free ports on 127.0.0.1: the controller's, and one for each node.
    accounting_port
        The port of its slurmdbd; None for no accounting.

    Raises
    ------
    InputError
        A number is below 1, or the folder's name is too long or has characters that ``slurm.conf`` cannot hold.

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
        """The names of the nodes."""
        return names(self.nodes)

    @property
    def conf(self) -> Path:
        """The path of ``slurm.conf``."""
        return self.folder / "slurm.conf"

    @property
    def first_job(self) -> int:
        """The number of its first job; it differs between clusters on one host, so that cgroups never collide."""
        return self.controller_port * _JOBS_A_PORT + 1

    def slurm_conf(self) -> str:
        """Return the text of ``slurm.conf``.

        Jobs are scheduled at once and their ends are logged to a file. Two jobs may have the same processors
        (``OverSubscribe``), which sharing needs; Slurm prefers free processors.
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


#: Jobs are not pinned, as the declared processors may exceed the machine's. A requeued job cannot start again
#: before `cred_expire` (s) has passed.
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

#: The text of ``cgroup.conf``: memory is limited; processors are limited by the co-scheduler's quotas.
CGROUP_CONF = """\
CgroupPlugin=cgroup/v1
CgroupMountpoint=/sys/fs/cgroup
CgroupAutomount=no
ConstrainCores=no
ConstrainRAMSpace=yes
"""
