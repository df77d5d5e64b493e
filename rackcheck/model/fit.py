"""Which machines a profile is for, and whether a node is such a machine. Pure.

The globs of `applies-to` are matched against readings of the OS and of the BMC. A single reading that matches is enough
for a fit. If no reading matches, but at least one is known (for PCI devices: if all are known), the node is another
machine.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rackcheck.model import operator
from rackcheck.model import path as paths
from rackcheck.model.fact import Absent, Plane, Reading, Unknown, clean
from rackcheck.model.path import Path
from rackcheck.model.regex import regex
from rackcheck.model.tree import Tree

SHOWN = 60
"""Maximum length of each reading in the message for a node to which the profile does not apply."""


class Match(StrEnum):
    """Whether a node is a machine that the profile is for; a fragment is for no machine."""

    FITS = "fits"
    OTHER = "other"
    UNKNOWN = "unknown"
    NOT_STATED = "not stated"
    FRAGMENT = "fragment"


@dataclass(frozen=True, slots=True)
class ProfileFit:
    """How a node matches the `applies-to` of a profile.

    `words` names the other machine, or states why a match is unknown.
    """

    match: Match = Match.NOT_STATED
    words: str = ""

    @property
    def decides(self) -> bool:
        """Whether the rules decide the outcome of the node: false for another machine, and for a fragment."""
        return self.match not in {Match.OTHER, Match.FRAGMENT}


NOT_STATED = ProfileFit()
"""The fit if a profile names no machine, or if no collected plane could identify the machine."""

NAMED: Mapping[str, tuple[tuple[Plane, str], ...]] = {
    "product": ((Plane.OS, "node.product"), (Plane.BMC, "bmc.system/*.model")),
    "board": ((Plane.OS, "node.board"), (Plane.BMC, "bmc.chassis/*.model"), (Plane.BMC, "bmc.product")),
    "cpu": ((Plane.OS, "cpu.model"), (Plane.BMC, "bmc.cpu/*.model")),
    "device": ((Plane.OS, "pcie/*.vendor"), (Plane.OS, "pcie/*.device"), (Plane.OS, "pcie/*.class")),
}
"""For each key of `applies-to`, the facts that its globs are matched against."""

FACTS = frozenset(
    {"node.product", "node.board", "bmc.system/*.model", "cpu.model", "pcie/*.vendor", "pcie/*.device", "pcie/*.class"}
)
"""The facts of `NAMED` that are collected for `applies-to`; the other facts of `NAMED` would need many GETs."""


SIMULATED = "node.simulator"
"""The fact by which a simulated node marks itself; a run of simulated nodes is marked in every output."""

BRIDGES = ("0x0600", "0x0604")
"""PCI classes of host bridges and ports, which are ignored: their vendor does not describe the devices below them."""

NAMES = ("product", "board")
"""Keys of `applies-to` that name a machine; the other keys name parts of a machine."""


def wanted(applies: Mapping[str, Sequence[str]], planes: Iterable[Plane]) -> frozenset[Path]:
    """Return the facts that are collected on these planes to identify the machine for `applies-to`, and the mark."""
    asked = frozenset(planes)
    facts = (each for key in NAMED if key in applies for each in NAMED[key])
    found = frozenset(paths.parse(path) for plane, path in facts if path in FACTS and plane in asked)
    return found | {paths.parse(SIMULATED)} if Plane.OS in asked else found


def fit(applies: Mapping[str, Sequence[str]], tree: Tree, planes: frozenset[Plane]) -> ProfileFit:
    """Match a node's facts against `applies-to`; `planes` are those that this run collects on the node.

    If the profile names products, and the node's product or board is known, only the keys `product` and `board` decide,
    since a machine of another vendor may contain the same CPUs and devices. In all other cases, one matching key of
    `applies-to` is enough.
    """
    held = {key: _held(key, applies[key], tree, planes) for key in NAMED if key in applies}
    names = [each for key, each in held.items() if key in NAMES]
    decided = "product" in applies and any(each.match is Match.OTHER for each in names)
    if any(each.match is Match.FITS for each in (names if decided else held.values())):
        return ProfileFit(Match.FITS)
    known = [each.words for each in held.values() if each.match is Match.OTHER]
    if known:
        return ProfileFit(Match.OTHER, ", ".join(known))
    return next((each for each in held.values() if each.match is Match.UNKNOWN), NOT_STATED)


def _held(key: str, globs: Sequence[str], tree: Tree, planes: frozenset[Plane]) -> ProfileFit:
    """Match the readings for one key of `applies-to` against the globs of this key."""
    readings = list(_devices(tree, planes) if key == "device" else _named(key, tree, planes))
    values = dict.fromkeys(each for each in readings if isinstance(each, str))
    unknown = next((each for each in readings if isinstance(each, Unknown)), None)
    if any(operator.glob(glob, value) for glob in globs for value in values):
        return ProfileFit(Match.FITS)
    if key == "device":
        values = {}
    if values:
        shown = ", ".join(clean(value, SHOWN) for value in list(values)[:3])
        return ProfileFit(Match.OTHER, f"{key} {shown}" + (" ..." if len(values) > 3 else ""))
    if unknown is not None:
        return ProfileFit(Match.UNKNOWN, f"{key}: {unknown}")
    return ProfileFit(Match.OTHER, f"no {' or '.join(globs)} device") if key == "device" and readings else NOT_STATED


def _named(key: str, tree: Tree, planes: frozenset[Plane]) -> Iterator[Reading]:
    """Yield the readings for one key of `applies-to` from the collected planes; facts not collected are left out."""
    for plane, text in NAMED[key]:
        if plane not in planes:
            continue
        path = paths.parse(text)
        if not path.starred:
            if text in FACTS or tree.leaf(path) is not None:
                yield tree.reading(path, plane)
            continue
        (way,) = path.collections
        if text not in FACTS and tree.leaf(way) is None:
            continue
        chosen = tree.select(way, plane)
        for item in chosen.items:
            yield tree.reading(Path((*item.segments, *path.segments[len(item.segments) :])), plane)
        if chosen.unknown is not None:
            yield chosen.unknown


def _devices(tree: Tree, planes: frozenset[Plane]) -> Iterator[Reading]:
    """Yield the vendor (`10de`) and the device (`10de:2330`) of every PCI function that is not a bridge.

    The first yielded reading is Absent if the list of PCI functions is complete, else the reason why functions may be
    missing.
    """
    if Plane.OS not in planes:
        return
    chosen = tree.select(paths.parse("pcie"), Plane.OS)
    yield Absent("no other PCI function") if chosen.unknown is None else chosen.unknown
    for item in chosen.items:
        sort = tree.reading(item + paths.parse("class"), Plane.OS)
        if isinstance(sort, Unknown):
            yield sort
        if not isinstance(sort, str) or sort.startswith(BRIDGES):
            continue
        ids = [tree.reading(item + paths.parse(leaf), Plane.OS) for leaf in ("vendor", "device")]
        vendor, device = (each.removeprefix("0x") if isinstance(each, str) else each for each in ids)
        yield vendor
        if isinstance(vendor, str):
            yield f"{vendor}:{device}" if isinstance(device, str) else device


_ARTICLE = regex(r"(?:An?|Any|The) (?=[\w])|(?=Server |Node )")
_NAMED = regex(r"(?=[A-Z]+[0-9]*[A-Z0-9]{2})")
_SPOKEN = regex(r"[AEFHILMNORSX][A-Z0-9]|[aeiou]")


def kind(title: str, name: str) -> str:
    """Return the machine in a profile's title, with an article: `a DGX H100` from `DGX H100 node, ready for training`.

    For a title that does not name a single machine, return `a machine of profile NAME`.
    """
    text = re.split(r"[,:;(]| node\b", title, maxsplit=1)[0].strip()
    article = _ARTICLE.match(text)
    if article is None and _NAMED.match(text) is None:
        return f"a machine of profile {name}"
    thing = text[article.end() :] if article is not None else text
    thing = thing[0].lower() + thing[1:] if article is not None and not article[0] else thing
    return f"{'an' if _SPOKEN.match(thing) else 'a'} {thing}" if thing else f"a machine of profile {name}"
