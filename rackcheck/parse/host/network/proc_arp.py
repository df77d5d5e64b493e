"""The kernel's table of IPv4 neighbours, /proc/net/arp; IPv6 neighbours stand in no file."""

import re

from rackcheck.model.fact import Unreadable
from rackcheck.model.text.values import rows

_COMPLETE = 0x2
"""The flag of an entry that has a hardware address (ATF_COM, include/uapi/linux/if_arp.h)."""

_FLAGS = re.compile(r"0x[0-9a-f]{1,8}")


def answered(content: str, address: str, interface: str) -> bool | None:
    """Whether the entry of a neighbour is complete; nothing without an entry.

    Raises Unreadable where the table has no head, or a row before that entry is no neighbour.
    """
    table = rows(content)
    if not table or not table[0].startswith("IP address "):
        raise Unreadable("not a table of neighbours")
    for row in table[1:]:
        fields = row.split()
        if len(fields) != 6 or not _FLAGS.fullmatch(fields[2]):
            raise Unreadable(f"not a neighbour: {row[:80]!r}")
        if (fields[0], fields[5]) == (address, interface):
            return bool(int(fields[2], 16) & _COMPLETE)
    return None
