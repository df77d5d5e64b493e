"""The parts that a node lacks: those that another node of its role, or the other plane of the node, has. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from rackcheck.evaluate.selection import chosen_items
from rackcheck.model import path as paths
from rackcheck.model.part_index import ADDRESSED, WORDS, Part, PartIndex
from rackcheck.model.path import Path
from rackcheck.model.profile import Rule, RuleSelection
from rackcheck.model.tree import Tree
from rackcheck.views.named_part import NamedPart, distinct

NUMBERED = frozenset({"burnin.gpu", "gpu.amd", "nic", "nvme", "storage.device"})
"""Collections whose keys number the parts in the order of detection: without `nvme2`, `nvme3` is `nvme2`."""


def missing(index: PartIndex, peer: PartIndex | None, rule: Rule) -> tuple[NamedPart, ...]:
    """Return the parts that a counting rule misses on a node."""
    assert rule.look is not None
    look = rule.look
    here = {str(item) for item in chosen_items(look, index.tree)}
    bmc = _is_bmc(look.collection)
    named = []
    for each in _absent(index, peer, look) if peer is not None else ():
        part = _on(index, each)
        on_bmc = bmc and any(_listed(index.tree, item) for item in part.items if not item.startswith("bmc."))
        named.append(NamedPart(part, True, _serials(index, each), on_bmc=on_bmc))
    if not named:
        named += [lone(part, look.collection) for part in alone(index, look.collection, here)]
    return distinct(named)


def _absent(index: PartIndex, peer: PartIndex, look: RuleSelection) -> list[Part]:
    """Return the parts that a rule selects on the peer, and that this node lacks; empty if this is not sure.

    Parts are compared by PCI address if the node has no address that the peer lacks, else by key. Keys that are numbers
    in the order of detection name another part after each missing one, so they are not compared between nodes.
    """
    collection = str(look.collection)
    mine = {part.pci for part in index.parts(collection)} - {""} if collection not in ADDRESSED else set[str]()
    by_address = mine <= {part.pci for part in peer.parts(collection)}
    if mine and not by_address and collection in NUMBERED:
        return []
    listed = {str(look.collection.item(key)) for key in index.tree.keys(collection)}
    chosen = [(str(item), peer.part(str(item))) for item in chosen_items(look, peer.tree)]
    found = []
    for item, part in chosen:
        compared = bool(mine) and by_address and part is not None and bool(part.pci)
        if part is not None and not (part.pci in mine if compared else item in listed):
            found.append(part if by_address else replace(part, pci=""))
    return found if len(found) <= max(len(chosen) - len(chosen_items(look, index.tree)), 1) else []


def _serials(index: PartIndex, part: Part) -> frozenset[str]:
    """Return the serial numbers of a node's parts of the same kind as a part."""
    collections = (collection for collection, word in WORDS.items() if word == part.word)
    found = (each.serial for collection in collections for each in index.parts(collection) if each.word == part.word)
    return frozenset(filter(None, found))


def _on(index: PartIndex, part: Part) -> Part:
    """Return a part of another node as this node has it: with the texts of the items that the node still lists.

    An item that is another part on this node has the PCI address of the missing part in place of its key.
    """
    own = {item: index.part(item) if _listed(index.tree, item) else None for item in part.items}
    others = {item for item, found in own.items() if found and found.pci and part.pci and found.pci != part.pci}
    items = tuple(_addressed(item, part.pci) if item in others else item for item in part.items)
    name = part.pci if items[:1] != part.items[:1] else part.name
    left = next((found for item, found in own.items() if found and item not in others), None)
    if left is None:
        return replace(part, name=name, items=items, serial="", index="", part_number="")
    return replace(
        part,
        name=name,
        serial=left.serial,
        index="",
        part_number=left.part_number,
        slot=part.slot or left.slot,
        items=tuple(dict.fromkeys((*items, *left.items))),
    )


def _addressed(item: str, pci: str) -> str:
    ((collection, _),) = paths.parse(item).items[-1:]
    return str(paths.parse(collection).item(pci))


def _listed(tree: Tree, item: str) -> bool:
    ((collection, key),) = paths.parse(item).items[-1:]
    return key in tree.keys(collection)


def alone(index: PartIndex, collection: Path, here: Iterable[str]) -> Sequence[Part]:
    """Return the parts that another plane of the node lists, and this collection does not, although it has others."""
    kinds = {part.word for item in here if (part := index.part(item)) is not None}
    others = [each for each in WORDS if WORDS[each] in kinds and each.startswith("bmc.") is not _is_bmc(collection)]
    own = f"{collection}/"
    found = [part for other in others for part in index.parts(other)]
    both = any(any(item.startswith(own) for item in part.items) for part in found)
    return [part for part in found if not any(item.startswith(own) for item in part.items)] if both else []


def _is_bmc(collection: Path) -> bool:
    return str(collection).startswith("bmc.")


def lone(part: Part, collection: Path) -> NamedPart:
    """Name a part that only the other plane than that of the collection lists."""
    return NamedPart(part, missing=True, on_bmc=_is_bmc(collection))
