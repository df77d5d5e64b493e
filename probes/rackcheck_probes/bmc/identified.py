"""Which machine the BMC manages, by several signs that agree."""

import json
from importlib.resources import files

from rackcheck import Documents, Facts, Redfish, listing, probe, text
from rackcheck.parse.bmc.identified import identify, table

TABLE = table(json.loads((files("rackcheck_probes") / "systems.json").read_text("utf-8")))


@probe(
    Redfish("", "Systems/*", "Systems/*/Processors/*", "Chassis/*"),
    gives={
        "node.identified": text("machine by several signs of its BMC; absent where none we know fits"),
        "node.identified_by": listing("the signs: which property says what; also those that did not do"),
    },
)
def bmc_identified(docs: Documents) -> Facts:
    """The machine, and the signs it was identified by."""
    machine, signs = identify(TABLE, docs)
    yield "node.identified", machine
    yield "node.identified_by", signs
