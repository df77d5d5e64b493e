"""Nodes, their BMCs, racks and places, from an inventory file or from bare names; secrets by reference."""

from rackcheck.inventory.credential import secret
from rackcheck.inventory.node import LOCAL, Bmc, Inventory, Node, Rack, Slot, Ssh
from rackcheck.inventory.nodeset import NODES, unfold
from rackcheck.inventory.reading import load
from rackcheck.inventory.targets import choose

__all__ = ["LOCAL", "NODES", "Bmc", "Inventory", "Node", "Rack", "Slot", "Ssh", "choose", "load", "secret", "unfold"]
