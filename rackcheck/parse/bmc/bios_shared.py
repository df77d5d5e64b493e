"""Which BIOS attributes should be the same on all nodes of a role, and which of these affect the node's speed. Pure."""

import re
from collections.abc import Iterable

from rackcheck.model.regex import regex
from rackcheck.parse.bmc.bios_table import BiosSettings, spelled

OWN = regex(
    r"passw|secret|serial.?(no|num)|asset|(service|product)tag|mac.?addr|uuid|guid|wwp?n|nqn"
    r"|(admin|owner|user|server|service|host|device|iscsi|vd|bmc\w*)_?name\b|name\Z|e?mail|phone|contact|otherinfo|primaryos"
    r"|boot_?(option|order|seq|descr|uri|file|lun|target)|bootorder|hddorder|fqdd|startupurl|(uri|url)(\d|\Z)"
    r"|ip.?v?[46]?.?(addr|mask|gateway|prefix|prim|second|dns|router|duid)|subnet|gateway|primarydns|static_?ip|\bdns|proxy"
    r"|ip6(bmc|router)|(ip|mask)\Z|vlan_?id|daylight|time_?zone|(sys|rtc)(date|time)\b|epoch|certificate"
    r"|onetime|nextboot|singleboot|linkstatus|devicestatus|pciaddress|(?<!in)version|firmware|bootcode|postmessage|infostring|inforeport"
    r"|[0-9a-f]{12}",
    re.IGNORECASE,
)
"""Matches the names of attributes whose values are specific to one node: names, addresses, serials, passwords, dates,
and lists of devices to boot from. The name of an attribute of one adapter, which contains a hardware address, matches
too."""

NOT_SPEED = frozenset({
    "boot_mode", "csm", "edpc", "network_stack", "numa_group_size", "post_watchdog", "power_restore",
    "preboot_dma_protection", "pxe", "pxe_ipv4", "pxe_ipv6", "secure_boot", "tpm", "tpm_visibility",
    "trusted_execution", "watchdog",
})  # fmt: skip
"""Vendor-neutral settings about starting, securing and restarting a machine."""


def shared(names: Iterable[str], table: BiosSettings) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the attributes of settings that affect speed, and all others; leaves out attributes that OWN matches."""
    kept = [name for name in names if not OWN.search(name)]
    spelt = spelled(kept)
    rows = [row for name, setting in table.items() if name not in NOT_SPEED for row in setting.rows]
    speed = {name for row in rows for name in row.among(spelt)}
    return tuple(n for n in kept if n in speed), tuple(n for n in kept if n not in speed)
