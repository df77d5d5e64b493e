"""The running firmware of a machine's BIOS and BMC: as its system and manager report it, else from the inventory."""

import re
from collections.abc import Mapping, Sequence

from rackcheck.model.documents import Documents
from rackcheck.model.fact import Absent, Reading, Reason, Sourced, Unknown, Unreadable, clean
from rackcheck.model.redfish_value import text_of
from rackcheck.model.regex import regex
from rackcheck.model.resource import Resource, same_place
from rackcheck.parse.bmc import firmware
from rackcheck.parse.bmc.firmware import INVENTORY
from rackcheck.parse.bmc.host import hosts
from rackcheck.parse.bmc.item import gather, keyed, members, read_ones

_DATE = r"date\s*[:=]?\s*[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}"
_VERSION = r"(?:ver|version|rev|revision)\.?\s*[:=]?\s*([0-9a-z][0-9a-z._-]*)"
_COMPOSITE = regex(
    rf"(?:(?:bios|bmc|firmware|build)\s+)*(?:{_DATE}[\s,;]+{_VERSION}|{_VERSION}[\s,;]+(?:(?:bios|build)\s+)?{_DATE})",
    re.IGNORECASE | re.ASCII,
)
"""Matches a text that consists of a labelled date and a labelled version: `BIOS Date: 08/04/2023 Ver 1.4`.

The inventories of recorded Supermicro machines return such texts. A date without a label (`U72 v1.34 (04/18/2025)`)
is a part of the version.
"""

LONGEST = 100
"""Maximum length of such a text: matching takes time that grows with the square of the number of blanks."""

ACTIVE = "Links.ActiveSoftwareImage"
"""The link of a Manager or a Bios to the component of the firmware inventory that runs (Redfish schemas)."""


def version_of(value: object) -> str:
    """Return a version; of a text that consists of a labelled date and a labelled version, only the version."""
    word = text_of(value)
    found = _COMPOSITE.fullmatch(word) if len(word) <= LONGEST else None
    return word if found is None else found[1] or found[2]


def bios(docs: Documents, known: firmware.SignTable) -> Sourced | Reading:
    """Return the BIOS version of the hosts; unknown if several hosts have different versions.

    If no host reports a BiosVersion, it is that of the inventory's BIOS.
    """
    found, trouble = hosts(docs)
    own = _one("BiosVersion", found, trouble)
    if trouble is not None or not _silent("BiosVersion", found):
        return own
    return _listed(docs, known, "bios", [each for host in found for each in gather(docs.at("Bios", host))[0]], own)


def bmc(docs: Documents, known: firmware.SignTable) -> Sourced | Reading:
    """Return the firmware version of the BMC that manages the hosts; unknown if several have different versions.

    If no managing BMC reports a FirmwareVersion, it is that of the inventory's BMC. In a service without systems, as
    that of a power shelf, every manager counts.
    """
    managers, lost = members(docs, "Managers")
    if any("Systems" not in root.body and root.unread is None for root in docs.at("")):
        managing, trouble = managers, lost
    else:
        found, trouble = hosts(docs)
        managing, unread = _managing(docs, found)
        managing, trouble = managing or managers, trouble or unread or lost
    own = _one("FirmwareVersion", managing, trouble)
    if trouble is not None or not _silent("FirmwareVersion", managing):
        return own
    return _listed(docs, known, "bmc", managing, own)


def _silent(name: str, resources: Sequence[Resource]) -> bool:
    """Return whether all resources were read, and none has the property `name`.

    A property that is null or empty is one that the BMC reports at other times, in a spelling of its own: the inventory
    often has another one, as `2.72 Sep 04 2022` for `iLO 5 v2.72`.
    """
    return all(each.unread is None and each.body and name not in each.body for each in resources)


def _listed(
    docs: Documents, known: firmware.SignTable, name: str, holders: Sequence[Resource], own: Reading
) -> Sourced | Reading:
    """Return the version of the inventory's component of one function: the only one, or the one that `holders` link to.

    If the inventory lists none, the result is `own`.
    """
    resources, trouble = members(docs, INVENTORY)
    try:
        found = firmware.components(known, keyed(resources))
    except Unreadable as error:
        return Unknown(error.reason, str(error))
    fitting = [each for each in firmware.of(found, name) if not isinstance(each.role, Absent)]
    links = [_link(each) for each in holders]
    active = {uri for uri in links if uri is not None}
    linked = [each for each in found if each.resource.uri in active]
    if active and len(linked) == len(active) and None not in links:
        fitting = linked
    elif active:
        return Unknown(Reason.NOT_COLLECTED, "the active firmware image is not known in the inventory for all of them")
    elif trouble is not None or not fitting:
        return own
    versions = [each.read_version(version_of) for each in fitting]
    mute = next((each for each in versions if not isinstance(each.reading, str)), None)
    if mute is not None or len({each.reading for each in versions}) == 1:
        return mute or versions[0]
    shown = ", ".join(f"{each.key}: {version.reading}" for each, version in zip(fitting, versions, strict=True))
    return Unknown(Reason.UNPARSABLE, f"the inventory lists several installed versions: {clean(shown)}")


def _link(holder: Resource) -> str | None:
    link = holder.value(ACTIVE) if holder.unread is None else None
    uri = link.get("@odata.id") if isinstance(link, Mapping) else None
    return same_place(uri) if isinstance(uri, str) else None


def _managing(docs: Documents, systems: Sequence[Resource]) -> tuple[list[Resource], Unknown | None]:
    """Return the managers of the hosts, and, if the list of managers may be incomplete, the reason."""
    found = [gather(docs.at("Links/ManagedBy/*", system)) for system in systems]
    trouble = next((unread for _, unread in found if unread is not None), None)
    return read_ones([manager for managers, _ in found for manager in managers], trouble)


def _one(name: str, resources: Sequence[Resource], trouble: Unknown | None) -> Reading:
    """Return the value that all resources report; unknown if any resource does not report it, or if values differ."""
    if trouble is not None:
        return trouble
    rows = [resource.read(name, version_of).reading for resource in resources]
    mute = next((reading for reading in rows if isinstance(reading, Unknown)), None)
    if mute is not None:
        return mute
    if not rows:
        return Unknown(Reason.NOT_COLLECTED, f"no resource of this BMC has {name}")
    if len(set(rows)) > 1:
        shown = ", ".join(f"{resource.id}: {reading}" for resource, reading in zip(resources, rows, strict=True))
        return Unknown(Reason.UNPARSABLE, f"{name} differs: {clean(shown)}")
    return rows[0]
