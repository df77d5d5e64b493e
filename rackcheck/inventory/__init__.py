"""Reads nodes, their BMCs and their rack positions from an inventory file or from a list of names."""

from rackcheck.inventory.credential import secret
from rackcheck.inventory.node import LOCAL, AskLimit, BmcAccess, Inventory, Node, Rack, RackSlot, Ssh
from rackcheck.inventory.nodeset import NODES, unfold
from rackcheck.inventory.reading import load
from rackcheck.inventory.targets import choose

__all__ = [
    "LOCAL",
    "NODES",
    "AskLimit",
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
