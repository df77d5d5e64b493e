"""Which priorities of each network interface may pause on their own (PFC)."""

import json
from collections.abc import Mapping

from rackcheck import Facts, Shell, Unreadable, integer, listing, probe, spell_key
from rackcheck.core.fact import Reading, clean
from rackcheck.core.read import per_device
from rackcheck_probes.interfaces import HARDWARE


def document(said: str) -> dict[str, object]:
    """Read the one object that dcb writes."""
    try:
        found = json.loads(said)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"no JSON: {clean(said, 80)!r}") from error
    if not isinstance(found, dict):
        raise Unreadable(f"not an object: {clean(said, 80)!r}")
    return found


def pfc(said: str) -> Mapping[str, Reading]:
    """Read the priorities."""
    told = document(said)
    switches = told.get("prio_pfc")
    if not isinstance(switches, list) or len(switches) != 8 or not all(isinstance(on, bool) for on in switches):
        raise Unreadable(f"no eight priorities: {clean(said, 80)!r}")
    most = told.get("pfc_cap")
    if not isinstance(most, int) or isinstance(most, bool):
        raise Unreadable(f"no pfc_cap: {clean(said, 80)!r}")
    return {"pfc.priorities": tuple(str(n) for n, on in enumerate(switches) if on), "pfc.most": most}


@probe(
    Shell("dcb -j pfc show dev {}", each=HARDWARE, seconds=30, lane="network"),
    gives={
        "nic.interface/*.pfc.priorities": listing("Priorities that pause on their own; none where PFC is off."),
        "nic.interface/*.pfc.most": integer("How many priorities could pause on their own."),
    },
)
def dcb_pfc(answer: str) -> Facts:
    """Read each interface's priorities. Unverified on hardware: written to the source of iproute2's dcb."""
    for name, told in per_device.read(answer, ("pfc.priorities", "pfc.most"), pfc):
        for leaf, reading in told.items():
            yield f"nic.interface/{spell_key(name)}.{leaf}", reading
