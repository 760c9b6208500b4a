"""Quotas from a learned mixture of experts (ASAx)."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import numpy as np

from windlass.model import InputError
from windlass.model.values import number
from windlass.share.allocation import Allocation, Guest
from windlass.share.lib.first_fit import QuotaChoice, adjusted, first_fit
from windlass.share.lib.mixture import Mixture, Rule
from windlass.share.lib.saved import from_text, to_text
from windlass.share.lib.state import MEASURES, happiness, loss_of, slowdown
from windlass.share.lib.trees import read_experts
from windlass.share.view import Checkpoint, ShareView, Sharing


class Asax:
    """Draws quotas from a mixture of four experts, and lowers the weight of experts whose advice slowed hosts.

    Each expert is a decision tree over one metric and the host's happiness. Their distributions are mixed by
    weights that are learned for each class of hosts. A draw of 0 % means that the next allocation is tried,
    or that a guest is paused until the next checkpoint. If a host's loss exceeds ``tolerance``, the guest is
    stopped at once until the host has ended.

    Source: Souza, Pelckmans and Tordsson, "A HPC Co-Scheduler with Reinforcement Learning", 2024 (arXiv:2401.09706),
    Algorithm 1 and Section 3.

    Parameters
    ----------
    rng
        Random generator.
    experts
        File with other trees, in the format of ``share/lib/experts.yaml``; None for the default.
    update
        ``printed``, ``anchored`` or ``exp4-ix``; see ``share/lib/mixture.py``.
    loss
        Measure of the loss: ``walltime`` (as printed), ``progress`` or ``wait``; see ``share/lib/state.py``.
    full
        Slowdown with loss 1; 0.5 is 50 % longer.
    tolerance
        Loss above which a pair is undone, 0 to 1.
    redraw
        Whether quotas of pairs are drawn again at each checkpoint.
    gamma
        Learning rate; None for one that falls with the square root of the number of rounds.
    learn
        Whether weights are learned; False keeps them equal, as an ablation. Harmful pairs are undone in either case.

    Raises
    ------
    InputError
        A parameter is out of bounds, or the file of experts is invalid.

    Examples
    --------
    >>> from windlass.share.allocation import Candidate
    >>> policy = Asax(np.random.default_rng(1))
    >>> idle = Allocation(1, "montage", 8, 64e9, 3600.0, 600.0, cpu=10.0, memory_used=5.0, tasks_left=10.0, rate=0.1)
    >>> answer = policy.decide(ShareView(0.0, (idle,), (Candidate(2, "blast", 8, 4e9, 600.0),)))
    >>> answer.shares[0].quota
    30
    """

    name: ClassVar[str] = "asax"

    def __init__(
        self,
        rng: np.random.Generator,
        experts: str | Path | None = None,
        update: str = "printed",
        loss: str = "walltime",
        full: float = 0.5,
        tolerance: float = 0.2,
        redraw: bool = True,
        gamma: float | None = None,
        learn: bool = True,
    ) -> None:
        if loss not in MEASURES:
            raise InputError(f"loss is {loss!r}, expected one of {', '.join(MEASURES)}")
        self.experts = read_experts(None if experts is None else Path(experts))
        self.rule = Rule(len(self.experts.trees), len(self.experts.actions), update, gamma)
        self.loss, self.redraw, self.learn = loss, redraw, learn
        self.full = number("full", full, 0.0, open_below=True)
        self.tolerance = number("tolerance", tolerance, 0.0, 1.0)
        self.learned: dict[str, Mixture] = {}
        self._rng = rng

    def decide(self, view: ShareView) -> Sharing:
        """Return new quotas for pairs, and guests for allocations without one."""
        if view.actions != self.experts.actions:
            raise InputError(
                f"actions are {list(view.actions)}, expected those of the experts, {list(self.experts.actions)}"
            )
        starts = first_fit(view, lambda host, candidate: self._drawn(host))
        return Sharing((*adjusted(view, self._adjust), *starts))

    def observed(self, checkpoint: Checkpoint) -> None:
        """Learn from the loss of a host, if it was measured and this policy drew the quota."""
        if not self.learn:
            return
        note, host = checkpoint.guest.note, checkpoint.after
        slower = slowdown(host, self.loss, checkpoint.ended, checkpoint.killed)
        lost = loss_of(slower, self.full)
        # A stopped guest costs nothing; a pair without a note was made by another policy.
        if checkpoint.guest.quota > 0 and len(note) == 1 + self.rule.experts and not np.isnan(lost):
            known = self.mixture(host.job_class)
            self.learned[host.job_class] = known.after(self.rule, np.array(note[1:]), note[0], lost)

    def mixture(self, job_class: str) -> Mixture:
        """Return the learned state for a class of hosts."""
        return self.learned.get(job_class) or Mixture.fresh(self.rule.experts)

    def saved(self) -> str:
        """Return the learned state as JSON; the random generator is not included."""
        return to_text(self.rule.update, self.experts.actions, self._metrics(), self.learned)

    def restore(self, text: str | bytes) -> None:
        """Restore the state that a policy with the same experts and update has :meth:`saved`.

        Raises
        ------
        InputError
            The text is not such a state; the current state is kept.
        """
        self.learned = from_text(text, self.rule.update, self.experts.actions, self._metrics())

    def _metrics(self) -> list[str]:
        return [tree.metric for tree in self.experts.trees]

    def _drawn(self, host: Allocation) -> QuotaChoice:
        """Draw a quota for this host (Algorithm 1, lines 4 to 8), with the note that :meth:`observed` needs."""
        advice = self.experts.advice(host)
        chances = self.mixture(host.job_class).blend(advice)
        ladder = np.cumsum(chances)
        action = int(np.searchsorted(ladder, self._rng.random() * ladder[-1], side="right"))
        given = (float(each) for each in advice[:, action])
        state = f"a host at {host.cpu:.0f} % CPU, happiness {happiness(host):.2f}"
        why = f"drawn with probability {chances[action]:.2f} for {state}"
        return QuotaChoice(self.experts.actions[action], why, (float(chances[action]), *given))

    def _adjust(self, host: Allocation, guest: Guest) -> QuotaChoice | None:
        """Return the new quota of a pair at a checkpoint, or None to keep it."""
        if guest.quota == 0 and not guest.note:
            return None  # undone before: only a guest that was drawn to pause has a note
        lost = loss_of(slowdown(host, self.loss), self.full)
        if guest.quota > 0 and lost > self.tolerance:
            return QuotaChoice(0, f"undone: loss {lost:.2f} is above {self.tolerance:g}")
        return self._drawn(host) if self.redraw else None
