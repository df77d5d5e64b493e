"""Limits the facts that a function may read to the facts that it declared. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from rackcheck.model import path as paths
from rackcheck.model.fact import Plane, Reading, Unknown
from rackcheck.model.path import EVERY
from rackcheck.model.tree import ItemSelection, Tree


@dataclass(frozen=True)
class Inputs:
    """The facts of one node that a function declared, and no others."""

    tree: Tree
    planes: Mapping[str, Plane]

    def reading(self, path: str) -> Reading:
        """The reading at a path that the function declared; raises KeyError for another path."""
        pattern = paths.plain_pattern(path) or str(paths.parse(path).pattern)
        return self._at(path, self.planes[pattern])

    def table(self, collection: str, leaf: str) -> Mapping[str, Reading]:
        """Return one fact of every known item of a collection, by the item's name."""
        names, _ = self.items(collection)
        return {name: self.reading(f"{collection}/{paths.spell_key(name)}.{leaf}") for name in names}

    def items(self, collection: str) -> tuple[tuple[str, ...], Unknown | None]:
        """The names of a collection's items, and why the list may be incomplete; None if it is complete."""
        asked = paths.parse(collection)
        chosen: ItemSelection = self.tree.select(asked, self.planes[str(asked.pattern)])
        return tuple(item.segments[-1].key or "" for item in chosen.items), chosen.unknown

    def every(self, pattern: str) -> tuple[Mapping[str, Reading], Unknown | None]:
        """Return one fact of all items, by path, and the reason if items may be missing, else None."""
        first, *parts = pattern.split(f"/{EVERY}.")
        plane, tree = self.planes[pattern], self.tree
        at, cut = [first], None
        for part in parts:
            for owner in at:
                listing = tree.leaves.get(owner)
                reading = listing.reading if listing is not None else tree.reading(paths.parse(owner), plane)
                cut = cut or (reading if isinstance(reading, Unknown) else None)
            at = [f"{owner}/{paths.spell_key(key)}.{part}" for owner in at for key in tree.keys(owner)]
        return {text: self._at(text, plane) for text in at}, cut

    def _at(self, text: str, plane: Plane) -> Reading:
        leaf = self.tree.leaves.get(text)
        return leaf.reading if leaf is not None else self.tree.reading(paths.parse(text), plane)

    def collected(self, pattern: str) -> bool:
        """Whether this run collected a declared fact, even if its reading is unknown; raises KeyError for another path.

        A fact was collected if the tree has a leaf for it, if a collection on its path is empty or unknown, or if its
        plane is silent.
        """
        return self.planes[pattern] in self.tree.silent or self._has(*pattern.split(f"/{EVERY}."))

    def _has(self, first: str, *parts: str) -> bool:
        """Whether the tree has a leaf for the fact of any item, for the pattern, or for a collection without items."""
        if not parts:
            return first in self.tree.leaves
        keys = self.tree.keys(first)
        if not keys and first in self.tree.leaves:
            return True
        whole = f"/{EVERY}.".join((first, *parts))
        rest = (f"{first}/{paths.spell_key(key)}.{parts[0]}" for key in keys)
        return whole in self.tree.leaves or any(self._has(each, *parts[1:]) for each in rest)
