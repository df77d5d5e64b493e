"""Nodes of the H100 profile: captures, readings and rows."""

import csv
from collections.abc import Mapping
from functools import cache

from gpu_driver import driver_readings as told_by_driver
from recordings import shared

from rackcheck.model import path as paths
from rackcheck.model.fact import Absent, Plane, Reading
from rackcheck.model.path import Path
from rackcheck.model.profile import Phase, Profile
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.registry import registry
from rackcheck.profile import library

SITE = {
    "bios_version": "1.1.3",
    "bmc_firmware": "23.11.20",
    "driver": "570.86.15",
    "nic_firmware": "28.39.1002",
    "vbios": "96.00.89.00.01",
    "c_states": "enabled",
    "secure_boot": "disabled",
}


CATALOGUE = registry().catalogue

NO_ERROR: Mapping[str, Reading] = {
    **{f"errors.{kind}": 0 for kind in ("fatal", "nonfatal")},
    **{f"errors.received.{kind}": 0 for kind in ("fatal", "nonfatal")},
    "aer.fatal": (), "aer.unmasked": (), "status.fatal": False, "status.nonfatal": False, "status.unsupported": False,
    "status.poisoned": False,
    "slot.power_fault": False, "iommu.type": "identity", "link.limited": 0, "link.lane_errors": (),
    "link.target_speed": Absent("not shown"), "irq.vectors": Absent("none"),
    "irq.remote": 0,
}  # fmt: skip
"""What a PCIe function without errors reports, of which the IOMMU translates nothing."""


AUDIT = (frozenset(Plane), frozenset({Phase.CONFIG}))
"""The planes and the phase of an audit that reads once."""


@cache
def profile(name: str, *, site: bool = False) -> Profile:
    """A profile as shipped, or with every site value set."""
    return library.load(name, CATALOGUE, SITE if site else {})


def node(facts: Mapping[str, Reading]) -> Tree:
    """A node with just these facts; every collection named, by a fact or as a whole, was read completely."""
    leaves: dict[str, Leaf] = {}
    keys: dict[str, dict[str, None]] = {}
    for text, reading in facts.items():
        path = paths.parse(text)
        entry = CATALOGUE.find(path)
        assert entry is not None, text
        leaves[text] = Leaf(reading, entry.kind, entry.plane, "test")
        for depth, segment in enumerate(path.segments):
            if segment.key is not None:
                bare = Path((*path.segments[:depth], paths.Segment(segment.word)))
                keys.setdefault(str(bare), {})[segment.key] = None
    for text, found in keys.items():
        entry = CATALOGUE.find(paths.parse(text))
        if text not in leaves and entry is not None:
            leaves[text] = Leaf(tuple(found), entry.kind, entry.plane, "test")
    return Tree(leaves)


def row(file: str, key: str, value: str) -> Mapping[str, str]:
    """One row of the fact base."""
    with shared(f"../facts/{file}").open(encoding="utf-8", newline="") as opened:
        return next(r for r in csv.DictReader(opened) if r[key] == value)


def of_gpus(reply: object) -> dict[str, Reading]:
    """The facts of a node whose driver returns this."""
    return told_by_driver("bus 0000:53:00.0\nbus read\ndriver loaded\n", reply)
