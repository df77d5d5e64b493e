"""Services of a management controller, each a property of its NetworkProtocol resource."""

import re
from collections.abc import Mapping

from rackcheck.model.fact import Reason, Unknown, Unreadable, clean
from rackcheck.model.redfish_value import BROKEN, text_of
from rackcheck.model.resource import MEMBERS, Resource
from rackcheck.parse.bmc.part import listed, whole

NAMES = frozenset(
    {
        *("DHCP", "DHCPv6", "FTP", "FTPS", "HTTP", "HTTPS", "IPMI", "KVMIP", "RDP", "RFB", "SFTP", "SNMP", "SSDP"),
        *("SSH", "Telnet", "VirtualMedia"),
    }
)
"""Protocols of the DMTF's ManagerNetworkProtocol schema: each is listed as a service even if its property is null."""

_CLIENT = "NTP"
"""NTP, in which the management controller is the client: NTP is not listed as a service, and has separate facts."""


def services(network: Resource) -> tuple[list[str], Unknown | None]:
    """Return the services that a NetworkProtocol resource lists, and why the list may be incomplete."""
    found: list[str] = []
    trouble: Unknown | None = None
    for name, body in network.body.items():
        known = isinstance(body, Mapping) and ("ProtocolEnabled" in body or "Port" in body)
        if name == _CLIENT or not (known or name in NAMES):
            continue
        if re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,39}", name):
            found.append(name)
        else:
            trouble = Unknown(Reason.UNPARSABLE, f"{network.uri}: invalid service name {clean(name, 60)!r}")
    if not found and trouble is None:
        trouble = Unknown(Reason.NOT_COLLECTED, f"{network.uri} lists no service")
    return found[:MEMBERS], trouble


def port(value: object) -> int:
    """Return a TCP or UDP port; raises Unreadable for 0, which means that there is none."""
    number = whole(value)
    if not 0 < number < 65536:
        raise Unreadable(f"is not a port number: {number}", Reason.UNPARSABLE if number else Reason.NOT_COLLECTED)
    return number


def servers(value: object) -> tuple[str, ...]:
    """Return the configured time servers, without the empty entries (null, blank) that fill a list of fixed length."""
    return tuple(dict.fromkeys(_server(each) for each in listed(value) if each is not None and not _blank(each)))


def _blank(value: object) -> bool:
    if not isinstance(value, str) or BROKEN in value:
        return False
    try:
        text_of(value)
    except Unreadable:
        return True
    return False


def _server(value: object) -> str:
    word = text_of(value)
    if len(word) > 253 or any(c.isspace() or not c.isprintable() for c in word):
        raise Unreadable(f"has an invalid server name: {clean(word, 60)!r}")
    return word
