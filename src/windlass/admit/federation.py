"""Subspaces merged up a tree and sent back down, so that measurements stay on their nodes.

An aggregator keeps the last subspace of each child and merges those. It does not merge each new one into
its result, as the paper's text could be read: a node's estimate covers everything that the node has seen, so the same
data would be counted again with every update, and a node that leaves could never be removed. A subspace is sent
further up only when it has moved.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from windlass.admit.lib.subspace import Floats, checked_subspace, distance, merge
from windlass.model import InputError
from windlass.model.values import number, whole


@dataclass(frozen=True, slots=True, eq=False)
class Subspace:
    """Directions and their weights.

    Parameters
    ----------
    basis
        (d, r) with orthonormal columns.
    singular
        (r,) singular values, descending.

    Raises
    ------
    InputError
        The basis is not orthonormal, or the values are not descending.

    Examples
    --------
    >>> Subspace(np.eye(3)[:, :2], np.array([2.0, 1.0])).bytes
    64
    """

    basis: Floats
    singular: Floats

    def __post_init__(self) -> None:
        basis, singular = checked_subspace("a subspace", self.basis, self.singular)
        object.__setattr__(self, "basis", basis)
        object.__setattr__(self, "singular", singular)

    @property
    def bytes(self) -> int:
        """Size of a message without framing, bytes."""
        return 8 * (self.basis.size + self.singular.size)

    def moved(self, since: Subspace | None) -> float:
        """Return the distance from an older subspace, 0 to 1: the larger of that of directions and of their shares.

        Shares are compared rather than singular values, which grow with every block even if the data do not change.
        """
        if since is None or since.singular.shape != self.singular.shape:
            return 1.0
        shares = [each.singular / max(float(each.singular.sum()), 1e-300) for each in (self, since)]
        return max(distance(self.basis, since.basis), float(np.abs(shares[0] - shares[1]).max()))


class Aggregator:
    """An inner node of the tree, which keeps the last subspace of each child.

    Parameters
    ----------
    dim, rank
        Number of metrics, and greatest number of directions of the merged subspace.
    forget
        Factor on the weight of a child for each round since its last subspace; 1 keeps the weight.
    epsilon
        The merged subspace is sent up when it has moved by more than this (:meth:`Subspace.moved`).

    Raises
    ------
    InputError
        A parameter is out of bounds.

    Examples
    --------
    >>> top = Aggregator(dim=3, rank=2)
    >>> top.take("a", Subspace(np.eye(3)[:, :1], np.array([2.0])))
    >>> top.take("b", Subspace(np.eye(3)[:, 1:2], np.array([1.0])))
    >>> top.merged.singular.tolist()
    [2.0, 1.0]
    >>> top.leave("a")
    >>> top.merged.singular.tolist()
    [1.0]
    """

    def __init__(self, dim: int, rank: int, forget: float = 1.0, epsilon: float = 0.0) -> None:
        self.dim, self.rank = whole("dim", dim, 1), whole("rank", rank, 1)
        self.forget = number("forget", forget, 0.0, 1.0, open_below=True)
        self.epsilon = number("epsilon", epsilon, 0.0, 1.0)
        self._last: dict[str, Subspace] = {}
        self._age: dict[str, int] = {}
        self._sent: Subspace | None = None

    def take(self, child: str, subspace: Subspace) -> None:
        """Store a child's subspace in place of its last one.

        Raises
        ------
        InputError
            The subspace has another number of metrics.
        """
        if len(subspace.basis) != self.dim:
            raise InputError(f"{child}: a subspace of {len(subspace.basis)} metrics, expected {self.dim}")
        self._last[child], self._age[child] = subspace, 0

    def leave(self, child: str) -> None:
        """Remove a child; an unknown one is not an error."""
        self._last.pop(child, None)
        self._age.pop(child, None)

    def round(self) -> None:
        """End a round: children that sent nothing in it lose weight."""
        for child in self._age:
            self._age[child] += 1

    @property
    def children(self) -> tuple[str, ...]:
        """Children with a subspace, sorted."""
        return tuple(sorted(self._last))

    @property
    def subspaces(self) -> tuple[tuple[str, Subspace, int], ...]:
        """Name, subspace and age in rounds of each child, sorted by name."""
        return tuple((child, self._last[child], self._age[child]) for child in self.children)

    def put(self, child: str, subspace: Subspace, age: int) -> None:
        """Store a child's subspace with its age in rounds, as listed by :attr:`subspaces`."""
        self.take(child, subspace)
        self._age[child] = whole("age", age, 0)

    @property
    def merged(self) -> Subspace | None:
        """All children's subspaces merged, independently of the order of arrival; None without children."""
        found: Subspace | None = None
        for child in self.children:
            last, weight = self._last[child], self.forget ** self._age[child]
            if found is None:
                found = Subspace(last.basis[:, : self.rank], weight * last.singular[: self.rank])
            else:
                own = weight * last.singular
                found = Subspace(*merge(found.basis, found.singular, last.basis, own, self.rank))
        return found

    def news(self) -> Subspace | None:
        """Return the merged subspace if it has moved since it was last returned; None otherwise."""
        merged = self.merged
        if merged is None or merged.moved(self._sent) <= self.epsilon:
            return None
        self._sent = merged
        return merged


class AggregatorTree:
    """Aggregators above nodes, of any depth, given as a mapping from each node or aggregator to its parent.

    Parameters
    ----------
    parents
        The parent of each node and aggregator except the root.
    dim, rank, forget, epsilon
        Parameters of each :class:`Aggregator`.

    Raises
    ------
    InputError
        There is no root or more than one, or the parents form a cycle.

    Examples
    --------
    >>> tree = AggregatorTree({"n1": "rack", "n2": "rack", "rack": "root"}, dim=3, rank=2)
    >>> tree.send("n1", Subspace(np.eye(3)[:, :1], np.array([2.0])))
    >>> tree.send("n2", Subspace(np.eye(3)[:, 1:2], np.array([1.0])))
    >>> tree.whole.singular.tolist(), tree.sent
    ([2.0, 1.0], 160)
    """

    def __init__(
        self, parents: dict[str, str], dim: int, rank: int, forget: float = 1.0, epsilon: float = 0.0
    ) -> None:
        inner = set(parents.values())
        roots = sorted(inner - set(parents))
        if len(roots) != 1:
            raise InputError(f"parents: the roots are {', '.join(roots) or 'none'}, expected exactly one")
        for name in parents:
            _check_reaches(name, parents, roots[0])
        self.root, self.parents = roots[0], dict(parents)
        self.aggregators = {name: Aggregator(dim, rank, forget, epsilon) for name in sorted(inner)}
        #: Bytes sent up over all links.
        self.sent = 0

    @classmethod
    def of(
        cls, nodes: int, fan_out: int, dim: int, rank: int, forget: float = 1.0, epsilon: float = 0.0
    ) -> AggregatorTree:
        """Build a tree in which each aggregator has at most ``fan_out`` children; nodes are ``0``, ``1`` and so on.

        >>> tree = AggregatorTree.of(nodes=9, fan_out=3, dim=4, rank=2)
        >>> sorted(tree.aggregators), tree.parents["8"]
        (['1.0', '1.1', '1.2', '2.0'], '1.2')
        """
        whole("nodes", nodes, 1)
        whole("fan_out", fan_out, 2)
        parents, level, names = {}, 0, [str(node) for node in range(nodes)]
        while level == 0 or len(names) > 1:
            level += 1
            for at, name in enumerate(names):
                parents[name] = f"{level}.{at // fan_out}"
            names = [f"{level}.{at}" for at in range(-(-len(names) // fan_out))]
        return cls(parents, dim, rank, forget, epsilon)

    def send(self, node: str, subspace: Subspace) -> None:
        """Send a node's subspace to its parent, and on up the tree as long as each merged subspace has moved.

        Raises
        ------
        InputError
            The node does not exist, or the subspace has other metrics.
        """
        self._check_node(node)
        name, news = node, subspace
        while name != self.root:
            parent = self.parents[name]
            self.aggregators[parent].take(name, news)
            self.sent += news.bytes
            found = self.aggregators[parent].news()
            if found is None:
                return
            name, news = parent, found

    def join(self, node: str, parent: str) -> Subspace | None:
        """Add a node below an aggregator and return the merged subspace of all, or None if there is none yet.

        Raises
        ------
        InputError
            The node exists already, or the aggregator does not exist.
        """
        if node in self.parents or node in self.aggregators:
            raise InputError(f"{node} is in the tree already")
        if parent not in self.aggregators:
            raise InputError(f"{parent} is not an aggregator, expected one of {', '.join(self.aggregators)}")
        self.parents[node] = parent
        return self.whole

    def leave(self, node: str) -> None:
        """Remove a node and its subspace: all aggregators above it merge again."""
        self._check_node(node)
        name = node
        parent = self.parents.pop(node)
        self.aggregators[parent].leave(node)
        while parent != self.root:
            name, parent = parent, self.parents[parent]
            merged = self.aggregators[name].merged
            if merged is None:
                self.aggregators[parent].leave(name)
            else:
                self.aggregators[parent].take(name, merged)
                self.sent += merged.bytes

    def round(self) -> None:
        """End a round for all aggregators."""
        for aggregator in self.aggregators.values():
            aggregator.round()

    @property
    def whole(self) -> Subspace | None:
        """The merged subspace of all, for new nodes; None before any was sent."""
        return self.aggregators[self.root].merged

    def _check_node(self, node: str) -> None:
        if node not in self.parents or node in self.aggregators:
            raise InputError(f"{node} is not a node of the tree")


def _check_reaches(name: str, parents: dict[str, str], root: str) -> None:
    seen = {name}
    while name != root:
        name = parents[name]
        if name in seen:
            raise InputError(f"parents: {name} is its own ancestor, expected a tree")
        seen.add(name)
