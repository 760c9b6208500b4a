"""Defects that the adversary has found, each with the smallest plan that showed it."""

import pytest

from tests.adversary.plan import Action, Fault, Job, Plan
from tests.adversary.records import Actor
from tests.adversary.world import run


def plan(jobs, actions=(), faults=(), policy="fcfs", **options):
    return Plan(0, "22.05.9", policy, tuple(jobs), tuple(actions), tuple(faults), **options)


FOUND = {
    # The driver took a hold between its release and its next poll for a release that had failed.
    "a user holds a job right after its release": plan(
        [Job(3, 0.0, 2, 21.6), Job(2, 6.3, 4, 14.4)], [Action("user holds", 24.9, 2)]
    ),
    # The next driver did not know that the job had been released.
    "a user holds a job after the queue was given back": plan(
        [Job(3, 0.0, 3, 13.2), Job(2, 0.4, 4, 14.7)],
        [Action("user holds", 2.5, 2)],
        [Fault("interrupted", 1.1)],
    ),
    "a user requeues a job, held, after the queue was given back": plan(
        [Job(1, 0.0, 4, 9.6), Job(2, 34.5, 1, 64.1)],
        [Action("user requeues, held", 38.7, 2)],
        [Fault("interrupted", 33.9)],
        policy="easy",
    ),
    # The driver gave the queue back before it had seen that the launch had failed.
    "a launch fails before the queue is given back": plan(
        [Job(3, 25.4, 3, 3.4), Job(2, 38.0, 3, 18.5)],
        [Action("launch fails", 42.5, 2)],
        [Fault("delayed", 19, 16.0), Fault("interrupted", 82.8)],
    ),
    "a user holds a job before the queue is given back": plan(
        [Job(1, 0.0, 4, 10.0), Job(2, 0.0, 4, 10.0)],
        [Action("user holds", 12.6, 2)],
        [Fault("interrupted", 12.8)],
    ),
    # A launch of Slurm's own failed; the driver took the job for a new one.
    "a launch fails after an administrator released the job": plan(
        [Job(1, 0.0, 1, 6.9), Job(2, 8.9, 1, 8.1)],
        [Action("administrator releases", 16.3, 2), Action("launch fails", 11.9, 2)],
    ),
    # The job stayed in the queue, although Slurm could start it.
    "a user releases a job, and holds it again": plan(
        [Job(6, 0.0, 4, 54.1), Job(3, 0.2, 3, 16.7), Job(4, 0.4, 2, 75.4)],
        [Action("user releases", 11.4, 4), Action("user holds", 26.4, 4)],
    ),
    # The driver stopped: the job was refused eight times in a row.
    "a user releases a job that waits for another": plan(
        [Job(1, 0.0, 4, 20.0), Job(2, 1.0, 1, 5.0)],
        [Action("depends", 4.0, 2, 80.0), Action("user releases", 5.0, 2)],
    ),
    "a job is requeued while the driver polls each minute": plan(
        [Job(1, 0.0, 1, 85.0)], [Action("user requeues", 55.0, 1)], pace=60.0
    ),
    # The driver stopped: the job ran again before it was held, and the long poll delayed the next one.
    "a requeued job runs before it is held": plan(
        [Job(1, 33.0, 4, 11.1)],
        [Action("user requeues", 65.0, 1)],
        [Fault("delayed", 41, 12.0), Fault("cut", 4, 0.74), Fault("drained", 31.5, 19.8)],
        policy="easy",
        give_back_every=2,
        journal_limit=700,
    ),
    # The driver stopped: Slurm did not know the job any more, eight times in a row.
    "Slurm loses a job before it is released": plan(
        [Job(4, 0.0, 4, 7.5)], (), [Fault("rolled back", 1.3), Fault("unanswered", 6)], pace=45.0
    ),
    # The driver stopped, and gave the whole queue back.
    "a list is cut short": plan([Job(1, 0.0, 1, 6.0)], (), [Fault("cut", 21, 0.68)]),
    # It had not begun to poll, and left the jobs of the driver before it held.
    "a driver is interrupted while it starts": plan(
        [Job(1, 1.7, 4, 64.7), Job(2, 29.8, 1, 10.4, True, 3.0), Job(3, 15.5, 4, 10.9, True, 3.0)],
        (),
        [
            Fault("killed before", 14),
            Fault("lost", 5),
            Fault("killed after", 11),
            Fault("lost", 2),
        ],
        policy="easy",
        ends_held=True,
        journal_limit=700,
    ),
    # The next driver held the job, and took its own hold for the user's: the job stayed held for ever.
    "a user requeues a job, held, and releases it while no driver runs": plan(
        [Job(1, 0.0, 4, 60.0), Job(2, 21.0, 4, 60.0)],
        [Action("user requeues, held", 20.5, 1), Action("user releases", 28.2, 1)],
        [Fault("interrupted", 19.0), Fault("interrupted", 24.0), Fault("interrupted", 40.0)],
    ),
}


def lifted(log):
    """Return the jobs of which Windlass lifted another's hold, whatever its journal could know."""
    holder, found = {}, []
    for each in log:
        if not each.held and each.by is Actor.DRIVER and holder.get(each.job) in (Actor.USER, Actor.SLURM):
            found.append(each.job)
        holder[each.job] = each.by if each.held else None
    return found


@pytest.mark.parametrize("name", FOUND)
def test_a_defect_that_was_found_is_mended(name, tmp_path):
    world = run(FOUND[name], tmp_path)
    assert world.problems == []
    assert lifted(world.slurm.log) == []
