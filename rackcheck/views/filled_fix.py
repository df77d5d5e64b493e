"""Fills the capital words in the fix of a rule (NODE, DEVICE, SERIAL) where a finding determines them. Pure.

Only names that are valid in a shell without quotes are filled in: a node may return any text as the name of a part.
"""

import re
from collections.abc import Callable, Iterable, Mapping

from rackcheck.model import path as paths
from rackcheck.model.part_index import Part
from rackcheck.model.path import BadPath
from rackcheck.model.regex import regex
from rackcheck.views.part_findings import PartFinding

SAFE = regex(r"[A-Za-z0-9/][A-Za-z0-9_.:@/-]{0,99}")
FEW = 4
"""Maximum number of values of one word that are listed after a fix."""


def _device(part: Part) -> str:
    """Return the name of a device in the tools of its maker: `mlx5_0`, or `/dev/nvme0`."""
    drive = part.key("nvme")
    return f"/dev/{drive}" if drive else part.key("nic") or (part.pci if part.word == "NIC" else "")


OF_PARTS: Mapping[str, Callable[[Part], str]] = {
    "DEVICE": _device,
    "INDEX": lambda part: part.index,
    "ADDRESS": lambda part: part.pci,
    "INTERFACE": lambda part: part.key("nic.interface"),
    "SLOT": lambda part: part.slot,
    "SERIAL": lambda part: part.serial,
}
"""The words that are texts of a part."""

OF_ITEMS: Mapping[str, frozenset[str]] = {
    "SERVICE": frozenset({"service"}),
    "MOUNT": frozenset({"mount", "storage.mount"}),
    "BOND": frozenset({"nic.bond"}),
    "INTERFACE": frozenset({"nic.interface", "network.interface"}),
}
"""The words that are keys of items, with the collections of these items."""


def filled_fix(row: PartFinding, run: str) -> str:
    """Return the fix of a finding with the names that the finding determines.

    If there are several values for a word, the word stays, and the values follow the fix.
    """
    text = row.finding.rule.fix
    listed: list[str] = []
    for word, values in _values(row, run):
        if re.search(rf"\b{word}\b", text) is None:
            continue
        known = list(dict.fromkeys(values))
        if not known or not all(SAFE.fullmatch(value) for value in known):
            continue
        if len(known) == 1:
            text = re.sub(rf"\b{word}\b", known[0].replace("\\", r"\\"), text)
        elif len(known) <= FEW:
            listed.append(f"{word}: {', '.join(known)}")
    return f"{text} ({'; '.join(listed)})" if listed else text


def _values(row: PartFinding, run: str) -> Iterable[tuple[str, list[str]]]:
    nodes = row.finding.nodes
    yield "NODE", list(nodes) if len(nodes) == 1 and not nodes[0].startswith("@") else []
    yield "RUN", [run]
    parts = [each.part for several in row.parts.values() for each in several]
    items = [item for evidence in row.finding.evidence for item in _items(evidence.item)]
    for word in dict.fromkeys((*OF_PARTS, *OF_ITEMS)):
        found = [OF_PARTS[word](part) for part in parts] if word in OF_PARTS else []
        if not found or not all(found):
            found = [key for owner, key in items if owner in OF_ITEMS.get(word, ())]
        yield word, found


def _items(text: str) -> tuple[tuple[str, str], ...]:
    try:
        return paths.parse(text).items
    except BadPath:
        return ()
