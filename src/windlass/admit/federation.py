"""Subspaces that travel up a tree, and the one of all that travels down: data stay where they were measured.

An aggregator keeps the last subspace of each that is below it, and merges those. It does not merge each new one into
what it has, as the paper's text could be read: a node's estimate holds all that the node has seen, so the same data
would be counted again with every update, and a node that leaves could never be taken out. A subspace goes further up
only when it has moved.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from windlass.admit.lib.subspace import Floats, checked_subspace, distance, merge
from windlass.model import InputError
from windlass.model.values import number, whole


@dataclass(frozen=True, slots=True, eq=False)
class Subspace:
    """Directions and what they weigh.

    Parameters
    ----------
    basis
        (d, r) with orthonormal columns.
    singular
        (r,) descending.

    Raises
    ------
    InputError
        It is none.

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
        """What it takes on the wire, without framing."""
        return 8 * (self.basis.size + self.singular.size)

    def moved(self, since: Subspace | None) -> float:
        """How far it is from an older one, 0 to 1: of the directions, or of the shares that they have.

        The same data in other units of weight have not moved: singular values grow with every block that is seen.
        """
        if since is None or since.singular.shape != self.singular.shape:
            return 1.0
        shares = [each.singular / max(float(each.singular.sum()), 1e-300) for each in (self, since)]
        return max(distance(self.basis, since.basis), float(np.abs(shares[0] - shares[1]).max()))


class Aggregator:
    """What an inner node of the tree keeps: the last subspace of each below it.

    Parameters
    ----------
    dim, rank
        Metrics, and directions of the merged subspace at most.
    forget
        What those weigh less that sent nothing, for each round that has ended since; 1 for no less.
    epsilon
        The merged subspace is news when it has moved by more than this, as of :meth:`Subspace.moved`.

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
        """Keep what a child sends, in the place of what it sent before.

        Raises
        ------
        InputError
            It is of other metrics.
        """
        if len(subspace.basis) != self.dim:
            raise InputError(f"{child}: a subspace of {len(subspace.basis)} metrics, expected {self.dim}")
        self._last[child], self._age[child] = subspace, 0

    def leave(self, child: str) -> None:
        """Forget a child; one that never sent anything is none the less gone."""
        self._last.pop(child, None)
        self._age.pop(child, None)

    def round(self) -> None:
        """A round has ended: those who sent nothing in it weigh less."""
        for child in self._age:
            self._age[child] += 1

    @property
    def children(self) -> tuple[str, ...]:
        """Those of whom there is a subspace, sorted."""
        return tuple(sorted(self._last))

    @property
    def kept(self) -> tuple[tuple[str, Subspace, int], ...]:
        """Of each child, sorted: its name, its subspace, and how many rounds ago it came."""
        return tuple((child, self._last[child], self._age[child]) for child in self.children)

    def put(self, child: str, subspace: Subspace, age: int) -> None:
        """Keep what a child sent so many rounds ago, as it was :attr:`kept`."""
        self.take(child, subspace)
        self._age[child] = whole("age", age, 0)

    @property
    def merged(self) -> Subspace | None:
        """All children's subspaces as one; None where there is none. The order in which they came does not matter."""
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
        """The merged subspace if it has moved since it was news; None otherwise."""
        merged = self.merged
        if merged is None or merged.moved(self._sent) <= self.epsilon:
            return None
        self._sent = merged
        return merged


class AggregatorTree:
    """Aggregators above nodes, of any depth: who is below whom is a mapping from each to its parent.

    Parameters
    ----------
    parents
        The parent of each node and aggregator but the root's.
    dim, rank, forget, epsilon
        Of each :class:`Aggregator`.

    Raises
    ------
    InputError
        There is no root or more than one, or a circle.

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
            raise InputError(f"parents: {', '.join(roots) or 'nobody'} has no parent, expected one root")
        for name in parents:
            _check_reaches(name, parents, roots[0])
        self.root, self.parents = roots[0], dict(parents)
        self.aggregators = {name: Aggregator(dim, rank, forget, epsilon) for name in sorted(inner)}
        #: Bytes that went up, over all links.
        self.sent = 0

    @classmethod
    def of(
        cls, nodes: int, fan_out: int, dim: int, rank: int, forget: float = 1.0, epsilon: float = 0.0
    ) -> AggregatorTree:
        """A tree in which each aggregator has at most so many below it; nodes are ``0``, ``1`` and so on.

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
        """A node sends what it knows, and it goes up as far as it is news.

        Raises
        ------
        InputError
            There is no such node, or it is of other metrics.
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
        """A node joins below an aggregator; it is handed what all know, if anybody knows something.

        Raises
        ------
        InputError
            It is there already, or there is no such aggregator.
        """
        if node in self.parents or node in self.aggregators:
            raise InputError(f"{node} is in the tree already")
        if parent not in self.aggregators:
            raise InputError(f"{parent} is no aggregator, expected one of {', '.join(self.aggregators)}")
        self.parents[node] = parent
        return self.whole

    def leave(self, node: str) -> None:
        """A node leaves, and what it knew goes with it: all above it merge anew."""
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
        """A round has ended, for all aggregators."""
        for aggregator in self.aggregators.values():
            aggregator.round()

    @property
    def whole(self) -> Subspace | None:
        """The subspace of all, for newcomers; None where nobody has sent anything."""
        return self.aggregators[self.root].merged

    def _check_node(self, node: str) -> None:
        if node not in self.parents or node in self.aggregators:
            raise InputError(f"{node} is no node of the tree")


def _check_reaches(name: str, parents: dict[str, str], root: str) -> None:
    seen = {name}
    while name != root:
        name = parents[name]
        if name in seen:
            raise InputError(f"parents: {name} is above itself")
        seen.add(name)
