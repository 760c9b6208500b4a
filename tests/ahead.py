"""What a world says that a run has compiled, and what the run calls."""

from windlass.jit import Kernel, prepare


def said_and_called(world, setting, monkeypatch):
    """Kernels that a world announces for a setting, and those that are asked for anything while it runs with seed 1."""
    workload, said, called = world.workload(setting, 1), world.kernels(setting), set()
    prepare(said, quiet=True)

    def noting(way):
        def noted(kernel):
            called.add(kernel)
            return way(kernel)

        return noted

    for way in ("ready", "entry", "as_argument"):
        monkeypatch.setattr(Kernel, way, noting(getattr(Kernel, way)))
    world.run(setting, 1, workload, lambda share: None)
    return said, called
