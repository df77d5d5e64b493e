"""The firmware inventory of the BMC, component by component and by function."""

import json
from importlib.resources import files

from rackcheck import (
    Class,
    Documents,
    Facts,
    Redfish,
    Resource,
    Walk,
    by_part,
    collection,
    flag,
    listing,
    probe,
    spell_key,
    text,
    version,
    view,
)
from rackcheck.model.redfish_value import truth
from rackcheck.parse.bmc import firmware
from rackcheck.parse.bmc.firmware import INVENTORY
from rackcheck.parse.bmc.item import health_of, keyed, members, state_of

TABLE = firmware.table(json.loads((files("rackcheck_probes") / "firmware_functions.json").read_text("utf-8")))
FUNCTIONS = (*(row.name for row in TABLE.functions), firmware.OTHER)
ROLES = (firmware.INSTALLED, *(row.name for row in TABLE.roles), firmware.REPEATED)


TEXTS = {"manufacturer": "Manufacturer", "software_id": "SoftwareId", "released": "ReleaseDate"}
TEXTS |= {"lowest": "LowestSupportedVersion"}


def linked(docs: Documents) -> None:
    """Fetch the parts that components link to, if nothing else identifies these components."""
    for component in members(docs, INVENTORY)[0]:
        firmware.function(TABLE, component, docs)


@probe(
    Redfish(
        f"{INVENTORY}/*", Walk("PCIe devices, processors and switches of components without a telling name", linked)
    ),
    gives={
        "firmware.component": collection("firmware that the BMC lists; some BMCs also list previous and backup copies"),
        "firmware.component/*.version": version("opaque", "version as the BMC spells it"),
        "firmware.component/*.name": text("name of the component; on some BMCs, the Ids are only numbers"),
        "firmware.component/*.state": text("Enabled, or Absent if the component's part is not there"),
        "firmware.component/*.health": text("OK, Warning or Critical, as the BMC reports it"),
        "firmware.component/*.manufacturer": text("who made the firmware", Class.IDENTITY),
        "firmware.component/*.software_id": text("the maker's id of this kind of firmware", Class.IDENTITY),
        "firmware.component/*.released": text("date of the firmware's release, as the BMC reports it"),
        "firmware.component/*.lowest": text("lowest version that the component can be set back to"),
        "firmware.component/*.write_protected": flag("the firmware cannot be written"),
        "firmware.component/*.updateable": flag("can be updated through the BMC"),
        "firmware.component/*.function": text(
            "function of the component; other if nothing identifies it", words=FUNCTIONS
        ),
        "firmware.component/*.function_by": listing(
            "the properties that identify the function, with the words that match"
        ),
        "firmware.component/*.role": text(
            "installed, or the purpose of a copy that does not run; repeated for a duplicate of an installed entry",
            words=ROLES,
        ),
        **{f"firmware.{row.name}": collection(f"installed firmware by function: {row.help}") for row in TABLE.counted},
        **{f"firmware.{row.name}/*": view(version("opaque", "installed version")) for row in TABLE.counted},
    },
)
def bmc_firmware(docs: Documents) -> Facts:
    """Every component's firmware version, its function and role."""
    resources, trouble = members(docs, INVENTORY)
    found = firmware.components(TABLE, keyed(resources), docs)
    for component in found:
        item = f"firmware.component/{spell_key(component.key)}"
        yield _component(item, component.resource)
        yield f"{item}.function", component.function
        yield f"{item}.function_by", component.resource.unread or component.by
        yield f"{item}.role", component.role
    if trouble is not None:
        yield "firmware.component", trouble
    for row in TABLE.counted:
        for component in firmware.of(found, row.name):
            yield f"firmware.{row.name}/{spell_key(component.key)}", component.version
        gap = trouble or firmware.gap(found, row.name)
        if gap is not None:
            yield f"firmware.{row.name}", gap


@by_part
def _component(item: str, resource: Resource) -> Facts:
    yield f"{item}.version", resource.read("Version")
    yield f"{item}.name", resource.read("Name")
    yield f"{item}.state", state_of(resource)
    yield f"{item}.health", health_of(resource)
    for fact, name in TEXTS.items():
        yield f"{item}.{fact}", resource.read(name)
    yield f"{item}.write_protected", resource.read("WriteProtected", truth)
    yield f"{item}.updateable", resource.read("Updateable", truth)
