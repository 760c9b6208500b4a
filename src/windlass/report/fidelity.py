"""The error of a replay with respect to the log, as a sentence."""

from __future__ import annotations

from windlass.report.phrases import in_words
from windlass.results.verdict.fidelity import Fidelity


def fidelity_sentence(found: Fidelity | None) -> str:
    """Return the sentence that compares the replay with the log; empty if there is nothing to compare.

    Parameters
    ----------
    found
        From :func:`windlass.results.verdict.fidelity`.

    Examples
    --------
    >>> fidelity_sentence(Fidelity("easy", True, 3600.0, 7200.0, 60.0, 600.0))
    "Fidelity: under easy, the recorded system's policy, the replay has a mean wait of 60 min, compared with 120 min \
in the log; 50 % of the jobs start within 1.000 min of their recorded start, 90 % within 10 min."
    """
    if found is None:
        return ""
    if found.policy_known:
        under = f"under {found.name}, the recorded system's policy,"
    else:
        under = f"the recorded system's policy is unknown (set workload.ran); under {found.name}, the closest variant,"
    mean, logged, half, most = in_words("wait_s", found.mean, found.logged, found.half, found.most)
    return (
        f"Fidelity: {under} the replay has a mean wait of {mean}, compared with {logged} in the log; 50 % of the jobs "
        f"start within {half} of their recorded start, 90 % within {most}."
    )
