"""Subspaces: leading directions of a block, the merge of two subspaces, and the distance between two.

Functions take many subspaces at once, along the first axis, because a batch costs a fraction of single calls. A basis
is (d, r) with orthonormal columns; its singular values are (r,), descending. A singular value of 0 marks a column
that represents no data so far.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError
from windlass.model.values import number, whole

Floats = NDArray[np.float64]
#: Deviation from orthonormal above which a basis is orthonormalised again.
_SLACK = 1e-12
#: Sums of squares below this lack precision.
_SMALL = 1e-200


def leading(blocks: Floats, rank: int) -> tuple[Floats, Floats]:
    """Return the leading left singular vectors and values of each block.

    The Gram matrix of the columns identifies the ``rank`` leading combinations at a third of the cost of an SVD.
    An SVD of those alone then restores the accuracy that squaring loses.

    Parameters
    ----------
    blocks
        (n, d, b), finite.
    rank
        At most d and at most b.

    Returns
    -------
    tuple
        (n, d, rank) bases, and (n, rank) singular values.

    Examples
    --------
    >>> basis, singular = leading(np.array([[[3.0, 0.0], [0.0, 2.0], [0.0, 0.0]]]), 1)
    >>> np.abs(basis[0, :, 0]).round(6).tolist(), singular.round(6).tolist()
    ([1.0, 0.0, 0.0], [[3.0]])
    """
    tall = blocks.shape[2] <= blocks.shape[1]
    other = blocks.swapaxes(1, 2)
    with np.errstate(over="ignore", invalid="ignore"):
        gram = other @ blocks if tall else blocks @ other
    size = np.trace(gram, axis1=1, axis2=2)
    if not (np.isfinite(gram).all() and (size > _SMALL).all()):
        return _scaled(blocks, rank)
    _, mixed = np.linalg.eigh(gram)
    combined = mixed[:, :, : -rank - 1 : -1]
    combined = blocks @ combined if tall else combined @ _root(combined.swapaxes(1, 2) @ blocks)
    directions, upper = np.linalg.qr(combined)
    turn, singular, _ = np.linalg.svd(upper)
    return directions @ turn, singular


def _scaled(blocks: Floats, rank: int) -> tuple[Floats, Floats]:
    """Rescale blocks whose squares would overflow or vanish; a block of zeros has any directions, and values of 0."""
    scale = np.abs(blocks).max(axis=(1, 2))
    empty = scale == 0.0
    unit = blocks / np.where(empty, 1.0, scale)[:, None, None]
    unit[empty, 0, 0] = 1.0
    basis, singular = leading(unit, rank)
    return basis, singular * scale[:, None]


def merge_many(
    basis: Floats, singular: Floats, other: Floats, other_singular: Floats, rank: int
) -> tuple[Floats, Floats]:
    """Merge each pair of subspaces into one of at most ``rank`` dimensions (Algorithm 4 of the Pronto paper).

    Parameters
    ----------
    basis, singular
        (n, d, r) and (n, r).
    other, other_singular
        (n, d, s) and (n, s).
    rank
        At most d and at most r + s.
    """
    shared = basis.swapaxes(1, 2) @ other
    rest, upper = np.linalg.qr(other - basis @ shared)
    count, own = singular.shape
    new = upper.shape[1]
    core = np.zeros((count, own + new, own + other_singular.shape[1]))
    core[:, np.arange(own), np.arange(own)] = singular
    core[:, :own, own:] = shared * other_singular[:, None, :]
    core[:, own:, own:] = upper * other_singular[:, None, :]
    turn, merged, _ = np.linalg.svd(core, full_matrices=False)
    found = np.concatenate([basis, rest], axis=2) @ turn[:, :, :rank]
    return orthonormal(found), merged[:, :rank]


def orthonormal(bases: Floats) -> Floats:
    """Orthonormalise the bases that rounding has made inexact, in place.

    If one subspace lies within another, the new part is rounding error with arbitrary directions.
    """
    grams = bases.swapaxes(1, 2) @ bases
    off = np.abs(grams - np.eye(bases.shape[2])).max(axis=(1, 2)) > _SLACK
    if off.any():
        again, upper = np.linalg.qr(bases[off])
        signs = np.where(np.diagonal(upper, axis1=1, axis2=2) < 0.0, -1.0, 1.0)
        bases[off] = again * signs[:, None, :]
    return bases


def merge(
    basis: Floats, singular: Floats, other: Floats, other_singular: Floats, rank: int, forget: float = 1.0
) -> tuple[Floats, Floats]:
    """Merge two subspaces: the truncated SVD of ``[forget * U1 S1, U2 S2]``, without the right singular vectors.

    Source: Pronto, Algorithm 4, after Řehůřek (2011).

    Parameters
    ----------
    basis, singular
        (d, r) with orthonormal columns, and (r,): the older one.
    other, other_singular
        (d, s) and (s,).
    rank
        Greatest number of dimensions; never more than d, or r + s.
    forget
        Factor on the older one's singular values, above 0 and at most 1.

    Returns
    -------
    tuple
        (d, rank) orthonormal, and (rank,) descending.

    Raises
    ------
    InputError
        Shapes do not match, a basis is not orthonormal, or a number is out of bounds.

    Examples
    --------
    >>> one, two = np.array([[1.0], [0.0], [0.0]]), np.array([[0.0], [1.0], [0.0]])
    >>> basis, singular = merge(one, np.array([3.0]), two, np.array([4.0]), rank=2)
    >>> np.abs(basis).round(6).tolist(), singular.round(6).tolist()
    ([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]], [4.0, 3.0])
    """
    first = checked_subspace("the first subspace", basis, singular)
    second = checked_subspace("the second subspace", other, other_singular)
    if len(first[0]) != len(second[0]):
        raise InputError(f"subspaces are of {len(first[0])} and {len(second[0])} metrics, expected the same")
    weight = number("forget", forget, 0.0, 1.0, open_below=True)
    most = min(whole("rank", rank, 1), len(first[0]), len(first[1]) + len(second[1]))
    merged, values = merge_many(
        first[0][None], weight * first[1][None], second[0][None], second[1][None], most
    )
    return merged[0], values[0]


def checked_subspace(
    name: str, basis: object, singular: object, slack: float = 1e-6
) -> tuple[Floats, Floats]:
    """Validate a subspace from a user: finite, orthonormal, singular values at least 0 and descending.

    Raises
    ------
    InputError
        A property is violated; one line names it.
    """
    found, values = np.array(basis, np.float64), np.array(singular, np.float64)
    if found.ndim != 2 or values.shape != found.shape[1:] or not 1 <= found.shape[1] <= found.shape[0]:
        raise InputError(
            f"{name}: basis has shape {found.shape} and singular values {values.shape}, "
            f"expected (d, r) and (r,) with r at most d"
        )
    if not (np.isfinite(found).all() and np.isfinite(values).all()):
        raise InputError(f"{name}: holds a number that is not finite")
    off = float(np.abs(found.T @ found - np.eye(found.shape[1])).max())
    if off > slack:
        raise InputError(
            f"{name}: basis is off by {off:.2g} from orthonormal columns, expected {slack:g} at most"
        )
    if values.min() < 0.0 or (np.diff(values) > slack * values.max()).any():
        raise InputError(f"{name}: singular values are {values.tolist()}, expected at least 0, descending")
    return found, values


def distance(basis: Floats, other: Floats) -> float:
    """Return the distance between two subspaces: the norm of the difference of their projectors, 0 to 1.

    It is the sine of the largest angle between them and, unlike the paper's ``absdiff``, does not change with the
    signs or the rotation of their bases. It is 1 if the dimensions differ.

    >>> one = np.array([[1.0], [0.0]])
    >>> distance(one, -one), distance(one, np.array([[0.6], [0.8]]))
    (0.0, 0.8)
    """
    if basis.shape[1] != other.shape[1]:
        return 1.0
    return min(1.0, float(np.linalg.norm(other - basis @ (basis.T @ other), 2)))


def checked_block(block: object, dim: int) -> Floats:
    """Validate a block of vectors from a user: (dim, b) finite numbers; the error names the first that is not."""
    found = np.asarray(block, np.float64)
    if found.ndim != 2 or found.shape[0] != dim or found.shape[1] == 0:
        raise InputError(f"block has shape {found.shape}, expected ({dim}, b): a column for each vector")
    if not np.isfinite(found).all():
        metric, column = np.argwhere(~np.isfinite(found))[0]
        raise InputError(
            f"block: metric {metric} of vector {column} is {found[metric, column]}, expected a number"
        )
    return found


def _root(rows: Floats) -> Floats:
    """Return (n, r, r) arrays with the singular values and left singular vectors of the (n, r, b) rows."""
    turn, singular, _ = np.linalg.svd(rows, full_matrices=False)
    weighted: Floats = turn * singular[:, None, :]
    return weighted
