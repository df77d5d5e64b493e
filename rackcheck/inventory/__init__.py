"""Nodes, their BMCs, racks and positions, from an inventory file or from bare names; secrets by reference."""

from rackcheck.inventory.credential import secret
from rackcheck.inventory.node import LOCAL, BmcAccess, Inventory, Node, Rack, RackSlot, Ssh
from rackcheck.inventory.nodeset import NODES, unfold
from rackcheck.inventory.reading import load
from rackcheck.inventory.targets import choose

__all__ = [
    "LOCAL",
    "NODES",
    "BmcAccess",
    "Inventory",
    "Node",
    "Rack",
    "RackSlot",
    "Ssh",
    "choose",
    "load",
    "secret",
    "unfold",
]
