"""The fakes in real time, for tests of the commands."""

import time

from tests.adversary.clock import VirtualClock
from tests.engines.htcondor.fake_condor import FakeCondor
from tests.engines.pbs.fake_pbs import FakePbs


class RealClock(VirtualClock):
    """Calls that are due are made when the time is read."""

    def __init__(self):
        self._seen = time.time()
        super().__init__(self._seen)

    @property
    def now(self):
        return self._seen

    @now.setter
    def now(self, value):
        self._seen = value

    def advance(self):
        self.wait(max(0.0, time.time() - self._seen))


class RealPbs(FakePbs):
    """A fake that answers as :class:`~windlass.engines.pbs.client.PbsCommands` does."""

    def __init__(self, vnodes, **more):
        super().__init__(RealClock(), vnodes, **more)

    def __call__(self, command, timeout):
        self.clock.advance()
        return super().__call__(command, timeout)


class RealCondor(FakeCondor):
    """A fake that answers as :class:`~windlass.engines.htcondor.client.CondorCommands` does."""

    def __init__(self, machines, **more):
        super().__init__(RealClock(), machines, **more)

    def __call__(self, command, timeout):
        self.clock.advance()
        return super().__call__(command, timeout)
