"""A live engine for the command without a real cluster: workers in virtual time."""

from tests.engines.fake import FakeExecutor


class FakeTarget:
    def describe(self, fleet, store):
        return ("start nothing at all",)

    def open(self, fleet, store):
        return FakeExecutor(fleet)

    def close(self):
        pass


def executors(target):
    return FakeTarget()
