"""Regular expressions for identities in text: addresses, ids, mail addresses, host names.

Each matches the form alone. What may stand beside it depends on the text: `anonymise.looks` reads the output of nodes
and BMCs, `report.known` the sentences of a report.
"""

UUID = r"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}"

DOTTED_MAC = r"[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}"
"""A MAC as switches write it."""

GUID = r"(?:[0-9A-Fa-f]{4}:){3}[0-9A-Fa-f]{4}"
"""A GUID as ibstat writes it."""

IPV4 = r"(?:[0-9]{1,3}\.){3}[0-9]{1,3}"
IPV6 = r"[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?:\.[0-9.]{5,11})?"
MAIL = r"[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[A-Za-z]{2,24}"

LABEL = r"(?=[0-9-]{0,62}[A-Za-z])[A-Za-z0-9][A-Za-z0-9-]{0,62}\."
"""One label of a host name with its dot; never a bare number, as in a version."""

TOP = r"[A-Za-z]{2,24}"
PRIVATE_TOP = r"(?:corp|home|internal|intranet|lan|local|localdomain|private)"
"""The last label of names that sites give their own networks: those of RFC 6762, appendix G, with `local` (section 3)
and `localdomain`. Below one of them a host name has two labels, below any other it has three.
"""


def pairs(sign: str, least: int, most: int) -> str:
    """Return the pattern of a MAC or a longer hardware address: `least` to `most` pairs of hexadecimal digits."""
    return rf"(?:[0-9A-Fa-f]{{2}}{sign}){{{least - 1},{most - 1}}}[0-9A-Fa-f]{{2}}"
