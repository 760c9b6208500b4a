"""How far a replay is from the log, in a sentence."""

from __future__ import annotations

from windlass.report.sentence import in_words
from windlass.results.verdict.fidelity import Fidelity


def fidelity_sentence(found: Fidelity | None) -> str:
    """How far the replay is from the log; empty where nothing is known of that.

    Parameters
    ----------
    found
        From :func:`windlass.results.verdict.fidelity`.

    Examples
    --------
    >>> fidelity_sentence(Fidelity("easy", True, 3600.0, 7200.0, 60.0, 600.0))
    'Fidelity: replayed under easy, which its system ran, the log has a mean wait of 1.000 h, and had 2.000 h; half of \
the jobs start within 1.000 min of when they did, nine in ten within 10 min.'
    """
    if found is None:
        return ""
    if found.policy_known:
        under = f"replayed under {found.name}, which its system ran, the log has"
    else:
        under = f"what the log's system ran is not said (workload.ran); {found.name} is nearest to it, with"
    mean, logged, half, most = (
        in_words("wait_s", value) for value in (found.mean, found.logged, found.half, found.most)
    )
    had = "and had" if found.policy_known else "against"
    return (
        f"Fidelity: {under} a mean wait of {mean}, {had} {logged}; half of the jobs start within {half} of when they "
        f"did, nine in ten within {most}."
    )
