"""Power budgets of racks and PDUs, and the PDUs that nodes name."""

from collections.abc import Mapping

from rackcheck.inventory.merge import NodeVars
from rackcheck.inventory.node import Node
from rackcheck.profile.document import Problem, Scalar, SourcePlace, YamlMapping
from rackcheck.profile.layers import did_you_mean

BUDGET = "power-budget"
"""The key of a budget in kilowatts, in an entry of `racks` or `pdus`."""


def watts(text: str) -> int:
    """Return a power in watts from a valid text in kilowatts; an empty text is 0, which means that it is not set."""
    return round(float(text or 0) * 1000)


def budget(table: YamlMapping) -> int:
    """Return the power budget (W) of an entry, or 0 if it has none."""
    value = table.get(BUDGET)
    return watts(value.text) if isinstance(value, Scalar) else 0


def wrong_pdus(
    nodes: Mapping[str, Node], values: Mapping[str, NodeVars], declared: Mapping[str, object], problems: list[Problem]
) -> None:
    """Add a problem for each place that names a PDU that the file does not declare, if it declares any."""
    seen: set[SourcePlace] = set()
    for name, node in nodes.items():
        place = values[name]["pdu"].place if "pdu" in values[name] else None
        if place is None or not declared or node.pdu in declared or place in seen:
            continue
        seen.add(place)
        problems.append(Problem(place, f"{name}: no PDU {node.pdu}{did_you_mean(node.pdu, list(declared))}"))
