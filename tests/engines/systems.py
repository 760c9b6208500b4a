"""The batch systems of the conformance tests, made from a table of jobs."""

import re
from contextlib import contextmanager, nullcontext
from pathlib import Path

from tests.engines.fake_batch import FakeBatch
from tests.engines.htcondor.virtual_condor import VirtualCondor
from tests.engines.kubernetes.virtual_jobs import VirtualJobs
from tests.engines.pbs.virtual_pbs import VirtualPbs
from tests.engines.slurm.private import OnSlurm, private_slurm


class Virtual:
    """A system in virtual time; jobs start `latency` (s) after their release."""

    def __init__(self, latency):
        self.latency, self.late = latency, latency + 1e-6

    def make(self, jobs, processors, cancels=(), capacity=()):
        return FakeBatch(jobs, processors, latency=self.latency, cancels=cancels, capacity=capacity)


@contextmanager
def document_systems():
    """The system of docs/add-an-engine.md, unchanged: processes, in real time."""
    document = Path(__file__).parents[2] / "docs" / "add-an-engine.md"
    text = document.read_text(encoding="utf-8").partition("\n## Drive a batch system")[2]
    system, _, maker = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    found = {}
    for code in (system, maker):
        exec(code, found)
    yield found["OnThisMachine"]()


@contextmanager
def slurm_systems():
    """A private Slurm on this machine, of four nodes with a processor each."""
    with private_slurm(nodes=4, cpus=1) as cluster:
        yield OnSlurm(cluster)


#: Context manager that yields each system's maker …
SYSTEMS = {
    "virtual": lambda: nullcontext(Virtual(0.0)),
    "virtual-late": lambda: nullcontext(Virtual(1.0)),
    "jobs": lambda: nullcontext(VirtualJobs(0.0)),
    "jobs-late": lambda: nullcontext(VirtualJobs(0.7)),
    "pbs": lambda: nullcontext(VirtualPbs(0.0)),
    "pbs-late": lambda: nullcontext(VirtualPbs(0.7)),
    "htcondor": lambda: nullcontext(VirtualCondor(0.0)),
    "htcondor-late": lambda: nullcontext(VirtualCondor(0.7)),
    "processes": document_systems,
    "slurm": slurm_systems,
}
#: … and which run in real time.
SLOW = {"processes", "slurm"}
