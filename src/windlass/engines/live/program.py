"""The work of a workload's tasks: hold a slot, call a function, or run a command; and the source of their input."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from windlass.engines.live.work import Call, Command, Generate, Hold, ReadFile, Work
from windlass.model import InputError
from windlass.model.fleet import FleetJobs


@dataclass(frozen=True, slots=True)
class StageProgram:
    """The work of one stage's tasks; by default they hold their slot for the workload's duration.

    Parameters
    ----------
    function
        Called with the input (a list of bytes) and the number of parts to return.
    command
        A command line, instead of a function.
    files
        Input file of each map task, in the order of the stage's tasks: site by site.
    """

    function: Callable[[Sequence[bytes], int], Sequence[bytes]] | None = None
    command: str | None = None
    files: tuple[str, ...] = ()

    @property
    def real(self) -> bool:
        """True if the tasks do more than hold a slot."""
        return self.function is not None or self.command is not None


class LiveProgram:
    """The work of each task.

    Parameters
    ----------
    jobs
        The workload.
    steps
        One per stage; if empty, all tasks hold their slots.

    Raises
    ------
    InputError
        The number of steps is wrong, a stage with real work has more than one child stage, or the number of a stage's
        files differs from its number of tasks.

    Examples
    --------
    >>> from windlass.model.fleet import StageSpec
    >>> stages = [StageSpec(2.0, here=(1, 1), task_bytes=100), StageSpec(1.0, tasks=2, parents=(0,))]
    >>> LiveProgram(FleetJobs.of([0.0], [stages])).work(0, 100)
    Hold(seconds=2.0, sizes=(50, 50))
    """

    def __init__(self, jobs: FleetJobs, steps: Sequence[StageProgram] = ()) -> None:
        self._jobs = jobs
        self.steps = tuple(steps) or (StageProgram(),) * len(jobs.job)
        if len(self.steps) != len(jobs.job):
            raise InputError(f"steps: {len(self.steps)} given for {len(jobs.job)} stages")
        self.stage = jobs.stage
        self._weights: list[list[float]] = []
        for row, step in enumerate(self.steps):
            children = self.children(row)
            if step.real and len(children) > 1:
                raise InputError(
                    f"stage {row + 1}: {len(children)} stages read what it writes, expected at most one"
                )
            if step.files and (jobs.shuffles[row] or len(step.files) != jobs.tasks[row]):
                raise InputError(
                    f"stage {row + 1}: {len(step.files)} files for {jobs.tasks[row]} tasks that read input"
                )
            self._weights.append([weight for child in children for weight in self._shares(child)])

    def children(self, row: int) -> list[int]:
        """Return the stages that read a stage's output."""
        jobs = self._jobs
        return [int(child) for child in jobs.children[jobs.child_at[row] : jobs.child_at[row + 1]]]

    def _shares(self, row: int) -> list[float]:
        sizes = self._jobs.size[self._jobs.first[row] : self._jobs.first[row + 1]]
        return [float(share) for share in sizes / sizes.sum()]

    def keeps_result(self, row: int) -> bool:
        """Return whether a stage's output is a result of its job."""
        return self.steps[row].real and not self.children(row)

    def load(self, task: int) -> Work:
        """Return the work that makes the input of a map task."""
        row = int(self.stage[task])
        files = self.steps[row].files
        if files:
            return ReadFile(files[task - int(self._jobs.first[row])])
        return Generate(round(float(self._jobs.task_bytes[row])))

    def work(self, task: int, read: int) -> Work:
        """Return the work of a task that reads ``read`` bytes."""
        row = int(self.stage[task])
        step, jobs = self.steps[row], self._jobs
        parts = max(len(self._weights[row]), 1)
        if step.function is not None:
            return Call(step.function, parts)
        if step.command is not None:
            return Command(step.command, parts)
        written = read * float(jobs.ratio[row])
        seconds = float(jobs.duration[task])
        return Hold(seconds, tuple(round(written * weight) for weight in self._weights[row]))
