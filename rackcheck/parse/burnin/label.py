"""Labels of physical GPUs: index, serial number or UUID, place on the PCI bus, and module. Pure.

A GPU's index may change from one start of the node to the next, and a technician swaps the part with this label.
"""

from collections.abc import Mapping
from dataclasses import replace

from rackcheck.model.fact import Reading
from rackcheck.model.regex import regex
from rackcheck.model.tree import Leaf

OF_GPU = regex(r"burnin\.gpu/([^./]+)\.(?:peer/([^./]+)\.)?")
"""Matches the start of a fact about a GPU, or about the copies between two GPUs."""

SOURCE = "burn-in"
"""The source of what a burn-in measured; after a colon, a source may have more words."""


def words(known: Mapping[str, object]) -> str:
    """Return what identifies a physical GPU, from its `serial`, `uuid`, `pci` and `module`; empty if none is known."""
    serial = known.get("serial")
    found = [f"serial number {serial}" if serial else str(known.get("uuid") or ""), str(known.get("pci") or "")]
    found += [f"module {known['module']}"] if known.get("module") is not None else []
    return " ".join(filter(None, found))


def labelled(leaves: Mapping[str, Leaf]) -> dict[str, Leaf]:
    """Return the facts about GPUs under load whose source does not name the physical GPU, with sources that do.

    Every place that shows a value with its source then also shows which part to swap.
    """
    found: dict[str, Leaf] = {}
    indices = {about[1] for about in map(OF_GPU.match, leaves) if about is not None}
    labels = {index: _label(leaves, index) for index in indices}
    for path, leaf in leaves.items():
        about = OF_GPU.match(path)
        if about is None or leaf.source.partition(":")[0] != SOURCE:
            continue
        named = [labels.get(index, "") for index in about.groups() if index is not None]
        # A fault's source has the part already, by its index or as one of a pair.
        if all(named) and not any(label.partition("(")[2].rstrip(")") in leaf.source for label in named):
            more = leaf.source.removeprefix(SOURCE)
            found[path] = replace(leaf, source=f"{SOURCE}, {' to '.join(named)}{more}")
    return found


def _label(leaves: Mapping[str, Leaf], index: str) -> str:
    known = {name: _value(leaves, f"burnin.gpu/{index}.{name}") for name in ("serial", "uuid", "pci", "module")}
    label = words(known)
    return f"gpu/{index} ({label})" if label else ""


def _value(leaves: Mapping[str, Leaf], path: str) -> Reading | None:
    leaf = leaves.get(path)
    return leaf.reading if leaf is not None and isinstance(leaf.reading, str | int) else None
