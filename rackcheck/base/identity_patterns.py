"""Regular expressions for identities in text: addresses, ids, mail addresses, host names.

The patterns match only an identity itself, not the characters around it. Which characters may precede and follow an
identity depends on the text: `anonymise.host_patterns` is for the output of nodes and BMCs, `report.known` for the
sentences of a report.
"""

UUID = r"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}"

DOTTED_MAC = r"[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}"
"""A MAC address as switches write it."""

GUID = r"(?:[0-9A-Fa-f]{4}:){3}[0-9A-Fa-f]{4}"
"""A GUID as ibstat writes it."""

IPV4 = r"(?:[0-9]{1,3}\.){3}[0-9]{1,3}"
IPV6 = r"[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?:\.[0-9.]{5,11})?"
MAIL = r"[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[A-Za-z]{2,24}"

LABEL = r"(?=[0-9-]{0,62}[A-Za-z])[A-Za-z0-9][A-Za-z0-9-]{0,62}\."
"""One label of a host name with its dot; a label is never only digits, unlike a component of a version."""

TOP = r"[A-Za-z]{2,24}"
PRIVATE_TOP = r"(?:corp|home|internal|intranet|lan|local|localdomain|private)"
"""The last label of a host name in a private network.

The labels are those of RFC 6762, appendix G, with `local` (section 3) and `localdomain`. A host name that ends with one
of these labels is matched if it has at least two labels; any other host name is matched only if it has at least three.
"""


def pairs(sign: str, least: int, most: int) -> str:
    """Return the pattern of a hardware address: `least` to `most` pairs of hexadecimal digits, separated by `sign`."""
    return rf"(?:[0-9A-Fa-f]{{2}}{sign}){{{least - 1},{most - 1}}}[0-9A-Fa-f]{{2}}"
