"""The machine that the BMC manages, identified by several matching properties."""

import json
from importlib.resources import files

from rackcheck import Documents, Facts, Redfish, listing, probe, text
from rackcheck.parse.bmc.host import CHOICE
from rackcheck.parse.bmc.identified import identify, table

TABLE = table(json.loads((files("rackcheck_probes") / "systems.json").read_text("utf-8")))


@probe(
    Redfish("", "Systems/*", "Systems/*/Processors/*", "Chassis/*", CHOICE),
    gives={
        "node.identified": text(
            "machine, identified by several properties of its BMC; absent if no supported machine matches"
        ),
        "node.identified_by": listing(
            "the matching properties with their values, even if these properties do not suffice to identify the machine"
        ),
    },
)
def bmc_identified(docs: Documents) -> Facts:
    """The name of the machine, and the properties that identify the machine."""
    machine, signs = identify(TABLE, docs)
    yield "node.identified", machine
    yield "node.identified_by", signs
