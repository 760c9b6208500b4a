"""Users numbered by account, and priorities of qualities of service."""

from __future__ import annotations

import dataclasses
import math
import re

import numpy as np
from numpy.typing import NDArray

from windlass.model import Owners


def users_by_account(owners: Owners) -> tuple[Owners, NDArray[np.float64]]:
    """Renumber users account by account; a user of two accounts gets one number in each.

    Parameters
    ----------
    owners
        Users and groups of n jobs; the group is the account.

    Returns
    -------
    tuple
        The owners with new user numbers, and (a,) the account of each number, ascending. Jobs without a user are last,
        in an account of their own; all users without an account share one.

    Examples
    --------
    >>> owners = Owners.of(4, user=[5, 5, 2, -1], group=[1, 0, 1, 0])
    >>> found, account = users_by_account(owners)
    >>> found.user.tolist(), account.tolist()
    ([2, 0, 1, -1], [0.0, 1.0, 1.0, 2.0])
    """
    known = owners.user >= 0
    user, group = owners.user[known], owners.group[known]
    pairs, number = np.unique((group + 1) * (user.max(initial=0) + 1) + user, return_inverse=True)
    users = np.full(len(known), -1, np.int64)
    users[known] = number
    _, account = np.unique(pairs // (user.max(initial=0) + 1), return_inverse=True)
    if not len(known) or not known.all():
        account = np.append(account, account.max(initial=-1) + 1)
    return dataclasses.replace(owners, user=users), account.astype(np.float64)


def priorities_of(text: str) -> dict[str, float]:
    """Parse a list of priorities by name.

    Raises
    ------
    ValueError
        An entry is not of the form name=number with a number of 0 or more.

    Examples
    --------
    >>> priorities_of("normal=10 high=100")
    {'normal': 10.0, 'high': 100.0}
    """
    found = {}
    for entry in re.split(r"[,\s]+", text.strip()) if text.strip() else ():
        name, equals, number = entry.partition("=")
        try:
            value = float(number)
        except ValueError:
            value = math.nan
        if not (name and equals and 0 <= value < math.inf):
            raise ValueError(f"qos: {entry!r}, expected a name and a priority of 0 or more, as in high=100")
        found[name] = value
    return found
