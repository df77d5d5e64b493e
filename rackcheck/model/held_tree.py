"""Trees that are held until the end of a run, in little memory: most facts of a node are those of another one. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rackcheck.model.tree import Leaf, Tree

BASES = 8
"""Maximum number of trees that are held in full: one for each kind of machine."""


@dataclass(frozen=True, slots=True)
class _Leaves(Mapping[str, Leaf]):
    """The leaves of a base without those at `gone`, and with those in `own` in place of its own."""

    base: Mapping[str, Leaf]
    own: Mapping[str, Leaf]
    gone: frozenset[str]

    def __getitem__(self, path: str) -> Leaf:
        found = self.own.get(path)
        if found is not None:
            return found
        if path in self.gone:
            raise KeyError(path)
        return self.base[path]

    def __iter__(self) -> Iterator[str]:
        yield from (path for path in self.base if path not in self.gone)
        yield from (path for path in self.own if path not in self.base)

    def __len__(self) -> int:
        return len(self.base) - len(self.gone) + sum(path not in self.base for path in self.own)


class HeldTrees:
    """Makes trees that share the leaves of the first tree which is like them; the first ones are held in full."""

    def __init__(self) -> None:
        self._bases: list[Tree] = []

    def held(self, tree: Tree) -> Tree:
        """Return a tree with the same facts, without its second reading; itself if it is like no earlier tree.

        A tree is like another one if most of its leaves are the same objects, as those of nodes of a rack are.
        """
        leaves = tree.leaves
        for base in self._bases:
            get = base.leaves.get
            own = {path: leaf for path, leaf in leaves.items() if get(path) is not leaf}
            if 2 * len(own) <= len(leaves):
                gone = frozenset(path for path in base.leaves if path not in leaves)
                items = {name: _shared(base.items.get(name), keys) for name, keys in tree.items.items()}
                return Tree.listed(_Leaves(base.leaves, own, gone), tree.silent, items, tree.times, tree.failed)
        if len(self._bases) < BASES:
            self._bases.append(tree)
        return tree


def _shared(known: dict[str, None] | None, keys: dict[str, None]) -> dict[str, None]:
    return known if known is not None and list(known) == list(keys) else keys
