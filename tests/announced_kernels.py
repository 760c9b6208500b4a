"""The kernels that a world announces for a run, and the kernels that the run uses."""

from windlass.jit import Kernel, prepare


def announced_and_called_kernels(world, setting, monkeypatch):
    """Return the kernels that a world announces for a setting, and those that a run with seed 1 uses."""
    workload, announced, called = world.workload(setting, 1), world.kernels(setting), set()
    prepare(announced, quiet=True)

    def recording(method):
        def recorded(kernel):
            called.add(kernel)
            return method(kernel)

        return recorded

    for method in ("ready", "entry", "as_argument"):
        monkeypatch.setattr(Kernel, method, recording(getattr(Kernel, method)))
    world.run(setting, 1, workload, lambda share: None)
    return announced, called
